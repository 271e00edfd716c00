/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a training set.  As in WebDataset, a sample is the files whose
 * paths are equal up to the first dot of the base name ("a/1.jpg" and "a/1.cls"
 * are "a/1").  They are collected from folders, lists and tar archives, sorted,
 * and optionally shuffled; their contents stay where they are.  Memory grows
 * with the number of files and the length of their names (some 100 bytes for
 * each file), never with their contents.
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
	const char *path;     /* as given; "" for a class */
	const char *contents; /* where an archive's bytes are, if elsewhere */
	/* an open descriptor for SOURCE_FOLDER, or of those bytes; else -1 */
	int folder;
};

struct sample_file {
	/* in the shard; for a folder also the path below it */
	const char *name;
	uint64_t size_bytes; /* SIZE_UNKNOWN unless sizes were asked for */
	uint64_t offset;     /* in the archive, or the number of the class */
	uint32_t key_len;    /* the length of the sample's key in `name` */
	uint32_t source;     /* index of its source */
};

struct sample {
	size_t first, count; /* the range of its files, sorted by name */
};

/* Why a file is left out. */
enum skip {
	SKIP_LINK,
	SKIP_SPECIAL,  /* a device, a pipe, a socket */
	SKIP_HIDDEN,   /* its name, or a folder's, begins with a dot */
	SKIP_NO_DOT,   /* no dot in its name: WebDataset ignores it */
	SKIP_META,     /* below "__NAME__": WebDataset ignores these, too */
	SKIP_RESERVED, /* "x.__key__": a key that WebDataset sets itself */
	SKIP_COUNT,
};

struct skipped {
	size_t count;
	const char *first; /* the path of the first one */
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
	bool sizes;        /* also find each file's size */
	bool follow_links; /* otherwise links are left out */
	/* The folder to which shards are written; it is left out. */
	dev_t avoid_device;
	ino_t avoid_inode;
	/* Reports from time to time how many files were found.  Or NULL. */
	void (*found)(void *arg, size_t count);
	void *arg;
};

/* Adds all files below a folder, sorted by key. */
int samples_add_folder(struct samples *all, const char *folder,
		       const struct samples_how *how, struct error *err);

/*
 * Adds the files listed in a string, each ended by `end` (a newline or NUL),
 * below `folder`.  ERROR_INVALID for paths that are absolute or have a "..".
 */
int samples_add_list(struct samples *all, const char *text, size_t len,
		     char end, const char *folder,
		     const struct samples_how *how, struct error *err);

/* Adds the members of a tar archive.  One that is compressed is unpacked into
 * $TMPDIR first. */
int samples_add_tar(struct samples *all, const char *path,
		    const struct samples_how *how, struct error *err);
/* The same for the copy of an archive from elsewhere; takes the descriptor. */
int samples_add_copy(struct samples *all, const char *url, int copy,
		     const struct samples_how *how, struct error *err);

/*
 * Treats each folder at the top of a source as a class: every sample gets a
 * file `.cls` with the number of its folder, counted in the order of their
 * names, as torchvision's ImageFolder does.
 */
int samples_add_classes(struct samples *all, struct error *err);

/*
 * Groups the files into samples: in the order in which the first file of each
 * was added, with the files of each sorted by name.  Fails if a name occurs
 * twice, or there are no files.
 */
int samples_order(struct samples *all, struct error *err);

/* Shuffles the samples; the result depends only on their order and the seed. */
void samples_shuffle(struct samples *all, uint64_t seed);

/* ---- for the files that add samples ------------------------------------ */

/* Returns the index of the new source; takes `folder`. */
uint32_t samples_add_source(struct samples *all, enum source_kind kind,
			    const char *path, int folder);
/* `name` must live as long as `all`.  Skips hidden files and files without a
 * key. */
void samples_add_file(struct samples *all, const struct sample_file *file);
void samples_skip(struct samples *all, enum skip why, const char *path);

#endif
