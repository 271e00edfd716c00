#!/bin/sh
#SBATCH --job-name=array
#SBATCH --comment=jobrun:array:01234567:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
#SBATCH --output=.jobrun/runs/array/01234567/slurm.out
#SBATCH --open-mode=append
#SBATCH --array=1-20%4
#SBATCH --no-requeue
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=14368M

cd || exit
run=.jobrun/runs/array/01234567
jobrun=/opt/jobrun
trial=$run/trials/$SLURM_ARRAY_TASK_ID
first=$trial/attempts/0
umask 077
[ -L "$run/job" ] || ln -s "$SLURM_ARRAY_JOB_ID" "$run/job"
case $(readlink "$run/job") in
  "$SLURM_ARRAY_JOB_ID") ;;
  "") exit 74 ;;
  *) exit 0 ;;
esac
mkdir -p "$first" || exit 74

ended=
while :; do
  next=$("$jobrun" next-attempt --job "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" \
    --trial "$SLURM_ARRAY_TASK_ID" \
    --queued "${SLURM_RESTART_COUNT:-0}" $ended "$run" 2>>"$first/srun.err")
  case $next in
    begin*) restart=${next#* } ;;
    end*) exit "${next#* }" ;;
    *) [ -e "$first/status" ] || echo 126 >"$first/status"
      exit 126 ;;
  esac
  attempt=$trial/attempts/$restart
  srun --kill-on-bad-exit=1 --ntasks=2 --cpus-per-task=4 \
    "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
    --trial "$SLURM_ARRAY_TASK_ID" \
    2>>"$attempt/srun.err"
  ended="--ended $restart:$?"
done
