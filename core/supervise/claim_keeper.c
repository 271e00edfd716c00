/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/claim_keeper.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/supervise/claim.h"

/* The claim is renewed after a quarter of its lease. */
#define RENEWALS 4
#define OBJECT_MAX (64 << 10)
/* The longest wait for whether the claim is lost. */
#define ANSWER_S 15

struct claim_keeper {
	struct object_store *objects;
	struct arena *mem; /* of the deps and the claim */
	const char *url;
	struct claim own;
	long lease_s;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* protected by the mutex */
	bool is_ending;
	bool is_lost;
	unsigned asked, answered; /* for renewals at once */
};

/* A request that fails for this long is left to the next renewal. */
static const struct retry_policy retry = {
	.first_ms = 500,
	.max_ms = 4000,
	.total_ms = 10000,
};
static const struct object_env object_env = { .retry = &retry };

static int take_text(void *arg, const char *data, size_t len)
{
	buf_add(arg, data, len);
	return 0;
}

static int get(void *arg, const char *url, struct arena *mem, const char **text,
	       const char **version, struct error *err)
{
	struct claim_keeper *k = arg;
	struct object object;
	struct buf data = { 0 };
	int ret = object_stat(k->objects, url, mem, &object, err);

	*text = NULL;
	*version = "";
	if (ret < 0 || !object.exists)
		return ret;
	*version = object.version;
	if (object.size_bytes <= OBJECT_MAX)
		ret = object_read(k->objects, &object, 0, object.size_bytes,
				  take_text, &data, err);
	if (ret == 0)
		*text = arena_strdup(mem, buf_text(&data));
	buf_done(&data);
	return ret;
}

static int put(void *arg, const char *url, const char *text,
	       const char *version, struct error *err)
{
	struct claim_keeper *k = arg;
	const struct object_put how = { .content_type = "application/json",
					.version = version };

	return object_put_text(k->objects, url, text, &how, err);
}

static void write_claim(struct claim_keeper *k)
{
	const struct claim_objects objects = { get, put, k };
	struct arena *mem = arena_new();
	struct claim other;
	struct error err;
	int ret = claim_take(&objects, k->url, &k->own, mem, &other, &err);

	/* A client that was silent for too long has lost it. */
	pthread_mutex_lock(&k->mutex);
	if (ret >= 0)
		k->is_lost = ret == 1;
	pthread_mutex_unlock(&k->mutex);
	if (ret == 1)
		fprintf(stderr, "another owner, %s, has claimed the job\n",
			other.owner);
	else if (ret < 0)
		fprintf(stderr, "cannot write '%s': %s\n", k->url, err.text);
	arena_free(mem);
}

/* Waits until it is time to renew the claim; returns false at the end. */
static bool rest(struct claim_keeper *k)
{
	struct timespec until;
	bool ending;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += k->lease_s / RENEWALS + 1;
	pthread_mutex_lock(&k->mutex);
	while (!k->is_ending && k->asked == k->answered &&
	       pthread_cond_timedwait(&k->changed, &k->mutex, &until) !=
		       ETIMEDOUT)
		;
	ending = k->is_ending;
	pthread_mutex_unlock(&k->mutex);
	return !ending;
}

static void *keep(void *arg)
{
	struct claim_keeper *k = arg;
	unsigned asked;

	do {
		pthread_mutex_lock(&k->mutex);
		asked = k->asked;
		pthread_mutex_unlock(&k->mutex);
		k->own.until_ms = time_now_ms() + k->lease_s * 1000;
		write_claim(k);
		pthread_mutex_lock(&k->mutex);
		k->answered = asked;
		pthread_cond_broadcast(&k->changed);
		pthread_mutex_unlock(&k->mutex);
	} while (rest(k));
	return NULL;
}

static void set_run(struct claim_keeper *k, const struct run_record *run)
{
	struct run_status *out = &k->own.run;

	*out = (struct run_status){ .state = run->state,
				    .attempt = run->attempt,
				    .exit_code = run->exit_code,
				    .refusal = run_refusal(run),
				    .unbegun = run->state == RUN_CANCELLED &&
					       !run->start_time_ms };
	run_status_set_digests(out, run->digest, run->digest2);
	run_status_set_origin(out, run->job_origin);
	snprintf(out->error, sizeof(out->error), "%s",
		 run->error ? run->error : "");
}

static void free_keeper(struct claim_keeper *k)
{
	pthread_cond_destroy(&k->changed);
	pthread_mutex_destroy(&k->mutex);
	object_store_free(k->objects);
	arena_free(k->mem);
	free(k);
}

struct claim_keeper *claim_keeper_new(const struct claim_keeper_deps *deps,
				      const struct run_record *run,
				      struct error *err)
{
	struct claim_keeper *k = mem_alloc(sizeof(*k));
	pthread_condattr_t clock;
	int ret;

	k->mem = arena_new();
	k->url = arena_strdup(k->mem, deps->url);
	k->own.owner = arena_strdup(k->mem, deps->owner);
	k->own.since_ms = run->create_time_ms;
	k->lease_s = deps->lease_s;
	k->objects = object_store_new(deps->schemes, &object_env);
	set_run(k, run);
	/* What others see is whether it has ended. */
	k->own.run.state = RUN_RUNNING;
	pthread_mutex_init(&k->mutex, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&k->changed, &clock);
	pthread_condattr_destroy(&clock);
	ret = pthread_create(&k->thread, NULL, keep, k);
	if (ret == 0)
		return k;
	errno = ret;
	error_errno(err, "cannot start a thread");
	free_keeper(k);
	return NULL;
}

bool claim_keeper_is_lost(struct claim_keeper *k)
{
	struct timespec until;
	unsigned ask;
	bool is_lost;

	if (!k)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ANSWER_S;
	pthread_mutex_lock(&k->mutex);
	ask = ++k->asked;
	pthread_cond_broadcast(&k->changed);
	while ((int)(k->answered - ask) < 0 &&
	       pthread_cond_timedwait(&k->changed, &k->mutex, &until) !=
		       ETIMEDOUT)
		;
	is_lost = k->is_lost;
	pthread_mutex_unlock(&k->mutex);
	return is_lost;
}

void claim_keeper_end(struct claim_keeper *k, const struct run_record *run)
{
	if (!k)
		return;
	pthread_mutex_lock(&k->mutex);
	k->is_ending = true;
	pthread_cond_broadcast(&k->changed);
	pthread_mutex_unlock(&k->mutex);
	pthread_join(k->thread, NULL);
	if (run && run_state_is_final(run->state)) {
		set_run(k, run);
		k->own.until_ms = 0;
		k->own.end_ms = run->end_time_ms;
		write_claim(k);
	}
	free_keeper(k);
}
