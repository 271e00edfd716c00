/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the training values that the log of a run's first task had when a
 * checkpoint was written. */
#ifndef JOBRUN_SAVER_METRIC_H
#define JOBRUN_SAVER_METRIC_H

#include "core/checkpoint/checkpoint.h"

/* A line printed before a checkpoint was written may be logged up to this much
 * later. */
#define LOG_UPLOADER_DELAY_MS 500

struct saver_metric;

/* `folder` is the attempt's; `metric` (or NULL) is the metric wanted.  Borrows
 * both. */
struct saver_metric *saver_metric_open(const char *folder, const char *metric,
				       struct error *err);
void saver_metric_close(struct saver_metric *all);

/* Reads new log lines and fills in the last step, epoch and metric logged at
 * the checkpoint's time; unknown values are left as they are. */
int saver_metric_fill(struct saver_metric *all, struct checkpoint *out,
		      struct error *err);

#endif
