/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/commands.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/shard/shard_state.h"
#include "core/stream/stream_fifos.h"
#include "core/stream/stream_stores.h"
#include "providers/stores.h"

#define CONNECTIONS_MAX 64
#define CONSUMERS_MAX 256
#define CACHE_SIZE ((uint64_t)10 << 30)

struct cat_opts {
	const char *data;
	const char *read_ahead;
	const char *index;
	const char *split;
	const char *shuffle;
	const char *cache;
	uint64_t cache_size;
	const char *fifo;
	long consumers;
	const char *consumer;
	const char *state;
	long taken;
	long epoch;
	long epochs;
	long connections;
	long stall;
	long patience;
	uint64_t least_rate;
	bool list;
	bool raw;
};

/* clang-format off */
static const struct opt options[] = {
	{ 0, "data", OPT_STRING, offsetof(struct cat_opts, data), "NAME",
	  "read this task's share of a data set of its job" },
	{ 0, "index", OPT_STRING, offsetof(struct cat_opts, index), "FILE",
	  "the index (path or URL), to verify the shards" },
	{ 0, "shuffle", OPT_STRING, offsetof(struct cat_opts, shuffle), "SEED",
	  "shuffle each epoch; same SEED, same order" },
	{ 0, "split", OPT_STRING, offsetof(struct cat_opts, split), "SPLIT",
	  "read only the share of host=I/N,device=J/M" },
	{ 0, "epochs", OPT_NUMBER, offsetof(struct cat_opts, epochs), "N",
	  "how many epochs; 1 by default, 0 for endless" },
	{ 0, "epoch", OPT_NUMBER, offsetof(struct cat_opts, epoch), "N",
	  "the first epoch; $JOBRUN_EPOCH or 0 by default" },
	{ 0, "read-ahead", OPT_STRING, offsetof(struct cat_opts, read_ahead),
	  "SIZE", "memory for read-ahead; 64MiB by default" },
	{ 0, "connections", OPT_COUNT,
	  offsetof(struct cat_opts, connections), "N",
	  "connections at once, at most; 16 by default" },
	{ 0, "stall", OPT_DURATION, offsetof(struct cat_opts, stall),
	  "DURATION", "drop a connection after this much silence (30s)" },
	{ 0, "patience", OPT_DURATION, offsetof(struct cat_opts, patience),
	  "DURATION", "give up after this long without progress (5m)" },
	{ 0, "least-rate", OPT_SIZE, offsetof(struct cat_opts, least_rate),
	  "SIZE", "fewer bytes a second count as silence (1kB)" },
	{ 0, "cache", OPT_STRING, offsetof(struct cat_opts, cache), "DIR",
	  "cache downloads there" },
	{ 0, "cache-size", OPT_SIZE, offsetof(struct cat_opts, cache_size),
	  "SIZE", "size limit of the cache; 10GiB by default" },
	{ 0, "fifo", OPT_STRING, offsetof(struct cat_opts, fifo), "DIR",
	  "write to named fifos DIR/0 ..., one per consumer" },
	{ 0, "consumers", OPT_COUNT, offsetof(struct cat_opts, consumers),
	  "N", "how many consumers share the shards; 1 by default" },
	{ 0, "consumer", OPT_STRING, offsetof(struct cat_opts, consumer),
	  "I/N", "be consumer I of N (as --fifo has them)" },
	{ 0, "state", OPT_STRING, offsetof(struct cat_opts, state), "PATH",
	  "go on after what was taken; $JOBRUN_DATA_STATE" },
	{ 0, "taken", OPT_NUMBER, offsetof(struct cat_opts, taken), "N",
	  "only print the state after N samples of the stream" },
	{ 0, "raw", OPT_FLAG, offsetof(struct cat_opts, raw), NULL,
	  "write bytes as stored; join no tar files" },
	{ 0, "list", OPT_FLAG, offsetof(struct cat_opts, list), NULL,
	  "only list what would be read, one line each" },
	{ 0 },
};
/* clang-format on */

/* The state of the command. */
struct cat {
	struct app *app;
	struct arena *mem;
	struct http *http;
	struct stream_stores *stores;
	struct cache *cache; /* or NULL */
	struct stream_options how;
	long consumers;
	const char **urls; /* may be patterns */
	size_t url_count;
	struct shard_index index;
	struct shard_list list;
	struct shard_walk walk;
	struct shard_state state; /* what it leaves out */
};

