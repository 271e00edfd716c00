#!/bin/sh
# Checks the job files and plans them. Leaves in $JOBRUN_OUT
#   comment.md    what to show to the reviewers, also if the files are wrong
#   jobs.plan     the plan, for 'jobrun apply'
#   jobs.sarif    the problems of the files, for tools
# Ends with 0, also if there is something to do; else as jobrun did.
set -eu
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/settings.sh"

rm -f "$JOBRUN_OUT"/comment.md "$JOBRUN_OUT"/jobs.plan "$JOBRUN_OUT"/jobs.sarif

# failed STATUS: what the last command said is in said.txt.
failed() {
	cat "$JOBRUN_OUT/said.txt" >&2
	{
		printf '%s\n' "$MARKER" "**jobrun plan:** failed" ""
		# Indented, so that nothing in it means anything.
		head -c 20000 "$JOBRUN_OUT/said.txt" | sed 's/^/    /'
	} >"$JOBRUN_OUT/comment.md"
	summary "$JOBRUN_OUT/comment.md"
	exit "$1"
}

status=0
# A folder without jobs has nothing to check; all that was there is deleted.
if [ -n "$(find "$JOBRUN_JOBS" -name '*.yaml' -o -name '*.yml')" ]; then
	# Notes at the lines of the pull request.
	if [ "${GITHUB_ACTIONS:-}" = true ]; then
		jobrun validate --format github "$JOBRUN_JOBS" || true
	fi
	jobrun validate --format sarif "$JOBRUN_JOBS" \
		>"$JOBRUN_OUT/jobs.sarif" 2>"$JOBRUN_OUT/said.txt" || true
	jobrun validate "$JOBRUN_JOBS" >"$JOBRUN_OUT/said.txt" 2>&1 || status=$?
	[ "$status" -eq 0 ] || failed "$status"
	cat "$JOBRUN_OUT/said.txt" >&2 # warnings
fi

# shellcheck disable=SC2086 # words, see settings.sh
jobrun plan $JOBRUN_PLAN_OPTIONS --format markdown \
	--out "$JOBRUN_OUT/jobs.plan" "$JOBRUN_JOBS" \
	>"$JOBRUN_OUT/plan.md" 2>"$JOBRUN_OUT/said.txt" || status=$?
[ "$status" -eq 0 ] || failed "$status"
{
	printf '%s\n' "$MARKER"
	cat "$JOBRUN_OUT/plan.md"
} >"$JOBRUN_OUT/comment.md"
cat "$JOBRUN_OUT/plan.md"
summary "$JOBRUN_OUT/plan.md"
