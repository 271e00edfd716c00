/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/left_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"

#define FILE_MAX (1 << 20)

static char *path_of(const char *home)
{
	return path_join(home, "left");
}

bool left_hosts_any(const char *home)
{
	char *path = path_of(home);
	bool any = access(path, F_OK) == 0;

	free(path);
	return any;
}

int left_hosts_read(const char *home, struct arena *mem, struct left_hosts *out,
		    struct error *err)
{
	char *path = path_of(home);
	json_t *list = NULL;
	int ret = json_file_read(path, FILE_MAX, &list, err);

	*out = (struct left_hosts){ 0 };
	if (ret == 0) {
		size_t count = json_array_size(list);

		out->items = arena_alloc(mem, count * sizeof(*out->items));
		for (out->count = 0; out->count < count; out->count++) {
			const json_t *from = json_array_get(list, out->count);

			out->items[out->count] = (struct left_host){
				.name = json_copy_text(from, "host", mem),
				.index = (size_t)json_get_int(from, "index", 0),
				.slot = (long)json_get_int(from, "slot", 0),
				.tasks = json_copy_text(from, "tasks", mem),
				.heard_ms = json_get_int(from, "heardMs", 0),
				.expires_ms =
					json_get_int(from, "expiresMs", 0),
			};
		}
	}
	json_decref(list);
	free(path);
	return ret < 0 ? -1 : 0;
}

int left_hosts_write(const char *home, const struct left_hosts *list,
		     struct error *err)
{
	char *path = path_of(home);
	json_t *out = json_array();
	size_t i;
	int ret = 0;

	for (i = 0; i < list->count; i++) {
		const struct left_host *one = &list->items[i];
		json_t *to = json_object();

		json_put_text(to, "host", one->name);
		json_put_int(to, "index", (long long)one->index);
		json_put_int(to, "slot", one->slot);
		json_put_text(to, "tasks", one->tasks);
		json_put_int(to, "heardMs", one->heard_ms);
		json_put_int(to, "expiresMs", one->expires_ms);
		json_array_append_new(out, to);
	}
	if (list->count)
		ret = json_file_write(path, out, err);
	else if (unlink(path) < 0 && errno != ENOENT)
		ret = error_errno(err, "cannot remove '%s'", path);
	json_decref(out);
	free(path);
	return ret;
}

bool left_host_may_run(const struct left_host *one)
{
	return time_now_ms() < one->expires_ms;
}

void left_host_put(const struct left_host *one, struct buf *out)
{
	int64_t left_ms = one->expires_ms - time_now_ms();
	char heard[40], lease[32];

	time_format_log(one->heard_ms, heard, sizeof(heard));
	duration_format((long)(left_ms / 1000), lease, sizeof(lease));
	buf_printf(out, "host '%s' was last heard of at %s: ", one->name,
		   heard);
	if (left_host_may_run(one))
		buf_printf(out,
			   "%s may still run there for %s, and output since "
			   "then is missing here",
			   one->tasks, lease);
	else
		buf_printf(out, "output of %s since then is missing here",
			   one->tasks);
}
