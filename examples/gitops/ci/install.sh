#!/bin/sh
# Puts jobrun on this machine, if it is not there: builds it from a tag or a
# commit of a Git repository that you name.
#   JOBRUN_REPOSITORY   its URL
#   JOBRUN_REF          the tag, or better the full commit id: that cannot move
#   JOBRUN_PREFIX       where to; ~/.local
# Quicker is an image or a runner that has it: then this does nothing.
# Building takes about a minute, and needs git, make and, for what else is
# missing (Debian and Ubuntu), root or sudo.
set -eu

if command -v jobrun >/dev/null; then
	jobrun version
	exit 0
fi
if [ -z "${JOBRUN_REPOSITORY:-}" ] || [ -z "${JOBRUN_REF:-}" ]; then
	echo "jobrun is not installed here. Set JOBRUN_REPOSITORY and JOBRUN_REF" >&2
	echo "to build it (see ci/install.sh), or use an image that has it." >&2
	exit 1
fi
prefix=${JOBRUN_PREFIX:-$HOME/.local}
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
trap 'exit 130' INT TERM

git init -q "$source"
git -C "$source" fetch -q --depth 1 -- "$JOBRUN_REPOSITORY" "$JOBRUN_REF"
git -C "$source" checkout -q FETCH_HEAD
commit=$(git -C "$source" rev-parse HEAD)
echo "jobrun: building $JOBRUN_REF, commit $commit" >&2
# A server may answer with another commit than the one that was asked for.
case $JOBRUN_REF in
*[!0-9a-f]*) ;;
"$commit") ;;
*)
	[ "${#JOBRUN_REF}" -ne 40 ] || {
		echo "This is not the commit that was asked for." >&2
		exit 1
	}
	;;
esac
# shellcheck disable=SC2016 # for make
make -s -C "$source" deps PACKAGES='$(BUILD_PACKAGES)'
make -s -C "$source" WERROR=
make -s -C "$source" install PREFIX="$prefix" WERROR=
PATH=$prefix/bin:$PATH jobrun version
[ -z "${GITHUB_PATH:-}" ] || echo "$prefix/bin" >>"$GITHUB_PATH"
