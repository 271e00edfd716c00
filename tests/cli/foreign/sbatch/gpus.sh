#!/bin/bash
# want: trainingInput.masterType=a3-highgpu-8g trainingInput.workerCount=1
#SBATCH -J gpus
#SBATCH -N 2
#SBATCH --gres=gpu:h100:8
srun python train.py
