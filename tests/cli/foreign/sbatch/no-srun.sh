#!/bin/bash
# want: jobId=batch jobrun.command=["bash","-c","cd work\n./run.sh\n"]
#SBATCH -J batch
#SBATCH --time=30
cd work
./run.sh
