/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu_owner.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/store/store.h"
#include "providers/google/google_labels.h"
#include "providers/google/tpu/tpu_call.h"

#define LABEL_OWNER "jobrun-owner"

/* "0123456789abcdef_me_laptop", and how long the part is that tells owners
 * apart; false where there is no store yet, which has made nothing. */
static bool own_label(const struct tpu_ctx *ctx, char out[GOOGLE_LABEL_MAX],
		      size_t *len)
{
	char *owner = store_owner_known(ctx->supervised.env.store);

	if (!owner)
		return false;
	*len = strcspn(owner, " ");
	google_label(owner, out);
	if (*len > strlen(out))
		*len = strlen(out);
	free(owner);
	return true;
}

void tpu_owner_put(const struct tpu_ctx *ctx, json_t *labels)
{
	char own[GOOGLE_LABEL_MAX];
	size_t len;

	if (json_object_size(labels) < GOOGLE_LABELS &&
	    own_label(ctx, own, &len))
		json_put_text(labels, LABEL_OWNER, own);
}

/* The owner, if it is another and its lease is not over; or NULL.  Borrows
 * from the labels. */
static const char *other_owner(const struct tpu_ctx *ctx, const json_t *labels,
			       bool waits)
{
	const char *owner = json_get_text(labels, LABEL_OWNER, NULL);
	struct labels read = google_labels_read(labels);
	char own[GOOGLE_LABEL_MAX];
	size_t len;

	if (!owner)
		return NULL;
	if (own_label(ctx, own, &len) && !strncmp(owner, own, len) &&
	    (!owner[len] || owner[len] == own[len]))
		return NULL;
	return waits || read.expire_time_ms > time_now_ms() ? owner : NULL;
}

void tpu_owner_tell(const struct tpu_ctx *ctx, const json_t *labels, bool waits,
		    const struct resource *it, json_t *outputs)
{
	const char *owner = other_owner(ctx, labels, waits);
	json_t *notes;
	char *note;

	if (!owner)
		return;
	note = mem_printf(
		waits ? "%s '%s' waits in the queue for another owner, %s: "
			"apply and delete leave it alone; 'jobrun gc "
			"--older-than 0s' deletes it"
		      : "%s '%s' is in use by another owner, %s: until that "
			"ends, or has not been heard of for its lease, apply "
			"and delete leave it alone",
		it->kind->name, it->name, owner);
	notes = json_array();
	json_array_append_new(notes, json_text(note));
	json_put(outputs, OUTPUT_NOTES, notes);
	json_put_text(outputs, OUTPUT_HELD, owner);
	free(note);
}

int tpu_owner_renew(const struct tpu_ctx *ctx, const char *path,
		    const json_t *old, long lease_s, struct error *err)
{
	static const char *const query[] = { "updateMask", "labels", NULL };
	struct api_answer answer = { 0 };
	json_t *labels, *body;
	int ret;

	/* A client that was silent for too long has lost it. */
	if (other_owner(ctx, old, false))
		return 0;
	labels = old ? json_deep_copy(old) : json_object();
	body = json_object();
	google_labels_expire(labels, time_now_ms() / 1000 + lease_s);
	tpu_owner_put(ctx, labels);
	json_put(body, "labels", labels);
	/* The older API changes no node; the newer one knows all. */
	ret = tpu_call(ctx->google, TPU_API_V2, "PATCH", path, query, body,
		       &answer, err);
	api_answer_done(&answer);
	json_decref(body);
	return ret;
}
