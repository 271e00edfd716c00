# What an editor with yaml-language-server shows in job files.
# bats file_tags=server
load helper

@test "yaml-language-server completes values, explains fields, and shows rules at their place" {
  local server=${JOBRUN_YAML_SERVER:-$(type -P yaml-language-server)}
  [ -n "$server" ] || skip "yaml-language-server is not here: npm install yaml-language-server, JOBRUN_YAML_SERVER=its folder"
  jobrun schema >schema.json
  run /usr/bin/python3 "$BATS_TEST_DIRNAME/editor.py" "$server" "$PWD/schema.json"
  echo "$output"
  [ "$status" -eq 0 ]
}
