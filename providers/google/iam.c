/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/iam.h"

#include <string.h>

#include "core/base/json.h"
#include "providers/google/api.h"

/* The oldest version of policies with conditions: reading an older one and
 * writing it back would drop them. */
#define POLICY_VERSION 3
#define TRIES 8

static int call(struct google *google, const struct iam_grant *grant,
		const char *verb, json_t *body, struct api_answer *answer,
		struct error *err)
{
	struct buf path = { 0 };
	struct api_request request = { .service = SERVICE_RESOURCEMANAGER,
				       .method = "POST",
				       .body = body,
				       /* The request is repeatable, as the
				        * policy has an etag. */
				       .repeatable = true };
	int ret;

	buf_puts(&path, "v1/projects");
	api_path_add(&path, grant->project);
	buf_puts(&path, verb);
	request.path = path.data;
	ret = api_call(google, &request, answer, err);
	json_decref(body);
	buf_done(&path);
	return ret;
}

static int get(struct google *google, const struct iam_grant *grant,
	       struct api_answer *answer, struct error *err)
{
	return call(google, grant, ":getIamPolicy",
		    json_pack("{s:{s:i}}", "options", "requestedPolicyVersion",
			      POLICY_VERSION),
		    answer, err);
}

static bool has_member(const json_t *binding, const char *member)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(binding, "members"), i, one)
	{
		if (json_is_string(one) &&
		    !strcmp(json_string_value(one), member))
			return true;
	}
	return false;
}

/* Whether a binding always holds, which one with a condition does not. */
static bool is_plain(const json_t *binding, const char *role)
{
	return !json_object_get(binding, "condition") &&
	       !strcmp(json_get_text(binding, "role", ""), role);
}

static bool holds(const json_t *policy, const struct iam_grant *grant)
{
	const json_t *binding;
	size_t i;

	json_array_foreach(json_object_get(policy, "bindings"), i, binding)
	{
		if (is_plain(binding, grant->role) &&
		    has_member(binding, grant->member))
			return true;
	}
	return false;
}

/* Adds the grant; everything else stays as it was read. */
static void add(json_t *policy, const struct iam_grant *grant)
{
	json_t *bindings = json_object_get(policy, "bindings");
	json_t *binding, *found = NULL;
	size_t i;

	if (!bindings) {
		bindings = json_array();
		json_put(policy, "bindings", bindings);
	}
	json_array_foreach(bindings, i, binding)
	{
		if (is_plain(binding, grant->role))
			found = binding;
	}
	if (!found) {
		found = json_object();
		json_put_text(found, "role", grant->role);
		json_put(found, "members", json_array());
		json_array_append_new(bindings, found);
	}
	json_array_append_new(json_object_get(found, "members"),
			      json_text(grant->member));
}

int iam_is_granted(struct google *google, const struct iam_grant *grant,
		   bool *out, struct error *err)
{
	struct api_answer answer = { 0 };
	int ret = get(google, grant, &answer, err);

	if (ret == 0)
		*out = holds(answer.body, grant);
	api_answer_done(&answer);
	return ret;
}

/* Writes the policy; returns 1 if somebody else has written it since. */
static int set(struct google *google, const struct iam_grant *grant,
	       json_t *policy, struct error *err)
{
	struct api_answer answer = { 0 };
	int ret;

	if (!json_get_text(policy, "etag", NULL))
		return error_set(err, ERROR_FAILED,
				 "the policy of project '%s' has no etag: "
				 "somebody else's change could be lost",
				 grant->project);
	add(policy, grant);
	ret = call(google, grant, ":setIamPolicy",
		   json_pack("{s:O}", "policy", policy), &answer, err);
	if (ret == 0 && !holds(answer.body, grant))
		ret = error_set(err, ERROR_FAILED,
				"project '%s' has taken the policy, but not "
				"%s for '%s'",
				grant->project, grant->role, grant->member);
	if (ret < 0 && answer.status == 409)
		ret = 1;
	/* An account created a moment ago is not known everywhere yet. */
	if (ret < 0 && answer.status == 400 &&
	    strstr(err->text, "does not exist"))
		err->code = ERROR_TRY_AGAIN;
	api_answer_done(&answer);
	return ret;
}

int iam_give(struct google *google, const struct iam_grant *grant,
	     struct error *err)
{
	int i, ret = 1;

	/* The write was refused because somebody else changed the policy. */
	for (i = 0; ret == 1 && i < TRIES; i++) {
		struct api_answer answer = { 0 };

		ret = get(google, grant, &answer, err);
		if (ret == 0 && !holds(answer.body, grant))
			ret = set(google, grant, answer.body, err);
		api_answer_done(&answer);
	}
	if (ret == 1)
		ret = error_set(err, ERROR_TRY_AGAIN,
				"the policy of project '%s' was changed by "
				"others, %d times in a row",
				grant->project, TRIES);
	return ret;
}
