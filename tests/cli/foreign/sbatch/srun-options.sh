#!/bin/bash
# want: jobId=so jobrun.command=["./a.out"]
# lost: srun --mpi=pmix
#SBATCH -J so
srun --mpi=pmix ./a.out
