#!/bin/sh
#SBATCH --job-name=processes
#SBATCH --comment=jobrun:processes:01234567:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
#SBATCH --output=.jobrun/runs/processes/01234567/slurm.out
#SBATCH --open-mode=append
#SBATCH --no-requeue
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=2
#SBATCH --mem=29248M
#SBATCH --gres=gpu:t4:4
#SBATCH hetjob
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=14368M

cd || exit
run=.jobrun/runs/processes/01234567
jobrun=/opt/jobrun
first=$run/attempts/0
umask 077
[ -L "$run/job" ] || ln -s "$SLURM_JOB_ID" "$run/job"
case $(readlink "$run/job") in
  "$SLURM_JOB_ID") ;;
  "") exit 74 ;;
  *) exit 0 ;;
esac
mkdir -p "$first" || exit 74

ended=
while :; do
  next=$("$jobrun" next-attempt --job "$SLURM_JOB_ID" \
    --queued "${SLURM_RESTART_COUNT:-0}" $ended "$run" 2>>"$first/srun.err")
  case $next in
    begin*) restart=${next#* } ;;
    end*) exit "${next#* }" ;;
    *) [ -e "$first/status" ] || echo 126 >"$first/status"
      exit 126 ;;
  esac
  attempt=$run/attempts/$restart
  srun --kill-on-bad-exit=1 --het-group=0 --ntasks=8 --ntasks-per-node=4 --distribution=block \
    --cpu-bind=cores --cpus-per-task=2 \
    "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
    : --het-group=1 --ntasks=1 --cpus-per-task=4 \
    "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
    2>>"$attempt/srun.err"
  ended="--ended $restart:$?"
done
