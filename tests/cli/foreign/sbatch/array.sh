#!/bin/bash
# want: jobId=array
# lost: --array=0-9: use trainingInput.hyperparameters
# want: jobrun.slurm.sbatch.mail-type=END
#SBATCH --job-name=array
#SBATCH --array=0-9
#SBATCH --mail-type=END
srun ./step
