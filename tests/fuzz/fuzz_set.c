/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as --set and --set-json of a valid job: a usage error, a job or a
 * problem. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const struct schema_set *set)
{
	static const char job[] = "jobId: a\n"
				  "trainingInput:\n"
				  "  scaleTier: CUSTOM\n"
				  "  masterType: n1-standard-4\n"
				  "  args: [--a, --b]\n"
				  "jobrun: {env: {A: b}, extends: []}\n";
	static const struct schema_provider providers[] = {
		{ .name = "local" }
	};
	const struct schema_options options = {
		.providers = providers,
		.provider_count = 1,
		.sets = set,
		.set_count = 1,
	};
	struct problems found = { 0 };
	struct buf text = { 0 };
	struct error err;
	struct jobs jobs;

	if (schema_load_text("a.yaml", job, sizeof(job) - 1, &options, &jobs,
			     &found, &err) < 0) {
		assert(err.code == ERROR_USAGE);
		return;
	}
	assert(jobs.count || problems_errors(&found));
	problems_text(&found, 0, &text);
	problems_github(&found, &text);
	problems_sarif(&found, &text);
	buf_done(&text);
	problems_done(&found);
	jobs_done(&jobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct schema_set set;
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	set.text = text;
	for (set.json = false;; set.json = true) {
		load(&set);
		if (set.json)
			break;
	}
	free(text);
	return 0;
}
