#!/bin/sh
#SBATCH --job-name=differ
#SBATCH --comment=jobrun:differ:01234567:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
#SBATCH --output=.jobrun/runs/differ/01234567/slurm.out
#SBATCH --open-mode=append
#SBATCH --no-requeue
#SBATCH --partition=mixed
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=53248M
#SBATCH hetjob
#SBATCH --partition=mixed
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=30720M
#SBATCH --gres=gpu:volta:4
#SBATCH hetjob
#SBATCH --partition=mixed
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=53248M

cd || exit
run=.jobrun/runs/differ/01234567
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

srun --kill-on-bad-exit=1 --het-group=0 --ntasks=1 --cpus-per-task=8 \
  "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
  : --het-group=1 --ntasks=2 --cpus-per-task=8 \
  "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
  : --het-group=2 --ntasks=2 --cpus-per-task=8 \
  "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
  2>>"$attempt/srun.err"
status=$?
echo "$status" >"$attempt/status"
exit "$status"
