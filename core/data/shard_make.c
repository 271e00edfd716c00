/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/shard_make.h"

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

#include "core/base/buf.h"
#include "core/data/read_ahead.h"
#include "core/data/shard_writer.h"

struct shard_making {
	const struct samples *all;
	const struct shard_plan *plan;
	struct shard_settings settings;
	struct shard_target *target;
	struct arena *mem;           /* of the names */
	struct shard_entry *entries; /* one for each shard of the plan */
	struct shard_counters counters;
	_Atomic size_t next; /* shard that nobody has begun */
	_Atomic size_t done, kept;
	_Atomic uint64_t kept_samples;
	struct read_ahead *ahead;
	pthread_t *threads;
	unsigned thread_count;
	atomic_uint next_lane; /* that no thread has */
	atomic_uint running;
	int ended; /* an eventfd */
	pthread_mutex_t lock;
	bool failed;
	struct error first; /* why */
};

/* By the clock of files' times, which is behind by some milliseconds. */
static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- one shard --------------------------------------------------------- */

/* Whether a file's contents may be others than at that time.  The time of its
 * last change of any kind can't be set by programs as that of the contents. */
static bool changed_since(const struct sample_source *source,
			  const struct sample_file *file, int64_t begun_ns)
{
	struct stat st;
	int ret = 0;

	if (source->kind == SOURCE_FOLDER)
		ret = fstatat(source->folder, file->name, &st, 0);
	else if (source->kind == SOURCE_TAR)
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
	/* One that was asked for without SHA-256 has none. */
	if (making->settings.sha256 != (entry.sha256.hex[0] != '\0') ||
	    sources_changed(making, shard, begun_ns))
		return false;
	entry.name = want->name;
	making->entries[shard] = entry;
	atomic_fetch_add(&making->kept, 1);
	atomic_fetch_add(&making->kept_samples, entry.samples);
	return true;
}

static int make_shard(struct shard_making *making, struct shard_writer *writer,
		      size_t shard, struct error *err)
{
	const struct shard_target_calls *calls = making->target->calls;
	struct shard_entry *entry = &making->entries[shard];
	size_t first = making->plan->first[shard];
	struct shard_want want = { .name = entry->name };
	int64_t begun_ns = now_ns();
	int fd, ret;

	if (shard_plan_digest(making->all, making->plan, shard, &want.plan,
			      err) < 0)
		return -1;
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
	const uint64_t one = 1;
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
	if (atomic_fetch_sub(&making->running, 1) == 1 &&
	    write(making->ended, &one, sizeof(one)) < 0)
		abort(); /* an eventfd takes a 1 */
	return NULL;
}

static int start_threads(struct shard_making *making, struct error *err)
{
	unsigned count = making->settings.threads;
	unsigned i;

	if (count > making->plan->count)
		count = (unsigned)making->plan->count;
	making->ahead = read_ahead_new(making->all, count);
	making->threads = mem_alloc(count * sizeof(*making->threads));
	atomic_store(&making->running, count);
	for (i = 0; i < count; i++) {
		int code =
			pthread_create(&making->threads[i], NULL, work, making);

		if (code == 0) {
			making->thread_count++;
			continue;
		}
		errno = code;
		error_errno(err, "cannot start a thread");
		fail(making, err);
		/* As if the others had come and gone. */
		atomic_fetch_sub(&making->running, count - i);
		return -1;
	}
	return 0;
}

static void free_making(struct shard_making *making)
{
	unsigned i;

	for (i = 0; i < making->thread_count; i++)
		pthread_join(making->threads[i], NULL);
	read_ahead_free(making->ahead);
	pthread_mutex_destroy(&making->lock);
	if (making->ended >= 0)
		close(making->ended);
	free(making->threads);
	free(making->entries);
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
	size_t i;

	making->all = all;
	making->plan = plan;
	making->settings = *settings;
	making->target = target;
	making->mem = arena_new();
	making->entries = mem_alloc(plan->count * sizeof(*making->entries));
	pthread_mutex_init(&making->lock, NULL);
	for (i = 0; i < plan->count; i++)
		making->entries[i].name = arena_printf(
			making->mem, "%s-%06zu.tar", settings->prefix, i);
	making->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (making->ended < 0) {
		error_errno(err, "cannot make an eventfd");
		goto failed;
	}
	if (target->calls->prepare(target, settings->prefix, err) < 0 ||
	    start_threads(making, err) < 0)
		goto failed;
	return making;
failed:
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
	struct shard_index index = { .count = making->plan->count };
	unsigned i;
	size_t j;
	int ret = -1;

	for (i = 0; i < making->thread_count; i++)
		pthread_join(making->threads[i], NULL);
	making->thread_count = 0;
	if (making->failed) {
		*err = making->first;
		goto out;
	}
	index.shards = arena_alloc(mem, index.count * sizeof(*index.shards));
	for (j = 0; j < index.count; j++) {
		index.shards[j] = making->entries[j];
		index.shards[j].name =
			arena_strdup(mem, making->entries[j].name);
	}
	index.class_count = making->all->class_count;
	index.classes =
		arena_alloc(mem, index.class_count * sizeof(*index.classes));
	for (j = 0; j < index.class_count; j++)
		index.classes[j] = arena_strdup(mem, making->all->classes[j]);
	if (shard_index_sum(&index) < 0)
		error_set(err, ERROR_FAILED, "that is too much to be counted");
	else
		ret = making->target->calls->finish(making->target, &index,
						    err);
	if (ret == 0)
		*out = index;
out:
	free_making(making);
	return ret;
}
