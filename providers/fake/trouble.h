/* SPDX-License-Identifier: Apache-2.0 */
/* The small language of `failAt` and `meddle`: which call, and what happens
 * then. */
#ifndef JOBRUN_TROUBLE_H
#define JOBRUN_TROUBLE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

enum fake_call {
	FAKE_READ,
	FAKE_CREATE,
	FAKE_UPDATE,
	FAKE_DELETE,
	FAKE_WAIT,
	FAKE_CANCEL,
	FAKE_CALL_COUNT,
};

enum trouble_how {
	TROUBLE_NONE,
	TROUBLE_PERMANENT,
	TROUBLE_DENIED,
	TROUBLE_TRY_AGAIN,
	TROUBLE_UNREACHABLE,
	TROUBLE_QUOTA,
	TROUBLE_LOST,
	TROUBLE_TWICE,
	TROUBLE_KILL,
	TROUBLE_KILL_AFTER,
	TROUBLE_COUNT,
};

/* Selects calls of a job. */
struct selector {
	int call;       /* enum fake_call, or -1: any */
	char name[160]; /* the resource's name, or "": any */
	long first, last;
};

/* How often a call was made, including this time. */
struct trouble_tally {
	enum fake_call call;
	const char *name;
	long of_call, of_any;           /* by the job */
	long of_call_here, of_any_here; /* on this resource */
};

struct trouble {
	struct selector at;
	enum trouble_how how;
};

struct meddling {
	struct selector at;
	char name[160];
	char property[64]; /* "": the whole resource is gone */
	char value[160];
};

/* A name may be short: "thing-07" also matches "JOBID-thing-07". */
const char *fake_call_name(enum fake_call call);
const char *trouble_name(enum trouble_how how);
bool selector_takes(const struct selector *at,
		    const struct trouble_tally *tally);
int trouble_parse(const char *text, struct trouble *out, struct error *err);
int meddling_parse(const char *text, struct meddling *out, struct error *err);

#endif
