/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/shard_state.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/json.h"

#define STATE_MAX (64 << 20)
/* Consumers share each epoch, so that none is so many ahead of another. */
#define AHEAD_MAX 1000

/* What a line says of a consumer. */
struct state_line {
	struct split split;
	long consumer, consumers;
	uint64_t epoch, samples;
};

/* The lines of one set. */
struct state_lines {
	const char *path, *name;
	const struct shard_walk *walk;
	struct digest list;
	struct state_line *items;
	size_t count;
	json_t *first; /* the first line: the others must agree with it */
};

/* ---- places in an epoch ------------------------------------------------ */

static void digest_list(const struct shard_walk *walk, struct digest *out)
{
	const struct shard_list *list = walk->list;
	struct digester *digester = digester_new();
	char text[64];
	size_t i;

	for (i = 0; i < list->count; i++) {
		digester_add_text(digester, path_base(list->items[i].url));
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)list->samples[i]);
		digester_add_text(digester, text);
	}
	snprintf(text, sizeof(text), "%d %llu", walk->shuffle,
		 (unsigned long long)(walk->shuffle ? walk->seed : 0));
	digester_add_text(digester, text);
	digester_end(digester, out);
	digester_free(digester);
}

/* Returns new: the shards in the order of the epoch. */
static size_t *order_of(const struct shard_walk *walk, uint64_t epoch)
{
	size_t *order = mem_grow(NULL, walk->list->count, sizeof(*order));

	shard_walk_order(walk, epoch, order);
	return order;
}

/* "0-47,48:17" */
static json_t *places_json(const struct shard_walk *walk,
			   const struct shard_epoch *had)
{
	const uint64_t *all = walk->list->samples;
	size_t *order = order_of(walk, had->epoch), i, n;
	json_t *out = json_object();
	struct buf text = { 0 };

	for (i = 0; i < walk->list->count; i += n) {
		uint64_t samples = had->samples[order[i]];

		for (n = 0; i + n < walk->list->count &&
			    had->samples[order[i + n]] >= all[order[i + n]];)
			n++;
		if (samples && text.len)
			buf_putc(&text, ',');
		if (n > 1)
			buf_printf(&text, "%zu-%zu", i, i + n - 1);
		else if (n)
			buf_printf(&text, "%zu", i);
		else if (samples)
			buf_printf(&text, "%zu:%llu", i,
				   (unsigned long long)samples);
		n += !n;
	}
	json_put_int(out, "epoch", (long long)had->epoch);
	json_put_text(out, "taken", buf_text(&text));
	buf_done(&text);
	free(order);
	return out;
}

/* Reads a number of digits, and moves on behind it. */
static bool read_place(const char **at, uint64_t max, uint64_t *out)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*out = strtoull(*at, &end, 10);
	*at = end;
	return !errno && *out <= max;
}

static bool read_places(const struct shard_walk *walk, const char *at,
			struct shard_epoch *out)
{
	const uint64_t *all = walk->list->samples;
	size_t *order = order_of(walk, out->epoch);
	uint64_t last = walk->list->count - 1, i, to, some;
	bool good = true;

	while (good && *at) {
		good = read_place(&at, last, &i);
		to = i;
		some = UINT64_MAX;
		if (good && *at == '-')
			at++, good = read_place(&at, last, &to);
		else if (good && *at == ':')
			at++, good = read_place(&at, INT64_MAX, &some);
		good = good && (!*at || *at == ',');
		at += *at == ',';
		for (; good && i <= to; i++)
			out->samples[order[i]] =
				some < all[order[i]] ? some : all[order[i]];
	}
	free(order);
	return good;
}

/* ---- reading ----------------------------------------------------------- */

static int refuse(const struct state_lines *lines, const char *why,
		  struct error *err)
{
	return error_set(err, ERROR_INVALID, "the state '%.200s': %s",
			 lines->path, why);
}

/* Whether both lines are of consumers of one walk. */
static bool agree(const json_t *a, const json_t *b)
{
	static const char *const keys[] = { "start",   "base",      "hosts",
					    "devices", "consumers", "uneven" };
	size_t i;

	for (i = 0; i < COUNT(keys); i++)
		if (!json_equal(json_object_get(a, keys[i]),
				json_object_get(b, keys[i])))
			return false;
	return true;
}

static bool is_share(long at, long of)
{
	return of > 0 && of <= SPLIT_MAX && at >= 0 && at < of;
}

