/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/archive_library.h"

#include <stddef.h>

#include "core/base/library.h"

static struct archive_library lib;

static const struct library_symbol symbols[] = {
	{ "archive_read_new", &lib.read_new },
	{ "archive_read_free", &lib.free },
	{ "archive_read_support_format_raw", &lib.raw },
	{ "archive_read_support_format_tar", &lib.tar },
	{ "archive_read_support_format_zip", &lib.zip },
	{ "archive_read_support_filter_gzip", &lib.gzip },
	{ "archive_read_support_filter_bzip2", &lib.bzip2 },
	{ "archive_read_support_filter_xz", &lib.xz },
	{ "archive_read_support_filter_zstd", &lib.zstd },
	{ "archive_read_open_fd", &lib.open_fd },
	{ "archive_read_next_header", &lib.next_header },
	{ "archive_read_header_position", &lib.header_position },
	{ "archive_read_data", &lib.data },
	{ "archive_filter_bytes", &lib.filter_bytes },
	{ "archive_error_string", &lib.error_string },
	{ "archive_entry_pathname", &lib.pathname },
	{ "archive_entry_pathname_utf8", &lib.pathname_utf8 },
	{ "archive_entry_hardlink", &lib.hardlink },
	{ "archive_entry_hardlink_utf8", &lib.hardlink_utf8 },
	{ "archive_entry_symlink", &lib.symlink },
	{ "archive_entry_symlink_utf8", &lib.symlink_utf8 },
	{ "archive_entry_filetype", &lib.filetype },
	{ "archive_entry_perm", &lib.perm },
	{ "archive_entry_size", &lib.size },
	{ "archive_entry_sparse_count", &lib.sparse_count },
	{ NULL, NULL },
};

const struct archive_library *archive_library_open(struct error *err)
{
	return library_open("libarchive.so.13", symbols, err) < 0 ? NULL : &lib;
}

void archive_library_filters(struct archive *archive)
{
	lib.gzip(archive);
	lib.bzip2(archive);
	lib.xz(archive);
	lib.zstd(archive);
}
