/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/spec_data.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/shard/shard_list.h"
#include "core/spec/spec_tables.h"
#include "core/topology/contract.h"

/* The characters that a shell does not treat specially. */
#define PATH_PLAIN                                                             \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+"

/* Returns a URL unchanged; a path is relative to the job file's folder. */
static const char *place_of(const struct job *job, const char *url,
			    struct arena *mem)
{
	const char *out;
	char *path;

	if (!url || strstr(url, "://"))
		return url;
	path = path_absolute(job_path(job, url));
	out = arena_strdup(mem, path);
	free(path);
	return out;
}

void spec_data_from_job(const struct job *job, struct arena *mem,
			struct run_data *out)
{
	const struct messages *from = &job->jobrun.data;
	const struct data_set *given = from->items;
	size_t i, j;

	*out = (struct run_data){ .count = from->count };
	out->sets = arena_alloc(mem, from->count * sizeof(*out->sets));
	for (i = 0; i < from->count; i++) {
		struct data_set *set = &out->sets[i];

		*set = given[i];
		set->exact = set->uneven == SPLIT_EXACT;
		if (set->index)
			set->root = job_root(job, job_path(job, set->index));
		set->index = place_of(job, set->index, mem);
		set->urls.items = arena_alloc(
			mem, set->urls.count * sizeof(*set->urls.items));
		for (j = 0; j < set->urls.count; j++)
			set->urls.items[j] =
				place_of(job, given[i].urls.items[j], mem);
	}
}

json_t *spec_data_json(const struct run_data *from)
{
	json_t *all = message_json(&spec_data_message, from, MESSAGE_PLAIN);
	json_t *out = json_incref(json_object_get(all, "data"));

	json_decref(all);
	return out;
}

static bool is_name(const char *text)
{
	for (; isalnum((unsigned char)*text) || *text == '_'; text++)
		;
	return !*text;
}

int spec_data_parse(const char *text, struct arena *mem, struct run_data *out,
		    struct error *err)
{
	struct error why;
	json_t *sets = json_read(text, strlen(text), "data sets", &why), *set;
	json_t *all = json_pack("{so?}", "data", sets);
	const char *name;
	int ret = -1;

	*out = (struct run_data){ 0 };
	if (!sets ||
	    message_read(&spec_data_message, all, mem, out, &why) < 0) {
		error_set(err, ERROR_INVALID, "%s", why.text);
		goto out;
	}
	if (!out->count) {
		error_set(err, ERROR_INVALID,
			  "data sets: no object that has any");
		goto out;
	}
	json_object_foreach(sets, name, set)
	{
		if (*name && is_name(name))
			continue;
		error_set(err, ERROR_INVALID,
			  "'%s' is not the name of a data "
			  "set",
			  name);
		goto out;
	}
	ret = 0;
out:
	json_decref(all);
	return ret;
}

/* Sets the share of a task; parameter servers and evaluators get everything. */
static void spec_data_split(const struct data_set *set,
			    const struct topology *all, size_t ordinal,
			    struct split *out)
{
	const struct task_place *self = &all->tasks[ordinal];
	long world = (long)topology_world_size(all), hosts;

	*out = (struct split)SPLIT_ALL;
	out->uneven = set->exact ? SPLIT_EXACT : set->uneven;
	if (!contract_is_ranked(all, ordinal))
		return;
	hosts = self->local_world ? world / self->local_world : 1;
	if (set->split_by_host) {
		out->host = self->group;
		out->hosts = hosts;
	}
	if (set->split_by_device) {
		out->device = self->local_rank;
		out->devices = self->local_world;
	}
	/* If hosts have different numbers of tasks, every task takes one share
	 * of the whole. */
	if (hosts * self->local_world != world || self->group >= hosts) {
		out->host = 0;
		out->hosts = 1;
		out->device = (long)ordinal;
		out->devices = world;
	}
}

/* Lists the existing shards; `samples` is NULL if no index can be read here. */
static int list_shards(const struct data_set *set, struct arena *mem,
		       struct shard_list *out, struct error *err)
{
	struct shard_index *index = NULL;

	if (set->index && !strstr(set->index, "://")) {
		index = arena_alloc(mem, sizeof(*index));
		if (shard_index_read(set->root, set->index, mem, index, err) <
		    0)
			return -1;
	}
	return shard_list_make(set->urls.items, set->urls.count, index,
			       set->index, mem, out, err);
}

