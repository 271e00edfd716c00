#!/usr/bin/env bats
# Every command in the README and in docs/ runs as it is written, or stands in
# NOT_RUN with the reason; links lead somewhere.

load helper

ROOT=$BATS_TEST_DIRNAME/../..

# A line of these is no command that can run here: PATTERN  REASON
NOT_RUN='
*"<this repository>"*           an address
"make run"*                     installs packages; CI does that
"make && "*                     builds; CI does that, and the examples run below
"jobrun plan jobs/"*            a folder of the reader
"jobrun apply jobs/"*           a folder of the reader
"jobrun plan --prune"*          a folder of the reader
"jobrun apply jobs.plan"*       a plan of the reader
*" JOB"*                        a run of the reader
'

# Commands of a page: indented by four blanks, in no fence, without comments.
commands() {
  sed -n -e '/^```/,/^```/d' -e 's/^    \(jobrun .*\|make .*\|git clone .*\)/\1/p' "$1" |
    sed 's/  *#.*//'
}

reason() { # COMMAND
  local line pattern
  while read -r line; do
    [ -n "$line" ] || continue
    pattern=${line%%  *}
    # shellcheck disable=SC2254
    eval "case \$1 in $pattern) return 0 ;; esac"
  done <<<"$NOT_RUN"
  return 1
}

@test "links and pictures of the pages lead to files" {
  local page target found=0
  for page in "$ROOT"/README.md "$ROOT"/docs/*.md; do
    while read -r target; do
      [ -e "${page%/*}/$target" ] || {
        echo "${page#"$ROOT"/}: '$target' does not exist"
        return 1
      }
      found=$((found + 1))
    done < <(grep -oE '\]\([^)#]+|srcset="[^"]+|src="[^"]+' "$page" |
      sed 's/^](//; s/^[a-z]*="//' | grep -v '^https*:')
  done
  [ "$found" -gt 30 ]
}

@test "every command of the pages runs as it is written" {
  local page line ran=0
  mkdir work bin
  cp -r "$ROOT"/examples work/
  ln -s "$JOBRUN" bin/jobrun
  PATH=$PWD/bin:$PATH
  cd work
  # What docs/first-hour.md has the reader write.
  sed -n '/^```yaml/,/^```/{/^```/d;p;}' "$ROOT/docs/first-hour.md" |
    sed '/^trainingInput:$/,$d' >job.yaml
  echo 'print("loss=0.5")' >train.py
  for page in "$ROOT"/docs/first-hour.md "$ROOT"/README.md "$ROOT"/docs/*.md; do
    while read -r line; do
      reason "$line" && continue
      echo "${page#"$ROOT"/}: $line"
      bash -c "set -o pipefail; $line" >../out 2>&1 </dev/null || {
        cat ../out
        return 1
      }
      ran=$((ran + 1))
    done < <(commands "$page")
  done
  [ "$ran" -gt 20 ]
}
