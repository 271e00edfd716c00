#!/bin/bash
# want: jobId=hello jobrun.provider=slurm jobrun.command=["hostname"] jobrun.slurm.partition=debug
#SBATCH --job-name=hello
#SBATCH -p debug
srun hostname
