/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which files below a folder are the source of a job: one rule for
 * digests and for everything shipped, uploaded or packed. tree.h describes it.
 * core/data/tree.c does the walking.
 */
#ifndef JOBRUN_SOURCE_RULES_H
#define JOBRUN_SOURCE_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

enum source_version {
	SOURCE_NOW,
	/* The rules before Git's ignore files counted: for digest 1 of a job,
	 * and for unpacked packages, which are taken whole. */
	SOURCE_VERSION_1,
};

struct source_options {
	enum source_version version;
	const char *also; /* more patterns of ours, or NULL */
	/* Paths that jobrun itself writes, absolute and without links. */
	const char *const *never;
	size_t never_count;
	const char *root; /* the folder must be below this one, or NULL */
};

enum source_reason {
	SOURCE_SHIPS,
	SOURCE_ONLY_TRACKED, /* a folder that Git tracks in part */
	/* Left out: */
	SOURCE_BUILT_IN,    /* .git, __pycache__, *.pyc */
	SOURCE_ALSO,        /* by `also`, even if Git tracks it */
	SOURCE_IGNORE_FILE, /* by .jobrunignore */
	SOURCE_GITIGNORE,   /* by a .gitignore */
	SOURCE_OWN,         /* a state directory, a saved plan, `never` */
	SOURCE_REASON_COUNT,
};

struct source_rules; /* for one walk */

/* The rules that hold below one folder; borrowed from the rules. */
struct source_scope;

/* `fd` is the open folder, and `real` its path; both names are borrowed.
 * Returns new, or NULL. */
struct source_rules *source_rules_new(const char *folder, const char *real,
				      int fd,
				      const struct source_options *options,
				      struct error *err);
void source_rules_free(struct source_rules *rules);

/* The scope of the top folder. */
const struct source_scope *source_rules_top(const struct source_rules *rules);
/* Enters a folder, open as `fd`, at `path` below the top; `reason` is what
 * source_rules_decide() returned for it. */
const struct source_scope *source_rules_enter(struct source_rules *rules,
					      const struct source_scope *outer,
					      const char *path, int fd,
					      enum source_reason reason,
					      struct error *err);
/* `path` is relative to the top, and `parent` is the open folder that has
 * it. */
enum source_reason source_rules_decide(struct source_rules *rules,
				       const struct source_scope *scope,
				       const char *path, int parent,
				       bool is_folder);
/* Fails if the walk takes too long because of a stranger's patterns. */
int source_rules_check(const struct source_rules *rules, struct error *err);
/* Whether a file starting like this is a plan of jobrun's. */
bool source_rules_is_plan(const struct source_rules *rules, const char *start,
			  size_t len);
/* The path in the repository of a folder that a .gitignore lists and that is
 * the source's folder or contains it: no clone has it.  NULL if there is
 * none. */
const char *source_rules_ignored(const struct source_rules *rules);
/* Whether empty folders count; Git keeps none, and two clones must agree. */
bool source_rules_keep_folders(const struct source_rules *rules);

/* "by .gitignore"; NULL: not worth reporting, since programs make and remove
 * such files while they run. */
const char *source_reason_text(enum source_reason reason);

#endif
