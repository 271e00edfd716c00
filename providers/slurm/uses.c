/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on Slurm; plans also take the notes about
 * unused fields from here. */
#include "providers/slurm/slurm_uses.h"

#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/job/traits.h"
#include "providers/slurm/slurm.h"

#define NOT_USED "not used: "
#define IMAGE                                                                  \
	"run on the nodes by the runtime that they have; "                     \
	"jobrun.container.runtime none runs without it"
#define NO_DISK NOT_USED "nodes have the disks that they have"
#define COMMAND                                                                \
	"what the image runs, unless jobrun.command or pythonModule; without " \
	"it the image's own entry point"
#define ARGS "the arguments of that"
#define CONFIG(role, name)                                                     \
	{ "trainingInput." name, NULL },                                       \
		{ "trainingInput." name ".acceleratorConfig",                  \
		  "--gres of the " role },                                     \
		{ "trainingInput." name ".imageUri", IMAGE },                  \
		{ "trainingInput." name ".containerCommand", COMMAND },        \
		{ "trainingInput." name ".containerArgs", ARGS },              \
		{ "trainingInput." name ".diskConfig", NO_DISK },              \
	{                                                                      \
		"trainingInput." name ".tpuTfVersion",                         \
			NOT_USED "the program brings its own TensorFlow"       \
	}

const struct field_use slurm_uses[] = {
	{ "jobId", "the name of the job" },
	{ "labels", NOT_USED "Slurm's jobs have none" },
	{ "etag", NOT_USED "Slurm's jobs have none" },
	{ "trainingInput", NULL },
	{ "trainingInput.scaleTier", "its numbers of nodes, and their sizes" },
	{ "trainingInput.masterType", "--cpus-per-task and --mem of the "
				      "master" },
	{ "trainingInput.workerType", "the same of the workers" },
	{ "trainingInput.parameterServerType",
	  "the same of the parameter servers" },
	{ "trainingInput.evaluatorType", "the same of the evaluators" },
	{ "trainingInput.workerCount", "so many nodes" },
	{ "trainingInput.parameterServerCount", "so many nodes" },
	{ "trainingInput.evaluatorCount", "so many nodes" },
	CONFIG("master", "masterConfig"),
	CONFIG("workers", "workerConfig"),
	CONFIG("parameter servers", "parameterServerConfig"),
	CONFIG("evaluators", "evaluatorConfig"),
	{ "trainingInput.packageUris", "put into PYTHONPATH on the nodes" },
	{ "trainingInput.pythonModule", "python3 -m, unless jobrun.command" },
	{ "trainingInput.args", "the last arguments of the program" },
	{ "trainingInput.hyperparameters", "trials, as an array of jobs" },
	{ "trainingInput.region", NOT_USED "the cluster is where it is" },
	{ "trainingInput.jobDir", "--job-dir of the program" },
	{ "trainingInput.runtimeVersion",
	  "decides whether TF_CONFIG says master or chief" },
	{ "trainingInput.pythonVersion",
	  NOT_USED "the program runs by the python3 of the nodes" },
	{ "trainingInput.encryptionConfig",
	  NOT_USED "the cluster's disks are its own" },
	{ "trainingInput.scheduling", NULL },
	{ "trainingInput.scheduling.maxRunningTime", "--time" },
	{ "trainingInput.scheduling.maxWaitTime",
	  NOT_USED "a job stays queued for as long as it takes" },
	{ "trainingInput.scheduling.priority",
	  NOT_USED "jobrun.slurm.nice and qos say who goes first" },
	{ "trainingInput.network", NOT_USED "nodes have their own" },
	{ "trainingInput.serviceAccount",
	  NOT_USED "the job runs as the user that submits it" },
	{ "trainingInput.useChiefInTfConfig",
	  "decides whether TF_CONFIG says master or chief" },
	{ "trainingInput.enableWebAccess",
	  NOT_USED "'srun --overlap' opens a shell beside a task" },
	{ "jobrun", "as it says" },
	{ "jobrun.source", "copied into the directory that nodes share" },
	{ NULL, NULL },
};

/* Whether the file gives a field, by its path of messages and field. */
static bool is_given(const struct message *message, const void *data,
		     const char *path, unsigned traits)
{
	const char *dot = strchr(path, '.');
	char word[64];
	const struct field *field;

	snprintf(word, sizeof(word), "%.*s",
		 dot ? (int)(dot - path) : (int)strlen(path), path);
	field = message_field(message, word);
	/* A field whose trait is missing is noted for that reason. */
	if (!field || !message_has(message, data, word) ||
	    !traits_have(traits, field->traits))
		return false;
	if (!dot)
		return true;
	return field->type == FIELD_MESSAGE &&
	       is_given(field->message, (const char *)data + field->offset,
			dot + 1, traits);
}

void slurm_note_unused(const struct job *job, struct resources *out)
{
	const struct field_use *use;

	for (use = slurm_uses; use->path; use++)
		if (use->doc && text_starts(use->doc, NOT_USED) &&
		    is_given(job->message, job, use->path,
			     provider_slurm.traits))
			resources_note(out, "%s is %s", use->path, use->doc);
}
