/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any lines as the surroundings of a process, "NAME=VALUE" for a variable,
 * "@PATH=VALUE" for an answer of the metadata server: every reader finds a
 * place or reports an error, and for a place every contract can be written.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/topology/contract.h"
#include "core/topology/topology_read.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"

#define LINES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int metadata(void *arg, const char *path, struct arena *mem,
		    const char **out, struct error *err)
{
	char *const *lines = arg;
	size_t len = strlen(path);

	(void)mem;
	(void)err;
	for (; *lines; lines++)
		if ((*lines)[0] == '@' && !strncmp(*lines + 1, path, len) &&
		    (*lines)[len + 1] == '=')
			*out = *lines + len + 2;
	return 0;
}

static void use(struct topology *all, size_t self, struct arena *mem)
{
	static const struct tpu_place host = { "10.0.0.1", 8470 };
	struct environment env = { 0 };
	struct buf text = { 0 };
	struct topology back;
	struct error err;
	json_t *json;
	size_t i;

	assert(self < all->count && all->job_id && all->master_name);
	for (i = 0; i < all->count; i++)
		assert(all->tasks[i].host && all->tasks[i].port > 0);
	/* A larger topology takes time without testing more. */
	if (all->count > 1000)
		return;
	if (all->tpu_slice && !all->tpu_host_count) {
		all->tpu_hosts = &host;
		all->tpu_host_count = 1;
	}
	for (i = 0; contracts[i]; i++)
		contracts[i]->write(all, self, &env);
	contract_hostfile(all, &text);
	json = topology_json(all);
	assert(topology_from_json(json, mem, &back, &err) == 0);
	assert(back.count == all->count);
	json_decref(json);
	buf_done(&text);
	environment_done(&env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *lines[LINES_MAX + 1] = { NULL };
	char *text = malloc(size + 1);
	struct error err;
	struct surroundings at = { .env = lines,
				   .host = "job-0.domain",
				   .catalogue = catalogue_get(&err),
				   .metadata = metadata,
				   .arg = lines };
	char *line, *save = NULL;
	struct topology_readers readers;
	size_t n = 0, i;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (line = strtok_r(text, "\n", &save); line && n < LINES_MAX;
	     line = strtok_r(NULL, "\n", &save))
		lines[n++] = line;
	provider_readers(providers, &readers);
	for (i = 0; i < readers.count; i++) {
		struct arena *mem = arena_new();
		struct topology all;
		size_t self;

		if (readers.items[i]->read(&at, mem, &all, &self, &err) == 0)
			use(&all, self, mem);
		arena_free(mem);
	}
	free(text);
	return 0;
}
