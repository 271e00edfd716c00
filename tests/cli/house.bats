#!/usr/bin/env bats
# What keeps the tree as CONTRIBUTING.md, Layout, describes it.  Each check
# holds for the tree, and finds what is planted in a small one.

load helper

ROOT=$BATS_TEST_DIRNAME/../..
HOUSE=$ROOT/tests/house

# A tree of two rooms, the second of which may include the first.
plant() {
  mkdir -p core/low core/high tests/house
  printf 'core/low:\ncore/high: core/low\n' >tests/house/layers.txt
  printf '#ifndef L\n#define L\nint low_call(void);\n#endif\n' >core/low/low.h
  printf '#include "core/low/low.h"\nint low_call(void)\n{\n\treturn 1;\n}\n' \
    >core/low/low.c
  printf '#include "core/low/low.h"\nint main(void)\n{\n\treturn low_call();\n}\n' \
    >core/high/high.c
}

compile() {
  local file
  for file in core/*/*.c; do
    mkdir -p "build/${file%/*}"
    cc -I. -c "$file" -o "build/${file%.c}.o"
  done
}

# The check fails, and says so: CHECK TEXT [ARGUMENT...]
finds() {
  local check=$1 text=$2
  shift 2
  run python3 "$HOUSE/$check.py" . "$@"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"$text"* ]]
}

@test "every room includes only what layers.txt says, and uses what it may" {
  local objects=${JOBRUN%/jobrun}
  [ -d "$objects/core" ] || objects=$ROOT/build/release
  python3 "$HOUSE/layers.py" "$ROOT" "$objects"
}

@test "planted: the small tree itself has no fault" {
  plant
  compile
  python3 "$HOUSE/layers.py" . build
}

@test "planted: an include upwards, in every spelling" {
  plant
  touch core/high/high.h
  local spelling
  for spelling in '#include "core/high/high.h"' '  #  include "core/high/high.h"' \
      '#include <core/high/high.h>'; do
    echo "$spelling" >core/low/other.c
    finds layers "core/low/other.c:1: core/low may not include core/high/high.h"
  done
  echo '#include "low.h"' >core/low/other.c
  finds layers "'low.h' is not named from the root"
}

@test "planted: a folder that the table does not name" {
  plant
  mkdir core/new
  touch core/new/new.c
  finds layers "core/new/new.c: no room of layers.txt has this folder"
}

@test "planted: a permission that nobody uses" {
  plant
  printf 'core/third: core/low\n' >>tests/house/layers.txt
  finds layers "layers.txt: core/third does not use core/low"
}

@test "planted: a circle, though the table allows it" {
  plant
  printf 'core/low: core/high\ncore/high: core/low\n' >tests/house/layers.txt
  touch core/high/high.h
  echo '#include "core/high/high.h"' >>core/low/low.c
  finds layers "circle: core/high -> core/low -> core/high"
}

@test "planted: a call without an include, and an export that nobody needs" {
  plant
  printf 'int high_call(void)\n{\n\treturn 2;\n}\n' >core/high/more.c
  printf 'int high_call(void);\nint up(void)\n{\n\treturn high_call();\n}\n' \
    >core/low/up.c
  compile
  finds layers "core/low/up.c: core/low may not use 'high_call' of core/high/more.c" build
  [[ $output == *"core/low/up.c: 'up' is used in this file only"* ]]
  [[ $output == *"circle of symbols"* ]]
}

@test "headers and struct tags have names of their own" {
  python3 "$HOUSE/unique.py" "$ROOT"
}

@test "planted: a header's name and a tag that are taken" {
  plant
  echo 'struct thing {' >core/high/low.h
  echo 'struct thing {' >core/low/thing.c
  finds unique "the header 'low.h' is also in core/low/low.h"
  [[ $output == *"the tag 'thing' is also in core/low/thing.c:1"* ]]
}

@test "no file includes a header of which it uses no name" {
  python3 "$HOUSE/stale.py" "$ROOT"
}

@test "planted: an include of which no name is used" {
  plant
  printf '#include "core/low/low.h"\n/* low_call() */\n' >core/high/high.c
  finds stale "core/high/high.c:1: no name of core/low/low.h is used"
}

