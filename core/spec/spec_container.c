/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/spec_container.h"

#include <string.h>

/* What a job says of one type of task. */
struct of_role {
	enum task_type type;
	const struct replica_config *config;
};

#define ROLES 4

static void roles_of(const struct training_input *input,
		     struct of_role out[ROLES])
{
	out[0] = (struct of_role){ TASK_MASTER, &input->master_config };
	out[1] = (struct of_role){ TASK_WORKER, &input->worker_config };
	out[2] = (struct of_role){ TASK_PS, &input->parameter_server_config };
	out[3] = (struct of_role){ TASK_EVALUATOR, &input->evaluator_config };
}

const char *spec_contain(const struct job *job, enum spec_images images,
			 struct arena *mem, struct run_container *out)
{
	const struct training_input *input = &job->training_input;
	const struct container_block *block = &job->jobrun.container;
	const char *image =
		block->image ? block->image : input->master_config.image_uri;
	struct of_role roles[ROLES];
	size_t i;

	if (!strcmp(block->runtime, "none"))
		return NULL;
	if (!image)
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
	out->images.items = arena_alloc(mem, ROLES * sizeof(struct pair));
	roles_of(input, roles);
	for (i = 0; i < ROLES; i++) {
		const char *own = roles[i].config->image_uri;

		out->images.items[out->images.count++] = (struct pair){
			.name = task_type_name(roles[i].type),
			.value = own && !block->image ? own : image,
		};
	}
	return NULL;
}

bool spec_contain_words(const struct job *job, struct arena *mem,
			struct run_spec *out)
{
	const struct training_input *input = &job->training_input;
	struct run_words *words;
	struct of_role roles[ROLES];
	size_t i;

	if (!out->container.runtime || input->python_module)
		return false;
	words = arena_alloc(mem, ROLES * sizeof(*words));
	roles_of(input, roles);
	for (i = 0; i < ROLES; i++) {
		const struct replica_config *config = roles[i].config;
		const struct strings *args = config->container_args.count
						     ? &config->container_args
						     : &input->args;

		words[i] = (struct run_words){
			.role = task_type_name(roles[i].type),
			.own_entry = !config->container_command.count,
		};
		words[i].command = spec_words(job, &config->container_command,
					      args, mem, &words[i].args_end);
	}
	out->container.words.items = words;
	out->container.words.count = ROLES;
	out->command = words[0].command;
	out->args_end = words[0].args_end;
	return true;
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