static bool read_line(const json_t *json, struct state_line *out)
{
	const char *uneven = json_get_text(json, "uneven", "");
	long long epoch = json_get_int(json, "epoch", -1);
	long long samples = json_get_int(json, "samples", -1);
	struct split *split = &out->split;

	*out = (struct state_line){
		.split = { .host = (long)json_get_int(json, "host", -1),
			   .hosts = (long)json_get_int(json, "hosts", -1),
			   .device = (long)json_get_int(json, "device", -1),
			   .devices = (long)json_get_int(json, "devices", -1) },
		.consumer = (long)json_get_int(json, "consumer", -1),
		.consumers = (long)json_get_int(json, "consumers", -1),
		.epoch = (uint64_t)epoch,
		.samples = (uint64_t)samples,
	};
	while (split_uneven_names[split->uneven] &&
	       strcmp(split_uneven_names[split->uneven], uneven) != 0)
		split->uneven++;
	return split_uneven_names[split->uneven] &&
	       is_share(split->host, split->hosts) &&
	       is_share(split->device, split->devices) &&
	       is_share(out->consumer, out->consumers) && samples >= 0 &&
	       epoch >= json_get_int(json, "start", INT64_MAX);
}

static int take_line(struct state_lines *lines, json_t *json, struct error *err)
{
	struct state_line line;

	if (strcmp(json_get_text(json, "data", ""), lines->name) != 0)
		return 0;
	if (strcmp(json_get_text(json, "list", ""), lines->list.hex) != 0)
		return refuse(lines, "it is of other shards, or another order",
			      err);
	if (!read_line(json, &line))
		return refuse(lines, "it is broken", err);
	if (lines->first && !agree(lines->first, json))
		return refuse(lines, "its lines are of different runs", err);
	if (!lines->first)
		lines->first = json_incref(json);
	lines->items =
		mem_grow(lines->items, lines->count + 1, sizeof(*lines->items));
	lines->items[lines->count++] = line;
	return 0;
}

static int take_file(struct state_lines *lines, const char *path,
		     struct error *err)
{
	size_t len, n;
	char *text = file_read(path, STATE_MAX, &len, err), *at;
	json_t *json;
	int ret = text ? 0 : -1;

	for (at = text; ret == 0 && *at; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		json = n ? json_read(at, n, path, err) : json_object();
		ret = json ? take_line(lines, json, err) : -1;
		json_decref(json);
	}
	free(text);
	return ret;
}

static int take_folder(struct state_lines *lines, struct error *err)
{
	DIR *folder = opendir(lines->path);
	struct dirent *item;
	int ret = 0;

	if (!folder)
		return error_errno(err, "cannot read '%s'", lines->path);
	while (ret == 0 && (item = readdir(folder))) {
		char *path = path_join(lines->path, item->d_name);

		if (item->d_name[0] != '.')
			ret = take_file(lines, path, err);
		free(path);
	}
	closedir(folder);
	return ret;
}

static int read_base(const struct state_lines *lines, struct arena *mem,
		     struct shard_taken *out, struct error *err)
{
	const json_t *list = json_object_get(lines->first, "base"), *one;
	size_t i;

	if (json_array_size(list) > 2 * AHEAD_MAX)
		return refuse(lines, "it is broken", err);
	json_array_foreach(list, i, one)
	{
		long long epoch = json_get_int(one, "epoch", -1);
		struct shard_epoch *had;

		had = shard_taken_add(out, (uint64_t)epoch,
				      lines->walk->list->count, mem);
		if (epoch < 0 ||
		    !read_places(lines->walk, json_get_text(one, "taken", "?"),
				 had))
			return refuse(lines, "it is broken", err);
	}
	return 0;
}

/* ---- joining the lines ------------------------------------------------- */

/* The walk of a line's consumer from that epoch on. */
static struct shard_walk walk_of(const struct state_lines *lines,
				 const struct state_line *line,
				 const struct shard_taken *base, uint64_t from)
{
	struct shard_walk walk = {
		.list = lines->walk->list,
		.split = line->split,
		.shuffle = lines->walk->shuffle,
		.seed = lines->walk->seed,
		.epoch = from,
		.epochs = line->epoch - from + 1,
		.consumer = line->consumer,
		.consumers = line->consumers,
		.taken = base,
	};

	return walk;
}

/* Adds what the consumer has taken, in the order of its walk. */
static int add_line(const struct state_lines *lines,
		    const struct state_line *line,
		    const struct shard_taken *base, uint64_t from,
		    struct arena *mem, struct shard_taken *out,
		    struct error *err)
{
	const struct shard_list *list = lines->walk->list;
	struct shard_walk walk = walk_of(lines, line, base, from);
	struct stream_object object;
	uint64_t left = line->samples;
	int ret;

