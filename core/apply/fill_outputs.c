/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/fill_outputs.h"

#include <string.h>

#include "core/provider/placeholder.h"
#include "core/job/secret.h"

struct filling {
	bool before; /* nothing was created yet: no output is known */
	const struct resource *it;
	void *ctx;
	/* The resource that was read last: often several outputs come from
	 * one. */
	const struct resource *read;
	struct resource found;
};

static const struct resource *find_need(const struct resource *it,
					const char *kind, const char *name)
{
	size_t i;

	for (i = 0; i < it->need_count; i++)
		if (!strcmp(it->needs[i]->kind->name, kind) &&
		    !strcmp(it->needs[i]->name, name))
			return it->needs[i];
	return NULL;
}

static void forget_found(struct filling *filling)
{
	json_decref(filling->found.properties);
	json_decref(filling->found.outputs);
	filling->read = NULL;
}

static int read_need(struct filling *filling, const struct resource *need,
		     struct error *err)
{
	if (filling->read == need)
		return 0;
	forget_found(filling);
	filling->found = (struct resource){ .kind = need->kind,
					    .name = need->name,
					    .job = need->job };
	if (need->kind->read(filling->ctx, need, &filling->found, err) < 0)
		return error_prefix(err, "read %s '%s'", need->kind->name,
				    need->name);
	filling->read = need;
	return 0;
}

static int fill_output(void *arg, const char *kind, const char *resource,
		       const char *name, json_t **out, struct error *err)
{
	struct filling *filling = arg;
	const struct resource *need = find_need(filling->it, kind, resource);

	if (filling->before) {
		*out = json_null();
		return 0;
	}
	if (!need)
		return error_set(err, ERROR_FAILED,
				 "it refers to %s '%s', which it does not "
				 "depend on",
				 kind, resource);
	if (read_need(filling, need, err) < 0)
		return -1;
	*out = json_incref(json_object_get(filling->found.outputs, name));
	if (*out)
		return 0;
	return error_set(err, ERROR_TRY_AGAIN, "%s '%s' has no %s yet", kind,
			 resource, name);
}

static int fill_secret(void *arg, const char *name, json_t **out,
		       struct error *err)
{
	const struct filling *filling = arg;

	*out = job_secret(filling->it->job, name, err);
	return *out ? 0 : -1;
}

static void drop_unknown(json_t *properties)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(properties, next, key, value)
	{
		if (json_is_null(value))
			json_object_del(properties, key);
	}
}

int fill_resource(struct resource *it, void *ctx, bool before,
		  struct error *err)
{
	struct filling filling = { .before = before, .it = it, .ctx = ctx };
	struct placeholder_source source = { .output = fill_output,
					     .secret = fill_secret,
					     .arg = &filling };
	json_t *properties, *request = NULL;

	properties = placeholder_fill(it->properties, &source, err);
	if (properties && it->request)
		request = placeholder_fill(it->request, &source, err);
	forget_found(&filling);
	if (!properties || (it->request && !request)) {
		json_decref(properties);
		return -1;
	}
	if (before)
		drop_unknown(properties);
	it->properties = properties;
	it->request = request;
	return 0;
}

void fill_done(struct resource *it)
{
	json_decref(it->properties);
	json_decref(it->request);
	it->properties = NULL;
	it->request = NULL;
}
