#!/usr/bin/env bats
# make deb and make dist: what is in the packages, and that the same sources
# give the same bytes.
load helper

TOP=$BATS_TEST_DIRNAME/../..

# What `make install` puts into a root, with a small program for jobrun.
installed() { # ROOT
  mkdir -p "$1/usr/bin" "$1/usr/share/man/man1" "$1/usr/share/man/man5" \
    "$1/usr/share/man/man7"
  cp "$(type -P true)" "$1/usr/bin/jobrun"
  cp "$TOP"/man/*.1 "$1/usr/share/man/man1"
  cp "$TOP"/man/*.5 "$1/usr/share/man/man5"
  cp "$TOP"/man/*.7 "$1/usr/share/man/man7"
}

need_dpkg() {
  command -v dpkg-deb >/dev/null || skip "needs dpkg-deb"
  command -v objdump >/dev/null || skip "needs binutils"
}

@test "the package names the libraries that are opened at run time" {
  need_dpkg
  installed root
  SOURCE_DATE_EPOCH=1700000000 "$TOP/packaging/deb/build" root jobrun.deb
  [ "$(dpkg-deb -f jobrun.deb Package)" = jobrun ]
  [ "$(dpkg-deb -f jobrun.deb Version)" = "$(cat "$TOP/VERSION")" ]
  [ "$(dpkg-deb -f jobrun.deb Architecture)" = "$(dpkg --print-architecture)" ]
  dpkg-deb -f jobrun.deb Depends >depends
  for name in 'libc6 (>= 2.' libssl3 libarchive13 libcurl4 ca-certificates; do
    grep -qF "$name" depends
  done
  # Each library that the program opens is one of these.
  grep -rhoE 'library_open\("lib(crypto|archive|curl)\.so' "$TOP/core" "$TOP/providers" |
    sort -u >opened
  [ "$(wc -l <opened)" -eq 3 ]
  mkdir out
  dpkg-deb -x jobrun.deb out
  [ -x out/usr/bin/jobrun ]
  gzip -t out/usr/share/man/man1/jobrun-apply.1.gz
  grep -q Apache-2.0 out/usr/share/doc/jobrun/copyright
  zcat out/usr/share/doc/jobrun/changelog.gz | grep -q '^jobrun ('
  dpkg-deb -e jobrun.deb out/DEBIAN
  (cd out && md5sum --quiet -c DEBIAN/md5sums)
  # All is root's, whoever has built it.
  dpkg-deb -c jobrun.deb >list
  refute grep -v ' root/root ' list
}

@test "the same sources give the same package from another folder and time" {
  need_dpkg
  installed root
  export SOURCE_DATE_EPOCH=1700000000
  "$TOP/packaging/deb/build" root one.deb
  mkdir -p a/deeper
  cp -R root a/deeper/root
  find a -exec touch -d 2001-01-01 {} +
  (umask 077; export LC_ALL=C.UTF-8 TZ=Asia/Tokyo HOME=/nowhere; cd a/deeper
    "$TOP/packaging/deb/build" root two.deb)
  cmp one.deb a/deeper/two.deb
}

@test "lintian has no word to say" {
  need_dpkg
  command -v lintian >/dev/null || skip "needs lintian"
  [ -n "${JOBRUN_DEB:-}" ] || skip "needs the package of make deb in JOBRUN_DEB"
  run lintian --fail-on error,warning "$JOBRUN_DEB"
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "the source archive has the version, and all that is in git" {
  git -C "$TOP" rev-parse HEAD >/dev/null 2>&1 || skip "needs a clone"
  version=$(cat "$TOP/VERSION")
  for name in one two; do
    make -s -C "$TOP" dist DIST="$TMP/$name.tar.gz"
  done
  cmp one.tar.gz two.tar.gz
  tar tzf one.tar.gz | grep -v '/$' | sed "s,^jobrun-$version/,," | sort >packed
  git -C "$TOP" ls-tree -r --name-only HEAD | sort >tracked
  diff packed tracked
}

@test "the action plans, and says whether there is something to do" {
  mkdir bin jobs
  ln -s "$JOBRUN" bin/jobrun
  job jobs/a.yaml a true
  export PATH=$TMP/bin:$PATH RUNNER_TEMP=$TMP GITHUB_OUTPUT=$TMP/out \
    GITHUB_STEP_SUMMARY=$TMP/summary OPTIONS= PATHS=jobs
  "$TOP/packaging/action/plan"
  grep -qx changes=true out
  plan=$(sed -n 's/^plan=//p' out)
  grep -q '`a`' summary
  jobrun apply jobs
  : >out
  "$TOP/packaging/action/plan"
  grep -qx changes=false out
  # The plan of an earlier step stays.
  grep -q '`a`' "$plan"
  OPTIONS='--format job?' run "$TOP/packaging/action/plan"
  [ "$status" -eq 64 ]
  [[ $output == *"job?"* ]]
  echo 'jobId: [' >jobs/a.yaml
  run "$TOP/packaging/action/plan"
  [ "$status" -eq 65 ]
}

@test "the action installs the release of its sources, or the one that is named" {
  mkdir bin
  ln -s "$JOBRUN" bin/jobrun
  printf '#!/bin/sh\necho amd64\n' >bin/dpkg
  printf '#!/bin/sh\necho "$*" >>"%s"\nexit 22\n' "$TMP/asked" >bin/curl
  chmod +x bin/dpkg bin/curl
  export PATH=$TMP/bin:$PATH REPOSITORY=a/b SERVER=https://host GITHUB_ACTION_PATH=$TOP VERSION=
  version=$(cat "$TOP/VERSION")
  # What is installed already is not installed again.
  "$TOP/packaging/action/install"
  VERSION=v$version "$TOP/packaging/action/install"
  [ ! -e asked ]
  VERSION=v9.8.7 run "$TOP/packaging/action/install"
  [ "$status" -eq 22 ]
  grep -q "https://host/a/b/releases/download/v9.8.7/jobrun_9.8.7_amd64.deb$" asked
  # Another version is not that of these sources.
  printf '#!/bin/sh\necho jobrun 0\n' >program
  chmod +x program
  ln -sf "$TMP/program" bin/jobrun
  run "$TOP/packaging/action/install"
  [ "$status" -eq 22 ]
  grep -q "https://host/a/b/releases/download/v$version/jobrun_${version}_amd64.deb$" asked
}

@test "a release is a draft until it has its files, and can be made again" {
  mkdir bin build
  echo x >build/x.tar.gz
  echo x >build/x.deb
  python3 -c '
import sys, yaml
flow = yaml.safe_load(open(sys.argv[1]))
print(flow["jobs"]["packages"]["steps"][-1]["run"])' "$TOP/.github/workflows/release.yml" >publish
  cat >bin/curl <<'SH'
#!/bin/bash
[[ $* != *secret* ]] || exit 99
echo "${@:4}" >>"$ASKED"
grep -q 'Authorization: Bearer secret' "${3#@}" || exit 98
case $* in
  *per_page*) cat "$THERE" ;;
  *'"draft": true'*) echo '{"id": 7}' ;;
esac
SH
  chmod +x bin/curl
  export PATH=$TMP/bin:$PATH ASKED=$TMP/asked THERE=$TMP/there TOKEN=secret \
    GITHUB_API_URL=https://api.github.com GITHUB_REPOSITORY=a/b GITHUB_REF_NAME=v1
  echo '[{"id": 5, "tag_name": "v1", "draft": true}, {"id": 4, "tag_name": "v0", "draft": false}]' >there
  bash -e publish
  cat asked
  sed 's/^.*per_page.*/list/; s/^.*DELETE.*releases/DELETE/; s/^.*"draft": true.*/create/; s/^.*name=/file /; s/^.*PATCH.*/publish/' \
    asked >did
  diff did - <<'END'
list
DELETE/5
create
file x.tar.gz
file x.deb
file SHA256SUMS
publish
END
  echo '[{"id": 7, "tag_name": "v1", "draft": false}]' >there
  : >asked
  bash -e publish
  [ "$(wc -l <asked)" = 1 ]
}

@test "the workflows and the action are YAML, and name files that are there" {
  python3 - "$TOP" <<'PY'
import sys, os, re, yaml
top = sys.argv[1]
action = yaml.safe_load(open(top + "/action.yml"))
assert action["runs"]["using"] == "composite"
for step in action["runs"]["steps"]:
    path = re.fullmatch(r'"\$GITHUB_ACTION_PATH/(.*)"', step["run"]).group(1)
    assert os.access(os.path.join(top, path), os.X_OK), path
for name in "ci", "release":
    flow = yaml.safe_load(open(f"{top}/.github/workflows/{name}.yml"))
    for job in flow["jobs"].values():
        for step in job["steps"]:
            # Of others, only what cannot move.
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", "a@" + 40 * "0")), step
PY
}
