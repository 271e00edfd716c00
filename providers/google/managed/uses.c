/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/managed/uses.h"

#include <assert.h>
#include <string.h>

#include "core/base/text.h"

const char *use_reason(const struct field_use *uses, const char *path,
		       bool *impossible)
{
	const char *doc;

	while (uses->path && strcmp(uses->path, path) != 0)
		uses++;
	assert(uses->path && uses->doc);
	doc = uses->doc;
	*impossible = text_starts(doc, USE_IMPOSSIBLE);
	assert(*impossible || text_starts(doc, USE_LEFT_OUT));
	return doc + strlen(*impossible ? USE_IMPOSSIBLE : USE_LEFT_OUT);
}
