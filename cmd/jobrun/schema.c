/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/commands.h"
#include "core/base/json.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/describe/json_schema.h"
#include "schema/describe/json_schema_values.h"

static int run(struct app *app, int argc, char **argv)
{
	struct buf text = { 0 };
	struct outline all;
	const struct catalogue *catalogue;
	struct error err;
	json_t *schema;
	int status;

	if (options_parse(app, &cmd_schema, argc, argv, NULL, 0, 0, &status) <
	    0)
		return status;
	outline_init(&all, providers);
	catalogue = catalogue_get(&err);
	if (!catalogue)
		return app_fail(app, &err);
	schema = json_schema(&all, JOBRUN_VERSION);
	json_schema_values(schema, catalogue);
	json_print(schema, &text);
	json_decref(schema);
	app_print(app, &text);
	buf_done(&text);
	return 0;
}

const struct command cmd_schema = {
	.name = "schema",
	.group = GROUP_FILES,
	.args = "",
	.summary = "print the JSON Schema of job files, for editors",
	.help = "  jobrun schema >job.schema.json\n\n"
		"In an editor with yaml-language-server a job file then "
		"begins with\n"
		"  # yaml-language-server: $schema=job.schema.json\n",
	.run = run,
};
