#!/bin/bash
# want: trainingInput.workerCount=1 jobrun.processesPerHost=8
# want: trainingInput.masterType=a3-highgpu-8g
# want: trainingInput.masterConfig.imageUri=nvcr.io/nvidia/pytorch:24.05-py3
# want: jobrun.slurm.sbatch.exclusive=true jobrun.slurm.sbatch.mem=0 jobrun.slurm.sbatch.exclude=bad[1-2]
# want: jobrun.slurm.srun.container-mounts=/data:/data jobrun.slurm.srun.cpu-bind=none
# want: jobrun.command=["python","t.py"]
# lost: --chdir=/work: the program starts in jobrun.source
# lost: -l: no field for it
# lost: -t 10: use trainingInput.scheduling.maxRunningTime
#SBATCH -J processes -N 2 --gpus-per-task=h100:1
#SBATCH --ntasks-per-node=8 --exclusive --mem=0
#SBATCH -x bad[1-2] --chdir=/work
srun -l -n 16 -N $SLURM_NNODES --cpus-per-task=$SLURM_CPUS_PER_TASK -t 10 \
  --cpu-bind none --container-image=nvcr.io/nvidia/pytorch:24.05-py3 \
  --container-mounts=/data:/data --exact python t.py
