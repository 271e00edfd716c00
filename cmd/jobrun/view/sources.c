/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/sources.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "core/task/task_runner.h"

/* Whether a number is in a list such as "0,3-7". */
static int index_listed(const char *list, long index, struct error *err)
{
	const char *p = list;
	int found = 0;

	if (!list)
		return 1;
	for (;;) {
		char *end;
		long from, to;

		from = to = strtol(p, &end, 10);
		if (end == p || from < 0)
			goto bad;
		if (*end == '-') {
			p = end + 1;
			to = strtol(p, &end, 10);
			if (end == p || to < from)
				goto bad;
		}
		if (index >= from && index <= to)
			found = 1;
		if (!*end)
			return found;
		if (*end != ',')
			goto bad;
		p = end + 1;
	}
bad:
	return error_set(err, ERROR_USAGE,
			 "'%s' is not a list of indices, such as 0,3-7", list);
}

/* Raises the limit of descriptors, up to three per task for a reader, but no
 * further: runs started later inherit it. */
static void allow_files(size_t tasks)
{
	struct rlimit limit;
	rlim_t need = 3 * (rlim_t)tasks + 256;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need)
		return;
	limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int sources_type(const char *text, enum task_type *out, struct error *err)
{
	if (!text || task_type_parse(text, out) == 0)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--task takes master, worker, ps or evaluator, not "
			 "'%s'",
			 text);
}

int sources_choose(const struct run_spec *spec,
		   const struct source_choice *tasks, struct arena *mem,
		   struct log_source **out, size_t *count, struct error *err)
{
	const struct topology *all = &spec->topology;
	enum task_type type = TASK_MASTER;
	struct log_source *found;
	size_t n = 0, i;

	if (sources_type(tasks->type, &type, err) < 0)
		return -1;
	found = arena_alloc(mem, all->count * sizeof(*found));
	for (i = 0; i < all->count; i++) {
		const struct task_place *task = &all->tasks[i];
		int listed = index_listed(tasks->indices, task->index, err);

		if (listed < 0)
			return -1;
		if (!listed || (tasks->type && task->type != type))
			continue;
		found[n++] = (struct log_source){
			.type = task_type_name(task->type),
			.index = task->index,
			.ordinal = (int)i,
			.host = spec_host_name(spec, i),
		};
	}
	if (!n)
		return error_set(err, ERROR_USAGE,
				 "the run has no such task; 'jobrun status %s' "
				 "lists its tasks",
				 all->job_id);
	allow_files(n);
	*out = found;
	*count = n;
	return 0;
}

const char *sources_host(const struct log_source *source, const char *folder,
			 struct arena *mem)
{
	struct task_record task = { .type = source->type,
				    .index = source->index };
	struct error ignored;

	if (task_file_read(folder, mem, &task, &ignored) == 0 && task.host)
		return task.host;
	return source->host;
}