	while ((ret = shard_walk_next(&walk, &object, err)) > 0) {
		uint64_t epoch = walk.epoch - 1;
		size_t one = shard_walk_last(&walk);
		uint64_t some = list->samples[one] - object.skip;
		struct shard_epoch *to =
			shard_taken_add(out, epoch, list->count, mem);

		if (epoch == line->epoch && some > left)
			some = left;
		if (epoch == line->epoch)
			left -= some;
		/* Another one may have taken more of the same shard. */
		if (object.skip + some > to->samples[one])
			to->samples[one] = object.skip + some;
	}
	shard_walk_done(&walk);
	if (ret == 0 && left)
		return refuse(lines, "it has more samples than there are", err);
	return ret;
}

/* Whether the consumer has a share in any epoch. */
static int has_share(const struct state_lines *lines,
		     const struct state_line *line,
		     const struct shard_taken *base, struct error *err)
{
	struct shard_walk walk = walk_of(lines, line, base, line->epoch);
	struct stream_object unused;
	int ret;

	walk.epochs = UINT64_MAX;
	ret = shard_walk_next(&walk, &unused, err);
	shard_walk_done(&walk);
	return ret;
}

static size_t number_of(const struct state_line *line)
{
	const struct split *split = &line->split;

	return ((size_t)split->host * (size_t)split->devices +
		(size_t)split->device) *
		       (size_t)line->consumers +
	       (size_t)line->consumer;
}

/* A consumer without a line may have taken anything. */
static int check_consumers(const struct state_lines *lines,
			   const struct shard_taken *base, struct error *err)
{
	struct state_line one = lines->items[0];
	size_t count = (size_t)one.split.hosts * (size_t)one.split.devices *
		       (size_t)one.consumers;
	bool *seen;
	size_t i;
	int ret = 0;

	if (count > SPLIT_MAX)
		return refuse(lines, "it is broken", err);
	seen = mem_alloc(count * sizeof(*seen));
	for (i = 0; i < lines->count; i++)
		seen[number_of(&lines->items[i])] = true;
	one.epoch = (uint64_t)json_get_int(lines->first, "start", 0);
	for (i = 0; i < count && ret == 0; i++) {
		one.consumer = (long)i % one.consumers;
		one.split.device = (long)i / one.consumers % one.split.devices;
		one.split.host = (long)i / one.consumers / one.split.devices;
		if (!seen[i])
			ret = has_share(lines, &one, base, err);
		if (ret > 0)
			ret = error_set(err, ERROR_INVALID,
					"the state '%.200s' has no line of "
					"host=%ld/%ld,device=%ld/%ld, consumer "
					"%ld/%ld",
					lines->path, one.split.host,
					one.split.hosts, one.split.device,
					one.split.devices, one.consumer,
					one.consumers);
	}
	free(seen);
	return ret;
}

/* Whether nothing of the epoch is left. */
static bool is_over(const struct state_lines *lines,
		    const struct shard_epoch *had)
{
	const struct shard_list *list = lines->walk->list;
	size_t i;

	for (i = 0; had && i < list->count; i++)
		if (had->samples[i] < list->samples[i])
			return false;
	return had != NULL;
}

/* Leaves out consumers without a share: these stay where they began. */
static int drop_idle(struct state_lines *lines, const struct shard_taken *base,
		     struct error *err)
{
	size_t left = 0, i;
	int ret;

	for (i = 0; i < lines->count; i++) {
		const struct state_line *line = &lines->items[i];

		ret = has_share(lines, line, base, err);
		if (ret < 0)
			return -1;
		if (ret > 0 || line->samples)
			lines->items[left++] = *line;
	}
	lines->count = left;
	return 0;
}

/* Finds the epoch in which the last consumer is. */
static int find_epoch(const struct state_lines *lines, uint64_t *out,
		      struct error *err)
{
	uint64_t least = UINT64_MAX, most = 0;
	size_t i;

	for (i = 0; i < lines->count; i++) {
		uint64_t epoch = lines->items[i].epoch;

		least = epoch < least ? epoch : least;
		most = epoch > most ? epoch : most;
	}
	if (!lines->count || most - least > AHEAD_MAX)
		return refuse(lines, "it is broken", err);
	*out = least;
	return 0;
}

