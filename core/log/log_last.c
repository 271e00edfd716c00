/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the end of a raw log, for error messages. */
#include "core/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/log/log_file.h"
#include "core/log/log_screen.h"

#define LAST_MAX 65536

/* The start of the last `count` lines of `data`. */
static const char *lines_from_end(const char *data, size_t len, size_t count)
{
	const char *end = data + len;

	if (len && end[-1] == '\n')
		end--;
	while (count--) {
		end = memrchr(data, '\n', (size_t)(end - data));
		if (!end)
			return data;
	}
	return end + 1;
}

int log_last_lines(const char *folder, const char *type, int index,
		   enum log_stream stream, size_t count, struct buf *out,
		   struct error *err)
{
	char *path = log_stream_path(folder, type, index, stream);
	const char *from;
	char *data = NULL;
	struct stat st;
	uint64_t at = 0;
	int64_t n;
	int ret = -1;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		ret = 0;
		goto out;
	}
	if (fd < 0 || fstat(fd, &st) < 0) {
		error_errno(err, "cannot read '%s'", path);
		goto out;
	}
	if (st.st_size > LAST_MAX)
		at = (uint64_t)st.st_size - LAST_MAX;
	data = mem_alloc(LAST_MAX);
	n = log_pread(fd, data, LAST_MAX, at);
	if (n < 0) {
		error_errno(err, "cannot read '%s'", path);
		goto out;
	}
	from = count && n ? lines_from_end(data, (size_t)n, count) : data + n;
	log_screen_text(from, (size_t)(data + n - from), out);
	ret = 0;
out:
	free(data);
	free(path);
	if (fd >= 0)
		close(fd);
	return ret;
}
