/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/read_ahead.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS 16
/* How far to go before a reader, and how much of each file to read: the kernel
 * reads the rest ahead by itself. */
#define SAMPLES_AHEAD 512
#define FILE_BYTES (1 << 20)
/* How often a lane checks its reader, and how often that must have waited since
 * the last check. */
#define LOOK_EVERY 64
#define WAITS_LEAST 16
/* The number of samples that a thread takes at a time. */
#define BATCH 4

struct read_ahead_lane {
	struct read_ahead *ahead;
	size_t steps; /* for the reader only */
	long waits;
	/* Guarded by the lock: */
	size_t at, next, end;
};

struct read_ahead {
	const struct samples *all;
	struct read_ahead_lane *lanes;
	unsigned lane_count;
	pthread_mutex_t lock;
	pthread_cond_t more;
	bool stop, started;
	pthread_t threads[THREADS];
	unsigned thread_count;
};

struct read_ahead *read_ahead_new(const struct samples *all, unsigned lanes)
{
	struct read_ahead *ahead = mem_alloc(sizeof(*ahead));
	unsigned i;

	ahead->all = all;
	ahead->lane_count = lanes;
	ahead->lanes = mem_alloc(lanes * sizeof(*ahead->lanes));
	for (i = 0; i < lanes; i++)
		ahead->lanes[i].ahead = ahead;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->more, NULL);
	return ahead;
}

void read_ahead_free(struct read_ahead *ahead)
{
	unsigned i;

	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_broadcast(&ahead->more);
	pthread_mutex_unlock(&ahead->lock);
	for (i = 0; i < ahead->thread_count; i++)
		pthread_join(ahead->threads[i], NULL);
	pthread_cond_destroy(&ahead->more);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead->lanes);
	free(ahead);
}

struct read_ahead_lane *read_ahead_lane(struct read_ahead *ahead,
					unsigned number)
{
	return &ahead->lanes[number];
}

/* ---- the threads ------------------------------------------------------- */

static void fetch(const struct samples *all, size_t sample)
{
	const struct sample *item = &all->items[sample];
	size_t i;

	for (i = item->first; i < item->first + item->count; i++) {
		const struct sample_file *file = &all->files[i];
		const struct sample_source *source =
			&all->sources[file->source];
		int fd;

		if (source->kind != SOURCE_FOLDER)
			continue;
		fd = openat(source->folder, file->name,
			    O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue; /* the reader will report the error */
		posix_fadvise(fd, 0, FILE_BYTES, POSIX_FADV_WILLNEED);
		close(fd);
	}
}

/* Takes some samples that a reader will need; 0 if there are none now. */
static size_t take(struct read_ahead *ahead, size_t *first)
{
	unsigned i;

	for (i = 0; i < ahead->lane_count; i++) {
		struct read_ahead_lane *lane = &ahead->lanes[i];
		size_t until = lane->at + SAMPLES_AHEAD;
		size_t count;

		if (until > lane->end)
			until = lane->end;
		/* Skip samples that the reader has already passed. */
		if (lane->next < lane->at)
			lane->next = lane->at;
		if (lane->next >= until)
			continue;
		count = until - lane->next < BATCH ? until - lane->next : BATCH;
		*first = lane->next;
		lane->next += count;
		return count;
	}
	return 0;
}

static void *work(void *arg)
{
	struct read_ahead *ahead = arg;
	size_t first, count;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop) {
		count = take(ahead, &first);
		if (!count) {
			pthread_cond_wait(&ahead->more, &ahead->lock);
			continue;
		}
		pthread_mutex_unlock(&ahead->lock);
		for (; count; count--)
			fetch(ahead->all, first++);
		pthread_mutex_lock(&ahead->lock);
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

/* ---- the readers ------------------------------------------------------- */

void read_ahead_begin(struct read_ahead_lane *lane, size_t first, size_t end)
{
	pthread_mutex_lock(&lane->ahead->lock);
	lane->at = lane->next = first;
	lane->end = end;
	pthread_mutex_unlock(&lane->ahead->lock);
}

static bool waits_often(struct read_ahead_lane *lane)
{
	struct rusage usage;
	long before = lane->waits;

	if (getrusage(RUSAGE_THREAD, &usage) < 0)
		return false;
	lane->waits = usage.ru_nvcsw;
	return before && lane->waits - before >= WAITS_LEAST;
}

static void start(struct read_ahead *ahead)
{
	ahead->started = true;
	while (ahead->thread_count < THREADS &&
	       pthread_create(&ahead->threads[ahead->thread_count], NULL, work,
			      ahead) == 0)
		ahead->thread_count++;
}

void read_ahead_step(struct read_ahead_lane *lane)
{
	struct read_ahead *ahead = lane->ahead;
	bool waits;

	if (++lane->steps % LOOK_EVERY)
		return;
	waits = waits_often(lane);
	pthread_mutex_lock(&ahead->lock);
	lane->at += LOOK_EVERY;
	if (waits && !ahead->started)
		start(ahead);
	if (ahead->started)
		pthread_cond_broadcast(&ahead->more);
	pthread_mutex_unlock(&ahead->lock);
}
