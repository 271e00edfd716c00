/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what the log of a run's first task said of the training when a
 * checkpoint was written. */
#ifndef JOBRUN_SAVER_METRIC_H
#define JOBRUN_SAVER_METRIC_H

#include "core/checkpoint/checkpoint.h"

/* A line that was printed before a checkpoint was written may have its time in
 * the log so long after that. */
#define LOG_UPLOADER_DELAY_MS 500

struct saver_metric;

/* `folder` is that of the attempt; `metric` (or NULL) is the one that is
 * wanted.  Borrows it. */
struct saver_metric *saver_metric_open(const char *folder, const char *metric,
				       struct error *err);
void saver_metric_close(struct saver_metric *all);

/* Reads what is new, and fills in step, epoch and the metric as the log had
 * them last at the checkpoint's time; what is not known stays as it is. */
int saver_metric_fill(struct saver_metric *all, struct checkpoint *out,
		      struct error *err);

#endif
