/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs of consumers that end anywhere, and go on as others: every sample must
 * come exactly once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/shard/shard_state.h"

#define SHARDS_MAX 40
#define SAMPLES_MAX 9
#define EPOCHS 3
/* Runs after which the epochs must be over: nobody stops in the last. */
#define RUNS 4

struct world {
	char folder[64];
	char *state;
	struct shard_list list;
	struct shard_walk walk; /* of everything */
	struct stream_object items[SHARDS_MAX];
	uint64_t samples[SHARDS_MAX];
	char names[SHARDS_MAX][32];
	/* how often each sample came, by epoch */
	unsigned char seen[EPOCHS][SHARDS_MAX][SAMPLES_MAX];
	uint64_t random;
};

static unsigned pick(struct world *world, unsigned below)
{
	world->random =
		world->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(world->random >> 33) % below;
}

static void make_world(struct world *world, uint64_t seed)
{
	size_t i;

	memset(world->seen, 0, sizeof(world->seen));
	world->random = seed;
	world->list.items = world->items;
	world->list.samples = world->samples;
	world->list.count = 1 + pick(world, SHARDS_MAX);
	for (i = 0; i < world->list.count; i++) {
		snprintf(world->names[i], sizeof(world->names[i]), "%zu.tar",
			 i);
		world->items[i] =
			(struct stream_object){ .url = world->names[i] };
		world->samples[i] = 1 + pick(world, SAMPLES_MAX);
	}
	world->walk = (struct shard_walk){
		.list = &world->list,
		.split = SPLIT_ALL,
		.shuffle = pick(world, 2),
		.seed = pick(world, 100),
	};
	unlink(world->state);
}

/* Lets a consumer take up to `most` samples of the epochs; returns how
 * many. */
static uint64_t take(struct world *world, struct shard_walk walk, uint64_t most)
{
	struct stream_object object;
	uint64_t taken = 0, i;
	struct error err;
	int ret = 0;

	walk.epochs = walk.epoch < EPOCHS ? EPOCHS - walk.epoch : 0;
	while (taken < most &&
	       (ret = shard_walk_next(&walk, &object, &err)) > 0) {
		size_t one = shard_walk_last(&walk);

		for (i = object.skip; i < world->samples[one] && taken < most;
		     i++, taken++)
			world->seen[walk.epoch - 1][one][i]++;
	}
	assert_true(ret >= 0);
	shard_walk_done(&walk);
	return taken;
}

static void write_state(const struct world *world, const struct buf *lines)
{
	struct error err;

	assert_int_equal(
		file_write(world->state, buf_text(lines), lines->len, &err), 0);
}

/* A run of some consumers, each of which stops somewhere. */
static void run(struct world *world, bool is_last)
{
	struct arena *mem = arena_new();
	struct shard_state state;
	struct buf lines = { 0 };
	struct shard_walk walk = world->walk;
	struct split *split = &walk.split;
	struct error err = { 0 };
	uint64_t taken;
	int ret = shard_state_read(world->state, "train", &walk, mem, &state,
				   &err);

	assert_string_equal(err.text, "");
	if (ret == 0) {
		walk.taken = &state.taken;
		walk.epoch = state.epoch;
	}
	split->uneven = SPLIT_EXACT;
	split->hosts = 1 + pick(world, 5);
	split->devices = 1 + pick(world, 3);
	walk.consumers = 1 + pick(world, 3);
	for (split->host = 0; split->host < split->hosts; split->host++)
		for (split->device = 0; split->device < split->devices;
		     split->device++)
			for (walk.consumer = 0; walk.consumer < walk.consumers;
			     walk.consumer++) {
				taken = take(world, walk,
					     is_last ? UINT64_MAX
						     : pick(world, 60));
				ret = shard_state_print(&walk, "train", taken,
							&lines, &err);
				assert_string_equal(err.text, "");
				assert_int_equal(ret, 0);
			}
	write_state(world, &lines);
	buf_done(&lines);
	arena_free(mem);
}

static void every_sample_comes_exactly_once(void **state)
{
	struct world *world = *state;
	unsigned seed, i, epoch, shard, sample;
	unsigned seeds = getenv("JOBRUN_TEST_ALL") ? 2000 : 200;

	for (seed = 1; seed <= seeds; seed++) {
		make_world(world, seed);
		for (i = 0; i < RUNS; i++)
			run(world, i == RUNS - 1);
		for (epoch = 0; epoch < EPOCHS; epoch++)
			for (shard = 0; shard < world->list.count; shard++)
				for (sample = 0; sample < world->samples[shard];
				     sample++)
					if (world->seen[epoch][shard][sample] !=
					    1)
						fail_msg("seed %u: sample %u "
							 "of shard %u came %u "
							 "times in epoch %u",
							 seed, sample, shard,
							 world->seen[epoch]
								    [shard]
								    [sample],
							 epoch);
	}
}

static int set_up(void **state)
{
	struct world *world = mem_alloc(sizeof(*world));

	strcpy(world->folder, "/tmp/jobrun-state-XXXXXX");
	if (!mkdtemp(world->folder))
		return -1;
	world->state = path_join(world->folder, "state");
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;
	struct error err;
	int ret = folder_remove(world->folder, &err);

	free(world->state);
	free(world);
	return ret;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_sample_comes_exactly_once,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
