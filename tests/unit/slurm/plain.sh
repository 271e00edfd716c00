#!/bin/sh
#SBATCH --job-name=plain
#SBATCH --comment=jobrun:plain:01234567:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
#SBATCH --output=.jobrun/runs/plain/01234567/slurm.out
#SBATCH --open-mode=append
#SBATCH --no-requeue
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=1

cd || exit
run=.jobrun/runs/plain/01234567
jobrun=/opt/jobrun
restart=${SLURM_RESTART_COUNT:-0}
attempt=$run/attempts/$restart
before=$run/attempts/$((restart - 1))
umask 077
[ -e "$run/job" ] || ln -s "$SLURM_JOB_ID" "$run/job"
[ "$(readlink "$run/job")" = "$SLURM_JOB_ID" ] || exit 0
[ ! -e "$attempt/status" ] || exit "$(cat "$attempt/status")"
mkdir -p "$attempt" || exit
if [ "$restart" -gt 0 ]; then
  [ "$(cat "$before/status" 2>/dev/null)" != 0 ] || exit 0
  mkdir -p "$before"
  echo "$restart" >"$before/next"
fi

srun --kill-on-bad-exit=1 --ntasks=8 \
  "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
  2>>"$attempt/srun.err"
status=$?
echo "$status" >"$attempt/status"
exit "$status"
