/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/fake/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/traits.h"
#include "core/provider/placeholder.h"
#include "core/store/store.h"
#include "providers/fake/call.h"

#define WORLD_NAME "fake-world"

static const struct kind *const kinds[] = { &fake_kind_thing, &fake_kind_run,
					    NULL };

static void set_request(struct resource *it)
{
	char *url = mem_printf("fake:%s/%s", it->kind->name, it->name);

	it->request = json_object();
	json_put_text(it->request, "method", "PUT");
	json_put_text(it->request, "url", url);
	json_put(it->request, "body", json_incref(it->properties));
	free(url);
}

static void put_texts(json_t *object, const char *key,
		      const struct strings *texts)
{
	json_t *array;
	size_t i;

	if (!texts->count)
		return;
	array = json_array();
	for (i = 0; i < texts->count; i++)
		json_array_append_new(array, json_text(texts->items[i]));
	json_put(object, key, array);
}

static struct resource *desire_thing(const struct job *job, size_t i,
				     const struct fake_block *block,
				     struct resources *out)
{
	int digits = snprintf(NULL, 0, "%ld", block->resources);
	char *name = mem_printf("%s-thing-%0*zu", job->job_id,
				digits < 2 ? 2 : digits, i + 1);
	struct resource *thing =
		resources_add(out, &fake_kind_thing, name, job);

	free(name);
	thing->properties = json_object();
	json_put_text(thing->properties, "color", block->color);
	json_put_int(thing->properties, "size", block->size);
	if (block->password)
		json_put(thing->properties, "password",
			 placeholder_secret(block->password));
	return thing;
}

static void put_peers(struct resource *it)
{
	json_t *peers = json_array();
	size_t i;

	for (i = 0; i < it->need_count; i++)
		json_array_append_new(
			peers, placeholder_output(it->needs[i], "address"));
	json_put(it->properties, "peers", peers);
}

static void check_password(const struct job *job,
			   const struct fake_block *block,
			   struct resources *out)
{
	const struct secret *secrets = job->jobrun.secrets.items;
	size_t i;

	if (!block->password)
		return;
	for (i = 0; i < job->jobrun.secrets.count; i++)
		if (!strcmp(secrets[i].name, block->password))
			return;
	resources_miss(out,
		       "jobrun.fake.password names the secret '%s', which "
		       "jobrun.secrets has not",
		       block->password);
}

static int desire(const struct job *job, const struct provider_env *env,
		  struct resources *out, struct error *err)
{
	const struct fake_block *block = fake_block(job);
	size_t count = (size_t)block->resources;
	size_t width = (size_t)block->width;
	struct resource *run;
	size_t i;

	(void)env;
	(void)err;
	for (i = 0; i < count; i++) {
		struct resource *thing = desire_thing(job, i, block, out);

		if (i >= width)
			resource_needs(out, thing, out->items[i - width]);
		if (block->linked)
			put_peers(thing);
		set_request(thing);
	}
	run = resources_add(out, &fake_kind_run, job->job_id, job);
	for (i = count > width ? count - width : 0; i < count; i++)
		resource_needs(out, run, out->items[i]);
	run->properties = json_object();
	put_texts(run->properties, "command", &job->jobrun.command);
	put_texts(run->properties, "args", &job->training_input.args);
	json_put_int(run->properties, "runTime", block->run_time);
	json_put_int(run->properties, "exitCode", block->exit_code);
	if (block->linked)
		put_peers(run);
	set_request(run);
	check_password(job, block, out);
	return 0;
}

static void *fake_open(const struct provider_env *env, struct error *err)
{
	struct fake *fake = mem_alloc(sizeof(*fake));

	(void)err;
	if (env && env->store)
		fake->world = path_join(store_folder(env->store), WORLD_NAME);
	return fake;
}

static void fake_close(void *ctx)
{
	struct fake *fake = ctx;

	if (!fake)
		return;
	free(fake->world);
	free(fake);
}

const struct provider provider_fake = {
	.name = "fake",
	.summary = "nothing at all, for tests of jobrun itself",
	.traits = TRAIT_HIDDEN,
	.kinds = kinds,
	.block = &fake_message,
	.desire = desire,
	.place = fake_place,
	.open = fake_open,
	.close = fake_close,
};
