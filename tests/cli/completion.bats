# What shells offer: asked directly, and typed into the shells themselves.
load helper

TAB=$BATS_TEST_DIRNAME/tab.py

offers() {
  jobrun complete "$@" | cut -f1
}

# tab SHELL... -- TEXT EXPECTED
tab() {
  command -v "$1" >/dev/null || skip "needs $1"
  HOME=$TMP PATH=$(dirname "$JOBRUN"):$PATH timeout 60 \
    /usr/bin/python3 "$TAB" "$@"
}

# What every shell must do with what is offered.
types_well() {
  mkdir 'my jobs'
  touch 'my jobs/a.yaml'
  job a.yaml train_one true
  jobrun apply a.yaml
  tab "$@" -- $'jobrun canc\t' 'jobrun cancel '
  tab "$@" -- $'jobrun plan --deta\t' '--detailed-exitcode '
  tab "$@" -- $'jobrun logs tra\t' 'train_one '
  tab "$@" -- $'jobrun plan --format mark\t' 'format markdown '
  tab "$@" -- $'jobrun plan --format=mark\t' 'format=markdown '
  tab "$@" -- $'jobrun plan --out=my\t' 'out=.?my.{1,2}jobs'
  tab "$@" -- $'jobrun plan my\t' 'plan .?my.{1,2}jobs'
  tab "$@" -- $'jobrun explain trainingInput.sched\t' 'trainingInput.scheduling\.'
}

@test "commands and options are those of the help" {
  jobrun help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' >help.txt
  offers '' >offered.txt
  diff help.txt offered.txt
  local name
  for name in $(cat help.txt); do
    jobrun help "$name" | sed -n '/^Options:/,$s/^ .*\(--[a-z-]*\).*/\1/p' |
      sort -u >help-options.txt
    offers "$name" -- >/dev/null
    for option in $(offers "$name" --); do
      echo "$name $option"
      jobrun help "$name" | grep -qe "^ .*$option"
    done
    [ "$(offers "$name" - | wc -l)" -ge 2 ]
  done
}

@test "values: choices, providers, tasks, fields, files" {
  [ "$(offers plan --format '' | tr '\n' ' ')" = "text json markdown html " ]
  [ "$(offers validate --format=sa)" = --format=sarif ]
  [ "$(offers validate --color a | tr '\n' ' ')" = "auto always " ]
  offers apply --provider '' | grep -qx local
  [ "$(offers env --task w)" = worker ]
  [ "$(offers explain trainingInput.scaleT)" = trainingInput.scaleTier ]
  [ "$(offers plan --set trainingInput.scaleT)" = trainingInput.scaleTier= ]
  offers plan --set train | grep -qx trainingInput.
  [ "$(offers explain scale-t)" = scale-tiers ]
  [ "$(offers plan '')" = :files ]
  [ "$(offers plan --out '')" = :files ]
  [ "$(offers plan --out=x)" = :files ]
  [ "$(offers init '')" = :folders ]
  [ "$(offers completion '' | tr '\n' ' ')" = "bash zsh fish " ]
  [ "$(offers help canc)" = cancel ]
  # Of a number or a duration nothing is known.
  [ -z "$(offers wait --timeout '')" ]
  # Behind -- there are no options.
  [ "$(offers plan -- --fo)" = :files ]
  [ -z "$(offers frobnicate '')" ]
  [ -z "$(offers supervise '')" ]
}

@test "jobs come from the store, which is not made by asking" {
  [ -z "$(offers cancel '')" ]
  [ ! -e "$JOBRUN_STATE_DIR" ]
  job a.yaml one true
  job b.yaml two true
  jobrun apply a.yaml
  jobrun apply b.yaml
  [ "$(offers logs '' | sort | tr '\n' ' ')" = "one two " ]
  [ "$(offers wait o)" = one ]
  [ "$(offers delete t | tr '\n' ' ')" = "two :files " ]
  [ "$(jobrun complete status tw)" = "two	SUCCEEDED" ]
  # A store that can't be read is no reason to complain into the terminal.
  echo broken >"$JOBRUN_STATE_DIR"/jobrun.db
  run jobrun complete logs ''
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "completion prints what is installed" {
  local shell
  for shell in bash zsh fish; do
    jobrun completion $shell >$shell
    cmp $shell "$BATS_TEST_DIRNAME/../../cmd/jobrun/completion/$shell"
  done
  run jobrun completion csh
  [ "$status" -eq 64 ]
  [[ $output == *"no completion for 'csh'; there is one for bash, zsh and fish"* ]]
}

@test "bash completes" {
  types_well bash --norc -i
}

@test "zsh completes" {
  types_well zsh -f -i
}

@test "zsh finds it by itself where it is installed" {
  command -v zsh >/dev/null || skip "needs zsh"
  mkdir functions
  jobrun completion zsh >functions/_jobrun
  FPATH=$TMP/functions:$(zsh -fc 'print $FPATH') \
    tab zsh -f -i -- $'jobrun canc\t' 'jobrun cancel '
}

@test "fish completes" {
  types_well fish --no-config -i
}