static void set_variable(struct environment *env, const struct data_set *set,
			 const char *suffix, const char *value)
{
	char *name = mem_printf("JOBRUN_DATA_%s%s", set->name, suffix), *at;

	for (at = name; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	environment_set(env, name, value);
	free(name);
}

/* Adds the text quoted as one word of a shell. */
static void add_word(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(out, "'\\'");
		buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

/* Sets the URLs of the first epoch's share, in its order. */
static int tell_urls(const struct data_set *set, const struct shard_list *list,
		     const struct split *split, const char *program,
		     struct environment *env, struct error *err)
{
	struct shard_walk walk = { .list = list,
				   .split = *split,
				   .shuffle = set->shuffle,
				   .seed = (uint64_t)set->seed,
				   .epochs = 1 };
	struct buf urls = { 0 }, pipes = { 0 };
	struct stream_object one;
	int ret;

	while ((ret = shard_walk_next(&walk, &one, err)) > 0 &&
	       pipes.len <= SPEC_DATA_LIST_MAX) {
		buf_printf(&urls, "%s%s", urls.len ? "::" : "", one.url);
		buf_printf(&pipes, "%spipe:%s cat ", pipes.len ? "::" : "",
			   program);
		if (set->cache) {
			buf_puts(&pipes, "--cache ");
			add_word(&pipes, set->cache);
			buf_puts(&pipes, " --cache-size ");
			add_word(&pipes, set->cache_size);
			buf_putc(&pipes, ' ');
		}
		add_word(&pipes, one.url);
	}
	if (ret == 0 && pipes.len <= SPEC_DATA_LIST_MAX) {
		set_variable(env, set, "", buf_text(&urls));
		set_variable(env, set, "_PIPES", buf_text(&pipes));
	}
	shard_walk_done(&walk);
	buf_done(&urls);
	buf_done(&pipes);
	return ret < 0 ? -1 : 0;
}

static int tell(const struct data_set *set, const struct split *split,
		const char *program, struct arena *mem, struct environment *env,
		struct error *err)
{
	struct shard_list list;
	json_t *json;
	char *text;
	int ret;

	if (list_shards(set, mem, &list, err) < 0)
		return error_prefix(err, "the data set '%s'", set->name);
	json = message_json(&spec_set_message, set, MESSAGE_PLAIN);
	json_object_del(json, "splitByHost");
	json_object_del(json, "splitByDevice");
	text = mem_printf("host=%ld/%ld,device=%ld/%ld,uneven=%s", split->host,
			  split->hosts, split->device, split->devices,
			  split_uneven_names[split->uneven]);
	json_put_text(json, "split", text);
	free(text);
	text = json_canonical(json);
	set_variable(env, set, "_SET", text);
	free(text);
	json_decref(json);
	text = mem_printf("%s cat --data %s", program, set->name);
	set_variable(env, set, "_STREAM", text);
	free(text);
	ret = tell_urls(set, &list, split, program, env, err);
	text = mem_printf("%zu", split_length(split, list.count));
	set_variable(env, set, "_SHARDS", text);
	free(text);
	/* Each epoch has another number. */
	if (split->uneven == SPLIT_EXACT && set->shuffle)
		return ret;
	if (!list.samples || ret < 0)
		return ret;
	text = mem_printf("%llu", (unsigned long long)split_samples(
					  split, list.samples, list.count));
	set_variable(env, set, "_SAMPLES", text);
	free(text);
	return ret;
}

int spec_data_environment(const struct run_data *data, const char *program,
			  const struct topology *all, size_t ordinal,
			  struct environment *env, struct error *err)
{
	struct arena *mem = arena_new();
	struct split split;
	int ret = 0;
	size_t i;

	if (program[strspn(program, PATH_PLAIN)])
		program = "jobrun";
	for (i = 0; i < data->count && ret == 0; i++) {
		spec_data_split(&data->sets[i], all, ordinal, &split);
		ret = tell(&data->sets[i], &split, program, mem, env, err);
	}
	arena_free(mem);
	return ret;
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void add_samples(const struct shard_list *list,
			const struct split *split, struct buf *out)
{
	uint64_t all = 0, each;
	size_t i;

	for (i = 0; i < list->count; i++)
		all += list->samples[i];
	if (split->uneven == SPLIT_EXACT) {
		buf_printf(out, ", %llu samples", (unsigned long long)all);
		return;
	}
	each = split_samples(split, list->samples, list->count);
	buf_printf(out, ", %llu of %llu samples", (unsigned long long)each,
		   (unsigned long long)all);
}

/* Adds how many shards each process reads. */
static void add_shares(const struct split *split, size_t count, struct buf *out)
{
	struct split last = *split;
	size_t least, most;

	last.host = last.hosts - 1;
	last.device = last.devices - 1;
	least = split_length(&last, count);
	last.host = last.device = 0;
	most = split_length(&last, count);
	buf_printf(out, " dealt to %ld, ", split->hosts * split->devices);
	if (least < most)
		buf_printf(out, "%zu or ", least);
	buf_printf(out, "%zu each", most);
}

char *spec_data_text(const struct data_set *set, const struct topology *all)
{
	struct arena *mem = arena_new();
	struct shard_list list = { 0 };
	struct buf out = { 0 };
	struct split split;
	struct error err;
	size_t twice, dropped;

	spec_data_split(set, all, 0, &split);
	if (list_shards(set, mem, &list, &err) < 0) {
		buf_printf(&out, "not there yet: %s", err.text);
		goto out;
	}
	twice = split_repeated(&split, list.count);
	dropped = split_dropped(&split, list.count);
	buf_printf(&out, "%zu shard%s", list.count, plural(list.count));
	if (split.hosts * split.devices > 1)
		add_shares(&split, list.count, &out);
	if (list.samples)
		add_samples(&list, &split, &out);
	if (twice)
		buf_printf(&out, "; %zu shard%s come%s twice", twice,
			   plural(twice), twice == 1 ? "s" : "");
	if (dropped)
		buf_printf(&out, "; %zu shard%s %s left out%s", dropped,
			   plural(dropped), dropped == 1 ? "is" : "are",
			   set->shuffle ? " of each epoch" : "");
	if (set->shuffle)
		buf_printf(&out, "; another order each epoch, by seed %ld",
			   set->seed);
out:
	arena_free(mem);
	return buf_take(&out);
}
