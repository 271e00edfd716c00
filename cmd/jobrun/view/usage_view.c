/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/usage_view.h"

#include <stdlib.h>

#include "core/base/json.h"
#include "core/base/units.h"
#include "core/spec/usage.h"

static bool find(struct session *session, const struct run_record *run,
		 struct usage *out)
{
	char *folder =
		store_run_folder(session->env.store, run->job_id, run->attempt);
	struct error ignored;
	/* A run that goes on has no usage yet. */
	bool known = run_state_is_final(run->state) &&
		     usage_read(folder, out, &ignored) == 0;

	free(folder);
	return known;
}

void usage_text(struct session *session, const struct run_record *run,
		struct buf *out)
{
	const char *between = "  used: ";
	struct usage usage;
	char text[32];

	if (!find(session, run, &usage))
		return;
	if (usage.cpu_ms) {
		duration_format((long)((usage.cpu_ms + 500) / 1000), text,
				sizeof(text));
		buf_printf(out, "%s%s of CPU time", between, text);
		between = ", ";
	}
	if (usage.allocated_cpu_ms) {
		duration_format((long)((usage.allocated_cpu_ms + 500) / 1000),
				text, sizeof(text));
		buf_printf(out, "%s%s of CPU time allocated", between, text);
		between = ", ";
	}
	if (usage.memory_bytes) {
		size_format(usage.memory_bytes, text, sizeof(text));
		buf_printf(out, "%speak memory of one task %s", between, text);
	}
	buf_putc(out, '\n');
}

static json_t *seconds_json(int64_t ms)
{
	return ms ? json_real((double)ms / 1000) : json_null();
}

void usage_json(struct session *session, const struct run_record *run,
		json_t *to)
{
	struct usage usage;
	json_t *out;

	if (!find(session, run, &usage))
		return;
	out = json_object();
	json_put(out, "cpuSeconds", seconds_json(usage.cpu_ms));
	json_put(out, "allocatedCpuSeconds",
		 seconds_json(usage.allocated_cpu_ms));
	json_put(out, "maxMemoryBytes",
		 usage.memory_bytes
			 ? json_integer((json_int_t)usage.memory_bytes)
			 : json_null());
	json_put(to, "usage", out);
}
