# s3://, by a stand-in that checks each signature by itself.
bats_require_minimum_version 1.5.0
# bats file_tags=server
load helper

S3=$BATS_TEST_DIRNAME/../stand-ins/s3/server.py

# It ends with this test: it reads from a pipe of ours.
start_s3() {
  unset "${!AWS_@}"
  export HOME=$TMP/home
  mkdir -p "$HOME/.aws"
  mkfifo alive
  python3 "$S3" --port-file port <alive 3>&- &
  exec {KEEP}>alive
  wait_until 30 test -s port
  BASE=http://127.0.0.1:$(cat port)
  export AWS_ENDPOINT_URL_S3=$BASE AWS_REGION=eu-test-1 \
    AWS_EC2_METADATA_DISABLED=true
}

with_keys() {
  export AWS_ACCESS_KEY_ID=AKIDENVIRONMENT AWS_SECRET_ACCESS_KEY=env/secret+1
}

# No secret, token or signature is in what was written.
no_secrets() {
  run ! grep -rlE 'secret\+|token==|Signature=[0-9a-f]{64}' . \
    --exclude-dir=home --exclude=alive --exclude=token
}

end_s3() {
  exec {KEEP}>&-
  wait
}

# who OBJECT: who has signed the last request
who() {
  curl -sf "$BASE/_/seen" | python3 -c 'import json, sys
print(json.load(sys.stdin)[-1].split()[-1])'
}

@test "shards go to s3:// and come back, in parts, through failures" {
  start_s3
  with_keys
  mkdir photos
  head -c 9000000 /dev/urandom >photos/a.jpg
  echo b >photos/b.jpg
  curl -sf -d '{"count": 2}' "$BASE/_/fail"
  run -0 --separate-stderr "$JOBRUN" shard --trace-http trace photos 's3://b.x/my set/train'
  [ "$output" = "s3://b.x/my set/train/shards.json" ]
  curl -sf -d '{"count": 2}' "$BASE/_/cut"
  "$JOBRUN" cat --index 's3://b.x/my set/train/shards.json' >back.tar
  tar xf back.tar
  cmp a.jpg photos/a.jpg
  cmp b.jpg photos/b.jpg
  run -0 "$JOBRUN" shard --verify 's3://b.x/my set/train'
  "$JOBRUN" cat --cache cache 's3://b.x/my set/train/shard-000000.tar' >once.tar
  "$JOBRUN" cat --cache cache 's3://b.x/my set/train/shard-000000.tar' >again.tar
  cmp once.tar again.tar
  run "$JOBRUN" cat s3://b.x/nothing
  [ "$status" -ne 0 ]
  [[ $output == *"s3://b.x/nothing"*"it does not exist"* ]]
  no_secrets
  end_s3
}

@test "checkpoints and logs are in s3://, and the next run goes on from there" {
  start_s3
  with_keys
  job a.yaml a 'echo "from ${JOBRUN_CHECKPOINT:+$(cat "$JOBRUN_CHECKPOINT")}"
    echo 7 >"$JOBRUN_CHECKPOINT_DIR/.new"; mv "$JOBRUN_CHECKPOINT_DIR/.new" "$JOBRUN_CHECKPOINT_DIR/ckpt-7.pt"'
  printf '  checkpoints: {to: "s3://b/ck"}\n  logs: {to: "s3://b/logs"}\n' >>a.yaml
  run -0 --separate-stderr "$JOBRUN" apply a.yaml
  [[ $stderr == *"'ckpt-7.pt' is uploaded: step 7, 2 B, in s3://b/ck/a/"* ]]
  run -0 --separate-stderr "$JOBRUN" apply --rerun a.yaml
  [[ $output == *"from 7"* ]]
  [[ $stderr == *"from s3://b/ck/a/"* ]]
  curl -sf "$BASE/_/seen" >seen
  grep -q 'PUT /b/logs/a/' seen
  no_secrets
  end_s3
  nothing_runs
}

@test "credentials are found where AWS's tools find them" {
  start_s3
  echo whole >public
  mkdir one
  echo x >one/a.txt
  (with_keys && "$JOBRUN" shard one s3://b/d)
  get() {
    run --separate-stderr "$JOBRUN" cat s3://b/d/shards.json
    echo "$status $stderr"
    [ "$status" -eq 0 ]
    who
  }
  cat >"$HOME/.aws/credentials" <<'EOF'
[default]
aws_access_key_id = AKIDNOBODY
aws_secret_access_key = x
[mine]
aws_access_key_id = AKIDPROFILE
aws_secret_access_key = profile/secret+2
EOF
  printf '[profile mine]\ns3 =\n  region = nowhere\nregion = eu-test-1\n[profile single]\nsso_session = x\n' \
    >"$HOME/.aws/config"
  (with_keys && [ "$(get | tail -1)" = AKIDENVIRONMENT ])
  (unset AWS_REGION && export AWS_PROFILE=mine && [ "$(get | tail -1)" = AKIDPROFILE ])
  echo web-identity >token
  (export AWS_WEB_IDENTITY_TOKEN_FILE=token AWS_ROLE_ARN=arn:aws:iam::1:role/trainer \
    AWS_ENDPOINT_URL_STS=$BASE/sts && [ "$(get | tail -1)" = AKIDWEB ])
  run "$JOBRUN" cat s3://b/d/shards.json
  [[ $output == *403* ]]
  rm "$HOME/.aws/credentials"
  (export AWS_CONTAINER_CREDENTIALS_FULL_URI=$BASE/container \
    AWS_CONTAINER_AUTHORIZATION_TOKEN=let-me-in && [ "$(get | tail -1)" = AKIDCONTAINER ])
  (unset AWS_EC2_METADATA_DISABLED &&
    export AWS_EC2_METADATA_SERVICE_ENDPOINT=$BASE && [ "$(get | tail -1)" = AKIDINSTANCE ])
  AWS_PROFILE=single run "$JOBRUN" cat s3://b/d/shards.json
  [[ $output == *"the AWS profile 'single' has sso_session instead of keys: run"* ]]
  # Without any, only what is public.
  run "$JOBRUN" cat s3://b/d/shards.json
  [[ $output == *403* ]]
  (with_keys && "$JOBRUN" shard one s3://public-data/d)
  [ "$("$JOBRUN" cat s3://public-data/d/shards.json | head -c 1)" = "{" ]
  [ "$(who)" = None ]
  no_secrets
  end_s3
}
