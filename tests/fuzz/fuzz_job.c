/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a job file: jobs or an error, in bounded time and memory. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/job/check.h"
#include "core/job/traits.h"
#include "schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct schema_provider providers[] = {
		{ .name = "local" },
		{ .name = "fake", .traits = TRAIT_HIDDEN },
	};
	const struct schema_options options = {
		.providers = providers,
		.provider_count = 2,
	};
	struct problems found = { 0 };
	struct buf text = { 0 };
	struct error err;
	struct jobs jobs;
	size_t i;

	if (schema_load_text("a.yaml", (const char *)data, size, &options,
			     &jobs, &found, &err) < 0)
		abort();
	/* There is a job or an error.  Both are possible, but not from one
	 * document. */
	assert(jobs.count || problems_errors(&found));
	for (i = 0; i < jobs.count; i++) {
		const struct job *job = jobs.items[i];
		struct error why;

		assert(job->job_id && job->jobrun.provider);
		assert(check_job_id(job->job_id, &why) == 0);
		json_decref(message_json(job->message, job, MESSAGE_DEFAULTS));
	}
	problems_text(&found, PROBLEMS_COLOUR, &text);
	for (i = 0; i < text.len; i++)
		assert((unsigned char)text.data[i] >= 0x20 ||
		       text.data[i] == '\n' || text.data[i] == '\033');
	buf_clear(&text);
	problems_json(&found, &text);
	problems_sarif(&found, &text);
	buf_done(&text);
	problems_done(&found);
	jobs_done(&jobs);
	return 0;
}
