# The GPUs of other machines, over ssh: listed.
# bats file_tags=server
load helper
load sshd
load nvml

@test "devices --hosts: what each has, who computes there, which does not answer" {
  host_gpus h1 2
  host_gpus h2 1 "Tesla T4"
  sshd_up 3
  echo "1, $$" >"$SSH/h1/busy"
  run jobrun devices --hosts h1,h2
  [ "$status" -eq 0 ]
  [[ $output == *"h1 "*"nvidia 0 "*"H100"*"97%"*"34 C"*"ok"* ]]
  echo "$output"
  [[ $output == *"h1 "*"nvidia 1 "*"$$ bash by"* ]]
  [[ $output == *"h2 "*"nvidia 0 "*"Tesla T4"* ]]
  run jobrun devices --hosts h3
  [ "$status" -eq 0 ]
  [ "$output" = "no GPUs on these hosts" ]
  sshd_stop h2
  status=0
  jobrun devices --hosts h1,h2 --format json >said 2>why || status=$?
  [ "$status" -eq 69 ]
  [[ $(cat why) == *"error: host 'h2': "*"Connection refused"* ]]
  python3 - <<'P'
import json
all = json.load(open("said"))
assert [(d["host"], d["uuid"]) for d in all["devices"]] == [
    ("h1", "GPU-h1-0"), ("h1", "GPU-h1-1")], all
assert [(h["host"], h["source"]) for h in all["hosts"]] == [
    ("h1", "nvidia-smi"), ("h2", None)]
assert "refused" in all["hosts"][1]["error"]
P
}
