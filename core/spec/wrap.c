/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/wrap.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/container/container.h"
#include "core/spec/spec_container.h"

#define CONDA_SCRIPT                                                           \
	"command -v conda >/dev/null && exec conda \"$@\"; "                   \
	"for d in \"$HOME/miniconda3\" \"$HOME/anaconda3\" "                   \
	"\"$HOME/miniforge3\" \"$HOME/mambaforge\" /opt/conda "                \
	"/opt/miniconda3 /anaconda3; do "                                      \
	"[ -x \"$d/bin/conda\" ] && exec \"$d/bin/conda\" \"$@\"; done; "      \
	"echo \"conda was not found in PATH, $HOME or /opt\" >&2; exit 127"

/* Runs a command before the program.  The arguments are: what the command is,
 * on which host, its number of words, these words, and the program with its
 * arguments.  The subshell rotates the words until only those of the command
 * are left.  The output goes to a file, since a process left behind could keep
 * a pipe open. */
#define BEFORE_SCRIPT                                                          \
	"what=$1 where=$2 n=$3; shift 3; file=$(mktemp) || exit; "             \
	"(i=0; while [ $i -lt $n ]; do set -- \"$@\" \"$1\"; shift; "          \
	"i=$((i + 1)); done; shift $(($# - n)); "                              \
	"exec \"$@\" >\"$file\" 2>&1 </dev/null); status=$?; "                 \
	"cat \"$file\" >&2; last=$(tail -n 1 \"$file\"); rm -f \"$file\"; "    \
	"[ $status = 0 ] || { "                                                \
	"echo \"$what did not start on $where (exit status $status)"           \
	"${last:+: $last}\" >&2; exit $status; }; shift $n; exec \"$@\""

static void add(struct strings *list, const char *text)
{
	list->items[list->count++] = text;
}

static void add_all(struct strings *list, const struct strings *more)
{
	size_t i;

	for (i = 0; i < more->count; i++)
		add(list, more->items[i]);
}

struct strings wrap_conda(const struct run_spec *spec,
			  const struct strings *command, struct arena *mem)
{
	struct strings out = { 0 };

	if (!spec->conda_env || !command->count)
		return *command;
	out.items = arena_alloc(mem, (command->count + 8) * sizeof(char *));
	add(&out, "/bin/sh");
	add(&out, "-c");
	add(&out, CONDA_SCRIPT);
	add(&out, "conda");
	add(&out, "run");
	add(&out, "--no-capture-output");
	add(&out, strchr(spec->conda_env, '/') ? "-p" : "-n");
	add(&out, spec->conda_env);
	add_all(&out, command);
	return out;
}

struct strings wrap_docker(const struct run_spec *spec,
			   const struct strings *command,
			   struct environment *env,
			   const struct wrap_container *container,
			   struct arena *mem, struct strings *after)
{
	struct strings out = { 0 };
	size_t i;

	*after = (struct strings){ 0 };
	if (!spec->docker_image)
		return *command;
	out.items = arena_alloc(mem, (command->count + 2 * env->count +
				      spec->docker_flags.count + 18) *
					     sizeof(char *));
	add(&out, "docker");
	add(&out, "run");
	add(&out, "--rm");
	add(&out, "--init");
	add(&out, "--network=host");
	add(&out, arena_printf(mem, "--name=%s", container->name));
	add(&out, "-v");
	add(&out,
	    arena_printf(mem, "%s:%s", container->folder, container->folder));
	add(&out, "-w");
	add(&out, container->directory);
	environment_printf(env, CONTAINER_VARIABLE, "docker,%s",
			   container->name);
	for (i = 0; i < env->count; i++) {
		add(&out, "-e");
		add(&out, arena_strndup(mem, env->items[i],
					strcspn(env->items[i], "=")));
	}
	add_all(&out, &spec->docker_flags);
	add(&out, spec->docker_image);
	add_all(&out, command);

	after->items = arena_alloc(mem, 4 * sizeof(char *));
	add(after, "docker");
	add(after, "rm");
	add(after, "-f");
	add(after, container->name);
	return out;
}

static const char *image_of(const struct run_spec *spec, size_t ordinal)
{
	const struct pairs *images = &spec->container.images;
	const char *type = task_type_name(spec->topology.tasks[ordinal].type);
	size_t i;

	for (i = 0; i < images->count; i++)
		if (!strcmp(images->items[i].name, type))
			return images->items[i].value;
	return NULL;
}

