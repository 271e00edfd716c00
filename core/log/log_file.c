/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"

char *log_folder_path(const char *folder)
{
	return mem_printf("%s/logs", folder);
}

char *log_stream_path(const char *folder, const char *type, int index,
		      enum log_stream stream)
{
	return mem_printf("%s/logs/%s-%d.%s", folder, type, index,
			  stream == LOG_STDERR ? "stderr" : "stdout");
}

char *log_index_path(const char *folder, const char *type, int index)
{
	return mem_printf("%s/logs/%s-%d.index", folder, type, index);
}

uint64_t log_files_size(const char *folder, const char *type, int index,
			bool sync)
{
	char *paths[] = { log_stream_path(folder, type, index, LOG_STDOUT),
			  log_stream_path(folder, type, index, LOG_STDERR),
			  log_index_path(folder, type, index) };
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		struct stat st;

		if (fd >= 0 && sync)
			fsync(fd);
		if (fd >= 0 && fstat(fd, &st) == 0)
			sum += (uint64_t)st.st_size;
		if (fd >= 0)
			close(fd);
		free(paths[i]);
	}
	return sum;
}

int64_t log_pread(int fd, void *data, size_t len, uint64_t offset)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, (char *)data + got, len - got,
				  (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (int64_t)got;
}
