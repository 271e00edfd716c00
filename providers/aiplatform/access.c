/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/aiplatform/access.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/google/iam.h"
#include "providers/google/managed/managed.h"
#include "providers/google/operation.h"

#define SERVICE "tpu.googleapis.com"
#define ROLE "roles/ml.serviceAgent"
/* How long the service may take to make an identity. */
#define PATIENCE_S 120

/* The answer of getConfig; its strings are in an arena. */
struct config {
	const char *project; /* the user's project */
	const char *owner;   /* number of the project of `account` */
	const char *account; /* the account AI Platform uses for TPUs */
};

static int read_config(const json_t *body, struct arena *mem,
		       struct config *out, struct error *err)
{
	const json_t *config = json_object_get(body, "config");

	out->owner = arena_strdup(
		mem, json_get_text(body, "serviceAccountProject", ""));
	out->account = arena_strdup(
		mem, json_get_text(config, "tpuServiceAccount", ""));
	if (!*out->owner || !*out->account)
		return error_set(err, ERROR_FAILED,
				 "AI Platform names no service account for "
				 "TPUs in project '%s'",
				 out->project);
	/* The account will get a role, so it must be a service account. */
	if (!strchr(out->account, '@') ||
	    !text_ends(out->account, ".gserviceaccount.com"))
		return error_set(err, ERROR_FAILED,
				 "'%s', which AI Platform names for TPUs in "
				 "project '%s', is no service account",
				 out->account, out->project);
	return 0;
}

static int find_config(struct managed *managed, const struct job *job,
		       struct arena *mem, struct config *out, struct error *err)
{
	struct api_answer answer = { 0 };
	const char *parent;
	int ret;

	if (managed_parent(managed, job, mem, &parent, err) < 0)
		return -1;
	out->project = parent + strlen("projects/");
	ret = managed_call(managed, "GET", parent, ":getConfig", NULL, NULL,
			   &answer, err);
	if (ret == 0)
		ret = read_config(answer.body, mem, out, err);
	api_answer_done(&answer);
	return ret;
}

static struct iam_grant grant_of(const struct config *config, struct arena *mem)
{
	return (struct iam_grant){
		.project = config->project,
		.role = ROLE,
		.member =
			arena_printf(mem, "serviceAccount:%s", config->account),
	};
}

/*
 * Looks up the account and whether it has its role.  The API cannot tell
 * whether an identity exists, but an account must exist to get a role; so both
 * resources exist together.
 */
static int look(void *ctx, const struct resource *want, struct arena *mem,
		struct config *config, bool *granted, struct error *err)
{
	struct google *google = managed_google(ctx);
	const char *place, *key;
	struct iam_grant grant;
	json_t *kept;
	int ret = 0;

	if (managed_parent(ctx, want->job, mem, &place, err) < 0)
		return -1;
	key = arena_printf(mem, "TPU access in %s", place);
	kept = managed_kept(ctx, key);
	if (kept) {
		config->project = place + strlen("projects/");
		config->owner = json_copy_text(kept, "owner", mem);
		config->account = json_copy_text(kept, "account", mem);
		*granted = json_is_true(json_object_get(kept, "granted"));
		json_decref(kept);
		return 0;
	}
	if (find_config(ctx, want->job, mem, config, err) < 0)
		return -1;
	grant = grant_of(config, mem);
	ret = iam_is_granted(google, &grant, granted, err);
	if (ret == 0)
		managed_keep(ctx, key,
			     json_pack("{s:s, s:s, s:b}", "owner",
				       config->owner, "account",
				       config->account, "granted", *granted));
	return ret;
}

/* Completes the desired properties with the values known now. */
static void complete(struct resource *want, const struct resource *found)
{
	const char *key;
	json_t *value;

	json_object_foreach(found->outputs, key, value)
	{
		if (strcmp(key, "url") != 0)
			json_object_set(want->properties, key, value);
		else
			json_object_set(want->request, key, value);
	}
}

static json_t *url_of(enum google_service service, const char *path)
{
	struct buf url = { 0 };
	json_t *out;

	endpoint_add(service, NULL, &url);
	buf_puts(&url, path);
	out = json_text(url.data);
	buf_done(&url);
	return out;
}

