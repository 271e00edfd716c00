/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/hosts_program.h"

#include <string.h>

#include "core/job/job.h"

/* Checks that the shipped program runs on the host, and reports the loader's
 * message if it does not.  Usually the C library is too old. */
#define CHECK_SCRIPT                                                           \
	"why=$(\"$0\" version 2>&1 >/dev/null) || { "                          \
	"echo \"jobrun does not run on this host, which its tasks "            \
	"need: $why\" >&2; exit 126; }; [ $# = 0 ] || exec \"$@\""

bool hosts_need_program(const struct run_spec *spec)
{
	return spec->checkpoints.is_used || spec->data.count;
}

static void add(struct strings *list, const char *text)
{
	list->items[list->count++] = text;
}

static void add_all(struct strings *list, const struct strings *more)
{
	for (size_t i = 0; i < more->count; i++)
		add(list, more->items[i]);
}

static const char *program_on(const char *folder, struct arena *mem)
{
	return arena_printf(mem, "%s/files/" HOSTS_PROGRAM, folder);
}

struct strings hosts_wrap_setup(const struct run_spec *spec,
				const struct strings *setup, const char *folder,
				struct arena *mem)
{
	struct strings out = { 0 };

	if (!hosts_need_program(spec))
		return *setup;
	out.items = arena_alloc(mem, (setup->count + 4) * sizeof(char *));
	add(&out, "/bin/sh");
	add(&out, "-c");
	add(&out, CHECK_SCRIPT);
	add(&out, program_on(folder, mem));
	add_all(&out, setup);
	return out;
}

/* Returns the checkpoint directory on a host.  Checkpoints that stay there are
 * collected with the output of the run, those with a store need not be. */
static const char *directory_on(const struct run_checkpoints *from,
				const char *folder, struct arena *mem)
{
	if (from->directory)
		return from->directory;
	return arena_printf(mem, "%s%s/checkpoints", folder,
			    from->to ? "" : "/output");
}

struct strings hosts_attend_task(const struct run_spec *spec, size_t ordinal,
				 const struct strings *command,
				 const char *program, const char *directory,
				 struct arena *mem)
{
	const struct run_checkpoints *from = &spec->checkpoints;
	struct strings options = { 0 };
	struct strings out = { 0 };

	if (!hosts_need_program(spec))
		return *command;
	if (from->is_used)
		spec_checkpoints_options(spec, directory, mem, &options);
	out.items = arena_alloc(mem, (command->count + options.count + 5) *
					     sizeof(char *));
	add(&out, program);
	add(&out, HOSTS_PROGRAM_COMMAND);
	add(&out, arena_printf(mem, "--task=%zu", ordinal));
	add(&out, arena_printf(mem, "--tasks=%zu", spec->topology.count));
	add_all(&out, &options);
	add(&out, "--");
	add_all(&out, command);
	return out;
}

struct strings hosts_wrap_task(const struct run_spec *spec, size_t ordinal,
			       const struct strings *command,
			       const char *folder, struct arena *mem)
{
	return hosts_attend_task(
		spec, ordinal, command, program_on(folder, mem),
		directory_on(&spec->checkpoints, folder, mem), mem);
}
