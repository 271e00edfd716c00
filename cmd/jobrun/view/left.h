/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about hosts that a run has left: core/supervise/left_hosts.h. */
#ifndef JOBRUN_UI_LEFT_H
#define JOBRUN_UI_LEFT_H

#include <jansson.h>

#include "cmd/jobrun/ui/session.h"

/* How long hosts may take to answer a command about them. */
#define LEFT_MS 15000

/* Adds a line for each, indented. */
int left_text(struct session *session, const struct run_record *run,
	      struct buf *out, struct error *err);
/* The value of "leftHosts". */
int left_json(struct session *session, const struct run_record *run, json_t *to,
	      struct error *err);
/* Prints a warning for each. */
void left_say(struct session *session, const struct run_record *run);

#endif
