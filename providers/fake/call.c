/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/fake/call.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/units.h"

const struct fake_block *fake_block(const struct job *job)
{
	static const struct fake_block defaults = { .width = 4,
						    .color = "red",
						    .size = 1 };
	const void *block = job ? job_block(job, provider_fake.name) : NULL;

	return block ? block : &defaults;
}

static void pause_ms(long ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

	while (ms > 0 && nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

const char *fake_place(const struct job *job, struct arena *mem)
{
	const struct fake_block *block = fake_block(job);
	const char *out;
	char *path, *whole;

	if (!block->world)
		return NULL;
	path = path_join(job->folder ? job->folder : "", block->world);
	whole = path_absolute(path);
	out = arena_strdup(mem, whole);
	free(whole);
	free(path);
	return out;
}

/* Returns the folder of the world as a new string, or NULL if there is no
 * world. */
static char *world_folder(const struct fake *fake, const struct resource *it,
			  const struct fake_block *block)
{
	if (it->place)
		return mem_strdup(it->place);
	if (block->world)
		return path_join(it->job->folder ? it->job->folder : "",
				 block->world);
	return fake->world ? mem_strdup(fake->world) : NULL;
}

const char *fake_job_name(const struct resource *it)
{
	return it->job ? it->job->job_id : "-";
}

static enum trouble_how trouble_now(const struct fake_block *block,
				    const struct trouble_tally *tally)
{
	struct trouble trouble;
	struct error ignored;
	size_t i;

	for (i = 0; i < block->fail_at.count; i++)
		if (trouble_parse(block->fail_at.items[i], &trouble,
				  &ignored) == 0 &&
		    selector_takes(&trouble.at, tally))
			return trouble.how;
	return TROUBLE_NONE;
}

/* Reads from the world how calls fail when there is no job file. */
static int trouble_without_file(struct world *world, const char *job,
				struct trouble_tally *tally,
				enum trouble_how *how, struct error *err)
{
	char *text = world_fail_at(world, err);
	struct trouble trouble;
	char *line, *rest = NULL;
	int ret = text ? 0 : -1;

	if (text && text[0])
		ret = world_tally(world, job, tally->call, tally->name, tally,
				  err);
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line && ret == 0;
	     line = strtok_r(NULL, "\n", &rest)) {
		ret = trouble_parse(line, &trouble, err);
		if (ret == 0 && !*how && selector_takes(&trouble.at, tally))
			*how = trouble.how;
	}
	free(text);
	return ret;
}

/* Removes or changes the object with that name, as somebody else would. */
static int meddle_with(struct world *world, const char *kind, const char *name,
		       const struct meddling *meddling, struct error *err)
{
	json_t *value, *properties;
	struct error ignored;
	long number;
	int ret;

	if (world_get(world, kind, name, &value, err) < 0)
		return -1;
	if (!value)
		return 0;
	if (!meddling->property[0]) {
		json_decref(value);
		return world_remove(world, kind, name, err);
	}
	properties = json_object_get(value, "properties");
	if (number_parse(meddling->value, 0, 1000000, &number, &ignored) == 0)
		json_put_int(properties, meddling->property, number);
	else
		json_put_text(properties, meddling->property, meddling->value);
	ret = world_put(world, kind, name, value, err);
	json_decref(value);
	return ret;
}

static int meddle(struct fake_task *task, const struct resource *it,
		  const struct trouble_tally *tally, struct error *err)
{
	const struct strings *all = &task->block->meddle;
	struct meddling meddling;
	int ret = 0;
	size_t i;

	for (i = 0; i < all->count && ret == 0; i++) {
		char *name;

		if (meddling_parse(all->items[i], &meddling, err) < 0)
			return -1;
		if (!selector_takes(&meddling.at, tally))
			continue;
		name = text_starts(meddling.name, fake_job_name(it))
			       ? mem_strdup(meddling.name)
			       : mem_printf("%s-%s", fake_job_name(it),
					    meddling.name);
		ret = meddle_with(task->world, "thing", name, &meddling, err);
		if (ret == 0)
			ret = meddle_with(task->world, "run", name, &meddling,
					  err);
		free(name);
	}
	return ret;
}

static int trouble_error(enum trouble_how how, struct error *err)
{
	switch (how) {
	case TROUBLE_DENIED:
		return error_set(err, ERROR_DENIED, "not allowed, as told");
	case TROUBLE_TRY_AGAIN:
		return error_set(err, ERROR_TRY_AGAIN, "busy, as told");
	case TROUBLE_QUOTA:
		return error_set_final(err, ERROR_TRY_AGAIN,
				       "more than is allowed, as told");
	case TROUBLE_UNREACHABLE:
	case TROUBLE_LOST:
		return error_set(err, ERROR_UNREACHABLE, "no answer, as told");
	default:
		return error_set(err, ERROR_FAILED, "failed, as told");
	}
}

/* Carries out the call, unless it must fail before that, and logs the
 * result. */
static int do_and_log(struct fake_task *task, enum fake_call call,
		      const struct resource *it, world_effect *effect,
		      enum trouble_how how, struct error *err)
{
	bool done = how == TROUBLE_NONE || how == TROUBLE_LOST ||
		    how == TROUBLE_TWICE || how == TROUBLE_KILL_AFTER;
	int ret = done ? effect(task, it, err) : 0;
	const char *first = ret < 0 ? "refused" : task->result;
	char result[64];

	if (ret == 0 && how == TROUBLE_TWICE)
		ret = effect(task, it, err);
	snprintf(result, sizeof(result), "%s%s%s", first ? first : "",
		 first && how ? "," : "", how ? trouble_name(how) : "");
	if (world_log(task->world, fake_job_name(it), call, it->kind->name,
		      it->name, result, err) < 0)
		return -1;
	return ret;
}

/* Carries out a call in the world, whose lock is held. */
static int act(struct fake_task *task, enum fake_call call,
	       const struct resource *it, world_effect *effect,
	       struct error *err)
{
	const struct fake_block *block = task->block;
	struct trouble_tally tally = { .call = call, .name = it->name };
	enum trouble_how how = TROUBLE_NONE;

	if ((block->fail_at.count || block->meddle.count) &&
	    world_tally(task->world, fake_job_name(it), call, it->name, &tally,
			err) < 0)
		return -1;
	if (block->fail_at.count)
		how = trouble_now(block, &tally);
	if (!(it->job && it->job->file) &&
	    trouble_without_file(task->world, fake_job_name(it), &tally, &how,
				 err) < 0)
		return -1;
	if (do_and_log(task, call, it, effect, how, err) < 0)
		return -1;
	if (block->meddle.count && meddle(task, it, &tally, err) < 0)
		return -1;
	if (how == TROUBLE_KILL || how == TROUBLE_KILL_AFTER)
		raise(SIGKILL);
	return how == TROUBLE_NONE || how == TROUBLE_TWICE
		       ? 0
		       : trouble_error(how, err);
}

int fake_perform(void *ctx, enum fake_call call, const struct resource *it,
		 world_effect *effect, struct fake_task *task,
		 struct error *err)
{
	char *folder;
	int ret = -1;

	task->block = fake_block(it->job);
	pause_ms(task->block->call_time);
	folder = world_folder(ctx, it, task->block);
	if (!folder && call == FAKE_READ)
		return 0; /* nothing is remembered: nothing exists */
	if (!folder)
		return error_set(err, ERROR_INVALID,
				 "it has no world to be in: set "
				 "jobrun.fake.world");
	task->world = world_enter(folder, err);
	if (task->world)
		ret = act(task, call, it, effect, err);
	world_leave(task->world);
	free(folder);
	return ret;
}
