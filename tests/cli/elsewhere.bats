#!/usr/bin/env bats
# The rules that only AI Platform has: errors and warnings there, notes for the
# jobs of other providers.

load helper

# table WORD: checks every such rule with each provider, or with none.
table() {
  python3 - "$JOBRUN" "$1" <<'END'
import json, subprocess, sys
program, which = sys.argv[1:]
# The wrong example of a rule that is in part about the past is not of that part.
past = {"runtime-version": "trainingInput: {runtimeVersion: '1.4'}\n"}

def run(*args):
    done = subprocess.run([program, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode in (0, 65), (args, done)
    return done

def explain(*names):
    return json.loads(run("explain", *names, "--format", "json").stdout)

def check(path, rule, *options):
    done = run("validate", "--format", "json", *options, path)
    found = json.loads(done.stdout)["problems"]
    return done.returncode, [p for p in found if p["rule"] == rule]

rules = [explain(r["id"]) for r in explain("rules")["entries"]
         if r["providers"] == ["ai-platform"]]
rules = [r for r in rules if r["noteElsewhere"]]
providers = [p["name"] for p in explain("providers")["entries"]]
assert len(rules) >= 12 and len(providers) >= 6, (len(rules), providers)
for rule in rules:
    name = rule["rule"]
    path = name + ".yaml"
    text = past.get(name, rule["wrong"])
    assert "provider:" not in text, name
    open(path, "w").write("jobId: a\n" + text)
    if which == "there":
        status, found = check(path, name, "--provider", "ai-platform")
        assert found, name
        assert all(p["severity"] != "note" for p in found), (name, found)
        assert status == (65 if found[0]["severity"] == "error" else 0), name
        assert not found[0]["message"].startswith("on AI Platform"), found
        status, found = check(path, name)
        assert found and all(p["severity"] == "note" for p in found), name
        continue
    for provider in providers:
        if provider == "ai-platform":
            continue
        for option in ("--verbose", "--strict"):
            status, found = check(path, name, option, "--provider", provider)
            assert found, (name, provider)
            for p in found:
                assert p["severity"] == "note", (provider, p)
                assert p["message"].startswith("on AI Platform: "), p
                assert p["path"] and p["line"], p
END
}

@test "a rule of AI Platform's own is an error or a warning there" {
  table there
}

@test "a rule of AI Platform's own is a note with every other provider" {
  table elsewhere
}

@test "notes of AI Platform are one for a job, without the images of others" {
  cat >job.yaml <<'END'
jobId: a
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-8
  runtimeVersion: "1.4"
  evaluatorType: n1-standard-8
  evaluatorCount: 2
  useChiefInTfConfig: true
jobrun:
  provider: local
  command: ["true"]
END
  run jobrun validate job.yaml
  [ "$status" -eq 0 ]
  [ "$(grep -c ': note: ' <<<"$output")" -eq 1 ]
  [[ $output == "job.yaml:5:19: note: AI Platform would refuse or ignore a part of this job: runtime-version (line 5), one-evaluator (line 7), chief (line 8) [on-ai-platform]"* ]]
  [[ $output == *"'jobrun validate -v' shows each"* ]]
  [[ $output != *"error"* && $output != *"warning"* ]]
  run jobrun validate -v job.yaml
  [ "$status" -eq 0 ]
  [ "$(grep -c ': note: on AI Platform: ' <<<"$output")" -eq 3 ]
  [[ $output == *"[one-evaluator]"* ]]
  # An image of elsewhere is as it should be, unless somebody asks.
  printf '%s\n' 'jobId: b' 'trainingInput:' \
    '  masterConfig: {imageUri: docker.io/pytorch/pytorch:2.4}' \
    'jobrun: {provider: kubernetes}' >image.yaml
  run jobrun validate image.yaml
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  run jobrun validate --verbose image.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"note: on AI Platform: "*"[google-registry]"* ]]
}

@test "notes of AI Platform are in no plan, and change no digest" {
  printf '%s\n' 'jobId: a' 'trainingInput: {runtimeVersion: "1.4"}' \
    'jobrun: {command: ["true"], provider: local}' >a.yaml
  run jobrun plan --out a.plan a.yaml
  [ "$status" -eq 0 ] || [ "$status" -eq 2 ]
  [[ $output != *"AI Platform"* ]]
  jobrun validate a.yaml | grep -q 'note: .*runtimeVersion'
  run jobrun apply a.plan
  [ "$status" -eq 0 ]
  run jobrun validate --strict a.yaml
  [ "$status" -eq 0 ]
}

@test "explain says which rules are notes elsewhere, and what is a warning" {
  run jobrun explain on-ai-platform
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "on-ai-platform (note)" ]
  run jobrun explain google-registry
  [[ $output == *"ai-platform; a note for jobs that name another provider, or none"* ]]
  run jobrun explain source-ships
  [ "${lines[0]}" = "source-ships (warning)" ]
}
