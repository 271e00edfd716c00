/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/known.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/job/job.h"
#include "core/spec/spec.h"
#include "core/store/store.h"

void known_init(struct known *known)
{
	*known = (struct known){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void known_done(struct known *known)
{
	store_close(known->store);
	pthread_mutex_destroy(&known->lock);
}

static struct store *open_once(struct known *known)
{
	struct error ignored;

	pthread_mutex_lock(&known->lock);
	if (!known->opened)
		known->store = store_open_to_read(&ignored);
	known->opened = true;
	pthread_mutex_unlock(&known->lock);
	return known->store;
}

static bool is_same_path(const char *a, const char *b)
{
	char *one = realpath(a, NULL), *other = realpath(b, NULL);
	bool same = one && other && !strcmp(one, other);

	free(one);
	free(other);
	return same;
}

/* Whether an older version has recorded the run with the folder in which the
 * program starts. */
static bool starts_there(const struct store *store,
			 const struct run_record *run, const struct job *job,
			 struct arena *mem)
{
	const char *source = job->jobrun.source;
	char *folder = store_run_folder(store, run->job_id, run->attempt);
	struct run_spec spec;
	struct error ignored;
	bool same = spec_read(folder, mem, &spec, &ignored) == 0 &&
		    spec.directory &&
		    is_same_path(spec.directory,
				 source ? job_path(job, source) : job->folder);

	free(folder);
	return same;
}

bool known_is(void *arg, const struct job *job, const char *job_id)
{
	struct store *store = open_once(arg);
	struct arena *mem = arena_new();
	struct run_record run;
	struct error ignored;
	bool known = store &&
		     store_run_get(store, job_id, 0, mem, &run, &ignored) == 0;

	if (known)
		known = run.job_file ? is_same_path(run.job_file, job->file)
				     : starts_there(store, &run, job, mem);
	arena_free(mem);
	return known;
}
