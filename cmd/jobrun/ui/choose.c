/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/choose.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/ui/visit.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/nearest.h"
#include "core/base/units.h"
#include "core/job/job.h"
#include "core/job/origin.h"
#include "providers/registry.h"

#define SORTS "name|state|provider|created|ended|-name|-created|-ended"

#define CHOOSE_ROWS                                                            \
	{ 'l',           "label",                                              \
	  OPT_LIST,      offsetof(struct choose_opts, labels),                 \
	  "LABEL=VALUE", "only jobs with this label; also LABEL, LABEL!=V" },  \
		{ 0,          "state",                                         \
		  OPT_STRING, offsetof(struct choose_opts, states),            \
		  "LIST",     "only runs in these states: FAILED,QUEUED" },    \
		{ 0,          "provider",                                      \
		  OPT_STRING, offsetof(struct choose_opts, provider),          \
		  "NAME",     "only runs at this provider" },                  \
		{ 0,         "limit",                                          \
		  OPT_COUNT, offsetof(struct choose_opts, limit),              \
		  "N",       "only the N newest of them" },                    \
	{                                                                      \
		0, "sort", OPT_CHOICE, offsetof(struct choose_opts, sort),     \
			SORTS, "sort by this key; '-KEY' reverses"             \
	}

const struct opt choose_rows[] = {
	CHOOSE_ROWS,
	{ 0, "since", OPT_STRING, offsetof(struct choose_opts, since),
	  "DURATION", "only runs started in the last 90s, 10m, 2h ..." },
	{ 0 },
};

const struct opt choose_rows_plain[] = { CHOOSE_ROWS, { 0 } };

static bool is_pattern(const char *word)
{
	const char *open = strchr(word, '[');

	return strpbrk(word, "*?") || (open && strchr(open, ']'));
}

/* Whether a word is a file.  If a folder is called like a job, the job is
 * meant, as with all commands; no job's name has the characters of paths. */
static bool is_file(const char *word)
{
	return strpbrk(word, "./") && access(word, F_OK) == 0;
}

void choice_take(struct choice *choice, int count, char *const *words)
{
	choice->words = words;
	choice->count = (size_t)count;
}

bool choice_has_options(const struct choice *choice)
{
	const struct choose_opts *opts = choice->opts;

	return opts->labels.count || opts->states || opts->provider ||
	       opts->since || opts->limit;
}

bool choice_is_made(const struct choice *choice)
{
	return choice->count || choice_has_options(choice);
}

bool choice_is_wide(const struct choice *choice)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (is_pattern(choice->words[i]))
			return true;
	return choice_has_options(choice);
}

bool choice_is_open(const struct choice *choice)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (is_file(choice->words[i]))
			return true;
	return !choice->count || choice_is_wide(choice);
}

/* ---- what is true of a run ---- */

json_t *choose_labels(const struct run_record *run)
{
	struct error ignored;
	json_t *all, *out = NULL;

	if (!run->properties || !strstr(run->properties, "\"labels\""))
		return NULL;
	all = json_read(run->properties, strlen(run->properties), "store",
			&ignored);
	out = json_incref(json_object_get(all, "labels"));
	json_decref(all);
	return out;
}

static bool has_label(const json_t *labels, const char *want)
{
	const char *equals = strchr(want, '=');
	bool differs = equals && equals > want && equals[-1] == '!';
	size_t len = equals ? (size_t)(equals - want) - differs : strlen(want);
	char *name = mem_printf("%.*s", (int)len, want);
	const char *value = json_get_text(labels, name, NULL);
	bool out = value && (!equals || !strcmp(value, equals + 1));

	free(name);
	return differs ? !out : out;
}

static bool has_labels(const struct opt_list *wanted,
		       const struct run_record *run)
{
	json_t *labels;
	bool out = true;
	size_t i;

	if (!wanted->count)
		return true;
	labels = choose_labels(run);
	for (i = 0; i < wanted->count && out; i++)
		out = has_label(labels, wanted->items[i].value);
	json_decref(labels);
	return out;
}

/* Whether the word is an item of "A,B". */
static bool is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && !strncasecmp(list, word, n))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

/* The options after checking. */
struct wanted {
	const struct choose_opts *opts;
	int64_t since_ms;
	bool refreshed; /* the states may change meanwhile */
};

