/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files below a folder are the source of a job: one rule for digests and
 * for all that is shipped, uploaded or packed.  It is described in tree.h.
 * Walking is left to core/data/tree.c.
 */
#ifndef JOBRUN_SOURCE_RULES_H
#define JOBRUN_SOURCE_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

enum source_version {
	SOURCE_NOW,
	/* Before Git's ignore files counted: digest 1 of a job is over that,
	 * and packages that were unpacked are taken whole. */
	SOURCE_VERSION_1,
};

struct source_options {
	enum source_version version;
	const char *also; /* patterns of ours, or NULL */
	/* Paths, absolute and without links, of what jobrun itself writes. */
	const char *const *never;
	size_t never_count;
	const char *root; /* what the folder must be below, or NULL */
};

enum source_reason {
	SOURCE_SHIPS,
	SOURCE_ONLY_TRACKED, /* a folder of which Git tracks a part */
	/* Left out: */
	SOURCE_BUILT_IN,    /* .git, __pycache__, *.pyc */
	SOURCE_ALSO,        /* by `also`, even if Git tracks it */
	SOURCE_IGNORE_FILE, /* by .jobrunignore */
	SOURCE_GITIGNORE,   /* by a .gitignore */
	SOURCE_OWN,         /* a state directory, a saved plan, `never` */
	SOURCE_REASON_COUNT,
};

struct source_rules; /* of one walk */

/* What holds below one folder; borrowed from the rules. */
struct source_scope;

/* `fd` is the folder, open, and `real` where it is; both names are borrowed.
 * Returns new, or NULL. */
struct source_rules *source_rules_new(const char *folder, const char *real,
				      int fd,
				      const struct source_options *options,
				      struct error *err);
void source_rules_free(struct source_rules *rules);

/* The scope of the folder itself. */
const struct source_scope *source_rules_top(const struct source_rules *rules);
/* Enters a folder that is open as `fd`, at `path` below the top; `reason` is
 * what source_rules_decide() has said of it. */
const struct source_scope *source_rules_enter(struct source_rules *rules,
					      const struct source_scope *outer,
					      const char *path, int fd,
					      enum source_reason reason,
					      struct error *err);
/* `path` is below the top, and `parent` is the open folder that it is in. */
enum source_reason source_rules_decide(struct source_rules *rules,
				       const struct source_scope *scope,
				       const char *path, int parent,
				       bool is_folder);
/* Fails if strangers' patterns make the walk take too long. */
int source_rules_check(const struct source_rules *rules, struct error *err);
/* Whether the start of a file says that it is a plan of jobrun's. */
bool source_rules_is_plan(const struct source_rules *rules, const char *start,
			  size_t len);
/* The folder, by its path in the repository, that the folder is or is in and
 * that a .gitignore lists: no clone has it.  NULL if there is none. */
const char *source_rules_ignored(const struct source_rules *rules);
/* Git keeps no empty folders, so that two clones agree without them. */
bool source_rules_keep_folders(const struct source_rules *rules);

/* "by .gitignore"; NULL: not worth a word, since programs make and remove what
 * it is while they run. */
const char *source_reason_text(enum source_reason reason);

#endif
