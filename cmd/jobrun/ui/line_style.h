/* SPDX-License-Identifier: Apache-2.0 */
/* How the lines of tasks look: options of all commands that print them. */
#ifndef JOBRUN_LINE_STYLE_H
#define JOBRUN_LINE_STYLE_H

#include "cmd/jobrun/ui/app.h"
#include "core/base/opt.h"
#include "core/log/log.h"

struct line_opts {
	bool no_prefix;
	const char *prefix; /* NULL: what suits the output */
	const char *time;
};

extern const struct opt line_rows[];

/* On a terminal lines begin with the task, elsewhere with time and host,
 * unless the options say otherwise. */
struct log_style line_style(const struct line_opts *opts,
			    const struct app *app);

#endif
