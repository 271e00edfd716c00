/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the output of squeue and sacct: jobs are in order and found by
 * their comments, and no usage is negative.  Any bytes as a short form of node
 * names: within its limits, or refused with a reason.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "providers/slurm/accounts.h"
#include "providers/slurm/hostlist.h"
#include "providers/slurm/queue.h"

/* A longer short form takes time without testing more. */
#define TEXT_MAX 1024
#define HOSTS_MAX 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_job(const struct queue_job *job, struct arena *mem)
{
	size_t i;

	assert(job->id && job->comment && job->state && job->reason &&
	       job->nodes);
	queue_state(job->state);
	assert(queue_explain(job, mem));
	for (i = 0; i < job->element_count; i++)
		assert(job->elements[i].element > 0 &&
		       (!i || job->elements[i].element >=
				      job->elements[i - 1].element));
}

static void read_queue(const uint8_t *data, size_t size, struct arena *mem)
{
	struct slurm_queue queue;
	struct queue_job copy;
	size_t i;

	queue_parse(arena_strndup(mem, (const char *)data, size), mem, &queue);
	for (i = 0; i < queue.count; i++) {
		const struct queue_job *job = &queue.items[i];

		look_at_job(job, mem);
		assert(!i || strcmp(job[-1].comment, job->comment) <= 0);
		assert(queue_find(&queue, job->comment));
		queue_job_copy(job, mem, &copy);
		look_at_job(&copy, mem);
	}
}

static void read_accounts(const uint8_t *data, size_t size, struct arena *mem)
{
	static const struct account_key keys[] = {
		{ "resnet", "12", "jobrun:resnet:1", 0 },
		{ "resnet", "12", "", 1700000000000 },
	};
	struct accounts accounts;
	struct queue_job job;
	struct usage usage;
	size_t i;

	accounts_parse(arena_strndup(mem, (const char *)data, size), mem,
		       &accounts);
	for (i = 0; i < COUNT(keys); i++) {
		if (accounts_find(&accounts, &keys[i], mem, &job, &usage))
			look_at_job(&job, mem);
		assert(usage.cpu_ms >= 0 && usage.allocated_cpu_ms >= 0);
	}
}

static void expand_hosts(const uint8_t *data, size_t size, struct arena *mem)
{
	const char *text = arena_strndup(mem, (const char *)data,
					 size < TEXT_MAX ? size : TEXT_MAX);
	struct hostlist list = { 0 };
	struct error err = { 0 };
	long counts[4];
	size_t i;

	if (hostlist_add(&list, text, HOSTS_MAX, mem, &err) == 0) {
		assert(list.count <= HOSTS_MAX);
		for (i = 0; i < list.count; i++)
			assert(list.hosts[i][0]);
	} else {
		assert(err.text[0]);
	}
	if (hostlist_counts(text, counts, COUNT(counts), &err) == 0)
		for (i = 0; i < COUNT(counts); i++)
			assert(counts[i] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *mem = arena_new();

	read_queue(data, size, mem);
	read_accounts(data, size, mem);
	expand_hosts(data, size, mem);
	arena_free(mem);
	return 0;
}
