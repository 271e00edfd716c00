# What a provider can do is said by its traits, and nowhere by its name.
load helper

ROOT=$BATS_TEST_DIRNAME/../..
NAMES=$ROOT/tests/house/names.py

# A tree of one provider, without what is excused, and of what the test adds.
tree() {
  mkdir -p tree/core tree/schema tree/providers/toy
  printf 'const struct provider provider_toy = {\n\t.name = "toy",\n};\n' \
    >tree/providers/toy/toy.c
}

@test "no provider is called by its name away from its folder" {
  run python3 "$NAMES" "$ROOT"
  echo "$output"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "a name that is planted is found, and one in a comment is none" {
  tree
  cat >tree/core/a.c <<'C'
#include "toy"
/* "toy" */
static const char quote = '"'; // "toy"
static const char toy[] = "toyed";
static const char path[] = "toy/";
C
  run python3 "$NAMES" tree
  [[ $output != *"names the provider"* ]]
  echo 'static const char *const list[] = { "a", "to" /* */ "y" };' >>tree/core/a.c
  printf 'static const char *list[] = {\n\t"a",\n\t"toy", NULL };\n' >tree/schema/b.h
  echo 'static const char *const hint = "jobrun.provider: toy has it";' >tree/core/c.c
  run python3 "$NAMES" tree
  echo "$output"
  [ "$status" -eq 1 ]
  [ "$(grep 'names the provider' <<<"$output")" = "core/a.c:6: names the provider toy: \"toy\"
core/c.c:1: names the provider toy: \"jobrun.provider: toy has it\"
schema/b.h:3: names the provider toy: \"toy\"" ]
}

@test "an excuse that nobody needs is a fault" {
  tree
  run python3 "$NAMES" tree
  [ "$status" -eq 1 ]
  [[ $output == *"schema/rules/rules_tpu.c: the excuse for 'jobrun.provider: tpu-vm *' is not needed"* ]]
}

@test "without a provider, that is a fault too" {
  mkdir tree
  run python3 "$NAMES" tree
  [ "$status" -eq 1 ]
  [ "$output" = "names.py: no provider was found" ]
}

@test "what is there for tests is offered to nobody" {
  local word
  {
    jobrun explain jobrun.provider
    jobrun explain jobrun.restart --format json
    jobrun explain -r
    jobrun explain providers
    jobrun explain rules --format json
    jobrun schema
    jobrun complete plan --provider ''
    jobrun complete explain jobrun.
    for word in $(jobrun complete ''| cut -f1); do jobrun help "$word"; done
  } >offered
  grep -qw kubernetes offered
  [ -z "$(grep -wi fake offered)" ]
  for word in 'provider: fakes' 'fakes: {}' 'provider: nowhere'; do
    echo "{trainingInput: {}, jobrun: {$word}}" >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 65 ]
    [ -z "$(grep -w fake <<<"$output")" ]
  done
}

@test "and works for who knows of it" {
  echo '{trainingInput: {}, jobrun: {provider: fake, fake: {color: blue}}}' >a.yaml
  jobrun validate a.yaml
  jobrun plan --provider fake a.yaml | grep -qw fake
}

@test "a job that names no provider has the first one" {
  echo '{trainingInput: {}, jobrun: {command: [a]}}' >a.yaml
  jobrun explain jobrun.provider | grep -q 'Default: local'
  jobrun plan --format json a.yaml >a.json
  grep -q '"provider": "local"' a.json
  jobrun plan --provider local --format json a.yaml | diff a.json -
}
