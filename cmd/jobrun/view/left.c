/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/left.h"

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/supervise/supervisor.h"

/* Finds hosts left behind.  A process must look after them, and after machines
 * and logs that are still to be seen to: if it was killed, another one is
 * started. */
static int find_left(struct session *session, const struct run_record *run,
		     struct arena *mem, struct left_hosts *out,
		     struct error *err)
{
	struct store *store = session->env.store;
	struct error ignored;
	int ret = supervisor_left(store, run, mem, out, err);

	if (ret == 0 && (out->count || supervisor_is_unreleased(store, run)))
		supervisor_check(store, run, &ignored);
	return ret;
}

int left_text(struct session *session, const struct run_record *run,
	      struct buf *out, struct error *err)
{
	struct arena *mem = arena_new();
	struct left_hosts left;
	int ret = find_left(session, run, mem, &left, err);
	for (size_t i = 0; i < left.count; i++) {
		buf_puts(out, "  ");
		left_host_put(&left.items[i], out);
		buf_putc(out, '\n');
	}
	arena_free(mem);
	return ret;
}

int left_json(struct session *session, const struct run_record *run, json_t *to,
	      struct error *err)
{
	struct arena *mem = arena_new();
	json_t *list = json_array();
	struct left_hosts left;
	int ret = find_left(session, run, mem, &left, err);

	for (size_t i = 0; i < left.count; i++) {
		const struct left_host *from = &left.items[i];
		json_t *one = json_object();
		char text[40];

		json_put_text(one, "host", from->name);
		json_put_text(one, "tasks", from->tasks);
		json_put(one, "mayRun", json_boolean(left_host_may_run(from)));
		time_format(from->heard_ms, text, sizeof(text));
		json_put_text(one, "heardTime", text);
		time_format(from->expires_ms, text, sizeof(text));
		json_put_text(one, "expireTime", text);
		json_array_append_new(list, one);
	}
	json_put(to, "leftHosts", list);
	arena_free(mem);
	return ret;
}

void left_say(struct session *session, const struct run_record *run)
{
	struct arena *mem = arena_new();
	struct left_hosts left;
	struct error ignored;

	if (find_left(session, run, mem, &left, &ignored) < 0)
		left.count = 0;
	for (size_t i = 0; i < left.count; i++) {
		struct buf line = { 0 };

		left_host_put(&left.items[i], &line);
		app_say(session->app, "warning: %s", buf_text(&line));
		buf_done(&line);
	}
	arena_free(mem);
}