static int read_consumers(struct cat *cat, const struct cat_opts *opts,
			  struct error *err)
{
	cat->consumers = opts->consumers;
	if (opts->consumers != 1 && !opts->fifo)
		return error_set(err, ERROR_USAGE,
				 "--consumers needs --fifo: standard output "
				 "has one consumer");
	if (opts->consumers > CONSUMERS_MAX)
		return error_set(err, ERROR_USAGE,
				 "--consumers: %d is the maximum",
				 CONSUMERS_MAX);
	if (opts->consumer && opts->fifo)
		return error_set(err, ERROR_USAGE,
				 "--consumer and --fifo exclude each other");
	if (opts->consumer &&
	    split_share_parse(opts->consumer, &cat->walk.consumer,
			      &cat->walk.consumers, err) < 0)
		return error_prefix(err, "--consumer");
	return 0;
}

/* Reads what is read, and in which order. */
static int read_walk(struct cat *cat, const struct cat_opts *opts,
		     struct error *err)
{
	const char *epoch = getenv("JOBRUN_EPOCH");
	long seed, number = opts->epoch < 0 ? 0 : opts->epoch;

	cat->walk.split = (struct split)SPLIT_ALL;
	if (opts->split && split_parse(opts->split, &cat->walk.split, err) < 0)
		return error_prefix(err, "--split");
	if (opts->shuffle) {
		if (number_parse(opts->shuffle, 0, INT64_MAX, &seed, err) < 0)
			return error_prefix(err, "--shuffle");
		cat->walk.shuffle = true;
		cat->walk.seed = (uint64_t)seed;
	}
	if (opts->epoch < 0 && epoch && *epoch &&
	    number_parse(epoch, 0, INT64_MAX, &number, err) < 0)
		return error_prefix(err, "JOBRUN_EPOCH");
	cat->walk.epoch = (uint64_t)number;
	cat->walk.epochs = opts->epochs ? (uint64_t)opts->epochs : UINT64_MAX;
	return 0;
}

static int read_options(struct cat *cat, const struct cat_opts *opts,
			struct error *err)
{
	if (size_parse(opts->read_ahead, &cat->how.read_ahead, err) < 0)
		return error_prefix(err, "--read-ahead");
	if (cat->how.read_ahead < STREAM_READ_AHEAD_MIN)
		return error_set(err, ERROR_USAGE,
				 "--read-ahead: %s is too little; give 1MiB or "
				 "more",
				 opts->read_ahead);
	if (opts->connections > CONNECTIONS_MAX)
		return error_set(err, ERROR_USAGE,
				 "--connections: %d is the maximum",
				 CONNECTIONS_MAX);
	if (read_consumers(cat, opts, err) < 0)
		return -1;
	if (cat->how.read_ahead / (uint64_t)opts->consumers <
	    STREAM_READ_AHEAD_MIN)
		return error_set(err, ERROR_USAGE,
				 "--read-ahead: %s is too little for %ld "
				 "consumers: each needs 1MiB",
				 opts->read_ahead, opts->consumers);
	cat->how.connections = opts->connections;
	cat->how.stall_timeout_s = opts->stall ? opts->stall : 1;
	cat->how.patience_ms = opts->patience * 1000;
	cat->how.least_rate = (long)opts->least_rate;
	cat->how.joins_tars = !opts->raw;
	cat->how.takes_encoded = opts->raw;
	return read_walk(cat, opts, err);
}

/* Opens the network only if needed, as its libraries take time to load. */
static int open_network(struct cat *cat, struct error *err)
{
	struct http_options http = {
		.trace = cat->app->trace_http,
		/* Each consumer has at least one connection, and one to
		 * spare. */
		.host_connections = cat->how.connections + 2 * cat->consumers,
	};

	if (cat->http)
		return 0;
	cat->http = http_new(&http, err);
	if (!cat->http)
		return -1;
	stream_stores_open(cat->stores, cat->http);
	return 0;
}

