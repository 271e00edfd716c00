/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/apply/lock.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/process/process.h"
#include "core/process/run_lock.h"
#include "core/supervise/supervisor.h"

/* A process that writes a temporary file is done after this time, or dead. */
#define WRITING_MAX_MS (60 * 60 * 1000)
#define RANDOM_LEN 6 /* by mkstemp(3) */

#define FOLDER "folder"
#define RECORD "record"
#define PROCESS "process"
#define LOCK "lock"
#define UNFINISHED "file"
#define HOST "host"
/* How long a host may take to answer. */
#define HOST_MS 15000

struct leftover_search {
	struct store *store;
	struct leftovers *out;
	struct arena *mem;
};

/* Whether processes of the run are alive; assumed if it can't be found out. */
static bool is_alive(const char *folder)
{
	struct error ignored;
	pid_t pid;

	return run_lock_look(folder, &pid, NULL, &ignored) != 0;
}

/* Finds the run of "JOBID.ATTEMPT": returns 1 if there is none, -1 on
 * failure. */
static int find_run(struct leftover_search *search, const char *name,
		    char **job_id, struct run_record *run, struct error *err)
{
	const char *dot = strrchr(name, '.');
	struct error ignored;
	long attempt;

	if (!dot || dot == name ||
	    number_parse(dot + 1, 1, 1000000000, &attempt, &ignored) < 0)
		return -1;
	*job_id = arena_strndup(search->mem, name, (size_t)(dot - name));
	return store_run_get(search->store, *job_id, (int)attempt, search->mem,
			     run, err);
}

