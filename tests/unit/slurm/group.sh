#!/bin/sh
#SBATCH --job-name=group
#SBATCH --comment=jobrun:group:01234567:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
#SBATCH --output=/scratch/me/%u/runs/group/01234567/slurm.out
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --time=1-03:47:00
#SBATCH --signal=TERM@140
#SBATCH --priority=7
#SBATCH --nice=-5
#SBATCH --partition=gpu
#SBATCH --account=vision
#SBATCH --qos=high
#SBATCH --constraint=a100&nvlink
#SBATCH --reservation=night
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=29248M
#SBATCH --gres=gpu:t4:2

cd || exit
own=/scratch/me
if [ ! -O "$own/runs" ]; then
  user=$(id -un 2>/dev/null) || user=$(id -u)
  own=$own/$user
fi
run=$own/runs/group/01234567
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
  srun --kill-on-bad-exit=1 --ntasks=4 --cpus-per-task=8 \
    "$jobrun" launch --from slurm --run "$run" --restart "$restart" \
    2>>"$attempt/srun.err"
  ended="--ended $restart:$?"
done
