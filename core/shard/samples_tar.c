/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from existing tar archives. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/shard/samples.h"
#include "core/data/tar_packed.h"
#include "core/data/tar_scan.h"

/* A file that is another name of a member. */
struct hard_link {
	const char *target;
	size_t file; /* in `all` */
	bool is_found;
};

struct tar_reading {
	struct samples *all;
	const struct samples_how *how;
	uint32_t source;
	struct hard_link *links; /* of files that are taken */
	size_t link_count;
};

/* Returns true if the file is not left out. */
static bool add(struct tar_reading *reading, const struct tar_member *member)
{
	struct samples *all = reading->all;
	size_t before = all->file_count;

	samples_add_file(all,
			 &(struct sample_file){
				 .name = arena_strdup(all->mem, member->name),
				 .size_bytes = member->size_bytes,
				 .offset = member->offset,
				 .source = reading->source });
	if (reading->how->found)
		reading->how->found(reading->how->arg, all->file_count);
	return all->file_count > before;
}

static void add_link(struct tar_reading *reading,
		     const struct tar_member *member)
{
	if (!add(reading, member))
		return;
	reading->links = mem_grow(reading->links, reading->link_count + 1,
				  sizeof(*reading->links));
	reading->links[reading->link_count++] = (struct hard_link){
		.target = arena_strdup(reading->all->mem, member->target),
		.file = reading->all->file_count - 1,
	};
}

static int take(void *arg, const struct tar_member *member, struct error *err)
{
	struct tar_reading *reading = arg;

	(void)err;
	switch (member->type) {
	case TAR_FOLDER:
		break;
	case TAR_LINK:
		samples_skip(reading->all, SKIP_LINK, member->name);
		break;
	case TAR_SPECIAL:
		samples_skip(reading->all, SKIP_SPECIAL, member->name);
		break;
	case TAR_HARD_LINK:
		add_link(reading, member);
		break;
	case TAR_FILE:
		add(reading, member);
	}
	return 0;
}

static int by_target(const void *a, const void *b)
{
	const struct hard_link *x = a, *y = b;

	return strcmp(x->target, y->target);
}

/* The first of the links to that name, or where they would be. */
static size_t find_links(const struct tar_reading *reading, const char *target)
{
	size_t low = 0, high = reading->link_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(reading->links[middle].target, target) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* In a second pass: gives the links to this member its contents. */
static int lead(void *arg, const struct tar_member *member, struct error *err)
{
	struct tar_reading *reading = arg;
	size_t i;

	(void)err;
	if (member->type != TAR_FILE)
		return 0;
	for (i = find_links(reading, member->name);
	     i < reading->link_count &&
	     !strcmp(reading->links[i].target, member->name);
	     i++) {
		struct hard_link *link = &reading->links[i];
		struct sample_file *file = &reading->all->files[link->file];

		link->is_found = true;
		file->size_bytes = member->size_bytes;
		file->offset = member->offset;
	}
	return 0;
}

static int follow_links(struct tar_reading *reading, int fd, const char *path,
			struct error *err)
{
	size_t i;

	if (!reading->link_count)
		return 0;
	qsort(reading->links, reading->link_count, sizeof(*reading->links),
	      by_target);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_errno(err, "cannot read '%s'", path);
	if (tar_scan(fd, path, lead, reading, err) < 0)
		return -1;
	for (i = 0; i < reading->link_count; i++)
		if (!reading->links[i].is_found)
			return error_set(
				err, ERROR_INVALID,
				"'%s': entry '%s' is a hard link to '%s', "
				"which is not a file in it",
				path,
				reading->all->files[reading->links[i].file]
					.name,
				reading->links[i].target);
	return 0;
}

/* Adds what is in the archive at `fd`: the bytes of `path`, or elsewhere. */
static int add_archive(struct samples *all, const char *path, int fd,
		       bool is_elsewhere, const struct samples_how *how,
		       struct error *err)
{
	struct tar_reading reading = { .all = all, .how = how };
	int ret;

	reading.source = samples_add_source(all, SOURCE_TAR, path,
					    is_elsewhere ? fd : -1);
	if (is_elsewhere)
		all->sources[reading.source].contents =
			arena_printf(all->mem, "/proc/self/fd/%d", fd);
	ret = lseek(fd, 0, SEEK_SET) < 0
		      ? error_errno(err, "cannot read '%s'", path)
		      : tar_scan(fd, path, take, &reading, err);
	if (ret == 0)
		ret = follow_links(&reading, fd, path, err);
	free(reading.links);
	return ret;
}

/* Adds the archive, unpacked if that is necessary.  Closes `fd` unless its bytes
 * are kept. */
static int add_packed(struct samples *all, const char *path, int fd,
		      bool is_elsewhere, const struct samples_how *how,
		      struct error *err)
{
	int plain, ret;

	if (tar_packed_with(fd)) {
		plain = tar_packed_open(fd, path, err);
		close(fd);
		return plain < 0
			       ? -1
			       : add_archive(all, path, plain, true, how, err);
	}
	ret = add_archive(all, path, fd, is_elsewhere, how, err);
	if (!is_elsewhere)
		close(fd);
	return ret;
}

int samples_add_copy(struct samples *all, const char *url, int copy,
		     const struct samples_how *how, struct error *err)
{
	return add_packed(all, url, copy, true, how, err);
}

int samples_add_tar(struct samples *all, const char *path,
		    const struct samples_how *how, struct error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return error_errno(err, "cannot open '%s'", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return add_packed(all, path, fd, false, how, err);
	close(fd);
	return error_set(err, ERROR_INVALID,
			 "'%s' is neither a folder nor a tar archive", path);
}