static int check_states(const char *list, struct error *err)
{
	char word[32];

	for (; *list; list += list[0] == ',') {
		size_t n = strcspn(list, ","), i;
		enum run_state ignored;

		snprintf(word, sizeof(word), "%.*s", (int)n, list);
		for (i = 0; word[i]; i++)
			word[i] = (char)toupper((unsigned char)word[i]);
		if (run_state_parse(word, &ignored) < 0)
			return error_set(err, ERROR_USAGE,
					 "--state: unknown state '%s'; use "
					 "QUEUED, PREPARING, RUNNING, "
					 "CANCELLING, SUCCEEDED, FAILED or "
					 "CANCELLED",
					 word);
		list += n;
	}
	return 0;
}

static int check_options(const struct choose_opts *opts, struct wanted *out,
			 struct error *err)
{
	long seconds;

	out->opts = opts;
	out->since_ms = 0;
	if (opts->states && check_states(opts->states, err) < 0)
		return -1;
	if (opts->provider && !provider_find(opts->provider))
		return error_set(err, ERROR_USAGE,
				 "--provider: unknown provider '%s'; 'jobrun "
				 "explain jobrun.provider' lists them",
				 opts->provider);
	if (!opts->since)
		return 0;
	if (duration_parse(opts->since, &seconds, err) < 0) {
		err->code = ERROR_USAGE;
		return error_prefix(err, "--since");
	}
	out->since_ms = time_now_ms() - (int64_t)seconds * 1000;
	return 0;
}

static bool suits(const struct wanted *wanted, const struct run_record *run)
{
	const struct choose_opts *opts = wanted->opts;

	return (!opts->states ||
		(wanted->refreshed && !run_state_is_final(run->state)) ||
		is_listed(opts->states, run_state_name(run->state))) &&
	       (!opts->provider || !strcmp(opts->provider, run->provider)) &&
	       run->create_time_ms >= wanted->since_ms &&
	       has_labels(&opts->labels, run);
}

/* ---- their order ---- */

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int newest_first(const void *one, const void *other)
{
	return by_number(*(const int64_t *)other, *(const int64_t *)one);
}

static int compare(const void *one, const void *other, void *arg)
{
	const struct run_record *a = one, *b = other;
	const char *by = arg;
	int ret = 0;

	if (!strcmp(by, "state"))
		ret = strcmp(run_state_name(a->state),
			     run_state_name(b->state));
	else if (!strcmp(by, "provider"))
		ret = strcmp(a->provider, b->provider);
	else if (!strcmp(by, "created"))
		ret = by_number(a->create_time_ms, b->create_time_ms);
	else if (!strcmp(by, "ended"))
		ret = by_number(a->end_time_ms, b->end_time_ms);
	return ret ? ret : strcmp(a->job_id, b->job_id);
}

static int compare_backwards(const void *one, const void *other, void *arg)
{
	return compare(other, one, arg);
}

static void sort(struct run_list *runs, const char *by)
{
	bool back = *by == '-';

	qsort_r(runs->items, runs->count, sizeof(*runs->items),
		back ? compare_backwards : compare, (void *)(by + back));
}

/* Returns when the oldest of the newest `limit` runs was started. */
static int64_t limit_ms(const struct run_list *runs, size_t limit)
{
	int64_t *times = mem_alloc(runs->count * sizeof(*times));
	int64_t out;
	size_t i;

	for (i = 0; i < runs->count; i++)
		times[i] = runs->items[i].create_time_ms;
	qsort(times, runs->count, sizeof(*times), newest_first);
	out = times[limit - 1];
	free(times);
	return out;
}

/* Keeps the newest runs in their order. */
static void keep_newest(struct run_list *runs, size_t limit,
			const char **of_each)
{
	size_t i, n = 0;
	int64_t from_ms;

	if (!limit || runs->count <= limit)
		return;
	from_ms = limit_ms(runs, limit);
	for (i = 0; i < runs->count && n < limit; i++) {
		if (runs->items[i].create_time_ms < from_ms)
			continue;
		if (of_each)
			of_each[n] = of_each[i];
		runs->items[n++] = runs->items[i];
	}
	runs->count = n;
}

/* ---- what words name ---- */

int choose_check_origin(const struct run_record *run, const struct job *job,
			struct error *err)
{
	if (origin_is_same(run->job_origin, job->origin))
		return 0;
	return error_set(err, ERROR_TRY_AGAIN,
			 "the run of '%s' belongs to another job of that name: "
			 "that one is from %s, this one from %s; to mean that "
			 "run, give its jobId",
			 job->job_id, run->job_origin, job->origin);
}

/* Marks the newest run of the job, or all its attempts.  `why` is set if they
 * are another project's. */