/* Reads one of the two resources; `outputs` (new) is what is known of it. */
static int read_as(void *ctx, const struct resource *want,
		   json_t *(*outputs)(const struct config *config,
				      struct arena *mem),
		   struct resource *found, struct error *err)
{
	struct arena *mem = arena_new();
	struct config config;
	bool granted;
	int ret = look(ctx, want, mem, &config, &granted, err);

	if (ret == 0) {
		found->exists = granted;
		found->outputs = outputs(&config, mem);
	}
	arena_free(mem);
	if (ret < 0 || !granted)
		return ret;
	found->properties = json_deep_copy(want->properties);
	json_object_update(found->properties, found->outputs);
	json_object_del(found->properties, "url");
	return 0;
}

/* ---- the identity ------------------------------------------------------ */

static const char *identity_path(const char *owner, struct arena *mem)
{
	return arena_printf(mem,
			    "v1beta1/projects/%s/services/" SERVICE
			    ":generateServiceIdentity",
			    owner);
}

static json_t *identity_outputs(const struct config *config, struct arena *mem)
{
	json_t *out = json_object();

	json_put_text(out, "project", config->owner);
	json_put_text(out, "account", config->account);
	json_put(out, "url",
		 url_of(SERVICE_SERVICEUSAGE,
			identity_path(config->owner, mem)));
	return out;
}

static int identity_read(void *ctx, const struct resource *want,
			 struct resource *found, struct error *err)
{
	return read_as(ctx, want, identity_outputs, found, err);
}

/* Making the identity again has no effect. */
static int identity_create(void *ctx, const struct resource *want,
			   struct error *err)
{
	struct google *google = managed_google(ctx);
	struct arena *mem = arena_new();
	struct api_answer answer = { 0 };
	json_t *body = json_object();
	struct api_request request = {
		.service = SERVICE_SERVICEUSAGE,
		.method = "POST",
		.path = identity_path(
			json_get_text(want->properties, "project", ""), mem),
		.body = body,
		.repeatable = true,
	};
	int ret;

	managed_forget(ctx);
	ret = api_call(google, &request, &answer, err);
	if (ret == 0)
		ret = operation_wait(google, SERVICE_SERVICEUSAGE, NULL,
				     "v1beta1/", &answer, PATIENCE_S, err);
	api_answer_done(&answer);
	json_decref(body);
	arena_free(mem);
	return ret;
}

const struct kind kind_service_identity = {
	.name = "service-identity",
	.read = identity_read,
	.adapt = complete,
	.create = identity_create,
	.update = identity_create,
};

/* ---- its role ---------------------------------------------------------- */

static json_t *binding_outputs(const struct config *config, struct arena *mem)
{
	json_t *out = json_object();

	json_put_text(out, "project", config->project);
	json_put_text(out, "member", grant_of(config, mem).member);
	json_put(out, "url",
		 url_of(SERVICE_RESOURCEMANAGER,
			arena_printf(mem, "v1/projects/%s:setIamPolicy",
				     config->project)));
	return out;
}

static int binding_read(void *ctx, const struct resource *want,
			struct resource *found, struct error *err)
{
	return read_as(ctx, want, binding_outputs, found, err);
}

static int binding_create(void *ctx, const struct resource *want,
			  struct error *err)
{
	const struct iam_grant grant = {
		.project = json_get_text(want->properties, "project", ""),
		.role = ROLE,
		.member = json_get_text(want->properties, "member", ""),
	};

	managed_forget(ctx);
	return iam_give(managed_google(ctx), &grant, err);
}

const struct kind kind_iam_binding = {
	.name = "iam-binding",
	.read = binding_read,
	.adapt = complete,
	.create = binding_create,
	.update = binding_create,
};

/* ---- what a job wants -------------------------------------------------- */

static struct resource *add(const struct job *job, const struct kind *kind,
			    const char *name, const char *key,
			    struct resources *out)
{
	struct resource *one = resources_add(out, kind, name, job);

	one->properties = json_object();
	json_put_text(one->properties, key, name);
	one->request = json_object();
	json_put_text(one->request, "method", "POST");
	json_put_text(one->request, "url", "");
	return one;
}

void access_desire(const struct job *job, struct resources *out)
{
	struct resource *identity =
		add(job, &kind_service_identity, SERVICE, "service", out);
	struct resource *binding =
		add(job, &kind_iam_binding, ROLE, "role", out);

	/* The rest of the policy belongs to others and is read when the policy
	 * is written. */
	json_put(identity->request, "body", json_object());
	resource_needs(out, binding, identity);
}
