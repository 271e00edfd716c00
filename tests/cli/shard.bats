# Shards: what is in them, that all who read tar agree, and that they never
# depend on where, when or by whom they were made.
bats_require_minimum_version 1.5.0
# bats file_tags=server
load helper
load google

# photos: two classes, five samples of two files, and what is no sample.
make_photos() {
  local i
  mkdir -p photos/cat photos/dog/.cache
  for i in 1 2 3; do
    echo "picture $i" >photos/cat/$i.jpg
    echo "{\"n\": $i}" >photos/cat/$i.meta.json
  done
  for i in 1 2-b; do
    head -c $((1000 * (${#i} + 1))) /dev/zero >photos/dog/$i.jpg
    echo "dog $i" >photos/dog/$i.txt
  done
  echo hello >photos/README
  touch photos/dog/.cache/x.jpg
}

# The names in shards, in their order.
names() {
  local shard
  for shard in "$@"; do tar tf "$shard"; done
}

@test "samples stay together, in order; the index counts them" {
  make_photos
  run --separate-stderr jobrun shard --samples 2 --name train photos out
  [ "$status" -eq 0 ]
  [ "$output" = out/shards.json ]
  [[ "$stderr" == *"skipped a hidden file or folder, 'dog/.cache': WebDataset makes no samples of them"* ]]
  [[ "$stderr" == *"skipped a file without a dot in its name, 'README': "* ]]
  [[ "$stderr" == *"5 samples in 3 shards, "* ]]
  [ "$(ls -A out | tr '\n' ' ')" = "shards.json train-000000.tar train-000001.tar train-000002.tar " ]
  [ "$(names out/*.tar)" = "cat/1.jpg
cat/1.meta.json
cat/2.jpg
cat/2.meta.json
cat/3.jpg
cat/3.meta.json
dog/1.jpg
dog/1.txt
dog/2-b.jpg
dog/2-b.txt" ]
  [ "$(tar tf out/train-000001.tar | head -1)" = cat/3.jpg ]
  [ "$(jq -c '[.samples, .files, [.shards[].samples], (.shards | map(.bytes) | add) == .bytes]' out/shards.json)" = '[5,10,[2,2,1],true]' ]
  [ "$(stat -c %s out/train-000000.tar)" -eq "$(jq '.shards[0].bytes' out/shards.json)" ]
  run --separate-stderr jobrun shard --verify out
  [ "$output" = "5 samples in 3 shards, 18 kB: all match the index" ]
}

@test "GNU tar, bsdtar and Python read what was written, long names too" {
  local long deep
  long=$(printf 'n%.0s' {1..180}) deep=$(printf 'd%.0s/' {1..60})
  make_photos
  mkdir -p "photos/$deep$long"
  head -c 700000 /dev/urandom >"photos/$deep$long/$long.jpg"
  echo long >"photos/cat/$long.txt"
  printf 'caf\xc3\xa9' >photos/cat/$'caf\xc3\xa9.txt'
  printf 'latin' >photos/cat/$'caf\xe9.txt'
  printf 'latin' >photos/cat/$'caf\xe9'"$long.txt"
  : >photos/cat/empty.txt
  jobrun shard --bytes 500kB photos out
  mkdir gnu bsd python
  for shard in out/*.tar; do
    tar xf "$shard" -C gnu
    LC_ALL=C.UTF-8 bsdtar -xf "$shard" -C bsd
    python3 -c 'import sys, tarfile
tarfile.open(sys.argv[1], "r|").extractall("python")' "$shard"
  done
  rm -r photos/README photos/dog/.cache
  diff -r photos gnu
  diff -r photos bsd
  diff -r photos python
  [ -z "$(find gnu -type f ! -newermt 1970-01-02 ! -perm 0644)" ]
}

@test "equal samples give equal bytes, whenever, wherever, with any number of threads" {
  make_photos
  cp -r photos there
  touch -d 2001-01-01 there/cat/*
  chmod 600 there/cat/*
  jobrun shard --shards 3 --sha256 photos a
  (umask 077 && TZ=Asia/Tokyo LC_ALL=C jobrun shard --shards 3 --sha256 -j 1 there b)
  diff -r a b
  [ "$(sha256sum a/shard-000001.tar | cut -d' ' -f1)" = "$(jq -r '.shards[1].sha256' a/shards.json)" ]
  [ "$(jq -c '[.shards[].samples]' a/shards.json)" = '[2,2,1]' ]
}

@test "a seed gives an order, and always that one" {
  make_photos
  jobrun shard --shuffle 7 photos a
  jobrun shard --shuffle 7 -j 1 photos b
  jobrun shard --shuffle 8 photos c
  diff -r a b
  refute cmp -s a/shard-000000.tar c/shard-000000.tar
  [ "$(names a/*.tar | sort)" = "$(names c/*.tar | sort)" ]
  # What a version before this made of it: that must stay.
  [ "$(jobrun shard --list a | cut -f2 | tr '\n' ' ')" = "dog/2-b cat/2 dog/1 cat/1 cat/3 " ]
}

@test "folders become classes, numbered by their names" {
  make_photos
  jobrun shard --classes --shuffle 3 photos out
  mkdir x
  tar xf out/shard-000000.tar -C x
  [ "$(cat x/cat/1.cls x/dog/1.cls x/dog/2-b.cls)" = 011 ]
  [ "$(jq -c '[.classes, .files]' out/shards.json)" = '[["cat","dog"],15]' ]
  jobrun shard --list out | grep -q 'cat/1.*cls,jpg,meta.json$'
  touch photos/top.jpg
  run jobrun shard --classes photos out2
  [ "$status" -eq 65 ]
  [[ "$output" == *"'top.jpg' is in no folder, so it has no class" ]]
  [ ! -e out2 ]
}

@test "a list says what, and in which order" {
  make_photos
  (cd photos && printf 'dog/1.jpg\ncat/2.jpg\n./dog/1.txt\n') >list
  jobrun shard -C photos - out <list
  [ "$(names out/*.tar | tr '\n' ' ')" = "dog/1.jpg dog/1.txt cat/2.jpg " ]
  (cd photos && find dog -name '*.txt' -print0 | sort -z) |
    jobrun shard --null -C photos - out2
  [ "$(names out2/*.tar | tr '\n' ' ')" = "dog/1.txt dog/2-b.txt " ]
  run jobrun shard - out3 <<<"../photos/dog/1.jpg"
  [ "$status" -eq 65 ]
  [[ "$output" == *"'../photos/dog/1.jpg' in the list is a path with '..': list paths below a folder" ]]
  run jobrun shard - out3 <<<"photos/dog/3.jpg"
  [ "$status" -eq 1 ]
  [[ "$output" == *"cannot read './photos/dog/3.jpg': No such file or directory" ]]
  [ ! -e out3 ]
}

@test "other shards are made of tar archives, whoever wrote them" {
  make_photos
  jobrun shard --samples 1 photos one
  tar -C photos -cf gnu.tar --sort=name cat
  tar -C photos -H pax --sort=name -cf pax.tar dog
  jobrun shard --shuffle 5 --shards 2 photos want
  jobrun shard --shuffle 5 --shards 2 one/*.tar a
  diff -r want a
  run --separate-stderr jobrun shard --shuffle 5 --shards 2 gnu.tar pax.tar b
  diff -r want b
  # Files of one sample come together, even from apart.
  tar -C photos -cf apart.tar cat/1.jpg cat/2.jpg cat/1.meta.json
  jobrun shard apart.tar c
  [ "$(names c/*.tar | tr '\n' ' ')" = "cat/1.jpg cat/1.meta.json cat/2.jpg " ]
  run jobrun shard gnu.tar one/shard-000000.tar d
  [ "$status" -eq 65 ]
  [[ "$output" == *"'cat/1.jpg' is in 'gnu.tar' and in 'one/shard-000000.tar': make a set of each" ]]
  # Compressed ones are unpacked, and leave nothing behind.
  gzip -k gnu.tar
  python3 -c '
import lzma
open("pax.tar.xz", "wb").write(lzma.compress(open("pax.tar", "rb").read()))'
  mkdir tmp
  TMPDIR=$PWD/tmp jobrun shard --shuffle 5 --shards 2 gnu.tar.gz pax.tar.xz d
  diff -r want d
  [ "$(ls tmp)" = "" ]
  run jobrun shard --list gnu.tar.gz
  [ "$status" -eq 65 ]
  [[ "$output" == *"'gnu.tar.gz' is compressed: unpack it with 'gzip -d' first" ]]
  head -c 100 gnu.tar.gz >cut.tar.gz
  run jobrun shard cut.tar.gz e
  [ "$status" -eq 65 ]
  [[ "$output" == *"cannot unpack 'cut.tar.gz': "* ]]
}

@test "links are left out, or followed" {
  make_photos
  ln -s 1.jpg photos/cat/4.jpg
  ln -s cat photos/more
  mkfifo photos/cat/pipe.jpg
  run --separate-stderr jobrun shard photos out
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"skipped 2 links, such as '"*"': --follow-links takes what symbolic ones lead to"* ]]
  [[ "$stderr" == *"skipped a device, pipe or socket, 'cat/pipe.jpg': only files go into shards"* ]]
  run --separate-stderr jobrun shard --follow-links photos out2
  [ "$status" -eq 0 ]
  [ "$(jq .samples out2/shards.json)" -eq 10 ]
  ln -s .. photos/ring
  run jobrun shard --follow-links photos out3
  [ "$status" -eq 65 ]
  [[ "$output" == *"is more than 64 folders deep: do links form a cycle?" ]]
}

@test "hard links in an archive are files as others" {
  mkdir d
  echo A >d/2.jpg
  ln d/2.jpg d/1.jpg
  ln d/2.jpg d/blob
  echo 0 >d/1.cls
  ln d/1.cls d/2.cls
  jobrun shard d want
  tar cf d.tar d/blob d/1.jpg d/1.cls d/2.cls d/2.jpg
  run --separate-stderr jobrun shard d.tar out
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"skipped a file without a dot in its name, 'd/blob'"* ]]
  [[ "$stderr" != *"link"* ]]
  [ "$(names out/*.tar | tr '\n' ' ')" = "d/1.cls d/1.jpg d/2.cls d/2.jpg " ]
  tar xf out/shard-000000.tar -C out
  diff -r -x blob d out/d
  # Its file is not there.
  tar --delete -f d.tar d/blob
  run jobrun shard d.tar out2
  [ "$status" -eq 65 ]
  [[ "$output" == *"'d.tar': entry 'd/"*"' is a hard link to 'd/blob', which is not a file in it" ]]
}

@test "what WebDataset refuses or skips goes into no shard" {
  mkdir -p f/__meta__ __meta__
  for one in f/a.jpg f/a.__key__ f/b.__URL__ f/b.jpg __meta__/c.jpg __meta__/d.jpg f/__meta__/e.jpg; do echo x >$one; done
  tar cf all.tar f __meta__
  run --separate-stderr jobrun shard all.tar out
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"skipped 2 files below a folder like '__meta__', such as '__meta__/"* ]]
  [[ "$stderr" == *"skipped 2 files with reserved names"* ]]
  [ "$(jq .samples out/shards.json)" -eq 3 ]
  [ "$(names out/*.tar | sort | tr '\n' ' ')" = "f/__meta__/e.jpg f/a.jpg f/b.jpg " ]
  # To a reader these are one.
  echo x >f/a.JPG
  run jobrun shard f out2
  [ "$status" -eq 65 ]
  [[ "$output" == *"'a.JPG' and 'a.jpg' are the same to WebDataset, which ignores case after the first dot" ]]
}

@test "no bytes are no size of a shard" {
  run jobrun shard --bytes 0 nothing out
  [ "$status" -eq 64 ]
  [ "${lines[0]}" = "jobrun: error: --bytes: '0' is too small for a shard" ]
}

@test "what is there stays there, unless told otherwise" {
  make_photos
  jobrun shard --samples 1 photos out
  run jobrun shard photos out
  [ "$status" -eq 1 ]
  [[ "$output" == *"'out/shards.json' exists already: use another directory, or --force to replace it" ]]
  rm out/shards.json
  run jobrun shard photos out
  [ "$status" -eq 1 ]
  [[ "$output" == *"'out/shard-00000"?".tar' exists already: "* ]]
  echo mine >out/notes.txt
  jobrun shard --force --samples 3 photos out
  [ "$(ls -A out | tr '\n' ' ')" = "notes.txt shard-000000.tar shard-000001.tar shards.json " ]
  jobrun shard --verify out
  # What is written is no source.
  jobrun shard --samples 3 photos photos/shards
  diff -r out/shard-000000.tar photos/shards/shard-000000.tar
  rm -r photos/shards/shards.json
  jobrun shard --force --samples 3 photos photos/shards
  diff -r out/shard-000000.tar photos/shards/shard-000000.tar
}

@test "what has changed in a shard is found" {
  make_photos
  jobrun shard --samples 1 photos out
  printf x | dd of=out/shard-000001.tar bs=1 seek=700 conv=notrunc status=none
  truncate -s -512 out/shard-000002.tar
  rm out/shard-000004.tar
  run --separate-stderr jobrun shard --verify out/shards.json
  [ "$status" -eq 1 ]
  [ -z "$output" ]
  [[ "$stderr" == *"'out/shard-000001.tar': its CRC-32C is "* ]]
  [[ "$stderr" == *"'out/shard-000002.tar': it has 2560 bytes, not 3072"* ]]
  [[ "$stderr" == *"'out/shard-000004.tar': it does not exist"* ]]
  [[ "$stderr" == *"error: 3 of 5 shards do not match the index" ]]
  run --separate-stderr jobrun shard --verify --format json out
  [ "$(jq -c '[.ok, [.shards[].ok]]' <<<"$output")" = '[false,[true,false,false,true,false]]' ]
  run jobrun shard --verify photos
  [ "$status" -eq 1 ]
  [[ "$output" == *"'photos/shards.json' does not exist: the set is unfinished, or not made by 'jobrun shard'" ]]
}

# hostile: folders, each with a shard that means no good, and an index that
# vouches for it.
hostile() {
  python3 - <<'E'
import base64, gzip, io, json, os, tarfile

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return base64.b64encode((crc ^ 0xffffffff).to_bytes(4, "big")).decode()

def tar(name="a.jpg", size=1, data=b"x", **more):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as file:
        member = tarfile.TarInfo(name)
        member.size = size
        for key, value in more.items():
            setattr(member, key, value)
        # What it claims, not what follows.
        file.fileobj.write(member.tobuf(tarfile.PAX_FORMAT))
        file.fileobj.write(data.ljust(512, b"\0") if data else b"")
        file.offset = file.fileobj.tell()
    return out.getvalue()

good = tar()
for name, data in {
        "absolute": tar("/etc/a.jpg"),
        "up": tar("a/../../a.jpg"),
        "up-pax": tar(pax_headers={"path": "../../a.jpg"}),
        "symlink": tar(size=0, data=b"", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        "hardlink": tar(size=0, data=b"", type=tarfile.LNKTYPE, linkname="../x"),
        "device": tar(size=0, data=b"", type=tarfile.CHRTYPE, devmajor=1, devminor=5),
        "pipe": tar(size=0, data=b"", type=tarfile.FIFOTYPE),
        "terabyte": tar(size=1 << 40),
        "sparse": tar(pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                                   "GNU.sparse.realsize": str(1 << 40), "GNU.sparse.name": "a.jpg"},
                      size=512, data=b"1\n0\n0\n"),
        "long-name": tar("a" * 100000 + ".jpg"),
        "bomb": gzip.compress(good + bytes(1 << 24)),
        "cut": good[:600],
        "capitals": tar("a.JPG")[:1024] + good,
        "two": good + good}.items():
    os.makedirs(name)
    with open(name + "/shard-000000.tar", "wb") as file:
        file.write(data)
    one = {"samples": 1, "files": 1, "bytes": len(data)}
    with open(name + "/shards.json", "w") as file:
        json.dump({"formatVersion": 1, **one, "shards": [
            {"name": "shard-000000.tar", "crc32c": crc32c(data), **one}]}, file)
E
}

@test "archives that mean no good are refused, whatever is done with them" {
  mkdir in
  (cd in && hostile)
  while IFS=: read -r name why; do
    for args in "in/$name/shard-000000.tar out" "--list in/$name/shard-000000.tar" "--verify in/$name"; do
      run timeout 60 "$JOBRUN" shard $args
      echo "$name: shard $args: $status: $output"
      [[ "$output" == *"$why"* ]]
      case $args in
        --verify*) [ "$status" -eq 1 ] ;;
        *) [ "$status" -eq 65 ] ;;
      esac
    done
  done <<'E'
absolute:entry '/etc/a.jpg' has an absolute path
up:entry 'a/../../a.jpg' has a path with '..'
up-pax:entry '../../a.jpg' has a path with '..'
long-name:aaa' has too long a path
terabyte:is truncated, in or behind 'a.jpg'
sparse:sparse
bomb:is compressed
cut:Truncated
two:continues after its end
E
  run jobrun shard --verify in/capitals
  [ "$status" -eq 1 ]
  [[ "$output" == *"'a.jpg' and 'a.JPG' are the same to WebDataset"* ]]
  # What is no file is left out, and never part of a shard of ours.
  for name in symlink hardlink device pipe; do
    run jobrun shard "in/$name/shard-000000.tar" out
    [ "$status" -eq 65 ]
    case $name in
      hardlink) [[ "$output" == *"entry 'a.jpg' is a hard link to '../x', which is not a file in it" ]] ;;
      *) [[ "$output" == *"skipped a "*", 'a.jpg': "*"no samples"* ]] ;;
    esac
    run jobrun shard --list "in/$name/shard-000000.tar"
    [ -z "$output" ]
    run jobrun shard --verify "in/$name"
    [ "$status" -eq 1 ]
    [[ "$output" == *"'a.jpg' is not a file of a sample"* ]]
  done
  [ "$(ls)" = in ]
}

@test "a run that was killed goes on, and ends in the same bytes" {
  local i
  mkdir many
  for i in {100..399}; do
    head -c 30000 /dev/zero >many/$i.bin
    echo $i >>many/$i.bin
  done
  jobrun shard --samples 10 many want
  for i in 1 2 3 4 5; do
    "$JOBRUN" shard -j 2 --samples 10 many out >/dev/null 2>&1 &
    wait_until 10 test -e out/shard-00000$i.tar
    kill -9 $! 2>/dev/null || true
    wait $! || true
    [ -e out/shards.json.partial ] || break
    # Nothing but whole shards and the journal, which is cut in a line.
    for shard in out/*.tar; do cmp "$shard" "want/${shard#out/}"; done
    printf '{"begun":1,"pl' >>out/shards.json.partial
  done
  if [ -e out/shards.json.partial ]; then
    run --separate-stderr jobrun shard --samples 10 many out
    [ "$status" -eq 0 ]
    [[ "$stderr" =~ \;\ [0-9]+\ existed\ already$ ]]
  fi
  diff -r want out
}

@test "Ctrl-C ends it soon, and leaves no shard that is not whole" {
  mkdir in
  truncate -s 100G in/zeroes.bin
  local status=0
  "$JOBRUN" shard in out 2>said &
  wait_until 10 test -e out/shards.json.partial
  kill -INT $!
  wait $! || status=$?
  [ "$status" -eq 130 ]
  grep -qx 'jobrun: interrupted; run the same command to resume' said
  [ "$(ls -A out)" = shards.json.partial ]
}

@test "what was finished before the kill is not believed when its source has changed" {
  make_photos
  jobrun shard --samples 2 photos want
  jobrun shard --samples 2 photos out
  # As a process that was killed before it could write the index.
  python3 - <<'PY'
import json, time
index = json.load(open("out/shards.json"))
plan = {}
with open("out/shards.json.partial", "w") as file:
    for shard in index["shards"]:
        file.write(json.dumps({"begun": time.time_ns(), "plan": "x", "shard": shard}) + "\n")
PY
  rm out/shards.json
  run --separate-stderr jobrun shard --samples 2 photos out
  [ "$status" -eq 0 ]
  refute grep -q already <<<"$stderr"
  diff -r want out
}

@test "two at once do not mix" {
  make_photos
  mkdir out
  exec {LOCK}<out
  flock -x "$LOCK"
  run jobrun shard photos out
  [ "$status" -eq 75 ]
  [[ "$output" == *"another process is writing shards to 'out'" ]]
  exec {LOCK}<&-
  jobrun shard photos out
}

@test "a disk that is full leaves no shard, nor anything beside it" {
  make_photos
  head -c 3000000 /dev/urandom >photos/dog/big.bin
  run bash -c 'trap "" XFSZ; ulimit -f 1000; "$0" shard photos out' "$JOBRUN"
  [ "$status" -eq 1 ]
  [[ "$output" == *"cannot write 'shard-000000.tar': File too large" ]]
  [ "$(ls -A out)" = shards.json.partial ]
  jobrun shard photos out
  jobrun shard --verify out
}

@test "straight into a bucket, without sending anything twice" {
  make_photos
  start_google
  run --separate-stderr jobrun shard --samples 2 photos gs://b/sets/train/
  echo "$stderr"
  [ "$status" -eq 0 ]
  [ "$output" = gs://b/sets/train/shards.json ]
  jobrun shard --samples 2 photos out
  jobrun shard --verify gs://b/sets/train
  [ "$(asked POST upload)" -eq 4 ]
  # Shards of what is there.
  jobrun shard --shards 1 gs://b/sets/train/shard-00000{0,1,2}.tar again
  jobrun shard --shards 1 photos once
  cmp again/shard-000000.tar once/shard-000000.tar
  python3 -c '
import gzip, json
packed = gzip.compress(open("once/shard-000000.tar", "rb").read())
print(json.dumps({"bucket": "b", "name": "packed.tar.gz", "hex": packed.hex()}))' >object.json
  tell object @object.json
  jobrun shard --shards 1 gs://b/packed.tar.gz unpacked
  cmp unpacked/shard-000000.tar once/shard-000000.tar
  run jobrun shard gs://b/sets/train/nothing.tar other
  [ "$status" -eq 1 ]
  [[ "$output" == *"'gs://b/sets/train/nothing.tar' does not exist" ]]
  run jobrun shard --samples 2 photos gs://b/sets/train
  [ "$status" -eq 1 ]
  [[ "$output" == *"'gs://b/sets/train/shards.json' exists already: use another place, or --force to replace it" ]]
  jobrun shard --force --samples 3 photos gs://b/sets/train
  jobrun shard --verify gs://b/sets/train
  end_google
}
