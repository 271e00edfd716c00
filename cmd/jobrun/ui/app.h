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

/* What one of those who show something has standing under the output. */
struct app_block {
	const void *owner;
	char *lines;
};

struct app {
	bool out_color; /* standard output takes colour */
	bool err_color;
	bool out_terminal;
	bool err_terminal;
	const char *trace_http; /* where requests are recorded, or NULL */
	bool live;              /* both are, and it can move its cursor */
	struct app_block *blocks;
	size_t block_count;
	char *standing;       /* all of them, as drawn; NULL: nothing */
	int width;            /* of the terminal; 80 if there is none */
	int height;           /* 24 */
	bool out_closed;      /* whoever read standard output has gone */
	bool only_shows;      /* without a reader there is nothing to do */
	int out_errno;        /* why standard output could not be written */
	bool out_missing;     /* there is no standard output at all */
	void (*sigpipe)(int); /* what SIGPIPE did before we ignored it */
};

/* Looks at the terminal; `color` is auto, always or never. */
void app_init(struct app *app);
void app_set_color(struct app *app, const char *color);
/* Once more: the terminal may have another size now. */
void app_find_size(struct app *app);

/* Writes to standard output at once.  Failing is noted in `app`. */
void app_write(struct app *app, const void *data, size_t len);
void app_print(struct app *app, const struct buf *text);

/* Where the terminal is `live`: shows lines under whatever is printed, the last
 * without an end, beside those of other owners.  "" takes them away.  They must
 * fit into the width. */
void app_stand(struct app *app, const void *owner, const char *lines);

/* Lines for standard error, in one write; nothing in them is a command to the
 * CI that reads them. */
void app_put_messages(const struct app *app, const struct buf *lines);
/* A message for standard error: "jobrun: …", and a newline. */
void app_say(const struct app *app, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "jobrun: error: …"; returns the exit status. */
int app_fail(const struct app *app, const struct error *err);

/* Asks a yes or no question on the terminal; false where there is none. */
bool app_confirm(const struct app *app, const char *question);

#endif
