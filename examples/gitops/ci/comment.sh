#!/bin/sh
# Shows a file as the one comment on the pull or merge request: writes it the
# first time, and later changes that.
#   comment.sh [FILE]
# Needs curl and jq. Where there is no token that may write, as for a pull
# request from a fork, it says so and ends with 0: the plan is on the page of
# the CI run, too.
set -eu
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/settings.sh"
# shellcheck source-path=SCRIPTDIR/..
. ci/forge.sh

file=${1:-$JOBRUN_OUT/comment.md}
if [ "$forge" = github ]; then
	number=${GITHUB_REF#refs/pull/}
	number=${number%%/*}
	list=$api/issues/$number/comments
	change=PATCH
	# Anybody can write our marker: take what a bot wrote.
	jq -n '{type: "Bot"}' >"$folder/me"
	mine='.user.type == "Bot"'
else
	list=$api/merge_requests/$CI_MERGE_REQUEST_IID/notes
	change=PUT
	# shellcheck disable=SC2016 # a variable of jq
	mine='.author.id == $me.id'
fi
if ! has_token || [ "${JOBRUN_FORK:-false}" = true ]; then
	echo "No comment: there is no token here that may write one." >&2
	exit 0
fi
[ "$forge" = github ] || request GET "$CI_API_V4_URL/user" >"$folder/me"

jq -R -s '{body: .}' "$file" >"$folder/body"
pages "$list" >"$folder/all"
id=$(jq -r --arg marker "$MARKER" --slurpfile all_me "$folder/me" \
	"\$all_me[0] as \$me | select((.body | startswith(\$marker)) and $mine) | .id" \
	"$folder/all" | head -n 1)
if [ -z "$id" ]; then
	request POST "$list" "$folder/body" >/dev/null
	echo "The plan is in a new comment." >&2
elif [ "$forge" = github ]; then
	request "$change" "$api/issues/comments/$id" "$folder/body" >/dev/null
	echo "The plan is in comment $id." >&2
else
	request "$change" "$list/$id" "$folder/body" >/dev/null
	echo "The plan is in note $id." >&2
fi
