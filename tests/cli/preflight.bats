# What a machine is tested for before a program starts there.
load helper

# smi LINES...: a stand-in for nvidia-smi that tells so
smi() {
  mkdir -p bin
  printf '%s\n' "$@" >gpus
  cat >bin/nvidia-smi <<S
#!/bin/sh
[ ! -e $TMP/lost ] || { echo "No devices were found"; exit 6; }
[ "\$1" != -L ] || exec cat $TMP/list
case \$1 in
  *clocks_\$(cat $TMP/driver)_reasons*) [ ! -e $TMP/slow ] || exec cat $TMP/slow ;;
  *clocks_*) echo "not a valid field"; exit 2 ;;
esac
cat $TMP/gpus
S
  printf '#!/bin/sh\ncat %s/kernel 2>/dev/null\n' "$TMP" >bin/dmesg
  chmod +x bin/nvidia-smi bin/dmesg
  export PATH=$TMP/bin:$PATH
}

# tested PREFLIGHT [MORE]
tested() {
  job a.yaml a 'echo began' \
    "  masterConfig: {acceleratorConfig: {type: NVIDIA_TESLA_T4, count: 2}}"
  printf '  provider: local\n  local: {devices: ignore}\n  preflight: %s\n%s\n' \
    "$1" "${2:-}" >>a.yaml
  run jobrun apply --rerun a.yaml
}

refused() {
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"preflight: $1"* ]]
  [[ $output != *"] began"* ]]
}

@test "preflight: a full disk, a command that fails; else setup and the program run" {
  tested '{disk: 90000TB}'
  [[ $output == *"preflight.disk "*"90000TB"* ]]
  refused ""
  [[ $output == *" MiB are free in $TMP, "* ]]
  tested '{command: [sh, -c, "echo no licence >&2; exit 3", "x y"]}'
  refused 'sh exited with 3'
  [[ $output == *"no licence"* ]]
  tested '{disk: 1MB, command: [test, "a b", "=", "a b"]}' \
    "  setup: [sh, -c, 'echo \"\$0\" >$TMP/ran', 'in setup']"
  [ "$status" -eq 0 ]
  [ "$(cat ran)" = "in setup" ]
  [[ $output == *"] began"* ]]
}

@test "preflight: GPUs that are sick, missing, or not to be asked" {
  smi "0, 0" "1, 4"
  tested '{devices: true}'
  refused "GPU 1 has 4 uncorrected memory errors"
  smi "0, [N/A]" "1, [N/A]"
  tested '{devices: true}'
  [ "$status" -eq 0 ]
  echo '[1.0] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.' >kernel
  tested '{devices: true}'
  refused "the kernel tells of a faulty GPU: [1.0] NVRM: Xid"
  # A program's own fault.
  echo '[1.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=python3, MMU Fault' >kernel
  tested '{devices: true}'
  [ "$status" -eq 0 ]
  # Each driver has its own word for it.
  for word in event throttle; do
    echo $word >driver
    printf '%s\n' "0, Not Active" "1, Active" >slow
    tested '{devices: true}'
    refused "GPU 1 is slowed down by its hardware"
  done
  echo "1, Not Active" >slow
  tested '{devices: true}'
  [ "$status" -eq 0 ]
  smi "0, 0"
  tested '{devices: true}'
  refused "1 of 2 GPUs are there"
  printf '%s\n' "GPU 0: NVIDIA A100" "  MIG 1g.5gb  Device 0: (UUID: MIG-1)" "  MIG 1g.5gb  Device 1: (UUID: MIG-2)" >list
  tested '{devices: true}'
  [ "$status" -eq 0 ]
  touch lost
  tested '{devices: true}'
  refused "nvidia-smi: No devices were found"
}