static size_t mark_job(const struct job *job, const struct run_list *all,
		       bool *meant, struct error *why)
{
	size_t i, found = 0;

	for (i = 0; i < all->count; i++)
		if (!strcmp(all->items[i].job_id, job->job_id) &&
		    choose_check_origin(&all->items[i], job, why) == 0) {
			meant[i] = true;
			found++;
		}
	return found;
}

/* Marks the runs of the jobs of a file.  Another project's job of the same name
 * is another job: its run is left alone, and that is said.  If none is there,
 * looks for runs that others have started, and sets `*more` if there are any. */
static int mark_file(struct session *session, char *word, bool visits,
		     const struct run_list *all, bool *meant, size_t *found,
		     bool *more, struct error *err)
{
	const struct schema_options schema = load_plain_options();
	struct jobs jobs = { 0 };
	struct error other = { 0 };
	size_t i, visited = 0;
	int status = load_jobs(session->app, &schema, &word, 1, &jobs);

	for (i = 0; i < jobs.count; i++) {
		job_find_origin(jobs.items[i]);
		*found += mark_job(jobs.items[i], all, meant, &other);
	}
	if (visits && !status && !*found &&
	    visit_jobs(session, &jobs, &visited, &other, err) < 0)
		status = -1;
	jobs_done(&jobs);
	*found += visited;
	*more |= visited;
	if (!status && other.code && !*found) {
		*err = other;
		return -1;
	}
	if (other.code)
		app_say(session->app, "%s", other.text);
	return status > 0 ? error_set(err, (enum error_code)status,
				      "'%s' cannot be read here", word)
			  : status;
}

static int no_run(const struct run_list *all, const char *word,
		  struct error *err)
{
	const char **names = mem_alloc((all->count + 1) * sizeof(*names));
	const char *near;
	size_t i;

	for (i = 0; i < all->count; i++)
		names[i] = all->items[i].job_id;
	near = nearest_name(word, names, all->count);
	if (is_pattern(word))
		error_set(err, ERROR_NO_RUN,
			  "no run of '%s' here: none matches", word);
	else if (is_file(word))
		error_set(err, ERROR_NO_RUN, "no run of a job in '%s' here",
			  word);
	else if (strpbrk(word, "./"))
		error_set(err, ERROR_NO_RUN,
			  "'%.200s' is neither the jobId of a run nor a file; "
			  "'jobrun status' lists the runs",
			  word);
	else
		error_set(err, ERROR_NO_RUN, "no run of '%.200s' here%s%s%s",
			  word, near ? "; did you mean '" : "",
			  near ? near : "", near ? "'?" : "");
	free(names);
	return -1;
}

/* Whether the word is a name of the job, or a pattern of names. */
static bool means(const char *word, const char *job_id)
{
	return !strcmp(job_id, word) ||
	       (is_pattern(word) && fnmatch(word, job_id, 0) == 0);
}

static int mark(struct session *session, char *word,
		const struct choice *choice, const struct run_list *all,
		bool *meant, bool *more, struct error *err)
{
	size_t i, found = 0;

	for (i = 0; i < all->count; i++)
		if (means(word, all->items[i].job_id)) {
			meant[i] = true;
			found++;
		}
	for (i = 0; choice->waits && i < choice->waits->count; i++)
		found += means(word, choice->waits->items[i].job_id);
	if (!found && is_file(word) &&
	    mark_file(session, word, choice->visits, all, meant, &found, more,
		      err) < 0)
		return -1;
	return found ? 0 : no_run(all, word, err);
}

/* Lists the recorded runs, and those of a visit, which hide what is recorded of
 * their jobs. */
static int list_all(struct session *session, bool attempts, struct arena *mem,
		    struct run_list *out, struct error *err)
{
	struct session *guest = visit_session(session);
	struct run_list visited = { 0 };
	struct run_record *known;
	size_t count, i;

	if (store_run_list(session->env.store, attempts, mem, out, err) < 0 ||
	    (guest &&
	     store_run_list(guest->env.store, false, mem, &visited, err) < 0))
		return -1;
	if (!visited.count)
		return 0;
	known = out->items;
	count = out->count;
	out->items =
		arena_alloc(mem, (count + visited.count) * sizeof(*out->items));
	out->count = 0;
	for (i = 0; i < count; i++)
		if (visit_of(session, known[i].job_id) == session)
			out->items[out->count++] = known[i];
	for (i = 0; i < visited.count; i++)
		out->items[out->count++] = visited.items[i];
	return 0;
}

