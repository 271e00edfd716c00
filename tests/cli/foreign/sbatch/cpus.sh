#!/bin/bash
# want: trainingInput.masterType=n1-highcpu-32 jobrun.slurm.requeue=true jobrun.slurm.nice=100
#SBATCH -J cpus
#SBATCH --cpus-per-task=32
#SBATCH --mem=20G
#SBATCH --requeue
#SBATCH --nice=100
#SBATCH -o out-%j.log
srun ./solve