static void add_word(struct strings *list, const char *key, const char *value,
		     struct arena *mem)
{
	if (value)
		add(list, arena_printf(mem, "%s=%s", key, value));
}

static void add_words(struct strings *list, const char *key,
		      const struct strings *values, struct arena *mem)
{
	size_t i;

	for (i = 0; i < values->count; i++)
		add_word(list, key, values->items[i], mem);
}

static void add_folders(struct strings *list, const struct run_spec *spec,
			const struct wrap_container *at, struct arena *mem)
{
	const char *checkpoints = spec->checkpoints.directory;

	add_word(list, "mount", at->folder, mem);
	if (!text_is_within(at->directory, at->folder, '/'))
		add_word(list, "mount", at->directory, mem);
	if (checkpoints && *checkpoints == '/' &&
	    !text_is_within(checkpoints, at->folder, '/'))
		add_word(list, "mount", checkpoints, mem);
	add_words(list, "mount", &spec->container.mounts, mem);
}

/* This program: jobrun or its agent, which starts the tasks. */
#define ITSELF "/proc/self/exe"

struct strings wrap_contain(const struct run_spec *spec, size_t ordinal,
			    const struct strings *command,
			    struct environment *env,
			    const struct wrap_container *at, struct arena *mem,
			    struct strings *after)
{
	const struct run_container *box = &spec->container;
	const struct run_words *words = spec_words_of(spec, ordinal);
	struct strings out = { 0 };
	size_t i;

	if (after)
		*after = (struct strings){ 0 };
	if (!box->runtime)
		return *command;
	environment_printf(env, CONTAINER_VARIABLE, "%s,%s", box->runtime,
			   at->name);
	out.items = arena_alloc(mem, (command->count + env->count +
				      box->mounts.count + box->options.count +
				      17) * sizeof(char *));
	add(&out, ITSELF);
	add(&out, CONTAINER_COMMAND);
	add_word(&out, "runtime", box->runtime, mem);
	add_word(&out, "image", image_of(spec, ordinal), mem);
	add_word(&out, "name", at->name, mem);
	add_word(&out, "workdir", box->workdir ? box->workdir : at->directory,
		 mem);
	add_folders(&out, spec, at, mem);
	for (i = 0; i < env->count; i++)
		add_word(&out, "variable",
			 arena_strndup(mem, env->items[i],
				       strcspn(env->items[i], "=")),
			 mem);
	add_words(&out, "option", &box->options, mem);
	if (words && words->own_entry)
		add(&out, CONTAINER_OWN_ENTRY);
	add(&out, "--");
	add_all(&out, command);
	if (!after)
		return out;
	after->items = arena_alloc(mem, 4 * sizeof(char *));
	add(after, ITSELF);
	add(after, CONTAINER_COMMAND);
	add_word(after, "runtime", box->runtime, mem);
	add_word(after, "remove", at->name, mem);
	return out;
}

const char *wrap_container_name(const struct run_spec *spec, size_t ordinal,
				struct arena *mem)
{
	struct digest digest;

	/* Runs in different stores may have the same name. */
	digest_bytes(spec->folder, strlen(spec->folder), &digest);
	return arena_printf(mem, "jobrun-%s-%.8s-%zu", spec->job_id, digest.hex,
			    ordinal);
}

void wrap_remove_container(const struct run_spec *spec, const char *name,
			   const struct environment *env)
{
	if (spec->container.runtime)
		container_remove(spec->container.runtime, name,
				 env ? env->items : NULL);
}

void wrap_remove_containers(const struct run_spec *spec)
{
	struct arena *mem = arena_new();
	size_t i;

	for (i = 0; spec->container.runtime && i < spec->topology.count; i++)
		wrap_remove_container(spec, wrap_container_name(spec, i, mem),
				      NULL);
	arena_free(mem);
}

struct strings wrap_before(const struct run_spec *spec, size_t ordinal,
			   const struct strings *command, struct arena *mem)
{
	const struct run_before *before = &spec->before;
	struct strings out = { 0 }, words;

	if (!before->what)
		return *command;
	words = wrap_conda(spec, &before->command, mem);
	out.items = arena_alloc(mem, (words.count + command->count + 7) *
					     sizeof(char *));
	add(&out, "/bin/sh");
	add(&out, "-c");
	add(&out, BEFORE_SCRIPT);
	add(&out, "before");
	add(&out, before->what);
	add(&out, spec_host_name(spec, ordinal));
	add(&out, arena_printf(mem, "%zu", words.count));
	add_all(&out, &words);
	add_all(&out, command);
	return out;
}
