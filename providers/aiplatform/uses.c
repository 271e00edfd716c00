/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on AI Platform Training. */
#include "providers/aiplatform/aiplatform.h"
#include "providers/google/managed/uses.h"

const struct field_use ai_platform_uses[] = {
	{ "jobId",
	  "names the job; later runs add the first digits of their digest" },
	{ "labels", "labels of the job, beside jobrun's own" },
	{ "trainingInput", "sent as it is" },
	{ "trainingInput.scaleTier", "sent as it is; BASIC without it" },
	{ "trainingInput.packageUris",
	  "files of this machine are uploaded first" },
	{ "jobrun", NULL },
	{ "jobrun.extends", USE_AS_DOCUMENTED },
	{ "jobrun.provider", "ai-platform is AI Platform Training" },
	{ "jobrun.project", "the project that gets the job" },
	{ "jobrun.staging", "where packages are uploaded" },
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
