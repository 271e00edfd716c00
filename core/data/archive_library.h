/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libarchive that read; it is opened when it is first used. */
#ifndef JOBRUN_ARCHIVE_LIBRARY_H
#define JOBRUN_ARCHIVE_LIBRARY_H

#include <archive.h>
#include <archive_entry.h>

#include "core/base/error.h"

struct archive_library {
	__typeof__(&archive_read_new) read_new;
	__typeof__(&archive_read_free) free;
	__typeof__(&archive_read_support_format_raw) raw;
	__typeof__(&archive_read_support_format_tar) tar;
	__typeof__(&archive_read_support_format_zip) zip;
	__typeof__(&archive_read_support_filter_gzip) gzip;
	__typeof__(&archive_read_support_filter_bzip2) bzip2;
	__typeof__(&archive_read_support_filter_xz) xz;
	__typeof__(&archive_read_support_filter_zstd) zstd;
	__typeof__(&archive_read_open_fd) open_fd;
	__typeof__(&archive_read_next_header) next_header;
	__typeof__(&archive_read_header_position) header_position;
	__typeof__(&archive_read_data) data;
	__typeof__(&archive_filter_bytes) filter_bytes;
	__typeof__(&archive_error_string) error_string;
	__typeof__(&archive_entry_pathname) pathname;
	__typeof__(&archive_entry_pathname_utf8) pathname_utf8;
	__typeof__(&archive_entry_hardlink) hardlink;
	__typeof__(&archive_entry_hardlink_utf8) hardlink_utf8;
	__typeof__(&archive_entry_symlink) symlink;
	__typeof__(&archive_entry_symlink_utf8) symlink_utf8;
	__typeof__(&archive_entry_filetype) filetype;
	__typeof__(&archive_entry_perm) perm;
	__typeof__(&archive_entry_size) size;
	__typeof__(&archive_entry_sparse_count) sparse_count;
};

/* Borrowed, for the life of the process; or NULL. */
const struct archive_library *archive_library_open(struct error *err);

/* Lets it read what gzip, bzip2, xz and zstd have compressed, too. */
void archive_library_filters(struct archive *archive);

#endif
