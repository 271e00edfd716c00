load helper

HERE=$BATS_TEST_DIRNAME

@test "the schema and validate say the same of samples and mutations" {
  /usr/bin/python3 "$HERE/schema.py" "$JOBRUN" "$HERE/validate/valid" \
    "$HERE/validate/invalid" "$HERE/seeds"
}

@test "the schema says what an editor needs" {
  jobrun schema >schema.json
  python3 - <<'PY'
import json
schema = json.load(open("schema.json"))
assert schema["$schema"].endswith("2020-12/schema")
assert schema["$id"].startswith("urn:jobrun:") and schema["title"]
job = schema["$defs"]["Job"]
training = schema["$defs"]["TrainingInput"]
for name, message in schema["$defs"].items():
    assert message["additionalProperties"] is False
    assert message["description"]
    for key, value in message["properties"].items():
        assert value["description"], (name, key)
tier = training["properties"]["scaleTier"]
assert tier["default"] == "BASIC"
assert "CUSTOM" in tier["anyOf"][0]["enum"]
assert training["properties"]["workerCount"]["default"] == 0
assert "^worker_count$" in training["patternProperties"]
assert schema["$defs"]["Scheduling"]["properties"]["maxWaitTime"]["examples"]
assert "local" in schema["$defs"]["Jobrun"]["properties"]["provider"]["enum"]
for field in "masterType", "workerType":
    assert "a3-highgpu-8g" in training["properties"][field]["examples"]
accelerator = schema["$defs"]["AcceleratorConfig"]["properties"]
assert {"NVIDIA_B200", "TPU_V6E"} <= set(accelerator["type"]["examples"])
assert accelerator["count"]["patternErrorMessage"] == "must be a whole number"
assert "us-central1" in training["properties"]["region"]["examples"]
assert "2.11" in training["properties"]["runtimeVersion"]["examples"]
assert "us-central1-a" in schema["$defs"]["Jobrun"]["properties"]["zone"]["examples"]
assert "slurm" in schema["$defs"]["Jobrun"]["properties"]
PY
}
