/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems of job files: a list that checkers add to before they go on, so that
 * all are shown in one pass.  Sorted by file, in the order of reading, and
 * position.
 */
#ifndef JOBRUN_PROBLEM_H
#define JOBRUN_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"

struct node;
struct source;

enum severity {
	SEVERITY_ERROR,
	SEVERITY_WARNING,
	SEVERITY_NOTE,
};

struct position {
	const char *file;
	unsigned line, column; /* from 1; line 0: the file as a whole */
	unsigned length;       /* of the text concerned, in code points */

	/* The source line, or the part of it around the column. */
	const char *excerpt;    /* NULL if there is none */
	unsigned excerpt_start; /* code points cut off before the excerpt */
	bool excerpt_cut;       /* something was cut off after it */
};

/* Another place related to a problem, and its role. */
struct label {
	struct position at;
	const char *message; /* "first given here" */
};

/* Replaces the text at a position, within one line, to fix a problem. */
struct edit {
	unsigned line, column, length; /* as in a position */
	const char *text;
};

#define PROBLEM_LABELS_MAX 4

struct problem {
	struct position at;
	unsigned order; /* the file's order */
	enum severity severity;
	const char *path; /* "trainingInput.args[2]", or "" */
	const char *rule; /* "unknown-key" */
	const char *message;
	const char *hint; /* what to do about it, or NULL */

	struct label labels[PROBLEM_LABELS_MAX]; /* all other places */
	unsigned label_count;
	/* The one certain fix in this file, if there is one. */
	struct edit *edits;
	unsigned edit_count;
};

struct problems { /* `= { 0 }` is empty and ready */
	struct problem *items;
	size_t count;
	size_t errors; /* includes those that were not kept */
	size_t warnings;
	size_t notes;
	/* The number of files read, and of those with errors or warnings. */
	size_t files, bad_files;
	bool strict; /* warnings are added as errors */

	/* Private. */
	struct arena *mem;
	size_t size;
	bool open; /* the last problem was kept: a hint can be added */
	size_t added;
	size_t kept[3]; /* of each severity, by problems_move() */
};

/* A position in a job: a list from the inside out, on the stack of the
 * functions that walk the job. */
struct path {
	const struct path *up;
	const char *name; /* NULL: an item of a list, at `index` */
	size_t index;
};

void problems_done(struct problems *found);

/* `path` may be NULL.  The node may be of any file that is still being read, or
 * of an earlier one: then there is no source line. */
void problem_add(struct problems *found, enum severity severity,
		 const struct node *at, const struct path *path,
		 const char *rule, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* The same at a position without a node. */
void problem_add_at(struct problems *found, enum severity severity,
		    struct source *source, unsigned line, unsigned column,
		    unsigned length, const char *rule, const char *format, ...)
	__attribute__((format(printf, 8, 9)));

/* Adds a problem of a whole file, for instance that it cannot be read. */
void problem_add_file(struct problems *found, enum severity severity,
		      const char *file, unsigned order, const char *rule,
		      const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* Adds to the last problem a hint about what to do. */
void problem_hint(struct problems *found, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether further problems are only counted, so that details are not needed. */
bool problems_is_full(const struct problems *found);

/* Adds a related place to the last problem, with a label; at most
 * PROBLEM_LABELS_MAX are kept. */
void problem_also(struct problems *found, const struct node *at,
		  const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same at a position without a node; `source` may be NULL if `file` is
 * another file. */
void problem_also_at(struct problems *found, struct source *source,
		     const char *file, unsigned line, unsigned column,
		     unsigned length, const char *message);

/* Records the fix for the last problem: this text in place of the scalar.  Does
 * nothing if the scalar is not on one line of the file, or is used in several
 * places. */
void problem_fix(struct problems *found, const struct node *at,
		 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for another spelling of the text: quotes stay. */
void problem_respell(struct problems *found, const struct node *at,
		     const char *text);

void problems_sort(struct problems *found);

/* Moves all of `from`, the problems of one file in their order, to the end of
 * `found`, and leaves it empty.  Keeps at most `limit` of each severity (0:
 * all); the others are only counted. */
void problems_move(struct problems *found, struct problems *from, size_t limit);

/* Drops duplicates, from a file that was read twice. */
void problems_unite(struct problems *found);
/* Drops the problems of files with an order from `from` up to, but not
 * including, the end. */
void problems_drop(struct problems *found, unsigned from, unsigned to);

size_t problems_errors(const struct problems *found);
/* How many problems were counted but not kept. */
size_t problems_omitted(const struct problems *found);

enum problems_style {
	PROBLEMS_COLOUR = 1 << 0,
};

/* Formats "file:line:column: error: message [rule]", the source line, a caret,
 * a hint. */
void problems_text(const struct problems *found, unsigned style,
		   struct buf *out);
/* {"formatVersion":1,"problems":[...]} */
void problems_json(const struct problems *found, struct buf *out);
/* SARIF 2.1.0, for code scanning. */
void problems_sarif(const struct problems *found, struct buf *out);
/* Workflow commands for GitHub, which become annotations. */
void problems_github(const struct problems *found, struct buf *out);

/* "40 errors and 1 warning in 7 of 30 files"; "" if there is none. */
void problems_summary(const struct problems *found, struct buf *out);

/*
 * Applies the fixes to the text of a file, and sets the number of edits.  No
 * line is added or removed.  Returns new, or NULL if there is nothing to fix,
 * or the file is not in UTF-8.
 */
char *problems_mend(const struct problems *found, const char *file,
		    const char *text, size_t len, size_t *count);
/* Shows the difference of two texts with the same number of lines, in the
 * format of diff -u. */
void lines_diff(const char *name, const char *before, const char *after,
		struct buf *out);

/* Adds the text with everything escaped that could affect a terminal. */
void problem_put_safe(struct buf *out, const char *text);

const char *severity_name(enum severity severity);

/* Shortens the text for a message, never cutting within a code point.  Returns
 * `out`. */
#define SHORT_SIZE 128
const char *text_short(const char *text, char out[SHORT_SIZE]);

#endif
