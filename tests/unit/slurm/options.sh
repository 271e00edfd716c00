#!/bin/bash -l
#SBATCH --job-name=options
#SBATCH --comment=jobrun:options:01234567:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
#SBATCH --output=/scratch/me/%u/runs/options/01234567/slurm.out
#SBATCH --open-mode=append
#SBATCH --no-requeue
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=0
#SBATCH --begin=16:00
#SBATCH --exclusive
#SBATCH --hint=nomultithread
#SBATCH --mail-type=END,FAIL
#SBATCH hetjob
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=0
#SBATCH --exclusive
#SBATCH --hint=nomultithread

module load cuda/12.4
export NCCL_DEBUG=INFO

cd || exit
own=/scratch/me
if [ ! -O "$own/runs" ]; then
  user=$(id -un 2>/dev/null) || user=$(id -u)
  own=$own/$user
fi
run=$own/runs/options/01234567
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
  srun --kill-on-bad-exit=1 --het-group=0 --ntasks=1 --cpus-per-task=4 --cpu-bind=map_cpu:0,1 --label \
    "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
    : --het-group=1 --ntasks=2 --cpus-per-task=8 --cpu-bind=map_cpu:0,1 --label \
    "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
    2>>"$attempt/srun.err"
  ended="--ended $restart:$?"
done
