/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/seal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/base/json.h"
#include "core/provider/placeholder.h"

int seal_init(struct seal *seal, struct store *store, bool keep,
	      struct error *err)
{
	int ret = 1;

	if (store)
		ret = store_key(store, keep, seal->key, err);
	if (ret < 0)
		return -1;
	seal->lasting = ret == 0;
	if (ret == 1 &&
	    getrandom(seal->key, sizeof(seal->key), 0) != sizeof(seal->key))
		return error_errno(err, "no random bytes");
	seal->ready = true;
	return 0;
}

void seal_done(struct seal *seal)
{
	explicit_bzero(seal->key, sizeof(seal->key));
}

static bool is_secret(const json_t *value)
{
	enum placeholder_type type = placeholder_type(value);

	return type == PLACEHOLDER_SECRET || type == PLACEHOLDER_SEALED;
}

/* Whether a member of the mask itself is a secret. */
static bool has_secret(const json_t *mask)
{
	json_t *all = (json_t *)mask;
	const char *key;
	json_t *item;
	size_t i;

	json_object_foreach(all, key, item)
	{
		if (is_secret(item))
			return true;
	}
	json_array_foreach(all, i, item)
	{
		if (is_secret(item))
			return true;
	}
	return false;
}

static bool has_secret_within(const json_t *mask)
{
	return placeholder_holds(mask, PLACEHOLDER_SECRET) ||
	       placeholder_holds(mask, PLACEHOLDER_SEALED);
}

struct sealing {
	const struct seal *seal; /* or NULL */
	const struct resource *it;
	const json_t *top; /* the whole mask */
	bool strict;       /* also seal members beside a secret, see
			    * seal_by() */
	struct error *err;
};

static json_t *seal_value(const struct sealing *sealing, const json_t *value)
{
	struct digest digest = { "" };
	char *plain, *text;

	if (sealing->seal) {
		plain = json_canonical(value);
		/* The name is part of the digest, so that nobody sees that two
		 * resources have the same secret. */
		text = mem_printf("%s\n%s\n%s", sealing->it->kind->name,
				  sealing->it->name, plain ? plain : "");
		digest_keyed(sealing->seal->key, sizeof(sealing->seal->key),
			     text, &digest);
		explicit_bzero(text, strlen(text));
		free(text);
		free(plain);
	}
	return placeholder_sealed(digest.hex);
}

/*
 * Seals the values that `mask` marks as secret; returns a new value.  With
 * `strict`, in a map that holds secrets (an environment), also seals members
 * that the mask lacks, as they may be old secrets.
 */
static json_t *seal_by(const struct sealing *sealing, const json_t *mask,
		       const json_t *value)
{
	json_t *all = (json_t *)value;
	bool beside =
		sealing->strict && mask != sealing->top && has_secret(mask);
	json_t *item, *one, *out;
	const char *key;
	size_t i;

	if (placeholder_type(value) || !has_secret_within(mask))
		return json_incref(all);
	if (is_secret(mask) || json_typeof(mask) != json_typeof(value))
		return seal_value(sealing, value);
	out = json_is_object(value) ? json_object() : json_array();
	json_object_foreach(all, key, item)
	{
		const json_t *inner = json_object_get(mask, key);

		one = !inner && beside ? seal_value(sealing, item)
				       : seal_by(sealing, inner, item);
		if (!one)
			goto fail;
		json_put(out, key, one);
	}
	json_array_foreach(all, i, item)
	{
		const json_t *inner = json_array_get(mask, i);

		one = !inner && beside ? seal_value(sealing, item)
				       : seal_by(sealing, inner, item);
		if (!one)
			goto fail;
		json_array_append_new(out, one);
	}
	return out;
fail:
	json_decref(out);
	return NULL;
}

/* Returns a mask with a secret at each sensitive path of the kind. */
static json_t *kind_mask(const struct kind *kind)
{
	json_t *out = json_object();
	const char *const *path;

	for (path = kind->sensitive; path && *path; path++) {
		char *text = mem_strdup(*path);
		char *rest = NULL;
		char *name = strtok_r(text, ".", &rest);
		json_t *at = out;

		for (; name; name = strtok_r(NULL, ".", &rest)) {
			json_t *next = json_object_get(at, name);

			if (!next) {
				next = *rest ? json_object()
					     : placeholder_sealed("");
				json_put(at, name, next);
			}
			at = next;
		}
		free(text);
	}
	return out;
}

bool seal_is_needed(const struct resource *it, const json_t *applied)
{
	return it->kind->sensitive || has_secret_within(it->properties) ||
	       has_secret_within(applied);
}

json_t *seal_properties(const struct seal *seal, const struct resource *it,
			const json_t *applied, const json_t *properties,
			struct error *err)
{
	struct sealing sealing = { .seal = seal, .it = it, .err = err };
	json_t *kind = kind_mask(it->kind);
	const json_t *masks[] = { kind, it->properties, applied };
	json_t *out = json_incref((json_t *)properties);
	size_t i;

	for (i = 0; out && i < COUNT(masks); i++) {
		json_t *next;

		sealing.top = masks[i];
		sealing.strict = masks[i] == it->properties;
		next = seal_by(&sealing, masks[i], out);
		json_decref(out);
		out = next;
	}
	json_decref(kind);
	return out;
}
