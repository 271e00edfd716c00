# Hostile files: refused within a second, in little memory, with a message.
load helper

# refused FILE TEXT: with 20 times the file's size plus 20 MB, and what the
# program itself takes
refused() {
  local kb start took
  kb=$(($(stat -c %s "$1") * 20 / 1024 + 20480 + 20480))
  # A sanitizer reserves terabytes.
  if sanitized; then kb=unlimited; fi
  # CPU time: other processes may have the machine meanwhile.
  run bash -c "ulimit -v $kb; TIMEFORMAT='%U %S'
    { time '$JOBRUN' validate '$1' 2>&3; } 3>&2 2>cpu"
  took=$(awk '{ print int(($1 + $2) * 1000) }' cpu)
  echo "${output:0:2000}"
  echo "$1: exit $status, $took ms, $kb kB"
  [ "$status" -eq 65 ]
  [[ $output == *"$2"* ]]
  [ "$kb" = unlimited ] || [ "$took" -lt 1000 ]
}

# write FILE PYTHON: an expression that gives its bytes
write() {
  python3 -c "import sys; sys.stdout.buffer.write($2)" >"$1"
}

@test "a file of 50 MB" {
  write a.yaml 'b"trainingInput:\n" + b"  args: [aaaaaaaaaaaaaaaaaaa]\n" * 1600000'
  refused a.yaml "larger than"
}

@test "a pipe that never ends" {
  run bash -c "yes | timeout 10 '$JOBRUN' validate -"
  [ "$status" -eq 65 ]
  [[ $output == *"larger than"* ]]
}

@test "100,000 levels" {
  write a.yaml 'b"trainingInput: " + b"[" * 100000'
  refused a.yaml "more than 100"
  write a.yaml 'b"trainingInput: " + b"{a: " * 100000'
  refused a.yaml "more than 100"
  write a.yaml 'b"trainingInput:\n  " + b"- " * 100000'
  refused a.yaml "more than 100"
  write a.yaml 'b"trainingInput:\n" + b"".join(b" " * i + b"a:\n" for i in range(1, 3500))'
  refused a.yaml "more than 100"
  write a.yaml 'b"trainingInput: " + b"? " * 100000'
  refused a.yaml "a.yaml:1"
}

@test "alias bombs" {
  write a.yaml 'b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + b"".join(b"a%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i-1)] * 10)) for i in range(1, 12)) + b"trainingInput: {}\n"'
  refused a.yaml "aliases expand"
  write a.yaml 'b"x-a: &a {%s}\n" % b", ".join(b"k%d: v" % i for i in range(5000)) + b"".join(b"x-%d: {<<: *a}\n" % i for i in range(5000)) + b"trainingInput: {}\n"'
  refused a.yaml "values in one file"
  write a.yaml 'b"".join(b"x-%d: &a%d v\n" % (i, i) for i in range(60000)) + b"trainingInput: {}\n"'
  refused a.yaml "values in one file"
}

@test "many keys, values, documents, long lines" {
  write a.yaml 'b"trainingInput: {}\n" + b"".join(b"k%d: v\n" % i for i in range(45000))'
  refused a.yaml "too many problems"
  write a.yaml 'b"trainingInput: {}\n" + b"k: v\n" * 45000'
  refused a.yaml "too many problems"
  write a.yaml 'b"".join(b"jobId: j%d\ntrainingInput: {}\n---\n" % i for i in range(5000))'
  refused a.yaml "documents in one file"
  write a.yaml 'b"trainingInput: {scaleTier: " + b"x" * 7000000 + b"}\n"'
  refused a.yaml "is not one of"
  write a.yaml 'b"trainingInput: {scaleTier: \"" + b"\\x41" * 1500000 + b"}\n"'
  refused a.yaml "unterminated"
  write a.yaml '"trainingInput: {args: [".encode() + "ä, ".encode() * 45000 + b"{}]}\n"'
  refused a.yaml '"args"'
  write a.yaml 'b"%TAG !a! tag:a\n" * 100000 + b"--- a\n"'
  refused a.yaml "a.yaml"
}

@test "bytes that are no text" {
  write a.yaml 'b"trainingInput:\n  scaleTier: BA\0SIC\n  typo: x\n"'
  refused a.yaml "a.yaml:2:16: error: control character U+0000"
  write a.yaml 'b"\0" * 5000000'
  refused a.yaml "U+0000"
  write a.yaml 'b"trainingInput:\n  scaleTier: \xff\n"'
  refused a.yaml "a.yaml:2:14: error: byte 0xFF"
  write a.yaml 'b"trainingInput:\n  scaleTier: \xc0\xaf\n"'
  refused a.yaml "not valid UTF-8"
  write a.yaml '"trainingInput:\n  scaleTeir: x\n".encode("utf-16")'
  refused a.yaml 'a.yaml:2:3: error: unknown key "scaleTeir"'
  write a.yaml 'b"\xfe\xff" + "trainingInput:\n  scaleTeir: x\n".encode("utf-16-be") + b"\xd8"'
  refused a.yaml 'a.yaml:3:1'
  write a.yaml 'b"\xff\xfe" + b"a\0" * 3000000'
  refused a.yaml "a.yaml:1:1"
  head -c 1000000 /dev/urandom >a.yaml
  refused a.yaml "a.yaml"
}

@test "no pipe, device or directory can hang it" {
  mkfifo pipe.yaml
  run timeout 5 "$JOBRUN" validate --set a=b /dev/null
  [ "$status" -eq 65 ]
  mkdir d && mkfifo d/a.yaml
  run timeout 5 "$JOBRUN" validate d
  [ "$status" -eq 65 ]
}

# jobs COUNT: a folder "many" of small jobs
jobs() {
  mkdir -p many
  python3 -c 'import sys
for i in range(int(sys.argv[1])):
    open(f"many/{i}.yaml", "w").write(f"""jobId: job{i}
labels: {{owner: vision}}
trainingInput: {{scaleTier: CUSTOM, masterType: n1-standard-4, args: [--seed, "{i}"]}}
jobrun: {{provider: fake, command: [python3, train.py]}}
""")' "$1"
}

@test "validate looks once for a repository, and twice at each file" {
  command -v strace >/dev/null || skip "needs strace"
  strace -o trace true 2>/dev/null || skip "strace may not trace here"
  jobs 60
  strace -f -o trace -e trace=file "$JOBRUN" validate many >/dev/null
  run grep -c 'many/[0-9]*\.yaml"' trace
  echo "$output calls name a file"
  [ "$output" -eq 120 ]
  run grep -c '/\.git"' trace
  echo "$output calls look for a repository"
  [ "$output" -lt 60 ]
}

@test "a planned job takes 18 kB" {
  if sanitized; then skip "a sanitizer takes more"; fi
  jobs 1000
  run python3 -c 'import resource, subprocess, sys
subprocess.run([sys.argv[1], "plan", "many"], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$JOBRUN"
  echo "$output kB"
  [ "$output" -lt $((12000 + 18 * 1000)) ]
}
