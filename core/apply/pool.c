/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/alloc.h"

struct work_queue {
	struct work *first;
	struct work **last;
};

struct pool {
	pthread_mutex_t lock; /* protects the members up to `threads` */
	pthread_cond_t more;  /* more in `todo`, or the end */
	struct work_queue todo;
	struct work_queue done;
	size_t idle; /* waiting threads; some may have been woken */
	bool end;

	pthread_t *threads;
	size_t count;
	size_t max;
	int fd;
};

static void queue_init(struct work_queue *queue)
{
	queue->first = NULL;
	queue->last = &queue->first;
}

static void queue_add(struct work_queue *queue, struct work *work, bool first)
{
	if (first) {
		work->next = queue->first;
		queue->first = work;
		if (!work->next)
			queue->last = &work->next;
		return;
	}
	work->next = NULL;
	*queue->last = work;
	queue->last = &work->next;
}

static struct work *queue_take(struct work_queue *queue)
{
	struct work *work = queue->first;

	if (work) {
		queue->first = work->next;
		if (!queue->first)
			queue->last = &queue->first;
	}
	return work;
}

struct pool *pool_new(size_t threads, struct error *err)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct pool *pool;

	if (fd < 0) {
		error_errno(err, "cannot create an eventfd");
		return NULL;
	}
	pool = mem_alloc(sizeof(*pool));
	pool->fd = fd;
	pool->max = threads ? threads : 1;
	pool->threads = mem_alloc(pool->max * sizeof(*pool->threads));
	queue_init(&pool->todo);
	queue_init(&pool->done);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->more, NULL);
	return pool;
}

void pool_free(struct pool *pool)
{
	size_t i;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->end = true;
	queue_init(&pool->todo);
	pthread_cond_broadcast(&pool->more);
	pthread_mutex_unlock(&pool->lock);
	for (i = 0; i < pool->count; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->more);
	pthread_mutex_destroy(&pool->lock);
	close(pool->fd);
	free(pool->threads);
	free(pool);
}

int pool_fd(const struct pool *pool)
{
	return pool->fd;
}

static void *serve(void *arg)
{
	struct pool *pool = arg;
	struct work *work;

	pthread_mutex_lock(&pool->lock);
	while (!pool->end) {
		work = queue_take(&pool->todo);
		if (!work) {
			pool->idle++;
			pthread_cond_wait(&pool->more, &pool->lock);
			pool->idle--;
			continue;
		}
		pthread_mutex_unlock(&pool->lock);
		work->call(work);
		pthread_mutex_lock(&pool->lock);
		queue_add(&pool->done, work, false);
		/* This fails only if the descriptor is readable already. */
		eventfd_write(pool->fd, 1);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* All signals are blocked in the thread, so that the loop gets them. */
static int add_thread(struct pool *pool, struct error *err)
{
	sigset_t all, old;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	code = pthread_create(&pool->threads[pool->count], NULL, serve, pool);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (code == 0) {
		pool->count++;
		return 0;
	}
	/* Fewer threads only take longer. */
	if (pool->count)
		return 0;
	errno = code;
	return error_errno(err, "cannot start a thread");
}

int pool_add(struct pool *pool, struct work *work, bool urgent,
	     struct error *err)
{
	const struct work *other;
	size_t queued = 1;
	bool enough;

	pthread_mutex_lock(&pool->lock);
	for (other = pool->todo.first; other && queued <= pool->idle;
	     other = other->next)
		queued++;
	enough = queued <= pool->idle || pool->count == pool->max;
	pthread_mutex_unlock(&pool->lock);
	if (!enough && add_thread(pool, err) < 0)
		return -1;
	pthread_mutex_lock(&pool->lock);
	queue_add(&pool->todo, work, urgent);
	pthread_cond_signal(&pool->more);
	pthread_mutex_unlock(&pool->lock);
	return 0;
}

struct work *pool_next(struct pool *pool)
{
	struct work *work;
	eventfd_t count;

	pthread_mutex_lock(&pool->lock);
	work = queue_take(&pool->done);
	/* The descriptor stays readable until nothing is left, so the loop asks
	 * again. */
	if (!pool->done.first)
		eventfd_read(pool->fd, &count);
	pthread_mutex_unlock(&pool->lock);
	return work;
}
