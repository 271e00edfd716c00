/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/line_style.h"

#include <stddef.h>
#include <string.h>

/* The order of these is that of their enums. */
#define PREFIXES "host|task|none"
#define TIMES "local|utc|relative|none"

const struct opt line_rows[] = {
	{ 0, "no-prefix", OPT_FLAG, offsetof(struct line_opts, no_prefix), NULL,
	  "print only the tasks' output" },
	{ 0, "prefix", OPT_CHOICE, offsetof(struct line_opts, prefix), PREFIXES,
	  "who wrote it (on a terminal: task, else host)" },
	{ 0, "time", OPT_CHOICE, offsetof(struct line_opts, time), TIMES,
	  "time of a line (on a terminal: none, else local)" },
	{ 0 },
};

/* Returns the index of a choice, which was checked before. */
static int choice_place(const char *choices, const char *one)
{
	const char *p = choices;
	size_t len = strlen(one);
	int place = 0;

	while (strncmp(p, one, len) != 0 || (p[len] && p[len] != '|')) {
		p = strchr(p, '|') + 1;
		place++;
	}
	return place;
}

struct log_style line_style(const struct line_opts *opts, const struct app *app)
{
	struct log_style style = { .color = app->out_color,
				   .terminal = app->out_terminal };

	if (opts->prefix)
		style.prefix =
			(enum log_prefix)choice_place(PREFIXES, opts->prefix);
	else if (opts->no_prefix)
		style.prefix = LOG_PREFIX_NONE;
	else if (app->out_terminal)
		style.prefix = LOG_PREFIX_TASK;
	if (opts->time)
		style.time = (enum log_time)choice_place(TIMES, opts->time);
	else if (opts->no_prefix || app->out_terminal)
		style.time = LOG_TIME_NONE;
	return style;
}
