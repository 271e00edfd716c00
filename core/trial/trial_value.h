/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trial's values of the metric that judges trials: from the file
 * CLOUD_ML_HP_METRIC_FILE, as the package cloudml-hypertune writes it, or from
 * its output, in the forms of metric.h.  The file has precedence.
 */
#ifndef JOBRUN_TRIAL_VALUE_H
#define JOBRUN_TRIAL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/job/job.h"
#include "core/spec/spec.h"

struct trial_point {
	double value; /* finite */
	int64_t step; /* the index of the point if no step was given */
};

struct trial_series {
	struct trial_point *points; /* owned */
	size_t count;
	bool broken; /* the newest value is NaN or infinite, so not a point */
};

void trial_series_done(struct trial_series *series);
void trial_series_add(struct trial_series *series, double value, int64_t step);

/*
 * Parses the values of `tag` in a metric file: a JSON object per line, {"tag":
 * "0.98", "global_step": "10", ...}, with strings or numbers as values.
 * Ignores incomplete and other lines.
 */
void trial_series_parse(const char *text, size_t len, const char *tag,
			struct trial_series *out);

/* Adds the values of a file, which may be missing. */
int trial_series_read(const char *path, const char *tag,
		      struct trial_series *out, struct error *err);

/* Reads a trial's metric as far as it exists now.  No values are no error. */
struct trial_reader;

struct trial_reader *trial_reader_new(const struct run_spec *spec,
				      const char *tag, struct error *err);
void trial_reader_free(struct trial_reader *reader);
/* `ended`: nobody writes any more. */
int trial_reader_read(struct trial_reader *reader, bool ended,
		      struct trial_series *out, struct error *err);
/* The same for an event loop: returns 1 after a short while if there is more to
 * read.  Call it again from the loop. */
int trial_reader_step(struct trial_reader *reader, bool ended,
		      struct trial_series *out, struct error *err);
/* As metric_parser_missed(). */
bool trial_reader_missed(const struct trial_reader *reader, struct buf *out);

/*
 * The median stopping rule (D. Golovin et al., "Google Vizier: A Service for
 * Black-Box Optimization", KDD 2017, section 3.2): whether the best value of a
 * trial up to its newest step is worse than the median of the means of the
 * completed trials up to that step.  False with fewer than three completed
 * trials.
 */
bool trial_is_hopeless(enum goal_type goal, const struct trial_series *self,
		       const struct trial_series *completed, size_t count);

/* Gets the last value, which is the one that counts; false if there is none, or
 * it is broken. */
bool trial_series_result(const struct trial_series *series,
			 struct trial_point *out);

#endif
