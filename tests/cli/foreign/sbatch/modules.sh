#!/bin/bash
# want: jobrun.env.NCCL_DEBUG=INFO
# want: jobrun.command=["bash","-c","module load cuda\nexec python t.py $SLURM_PROCID"]
#SBATCH -J modules
module load cuda
export NCCL_DEBUG=INFO
srun python t.py $SLURM_PROCID
