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
# Nothing is offered that means nothing.
assert "null" not in json.dumps(schema["$defs"]).split('"')
assert "state" not in job["properties"] and "^state$" in job["patternProperties"]
assert "fake" not in schema["$defs"]["Jobrun"]["properties"]
docker = schema["$defs"]["Jobrun"]["properties"]["docker"]
assert docker["deprecated"] and docker["deprecationMessage"] == "use jobrun.container"
defs = schema["$defs"]
assert defs["TrainingInput"]["properties"]["pythonVersion"]["examples"][0].startswith("3.")
assert "us-central1-a" in defs["TpuNodeImage"]["properties"]["zone"]["examples"]
requeue = schema["$defs"]["SlurmBlock"]["properties"]["requeue"]["anyOf"][0]
assert requeue["enum"] == [False, True, "expedite"]
PY
}

@test "rules between fields stand in the schema, at their field, with what they say" {
  jobrun schema >schema.json
  PYTHONWARNINGS=ignore /usr/bin/python3 - "$HERE"/../../schema/rules/*.yaml <<'PY'
import json, sys, yaml, jsonschema
schema = json.load(open("schema.json"))
validator = jsonschema.Draft202012Validator(schema)
rules = {rule["id"]: rule for path in sys.argv[1:]
         for rule in (lambda all: all if isinstance(all, list) else [])(yaml.safe_load(open(path)))}

def refusals(text):
    """Where the schema refuses a file, and what it says there."""
    out = set()
    documents = [one for one in yaml.safe_load_all(text) if one is not None]
    for error in (error for one in documents for error in validator.iter_errors(one)):
        todo = [error]
        while todo:
            one = todo.pop()
            todo += one.context or []
            if "errorMessage" in one.schema:
                out.add((".".join(map(str, one.absolute_path)), one.schema.get("errorMessage")))
    return {one for one in out if one[1]}

expected = {
    "custom-master": "trainingInput.scaleTier",
    "only-custom": "trainingInput.workerType",
    "type-and-count": "trainingInput.workerCount",
    "tpu-worker": "trainingInput.masterType",
    "tpu-one": "trainingInput.workerCount",
    "tpu-no-servers": "trainingInput.parameterServerCount",
    "tpu-type": "trainingInput.workerConfig.acceleratorConfig.type",
    "tpu-type-of-tier": "trainingInput.workerConfig.acceleratorConfig.type",
    "docker-or-conda": "jobrun.conda",
    "docker-hosts": "jobrun.docker",
    "best-checkpoint": "jobrun.checkpoints.metric",
    "job-dir": "trainingInput.jobDir",
}
for id_, place in expected.items():
    rule = rules[id_]
    says = " ".join(rule["doc"].split()) + f" [{id_}]"
    found = refusals(rule["wrong"])
    assert (place, says) in found, (id_, found)
    assert not any(f"[{id_}]" in text for _, text in refusals(rule["right"])), id_
# Whatever a rule's right file is, no rule of the schema refuses it.
for id_, rule in rules.items():
    if "right" in rule:
        assert not refusals(rule["right"]), (id_, refusals(rule["right"]))
params = """
trainingInput:
  hyperparameters:
    goal: MAXIMIZE
    params:
    - {parameterName: a, type: INTEGER, minValue: 1}
    - {parameterName: b, type: CATEGORICAL}
"""
assert {place for place, _ in refusals(params)} == {
    "trainingInput.hyperparameters.params.0.type",
    "trainingInput.hyperparameters.params.1.type"}, refusals(params)
# What a base may bring, what merges, and other spellings.
for text in ("""
trainingInput: {scaleTier: CUSTOM}
jobrun: {extends: base.yaml}
""", """
trainingInput: {scale_tier: CUSTOM, master_type: n1-standard-8}
""", """
trainingInput: {scaleTier: CUSTOM, master_type: n1-standard-8}
""", """
trainingInput: {scaleTier: CUSTOM}
jobrun: {provider: slurm}
"""):
    assert not refusals(text), (text, refusals(text))
assert not [e for e in validator.iter_errors(
    {"trainingInput": {"scaleTier": "CUSTOM", "<<": {"masterType": "n1-standard-8"}}})]
PY
}
