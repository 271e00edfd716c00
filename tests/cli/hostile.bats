# Repositories that strangers have made, planned with credentials around: what is
# opened, run, contacted and shown.  See hostile.py.
load helper
bats_require_minimum_version 1.5.0

@test "a stranger's repository opens, runs, contacts and shows nothing of ours" {
  command -v strace >/dev/null || skip "needs strace"
  strace -o trace true 2>/dev/null || skip "strace may not trace here"
  local some=every=9
  [ -z "${JOBRUN_TEST_ALL:-}" ] || some=every=1
  run python3 "$BATS_TEST_DIRNAME/hostile.py" "$JOBRUN" "$TMP/world" "$some"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *" repositories did no harm"* ]]
}
