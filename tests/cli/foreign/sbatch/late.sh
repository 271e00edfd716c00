#!/bin/bash
# want: jobId=late jobrun.slurm.partition=first jobrun.slurm.account=null trainingInput.scheduling=null
# note: line 6, #SBATCH --account=x: sbatch ignores it with blanks before it
# note: line 8, #SBATCH -p second -t 10: sbatch ignores it after the first command
#SBATCH -J late -p first
  #SBATCH --account=x
module load cuda
#SBATCH -p second -t 10
srun python t.py
