/* SPDX-License-Identifier: Apache-2.0 */
/* The metric names that are known by default. */
#ifndef JOBRUN_METRIC_NAMES_H
#define JOBRUN_METRIC_NAMES_H

#include "core/log/metric.h"

enum metric_kind {
	METRIC_KIND_VALUE,
	METRIC_KIND_EPOCH, /* these two are positions in the training */
	METRIC_KIND_STEP,
};

struct metric_name {
	const char *name; /* lower case, with '_' for every other character */
	enum metric_kind kind;
	enum metric_goal goal;
	bool adds; /* add the values of the run's tasks */
};

/*
 * Accepts names with a phase before them and Lightning's suffixes: val_loss,
 * train/acc, eval-accuracy, train_loss_epoch.  NULL if the name is unknown.
 */
const struct metric_name *metric_name_find(const char *name);

#endif
