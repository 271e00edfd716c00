# shellcheck shell=sh
# What the other scripts share; they source it. Each setting can also come
# from the environment, so from a variable of the CI system.

# All paths are from the top of the repository.
cd "$(dirname "$0")/.." || exit 1

: "${JOBRUN_JOBS:=jobs}" # the folder with the job files
# Further options of 'plan', words without spaces. 'apply' finds them in the
# saved plan. With --prune, a job whose file is gone is deleted; which jobs are
# this repository's is known by the address of its remote (man jobrun-apply).
: "${JOBRUN_PLAN_OPTIONS:=--prune}"
# The same of 'apply'. Runs on a service go on by themselves: there --detach
# frees the CI runner.
: "${JOBRUN_APPLY_OPTIONS:=}"
# What to do on merge if the plan is not the one that was reviewed, because
# something has changed since, or there was no review:
#   replan   do what the new plan says; it is shown in the log
#   refuse   do nothing, and end with 75
: "${JOBRUN_STALE:=replan}"
: "${JOBRUN_OUT:=ci/out}" # where these scripts write

# Git keeps no empty folder; one without jobs means that there are none.
mkdir -p "$JOBRUN_OUT" "$JOBRUN_JOBS"

# The first line of the comment, by which it is found again.
# shellcheck disable=SC2034 # plan.sh and comment.sh use it
MARKER='<!-- jobrun plan -->'

# summary FILE: on the page of the CI run, where there is one.
summary() {
	[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$1" >>"$GITHUB_STEP_SUMMARY"
}