/* Whether the words may mean a job, for those that only others have started. */
static bool may_mean(const void *arg, const char *job_id)
{
	const struct choice *choice = arg;
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (means(choice->words[i], job_id))
			return true;
	return !choice->count;
}

/* Lists all runs, and marks those that the words mean; without words all. */
static int find_meant(struct session *session, const struct choice *choice,
		      struct arena *mem, struct run_list *all, bool **meant,
		      struct error *err)
{
	size_t i;
	bool more;
	int ret;

	do {
		more = false;
		ret = list_all(session, choice->attempts, mem, all, err);
		if (ret < 0)
			return -1;
		*meant = arena_alloc(mem, all->count + 1);
		memset(*meant, !choice->count, all->count + 1);
		for (i = 0; i < choice->count && ret == 0; i++)
			ret = mark(session, choice->words[i], choice, all,
				   *meant, &more, err);
	} while (ret == 0 && more);
	return ret;
}

int choose_visit(struct session *session, const struct choice *choice,
		 struct error *err)
{
	const struct visit_wish wish = { may_mean, choice };

	if (!choice->others)
		return 0;
	return choice->refreshed ? visit_survey(session, &wish, err)
				 : visit_all(session, &wish, err);
}

int choose_runs(struct session *session, const struct choice *choice,
		struct arena *mem, struct run_list *out, struct error *err)
{
	struct run_list all;
	struct wanted wanted;
	bool *meant;
	size_t i;

	wanted.refreshed = choice->refreshed;
	if (check_options(choice->opts, &wanted, err) < 0 ||
	    find_meant(session, choice, mem, &all, &meant, err) < 0)
		return -1;
	out->count = 0;
	out->items = arena_alloc(mem, (all.count + 1) * sizeof(*out->items));
	for (i = 0; i < all.count; i++)
		if (meant[i] && suits(&wanted, &all.items[i]))
			out->items[out->count++] = all.items[i];
	if (choice->opts->sort)
		sort(out, choice->opts->sort);
	if (!choice->refreshed)
		keep_newest(out, (size_t)choice->opts->limit, NULL);
	return 0;
}

void choose_waits(const struct choice *choice, struct wait_list *list)
{
	bool any = choice->count || !choice_has_options(choice);
	size_t i, n = 0;

	for (i = 0; i < list->count; i++)
		if (any && may_mean(choice, list->items[i].job_id))
			list->items[n++] = list->items[i];
	list->count = n;
}

void choose_again(const struct choice *choice, struct run_list *runs,
		  const char **of_each)
{
	const char *states = choice->opts->states;
	size_t i, n = 0;

	for (i = 0; i < runs->count; i++) {
		const char *state = run_state_name(runs->items[i].state);

		if (states && !is_listed(states, state))
			continue;
		of_each[n] = of_each[i];
		runs->items[n++] = runs->items[i];
	}
	runs->count = n;
	keep_newest(runs, (size_t)choice->opts->limit, of_each);
}

int choose_names(struct session *session, const struct choice *choice,
		 struct arena *mem, struct strings *out, struct error *err)
{
	struct run_list runs;
	size_t i;

	if (choose_runs(session, choice, mem, &runs, err) < 0)
		return -1;
	out->items = arena_alloc(mem, (runs.count + 1) * sizeof(*out->items));
	out->count = runs.count;
	for (i = 0; i < runs.count; i++)
		out->items[i] = runs.items[i].job_id;
	return 0;
}

bool choose_confirm(struct app *app, const struct choice *choice,
		    const struct run_list *runs, const char *what, bool yes)
{
	char question[96];
	struct error err;
	size_t i;

	if (!choice_is_open(choice) || !runs->count)
		return true;
	for (i = 0; i < runs->count; i++)
		app_say(app, "will %s %s (%s, attempt %d, %s)", what,
			runs->items[i].job_id, runs->items[i].provider,
			runs->items[i].attempt,
			run_state_name(runs->items[i].state));
	snprintf(question, sizeof(question), "%c%s %zu run%s?",
		 what[0] - 'a' + 'A', what + 1, runs->count,
		 runs->count == 1 ? "" : "s");
	if (yes || app_confirm(app, question))
		return true;
	error_set(&err, ERROR_FAILED,
		  "refusing to %s %zu run%s without confirmation; pass --yes",
		  what, runs->count, runs->count == 1 ? "" : "s");
	app_fail(app, &err);
	return false;
}
