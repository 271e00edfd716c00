# Two versions of jobrun, each going on from what the other has left.

# both FUNCTION: with the old program first and the new one second, then with
# the new one first.
both() {
  [ -n "${JOBRUN_OLD:-}" ] || skip "JOBRUN_OLD names no program"
  local new=$JOBRUN order
  for order in upgrade downgrade; do
    echo "== $order"
    FIRST=$JOBRUN_OLD SECOND=$new
    [ $order = upgrade ] || FIRST=$new SECOND=$JOBRUN_OLD
    "$@"
    rm -rf "$JOBRUN_STATE_DIR"
  done
}

first() { "$FIRST" "$@"; }
second() { "$SECOND" "$@"; }

# is_left JOB...: nothing is run, cancelled nor replaced.
is_left() {
  run second plan --detailed-exitcode "$@"
  echo "$output"
  [ "$status" -eq 0 ]
}

# The same, and a machine that knows nothing sees it, too; but a change is one.
seen_by_all() {
  is_left "$1"
  JOBRUN_STATE_DIR=$TMP/other is_left "$1"
  run second plan --detailed-exitcode \
    --set trainingInput.masterType=n1-standard-8 "$1"
  echo "$output"
  [ "$status" -eq 2 ]
}