static int join(struct state_lines *lines, struct arena *mem,
		struct shard_state *out, struct error *err)
{
	struct shard_taken base = { 0 };
	size_t shards = lines->walk->list->count, i;
	int ret = read_base(lines, mem, &base, err);

	if (ret == 0)
		ret = check_consumers(lines, &base, err);
	if (ret == 0)
		ret = drop_idle(lines, &base, err);
	if (ret == 0)
		ret = find_epoch(lines, &out->epoch, err);
	if (ret < 0)
		return -1;
	for (i = 0; i < base.count; i++)
		if (base.epochs[i].epoch >= out->epoch)
			memcpy(shard_taken_add(&out->taken,
					       base.epochs[i].epoch, shards,
					       mem)
				       ->samples,
			       base.epochs[i].samples,
			       shards * sizeof(uint64_t));
	for (i = 0; i < lines->count && ret == 0; i++)
		ret = add_line(lines, &lines->items[i], &base, out->epoch, mem,
			       &out->taken, err);
	while (ret == 0 &&
	       is_over(lines, shard_taken_epoch(&out->taken, out->epoch)))
		out->epoch++;
	return ret;
}

int shard_state_read(const char *path, const char *name,
		     const struct shard_walk *walk, struct arena *mem,
		     struct shard_state *out, struct error *err)
{
	struct state_lines lines = { .path = path, .name = name, .walk = walk };
	struct stat st;
	int ret;

	*out = (struct shard_state){ 0 };
	if (stat(path, &st) < 0)
		return errno == ENOENT
			       ? 1
			       : error_errno(err, "cannot read '%s'", path);
	digest_list(walk, &lines.list);
	ret = S_ISDIR(st.st_mode) ? take_folder(&lines, err)
				  : take_file(&lines, path, err);
	if (ret == 0)
		ret = lines.count ? join(&lines, mem, out, err) : 1;
	json_decref(lines.first);
	free(lines.items);
	return ret;
}

/* ---- writing ----------------------------------------------------------- */

/* Finds where a consumer is after so many samples. */
static int find_place(const struct shard_walk *from, uint64_t samples,
		      struct state_line *out, struct error *err)
{
	struct shard_walk walk = *from;
	struct stream_object object;
	uint64_t left = samples, some = 0;
	int ret;

	walk.epochs = UINT64_MAX;
	out->epoch = walk.epoch;
	out->samples = 0;
	while ((ret = shard_walk_next(&walk, &object, err)) > 0) {
		if (walk.epoch - 1 != out->epoch)
			out->samples = 0;
		/* It has passed epochs of which it has no share. */
		out->epoch = walk.epoch - 1;
		if (!left)
			break;
		some = walk.list->samples[shard_walk_last(&walk)] - object.skip;
		out->samples += some < left ? some : left;
		if (some > left)
			break;
		left -= some;
		if (walk.at == walk.length) {
			out->epoch++;
			out->samples = 0;
		}
	}
	shard_walk_done(&walk);
	if (ret == 0 && left)
		return error_set(err, ERROR_USAGE,
				 "this consumer has no samples");
	return ret < 0 ? -1 : 0;
}

int shard_state_print(const struct shard_walk *walk, const char *name,
		      uint64_t samples, struct buf *out, struct error *err)
{
	const struct split *split = &walk->split;
	json_t *line = json_object(), *base = json_array();
	struct state_line place = { 0 };
	struct digest list;
	size_t i;
	char *text;
	int ret = find_place(walk, samples, &place, err);

	digest_list(walk, &list);
	for (i = 0; ret == 0 && walk->taken && i < walk->taken->count; i++)
		if (walk->taken->epochs[i].epoch >= walk->epoch)
			json_array_append_new(
				base,
				places_json(walk, &walk->taken->epochs[i]));
	json_put_text(line, "data", name);
	json_put_text(line, "list", list.hex);
	json_put_int(line, "start", (long long)walk->epoch);
	json_put(line, "base", base);
	json_put_int(line, "host", split->host);
	json_put_int(line, "hosts", split->hosts);
	json_put_int(line, "device", split->device);
	json_put_int(line, "devices", split->devices);
	json_put_int(line, "consumer", walk->consumer);
	json_put_int(line, "consumers", walk->consumers ? walk->consumers : 1);
	json_put_text(line, "uneven", split_uneven_names[split->uneven]);
	json_put_int(line, "epoch", (long long)place.epoch);
	json_put_int(line, "samples", (long long)place.samples);
	text = json_canonical(line);
	if (ret == 0)
		buf_printf(out, "%s\n", text);
	free(text);
	json_decref(line);
	return ret;
}
