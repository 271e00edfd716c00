/* SPDX-License-Identifier: Apache-2.0 */
/* The look of task lines: options of all commands that print them. */
#ifndef JOBRUN_LINE_STYLE_H
#define JOBRUN_LINE_STYLE_H

#include "cmd/jobrun/ui/app.h"
#include "core/base/opt.h"
#include "core/log/log.h"

struct line_opts {
	bool no_prefix;
	const char *prefix; /* NULL: chosen by the kind of output */
	const char *time;
};

extern const struct opt line_rows[];

/* Unless the options say otherwise, lines begin with the task on a terminal,
 * elsewhere with time and host. */
struct log_style line_style(const struct line_opts *opts,
			    const struct app *app);

#endif
