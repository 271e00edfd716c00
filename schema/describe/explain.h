/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a field of job files, from its row, the rules that touch it and the
 * providers that use it: as text, as JSON and as a part of the manual page
 * jobrun-job(5).
 */
#ifndef JOBRUN_EXPLAIN_H
#define JOBRUN_EXPLAIN_H

#include "core/base/buf.h"
#include "schema/describe/outline.h"

struct rule;

struct explain_style {
	int width;
	bool recursive; /* also everything below it, as an outline */
	bool colour;
};

/* `at` is from outline_find(). */
void explain_text(const struct outline *all, const struct outlined *at,
		  const struct explain_style *style, struct buf *out);
/* Returns new. */
json_t *explain_json(const struct outline *all, const struct outlined *at,
		     bool recursive);

/* All fields, in the format of man(7). */
void explain_man(const struct outline *all, struct buf *out);
/* The fields of a provider's block, and what it makes of all others, likewise. */
void explain_provider_man(const struct outline *all,
			  const struct provider *provider, struct buf *out);

#endif
