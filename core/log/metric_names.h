/* SPDX-License-Identifier: Apache-2.0 */
/* The names of metrics that are known without being told. */
#ifndef JOBRUN_METRIC_NAMES_H
#define JOBRUN_METRIC_NAMES_H

#include "core/log/metric.h"

enum metric_kind {
	METRIC_KIND_VALUE,
	METRIC_KIND_EPOCH, /* these two say where in the training it is */
	METRIC_KIND_STEP,
};

struct metric_name {
	const char *name; /* lower case, with '_' for every other sign */
	enum metric_kind kind;
	enum metric_goal goal;
	bool adds; /* over the tasks of a run */
};

/*
 * Also with what the phase is called before it and Lightning's endings behind
 * it: val_loss, train/acc, eval-accuracy, train_loss_epoch.  NULL if it is
 * none.
 */
const struct metric_name *metric_name_find(const char *name);

#endif
