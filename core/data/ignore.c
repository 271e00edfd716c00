/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/ignore.h"

#include <fnmatch.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"

#define PATTERN_COUNT_MAX 1000
#define PATTERN_MAX 255      /* bytes of one */
#define SEGMENT_COUNT_MAX 64 /* folders in one */

struct ignore_pattern {
	struct ignore_pattern *next;
	const char *segments[SEGMENT_COUNT_MAX];
	size_t count;
	bool any_depth; /* one name, at any depth */
	bool folders;   /* only those */
	bool take_back;
};

struct ignore {
	struct ignore_pattern *last; /* the last of the file first */
};

static const char always[] = ".git\n__pycache__\n*.pyc\n";

/* The end of a line without blanks, unless a backslash keeps the first. */
static size_t trimmed(const char *line, size_t len)
{
	while (len && strchr(" \t\r", line[len - 1]) &&
	       !(len > 1 && line[len - 2] == '\\'))
		len--;
	return len;
}

static int split(char *text, struct ignore_pattern *pattern)
{
	char *p;

	for (p = strtok_r(text, "/", &text); p;
	     p = strtok_r(NULL, "/", &text)) {
		if (pattern->count == SEGMENT_COUNT_MAX)
			return -1;
		pattern->segments[pattern->count++] = p;
	}
	return 0;
}

static int add(struct ignore *ignore, const char *line, size_t len,
	       struct arena *mem)
{
	struct ignore_pattern *pattern;
	bool take_back = false;
	char *text;

	len = trimmed(line, len);
	if (!len || line[0] == '#')
		return 0;
	if (line[0] == '!') {
		take_back = true;
		line++;
		len--;
	}
	if (len > PATTERN_MAX)
		return -1;
	text = arena_strndup(mem, line, len);
	pattern = arena_alloc(mem, sizeof(*pattern));
	pattern->take_back = take_back;
	if (len && text[len - 1] == '/') {
		pattern->folders = true;
		text[--len] = '\0';
	}
	pattern->any_depth = !strchr(text, '/');
	if (split(text, pattern) < 0)
		return -1;
	if (!pattern->count)
		return 0;
	pattern->next = ignore->last;
	ignore->last = pattern;
	return 0;
}

static int add_lines(struct ignore *ignore, const char *text, const char *name,
		     struct arena *mem, struct error *err)
{
	unsigned number = 1;
	size_t len;

	for (; *text; text += len + (text[len] == '\n'), number++) {
		len = strcspn(text, "\n");
		if (number > PATTERN_COUNT_MAX)
			return error_set(err, ERROR_INVALID,
					 "'%s' has more than %d lines", name,
					 PATTERN_COUNT_MAX);
		if (add(ignore, text, len, mem) < 0)
			return error_set(err, ERROR_INVALID,
					 "line %u of '%s' is longer than %d "
					 "bytes or %d folders",
					 number, name, PATTERN_MAX,
					 SEGMENT_COUNT_MAX);
	}
	return 0;
}

struct ignore *ignore_parse(const char *also, const char *text,
			    const char *name, struct arena *mem,
			    struct error *err)
{
	struct ignore *ignore = arena_alloc(mem, sizeof(*ignore));

	if (add_lines(ignore, always, "", mem, err) < 0 ||
	    add_lines(ignore, also ? also : "", "", mem, err) < 0 ||
	    add_lines(ignore, text, name, mem, err) < 0)
		return NULL;
	return ignore;
}

/* One name against one segment; `path` ends at a slash or at its end. */
static bool match_name(const char *segment, const char *path, size_t len)
{
	char name[256];

	if (len >= sizeof(name))
		return false;
	memcpy(name, path, len);
	name[len] = '\0';
	return fnmatch(segment, name, 0) == 0;
}

char *ignore_pattern(const char *path)
{
	struct buf out = { 0 };
	size_t len;

	if (path[0] == '/')
		return NULL;
	for (; *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (!len || (len == 1 && path[0] == '.'))
			continue;
		if (len == 2 && !strncmp(path, "..", 2)) {
			buf_done(&out);
			return NULL;
		}
		buf_putc(&out, '/');
		for (size_t i = 0; i < len; i++) {
			if (strchr("*?[]\\ ", path[i]))
				buf_putc(&out, '\\');
			buf_putc(&out, path[i]);
		}
	}
	if (!out.len)
		return NULL;
	buf_puts(&out, "/\n");
	return buf_take(&out);
}

static const char *after(const char *path)
{
	path += strcspn(path, "/");
	return *path ? path + 1 : path;
}

/* As with the stars of a shell pattern, only the last "**" ever needs to be
 * tried again, so this is never worse than segments times names. */
static bool match_path(const struct ignore_pattern *pattern, const char *path)
{
	const char *again = NULL;
	size_t i = 0, star = 0;

	while (*path) {
		if (i < pattern->count && !strcmp(pattern->segments[i], "**")) {
			star = ++i;
			again = path;
			/* At the end it stands for one name at least. */
			if (i == pattern->count)
				return true;
		} else if (i < pattern->count &&
			   match_name(pattern->segments[i], path,
				      strcspn(path, "/"))) {
			path = after(path);
			i++;
		} else if (again) {
			path = again = after(again);
			i = star;
		} else {
			return false;
		}
	}
	return i == pattern->count;
}

bool ignore_match(const struct ignore *ignore, const char *path, bool is_folder)
{
	const char *base = path_base(path);
	const struct ignore_pattern *pattern;
	bool match;

	for (pattern = ignore->last; pattern; pattern = pattern->next) {
		if (pattern->folders && !is_folder)
			continue;
		if (pattern->any_depth)
			match = match_name(pattern->segments[0], base,
					   strlen(base));
		else
			match = match_path(pattern, path);
		if (match)
			return !pattern->take_back;
	}
	return false;
}
