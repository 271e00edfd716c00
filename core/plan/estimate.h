/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the most that a run will use, from the job alone: machines,
 * accelerators, cores and hours; and money, with a price list.  It guesses
 * nothing: an amount that the file, the catalogue and the list do not say is
 * unknown.
 */
#ifndef JOBRUN_ESTIMATE_H
#define JOBRUN_ESTIMATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/job/catalogue.h"
#include "core/job/job.h"
#include "core/job/machines.h"

#define ESTIMATE_ITEMS ROLE_COUNT

/* Machines of one sort. */
struct estimate_item {
	const char *machine_type; /* NULL: a TPU, which is no machine type */
	long machines;
	const char *accelerator_type; /* or NULL */
	long accelerators;            /* of all of them */
	bool built_in;                /* the machine type has them */
};

struct estimate {
	struct estimate_item items[ESTIMATE_ITEMS];
	size_t item_count;
	long machines;
	long accelerators;
	long cores;         /* of the machines that the catalogue knows */
	bool uncounted;     /* it does not know all */
	long limit_s;       /* of the run; 0: none */
	const char *region; /* or NULL */
	/* With a price list: */
	const char *currency;                     /* NULL: there is none */
	double per_hour;                          /* of what has a price */
	const char *unpriced[2 * ESTIMATE_ITEMS]; /* what has none */
	size_t unpriced_count;
};

/* Borrows from the job, the catalogue and the list, which may be NULL.  The job
 * uses the TPU that it names `slices` times.  Returns -1 if nothing is known of
 * the job. */
int estimate_job(const struct job *job, const struct catalogue *catalogue,
		 const struct price_list *prices, long slices,
		 struct estimate *out);

/* The most that it can cost; false if that is not known. */
bool estimate_cost(const struct estimate *estimate, double *out);

/* The sum over several jobs. */
struct estimate_total {
	size_t jobs;
	long machines, accelerators, cores;
	bool uncounted;
	double machine_hours; /* of the jobs with a limit */
	size_t unlimited;     /* jobs without one */
	const char *currency;
	double cost;           /* of the jobs whose cost is known */
	size_t unknown;        /* jobs whose is not */
	const char **unpriced; /* each once, in the order of the jobs */
	size_t unpriced_count;
};

void estimate_add(struct estimate_total *total, const struct estimate *one);
void estimate_total_done(struct estimate_total *total);

/* "3 machines, 12 cores, at most 2h00m: at most 1.14 USD" */
void estimate_text(const struct estimate *estimate, struct buf *out);
void estimate_total_text(const struct estimate_total *total, struct buf *out);
/* "no price is given for n1-standard-4, ..."; nothing if all have one. */
void estimate_unpriced_text(const struct estimate_total *total,
			    struct buf *out);
/* Return new. */
json_t *estimate_json(const struct estimate *estimate);
json_t *estimate_total_json(const struct estimate_total *total);

#endif
