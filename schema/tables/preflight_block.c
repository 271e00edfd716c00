/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun.preflight: what hosts are tested for. */
#include "schema/tables/tables.h"

#include "core/job/check.h"
#include "core/job/job.h"

static const struct field preflight_fields[] = {
	{ .name = "devices",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct preflight, devices),
	  .doc = "Whether to test that the GPUs asked for are present and "
		 "healthy: nvidia-smi answers, no GPU has uncorrected memory "
		 "errors or is throttled by its hardware, and the kernel has "
		 "logged no GPU fault (XID) since boot.  AMD's GPUs are only "
		 "counted." },
	{ .name = "peers",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct preflight, peers),
	  .doc = "Whether to compare the hosts' clocks.  That they reach each "
		 "other at their ports is tested in any case." },
	{ .name = "bandwidth",
	  .type = FIELD_STRING,
	  .check = check_size,
	  .offset = offsetof(struct preflight, bandwidth),
	  .doc = "How much each host must be able to send to the next in one "
		 "second, for instance 1GiB; the test sends half a second's "
		 "worth." },
	{ .name = "clockSkew",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct preflight, clock_skew_s),
	  .doc = "How far the hosts' clocks may differ; 5s with peers." },
	{ .name = "disk",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_size,
	  .offset = offsetof(struct preflight, disk),
	  .doc = "How much disk space must be free where the program starts, "
		 "for instance 20GiB." },
	{ .name = "command",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct preflight, command),
	  .doc = "A command that must succeed; it runs in the directory and "
		 "with the variables of setup." },
	{ .name = NULL },
};

const struct message message_preflight = {
	.name = "Preflight",
	.doc = "Tests of each host before setup and the program.",
	.size = sizeof(struct preflight),
	.fields = preflight_fields,
};
