/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs a command is about: by name, pattern, job file, and what is true of
 * them.  One way for all commands that take a JOB. */
#ifndef JOBRUN_CHOOSE_H
#define JOBRUN_CHOOSE_H

#include "cmd/jobrun/ui/session.h"
#include "core/base/opt.h"

struct choose_opts {
	struct opt_list labels; /* "team", "team=vision", "team!=vision" */
	const char *states;     /* "FAILED,QUEUED" */
	const char *provider;
	const char *since; /* "90s", "2h" */
	long limit;        /* 0: all */
	const char *sort;
};

/* The rows of a command, for a struct choose_opts; the second ones for commands
 * whose own --since is about something else. */
extern const struct opt choose_rows[];
extern const struct opt choose_rows_plain[];

/* Words of the command line about jobs. */
#define CHOOSE_HELP                                                            \
	"A JOB is a jobId, a pattern in quotes ('train-*') or a job file.\n"

struct choice {
	const struct choose_opts *opts;
	char *const *words; /* none: all runs, if the options say which */
	size_t count;
	/* Earlier attempts too. */
	bool attempts;
	/* They are refreshed next, and choose_again() is called then: states
	 * may be others. */
	bool refreshed;
};

/* What is left of the command line behind the options. */
void choice_take(struct choice *choice, int count, char *const *words);
/* There is a word, or an option that chooses. */
bool choice_is_made(const struct choice *choice);
bool choice_has_options(const struct choice *choice);
/* A pattern, or an option that chooses: more than names and files. */
bool choice_is_wide(const struct choice *choice);
/* Anything but the exact names of runs: what it means may change. */
bool choice_is_open(const struct choice *choice);

/*
 * The newest run of each job that is meant, as it is recorded here; in `mem`,
 * in the order of --sort, else as the store lists them.  Fails with ERROR_NO_RUN
 * if a word names none; that options leave none is no error.
 */
int choose_runs(struct session *session, const struct choice *choice,
		struct arena *mem, struct run_list *out, struct error *err);

/* After a refresh: those that still suit; `of_each` (or NULL) is kept beside
 * them. */
void choose_again(const struct choice *choice, struct run_list *runs,
		  const char **of_each);

/* The same as names, for a command that is about one run and deals with several
 * in turn. */
int choose_names(struct session *session, const struct choice *choice,
		 struct arena *mem, struct strings *out, struct error *err);

/* Lists runs that `what` ("cancel") will end or delete, and asks; with `yes` it
 * lists them only.  True: go on.  One that was named is not asked about. */
bool choose_confirm(struct app *app, const struct choice *choice,
		    const struct run_list *runs, const char *what, bool yes);

/* The job's labels as they were when the run was planned, or NULL; returns
 * new. */
json_t *choose_labels(const struct run_record *run);

#endif
