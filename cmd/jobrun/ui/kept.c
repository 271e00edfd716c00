/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/kept.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/log_keeper.h"

static struct keeper_events read_events(const char *folder, const char *name,
					struct arena *mem)
{
	char *path = path_join(folder, name);
	struct keeper_events events;
	struct error ignored;
	uint64_t offset = 0;

	if (keeper_events_read(path, &offset, mem, &events, &ignored) < 0)
		events.count = 0;
	free(path);
	return events;
}

void kept_read(struct session *session, const struct run_record *run,
	       struct arena *mem, struct kept *out)
{
	char *folder =
		store_run_folder(session->env.store, run->job_id, run->origin);
	struct keeper_events events = read_events(folder, KEEPER_EVENTS, mem);
	struct keeper_events logs = read_events(folder, LOG_KEEPER_EVENTS, mem);

	*out = (struct kept){ 0 };
	for (size_t i = 0; i < events.count; i++) {
		const struct keeper_event *event = &events.items[i];

		if (event->kind == KEEPER_RESUMED) {
			out->resumed = event;
		} else if (event->kind == KEEPER_KEPT) {
			out->last = event;
			out->failing = NULL;
		} else if (event->kind == KEEPER_FAILING) {
			out->failing = event;
		}
	}
	/* The last word on them. */
	if (logs.count && logs.items[logs.count - 1].kind == KEEPER_FAILING)
		out->logs = &logs.items[logs.count - 1];
	free(folder);
}

static void put(const char *what, const struct keeper_event *event,
		struct buf *out)
{
	char when[32];

	if (!event)
		return;
	time_format_log(event->time_ms, when, sizeof(when));
	buf_printf(out, "  %s: %s (%s)\n", what, event->text, when);
}

void kept_text(const struct kept *kept, bool briefly, struct buf *out)
{
	if (!briefly) {
		put("checkpoints", kept->resumed, out);
		put("checkpoints", kept->last, out);
	}
	put("checkpoints are failing", kept->failing, out);
	put("logs", kept->logs, out);
}

static void put_event(const char *key, const struct keeper_event *event,
		      json_t *to)
{
	json_t *one;
	char when[40];

	if (!event) {
		json_put(to, key, json_null());
		return;
	}
	one = json_object();
	time_format(event->time_ms, when, sizeof(when));
	json_put_text(one, "time", when);
	json_put_text(one, "text", event->text);
	json_put(to, key, one);
}

void kept_json(const struct kept *kept, json_t *run)
{
	json_t *out;

	if (kept->resumed || kept->last || kept->failing) {
		out = json_object();
		put_event("resumed", kept->resumed, out);
		put_event("last", kept->last, out);
		put_event("failing", kept->failing, out);
		json_put(run, "checkpoints", out);
	}
	if (kept->logs) {
		out = json_object();
		put_event("failing", kept->logs, out);
		json_put(run, "logs", out);
	}
}
