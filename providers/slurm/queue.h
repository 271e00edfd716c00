/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of this user's jobs that jobrun has submitted and Slurm still knows, from
 * one call of squeue for any number.  A job is identified by its comment, never
 * by its number alone: numbers are reused after a crash.
 */
#ifndef JOBRUN_QUEUE_H
#define JOBRUN_QUEUE_H

#include <limits.h>

#include "core/base/alloc.h"
#include "core/base/run_state.h"
#include "providers/slurm/cluster.h"

/* All elements of an array that are not listed. */
#define QUEUE_REST INT_MAX

struct queue_job {
	const char *id;      /* "12", in the form that scancel takes */
	int element;         /* of a job array, from 1; 0: not an element */
	const char *comment; /* see slurm_comment() */
	/* the comment's end: why its script gave up; or "" */
	const char *note;
	const char *state;     /* "PENDING" */
	const char *reason;    /* "Resources"; "" for "None" */
	const char *nodes;     /* "n[1-3]", or "" */
	int64_t start_time_ms; /* 0: unknown; for a waiting job, expected */
	int64_t end_time_ms;
	/* The elements of an array, by number; the array is RUNNING from the
	 * start of its first element to the end of its last. */
	struct queue_job *elements;
	size_t element_count;
};

struct slurm_queue {
	struct queue_job *items; /* by comment */
	size_t count;
};

/* Strings live in `mem`.  With an id, reads only that job, which is much
 * cheaper if there are thousands; a missing job is no error. */
int queue_read(struct cluster *cluster, const char *id, struct arena *mem,
	       struct slurm_queue *out, struct error *err);
/*
 * Whether the controller has really forgotten job `id` with this comment, or
 * has ended it: an empty or garbled answer of squeue alone is no proof.
 * Returns 0 if so; -1 with ERROR_UNREACHABLE if the controller does not confirm
 * it, or says that the job goes on.
 */
int queue_confirm_end(struct cluster *cluster, const char *id,
		      const char *comment, struct error *err);
/* Cuts the note off a comment, after the first blank, and returns it; "" if
 * there is none. */
char *queue_cut_note(char *comment);
/* Parses the output of squeue. */
void queue_parse(char *text, struct arena *mem, struct slurm_queue *out);

/* Splits a line at '|' into `count` columns, the last of which may contain more
 * of them; false if there are too few. */
bool queue_split(char *line, char **columns, size_t count);
/* The number of an element at the start of `text`; 0 if there is no valid
 * one. */
int queue_number(const char *text);
/* Sorts jobs and elements of arrays, and makes one job of each array. */
void queue_sort(struct slurm_queue *queue, struct arena *mem);

/* NULL: Slurm does not know the job, or no longer. */
const struct queue_job *queue_find(const struct slurm_queue *queue,
				   const char *comment);

/* Copies the job with all its strings into another arena. */
void queue_job_copy(const struct queue_job *job, struct arena *mem,
		    struct queue_job *out);

/* Finds an element of an array; NULL: it is unknown, or gone. */
const struct queue_job *queue_element(const struct queue_job *job, int number);

/* Converts Slurm's name of a state (squeue(1), "JOB STATE CODES"). */
enum run_state queue_state(const char *name);
/* Whether a waiting job is held, by a user or because of trouble. */
bool queue_is_held(const struct queue_job *job);
/* Why a job waits, or has ended in this way, in plain words: in `mem`. */
const char *queue_explain(const struct queue_job *job, struct arena *mem);

#endif
