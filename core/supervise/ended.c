/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/ended.h"

#include <stdio.h>
#include <string.h>

#include "core/base/json.h"

const char *ended_url(const struct job *job, struct arena *mem)
{
	const char *staging = job->jobrun.staging;

	if (!staging || !job->digest2.hex[0])
		return NULL;
	return arena_printf(
		mem, "%.*s/jobrun-runs/%s/%s.json",
		(int)(strlen(staging) - (staging[strlen(staging) - 1] == '/')),
		staging, job->job_id, job->digest2.hex);
}

bool ended_counts(const struct run_record *run)
{
	return run_state_is_final(run->state) && run->start_time_ms;
}

char *ended_text(const struct run_record *run)
{
	json_t *out = json_object();
	char *text;

	json_put_int(out, "formatVersion", 1);
	json_put_text(out, "jobId", run->job_id);
	json_put_text(out, "state", run_state_name(run->state));
	json_put_int(out, "attempt", run->attempt);
	json_put_int(out, "exitCode", run->exit_code);
	json_put_text(out, "error", run->error ? run->error : "");
	json_put_text(out, "digest", run->digest);
	json_put_text(out, "digest2", run->digest2 ? run->digest2 : "");
	json_put_text(out, "origin", run->job_origin ? run->job_origin : "");
	text = json_canonical(out);
	json_decref(out);
	return text;
}

int ended_read(const char *text, const struct job *job, struct run_status *out,
	       struct error *err)
{
	json_t *from = json_read(text, strlen(text), "the run's end", err);
	const char *digest2 = json_get_text(from, "digest2", "");
	int ret = from ? 0 : -1;

	*out = (struct run_status){ .exit_code = -1 };
	if (ret == 0 && (strcmp(digest2, job->digest2.hex) != 0 ||
			 run_state_parse(json_get_text(from, "state", ""),
					 &out->state) < 0 ||
			 !run_state_is_final(out->state)))
		ret = error_set(err, ERROR_FAILED,
				"what is kept there is no end of this job");
	if (ret == 0) {
		out->attempt = (int)json_get_int(from, "attempt", 1);
		out->exit_code = (int)json_get_int(from, "exitCode", -1);
		run_status_set_digests(out, json_get_text(from, "digest", ""),
				       digest2);
		run_status_set_origin(out, json_get_text(from, "origin", ""));
		snprintf(out->error, sizeof(out->error), "%s",
			 json_get_text(from, "error", ""));
	}
	json_decref(from);
	return ret;
}
