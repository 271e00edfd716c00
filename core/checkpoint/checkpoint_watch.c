/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/checkpoint_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/checkpoint_news.h"
#include "core/checkpoint/checkpoint_open.h"
#include "core/checkpoint/checkpoint_scan.h"

#define LEDGER ".jobrun-checkpoints.json"
#define LEDGER_MAX (64 << 20)

/* How long the program must go on after it closed a file: a program that fails
 * while writing also closes it, and then ends. */
#define WENT_ON_MS 2000

struct checkpoint_watch {
	char *path;
	int64_t quiet_ms;
	int folder;  /* -1: it is gone at the moment */
	int inotify; /* -1: none */
	bool had_ledger;
	bool is_first; /* nothing was looked at before */
	bool is_resumed;
	int64_t ended_ms; /* when the trainer ended; 0: it runs */
	bool ended_well;
	struct checkpoint_news news; /* since the last look */
	bool is_changed;             /* what the ledger says has changed */
	struct checkpoint_known **all;
	size_t count;
};

static void known_free(struct checkpoint_known *known)
{
	struct arena *mem = known->mem;

	arena_free(mem); /* the watch itself is in it */
}

static struct checkpoint_known *add_known(struct checkpoint_watch *watch,
					  struct arena *mem)
{
	struct checkpoint_known *known = arena_alloc(mem, sizeof(*known));

	known->mem = mem;
	watch->all = mem_grow(watch->all, watch->count + 1,
			      sizeof(struct checkpoint_known *));
	watch->all[watch->count++] = known;
	return known;
}

static void read_list(struct checkpoint_watch *watch, const json_t *list,
		      bool is_broken)
{
	struct error ignored;
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		struct arena *mem = arena_new();
		struct checkpoint_known *known;
		struct checkpoint what;

		if (checkpoint_from_json(item, mem, &what, &ignored) < 0) {
			arena_free(mem);
			continue;
		}
		known = add_known(watch, mem);
		known->what = what;
		known->signature =
			arena_strdup(mem, json_get_text(item, "signature", ""));
		known->state = is_broken     ? CHECKPOINT_BROKEN
			       : what.number ? CHECKPOINT_KEPT
					     : CHECKPOINT_WHOLE;
		known->is_told = !is_broken;
	}
}

static void read_ledger(struct checkpoint_watch *watch)
{
	char *path = path_join(watch->path, LEDGER);
	struct error ignored;
	json_t *value = NULL;
	size_t len;
	char *text;

	text = file_read(path, LEDGER_MAX, &len, &ignored);
	watch->had_ledger = text;
	if (text)
		value = json_read(text, len, path, &ignored);
	read_list(watch, json_object_get(value, "checkpoints"), false);
	read_list(watch, json_object_get(value, "broken"), true);
	json_decref(value);
	free(text);
	free(path);
}

int checkpoint_watch_save(struct checkpoint_watch *watch, struct error *err)
{
	char *path = path_join(watch->path, LEDGER);
	json_t *out = json_object(), *list = json_array();
	json_t *broken = json_array();
	struct buf text = { 0 };
	int ret;

	json_put_int(out, "formatVersion", 1);
	for (size_t i = 0; i < watch->count; i++) {
		const struct checkpoint_known *known = watch->all[i];
		json_t *item;

		if (known->state == CHECKPOINT_NEW)
			continue;
		item = checkpoint_json(&known->what);
		json_put_text(item, "signature", known->signature);
		json_array_append_new(known->state == CHECKPOINT_BROKEN ? broken
									: list,
				      item);
	}
	json_put(out, "checkpoints", list);
	json_put(out, "broken", broken);
	json_print(out, &text);
	ret = file_write(path, text.data, text.len, err);
	if (ret == 0)
		watch->is_changed = false;
	buf_done(&text);
	json_decref(out);
	free(path);
	return ret;
}

static void close_folder(struct checkpoint_watch *watch)
{
	if (watch->folder >= 0)
		close(watch->folder);
	if (watch->inotify >= 0)
		close(watch->inotify);
	watch->folder = -1;
	watch->inotify = -1;
}

static int open_folder(struct checkpoint_watch *watch, struct error *err)
{
	static const uint32_t events =
		IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
		IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

	watch->folder = open(watch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (watch->folder < 0)
		return error_errno(err, "cannot open '%s'", watch->path);
	/* Without inotify the directory is only looked at from time to time. */
	watch->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch->inotify >= 0 &&
	    inotify_add_watch(watch->inotify, watch->path, events) < 0) {
		close(watch->inotify);
		watch->inotify = -1;
	}
	return 0;
}

