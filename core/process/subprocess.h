/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another program, run to its end: what it is given, and all that it says.
 * For what only has a command line (squeue, ssh); tasks are started by
 * process.h.  Blocks, and may be called from several threads at once; SIGPIPE
 * must be ignored, as main() does.
 */
#ifndef JOBRUN_SUBPROCESS_H
#define JOBRUN_SUBPROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"

struct command_call {
	const char *const
		*argv;         /* up to NULL; the first is looked up in PATH */
	char *const *envp;     /* NULL: that of this process */
	const char *directory; /* where it starts; NULL: "/" */
	/* Its standard input: the bytes of `input`, or all that the descriptor
	 * `input_fd` (a file, 0: none) has. */
	const void *input;
	size_t input_len;
	int input_fd;
	size_t output_max;  /* more than this is an error */
	int64_t timeout_ms; /* then it is killed, with all that it started */
};

struct command_answer {
	struct buf out;   /* its standard output, whole */
	struct buf words; /* the start of its standard error */
	int status;       /* as waitpid() gives it */
};

/*
 * 0 once it has ended, however that was: see `status`.  -1: it can't be
 * started (ERROR_FAILED), took too long (ERROR_TIMEOUT) or said too much; then
 * the answer is empty.
 */
int command_run(const struct command_call *call, struct command_answer *out,
		struct error *err);
void command_answer_done(struct command_answer *answer);

/* The exit status, or 128 + n after signal n. */
int command_status(const struct command_answer *answer);
/* The last line of its standard error that says something, without what has
 * no place on a terminal; "" if there is none. */
void command_last_words(const struct command_answer *answer, char *out,
			size_t size);

/* Adds the text as one word of a shell. */
void command_quote(const char *text, struct buf *out);

#endif
