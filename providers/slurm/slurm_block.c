/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/slurm_block.h"

#include <string.h>

#include "core/job/check.h"
#include "providers/slurm/options.h"

/* Checks an extra line of the script.  The lines follow the #SBATCH options,
 * which end with the first other line. */
static int check_script_line(const char *value, struct error *err)
{
	if (!strchr(value, '\n'))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be one line: give each as an item");
}

static const char *const requeue_names[] = {
	[SLURM_REQUEUE_NO] = "false",
	[SLURM_REQUEUE_YES] = "true",
	[SLURM_REQUEUE_EXPEDITE] = "expedite",
	NULL,
};

static const struct field fields[] = {
	{ .name = "partition",
	  .type = FIELD_STRING,
	  .check = check_option,
	  .offset = offsetof(struct slurm_block, partition),
	  .doc = "The partition to run in." },
	{ .name = "account",
	  .type = FIELD_STRING,
	  .check = check_option,
	  .offset = offsetof(struct slurm_block, account),
	  .doc = "The account to charge." },
	{ .name = "qos",
	  .type = FIELD_STRING,
	  .check = check_option,
	  .offset = offsetof(struct slurm_block, qos),
	  .doc = "The quality of service to ask for." },
	{ .name = "constraint",
	  .type = FIELD_STRING,
	  .check = check_option,
	  .offset = offsetof(struct slurm_block, constraint),
	  .doc = "The features that nodes must have." },
	{ .name = "reservation",
	  .type = FIELD_STRING,
	  .check = check_option,
	  .offset = offsetof(struct slurm_block, reservation),
	  .doc = "The reservation to run in." },
	{ .name = "loginHost",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_host,
	  .offset = offsetof(struct slurm_block, login_host),
	  .doc = "The host to call sbatch on, by ssh." },
	{ .name = "directory",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_shared_folder,
	  .fallback = SLURM_FOLDER,
	  .offset = offsetof(struct slurm_block, directory),
	  .doc = "A directory that all nodes share, for source and logs; "
		 "relative to the home directory there.  In an absolute one "
		 "each user gets a folder of their own." },
	{ .name = "program",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_shared_folder,
	  .offset = offsetof(struct slurm_block, program),
	  .doc = "The path of jobrun on the nodes.  Without it jobrun copies "
		 "itself into the directory, which works if the nodes are like "
		 "this machine." },
	{ .name = "export",
	  .type = FIELD_STRINGS,
	  .check = check_variable,
	  .offset = offsetof(struct slurm_block, exports),
	  .doc = "Variables that the job inherits from the environment of "
		 "sbatch, besides HOME, USER, PATH and LANG." },
	{ .name = "gres",
	  .type = FIELD_PAIRS,
	  .check = check_option,
	  .offset = offsetof(struct slurm_block, gres),
	  .doc = "What an accelerator is called there, for instance "
		 "NVIDIA_TESLA_T4: gpu:tesla_t4.  Otherwise NVIDIA_TESLA_T4 "
		 "is gpu:t4, NVIDIA_H100_80GB is gpu:h100." },
	{ .name = "machineTypes",
	  .type = FIELD_BOOL,
	  .fallback = "true",
	  .fallback_1 = "true",
	  .offset = offsetof(struct slurm_block, machine_types),
	  .doc = "Whether to ask for the CPUs and the memory of the machine "
		 "types; if not, the partition's defaults apply." },
	{ .name = "requeue",
	  .type = FIELD_ENUM,
	  .values = requeue_names,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct slurm_block, requeue),
	  .doc = "Whether Slurm requeues the job after a preemption or the "
		 "failure of a node, without a limit unless jobrun.restart "
		 "sets one.  With expedite, Slurm 25.11 and later restart it "
		 "at once, before other jobs and on the remaining nodes, where "
		 "the site has enabled that; older versions requeue it as with "
		 "true." },
	{ .name = "nice",
	  .type = FIELD_INT,
	  .min = -2147483645,
	  .max = 2147483645,
	  .offset = offsetof(struct slurm_block, nice),
	  .doc = "How much to lower the job's priority in the queue." },
	{ .name = "signalTime",
	  .type = FIELD_DURATION,
	  .max = 65535,
	  .offset = offsetof(struct slurm_block, signal_time_s),
	  .doc = "How long before its time limit the program gets SIGTERM, for "
		 "a last checkpoint." },
	{ .name = "sbatch",
	  .type = FIELD_TREE,
	  .flags = FIELD_NUMBERS,
	  .check_tree = sbatch_options_check,
	  .offset = offsetof(struct slurm_block, sbatch),
	  .doc = "More options of sbatch by their long names, for instance "
		 "mail-type: [END, FAIL], exclusive: true.  Those that jobrun "
		 "sets itself are refused; mem and cpus-per-task replace what "
		 "the machine type would ask for." },
	{ .name = "srun",
	  .type = FIELD_TREE,
	  .flags = FIELD_NUMBERS,
	  .check_tree = srun_options_check,
	  .offset = offsetof(struct slurm_block, srun),
	  .doc = "More options of the srun that starts the tasks, for "
		 "instance cpu-bind: cores." },
	{ .name = "prolog",
	  .type = FIELD_STRINGS,
	  .check = check_script_line,
	  .offset = offsetof(struct slurm_block, prolog),
	  .doc = "Lines of bash, of a login shell, for the batch script, "
		 "before the tasks start: 'module load cuda'.  The tasks "
		 "inherit what "
		 "they export; a line that fails ends the job with 'exit'." },
	{ .name = NULL },
};

const struct message slurm_message = {
	.name = "SlurmBlock",
	.doc = "Settings for Slurm.",
	.size = sizeof(struct slurm_block),
	.fields = fields,
};
