/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun.preflight: what hosts are tested for. */
#include "schema/tables/tables.h"

#include "core/job/check.h"
#include "core/job/job.h"

static const struct field preflight_fields[] = {
	{ .name = "devices",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct preflight, devices),
	  .doc = "Whether the GPUs that the job asks for are there and well: "
		 "nvidia-smi answers, counts no uncorrected memory errors and "
		 "none that its hardware slows down, and "
		 "the kernel has told of no fault of one (XID) since it was "
		 "started.  AMD's are counted." },
	{ .name = "peers",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct preflight, peers),
	  .doc = "Whether hosts are fit to work together: that they reach each "
		 "other at their ports is tested anyhow, and with this their "
		 "clocks, too." },
	{ .name = "bandwidth",
	  .type = FIELD_STRING,
	  .check = check_size,
	  .offset = offsetof(struct preflight, bandwidth),
	  .doc = "How much each host must be able to send to the next one in a "
		 "second, for instance 1GiB; half a second of that is sent." },
	{ .name = "clockSkew",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct preflight, clock_skew_s),
	  .doc = "By how much the clocks of hosts may differ; 5s with peers." },
	{ .name = "disk",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_size,
	  .offset = offsetof(struct preflight, disk),
	  .doc = "How much must be free where the program starts, for instance "
		 "20GiB." },
	{ .name = "command",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct preflight, command),
	  .doc = "A command that must succeed, with the variables and in the "
		 "directory that setup has." },
	{ .name = NULL },
};

const struct message message_preflight = {
	.name = "Preflight",
	.doc = "What each host is tested for before setup and the program.",
	.size = sizeof(struct preflight),
	.fields = preflight_fields,
};
