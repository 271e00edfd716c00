/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/tpu_wait.h"

#include <stdio.h>
#include <string.h>

#include "core/base/units.h"

bool tpu_is_awaited(const struct topology *all)
{
	return all->tpu_slice && all->tpu_kind == TPU_NODE && all->tpu_name &&
	       !all->tpu_host_count;
}

/* Pairs by position: each host of the TPU has a task that drives it. */
static int accept(struct topology *all, const struct catalogue *catalogue,
		  const struct tpu_view *view, struct arena *mem,
		  struct error *err)
{
	size_t world = topology_world_size(all);

	if (view->host_count > 1 && view->host_count != world)
		return error_set(err, ERROR_FAILED,
				 "TPU '%s' has %zu hosts, and the run has %zu "
				 "%s to drive them",
				 all->tpu_name, view->host_count, world,
				 world == 1 ? "task" : "tasks");
	if (view->slice && *view->slice)
		topology_set_slice(all, catalogue, view->slice, mem);
	all->tpu_hosts = view->hosts;
	all->tpu_host_count = view->host_count;
	return 0;
}

/* Looks once; 1: ready, 0: not yet, -1: give up.  Sets `seen` to the state in
 * words. */
static int look(struct topology *all, const struct catalogue *catalogue,
		const struct tpu_wait *how, struct arena *mem, char *seen,
		size_t size, struct error *err)
{
	struct tpu_view view = { 0 };
	struct error why;

	if (how->look(how->arg, all, mem, &view, &why) < 0) {
		if (why.code != ERROR_UNREACHABLE &&
		    why.code != ERROR_TRY_AGAIN) {
			*err = why;
			return error_prefix(err, "TPU '%s'", all->tpu_name);
		}
		snprintf(seen, size, "could not be queried (%.400s)", why.text);
		return 0;
	}
	snprintf(seen, size, "%s", view.words);
	if (view.sight == TPU_SEEN_LOST)
		return error_set(err, ERROR_FAILED,
				 "TPU '%s' %s, and will not become ready",
				 all->tpu_name, seen);
	if (view.sight == TPU_SEEN_PENDING)
		return 0;
	return accept(all, catalogue, &view, mem, err) < 0 ? -1 : 1;
}

int tpu_wait(struct topology *all, const struct catalogue *catalogue,
	     const struct tpu_wait *how, struct arena *mem, struct error *err)
{
	char seen[sizeof(err->text)] = "", text[sizeof(seen) + 160];
	char pause[32];
	long try;

	duration_format(how->interval_s, pause, sizeof(pause));
	for (try = 1; try <= how->tries; try++) {
		int found =
			look(all, catalogue, how, mem, seen, sizeof(seen), err);

		if (found)
			return found < 0 ? -1 : 0;
		if (try == how->tries)
			break;
		snprintf(text, sizeof(text),
			 "TPU '%s' %s: try %ld of %ld, again in %s",
			 all->tpu_name, seen, try, how->tries, pause);
		how->say(how->arg, text);
		how->pause(how->arg, how->interval_s);
	}
	return error_set(err, ERROR_TIMEOUT,
			 "TPU '%s' was not ready after %ld %s, %s apart: at "
			 "last it %s (project '%s', zone '%s')",
			 all->tpu_name, how->tries,
			 how->tries == 1 ? "try" : "tries", pause,
			 seen[0] ? seen : "was not checked",
			 all->tpu_project ? all->tpu_project : "",
			 all->tpu_zone ? all->tpu_zone : "");
}
