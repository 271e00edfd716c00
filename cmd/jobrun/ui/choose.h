/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the runs that a command is about: by name, pattern, job file, and by
 * their properties.  All commands that take a JOB use this. */
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

/* The rows of a command, for a struct choose_opts; `choose_rows_plain` is for
 * commands whose own --since means something else. */
extern const struct opt choose_rows[];
extern const struct opt choose_rows_plain[];

/* The row of --all for commands that take `others`. */
#define CHOOSE_OTHERS(options)                                                 \
	{                                                                      \
		'a', "all", OPT_FLAG, offsetof(options, all), NULL,            \
			"also runs that others have started"                   \
	}

/* Help on the arguments that name jobs. */
#define CHOOSE_HELP                                                            \
	"A JOB is a jobId, a pattern in quotes ('train-*') or a job file.\n"

struct choice {
	const struct choose_opts *opts;
	char *const *words; /* none: all runs, if the options select some */
	size_t count;
	/* Also select earlier attempts. */
	bool attempts;
	/* Also look for the run of a job file where that job runs, if none is
	 * recorded here. */
	bool visits;
	/* Also accept words that mean these jobs, which have not started. */
	const struct wait_list *waits;
	/* choose_visit() looks for runs that others have started. */
	bool others;
	/* The runs are refreshed next, and then choose_again() is called, as
	 * their states may change. */
	bool refreshed;
};

/* Takes the arguments left after the options. */
void choice_take(struct choice *choice, int count, char *const *words);
/* Whether there is an argument, or an option that selects. */
bool choice_is_made(const struct choice *choice);
bool choice_has_options(const struct choice *choice);
/* Whether there is a pattern, or an option that selects, rather than only names
 * and files. */
bool choice_is_wide(const struct choice *choice);
/* Whether the choice is more than exact names of runs, so that its meaning may
 * change. */
bool choice_is_open(const struct choice *choice);

/*
 * The newest run of each selected job, as recorded here; in `mem`, in the order
 * of --sort, else in that of the store.  Fails with ERROR_NO_RUN if an argument
 * matches none; no match for the options is no error.
 */
int choose_runs(struct session *session, const struct choice *choice,
		struct arena *mem, struct run_list *out, struct error *err);

/* With `others` looks for runs that others have started, by their labels, which
 * choose_runs() then finds, too.  If the runs are refreshed next, these are
 * already, and places that do not answer in time are given up. */
int choose_visit(struct session *session, const struct choice *choice,
		 struct error *err);

/* Keeps those of the jobs that wait, or were skipped, which are chosen. */
void choose_waits(const struct choice *choice, struct wait_list *list);

/* To be called after a refresh: drops the runs that no longer match; `of_each`
 * (or NULL) is kept parallel to them. */
void choose_again(const struct choice *choice, struct run_list *runs,
		  const char **of_each);

/* The same as names, for a command that is about one run and handles several in
 * turn. */
int choose_names(struct session *session, const struct choice *choice,
		 struct arena *mem, struct strings *out, struct error *err);

/* Lists the runs that `what` ("cancel") will end or delete, and asks; with
 * `yes` only lists them.  True: go on.  Runs given by name need no question. */
bool choose_confirm(struct app *app, const struct choice *choice,
		    const struct run_list *runs, const char *what, bool yes);

/* Fails with ERROR_TRY_AGAIN if a run of the job's name is another project's:
 * whoever names a file does not mean that. */
int choose_check_origin(const struct run_record *run, const struct job *job,
			struct error *err);

/* The job's labels when the run was planned, or NULL; returns new. */
json_t *choose_labels(const struct run_record *run);

#endif
