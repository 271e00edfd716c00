# The GPUs of a machine, as its driver tells them: by a stand-in for NVML and
# for nvidia-smi.
load helper
load nvml

# all EXPRESSION, of the devices `d`
all() {
  jobrun devices --format json |
    python3 -c "import json,sys; d=json.load(sys.stdin)['devices']; print($1)"
}

@test "devices: what there is, who computes there, what is sick, slices" {
  nvml "4:1=$$:2!15:3/2"
  [ "$(all 'len(d)')" = 5 ]
  [ "$(all '[(x["index"], x["slice"], x["uuid"]) for x in d if x["index"] != 2]')" = \
    "[(0, False, 'GPU-0-0'), (1, False, 'GPU-0-1'), (3, True, 'MIG-0-3-0'), (3, True, 'MIG-0-3-1')]" ]
  [ "$(all '[x["bus"] for x in d][:2]')" = "['0000:0a:00.0', '0000:0b:00.0']" ]
  [ "$(all '[h["pid"] for x in d for h in x["holders"]]')" = "[$$]" ]
  [ "$(all 'd[1]["holders"][0]["user"]')" = "$(id -un)" ]
  [ "$(all '(d[2]["trouble"], d[2]["model"])')" = "('GPU is lost', None)" ]
  [ "$(all '(d[3]["usePercent"], d[3]["memoryBytes"] >> 30)')" = "(None, 80)" ]
  run jobrun devices
  [ "$status" -eq 0 ]
  [[ $output == *"nvidia 1 "*"97%"* ]]
  [[ $output == *"(slice)"*"MIG"* ]]
  nvml 2:0e5
  [ "$(all 'd[0]["trouble"]')" = "5 uncorrected memory errors since it was reset" ]
  nvml 64
  [ "$(all 'len(set(x["uuid"] for x in d))')" = 64 ]
}

@test "devices: a driver that fails is said, a machine without any is none" {
  nvml 'init!18'
  run jobrun devices
  [ "$status" -eq 1 ]
  [[ $output == *"Driver/library version mismatch"* ]]
  nvml 'init!9'
  run jobrun devices
  [ "$status" -eq 0 ]
  [ "$output" = "no GPUs on this machine" ]
}

@test "devices: without the library nvidia-smi tells them" {
  mkdir bin
  cat >bin/nvidia-smi <<'S'
#!/bin/sh
case $1 in
  *compute-apps*) echo "GPU-1, 1"; exit ;;
esac
[ ! -e "$SMI_FAILS" ] || { echo "GPU is lost" >&2; exit 15; }
echo "0, GPU-0, Tesla T4, 00000000:00:04.0, 15360, 3, 0, 34, 0"
echo "1, GPU-1, Tesla T4, 00000000:00:05.0, 15360, [N/A], [N/A], [Not Supported], 2"
S
  chmod +x bin/nvidia-smi
  export PATH=$TMP/bin:$PATH SMI_FAILS=$TMP/fails
  [ "$(all '[(x["uuid"], x["memoryBytes"] >> 20, x["usePercent"]) for x in d]')" = \
    "[('GPU-0', 15360, 0), ('GPU-1', 15360, None)]" ]
  [ "$(all '(d[1]["holders"][0]["pid"], d[1]["trouble"][:1])')" = "(1, '2')" ]
  touch fails
  run jobrun devices
  [ "$status" -eq 1 ]
  [[ $output == *"nvidia-smi exited with 15: GPU is lost"* ]]
}

@test "devices: without the library nvidia-smi tells of slices" {
  mkdir bin
  # As NVIDIA's MIG User Guide shows them; the third has none yet.
  cat >bin/nvidia-smi <<'S'
#!/bin/sh
echo "$1" >>"$ASKED"
case $1 in
  *compute-apps*) echo "MIG-2, 1"; exit ;;
  -L)
    cat <<'L'
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-1)
  MIG 3g.20gb     Device  0: (UUID: MIG-1)
  MIG 1g.5gb      Device  1: (UUID: MIG-2)
GPU 2: NVIDIA A100-SXM4-40GB (UUID: GPU-2)
L
    exit ;;
esac
case $1 in
  *mig.mode.current)
    [ ! -e "$OLD" ] || { echo 'Field "mig.mode.current" is not a valid field to query.'; exit 2; }
    set -- ", Disabled" ", Enabled" ", Enabled" ;;
  *) set -- "" "" "" ;;
esac
for i in 0 1 2; do
  echo "$i, GPU-$i, NVIDIA A100-SXM4-40GB, 00000000:00:0$i.0, 40960, 3, 0, 34, 0$1"
  shift
done
S
  chmod +x bin/nvidia-smi
  export PATH=$TMP/bin:$PATH OLD=$TMP/old ASKED=$TMP/asked
  [ "$(all '[(x["index"], x["slice"], x["uuid"]) for x in d]')" = \
    "[(0, False, 'GPU-0'), (1, True, 'MIG-1'), (1, True, 'MIG-2')]" ]
  [ "$(all '(d[1]["model"], d[1]["bus"], d[1]["memoryBytes"])')" = \
    "('NVIDIA A100-SXM4-40GB MIG 3g.20gb', '0000:00:01.0', None)" ]
  [ "$(all '[h["pid"] for h in d[2]["holders"]]')" = "[1]" ]
  # What is asked: all of the GPUs, their slices, who computes there.
  [ "$(sort asked | uniq -c | wc -l)" -eq 3 ]
  # A driver from before there were any.
  touch old
  [ "$(all '[x["uuid"] for x in d]')" = "['GPU-0', 'GPU-1', 'GPU-2']" ]
}
