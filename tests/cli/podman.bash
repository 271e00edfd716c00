# podman for tests, with a store of its own below $TMP, and an image of busybox.

# A folder with busybox as an image: no registry.
image_folder() {
  local busybox name
  busybox=$(type -P busybox) || skip "busybox is not here"
  ! ldd "$busybox" >/dev/null 2>&1 || skip "busybox is not static"
  mkdir -p "$1"/{bin,dev,etc,proc,sys,tmp,run,root,home,usr,var/tmp,mnt}
  touch "$1"/etc/{group,hosts,resolv.conf}
  echo 'root:x:0:0:root:/root:/bin/sh' >"$1/etc/passwd"
  cp "$busybox" "$1/bin/busybox"
  for name in sh cat echo sleep id ls kill pwd touch; do ln -s busybox "$1/bin/$name"; done
}

# podman with a store of its own, and what a restricted machine needs.
podman_up() {
  local runtime
  type -P podman >/dev/null || skip "podman is not here"
  runtime=$(type -P runc || type -P crun) || skip "podman has no runtime here"
  mkdir -p "$TMP/podman"
  cat >"$TMP/podman/containers.conf" <<EOF
[containers]
default_ulimits = ["nofile=$(ulimit -Hn):$(ulimit -Hn)", "nproc=30000:30000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "${runtime##*/}"
tmp_dir = "$TMP/podman/tmp"
EOF
  cat >"$TMP/podman/storage.conf" <<EOF
[storage]
driver = "vfs"
graphroot = "$TMP/podman/graph"
runroot = "$TMP/podman/run"
EOF
  export CONTAINERS_CONF=$TMP/podman/containers.conf CONTAINERS_STORAGE_CONF=$TMP/podman/storage.conf
  image_folder "$TMP/image"
  tar -C "$TMP/image" -c . | podman import -q - localhost/box:1 >/dev/null ||
    skip "podman cannot import an image here"
  podman run --rm --network=host --pid=host --ipc=host localhost/box:1 true >/dev/null 2>&1 ||
    podman run --rm --network=host --pid=host --ipc=host localhost/box:1 sh -c : ||
    skip "podman cannot run a container here"
}

# The variables that lead to this podman, for those that do not inherit them.
podman_is_at() {
  echo "CONTAINERS_CONF=$CONTAINERS_CONF" \
    "CONTAINERS_STORAGE_CONF=$CONTAINERS_STORAGE_CONF"
}

podman_is_empty() { [ -z "$(podman ps -aq)" ]; }

podman_down() {
  [ ! -e "$TMP/podman" ] || podman rm -af >/dev/null 2>&1 || true
}
