#!/bin/bash
# want: jobId=het jobrun.slurm.partition=cpu trainingInput.workerCount=null
# note: n1-highcpu-4 is a guess: the file names no machine type, CPUs or memory
# lost: #SBATCH hetjob: a job here has one component
# lost: #SBATCH --partition=gpu: a job here has one component
#SBATCH -J het -p cpu
#SBATCH hetjob
#SBATCH --partition=gpu
srun python t.py
