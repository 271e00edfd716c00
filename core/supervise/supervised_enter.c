/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command beside a task of a supervised run: here, or on its host over
 * ssh, with the run's own configuration of it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/enter/enter.h"
#include "core/process/subprocess.h"
#include "core/ssh/bootstrap.h"
#include "core/ssh/ssh.h"
#include "core/store/store.h"
#include "core/supervise/heartbeat.h"
#include "core/supervise/supervised.h"
#include "core/supervise/supervisor_internal.h"
#include "core/trial/trial_folder.h"

/* The command line of ssh that enters the task on its host. */
static int enter_host(const struct run_spec *spec, size_t ordinal,
		      const struct enter_wish *wish,
		      const struct enter_target *task, struct arena *mem,
		      struct enter_way *out, struct error *err)
{
	const char *name = spec_host_target(spec, ordinal);
	const char *config = arena_printf(mem, "%s/ssh_config-%ld", spec->home,
					  spec->hosts.slot);
	struct ssh_target target;
	struct buf line = { 0 }, word = { 0 };
	char *start, *text;

	if (ssh_target_parse(name, &target, err) < 0)
		return -1;
	start = bootstrap_enter_command(spec->hosts.directory);
	buf_printf(&line, "%s ", start);
	enter_target_format(task, &word);
	command_quote(buf_text(&word), &line);
	buf_puts(&line, " --");
	for (char *const *argv = wish->argv; *argv; argv++) {
		buf_putc(&line, ' ');
		command_quote(*argv, &line);
	}
	text = arena_strdup(mem, buf_text(&line));
	out->argv = ssh_command_new(&target, config, text)->argv;
	if (wish->terminal)
		ssh_command_with_terminal(out->argv);
	free(start);
	buf_done(&word);
	buf_done(&line);
	return 0;
}

/* Names the folder of the run on the task's host. */
static int name_run(const struct supervised *as, const struct run_spec *spec,
		    size_t ordinal, struct enter_target *task,
		    struct arena *mem, struct error *err)
{
	char *owner = store_owner(as->env.store, err);
	char *run = owner ? spec_host_run(spec, ordinal, owner) : NULL;

	task->run = run ? arena_strdup(mem, run) : NULL;
	free(run);
	free(owner);
	return task->run ? 0 : -1;
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
	struct enter_target *task = arena_alloc(mem, sizeof(*task));
	struct run_spec spec;
	size_t ordinal = 0;
	int ret = spec_read(folder, mem, &spec, err);

	free(folder);
	free(run);
	if (ret < 0 || spec_find_task(&spec, wish->task->type,
				      wish->task->index, &ordinal, err) < 0)
		return -1;
	*task = (struct enter_target){
		.pid = (pid_t)wish->task->pid,
		.rank = spec_rank(&spec, ordinal, mem),
		.contained = !wish->outside && spec_has_containers(&spec),
		.port = wish->port,
	};
	if (spec.hosts.names.count)
		return name_run(as, &spec, ordinal, task, mem, err) < 0
			       ? -1
			       : enter_host(&spec, ordinal, wish, task, mem,
					    out, err);
	if (!supervisor_is_of_here(wish->run) && heartbeat_is_needed(spec.home))
		return error_set(err, ERROR_FAILED,
				 "the run is on machine '%s': enter it there",
				 wish->run->host);
	task->run = spec.home;
	out->target = task;
	return 0;
}
