/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/ignore.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/data/glob.h"

/* of a whole stack, as each pattern costs time for each path */
#define PATTERN_COUNT_MAX 4000
#define PATTERN_MAX 1024 /* bytes of one pattern */

struct ignore_pattern {
	struct ignore_pattern *next;
	const char *text;
	size_t literal; /* the number of literal bytes at its start */
	size_t len;
	bool any_depth; /* a single name, matched at any depth */
	bool folders;   /* only those */
	bool take_back;
};

struct ignore {
	const struct ignore *under;
	const char *below;
	size_t below_len;
	/* the last pattern of the file comes first */
	struct ignore_pattern *last;
	size_t count; /* including those of the lists below */
};

static const char built_in[] = ".git\n__pycache__\n*.pyc\n";

/* The length without trailing blanks, except one kept by a backslash. */
static size_t trimmed(const char *line, size_t len)
{
	bool escaped = false;
	size_t end = 0, i;

	for (i = 0; i < len; i++) {
		if (line[i] != ' ' || escaped)
			end = i + 1;
		escaped = line[i] == '\\' && !escaped;
	}
	return end;
}

static int add(struct ignore *ignore, const char *line, size_t len,
	       struct arena *mem)
{
	struct ignore_pattern *pattern;
	bool take_back = false;

	if (len && line[len - 1] == '\r')
		len--;
	len = trimmed(line, strnlen(line, len));
	if (!len || line[0] == '#')
		return 0;
	if (line[0] == '!') {
		take_back = true;
		line++;
		len--;
	}
	if (len > PATTERN_MAX)
		return -1;
	pattern = arena_alloc(mem, sizeof(*pattern));
	pattern->take_back = take_back;
	if (len && line[len - 1] == '/') {
		pattern->folders = true;
		len--;
	}
	pattern->any_depth = !memchr(line, '/', len);
	if (!pattern->any_depth && line[0] == '/') {
		line++;
		len--;
	}
	pattern->text = arena_strndup(mem, line, len);
	pattern->len = len;
	pattern->literal = strcspn(pattern->text, "*?[\\");
	if (!len || !glob_is_valid(pattern->text))
		return 0;
	pattern->next = ignore->last;
	ignore->last = pattern;
	ignore->count++;
	return 0;
}

static int add_lines(struct ignore *ignore, const char *text, size_t len,
		     const char *name, struct arena *mem, struct error *err)
{
	static const char mark[] = "\xef\xbb\xbf";
	const char *end = text + len;
	unsigned number = 1;

	if (len >= 3 && !memcmp(text, mark, 3))
		text += 3;
	for (; text < end; number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);

		if (add(ignore, text, n, mem) < 0)
			return error_set(err, ERROR_INVALID,
					 "line %u of '%s' is longer than %d "
					 "bytes",
					 number, name, PATTERN_MAX);
		if (ignore->count > PATTERN_COUNT_MAX)
			return error_set(err, ERROR_INVALID,
					 "'%s' and what it adds to have more "
					 "than %d patterns",
					 name, PATTERN_COUNT_MAX);
		text += n + 1;
	}
	return 0;
}

const struct ignore *ignore_put(const struct ignore *under, const char *below,
				const char *text, size_t len, const char *name,
				struct arena *mem, struct error *err)
{
	struct ignore *ignore = arena_alloc(mem, sizeof(*ignore));

	ignore->under = under;
	ignore->below = arena_strdup(mem, below);
	ignore->below_len = strlen(below);
	ignore->count = under ? under->count : 0;
	if (add_lines(ignore, text, len, name, mem, err) < 0)
		return NULL;
	return ignore;
}

const struct ignore *ignore_built_in(struct arena *mem, struct error *err)
{
	return ignore_put(NULL, "", built_in, strlen(built_in), "", mem, err);
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

/* The literal start alone rules out or matches most patterns. */
static bool match(const struct ignore_pattern *pattern, const char *path,
		  const char *base, uint64_t *steps)
{
	const char *text = pattern->any_depth ? base : path;

	if (strncmp(text, pattern->text, pattern->literal) != 0)
		return false;
	if (pattern->literal == pattern->len)
		return !text[pattern->literal];
	return glob_match(pattern->text + pattern->literal,
			  text + pattern->literal, !pattern->any_depth, steps);
}

static bool is_below(const struct ignore *ignore, const char *path)
{
	size_t n = ignore->below_len;

	return !n || (!strncmp(path, ignore->below, n) && path[n] == '/');
}

enum ignore_verdict ignore_decide(const struct ignore *ignore, const char *path,
				  bool is_folder, uint64_t *steps)
{
	const char *base = path_base(path);
	const struct ignore_pattern *pattern;

	for (; ignore; ignore = ignore->under) {
		const char *from =
			path + ignore->below_len + (ignore->below_len > 0);

		if (!is_below(ignore, path))
			continue;
		for (pattern = ignore->last; pattern; pattern = pattern->next)
			if ((is_folder || !pattern->folders) &&
			    match(pattern, from, base, steps))
				return pattern->take_back ? IGNORE_IN
							  : IGNORE_OUT;
	}
	return IGNORE_SILENT;
}
