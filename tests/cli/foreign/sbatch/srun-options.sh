#!/bin/bash
# want: jobId=so jobrun.command=["./a.out"]
# want: jobrun.slurm.srun.mpi=pmix
#SBATCH -J so
srun --mpi=pmix ./a.out
