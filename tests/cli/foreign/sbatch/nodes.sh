#!/bin/bash
# want: trainingInput.workerCount=3 trainingInput.scheduling.maxRunningTime=93784s jobrun.slurm.account=ml jobrun.slurm.qos=high
#SBATCH -J four
#SBATCH --nodes=4 --ntasks-per-node=1
#SBATCH -t 1-02:03:04
#SBATCH -A ml
#SBATCH --qos high
srun python train.py --epochs 3
