#!/bin/sh
# Fetches the plan that was saved for what is checked out now, as
# $JOBRUN_OUT/reviewed.plan. It is no error if there is none: apply.sh sees to
# that, and trusts nothing that comes from here.
set -eu
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/settings.sh"
# shellcheck source-path=SCRIPTDIR/..
. ci/forge.sh

out=$JOBRUN_OUT/reviewed.plan
rm -f "$out"

from_github() {
	# The artifact has the name of the tree that was planned. However a
	# pull request is merged, the tree is the same, unless the main branch
	# went on meanwhile.
	tree=$(git rev-parse 'HEAD^{tree}')
	id=$(request GET "$api/actions/artifacts?name=jobrun-plan-$tree" |
		jq -r '[.artifacts[] | select(.expired | not)]
			| max_by(.created_at) | .id // empty')
	[ -n "$id" ] || return 0
	download "$api/actions/artifacts/$id/zip" "$folder/zip"
	unzip -p "$folder/zip" jobs.plan >"$folder/plan"
}

from_gitlab() {
	merge=$(request GET "$api/repository/commits/$CI_COMMIT_SHA/merge_requests" |
		jq -r '[.[] | select(.state == "merged")][0].iid // empty')
	[ -n "$merge" ] || return 0
	pipeline=$(request GET "$api/merge_requests/$merge/pipelines" |
		jq -r '[.[] | select(.status == "success")][0].id // empty')
	[ -n "$pipeline" ] || return 0
	job=$(request GET "$api/pipelines/$pipeline/jobs?scope=success" |
		jq -r '[.[] | select(.name == "plan")][0].id // empty')
	[ -n "$job" ] || return 0
	download "$api/jobs/$job/artifacts/$JOBRUN_OUT/jobs.plan" "$folder/plan"
}

if has_token && "from_$forge" && [ -s "$folder/plan" ]; then
	mv "$folder/plan" "$out"
else
	echo "No saved plan was found for this commit." >&2
fi