struct checkpoint_watch *checkpoint_watch_open(const char *path,
					       int64_t quiet_ms,
					       bool is_resumed,
					       struct error *err)
{
	struct checkpoint_watch *watch;

	if (folder_make_mode(path, 0777, err) < 0)
		return NULL;
	watch = mem_alloc(sizeof(*watch));
	watch->path = mem_strdup(path);
	watch->quiet_ms = quiet_ms;
	watch->is_first = true;
	watch->is_resumed = is_resumed;
	watch->folder = watch->inotify = -1;
	if (open_folder(watch, err) < 0) {
		checkpoint_watch_close(watch);
		return NULL;
	}
	read_ledger(watch);
	return watch;
}

void checkpoint_watch_close(struct checkpoint_watch *watch)
{
	if (!watch)
		return;
	close_folder(watch);
	checkpoint_news_forget(&watch->news);
	for (size_t i = 0; i < watch->count; i++)
		known_free(watch->all[i]);
	free(watch->all);
	free(watch->path);
	free(watch);
}

int checkpoint_watch_fd(const struct checkpoint_watch *watch)
{
	return watch->inotify;
}

int checkpoint_watch_folder(const struct checkpoint_watch *watch)
{
	return watch->folder;
}

/* Opens the directory again if a trainer has replaced it. */
static int follow_folder(struct checkpoint_watch *watch, struct error *err)
{
	struct stat there, ours;

	if (watch->folder >= 0 && stat(watch->path, &there) == 0 &&
	    fstat(watch->folder, &ours) == 0 && there.st_ino == ours.st_ino &&
	    there.st_dev == ours.st_dev)
		return 0;
	close_folder(watch);
	if (access(watch->path, F_OK) < 0 && errno == ENOENT)
		return 0;
	return open_folder(watch, err);
}

/* Notes whether the checkpoint, as the last scan found it, was closed, and what
 * came afterwards. */
static void take_news(const struct checkpoint_watch *watch,
		      struct checkpoint_known *known)
{
	int64_t step = known->what.step;
	bool was_closed = false;

	for (size_t i = 0; i < watch->news.count; i++) {
		const struct checkpoint_event *news = &watch->news.items[i];
		bool is_own = !strcmp(news->name, known->what.name);

		if (is_own && news->what & IN_CLOSE_WRITE) {
			was_closed = known->is_closed = true;
			known->is_passed = false;
			known->closed_ms = time_monotonic_ms();
		} else if (news->what & (IN_CREATE | IN_MOVED_TO) &&
			   known->is_closed && step >= 0 &&
			   checkpoint_name_step(news->name) > step) {
			known->is_passed = true;
		}
	}
	if (!was_closed || known->state != CHECKPOINT_NEW)
		return;
	/* A program that ends also closes its files, so wait for the quiet
	 * period. */
	known->quiet_from_ms = known->closed_ms;
	/* The file may have been opened again, or by several processes. */
	known->is_open = checkpoint_is_open(watch->folder, &known->what);
	known->is_closed = !known->is_open;
}

static struct checkpoint_known *find(struct checkpoint_watch *watch,
				     const char *name)
{
	for (size_t i = 0; i < watch->count; i++)
		if (!strcmp(watch->all[i]->what.name, name))
			return watch->all[i];
	return NULL;
}

/* Takes what no ledger keeps. */
static void take_looks(const struct checkpoint_item *from,
		       struct checkpoint_known *to)
{
	to->is_partial = from->is_partial;
	to->is_folder = from->is_folder;
	to->word = from->word;
	to->first_ms = from->first_ms;
	/* What has the same signature has the same links: one copy is
	 * enough. */
	if (!from->stray_link)
		to->stray_link = NULL;
	else if (!to->stray_link)
		to->stray_link = arena_strdup(to->mem, from->stray_link);
}

/* Returns the state of a checkpoint that exists at the start and is not known
 * to be whole.  In a directory that was watched before, its trainer was killed
 * while writing it. */
static enum checkpoint_state first_state(const struct checkpoint_watch *watch)
{
	return watch->is_first && watch->had_ledger && !watch->is_resumed
		       ? CHECKPOINT_BROKEN
		       : CHECKPOINT_NEW;
}

