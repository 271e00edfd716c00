/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a job file while it is being read: UTF-8 without a byte order
 * mark (UTF-16 is converted) and without characters that YAML forbids, so that
 * later stages can rely on that.  Lines and columns are those of libyaml, but
 * counted from 1, in code points.
 */
#ifndef JOBRUN_SOURCE_TEXT_H
#define JOBRUN_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A larger job file is refused unread. */
#define SOURCE_SIZE_MAX ((size_t)8 << 20)

struct secret_span;

struct source {
	const char *name; /* as given: "jobs/a.yaml" or "-" */
	unsigned order;   /* the order of reading, which sorts problems */
	char *text;       /* followed by a NUL */
	size_t len;
	bool ascii;  /* columns are bytes */
	bool option; /* from the command line: see source_is_job() */
	bool own;    /* was asked for, and is not another file's base */

	/* Private: the lines, found when the first problem needs them. */
	bool looked, is_job;
	size_t *lines;
	size_t line_count;
	size_t last_line, last_column, last_offset;
	bool searched;
	struct secret_span *secrets;
	size_t secret_count;
};

/* The first invalid part of a file's bytes. */
struct source_fault {
	unsigned line, column;
	char text[160];
};

/*
 * Takes `data`, borrows `name`.  Returns -1 with the first fault if the bytes
 * are not text; the source can still show its lines.
 */
int source_init(struct source *source, const char *name, unsigned order,
		char *data, size_t len, struct source_fault *fault);
void source_done(struct source *source);

/*
 * Whether this is the text of a job, or of a part of one: a line starts with a
 * key of jobs, possibly misspelt, or for JSON one occurs anywhere.  Lines of
 * other files (a password file, say) are never shown.
 */
bool source_is_job(struct source *source);

/* Whether the byte is of a secret's value, which is never shown. */
bool source_is_secret(struct source *source, size_t offset);

/* The offset of a line and column; the end of the line if that is shorter. */
size_t source_offset(struct source *source, unsigned line, unsigned column);
/* Whether a line, or the text, ends at the offset. */
bool source_line_ends(const struct source *source, size_t offset);

/* Decodes one code point.  Returns its length, or 0 if the `len` bytes at `p`
 * do not start with a valid one. */
size_t utf8_decode(const char *p, size_t len, uint32_t *out);

/* Whether a terminal may do more than show it: control characters, and marks
 * that change the direction of text. */
bool utf8_is_control(uint32_t c);

#endif
