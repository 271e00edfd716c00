/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all subcommands: the terminal, and the exit status.  Results go to
 * standard output, messages to standard error; only this folder prints and
 * decides the exit status.
 */
#ifndef JOBRUN_APP_H
#define JOBRUN_APP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* The lines that one owner keeps below the output. */
struct app_block {
	const void *owner;
	char *lines;
};

struct app {
	bool out_color; /* standard output supports colour */
	bool err_color;
	bool out_terminal;
	bool err_terminal;
	const char *trace_http; /* the file that records requests, or NULL */
	/* both are terminals, and the cursor can be moved */
	bool live;
	struct app_block *blocks;
	size_t block_count;
	char *standing;   /* all blocks, as drawn; NULL: none */
	int width;        /* of the terminal; 80 if there is none */
	int height;       /* 24 */
	bool out_closed;  /* the reader of standard output has gone */
	bool only_shows;  /* without a reader there is nothing left to do */
	int out_errno;    /* the error of writing to standard output */
	bool out_missing; /* standard output is not open */
	/* the disposition of SIGPIPE before we ignored it */
	void (*sigpipe)(int);
};

/* Examines the terminal; `color` is auto, always or never. */
void app_init(struct app *app);
void app_set_color(struct app *app, const char *color);
/* Reads the terminal's size again, after it may have changed. */
void app_find_size(struct app *app);

/* Writes to standard output at once.  Failures are recorded in `app`. */
void app_write(struct app *app, const void *data, size_t len);
void app_print(struct app *app, const struct buf *text);

/* If the terminal is `live`: shows lines below whatever is printed, the last
 * without a newline, together with those of other owners.  "" removes them.
 * They must fit the width. */
void app_stand(struct app *app, const void *owner, const char *lines);

/* Writes lines to standard error in one write, disarmed so that CI takes none
 * of them for commands. */
void app_put_messages(const struct app *app, const struct buf *lines);
/* Writes a message to standard error: "jobrun: …", and a newline. */
void app_say(const struct app *app, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes "jobrun: error: …"; returns the exit status. */
int app_fail(const struct app *app, const struct error *err);

/* Asks for a word on the terminal; the answer "", or no terminal: `fallback`.
 * Returns new. */
char *app_ask(const struct app *app, const char *question,
	      const char *fallback);
/* Asks a yes or no question on the terminal; false if there is none. */
bool app_confirm(const struct app *app, const char *question);

#endif
