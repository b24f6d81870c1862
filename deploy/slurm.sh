#!/bin/bash
# Stubborn on several nodes: sbatch deploy/slurm.sh models/dining.proc -D N=16
# One process per core that is to search; ports 27100, 27101, … of each node must be free.
#SBATCH --job-name=stubborn
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=1
#SBATCH --time=04:00:00
set -euo pipefail

# A secret for this run, which srun hands to every process.
STUBBORN_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export STUBBORN_SECRET

# --kill-on-bad-exit is not needed: when one process is gone, the others end by themselves, with exit code 3.
srun stubborn explore --hosts slurm "$@"
