/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a training set: the files whose paths are the same up to the first
 * dot of the base name ("a/1.jpg" and "a/1.cls" are "a/1"), as WebDataset has
 * it.  They are gathered from folders, lists and tar archives, put in order,
 * and perhaps shuffled; their contents are left where they are.  Memory grows
 * with the number of files and the length of their names (some 100 bytes for
 * each file), and never with their contents.
 */
#ifndef JOBRUN_SAMPLES_H
#define JOBRUN_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

#define SIZE_UNKNOWN UINT64_MAX

enum source_kind {
	SOURCE_FOLDER, /* files below a folder */
	SOURCE_TAR,    /* members of an archive */
	SOURCE_CLASS,  /* no file: the number of a class, as text */
};

struct sample_source {
	enum source_kind kind;
	const char *path; /* "" for a class */
	int folder;       /* open; of SOURCE_FOLDER, else -1 */
};

struct sample_file {
	const char *name;    /* in the shard; of a folder also below that */
	uint64_t size_bytes; /* SIZE_UNKNOWN unless its size was asked for */
	uint64_t offset;     /* in the archive, or the number of the class */
	uint32_t key_len;    /* of `name`, what names the sample */
	uint32_t source;     /* which of the sources */
};

struct sample {
	size_t first, count; /* which of the files; by name */
};

/* Why a file is left out. */
enum skip {
	SKIP_LINK,
	SKIP_SPECIAL,  /* a device, a pipe, a socket */
	SKIP_HIDDEN,   /* it or its folder has a dot at its start */
	SKIP_NO_DOT,   /* WebDataset takes a file without one for no sample */
	SKIP_META,     /* below "__NAME__": nor these */
	SKIP_RESERVED, /* "x.__key__": it has that of its own */
	SKIP_COUNT,
};

struct skipped {
	size_t count;
	const char *first; /* the path of one of them */
};

struct samples {
	struct arena *mem;
	struct sample_source *sources;
	size_t source_count;
	struct sample_file *files;
	size_t file_count, file_size;
	struct sample *items; /* after samples_order() */
	size_t count;
	const char **classes; /* after samples_add_classes() */
	size_t class_count;
	struct skipped skipped[SKIP_COUNT];
};

struct samples *samples_new(void);
void samples_free(struct samples *all); /* closes the sources' folders */

struct samples_how {
	bool sizes;        /* look at each file's size, too */
	bool follow_links; /* or else they are left out */
	/* A folder that is left out: the one that shards are written to. */
	dev_t avoid_device;
	ino_t avoid_inode;
	/* How many files were found, now and then.  Or NULL. */
	void (*found)(void *arg, size_t count);
	void *arg;
};

/* All files below a folder, in the order of their keys. */
int samples_add_folder(struct samples *all, const char *folder,
		       const struct samples_how *how, struct error *err);

/*
 * Adds the files that a text lists, each ended by `end` (a newline or NUL),
 * below `folder`.  ERROR_INVALID for paths that are absolute or have a "..".
 */
int samples_add_list(struct samples *all, const char *text, size_t len,
		     char end, const char *folder,
		     const struct samples_how *how, struct error *err);

/* The members of a tar archive, which must not be compressed. */
int samples_add_tar(struct samples *all, const char *path,
		    const struct samples_how *how, struct error *err);

/*
 * Each file at the top of a folder: its sample gets a file `.cls` with the
 * number of that folder among all such, by name, as torchvision's ImageFolder
 * has it.
 */
int samples_add_classes(struct samples *all, struct error *err);

/*
 * Makes samples of the files: in the order in which the first file of each was
 * added, the files of each by name.  Fails if a name is there twice, or
 * nothing is there.
 */
int samples_order(struct samples *all, struct error *err);

/* Reorders the samples; the result depends only on this order and the seed. */
void samples_shuffle(struct samples *all, uint64_t seed);

/* ---- for the files that add samples ------------------------------------ */

/* The length of the key in a path, 0 if WebDataset would not see the file or
 * refuse it. */
size_t sample_key_len(const char *path);

/* Returns the number of the source; takes `folder`. */
uint32_t samples_add_source(struct samples *all, enum source_kind kind,
			    const char *path, int folder);
/* `name` must live as long as `all`.  Skips hidden files and files without a
 * key. */
void samples_add_file(struct samples *all, const struct sample_file *file);
void samples_skip(struct samples *all, enum skip why, const char *path);

#endif
