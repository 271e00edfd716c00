/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/gc_find.h"

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"

#define FORMAT_VERSION 1

const char *find_kind(const struct find *find)
{
	return find->resource   ? find->resource->kind->name
	       : find->leftover ? find->leftover->what
				: "member";
}

const char *find_name(const struct find *find)
{
	return find->resource   ? find->resource->name
	       : find->leftover ? find->leftover->name
				: find->member->job_id;
}

const char *find_job(const struct find *find)
{
	return find->resource   ? find->resource->labels.job_id
	       : find->leftover ? find->leftover->job_id
				: find->member->job_id;
}

void finds_text(const struct find *finds, size_t count, struct buf *out)
{
	char age[32], size[32];
	size_t i;

	for (i = 0; i < count; i++) {
		const struct find *one = &finds[i];

		buf_printf(out, "%s  %s  %s", one->provider->name,
			   find_kind(one), find_name(one));
		if (one->member)
			buf_printf(out, " of set '%s'", one->member->set);
		if (one->resource && one->resource->create_time_ms) {
			duration_format((long)((time_now_ms() -
						one->resource->create_time_ms) /
					       1000),
					age, sizeof(age));
			buf_printf(out, "  (job %s, %s old", find_job(one),
				   age);
			if (one->resource->where)
				buf_printf(out, ", in %s",
					   one->resource->where);
			buf_putc(out, ')');
		}
		if (one->leftover && one->leftover->bytes) {
			size_format(one->leftover->bytes, size, sizeof(size));
			buf_printf(out, "  (%s)", size);
		}
		buf_printf(out, ": %s\n", one->why);
	}
	if (!count)
		buf_puts(out, "nothing to clean up\n");
}

static json_t *find_json(const struct find *find)
{
	json_t *out = json_object();
	const char *job_id = find_job(find);

	json_put_text(out, "provider", find->provider->name);
	json_put_text(out, "kind", find_kind(find));
	json_put_text(out, "name", find_name(find));
	json_put(out, "jobId", job_id ? json_text(job_id) : json_null());
	json_put_text(out, "reason", find->why);
	if (find->member)
		json_put_text(out, "applyset", find->member->set);
	if (find->resource && find->resource->place)
		json_put_text(out, "place", find->resource->place);
	if (find->resource && find->resource->where)
		json_put_text(out, "where", find->resource->where);
	if (find->resource && find->resource->create_time_ms) {
		char time[40];

		time_format(find->resource->create_time_ms, time, sizeof(time));
		json_put_text(out, "createTime", time);
	}
	if (find->leftover && find->leftover->bytes)
		json_put_int(out, "bytes", (long long)find->leftover->bytes);
	json_put(out, "deleted", json_boolean(find->deleted));
	return out;
}

json_t *finds_json(const struct find *finds, size_t count)
{
	json_t *all = json_object();
	json_t *found = json_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(found, find_json(&finds[i]));
	json_put_int(all, "formatVersion", FORMAT_VERSION);
	json_put(all, "found", found);
	return all;
}