static void take_item(struct checkpoint_watch *watch,
		      const struct checkpoint_item *item)
{
	struct checkpoint_known *known = find(watch, item->what.name);
	int64_t age_ms = time_now_ms() - item->what.time_ms;
	size_t i = 0;

	if (known && !strcmp(known->signature, item->signature)) {
		known->is_there = true;
		take_looks(item, known);
		/* The last scan saw the name before its event was there. */
		if (known->state == CHECKPOINT_NEW &&
		    checkpoint_news_has(&watch->news, IN_MOVED_TO,
					item->what.name))
			known->state = CHECKPOINT_WHOLE;
		take_news(watch, known);
		return;
	}
	if (known) {
		while (watch->all[i] != known)
			i++;
		known_free(known);
		watch->all[i] = watch->all[--watch->count];
	}
	known = add_known(watch, arena_new());
	known->what = checkpoint_copy(&item->what, known->mem);
	known->signature = arena_strdup(known->mem, item->signature);
	take_looks(item, known);
	/* It may be committed after its trainer's end. */
	known->state = item->word == CHECKPOINT_COMMITTED ? CHECKPOINT_NEW
							  : first_state(watch);
	known->is_there = true;
	/* A time in the future, from a clock that was set or another machine,
	 * proves nothing. */
	if (age_ms < 0)
		age_ms = 0;
	known->quiet_from_ms = time_monotonic_ms() - age_ms;
	if (checkpoint_news_has(&watch->news, IN_MOVED_TO, item->what.name))
		known->state = CHECKPOINT_WHOLE;
	take_news(watch, known);
}

/* Whether a program that failed has at least completed this checkpoint: it went
 * on afterwards, or began one with a later step. */
static bool went_on(const struct checkpoint_watch *watch,
		    const struct checkpoint_known *known)
{
	int64_t least_ms =
		watch->quiet_ms < WENT_ON_MS ? watch->quiet_ms : WENT_ON_MS;

	return known->is_closed &&
	       (known->is_passed ||
		known->closed_ms + least_ms <= watch->ended_ms);
}

/* Whether a folder of a later step, or of none if this has none, was begun
 * after the folder's last change. */
static bool is_followed(const struct checkpoint_watch *watch,
			const struct checkpoint_known *known)
{
	int64_t step = known->what.step;

	for (size_t i = 0; i < watch->count; i++) {
		const struct checkpoint_known *other = watch->all[i];

		if (other != known && other->is_there && other->is_folder &&
		    other->first_ms > known->what.time_ms &&
		    (step < 0 ? other->what.step < 0 : other->what.step > step))
			return true;
	}
	return false;
}

/* Whether somebody or something says that the folder is complete.  Its files
 * alone do not: more of them may be to come. */
static bool is_confirmed(const struct checkpoint_watch *watch,
			 const struct checkpoint_known *known)
{
	return known->word == CHECKPOINT_COMMITTED || is_followed(watch, known);
}

/* Settles what is new when the trainer has ended. */
static void settle_end(struct checkpoint_watch *watch,
		       struct checkpoint_known *known)
{
	int64_t until_ms = known->quiet_from_ms + watch->quiet_ms;
	bool whole = watch->ended_well ||
		     (!known->is_open && until_ms <= watch->ended_ms) ||
		     went_on(watch, known);

	if (known->is_folder && !watch->ended_well)
		whole = is_confirmed(watch, known) ||
			(whole && known->word == CHECKPOINT_LAST_FILE);
	whole = whole && !known->is_partial;
	known->state = whole ? CHECKPOINT_WHOLE : CHECKPOINT_BROKEN;
	watch->is_changed = true;
}

/* Applies the time that has passed; returns how long the checkpoint must still
 * stay quiet, or -1. */
static int64_t settle(struct checkpoint_watch *watch,
		      struct checkpoint_known *known)
{
	int64_t until_ms = known->quiet_from_ms + watch->quiet_ms;
	int64_t now_ms = time_monotonic_ms();
	bool was_open;

	if (known->state != CHECKPOINT_NEW)
		return -1;
	if (watch->ended_ms) {
		settle_end(watch, known);
		return -1;
	}
	if (known->is_partial)
		return -1;
	if (known->is_folder && is_confirmed(watch, known))
		until_ms = now_ms;
	else if (known->is_folder && known->word == CHECKPOINT_NO_WORD)
		return -1;
	if (until_ms > now_ms)
		return until_ms - now_ms;
	was_open = known->is_open;
	known->is_open = checkpoint_is_open(watch->folder, &known->what);
	if (known->is_open)
		return -1;
	/* The file may have been closed because its program just ended. */
	if (was_open) {
		known->quiet_from_ms = now_ms;
		return watch->quiet_ms;
	}
	known->state = CHECKPOINT_WHOLE;
	return -1;
}

