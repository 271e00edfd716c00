#!/bin/sh
# Applies what is on the main branch now, in the form of the plan that was
# reviewed:
#   apply.sh [REVIEWED]
# REVIEWED is the plan that plan.sh saved for the pull request. Its file came
# from where others can write, so it is never applied itself: the plan is made
# again, and two plans of one state are equal to the byte. If they are not,
# $JOBRUN_STALE decides.
set -eu
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/settings.sh"

reviewed=${1:-$JOBRUN_OUT/reviewed.plan}
tries=${JOBRUN_TRIES:-3}

while :; do
	pending=0
	# shellcheck disable=SC2086 # words, see settings.sh
	jobrun plan $JOBRUN_PLAN_OPTIONS --detailed-exitcode --format markdown \
		--out "$JOBRUN_OUT/jobs.plan" "$JOBRUN_JOBS" \
		>"$JOBRUN_OUT/plan.md" || pending=$?
	if [ "$pending" -eq 0 ]; then
		echo "There is nothing to do." >&2
	elif [ "$pending" -ne 2 ]; then
		exit "$pending"
	elif cmp -s "$reviewed" "$JOBRUN_OUT/jobs.plan"; then
		echo "This is the plan that was reviewed." >&2
	else
		if [ -f "$reviewed" ]; then
			echo "The plan is not the one that was reviewed." >&2
		else
			echo "There is no plan that was reviewed." >&2
		fi
		cat "$JOBRUN_OUT/plan.md" >&2
		if [ "$JOBRUN_STALE" != replan ]; then
			echo "Nothing was done (JOBRUN_STALE=$JOBRUN_STALE)." >&2
			exit 75
		fi
	fi

	status=0
	# shellcheck disable=SC2086 # words, see settings.sh
	jobrun apply --yes $JOBRUN_APPLY_OPTIONS "$JOBRUN_OUT/jobs.plan" ||
		status=$?
	# 75: in between something changed, or another apply was at it. Look
	# again; what was done already is then no part of the plan.
	tries=$((tries - 1))
	if [ "$status" -ne 75 ] || [ "$tries" -le 0 ]; then
		break
	fi
	sleep "${JOBRUN_RETRY_SECONDS:-20}"
done
summary "$JOBRUN_OUT/plan.md"
exit "$status"
