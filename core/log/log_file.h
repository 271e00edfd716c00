/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a task's log, for the parts of log.h only. */
#ifndef JOBRUN_LOG_FILE_H
#define JOBRUN_LOG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/log/log.h"

#define LOG_STREAMS 2
/* Flag in a record's kind: `len` bytes that belong here could not be written.
 * Readers skip unknown kinds. */
#define LOG_KIND_LOST 16

/* One piece of a stream; its offset is the sum of the lengths before it. */
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

/* The sum of the three sizes; `sync` first writes everything to the disk, if
 * the disk allows it. */
uint64_t log_files_size(const char *folder, const char *type, int index,
			bool sync);

/* Reads as many bytes as exist at `offset`, despite short reads and EINTR; -1
 * with errno set. */
int64_t log_pread(int fd, void *data, size_t len, uint64_t offset);

#endif
