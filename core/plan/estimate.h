/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the most that a run will use, from the job alone: machines,
 * accelerators, cores and hours; and with a price list, money.  Nothing is
 * guessed: an amount is unknown if file, catalogue and list do not give it.
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

/* Machines of one kind. */
struct estimate_item {
	const char *machine_type; /* NULL: a TPU, which has no machine type */
	long machines;
	const char *accelerator_type; /* or NULL */
	long accelerators;            /* of all machines together */
	bool built_in;                /* built into the machine type */
};

struct estimate {
	struct estimate_item items[ESTIMATE_ITEMS];
	size_t item_count;
	long machines;
	long accelerators;
	long cores;         /* of the machines in the catalogue */
	bool uncounted;     /* some machines are not in the catalogue */
	long limit_s;       /* of the run; 0: no limit */
	const char *region; /* or NULL */
	/* With a price list: */
	const char *currency; /* NULL: no price list */
	double per_hour;      /* of the priced items */
	/* the items without a price */
	const char *unpriced[2 * ESTIMATE_ITEMS];
	size_t unpriced_count;
};

/* Borrows from the job, the catalogue and the list, which may be NULL.  The job
 * uses the TPU that it names `slices` times.  Returns -1 if nothing is known
 * about the job's machines. */
int estimate_job(const struct job *job, const struct catalogue *catalogue,
		 const struct price_list *prices, long slices,
		 struct estimate *out);

/* The most that the run can cost; false if unknown. */
bool estimate_cost(const struct estimate *estimate, double *out);

/* The sum over several jobs. */
struct estimate_total {
	size_t jobs;
	long machines, accelerators, cores;
	bool uncounted;
	double machine_hours; /* of the jobs with a time limit */
	size_t unlimited;     /* jobs without a time limit */
	const char *currency;
	double cost;           /* of the jobs with a known cost */
	size_t unknown;        /* jobs with an unknown cost */
	const char **unpriced; /* each once, in the order of the jobs */
	size_t unpriced_count;
};

void estimate_add(struct estimate_total *total, const struct estimate *one);
void estimate_total_done(struct estimate_total *total);

/* "3 machines, 12 cores, at most 2h00m: at most 1.14 USD" */
void estimate_text(const struct estimate *estimate, struct buf *out);
void estimate_total_text(const struct estimate_total *total, struct buf *out);
/* "no price is given for n1-standard-4, ..."; adds nothing if all have one. */
void estimate_unpriced_text(const struct estimate_total *total,
			    struct buf *out);
/* Return new. */
json_t *estimate_json(const struct estimate *estimate);
json_t *estimate_total_json(const struct estimate_total *total);

#endif
