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
umask 077
[ -e "$run/job" ] || ln -s "$SLURM_JOB_ID" "$run/job"
[ "$(readlink "$run/job")" = "$SLURM_JOB_ID" ] || exit 0
mkdir -p "$run/attempts/$restart" || exit
before=$run/attempts/$((restart - 1))
[ "$restart" -eq 0 ] || { mkdir -p "$before"; echo "$restart" >"$before/next"; }

srun --kill-on-bad-exit=1 --ntasks=8 \
  "$jobrun" launch --from slurm --run "$run" --restart "$restart"
status=$?
echo "$status" >"$run/attempts/$restart/status"
exit "$status"
