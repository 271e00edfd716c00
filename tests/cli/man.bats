# The manual pages: there, complete, and free of mistakes.
load helper

PAGES=$BATS_TEST_DIRNAME/../../man

commands() {
  jobrun help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

# The page as plain text, for looking things up in it.
plain() {
  if command -v groff >/dev/null; then
    groff -man -Tascii -P-cbou "$1"
  else
    mandoc -T ascii "$1" | col -b
  fi
}

need_a_formatter() {
  command -v groff >/dev/null || command -v mandoc >/dev/null ||
    skip "needs groff or mandoc"
}

# The options that a command's help lists: -d, --detach ...
options() {
  jobrun "$1" --help | sed -n '/^Options:/,$s/^ \{2,6\}\(-[^ ].*\)/\1/p' |
    sed 's/   *.*//' | grep -Eo -- '(^|[ ,])--?[a-z][a-z0-9-]*' | tr -d ' ,'
}

@test "every page is formatted without a warning" {
  local page
  need_a_formatter
  for page in "$PAGES"/*.[1-8]; do
    if command -v groff >/dev/null; then
      run groff -ww -man -Tutf8 -K utf8 -z "$page"
    else
      run mandoc -T lint -W warning "$page"
    fi
    echo "$page: $output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
}

@test "every option of every command is in its page" {
  local name option found
  need_a_formatter
  for name in $(commands); do
    plain "$PAGES/jobrun-$name.1" >page.txt
    found=0
    for option in $(options "$name"); do
      echo "$name $option"
      # Where it is described, not only used: at the start of a paragraph.
      grep -Eq -- "^ +(-[a-zA-Z], )?$option( |,|\$)" page.txt
      found=$((found + 1))
    done
    [ "$found" -ge 3 ] # --color, -h and --help at least
  done
}

@test "every page has an option for nothing that the command does not take" {
  local name option
  need_a_formatter
  for name in $(commands); do
    options "$name" >takes.txt
    plain "$PAGES/jobrun-$name.1" |
      sed -n '/^OPTIONS/,/^[A-Z]/s/^ \{7\}\(-[^ ].*\)/\1/p' |
      grep -Eo -- '(^|, )--?[a-z][a-z0-9-]*' | tr -d ' ,' >says.txt
    for option in $(cat says.txt); do
      echo "$name $option"
      grep -qxe "$option" takes.txt
    done
  done
}

@test "every page has the sections that readers look for" {
  local page section
  need_a_formatter
  for page in "$PAGES"/*.1; do
    plain "$page" >page.txt
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES "EXIT STATUS" \
      "SEE ALSO"; do
      echo "$page: $section"
      grep -qx "$section" page.txt
    done
  done
}

@test "jobrun.1 lists every command, and pages name only pages that are there" {
  local name
  need_a_formatter
  plain "$PAGES/jobrun.1" >page.txt
  for name in $(commands); do
    echo "$name"
    grep -Eq "^ +jobrun-$name\(1\)$" page.txt
  done
  for name in $(cat "$PAGES"/*.[1-8] |
    sed -n 's/^\.BR \(jobrun[a-z\\-]*\) (\([1-8]\)).*/\1.\2/p' | tr -d '\\' | sort -u); do
    echo "$name"
    [ -f "$PAGES/$name" ]
  done
}

@test "every provider has a page, whose job is valid and whose fields the program writes" {
  local name page section
  command -v groff >/dev/null || skip "needs groff"
  mkdir job
  for name in $(jobrun explain --format json providers |
    python3 -c 'import json,sys; print(*[e["name"] for e in json.load(sys.stdin)["entries"]])'); do
    page=$PAGES/jobrun-$name.7
    sed -n '/^\.SH SYNOPSIS/,/^\.EE/p' "$page" | sed '1,2d;$d;s/\\-/-/g' >job/job.yaml
    echo "$name"
    jobrun validate --strict job/job.yaml
    jobrun plan --provider "$name" --offline job/job.yaml >plan.txt
    jobrun explain --format man "$name" >fields.man
    cat <(printf '.TH X 7 2026-11-29\n') fields.man >fields.7
    [ -z "$(groff -ww -man -Tutf8 -K utf8 -z fields.7 2>&1)" ]
    # Its own block, with types, and the others by what becomes of them.
    plain fields.7 >fields.txt
    grep -q "jobrun.$name" fields.txt
    grep -q "What becomes of other fields" fields.txt
    refute grep -q "see its fields" fields.txt
    plain "$page" >page.txt
    for section in NAME SYNOPSIS DESCRIPTION FIELDS EXAMPLES "SEE ALSO"; do
      grep -qx "$section" page.txt
    done
  done
  jobrun explain --format man slurm | grep -A3 'trainingInput.region' |
    grep "the cluster is where it is"
  run jobrun explain --format man nowhere
  [ "$status" = 64 ]
  [[ $output == *"'nowhere' is not a provider"* ]]
}
