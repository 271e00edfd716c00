# Pictures on a terminal: plot, and what is drawn anew.
bats_require_minimum_version 1.5.0
load helper

TERMINAL=$BATS_TEST_DIRNAME/terminal.py

terminal() {
  TERM=xterm timeout 300 /usr/bin/python3 "$TERMINAL" "$@"
}

CURVE='for i in $(seq 1 50); do echo "step=$i loss=$((51 - i)) acc=0.$i"; done'

@test "plot draws a curve with its axes, in Braille or in ASCII" {
  job a.yaml a "$CURVE"
  jobrun apply a.yaml >/dev/null
  COLUMNS=60 LC_ALL=C run --separate-stderr jobrun plot a
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "loss over steps" ]
  [[ ${lines[1]} == "      50 |*"* ]]
  [[ $output == *"       1 |"*"*"* ]]
  [[ $output == *"+--------------------------------------------------"* ]]
  [[ $output == *"* master 0: last 1, least 1, greatest 50"* ]]
  [ "$stderr" = "jobrun: not drawn: acc" ]
  refute grep -qP '[^\x00-\x7f]' <<<"$output"
  [ "$(wc -L <<<"$output")" -le 60 ]
  LC_ALL=C.UTF-8 run --separate-stderr jobrun plot a acc
  [ "${lines[0]}" = "acc over steps" ]
  [[ $output == *"│⠡"* || $output == *"⣀"* || $output == *"⠄"* || $output == *"⡠"* ]]
  run jobrun plot a nothing
  [ "$status" -eq 1 ]
  [[ $output == *"no metric 'nothing': there are loss, acc"* ]]
  # A span that is no number.
  job b.yaml b 'for v in 1e308 -1e308 0 nan; do echo "loss=$v"; done'
  jobrun apply b.yaml >/dev/null
  LC_ALL=C run --separate-stderr jobrun plot b
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "loss over the time since the start" ]
  # Two runs in one picture, told apart by their marks.
  jobrun apply --rerun a.yaml >/dev/null
  LC_ALL=C run --separate-stderr jobrun plot a.1 a.2 loss
  [[ $output == *"* a.1 master 0: "*"+ a.2 master 0: "* ]]
}

@test "status -w fits the terminal, scrolls, and leaves the last state behind" {
  job a.yaml a 'until [ -e go ]; do sleep 0.05; done' '  workerType: n1-standard-4
  workerCount: 24'
  jobrun apply --detach a.yaml
  terminal 60x24 "$JOBRUN" status -w a -- wait:'lines 1-23 of' keys:G wait:'worker 23' \
    size:80x20 wait:' of 3' keys:G wait:'files: ' stop keys:g wait:JOB keys:q end >out.txt
  cat out.txt
  grep -qx 'stopped:left' out.txt
  [ "$(wc -L <out.txt)" -le 80 ]
  # All of it, on the terminal's own screen.
  [[ $(tail -n 22 out.txt) == *"worker 23"*"files: "*"exit 0" ]]
  refute grep -qx alternate out.txt
  touch go
  jobrun wait a
}

@test "what was watched stays: the end of status -w and of metrics -f" {
  job a.yaml a 'echo "step=1 loss=0.5"; until [ -e go ]; do sleep 0.05; done; echo "step=2 loss=0.25"'
  jobrun apply --detach a.yaml
  terminal 80x24 "$JOBRUN" status -w a -- wait:RUNNING keys:q end >status.txt
  terminal 60x24 "$JOBRUN" metrics -f a -- wait:loss keys:q end >metrics.txt
  touch go
  cat status.txt metrics.txt
  [[ $(tail -n +2 status.txt) == *RUNNING*"exit 0" ]]
  [ "$(wc -L <metrics.txt)" -le 60 ]
  grep -q '^loss *master 0 *1 *0.5' metrics.txt
  grep -qx 'exit 0' metrics.txt
  refute grep -qx alternate status.txt metrics.txt
  jobrun wait a
}
