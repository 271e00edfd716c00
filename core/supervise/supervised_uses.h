/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of struct field_use that providers with a supervisor of ours share. */
#ifndef JOBRUN_SUPERVISED_USES_H
#define JOBRUN_SUPERVISED_USES_H

#include "core/provider/provider.h"

/* What is said of the images of one role, such as "masterConfig"; `disk` is
 * what becomes of its diskConfig. */
#define SUPERVISED_CONFIG_USES(name, disk)                                     \
	{ "trainingInput." name ".imageUri",                                   \
	  "runs in a container if jobrun.container is set" },                  \
		{ "trainingInput." name ".containerCommand",                   \
		  "what the image runs, unless jobrun.command or "             \
		  "pythonModule is set; by default the image's own entry "     \
		  "point" },                                                   \
		{ "trainingInput." name ".containerArgs",                      \
		  "the arguments of containerCommand, or of the entry "        \
		  "point" },                                                   \
		{ "trainingInput." name ".diskConfig", disk },                 \
	{                                                                      \
		"trainingInput." name ".tpuTfVersion",                         \
			USE_NOT_USED "the program brings its own TensorFlow"   \
	}

#endif
