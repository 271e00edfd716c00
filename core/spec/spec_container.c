/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/spec_container.h"

#include <string.h>

#include "core/container/container.h"
#include "core/job/machines.h"

static const enum task_type types[ROLE_COUNT] = {
	[ROLE_MASTER] = TASK_MASTER,
	[ROLE_WORKER] = TASK_WORKER,
	[ROLE_PARAMETER_SERVER] = TASK_PS,
	[ROLE_EVALUATOR] = TASK_EVALUATOR,
};

const char *spec_contain(const struct job *job, enum spec_images images,
			 struct arena *mem, struct run_container *out)
{
	const struct training_input *input = &job->training_input;
	const struct container_block *block = &job->jobrun.container;
	size_t i;

	if (!strcmp(block->runtime, "none"))
		return NULL;
	if (!block->image && !input->master_config.image_uri)
		return job_has(job, "container")
			       ? "jobrun.container needs an image: set "
				 "trainingInput.masterConfig.imageUri"
			       : NULL;
	out->runtime = job_has(job, "container") ? block->runtime
		       : images == IMAGES_ALWAYS ? "auto"
						 : NULL;
	out->mounts = block->mounts;
	out->workdir = block->workdir;
	out->options = block->options;
	out->images.items = arena_alloc(mem, ROLE_COUNT * sizeof(struct pair));
	out->images.count = ROLE_COUNT;
	for (i = 0; i < ROLE_COUNT; i++)
		out->images.items[i] = (struct pair){
			.name = task_type_name(types[i]),
			.value = block->image ? block->image
					      : role_image(input, i),
		};
	return NULL;
}

bool spec_contain_words(const struct job *job, struct arena *mem,
			struct run_spec *out)
{
	const struct training_input *input = &job->training_input;
	struct run_words *words;
	size_t i;

	if (!out->container.runtime || input->python_module)
		return false;
	words = arena_alloc(mem, ROLE_COUNT * sizeof(*words));
	for (i = 0; i < ROLE_COUNT; i++) {
		const struct replica_config *config = role_config(input, i);
		const struct strings *args = config->container_args.count
						     ? &config->container_args
						     : &input->args;

		words[i] = (struct run_words){
			.role = task_type_name(types[i]),
			.own_entry = !config->container_command.count,
		};
		words[i].command = spec_words(job, &config->container_command,
					      args, mem, &words[i].args_end);
	}
	out->container.words.items = words;
	out->container.words.count = ROLE_COUNT;
	out->command = words[ROLE_MASTER].command;
	out->args_end = words[ROLE_MASTER].args_end;
	return true;
}

const char *spec_contain_fault(const struct run_spec *spec, struct arena *mem)
{
	const struct run_words *words;
	size_t i;

	for (i = 0; i < spec->topology.count; i++) {
		words = spec_words_of(spec, i);
		if (words && words->own_entry)
			return container_entry_fault(spec->container.runtime,
						     mem);
	}
	return NULL;
}

struct strings spec_words(const struct job *job, const struct strings *command,
			  const struct strings *args, struct arena *mem,
			  size_t *args_end)
{
	const char *folder = job->training_input.job_dir;
	const char **items = arena_alloc(
		mem, (command->count + args->count + 2) * sizeof(*items));
	size_t n = 0, i;

	for (i = 0; i < command->count; i++)
		items[n++] = command->items[i];
	for (i = 0; i < args->count; i++)
		items[n++] = args->items[i];
	*args_end = n;
	if (folder) {
		items[n++] = "--job-dir";
		items[n++] = folder;
	}
	return (struct strings){ .count = n, .items = items };
}

void spec_words_bound(struct run_container *container)
{
	struct run_words *words = container->words.items;
	size_t i;

	for (i = 0; i < container->words.count; i++)
		if (words[i].args_end > words[i].command.count)
			words[i].args_end = words[i].command.count;
}

const struct run_words *spec_words_of(const struct run_spec *spec,
				      size_t ordinal)
{
	const struct messages *all = &spec->container.words;
	const struct run_words *words = all->items;
	const char *type = task_type_name(spec->topology.tasks[ordinal].type);
	size_t i;

	for (i = 0; i < all->count; i++)
		if (!strcmp(words[i].role, type))
			return &words[i];
	return NULL;
}

const struct strings *spec_command(const struct run_spec *spec, size_t ordinal)
{
	const struct run_words *words = spec_words_of(spec, ordinal);

	return words ? &words->command : &spec->command;
}
