/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/google_labels.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/json.h"
#include "core/job/origin.h"

void google_label(const char *text, char out[GOOGLE_LABEL_MAX])
{
	size_t i;

	for (i = 0; text[i] && i < GOOGLE_LABEL_MAX - 1; i++) {
		char c = (char)tolower((unsigned char)text[i]);

		out[i] = isalnum((unsigned char)c) || c == '-' ? c : '_';
	}
	out[i] = '\0';
}

json_t *google_labels(const struct job *job)
{
	const struct labels own = labels_of(job, 0);
	json_t *out = json_object();
	char label[GOOGLE_LABEL_MAX];
	size_t i;

	for (i = 0; i < job->labels.count; i++)
		json_put_text(out, job->labels.items[i].name,
			      job->labels.items[i].value);
	google_label(own.job_id, label);
	json_put_text(out, "jobrun-job", label);
	google_label(own.digest, label);
	json_put_text(out, "jobrun-digest", label);
	json_put_text(out, "jobrun-cleanup", cleanup_name(own.cleanup));
	if (own.origin && json_object_size(out) + 2 < GOOGLE_LABELS) {
		origin_label(own.origin, label);
		json_put_text(out, GOOGLE_LABEL_ORIGIN, label);
	}
	return out;
}

void google_labels_expire(json_t *labels, int64_t time_s)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)time_s);
	json_put_text(labels, "jobrun-expires", text);
}

struct labels google_labels_read(const json_t *labels)
{
	const char *expires = json_get_text(labels, "jobrun-expires", "0");

	return (struct labels){
		.job_id = json_get_text(labels, "jobrun-job", NULL),
		.digest = json_get_text(labels, "jobrun-digest", NULL),
		.origin = json_get_text(labels, GOOGLE_LABEL_ORIGIN, NULL),
		.cleanup = cleanup_parse(
			json_get_text(labels, "jobrun-cleanup", NULL)),
		.expire_time_ms = strtoll(expires, NULL, 10) * 1000,
	};
}
