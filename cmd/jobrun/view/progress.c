/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/progress.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/supervise/supervisor.h"

#define EVERY_MS 250

struct progress {
	struct app *app;
	struct store *store;
	char *job_id;
	int attempt;
	struct loop *loop;
	struct loop_event *timer;
	char said[300];
};

static void look(void *arg, uint32_t events)
{
	struct progress *p = arg;
	char note[sizeof(p->said)];

	(void)events;
	p->timer = NULL;
	/* A run that is prepared has nothing more to report. */
	if (!supervisor_note(p->store, p->job_id, p->attempt, note,
			     sizeof(note)))
		return;
	if (*note && strcmp(note, p->said) != 0) {
		app_say(p->app, "%s: %s", p->job_id, note);
		strcpy(p->said, note);
	}
	p->timer = loop_add_timer(p->loop, EVERY_MS, look, p);
}

struct progress *progress_new(struct app *app, struct store *store,
			      const struct run_record *run, struct loop *loop)
{
	struct progress *p = mem_alloc(sizeof(*p));

	p->app = app;
	p->store = store;
	p->job_id = mem_strdup(run->job_id);
	p->attempt = run->attempt;
	p->loop = loop;
	p->timer = loop_add_timer(loop, EVERY_MS, look, p);
	return p;
}

void progress_free(struct progress *progress)
{
	if (!progress)
		return;
	loop_remove(progress->loop, progress->timer);
	free(progress->job_id);
	free(progress);
}
