#!/bin/bash
# want: jobrun.command=["torchrun","t.py","--lr","0.1"] jobrun.slurm.constraint=a100 jobrun.slurm.reservation=weekly
# lost: srun echo done
#SBATCH -J cont -C a100 --reservation=weekly
srun torchrun t.py \
  --lr 0.1
srun echo done
