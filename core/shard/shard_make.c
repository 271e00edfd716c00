/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/shard_make.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/shard/read_ahead.h"
#include "core/shard/shard_writer.h"

struct shard_making {
	const struct samples *all;
	const struct shard_plan *plan;
	struct shard_settings settings;
	struct shard_target *target;
	struct arena *mem;
	struct shard_index index; /* of all shards of the plan; in `mem` */
	struct shard_counters counters;
	_Atomic size_t next; /* the next shard to make */
	_Atomic size_t done, kept;
	_Atomic uint64_t kept_samples;
	struct read_ahead *ahead;
	atomic_uint next_lane; /* the first lane without a thread */
	pthread_t thread;      /* make_all() */
	int ended;             /* an eventfd */
	pthread_mutex_t lock;
	bool failed;
	struct error first; /* why */
};

/* The clock of file times, which lags some milliseconds behind. */
static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- one shard --------------------------------------------------------- */

/* Whether a file's contents may have changed since that time.  Programs can set
 * a file's mtime, but not its ctime. */
static bool changed_since(const struct sample_source *source,
			  const struct sample_file *file, int64_t begun_ns)
{
	struct stat st;
	int ret = 0;

	if (source->kind == SOURCE_FOLDER)
		ret = fstatat(source->folder, file->name, &st, 0);
	else if (source->kind == SOURCE_TAR && !strstr(source->path, "://"))
		ret = stat(source->path, &st);
	else
		return false;
	return ret < 0 ||
	       (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec >=
		       begun_ns;
}

static bool sources_changed(const struct shard_making *making, size_t shard,
			    int64_t begun_ns)
{
	const struct samples *all = making->all;
	size_t i, j;

	for (i = making->plan->first[shard]; i < making->plan->first[shard + 1];
	     i++) {
		const struct sample *sample = &all->items[i];

		for (j = sample->first; j < sample->first + sample->count;
		     j++) {
			const struct sample_file *file = &all->files[j];

			if (changed_since(&all->sources[file->source], file,
					  begun_ns))
				return true;
		}
	}
	return false;
}

static bool keep(struct shard_making *making, size_t shard,
		 const struct shard_want *want)
{
	const struct shard_target_calls *calls = making->target->calls;
	struct shard_entry entry;
	int64_t begun_ns;

	if (!calls->has || !calls->has(making->target, want, &entry, &begun_ns))
		return false;
	/* A shard made without SHA-256 lacks it. */
	if (making->settings.sha256 != (entry.sha256.hex[0] != '\0') ||
	    sources_changed(making, shard, begun_ns))
		return false;
	entry.name = want->name;
	making->index.shards[shard] = entry;
	atomic_fetch_add(&making->kept, 1);
	atomic_fetch_add(&making->kept_samples, entry.samples);
	return true;
}

static int make_shard(struct shard_making *making, struct shard_writer *writer,
		      size_t shard, struct error *err)
{
	const struct shard_target_calls *calls = making->target->calls;
	struct shard_entry *entry = &making->index.shards[shard];
	size_t first = making->plan->first[shard];
	struct shard_want want = { .name = entry->name };
	int64_t begun_ns = now_ns();
	int fd, ret;

	shard_plan_digest(making->all, making->plan, shard, &want.plan);
	if (keep(making, shard, &want))
		return 0;
	fd = calls->begin(making->target, &want, err);
	if (fd < 0)
		return -1;
	ret = shard_writer_write(writer, first,
				 making->plan->first[shard + 1] - first, fd,
				 entry->name, entry, err);
	if (ret == 0)
		ret = calls->commit(making->target, &want, fd, entry, begun_ns,
				    err);
	close(fd);
	return ret;
}

/* ---- threads ----------------------------------------------------------- */

static void fail(struct shard_making *making, const struct error *err)
{
	pthread_mutex_lock(&making->lock);
	if (!making->failed)
		making->first = *err;
	making->failed = true;
	pthread_mutex_unlock(&making->lock);
	atomic_store(&making->counters.stop, true);
}

static void *work(void *arg)
{
	struct shard_making *making = arg;
	struct shard_writer *writer = shard_writer_new(
		making->all, making->settings.sha256, &making->counters,
		read_ahead_lane(making->ahead,
				atomic_fetch_add(&making->next_lane, 1)));
	struct error err;

	while (!atomic_load(&making->counters.stop)) {
		size_t shard = atomic_fetch_add(&making->next, 1);

		if (shard >= making->plan->count)
			break;
		if (make_shard(making, writer, shard, &err) < 0)
			fail(making, &err);
		else
			atomic_fetch_add(&making->done, 1);
	}
	shard_writer_free(writer);
	return NULL;
}

static int start_thread(pthread_t *thread, void *(*call)(void *),
			struct shard_making *making, struct error *err)
{
	errno = pthread_create(thread, NULL, call, making);
	return errno ? error_errno(err, "cannot start a thread") : 0;
}

static void make_shards(struct shard_making *making)
{
	unsigned count = making->settings.threads, started = 0;
	pthread_t *threads;
	struct error err;

	if (count > making->plan->count)
		count = (unsigned)making->plan->count;
	making->ahead = read_ahead_new(making->all, count);
	threads = mem_alloc(count * sizeof(*threads));
	while (started < count &&
	       start_thread(&threads[started], work, making, &err) == 0)
		started++;
	if (started < count)
		fail(making, &err);
	while (started)
		pthread_join(threads[--started], NULL);
	free(threads);
	read_ahead_free(making->ahead);
}

/* Waits here for other processes, so that the caller stays free to stop us. */
static void *make_all(void *arg)
{
	struct shard_making *making = arg;
	const struct shard_target_calls *calls = making->target->calls;
	struct shard_index *index = &making->index;
	const uint64_t one = 1;
	struct error err;

	if (calls->prepare(making->target, making->settings.prefix, &err) < 0)
		fail(making, &err);
	else
		make_shards(making);
	if (!atomic_load(&making->counters.stop)) {
		if (shard_index_sum(index) < 0) {
			error_set(&err, ERROR_FAILED,
				  "that is too much to be counted");
			fail(making, &err);
		} else if (calls->finish(making->target, index, &err) < 0) {
			fail(making, &err);
		}
	}
	if (write(making->ended, &one, sizeof(one)) < 0)
		abort(); /* an eventfd always accepts a 1 */
	return NULL;
}

static void free_making(struct shard_making *making)
{
	pthread_mutex_destroy(&making->lock);
	if (making->ended >= 0)
		close(making->ended);
	arena_free(making->mem);
	free(making);
}

struct shard_making *shard_make_start(const struct samples *all,
				      const struct shard_plan *plan,
				      const struct shard_settings *settings,
				      struct shard_target *target,
				      struct error *err)
{
	struct shard_making *making = mem_alloc(sizeof(*making));
	struct shard_index *index = &making->index;
	size_t i;

	making->all = all;
	making->plan = plan;
	making->settings = *settings;
	making->target = target;
	making->mem = arena_new();
	pthread_mutex_init(&making->lock, NULL);
	index->count = plan->count;
	index->shards =
		arena_alloc(making->mem, plan->count * sizeof(*index->shards));
	for (i = 0; i < plan->count; i++)
		index->shards[i].name = arena_printf(
			making->mem, "%s-%06zu.tar", settings->prefix, i);
	index->classes = all->classes;
	index->class_count = all->class_count;
	making->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (making->ended < 0)
		error_errno(err, "cannot create an eventfd");
	else if (start_thread(&making->thread, make_all, making, err) == 0)
		return making;
	free_making(making);
	return NULL;
}

int shard_make_fd(const struct shard_making *making)
{
	return making->ended;
}

void shard_make_progress(const struct shard_making *making,
			 struct shard_progress *out)
{
	*out = (struct shard_progress){
		.shards = atomic_load(&making->done),
		.kept = atomic_load(&making->kept),
		.samples = atomic_load(&making->counters.samples),
		.bytes = atomic_load(&making->counters.bytes),
		.kept_samples = atomic_load(&making->kept_samples),
	};
}

void shard_make_stop(struct shard_making *making)
{
	struct error err;

	error_set(&err, ERROR_INTERRUPTED, "interrupted");
	fail(making, &err);
}

int shard_make_end(struct shard_making *making, struct arena *mem,
		   struct shard_index *out, struct error *err)
{
	const struct shard_index *made = &making->index;
	int ret = -1;
	size_t i;

	pthread_join(making->thread, NULL);
	if (making->failed) {
		*err = making->first;
		goto out;
	}
	*out = *made;
	out->shards = arena_alloc(mem, made->count * sizeof(*out->shards));
	for (i = 0; i < made->count; i++) {
		out->shards[i] = made->shards[i];
		out->shards[i].name = arena_strdup(mem, made->shards[i].name);
	}
	ret = 0;
out:
	free_making(making);
	return ret;
}
