#!/bin/bash
# want: jobId=untyped
# lost: --gres=gpu:4
#SBATCH -J untyped
#SBATCH --gres=gpu:4
srun python t.py
