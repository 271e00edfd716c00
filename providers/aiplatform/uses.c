/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on AI Platform Training. */
#include "providers/aiplatform/aiplatform.h"
#include "providers/google/managed/uses.h"

const struct field_use ai_platform_uses[] = {
	{ "jobId", "the job's name; later runs of it have the first digits of "
		   "their digest behind it" },
	{ "labels", "labels of the job, beside jobrun's own" },
	{ "trainingInput", "trainingInput, as it is" },
	{ "trainingInput.scaleTier", "as it is; BASIC if it is not set" },
	{ "trainingInput.packageUris",
	  "files of this machine are uploaded first" },
	{ "jobrun", NULL },
	{ "jobrun.extends", USE_AS_DOCUMENTED },
	{ "jobrun.provider", "ai-platform is AI Platform Training" },
	{ "jobrun.project", "the project that the job is made in" },
	{ "jobrun.staging", "where packages are uploaded to" },
	{ "jobrun.source",
	  "packed as a Python package, uploaded, and put into packageUris" },
	{ "jobrun.command",
	  USE_IMPOSSIBLE "AI Platform runs pythonModule or a container's "
			 "command: use masterConfig.containerCommand" },
	{ "jobrun.setup",
	  USE_IMPOSSIBLE "no setup step runs there: build it into the image, "
			 "or name it in setup.py" },
	{ "jobrun.env",
	  USE_IMPOSSIBLE "AI Platform sets no variables for the program: use "
			 "args, or the image" },
	{ "jobrun.secrets",
	  USE_IMPOSSIBLE "AI Platform has no field for them: let the program "
			 "ask Secret Manager as its serviceAccount" },
	{ "jobrun.metrics", "read from the log as it arrives" },
	{ "jobrun.onChange", USE_AS_DOCUMENTED },
	{ "jobrun.after", USE_AS_DOCUMENTED },
	{ "jobrun.ai-platform", USE_AS_DOCUMENTED },
	{ NULL, NULL },
};
