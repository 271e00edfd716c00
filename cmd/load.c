/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/load.h"

#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "providers/registry.h"

#define PROVIDER_MAX 16

struct schema_options load_options(void)
{
	static struct schema_provider known[PROVIDER_MAX];
	struct schema_options options = { 0 };
	size_t i;

	for (i = 0; providers[i] && i < COUNT(known); i++) {
		known[i].name = providers[i]->name;
		known[i].block = providers[i]->block;
	}
	options.providers = known;
	options.provider_count = i;
	return options;
}

int load_jobs(const struct app *app, const struct schema_options *options,
	      char *const *paths, size_t count, struct jobs *out)
{
	struct problems found = { 0 };
	struct buf text = { 0 };
	struct error err;
	int status = 0;

	*out = (struct jobs){ 0 };
	if (schema_load(paths, count, options, out, &found, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	problems_sort(&found);
	problems_text(&found, app->err_color ? PROBLEMS_COLOUR : 0, &text);
	fd_write(STDERR_FILENO, text.data, text.len);
	if (problems_errors(&found)) {
		status = ERROR_INVALID;
	} else if (!out->count) {
		app_say(app, "no job was found there");
		status = ERROR_INVALID;
	}
out:
	if (status)
		jobs_done(out);
	buf_done(&text);
	problems_done(&found);
	return status;
}
