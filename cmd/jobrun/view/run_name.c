/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/run_name.h"

#include <limits.h>
#include <string.h>

#include "core/base/units.h"

/* Removes ".3" or "/7" from the end of a name and returns the number, or 0 if
 * there is none. */
static int take_number(char *name, char mark)
{
	char *at = strrchr(name, mark);
	struct error ignored;
	long number;

	if (!at || at == name ||
	    number_parse(at + 1, 1, INT_MAX, &number, &ignored) < 0)
		return 0;
	*at = '\0';
	return (int)number;
}

static int check_trial(struct session *session, const struct run_record *run,
		       int trial, struct arena *mem, struct error *err)
{
	struct trial_list trials;

	if (store_trial_list(session->env.store, run, mem, &trials, err) < 0)
		return -1;
	for (size_t i = 0; i < trials.count; i++)
		if (trials.items[i].number == trial)
			return 0;
	return error_set(err, ERROR_FAILED,
			 "'%s' has no trial %d: 'jobrun status %s' lists them",
			 run->job_id, trial, run->job_id);
}

int run_name_find(struct session *session, const char *name, struct arena *mem,
		  struct run_record *run, int *trial, struct error *err)
{
	char *job_id = arena_strdup(mem, name);
	int number = take_number(job_id, '/');
	int attempt = take_number(job_id, '.');

	if (session_run(session, job_id, attempt, mem, run, err) < 0 ||
	    (number && check_trial(session, run, number, mem, err) < 0))
		return -1;
	*trial = number;
	return 0;
}
