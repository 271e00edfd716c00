/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs another program to its end: its input, and all of its output.  For tools
 * that only have a command line (squeue, ssh); process.h starts tasks.  Blocks,
 * and may be called from several threads at once; SIGPIPE must be ignored, as
 * main() does.
 */
#ifndef JOBRUN_SUBPROCESS_H
#define JOBRUN_SUBPROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"

struct command_call {
	/* NULL-terminated; the first is searched in PATH */
	const char *const *argv;
	char *const *envp;     /* NULL: this process's */
	const char *directory; /* its working directory; NULL: "/" */
	/* Its standard input: the bytes of `input`, or the contents of the
	 * descriptor `input_fd` (a file, 0: none). */
	const void *input;
	size_t input_len;
	int input_fd;
	size_t output_max; /* more than this is an error */
	/* after this it is killed, with all that it started */
	int64_t timeout_ms;
};

struct command_answer {
	struct buf out;   /* its standard output, complete */
	struct buf words; /* the start of its standard error */
	int status;       /* as waitpid() gives it */
};

/*
 * Returns 0 once the program has ended, in whatever way: see `status`.  Returns
 * -1 if it can't be started (ERROR_FAILED), took too long (ERROR_TIMEOUT) or
 * wrote too much; then the answer is empty.
 */
int command_run(const struct command_call *call, struct command_answer *out,
		struct error *err);
void command_answer_done(struct command_answer *answer);

/* The exit status, or 128 + n after signal n. */
int command_status(const struct command_answer *answer);
/* The last line of its standard error that is not blank, without terminal
 * controls; "" if there is none. */
void command_last_words(const struct command_answer *answer, char *out,
			size_t size);

/* Adds the text as one word for a shell. */
void command_quote(const char *text, struct buf *out);

/* For scripts of sh: the first makes $d the nearest folder above it that is
 * there, the second prints how many KiB are free in $d. */
#define SH_NEAREST_FOLDER                                                      \
	"while [ ! -d \"$d\" ]; do d=$(dirname \"$d\"); done; "
#define SH_FREE_KIB                                                            \
	"df -Pk \"$d\" | { read -r x; read -r a b c e f; echo \"$e\"; }"

#endif
