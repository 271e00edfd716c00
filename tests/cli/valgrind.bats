# Run by `make test` once more with VALGRIND set: no leak, no bad access.
load helper

jobrun() {
  $VALGRIND "$JOBRUN" "$@"
}

@test "commands without leaks" {
  [ -n "${VALGRIND:-}" ] || skip "without valgrind"
  job a.yaml a 'echo hi'
  printf 'jobId: a-\ntrainingInput: {scaleTeir: x}\n' >bad.yaml
  jobrun version
  jobrun help apply
  jobrun validate a.yaml
  run jobrun validate bad.yaml
  [ "$status" -eq 65 ]
  jobrun plan a.yaml
  jobrun plan --format json a.yaml
  jobrun apply a.yaml
  jobrun status a
  jobrun logs a
  jobrun env a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  jobrun delete a
}
