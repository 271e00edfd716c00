/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a job file while it is being read: UTF-8 without a byte order
 * mark (UTF-16 is converted) and without characters that YAML forbids, so
 * that whatever comes after can rely on that.  Lines and columns are those
 * of libyaml: from 1 here, in code points.
 */
#ifndef JOBRUN_SOURCE_TEXT_H
#define JOBRUN_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job file larger than this is refused unread. */
#define SOURCE_SIZE_MAX ((size_t)8 << 20)

struct source {
	const char *name; /* as it was named: "jobs/a.yaml" or "-" */
	unsigned order;   /* of reading: sorts problems */
	char *text;       /* followed by a NUL */
	size_t len;
	bool ascii;  /* columns are bytes */
	bool option; /* of the command line: see source_is_job() */
	bool own;    /* it was asked for, and is no base of another */

	/* Private: the lines, found when the first problem asks. */
	bool looked, is_job;
	size_t *lines;
	size_t line_count;
	size_t last_line, last_column, last_offset;
};

/* The first fault in the bytes of a file. */
struct source_fault {
	unsigned line, column;
	char text[160];
};

/*
 * Takes `data`, borrows `name`.  Returns -1 with the first fault if the
 * bytes are not text; the source is usable all the same, to show its lines.
 */
int source_init(struct source *source, const char *name, unsigned order,
		char *data, size_t len, struct source_fault *fault);
void source_done(struct source *source);

/*
 * Whether it is the text of a job, or of a part of one: a key of jobs stands
 * at the start of a line, perhaps misspelt, or anywhere in one that is JSON.
 * Lines of others (of a password file, say) are never shown.
 */
bool source_is_job(struct source *source);

/* The byte at a line and column; the end of the line if that is shorter. */
size_t source_offset(struct source *source, unsigned line, unsigned column);
/* Whether a line, or the text, ends there. */
bool source_line_ends(const struct source *source, size_t offset);

/* Decodes one code point.  Returns its length, or 0 if there is no valid one
 * in the `len` bytes at `p`. */
size_t utf8_decode(const char *p, size_t len, uint32_t *out);

/* Whether showing it could do more than show it: controls, and the marks
 * that turn the direction of text. */
bool utf8_is_control(uint32_t c);

#endif