@test "no sentence of a comment begins with Of, Those, Who or That" {
  python3 "$HOUSE/comments.py" "$ROOT"
}

@test "planted: comments that do not name their subject" {
  plant
  cat >core/high/more.c <<'EOF'
/* Of tasks it knows nothing. */
int a; /* Known.  Who
	* asks is told. */
/*
 * First
 *
 * Those left.
 */
const char *b = "/* That is a string. */"; // That one is not.
/* The kernel.  Offsets, Thatcher and WHO: these are fine.  So is this. */
EOF
  finds comments "core/high/more.c:1: a sentence begins with 'Of tasks'"
  [[ $output == *"more.c:2: a sentence begins with 'Who asks'"* ]]
  [[ $output == *"more.c:7: a sentence begins with 'Those left'"* ]]
  [[ $output == *"more.c:9: a sentence begins with 'That one'"* ]]
  [ "${#lines[@]}" -eq 4 ]
}

@test "no function is longer or more complex than it may be" {
  command -v pmccabe >/dev/null || skip "pmccabe is not installed"
  python3 "$HOUSE/complexity.py" "$ROOT"
}

@test "planted: a long function, and a complex one" {
  command -v pmccabe >/dev/null || skip "pmccabe is not installed"
  plant
  {
    printf 'int long_one(void)\n{\n'
    seq 100 | sed 's/.*/\tlow_call();/'
    printf '\treturn 0;\n}\nint complex_one(int a)\n{\n'
    seq 30 | sed 's/.*/\tif (a == &) return &;/'
    printf '\treturn 0;\n}\n'
  } >core/high/more.c
  finds complexity "long_one() has 104 lines, more than 83"
  [[ $output == *"complex_one() has a complexity of 31, more than 21"* ]]
}

@test "clang-format would change nothing" {
  local version
  command -v clang-format >/dev/null || skip "clang-format is not installed"
  version=$(clang-format --version)
  [[ $version == *" version 14."* ]] ||
    skip "another version formats otherwise: $version"
  cd "$ROOT"
  git ls-files '*.c' '*.h' >"$BATS_TEST_TMPDIR/files" 2>/dev/null ||
    skip "this is no checkout"
  xargs clang-format --dry-run --Werror <"$BATS_TEST_TMPDIR/files"
}

@test "programs are at no fixed address, and their tables read-only" {
  local build=$ROOT/build/release program
  # What users get: that with sanitizers is built to start fast.
  [ -e "$ROOT/jobrun" ] || skip "there is no build without sanitizers"
  for program in "$ROOT/jobrun" "$build"/cmd/jobrun-host/jobrun-host \
    "$build"/cmd/jobrun-start/jobrun-start; do
    readelf -d "$program" | grep -q 'Flags: NOW PIE'
    readelf -lW "$program" | grep -q GNU_RELRO
  done
}

@test "every commit says what was wrong" {
  git -C "$ROOT" rev-parse -q --verify HEAD >/dev/null ||
    skip "this is no checkout"
  run python3 "$HOUSE/commits.py" "$ROOT"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output != skipped:* ]] || skip "${output#skipped: }"
}

@test "planted: a commit without a body, and one without an area" {
  git init -q .
  git config user.name t
  git config user.email t@example.com
  git commit -q --allow-empty -m 'start: begin'
  git commit -q --allow-empty -m 'slurm: take the id from elsewhere'
  git commit -q --allow-empty -m 'Fixed it.' -m 'It was wrong.'
  finds commits "'slurm: take the id from elsewhere' has no body" HEAD~2
  [[ $output == *"'Fixed it.' is not 'area: what to do'"* ]]
}
