/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/kube_names.h"

#include <ctype.h>
#include <string.h>

#include "core/base/crc32c.h"
#include "core/base/json.h"
#include "core/provider/listing.h"

/* '-' and 8 hexadecimal digits. */
#define SUFFIX_LEN 9

const char *kube_name(const char *job_id, struct arena *mem)
{
	size_t len = strlen(job_id), i;
	char *out = arena_strdup(mem, job_id);
	bool changed = len > KUBE_NAME_MAX;

	for (i = 0; i < len; i++) {
		char c = (char)tolower((unsigned char)out[i]);

		if (!isalnum((unsigned char)c))
			c = '-';
		changed |= c != out[i];
		out[i] = c;
	}
	if (!changed)
		return out;
	if (len > KUBE_NAME_MAX - SUFFIX_LEN)
		len = KUBE_NAME_MAX - SUFFIX_LEN;
	while (len > 0 && out[len - 1] == '-')
		len--;
	return arena_printf(mem, "%.*s-%08x", (int)len, out,
			    crc32c_add(0, job_id, strlen(job_id)));
}

/* Returns the job's own labels, and those by which jobrun finds it. */
static json_t *labels(const struct job *job)
{
	struct arena *mem = arena_new();
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < job->labels.count; i++)
		json_object_set_new(out, job->labels.items[i].name,
				    json_text(job->labels.items[i].value));
	json_object_set_new(out, KUBE_LABEL_JOB,
			    json_text(kube_name(job->job_id, mem)));
	json_object_set_new(
		out, KUBE_LABEL_DIGEST,
		json_stringn(job->digest.hex,
			     strnlen(job->digest.hex, KUBE_LABEL_MAX)));
	json_object_set_new(out, "app.kubernetes.io/name",
			    json_text(kube_name(job->job_id, mem)));
	json_object_set_new(out, "app.kubernetes.io/managed-by",
			    json_text("jobrun"));
	json_object_set_new(out, KUBE_LABEL_CLEANUP,
			    json_text(cleanup_name(job->jobrun.cleanup)));
	arena_free(mem);
	return out;
}

json_t *kube_metadata(const struct job *job, const char *name)
{
	json_t *out = json_object();
	json_t *notes = json_object();

	json_put_text(out, "name", name);
	json_put(out, "labels", labels(job));
	json_put_text(notes, KUBE_NOTE_JOB, job->job_id);
	json_put_text(notes, KUBE_NOTE_DIGEST, job->digest.hex);
	if (job->set)
		json_put_text(notes, KUBE_NOTE_SET, job->set);
	if (job->origin)
		json_put_text(notes, KUBE_NOTE_ORIGIN, job->origin);
	json_put(out, "annotations", notes);
	return out;
}
