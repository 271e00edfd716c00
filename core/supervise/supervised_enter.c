/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command beside a task of a supervised run: here, or on its host over
 * ssh, with the run's own configuration of it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/process/subprocess.h"
#include "core/ssh/bootstrap.h"
#include "core/ssh/ssh.h"
#include "core/store/store.h"
#include "core/supervise/heartbeat.h"
#include "core/supervise/supervised.h"
#include "core/supervise/supervisor_internal.h"
#include "core/trial/trial_folder.h"

static int ordinal_of(const struct run_spec *spec,
		      const struct task_record *task, size_t *out,
		      struct error *err)
{
	enum task_type type;
	int ordinal =
		task_type_parse(task->type, &type) < 0
			? -1
			: topology_find(&spec->topology, type, task->index);

	if (ordinal < 0)
		return error_set(err, ERROR_FAILED, "the run has no task %s %d",
				 task->type, task->index);
	*out = (size_t)ordinal;
	return 0;
}

/* The command line of ssh that enters the task on its host. */
static int enter_host(const struct run_spec *spec, size_t ordinal,
		      const struct enter_wish *wish, struct arena *mem,
		      struct enter_way *out, struct error *err)
{
	const char *name = spec_host_target(spec, ordinal);
	const char *config = arena_printf(mem, "%s/ssh_config-%ld", spec->home,
					  spec->hosts.slot);
	struct ssh_target target;
	struct buf line = { 0 };
	char *start, *text;

	if (ssh_target_parse(name, &target, err) < 0)
		return -1;
	start = bootstrap_enter_command(spec->hosts.directory);
	buf_printf(&line, "%s %lld --", start, (long long)wish->task->pid);
	for (char *const *word = wish->argv; *word; word++) {
		buf_putc(&line, ' ');
		command_quote(*word, &line);
	}
	text = arena_strdup(mem, buf_text(&line));
	out->argv = ssh_command_new(&target, config, text)->argv;
	if (wish->terminal)
		ssh_command_with_terminal(out->argv);
	free(start);
	buf_done(&line);
	return 0;
}

int supervised_enter(void *ctx, const struct enter_wish *wish,
		     struct arena *mem, struct enter_way *out,
		     struct error *err)
{
	const struct supervised *as = ctx;
	char *run = store_run_folder(as->env.store, wish->run->job_id,
				     wish->run->attempt);
	/* A trial may have hosts of its own. */
	char *folder = wish->task->trial
			       ? trial_logs_folder(run, wish->task->trial)
			       : mem_strdup(run);
	struct run_spec spec;
	size_t ordinal = 0;
	int ret = spec_read(folder, mem, &spec, err);

	free(folder);
	free(run);
	if (ret < 0 || ordinal_of(&spec, wish->task, &ordinal, err) < 0)
		return -1;
	if (spec.docker_image || spec.container.runtime)
		return error_set(err, ERROR_FAILED,
				 "the task runs in a container, which its "
				 "runtime enters: see its 'exec' command");
	if (spec.hosts.names.count)
		return enter_host(&spec, ordinal, wish, mem, out, err);
	if (!supervisor_is_of_here(wish->run) && heartbeat_is_needed(spec.home))
		return error_set(err, ERROR_FAILED,
				 "the run is on machine '%s': enter it there",
				 wish->run->host);
	out->folder = spec.home;
	out->pid = (pid_t)wish->task->pid;
	return 0;
}
