/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a task's log, for the parts of log.h; of no use to others. */
#ifndef JOBRUN_LOG_FILE_H
#define JOBRUN_LOG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/log/log.h"

#define LOG_STREAMS 2
/* Added to the stream in a record's kind: `len` bytes that should be here
 * could not be written.  Readers skip kinds that they do not know. */
#define LOG_KIND_LOST 16

/* One piece of a stream: its place is the sum of those before it. */
struct log_record {
	int64_t time_ms;
	uint32_t len;
	uint32_t kind;
};

_Static_assert(sizeof(struct log_record) == 16, "the file format");

/* Return new. */
char *log_folder_path(const char *folder);
char *log_stream_path(const char *folder, const char *type, int index,
		      enum log_stream stream);
char *log_index_path(const char *folder, const char *type, int index);

/* The sum of the three sizes; with `sync` all of it is on the disk, if the disk
 * allows. */
uint64_t log_files_size(const char *folder, const char *type, int index,
			bool sync);

/* As many bytes as there are at `offset`, through short reads and EINTR;
 * -1 with errno set. */
int64_t log_pread(int fd, void *data, size_t len, uint64_t offset);

#endif
