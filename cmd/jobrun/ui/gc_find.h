/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what 'gc' deletes, and shows it. */
#ifndef JOBRUN_GC_FIND_H
#define JOBRUN_GC_FIND_H

#include "core/base/buf.h"
#include "core/provider/listing.h"
#include "core/provider/provider.h"
#include "core/store/store.h"

/* A thing that nobody needs. */
struct find {
	const struct provider *provider;
	const struct listed *resource;   /* or: */
	const struct leftover *leftover; /* or: */
	const struct task_file_path *member;
	const char *why;
	bool deleted;
};

const char *find_kind(const struct find *find);
const char *find_name(const struct find *find);
const char *find_job(const struct find *find); /* or NULL */

/* Adds a line for each. */
void finds_text(const struct find *finds, size_t count, struct buf *out);
/* The document of --format json; returns new. */
json_t *finds_json(const struct find *finds, size_t count);

#endif
