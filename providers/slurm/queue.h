/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All jobs of this user that jobrun has submitted and that Slurm still knows,
 * by one call of squeue, whatever their number.  A job is known by its comment,
 * never by its number alone: numbers are used again after a crash.
 */
#ifndef JOBRUN_QUEUE_H
#define JOBRUN_QUEUE_H

#include <limits.h>

#include "core/base/alloc.h"
#include "core/base/run_state.h"
#include "providers/slurm/cluster.h"

/* All elements of an array that are not named. */
#define QUEUE_REST INT_MAX

struct queue_job {
	const char *id;        /* "12", as scancel takes it */
	int element;           /* of a job array, from 1; 0: it is no element */
	const char *comment;   /* see slurm_comment() */
	const char *note;      /* behind it: why its script gave up; or "" */
	const char *state;     /* "PENDING" */
	const char *reason;    /* "Resources"; "None" is "" */
	const char *nodes;     /* "n[1-3]", or "" */
	int64_t start_time_ms; /* 0: not known; of a waiting one, expected */
	int64_t end_time_ms;
	/* The elements of an array, by number; the array is RUNNING as soon as
	 * one of them has begun, until all have ended. */
	struct queue_job *elements;
	size_t element_count;
};

struct slurm_queue {
	struct queue_job *items; /* by comment */
	size_t count;
};

/* Texts live in `mem`.  With an id, of that job alone, which is much cheaper
 * where there are thousands; no such job is no error. */
int queue_read(struct cluster *cluster, const char *id, struct arena *mem,
	       struct slurm_queue *out, struct error *err);
/*
 * Whether the controller has really forgotten job `id` with this comment, or
 * has ended it: an empty or garbled answer of squeue alone is no proof.
 * Returns 0 if so; -1 with ERROR_UNREACHABLE if the controller does not say so,
 * or says that the job goes on.
 */
int queue_confirm_end(struct cluster *cluster, const char *id,
		      const char *comment, struct error *err);
/* Cuts the note off a comment, which is before the first blank; "" if there is
 * none. */
char *queue_cut_note(char *comment);
/* Parses the output of squeue. */
void queue_parse(char *text, struct arena *mem, struct slurm_queue *out);

/* Cuts a line at its first '|'s into `count` columns, of which the last may have
 * more of them; false if there are too few. */
bool queue_split(char *line, char **columns, size_t count);
/* The number of an element at the start of `text`; 0: none that can be. */
int queue_number(const char *text);
/* Puts jobs, and elements of arrays, in order, and makes one of each array. */
void queue_sort(struct slurm_queue *queue, struct arena *mem);

/* NULL: Slurm does not know it, or no more. */
const struct queue_job *queue_find(const struct slurm_queue *queue,
				   const char *comment);

/* With all its texts, into another arena. */
void queue_job_copy(const struct queue_job *job, struct arena *mem,
		    struct queue_job *out);

/* Finds an element of an array; NULL: it is unknown, or gone. */
const struct queue_job *queue_element(const struct queue_job *job, int number);

/* Slurm's name of a state (squeue(1), "JOB STATE CODES"). */
enum run_state queue_state(const char *name);
/* Why a job waits, or has ended so, in plain words: in `mem`. */
const char *queue_explain(const struct queue_job *job, struct arena *mem);

#endif
