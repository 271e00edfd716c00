/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/fake/world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"

#define FILE_MAX (1024 * 1024)
#define LOG_MAX (256 * 1024 * 1024)
#define LOG_NAME "calls.log"
#define REQUESTS_NAME "requests.log"

struct world {
	char *folder;
	int lock;
};

struct world *world_enter(const char *folder, struct error *err)
{
	struct world *world = mem_alloc(sizeof(*world));
	char *path = path_join(folder, "lock");

	world->folder = mem_strdup(folder);
	world->lock = -1;
	world->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (world->lock < 0 && errno == ENOENT) {
		if (folder_make(folder, err) < 0)
			goto fail;
		world->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	}
	if (world->lock < 0) {
		error_errno(err, "cannot open '%s'", path);
		goto fail;
	}
	while (flock(world->lock, LOCK_EX) < 0) {
		if (errno == EINTR)
			continue;
		error_errno(err, "cannot lock '%s'", path);
		goto fail;
	}
	free(path);
	return world;
fail:
	free(path);
	world_leave(world);
	return NULL;
}

void world_leave(struct world *world)
{
	if (!world)
		return;
	if (world->lock >= 0)
		close(world->lock);
	free(world->folder);
	free(world);
}

static char *path_of(const struct world *world, const char *kind,
		     const char *name)
{
	return mem_printf("%s/%s.%s.json", world->folder, kind, name);
}

int world_get(struct world *world, const char *kind, const char *name,
	      json_t **out, struct error *err)
{
	char *path = path_of(world, kind, name);
	int ret = json_file_read(path, FILE_MAX, out, err);

	free(path);
	return ret < 0 ? -1 : 0;
}

int world_put(struct world *world, const char *kind, const char *name,
	      const json_t *value, struct error *err)
{
	char *path = path_of(world, kind, name);
	struct buf text = { 0 };
	int ret;

	json_print(value, &text);
	ret = file_write(path, text.data, text.len, err);
	buf_done(&text);
	free(path);
	return ret;
}

int world_remove(struct world *world, const char *kind, const char *name,
		 struct error *err)
{
	char *path = path_of(world, kind, name);
	int ret = 0;

	if (unlink(path) < 0 && errno != ENOENT)
		ret = error_errno(err, "cannot remove '%s'", path);
	free(path);
	return ret;
}

static int append(struct world *world, const char *name, struct buf *line,
		  struct error *err)
{
	char *path = path_join(world->folder, name);
	int ret = 0;
	int fd;

	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write(fd, line->data, line->len) < 0)
		ret = error_errno(err, "cannot write '%s'", path);
	if (fd >= 0)
		close(fd);
	free(path);
	return ret;
}

/* Returns the name in "KIND.NAME.json" as a new string, or NULL for other
 * files. */
static char *name_of(const char *file, const char *kind)
{
	size_t n = strlen(file), skip = strlen(kind) + 1;

	if (n < skip + strlen(".json") || !text_starts(file, kind) ||
	    file[skip - 1] != '.' || !text_ends(file, ".json"))
		return NULL;
	return mem_printf("%.*s", (int)(n - skip - strlen(".json")),
			  file + skip);
}

int world_each(struct world *world, const char *kind,
	       int (*each)(void *arg, const char *name, const json_t *value,
			   struct error *err),
	       void *arg, struct error *err)
{
	DIR *dir = opendir(world->folder);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return error_errno(err, "cannot open '%s'", world->folder);
	while (ret == 0 && (entry = readdir(dir))) {
		char *name = name_of(entry->d_name, kind);
		json_t *value = NULL;

		if (name)
			ret = world_get(world, kind, name, &value, err);
		if (value)
			ret = each(arg, name, value, err);
		json_decref(value);
		free(name);
	}
	closedir(dir);
	return ret;
}

char *world_fail_at(struct world *world, struct error *err)
{
	char *path = path_join(world->folder, "failAt");
	size_t len;
	char *text = access(path, F_OK) < 0 && errno == ENOENT
			     ? mem_strdup("")
			     : file_read(path, FILE_MAX, &len, err);

	free(path);
	return text;
}

int world_log(struct world *world, const char *job, enum fake_call call,
	      const char *kind, const char *name, const char *result,
	      struct error *err)
{
	struct buf line = { 0 };
	int ret;

	buf_printf(&line, "%s %s %s %s %s\n", job, fake_call_name(call), kind,
		   name, result);
	ret = append(world, LOG_NAME, &line, err);
	buf_done(&line);
	return ret;
}

int world_log_request(struct world *world, const json_t *line,
		      struct error *err)
{
	char *text = json_canonical(line);
	struct buf all = { 0 };
	int ret;

	buf_printf(&all, "%s\n", text ? text : "");
	ret = append(world, REQUESTS_NAME, &all, err);
	buf_done(&all);
	free(text);
	return ret;
}

/* Cuts the next word off the line. */
static const char *word(char **rest)
{
	const char *start = *rest;

	*rest += strcspn(*rest, " ");
	if (**rest)
		*(*rest)++ = '\0';
	return start;
}

static void count_line(char *line, const char *job, struct trouble_tally *tally)
{
	const char *call, *name;
	bool same, here;

	if (strcmp(word(&line), job) != 0)
		return;
	call = word(&line);
	word(&line);
	name = word(&line);
	same = !strcmp(call, fake_call_name(tally->call));
	here = !strcmp(name, tally->name);
	tally->of_any++;
	tally->of_call += same;
	tally->of_any_here += here;
	tally->of_call_here += here && same;
}

int world_tally(struct world *world, const char *job, enum fake_call call,
		const char *name, struct trouble_tally *out, struct error *err)
{
	char *path = path_join(world->folder, LOG_NAME);
	char *text = NULL, *line, *end;
	size_t len;
	int ret = -1;

	*out = (struct trouble_tally){ call, name, 1, 1, 1, 1 };
	if (access(path, F_OK) < 0 && errno == ENOENT) {
		ret = 0;
		goto out;
	}
	text = file_read(path, LOG_MAX, &len, err);
	if (!text)
		goto out;
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		count_line(line, job, out);
	}
	ret = 0;
out:
	free(text);
	free(path);
	return ret;
}
