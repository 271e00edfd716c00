/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the training script of a repository by its name and its imports. */
#ifndef JOBRUN_TRAINING_SCRIPT_H
#define JOBRUN_TRAINING_SCRIPT_H

#include <stdbool.h>

#include "core/base/alloc.h"

struct training_script {
	const char *path;      /* relative to the folder: "src/train.py" */
	const char *framework; /* "PyTorch", or NULL: none that is known */
	bool is_distributed;   /* it forms a group of processes */
	int score;             /* private */
};

/* The most likely one below the folder; false if there is none.  Strings live
 * in `mem`. */
bool training_script_find(const char *folder, struct arena *mem,
			  struct training_script *out);
/* The same about a given script; false if it cannot be read. */
bool training_script_look(const char *folder, const char *path,
			  struct arena *mem, struct training_script *out);

#endif
