/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that are in tar archives already. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/shard/samples.h"
#include "core/data/tar_scan.h"

struct tar_reading {
	struct samples *all;
	const struct samples_how *how;
	uint32_t source;
};

static int take(void *arg, const struct tar_member *member, struct error *err)
{
	const struct tar_reading *reading = arg;
	struct samples *all = reading->all;

	(void)err;
	switch (member->type) {
	case TAR_FOLDER:
		break;
	case TAR_LINK:
		samples_skip(all, SKIP_LINK, member->name);
		break;
	case TAR_SPECIAL:
		samples_skip(all, SKIP_SPECIAL, member->name);
		break;
	case TAR_FILE:
		samples_add_file(all, &(struct sample_file){
					      .name = arena_strdup(
						      all->mem, member->name),
					      .size_bytes = member->size_bytes,
					      .offset = member->offset,
					      .source = reading->source });
		if (reading->how->found)
			reading->how->found(reading->how->arg, all->file_count);
	}
	return 0;
}

int samples_add_tar(struct samples *all, const char *path,
		    const struct samples_how *how, struct error *err)
{
	struct tar_reading reading = { .all = all, .how = how };
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int ret;

	if (fd < 0)
		return error_errno(err, "cannot open '%s'", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		reading.source = samples_add_source(all, SOURCE_TAR, path, -1);
		ret = tar_scan(fd, path, take, &reading, err);
	} else {
		ret = error_set(err, ERROR_INVALID,
				"'%s' is neither a folder nor a tar archive",
				path);
	}
	close(fd);
	return ret;
}