/* Returns the size on disk, and sets `any` if a file there is not empty. */
static uint64_t size_below(const char *folder, bool *any)
{
	char *paths[] = { (char *)folder, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	uint64_t bytes = 0;
	FTSENT *entry;

	*any = !walk;
	while (walk && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			*any = true; /* unknown, so assume so */
		if (entry->fts_info != FTS_F)
			continue;
		bytes += (uint64_t)entry->fts_statp->st_blocks * 512;
		*any = *any || entry->fts_statp->st_size;
	}
	if (walk)
		fts_close(walk);
	return bytes;
}

/* Whether there are logs or output.  A folder that was never recorded should
 * have none; if it does, the store has been lost. */
static bool has_work(const char *folder)
{
	static const char *const places[] = { "logs", "output" };
	bool any = false;
	size_t i;

	for (i = 0; i < COUNT(places) && !any; i++) {
		char *path = path_join(folder, places[i]);

		if (access(path, F_OK) == 0)
			size_below(path, &any);
		free(path);
	}
	return any;
}

/* ---- folders and records --------------------------------------------- */

static void look_at_folder(struct leftover_search *search, const char *runs,
			   const char *name)
{
	char *path = path_join(runs, name);
	struct run_record run;
	struct error ignored;
	char *job_id;
	bool any;

	if (find_run(search, name, &job_id, &run, &ignored) == 1 &&
	    !is_alive(path))
		leftovers_add(
			search->out,
			&(struct leftover){ .what = FOLDER,
					    .name = path,
					    .why = "the store has no such run",
					    .job_id = job_id,
					    .key = name,
					    .bytes = size_below(path, &any),
					    .has_work = has_work(path) });
	free(path);
}

static int find_folders(struct leftover_search *search, struct error *err)
{
	char *runs = path_join(store_folder(search->store), "runs");
	struct dirent **entries = NULL;
	int i, n = scandir(runs, &entries, NULL, alphasort);
	int ret = 0;

	if (n < 0 && errno != ENOENT)
		ret = error_errno(err, "cannot read '%s'", runs);
	for (i = 0; i < n; i++) {
		look_at_folder(search, runs, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	free(runs);
	return ret;
}

static int find_records(struct leftover_search *search, const char *provider,
			struct error *err)
{
	struct run_list all;
	size_t i;

	if (store_run_list(search->store, true, search->mem, &all, err) < 0)
		return -1;
	for (i = 0; i < all.count; i++) {
		const struct run_record *run = &all.items[i];
		char *folder = store_run_folder(search->store, run->job_id,
						run->attempt);

		if (!strcmp(run->provider, provider) &&
		    run_state_is_final(run->state) &&
		    access(folder, F_OK) < 0 && errno == ENOENT)
			leftovers_add(
				search->out,
				&(struct leftover){
					.what = RECORD,
					.name = arena_printf(
						search->mem, "%s, attempt %d",
						run->job_id, run->attempt),
					.why = "the run's folder is gone",
					.job_id = run->job_id,
					.key = path_base(folder) });
		free(folder);
	}
	return 0;
}

/* ---- hosts ------------------------------------------------------------ */

static int find_hosts(struct leftover_search *search, struct error *err)
{
	struct run_list all;
	struct left_hosts left;
	size_t i, j;

	if (store_run_list(search->store, true, search->mem, &all, err) < 0)
		return -1;
	for (i = 0; i < all.count; i++) {
		const struct run_record *run = &all.items[i];

		if (run->attempt != run->origin)
			continue;
		if (supervisor_left(search->store, run, search->mem, &left,
				    err) < 0)
			return -1;
		for (j = 0; j < left.count; j++) {
			const struct left_host *one = &left.items[j];

			leftovers_add(
				search->out,
				&(struct leftover){
					.what = HOST,
					.name = one->name,
					.why = arena_printf(
						search->mem,
						"it was cut off from '%s', and "
						"%s",
						run->job_id,
						left_host_may_run(one)
							? "tasks may still run "
							  "there"
							: "output is still "
							  "missing here"),
					.job_id = run->job_id,
					.key = arena_printf(
						search->mem, "%s.%d",
						run->job_id, run->attempt) });
		}
	}
	return 0;
}

static int sweep_host(struct store *store, const struct leftover *one,
		      struct error *err)
{
	struct leftover_search search = { store, NULL, arena_new() };
	struct run_record run;
	char *job_id;
	int ret = find_run(&search, one->key, &job_id, &run, err);

	if (ret == 0)
		ret = supervisor_end_left(store, &run, true, HOST_MS, err);
	arena_free(search.mem);
	return ret < 0 ? -1 : 0;
}

/* ---- processes ------------------------------------------------------- */

/* Looks at a process with "JOBRUN_RUN_DIR=…/runs/JOBID.ATTEMPT/output" in
 * `item`. */
static void look_at_process(void *arg, pid_t pid, const char *item)
{
	struct leftover_search *search = arg;
	char *folder = path_folder(strchr(item, '=') + 1);

	if (!is_alive(folder))
		leftovers_add(
			search->out,
			&(struct leftover){
				.what = PROCESS,
				.name = arena_printf(search->mem, "%ld",
						     (long)pid),
				.why = arena_printf(
					search->mem,
					"its run '%s' has no supervisor any "
					"more",
					path_base(folder)),
				.key = item });
	free(folder);
}

static void find_processes(struct leftover_search *search)
{
	char *start = mem_printf("JOBRUN_RUN_DIR=%s/runs/",
				 store_folder(search->store));

	process_each_marked(start, look_at_process, search);
	free(start);
}

/* ---- files ----------------------------------------------------------- */

static bool is_old(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 &&
	       time_now_ms() - (int64_t)st.st_mtime * 1000 > WRITING_MAX_MS;
}

/* Whether it is a file such as "jobrun.db.Ab3x9Z", or one that SQLite puts
 * beside that. */
static bool is_unfinished(const char *name)
{
	static const char start[] = "jobrun.db.";
	const char *p = name + strlen(start);
	size_t n = 0;

	if (!text_starts(name, start))
		return false;
	while (isalnum((unsigned char)p[n]))
		n++;
	return n == RANDOM_LEN &&
	       (!p[n] || !strcmp(p + n, "-wal") || !strcmp(p + n, "-shm") ||
		!strcmp(p + n, "-journal"));
}

static int each_name(const char *folder,
		     void (*look)(struct leftover_search *search,
				  const char *folder, const char *name),
		     struct leftover_search *search, struct error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return errno == ENOENT
			       ? 0
			       : error_errno(err, "cannot read '%s'", folder);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			look(search, folder, entry->d_name);
	closedir(dir);
	return 0;
}

static void look_at_file(struct leftover_search *search, const char *folder,
			 const char *name)
{
	char *path = path_join(folder, name);

	if (is_unfinished(name) && is_old(path))
		leftovers_add(
			search->out,
			&(struct leftover){ .what = UNFINISHED,
					    .name = path,
					    .why = "its writer was killed",
					    .key = path });
	free(path);
}

static void look_at_lock(struct leftover_search *search, const char *folder,
			 const char *name)
{
	if (lock_is_stale(folder, name))
		leftovers_add(
			search->out,
			&(struct leftover){ .what = LOCK,
					    .name = name,
					    .why = "its holder was killed",
					    .key = folder });
}

int local_leftovers(struct store *store, struct leftovers *out,
		    struct error *err)
{
	struct leftover_search search = { store, out, arena_new() };
	char *locks = path_join(store_folder(store), "locks");
	int ret = -1;

	if (!store_folder(store)[0]) { /* there is no store */
		ret = 0;
	} else if (find_folders(&search, err) == 0 &&
		   find_records(&search, "local", err) == 0 &&
		   find_hosts(&search, err) == 0 &&
		   each_name(store_folder(store), look_at_file, &search, err) ==
			   0 &&
		   each_name(locks, look_at_lock, &search, err) == 0) {
		find_processes(&search);
		ret = 0;
	}
	free(locks);
	arena_free(search.mem);
	return ret;
}

/* ---- removing -------------------------------------------------------- */

/* Deletes the folder or the record of a run, whichever is left over. */
static int sweep_run(struct store *store, const struct leftover *one,
		     struct error *err)
{
	struct leftover_search search = { store, NULL, arena_new() };
	struct run_record run = { 0 };
	char *folder = NULL;
	char *job_id, *mark;
	int found = find_run(&search, one->key, &job_id, &run, err);
	int ret = -1;

	if (found < 0)
		goto out;
	run.job_id = job_id;
	run.attempt = atoi(strrchr(one->key, '.') + 1);
	folder = store_run_folder(store, run.job_id, run.attempt);
	/* If both exist now, neither is left over any more. */
	if (is_alive(folder) || (found == 0 && access(folder, F_OK) == 0)) {
		ret = error_set(err, ERROR_TRY_AGAIN,
				"another process holds it again");
		goto out;
	}
	mark = mem_printf("JOBRUN_RUN_DIR=%s/output", folder);
	process_end_marked(mark);
	free(mark);
	ret = store_run_delete(store, &run, err);
out:
	free(folder);
	arena_free(search.mem);
	return ret;
}

static int sweep_process(const struct leftover *one, struct error *err)
{
	char *folder = path_folder(strchr(one->key, '=') + 1);
	bool alive = is_alive(folder);

	free(folder);
	if (alive)
		return error_set(err, ERROR_TRY_AGAIN,
				 "its run has a supervisor again");
	process_end_marked(one->key);
	return 0;
}

static int sweep_lock(const struct leftover *one, struct error *err)
{
	struct lock_set *set =
		lock_set_take(one->key, &one->name, 1, 0, NULL, NULL, err);

	lock_set_free(set); /* also removes the file */
	return set ? 0 : -1;
}

int local_sweep(struct store *store, const struct leftover *one,
		struct error *err)
{
	if (!strcmp(one->what, HOST))
		return sweep_host(store, one, err);
	if (!strcmp(one->what, PROCESS))
		return sweep_process(one, err);
	if (!strcmp(one->what, LOCK))
		return sweep_lock(one, err);
	if (strcmp(one->what, UNFINISHED) != 0)
		return sweep_run(store, one, err);
	if (unlink(one->key) < 0 && errno != ENOENT)
		return error_errno(err, "cannot remove '%s'", one->key);
	return 0;
}
