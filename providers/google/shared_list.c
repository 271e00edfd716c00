/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/shared_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/json.h"

/* The number of things from which on a list is cheaper. */
#define MANY 3
/* For how long a place that cannot be listed is not tried again. */
#define REFUSED_MS (10 * 60 * 1000)
/* How long another process may take to list the place. */
#define PATIENCE_MS 3000
#define PAUSE_MS 20
#define FILE_MAX (16 << 20)

/* What is known of a place.  `state` is {"atMs", "refused"} or, unless the list
 * failed, {"atMs", "list"}; the time is that before the list was asked for. */
struct shared_place {
	json_t *seen;  /* {NAME: when it was last looked for}, owned */
	json_t *state; /* owned; NULL: not known (yet) */
	int lock;      /* with a folder: the locked file, which has `seen` */
	char *path;    /* with a folder: the file that has `state`, owned */
};

void shared_lists_init(struct shared_lists *lists, const char *folder)
{
	lists->folder = folder ? mem_strdup(folder) : NULL;
	pthread_mutex_init(&lists->lock, NULL);
	lists->places = json_object();
}

void shared_lists_done(struct shared_lists *lists)
{
	free(lists->folder);
	json_decref(lists->places);
	pthread_mutex_destroy(&lists->lock);
}

void shared_lists_forget(struct shared_lists *lists)
{
	pthread_mutex_lock(&lists->lock);
	json_object_clear(lists->places);
	pthread_mutex_unlock(&lists->lock);
}

/* ---- in files ---------------------------------------------------------- */

/* Returns new, or NULL: a writer may have been killed half-way. */
static json_t *read_object(int fd, const char *path)
{
	struct error ignored;
	size_t len = 0;
	char *text = file_read_fd(fd, path, FILE_MAX, &len, &ignored);
	json_t *out = text ? json_read(text, len, path, &ignored) : NULL;

	free(text);
	if (json_is_object(out))
		return out;
	json_decref(out);
	return NULL;
}

/* What could not be written whole is no JSON for the next reader. */
static void write_object(int fd, const json_t *value)
{
	struct buf text = { 0 };

	json_print_short(value, &text);
	if (ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		fd_write(fd, text.data, text.len);
	buf_done(&text);
}

/* Returns whether it has the lock. */
static bool lock_file(int fd)
{
	int64_t until_ms = time_monotonic_ms() + PATIENCE_MS;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || time_monotonic_ms() > until_ms)
			return false;
		time_pause(PAUSE_MS);
	}
	return true;
}

static bool enter_file(struct shared_lists *lists, const char *name,
		       struct shared_place *out)
{
	struct digest digest;
	struct error ignored;
	char *path;

	if (folder_make(lists->folder, &ignored) < 0)
		return false;
	digest_bytes(name, strlen(name), &digest);
	path = mem_printf("%s/%s", lists->folder, digest.hex);
	out->path = mem_printf("%s.list", path);
	out->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(path);
	if (out->lock < 0 || !lock_file(out->lock))
		return false;
	out->seen = read_object(out->lock, lists->folder);
	return true;
}

static void read_state(struct shared_place *place)
{
	int fd = open(place->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	place->state = read_object(fd, place->path);
	close(fd);
}

static void write_state(const struct shared_place *place)
{
	int fd = open(place->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	write_object(fd, place->state);
	close(fd);
}

/* ---- one place --------------------------------------------------------- */

static bool enter(struct shared_lists *lists, const char *name,
		  struct shared_place *out)
{
	json_t *known;

	*out = (struct shared_place){ .lock = -1 };
	if (lists->folder && !enter_file(lists, name, out))
		return false;
	if (!lists->folder) {
		pthread_mutex_lock(&lists->lock);
		known = json_object_get(lists->places, name);
		out->seen = json_incref(json_object_get(known, "seen"));
		out->state = json_incref(json_object_get(known, "state"));
	}
	if (!out->seen)
		out->seen = json_object();
	return true;
}

static void place_done(struct shared_place *place)
{
	json_decref(place->seen);
	json_decref(place->state);
	free(place->path);
	if (place->lock >= 0)
		close(place->lock);
}

/* Keeps what is known of the place. */
static void leave(struct shared_lists *lists, const char *name,
		  struct shared_place *place)
{
	json_t *known;

	if (!lists->folder) {
		known = json_object();
		json_object_set(known, "seen", place->seen);
		json_object_set(known, "state", place->state);
		json_object_set_new(lists->places, name, known);
		pthread_mutex_unlock(&lists->lock);
	}
	place_done(place);
}

/* Notes the look; returns for how many things there were looks recently. */
static size_t note_look(struct shared_place *place,
			const struct shared_look *look, int64_t now_ms)
{
	json_t *value;
	const char *key;
	void *next;

	json_object_set_new(place->seen, look->name, json_integer(now_ms));
	json_object_foreach_safe(place->seen, next, key, value)
	{
		int64_t at_ms = json_integer_value(value);

		if (look->recent_ms &&
		    (at_ms > now_ms || at_ms < now_ms - look->recent_ms))
			json_object_del(place->seen, key);
	}
	if (place->lock >= 0)
		write_object(place->lock, place->seen);
	return json_object_size(place->seen);
}

/* Whether the state says what a new list would say. */
static bool is_fresh(const struct shared_place *place, int64_t fresh_ms,
		     int64_t now_ms)
{
	int64_t age_ms = now_ms - json_get_int(place->state, "atMs", 0);

	if (!place->state || age_ms < 0) /* the clock was set back */
		return false;
	if (json_object_get(place->state, "refused"))
		return age_ms < REFUSED_MS;
	return !fresh_ms || age_ms < fresh_ms;
}

static void list(struct shared_place *place, const struct shared_look *look,
		 int64_t now_ms)
{
	struct error why;
	json_t *out = NULL;
	int ret = look->list(look->arg, &out, &why);

	json_decref(place->state);
	place->state = json_object();
	json_put_int(place->state, "atMs", now_ms);
	if (ret == 0)
		json_put(place->state, "list", out);
	else if (ret == 1 || error_is_denied(&why))
		json_put(place->state, "refused", json_true());
	if (place->path)
		write_state(place);
}

json_t *shared_lists_look(struct shared_lists *lists,
			  const struct shared_look *look)
{
	int64_t now_ms = time_now_ms();
	json_t *out = NULL;
	struct shared_place place;

	if (!enter(lists, look->place, &place)) {
		place_done(&place);
		return NULL;
	}
	if (note_look(&place, look, now_ms) >= MANY) {
		if (place.path)
			read_state(&place);
		/* Another process may have listed it while this one waited. */
		now_ms = time_now_ms();
		if (!is_fresh(&place, look->fresh_ms, now_ms))
			list(&place, look, now_ms);
		out = json_incref(json_object_get(place.state, "list"));
	}
	leave(lists, look->place, &place);
	return out;
}