static void drop_gone(struct checkpoint_watch *watch)
{
	size_t left = 0;

	for (size_t i = 0; i < watch->count; i++) {
		if (watch->all[i]->is_there)
			watch->all[left++] = watch->all[i];
		else
			known_free(watch->all[i]);
	}
	watch->count = left;
}

static bool has_untold(const struct checkpoint_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		if (watch->all[i]->state == CHECKPOINT_WHOLE &&
		    !watch->all[i]->is_told)
			return true;
	return false;
}

int checkpoint_watch_look(struct checkpoint_watch *watch, int64_t *next_ms,
			  struct error *err)
{
	struct arena *mem = arena_new();
	struct checkpoint_items items = { 0 };
	int ret = follow_folder(watch, err);

	*next_ms = -1;
	/* The events are taken before the scan: later ones are for the next
	 * look. */
	checkpoint_news_take(&watch->news, watch->inotify);
	if (ret == 0 && watch->folder >= 0)
		ret = checkpoint_scan(watch->folder, watch->path, mem, &items,
				      err);
	if (ret < 0)
		goto out;
	for (size_t i = 0; i < watch->count; i++)
		watch->all[i]->is_there = false;
	for (size_t i = 0; i < items.count; i++)
		take_item(watch, &items.items[i]);
	drop_gone(watch);
	for (size_t i = 0; i < watch->count; i++) {
		int64_t wait_ms = settle(watch, watch->all[i]);

		if (wait_ms >= 0 && (*next_ms < 0 || wait_ms < *next_ms))
			*next_ms = wait_ms;
	}
	watch->is_first = false;
	checkpoint_news_forget(&watch->news);
	/* Save now, so that a kill loses nothing. */
	if (has_untold(watch) || watch->is_changed)
		ret = checkpoint_watch_save(watch, err);
out:
	arena_free(mem);
	return ret;
}

int checkpoint_watch_end(struct checkpoint_watch *watch, int64_t ended_ms,
			 bool well, struct error *err)
{
	int64_t never;

	watch->ended_ms = ended_ms;
	watch->ended_well = well;
	return checkpoint_watch_look(watch, &never, err);
}

struct checkpoint_known *checkpoint_watch_next(struct checkpoint_watch *watch,
					       int64_t before_ms)
{
	for (size_t i = 0; i < watch->count; i++) {
		struct checkpoint_known *known = watch->all[i];

		if (known->state == CHECKPOINT_WHOLE && !known->is_told &&
		    known->what.time_ms <= before_ms) {
			known->is_told = true;
			return known;
		}
	}
	return NULL;
}

struct checkpoint_known **checkpoint_watch_all(struct checkpoint_watch *watch,
					       size_t *count)
{
	*count = watch->count;
	return watch->all;
}

static bool is_recorded(const struct checkpoint_watch *ledger,
			const struct checkpoint_item *item)
{
	for (size_t i = 0; i < ledger->count; i++)
		if (ledger->all[i]->state != CHECKPOINT_BROKEN &&
		    !strcmp(ledger->all[i]->signature, item->signature))
			return true;
	return false;
}

int checkpoint_watch_recorded(const char *path, struct arena *mem,
			      struct checkpoint **out, size_t *count,
			      struct error *err)
{
	struct checkpoint_watch ledger = { .path = (char *)path };
	struct checkpoint_items items = { 0 };
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = 0;

	*count = 0;
	if (folder < 0 && errno == ENOENT)
		return 0;
	if (folder < 0)
		return error_errno(err, "cannot open '%s'", path);
	read_ledger(&ledger);
	ret = checkpoint_scan(folder, path, mem, &items, err);
	*out = arena_alloc(mem, (items.count + 1) * sizeof(**out));
	for (size_t i = 0; ret == 0 && i < items.count; i++)
		if (is_recorded(&ledger, &items.items[i]))
			(*out)[(*count)++] = items.items[i].what;
	for (size_t i = 0; i < ledger.count; i++)
		known_free(ledger.all[i]);
	free(ledger.all);
	close(folder);
	return ret;
}

bool checkpoint_watch_is_same(struct checkpoint_watch *watch,
			      const struct checkpoint_known *known)
{
	struct arena *mem = arena_new();
	struct checkpoint_item now;
	struct error ignored;
	bool same = checkpoint_scan_one(watch->folder, watch->path,
					known->what.name, mem, &now,
					&ignored) == 0 &&
		    !strcmp(now.signature, known->signature);

	arena_free(mem);
	return same;
}
