/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"

/* How often others may be faster. */
#define TRIES 5

const char *claim_url(const char *ended, struct arena *mem)
{
	const char *slash = ended ? strrchr(ended, '/') : NULL;

	return slash ? arena_printf(mem, "%.*s/owner.json",
				    (int)(slash - ended), ended)
		     : NULL;
}

static char *text_of(const struct claim *claim)
{
	const struct run_status *run = &claim->run;
	json_t *out = json_object();
	char *text;

	json_put_int(out, "formatVersion", 1);
	json_put_text(out, "owner", claim->owner);
	json_put_int(out, "sinceMs", claim->since_ms);
	json_put_int(out, "untilMs", claim->until_ms);
	json_put_int(out, "endMs", claim->end_ms);
	json_put_text(out, "state", run_state_name(run->state));
	json_put_int(out, "attempt", run->attempt);
	json_put_int(out, "exitCode", run->exit_code);
	json_put_int(out, "refusal", run->refusal);
	json_put(out, "unbegun", json_boolean(run->unbegun));
	json_put_text(out, "error", run->error);
	json_put_text(out, "digest", run->digest.hex);
	json_put_text(out, "digest2", run->digest2.hex);
	json_put_text(out, "origin", run->origin);
	text = json_canonical(out);
	json_decref(out);
	return text;
}

/* An object that is not one of ours counts as none, and is replaced. */
static int parse(const char *text, struct arena *mem, struct claim *out)
{
	struct error ignored;
	json_t *from = json_read(text, strlen(text), "the claim", &ignored);
	struct run_status *run = &out->run;
	const char *owner = json_copy_text(from, "owner", mem);
	int ret = 1;

	*out = (struct claim){ .owner = owner };
	if (owner && run_state_parse(json_get_text(from, "state", ""),
				     &run->state) == 0) {
		out->since_ms = json_get_int(from, "sinceMs", 0);
		out->until_ms = json_get_int(from, "untilMs", 0);
		out->end_ms = json_get_int(from, "endMs", 0);
		run->attempt = (int)json_get_int(from, "attempt", 1);
		run->exit_code = (int)json_get_int(from, "exitCode", -1);
		run->refusal = (int)json_get_int(from, "refusal", 0);
		run->unbegun = json_is_true(json_object_get(from, "unbegun"));
		run_status_set_digests(run, json_get_text(from, "digest", ""),
				       json_get_text(from, "digest2", ""));
		run_status_set_origin(run, json_get_text(from, "origin", ""));
		snprintf(run->error, sizeof(run->error), "%s",
			 json_get_text(from, "error", ""));
		ret = 0;
	}
	json_decref(from);
	return ret;
}

/* `version` is the object's, whatever is in it.  An object that is replaced
 * while it is read is read again. */
int claim_read(const struct claim_objects *objects, const char *url,
	       struct arena *mem, struct claim *out, const char **version,
	       struct error *err)
{
	const char *text = NULL;
	int ret = -1, i;

	for (i = 0; i < TRIES && ret < 0; i++) {
		ret = objects->get(objects->arg, url, mem, &text, version, err);
		if (ret < 0 && err->code != ERROR_FAILED)
			break;
	}
	if (ret < 0)
		return -1;
	return text ? parse(text, mem, out) : 1;
}

bool claim_is_same_owner(const char *a, const char *b)
{
	size_t len = a ? strcspn(a, " ") : 0;

	return a && b && len == strcspn(b, " ") && !strncmp(a, b, len);
}

bool claim_is_live(const struct claim *claim)
{
	return claim->until_ms > time_now_ms();
}

int claim_take(const struct claim_objects *objects, const char *url,
	       const struct claim *own, struct arena *mem, struct claim *other,
	       struct error *err)
{
	char *text = text_of(own);
	const char *version, *before = NULL;
	int ret = -1, i;

	for (i = 0; i < TRIES; i++) {
		struct error why;

		ret = claim_read(objects, url, mem, other, &version, &why);
		if (ret == 0 && claim_is_live(other) &&
		    !claim_is_same_owner(other->owner, own->owner)) {
			ret = 1;
			break;
		}
		/* A write that failed though nobody else wrote fails for
		 * another reason. */
		if (ret < 0 || (before && !strcmp(before, version))) {
			if (ret < 0)
				*err = why;
			ret = -1;
			break;
		}
		before = version;
		ret = objects->put(objects->arg, url, text, version, err);
		if (ret == 0)
			break;
	}
	free(text);
	return ret;
}
