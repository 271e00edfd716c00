/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/glob.h"

#include <ctype.h>
#include <string.h>

#include "core/base/alloc.h"

#define CLASS_NAME_MAX 6

static const struct class
{
	const char *name;
	int (*is)(int c);
} classes[] = {
	{ "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank },
	{ "cntrl", iscntrl }, { "digit", isdigit }, { "graph", isgraph },
	{ "lower", islower }, { "print", isprint }, { "punct", ispunct },
	{ "space", isspace }, { "upper", isupper }, { "xdigit", isxdigit },
};

/* A position in [...], and the byte before it, which may start a range, or
 * 0. */
struct bracket {
	const char *at;
	unsigned char before;
	bool found;
};

/* Matches "[:alpha:]" at `b->at`.  Returns 1 if there is a class, 0 if there is
 * none, -1 if it is unknown or not closed. */
static int match_class(struct bracket *b, unsigned char c)
{
	const char *name = b->at + 2;
	const char *end = strchr(name, ']');
	size_t len, i;

	if (!end)
		return -1;
	if (end == name || end[-1] != ':')
		return 0;
	len = (size_t)(end - name) - 1;
	for (i = 0; i < COUNT(classes); i++)
		if (len <= CLASS_NAME_MAX && len == strlen(classes[i].name) &&
		    !memcmp(name, classes[i].name, len))
			break;
	if (i == COUNT(classes))
		return -1;
	b->found = b->found || classes[i].is(c);
	b->before = 0;
	b->at = end + 1;
	return 1;
}

/* Matches one member, range or class.  Returns -1 if the pattern ends in it. */
static int match_member(struct bracket *b, unsigned char c)
{
	unsigned char low = b->before, high;

	if (b->at[0] == '[' && b->at[1] == ':') {
		int class = match_class(b, c);

		if (class)
			return class < 0 ? -1 : 0;
	}
	if (b->at[0] == '-' && low && b->at[1] && b->at[1] != ']') {
		b->at++;
		if (b->at[0] == '\\')
			b->at++;
		high = (unsigned char)b->at[0];
		b->found = b->found || (c >= low && c <= high);
		b->before = 0;
	} else {
		if (b->at[0] == '\\')
			b->at++;
		b->before = (unsigned char)b->at[0];
		b->found = b->found || c == b->before;
	}
	return *b->at++ ? 0 : -1;
}

/* `*pattern` is after the opening bracket, and afterwards after the closing
 * one.  Returns -1 if there is none. */
static int match_bracket(const char **pattern, unsigned char c)
{
	bool other = **pattern == '!' || **pattern == '^';
	struct bracket b = { .at = *pattern + other };

	/* A closing bracket is a member if it comes first. */
	do
		if (match_member(&b, c) < 0)
			return -1;
	while (*b.at != ']');
	*pattern = b.at + 1;
	return b.found != other && c != '/';
}

/* Matches the next byte of the text against anything but a star or the end. */
static bool match_one(const char **pattern, char c)
{
	char p = *(*pattern)++;

	if (!p || !c)
		return false;
	if (p == '?')
		return c != '/';
	if (p == '[')
		return match_bracket(pattern, (unsigned char)c) > 0;
	if (p == '\\')
		p = *(*pattern)++;
	return p == c;
}

bool glob_is_valid(const char *pattern)
{
	while (*pattern) {
		char p = *pattern++;

		if (p == '\\' && !*pattern++)
			return false;
		if (p == '[' && match_bracket(&pattern, 'x') < 0)
			return false;
	}
	return true;
}

/* Where to go on when the pattern after a star did not match.  Only the last
 * star ever needs to be retried: text that an earlier one could match besides,
 * the last one matches as well. */
struct retry {
	const char *pattern; /* after the star; NULL: none */
	const char *text;
	/* `**` and a slash: may end only at the start of a name */
	bool folders;
};

static bool advance(struct retry *retry)
{
	const char *slash;

	if (!retry->pattern || !*retry->text)
		return false;
	if (!retry->folders) {
		retry->text++;
		return true;
	}
	slash = strchr(retry->text, '/');
	if (!slash)
		return false;
	retry->text = slash + 1;
	return true;
}

/* Whether these stars also match slashes. */
static bool is_deep(const char *start, const char *stars, const char *end,
		    bool is_path)
{
	if (!is_path)
		return true;
	return end - stars > 1 && (stars == start || stars[-1] == '/') &&
	       (!*end || *end == '/' || !strncmp(end, "\\/", 2));
}

bool glob_match(const char *pattern, const char *text, bool is_path,
		uint64_t *steps)
{
	struct retry star = { 0 }, deep = { 0 };
	const char *start = pattern;

	for (;; ++*steps) {
		if (*pattern == '*') {
			const char *end = pattern + strspn(pattern, "*");
			bool crosses = is_deep(start, pattern, end, is_path);
			bool folders = crosses && is_path && *end == '/';
			struct retry *one = crosses ? &deep : &star;

			star = (struct retry){ 0 };
			*one = (struct retry){ end + folders, text, folders };
			pattern = one->pattern;
			continue;
		}
		if (!*pattern && !*text)
			return true;
		if (match_one(&pattern, *text)) {
			text++;
			continue;
		}
		if (star.text && *star.text != '/' && advance(&star)) {
			pattern = star.pattern;
			text = star.text;
		} else if (advance(&deep)) {
			star = (struct retry){ 0 };
			pattern = deep.pattern;
			text = deep.text;
		} else {
			return false;
		}
	}
}
