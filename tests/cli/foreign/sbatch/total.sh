#!/bin/bash
# want: trainingInput.workerCount=1 trainingInput.masterConfig.acceleratorConfig.count=null
# want: trainingInput.masterType=a3-highgpu-4g jobrun.command=["python","t.py","-n","3"]
# lost: 3 tasks on 2 nodes
#SBATCH -J total -N2 -G h100:8
srun --ntasks=3 python t.py -n 3
