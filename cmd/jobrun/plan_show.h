/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and shows a plan, for 'apply --dry-run' too. */
#ifndef JOBRUN_PLAN_SHOW_H
#define JOBRUN_PLAN_SHOW_H

struct app;
struct inputs;

/* Plans, and prints the plan as text.  Returns the exit status. */
int plan_show(struct app *app, const struct inputs *inputs);

#endif