static int open_cache(struct cat *cat, const struct cat_opts *opts,
		      struct error *err)
{
	if (!opts->cache)
		return 0;
	cat->cache = cache_open(
		opts->cache, opts->cache_size ? opts->cache_size : CACHE_SIZE,
		err);
	cat->how.cache = cat->cache;
	return cat->cache ? 0 : error_prefix(err, "--cache");
}

/* Closes the cache.  A failure did no harm to this stream, but the next one
 * will be as slow. */
static void close_cache(struct cat *cat)
{
	struct error why;

	if (cat->cache && cache_trouble(cat->cache, &why))
		app_say(cat->app, "warning: not everything could be cached: %s",
			why.text);
	cache_close(cat->cache);
}

static bool is_remote(const struct cat *cat, const char *url)
{
	return stream_is_remote(url, cat->how.scheme);
}

static int one_object(void *arg, struct stream_object *out, struct error *err)
{
	const char **url = arg;

	(void)err;
	if (!*url)
		return 0;
	*out = (struct stream_object){ .url = *url,
				       .size = STREAM_SIZE_UNKNOWN };
	*url = NULL;
	return 1;
}

/* Reads the index, which is fetched like the shards. */
static int read_index(struct cat *cat, const char *url, struct error *err)
{
	const char *next = url;
	char *text = NULL;
	size_t len;
	int fd = -1;
	int ret = -1;

	if (!is_remote(cat, url))
		return shard_index_read(NULL, url, cat->mem, &cat->index, err);
	if (open_network(cat, err) < 0)
		return -1;
	fd = memfd_create("index", MFD_CLOEXEC);
	if (fd < 0) {
		error_errno(err, "cannot create a file in memory");
		goto out;
	}
	if (stream_run(cat->http, &cat->how, one_object, &next, fd, err) < 0)
		goto out;
	lseek(fd, 0, SEEK_SET);
	text = file_read_fd(fd, url, SHARD_INDEX_MAX, &len, err);
	if (text)
		ret = shard_index_parse(text, len, url, cat->mem, &cat->index,
					err);
out:
	free(text);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Finds the data set as 'jobrun' described it to the task; see
 * core/spec/spec_data.h. */
static json_t *find_set(const char *name, struct error *err)
{
	char *variable = mem_printf("JOBRUN_DATA_%s_SET", name), *at;
	const char *text;
	json_t *set;

	for (at = variable; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	text = getenv(variable);
	set = text ? json_read(text, strlen(text), variable, err) : NULL;
	if (!text)
		error_set(err, ERROR_USAGE,
			  "--data: %s is not set; this is not a task of a job "
			  "with jobrun.data.%s",
			  variable, name);
	free(variable);
	return set;
}

static int read_set_cache(struct cat *cat, const json_t *set,
			  struct cat_opts *opts, struct error *err)
{
	const char *cache = json_get_text(set, "cache", NULL);
	const char *size = json_get_text(set, "cacheSize", NULL);

	if (!cache || opts->cache)
		return 0;
	opts->cache = arena_strdup(cat->mem, cache);
	if (opts->cache_size || !size)
		return 0;
	return size_parse(size, &opts->cache_size, err);
}

static int read_set(struct cat *cat, struct cat_opts *opts, struct error *err)
{
	json_t *set = find_set(opts->data, err), *url;
	const char *split, *index;
	size_t i;

	if (!set)
		return -1;
	json_array_foreach(json_object_get(set, "urls"), i, url)
	{
		const char *text = json_string_value(url);

		cat->urls = mem_grow(cat->urls, i + 1, sizeof(*cat->urls));
		cat->urls[cat->url_count++] =
			arena_strdup(cat->mem, text ? text : "");
	}
	index = json_get_text(set, "index", NULL);
	if (index && !opts->index)
		opts->index = arena_strdup(cat->mem, index);
	split = json_get_text(set, "split", NULL);
	if (split && !opts->split)
		opts->split = arena_strdup(cat->mem, split);
	if (read_set_cache(cat, set, opts, err) < 0) {
		json_decref(set);
		return -1;
	}
	if (!opts->shuffle && json_is_true(json_object_get(set, "shuffle")))
		opts->shuffle = arena_printf(cat->mem, "%lld",
					     json_get_int(set, "seed", 0));
	json_decref(set);
	return 0;
}

/* Takes the URLs, and their description, from the arguments or the set. */
static int read_urls(struct cat *cat, struct cat_opts *opts, char **urls,
		     size_t count, struct error *err)
{
	size_t i;

	if (opts->data && count)
		return error_set(err, ERROR_USAGE,
				 "--data and URLs exclude each other");
	if (opts->data)
		return read_set(cat, opts, err);
	cat->urls = mem_grow(NULL, count + 1, sizeof(*cat->urls));
	for (i = 0; i < count; i++) {
		if (strstr(urls[i], "://") && !is_remote(cat, urls[i]))
			return error_set(err, ERROR_USAGE,
					 "cannot read URL '%s'; use gs://, "
					 "s3://, http:// or https://",
					 urls[i]);
		cat->urls[cat->url_count++] = urls[i];
	}
	return 0;
}

static int make_list(struct cat *cat, const struct cat_opts *opts,
		     struct error *err)
{
	size_t count = cat->url_count, i;

	if (!count && !opts->index)
		return error_set(err, ERROR_USAGE,
				 "'cat' needs a URL, or --index: see "
				 "'jobrun help cat'");
	if (opts->index && read_index(cat, opts->index, err) < 0)
		return -1;
	if (shard_list_make(cat->urls, count, opts->index ? &cat->index : NULL,
			    opts->index, cat->mem, &cat->list, err) < 0)
		return -1;
	cat->walk.list = &cat->list;
	for (i = 0; i < cat->list.count && !opts->list && opts->taken < 0; i++)
		if (is_remote(cat, cat->list.items[i].url))
			return open_network(cat, err) < 0 ||
					       open_cache(cat, opts, err) < 0
				       ? -1
				       : 0;
	return 0;
}

/* Leaves out the epochs before one. */
static void start_at(struct shard_walk *walk, uint64_t epoch)
{
	uint64_t past = epoch > walk->epoch ? epoch - walk->epoch : 0;

	walk->epoch += past;
	if (walk->epochs != UINT64_MAX)
		walk->epochs -= past < walk->epochs ? past : walk->epochs;
}

/* Reads what consumers have taken already. */
static int read_state(struct cat *cat, const struct cat_opts *opts,
		      struct error *err)
{
	const char *path = opts->state, *data = opts->data ? opts->data : "";
	const char *epoch = getenv("JOBRUN_EPOCH");
	int ret;

	if (!path && opts->data)
		path = getenv("JOBRUN_DATA_STATE");
	if ((!path || !*path) && opts->taken < 0)
		return 0;
	if (!cat->list.samples)
		return opts->state || opts->taken >= 0
			       ? error_set(err, ERROR_USAGE,
					   "--state and --taken need --index, "
					   "which says how many samples each "
					   "shard has")
			       : 0;
	if (!path || !*path)
		return 0;
	ret = shard_state_read(path, data, &cat->walk, cat->mem, &cat->state,
			       err);
	if (ret != 0)
		return ret < 0 ? -1 : 0;
	cat->walk.taken = &cat->state.taken;
	if (opts->epoch < 0 && !(epoch && *epoch))
		cat->walk.epoch = cat->state.epoch;
	start_at(&cat->walk, cat->state.epoch);
	return 0;
}

static int print_state(struct cat *cat, const struct cat_opts *opts,
		       struct error *err)
{
	struct buf text = { 0 };
	int ret = shard_state_print(&cat->walk, opts->data ? opts->data : "",
				    (uint64_t)opts->taken, &text, err);

	app_print(cat->app, &text);
	buf_done(&text);
	return ret;
}

static int print_list(struct cat *cat, struct error *err)
{
	struct stream_object object;
	struct buf text = { 0 };
	int ret;

	while ((ret = shard_walk_next(&cat->walk, &object, err)) > 0 &&
	       !cat->app->out_closed) {
		buf_printf(&text, "%s\n", object.url);
		if (text.len < BUFSIZ)
			continue;
		app_print(cat->app, &text);
		buf_clear(&text);
	}
	app_print(cat->app, &text);
	buf_done(&text);
	return ret;
}

/* The status after SIGPIPE as shells report it; nothing is printed. */
static const int reader_gone = 128 + SIGPIPE;

/* Ends the FIFOs; the first one that failed decides the exit status. */
static int end_fifos(struct cat *cat, struct stream_fifo *fifos, size_t count)
{
	int status = 0, failed = 0, code;
	size_t i;

	for (i = 0; i < count; i++) {
		if (fifos[i].end == STREAM_READER_GONE)
			status = reader_gone;
		if (fifos[i].end >= 0)
			continue;
		error_prefix(&fifos[i].err, "consumer %zu", i);
		code = app_fail(cat->app, &fifos[i].err);
		failed = failed ? failed : code;
	}
	return failed ? failed : status;
}

static int run_fifos(struct cat *cat, const struct cat_opts *opts)
{
	size_t count = (size_t)opts->consumers, i;
	struct stream_fifo *fifos = mem_alloc(count * sizeof(*fifos));
	struct shard_walk *walks = mem_alloc(count * sizeof(*walks));
	struct error err;
	int status;

	for (i = 0; i < count; i++) {
		walks[i] = cat->walk;
		walks[i].consumer = (long)i;
		walks[i].consumers = opts->consumers;
		fifos[i].next = shard_walk_next;
		fifos[i].arg = &walks[i];
	}
	status = stream_fifos_run(cat->http, &cat->how, opts->fifo, fifos,
				  count, &err) < 0
			 ? app_fail(cat->app, &err)
			 : end_fifos(cat, fifos, count);
	for (i = 0; i < count; i++)
		shard_walk_done(&walks[i]);
	free(walks);
	free(fifos);
	return status;
}

static int run(struct app *app, int argc, char **argv)
{
	struct cat_opts opts = {
		.read_ahead = "64MiB",
		.epoch = -1,
		.taken = -1,
		.epochs = 1,
		.consumers = 1,
		.connections = 16,
		.stall = 30,
		.patience = 300,
		.least_rate = 1000,
	};
	struct cat cat = { .app = app };
	struct error err;
	int status = 0;
	int first, ret;

	cat.mem = arena_new();
	cat.stores = stream_stores_new(stream_stores);
	cat.how.scheme = stream_stores_scheme(cat.stores);
	first = options_parse(app, &cmd_cat, argc, argv, &opts, 0, argc,
			      &status);
	if (first < 0)
		goto out;
	ret = read_urls(&cat, &opts, argv + first, (size_t)(argc - first),
			&err);
	if (ret == 0)
		ret = read_options(&cat, &opts, &err);
	if (ret == 0 && app->out_missing && !opts.fifo)
		ret = error_set(&err, ERROR_FAILED,
				"standard output is closed");
	if (ret == 0)
		ret = make_list(&cat, &opts, &err);
	if (ret == 0)
		ret = read_state(&cat, &opts, &err);
	if (ret == 0 && opts.taken >= 0)
		ret = print_state(&cat, &opts, &err);
	else if (ret == 0 && opts.list)
		ret = print_list(&cat, &err);
	else if (ret == 0 && opts.fifo)
		status = run_fifos(&cat, &opts);
	else if (ret == 0)
		ret = stream_run(cat.http, &cat.how, shard_walk_next, &cat.walk,
				 STDOUT_FILENO, &err);
	if (ret < 0)
		status = app_fail(app, &err);
	else if (ret == STREAM_READER_GONE)
		status = reader_gone;
out:
	shard_walk_done(&cat.walk);
	close_cache(&cat);
	stream_stores_free(cat.stores);
	free(cat.urls);
	http_free(cat.http);
	arena_free(cat.mem);
	return status;
}

const struct command cmd_cat = {
	.name = "cat",
	.group = GROUP_DATA,
	.args = "[--index FILE] [--shuffle SEED] [--split SPLIT] [--cache DIR] "
		"[--fifo DIR] [--state PATH] "
		"[--data NAME | URL...]",
	.summary = "stream shards, in order, to standard output",
	.help = "  jobrun cat 'gs://bucket/train-{000..639}.tar' | tar t\n\n"
		"URL is gs://, s3://, http(s)://, a path or '-'; braces stand "
		"for "
		"many.\n"
		"Without any, all shards of the index are read.  What comes "
		"over\n"
		"the network is read ahead on several connections, goes on "
		"where it\n"
		"broke, and is checked.  A stream that is not whole ends with "
		"a\n"
		"status that is not 0, and never where a tar file could end.\n",
	.options = options,
	.remote = true,
	.run = run,
};
