/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/misfit.h"

#include <stdarg.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"

void misfit_add(struct misfits *all, bool certain, const char *path,
		const char *hint, const char *format, ...)
{
	struct buf text = { 0 };
	va_list args;

	if (all->count == MISFITS_MAX)
		return;
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	all->items[all->count++] = (struct misfit){
		.certain = certain,
		.path = path,
		.text = arena_strdup(all->mem, buf_text(&text)),
		.hint = hint,
	};
	buf_done(&text);
}
