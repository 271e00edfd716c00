/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the checkpoint that a trainer resumes from. */
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/checkpoint/saver_internal.h"
#include "core/job/job.h"

/* A checkpoint that the trainer could resume from. */
struct candidate {
	struct checkpoint what;
	bool is_local;
};

struct candidates {
	struct candidate *items;
	size_t count;
};

void saver_skipped(void *keeping, const char *what, const char *why)
{
	saver_say(keeping, UPLOAD_NOTE, "%s does not count: %s", what, why);
}

void saver_say_unconfirmed(struct keeping *k, struct checkpoint_known *known)
{
	saver_say(k, UPLOAD_NOTE,
		  "'%s' is unconfirmed and does not count: nothing says that "
		  "it is complete; if it is, run 'jobrun checkpoint commit "
		  "%s/%s'",
		  known->what.name, k->config.directory, known->what.name);
	known->is_told = true;
}

static void add(struct candidates *all, const struct checkpoint *what,
		bool is_local)
{
	all->items = mem_grow(all->items, all->count + 1, sizeof(*all->items));
	all->items[all->count++] = (struct candidate){ *what, is_local };
}

/* Whether the checkpoint is in the directory, and need not be fetched. */
static bool is_here(const struct candidates *all, long number)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].what.number == number)
			return true;
	return false;
}

static void add_local(struct keeping *k, struct candidates *all)
{
	struct checkpoint_known **known;
	size_t count;

	known = checkpoint_watch_all(k->watch, &count);
	for (size_t i = 0; i < count; i++) {
		/* A later program's checkpoints say nothing of this one. */
		if (known[i]->is_folder && known[i]->state == CHECKPOINT_NEW)
			known[i]->state = CHECKPOINT_BROKEN;
		if (known[i]->state == CHECKPOINT_BROKEN && known[i]->is_folder)
			saver_say_unconfirmed(k, known[i]);
		else if (known[i]->state == CHECKPOINT_BROKEN)
			saver_say(k, UPLOAD_NOTE,
				  "'%s' does not count: its trainer may have "
				  "ended while writing it",
				  known[i]->what.name);
		else if (known[i]->state != CHECKPOINT_NEW)
			add(all, &known[i]->what, true);
	}
}

/* Disregards local checkpoints: other hosts choose at the same moment from
 * those in the store, and all must choose the same. */
static void disregard_local(struct keeping *k)
{
	struct checkpoint_known **known;
	size_t count;

	known = checkpoint_watch_all(k->watch, &count);
	for (size_t i = 0; i < count; i++) {
		known[i]->state = CHECKPOINT_BROKEN;
		known[i]->is_told = true;
	}
}

/* Adds the checkpoints in the store.  An unreachable store is an error, or a
 * run would start over unnoticed; local checkpoints are as new as uploaded
 * ones. */
static int add_kept(struct keeping *k, struct candidates *all,
		    struct error *err)
{
	const struct checkpoint *kept;
	size_t count, here = all->count;

	if (!k->store)
		return 0;
	if (checkpoint_store_read(k->store, saver_skipped, k, err) < 0) {
		if (!here)
			return error_prefix(err, "cannot look for checkpoints");
		saver_say(k, UPLOAD_FAILING, "cannot look for checkpoints: %s",
			  err->text);
		return 0;
	}
	k->is_read = true;
	kept = checkpoint_store_all(k->store, &count);
	for (size_t i = 0; i < count; i++)
		if (!is_here(all, kept[i].number))
			add(all, &kept[i], false);
	return 0;
}

static void take_best(struct candidates *all, size_t *best,
		      const struct checkpoint_order *order)
{
	*best = 0;
	for (size_t i = 1; i < all->count; i++)
		if (checkpoint_compare_worth(&all->items[i].what,
					     &all->items[*best].what,
					     order) < 0)
			*best = i;
}

static int fetch(struct keeping *k, const struct checkpoint *what, char **path,
		 struct error *err)
{
	if (folder_remove(k->config.fetched, err) < 0 ||
	    checkpoint_store_get(k->store, what, k->config.fetched, err) < 0)
		return -1;
	*path = path_join(k->config.fetched, what->name);
	return 0;
}

static void say_resumed(struct keeping *k, const struct candidate *from)
{
	char about[200];
	char *place = from->is_local
			      ? mem_strdup(k->config.directory)
			      : checkpoint_store_place(k->store, &from->what);

	checkpoint_describe(&from->what, about, sizeof(about));
	saver_say(k, UPLOAD_RESUMED, "resumes from '%s'%s%s%s, from %s",
		  from->what.name, *about ? " (" : "", about, *about ? ")" : "",
		  place);
	free(place);
}

/* Takes the first candidate that can be used. */
static int take(struct keeping *k, struct candidates *all, char **path,
		struct error *err)
{
	static const struct checkpoint_order by_age = { 0 };
	const struct checkpoint_order *order =
		k->config.resume == CHECKPOINT_RESUME_BEST ? &k->order
							   : &by_age;
	char *place;
	size_t best;

	while (all->count) {
		struct candidate *from;

		take_best(all, &best, order);
		from = &all->items[best];
		if (from->is_local) {
			*path = path_join(k->config.directory, from->what.name);
		} else if (fetch(k, &from->what, path, err) < 0) {
			/* Only a checkpoint that is broken for good is passed
			 * over. */
			if (err->code != ERROR_FAILED)
				return -1;
			place = checkpoint_store_place(k->store, &from->what);
			saver_skipped(k, place, err->text);
			free(place);
			*from = all->items[--all->count];
			continue;
		}
		say_resumed(k, from);
		return 0;
	}
	return 0;
}

int saver_choose(struct keeping *k, char **path, struct error *err)
{
	struct candidates all = { 0 };
	int64_t never;
	int ret;

	*path = NULL;
	/* The look also marks as broken what an earlier program left
	 * incomplete. */
	if (k->watch && (checkpoint_watch_look(k->watch, &never, err) < 0 ||
			 checkpoint_watch_save(k->watch, err) < 0))
		return -1;
	if (k->config.is_resumed)
		return 0;
	if (k->watch && k->config.is_shared)
		disregard_local(k);
	else if (k->watch)
		add_local(k, &all);
	ret = add_kept(k, &all, err);
	if (ret == 0 && k->config.resume != CHECKPOINT_RESUME_NONE)
		ret = take(k, &all, path, err);
	free(all.items);
	return ret;
}
