/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/uploads.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/log_uploader.h"

static struct upload_events read_events(const char *folder, const char *name,
					struct arena *mem)
{
	char *path = path_join(folder, name);
	struct upload_events events;
	struct error ignored;
	uint64_t offset = 0;

	if (upload_events_read(path, &offset, mem, &events, &ignored) < 0)
		events.count = 0;
	free(path);
	return events;
}

void uploads_read(struct session *session, const struct run_record *run,
		  struct arena *mem, struct uploads *out)
{
	char *folder =
		store_run_folder(session->env.store, run->job_id, run->origin);
	struct upload_events events = read_events(folder, UPLOAD_EVENTS, mem);
	struct upload_events logs = read_events(folder, LOG_KEEPER_EVENTS, mem);

	*out = (struct uploads){ 0 };
	for (size_t i = 0; i < events.count; i++) {
		const struct upload_event *event = &events.items[i];

		if (event->kind == UPLOAD_RESUMED) {
			out->resumed = event;
		} else if (event->kind == UPLOAD_DONE) {
			out->last = event;
			out->failing = NULL;
		} else if (event->kind == UPLOAD_FAILING) {
			out->failing = event;
		}
	}
	/* The last event decides. */
	if (logs.count && logs.items[logs.count - 1].kind == UPLOAD_FAILING)
		out->logs = &logs.items[logs.count - 1];
	free(folder);
}

static void put(const char *what, const struct upload_event *event,
		struct buf *out)
{
	char when[32];

	if (!event)
		return;
	time_format_log(event->time_ms, when, sizeof(when));
	buf_printf(out, "  %s: %s (%s)\n", what, event->text, when);
}

void uploads_text(const struct uploads *kept, bool briefly, struct buf *out)
{
	if (!briefly) {
		put("checkpoints", kept->resumed, out);
		put("checkpoints", kept->last, out);
	}
	put("checkpoints are failing", kept->failing, out);
	put("logs", kept->logs, out);
}

static void put_event(const char *key, const struct upload_event *event,
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

void uploads_json(const struct uploads *kept, json_t *run)
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
