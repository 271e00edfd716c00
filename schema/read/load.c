/* SPDX-License-Identifier: Apache-2.0 */
/* Loads all files of one command: finds the files, reads them in several
 * threads, and checks what concerns all of them. */
#include "core/job/traits.h"
#include "schema/schema.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "schema/read/bounds.h"
#include "schema/read/files.h"
#include "schema/yaml/node.h"
#include "schema/read/override.h"
#include "schema/read/reading.h"

#define FILES_PER_THREAD 32 /* fewer are not worth a thread */
#define THREADS_MAX 8
/* How many files may be read ahead and wait for their turn: enough that threads
 * do not wait for one that lost its core for a while, with a bound on their
 * bytes. */
#define WINDOW 512
#define WINDOW_BYTES ((size_t)1 << 20)

/* A jobId, given or made, and its place. */
struct taken {
	uint32_t id;    /* offset in `ids` */
	uint32_t entry; /* index in the files */
	uint32_t line, column, length;
	bool made;
};

/* One call of schema_load(). */
struct loader {
	const struct schema_options *options;
	const char **provider_names; /* up to NULL */
	const char **block_names;    /* of providers with a block */
	struct files files;

	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t moved; /* there is room in the window */
	size_t next;          /* the next file to read */
	size_t done;          /* files whose turn it was */
	size_t waiting_bytes; /* of files in the window */
	struct reading *window[WINDOW];

	struct bounds bounds;
	struct jobs *out;
	size_t size; /* of `out` */
	struct problems *found;
	struct taken *taken;
	size_t taken_count, taken_size;
	struct buf ids; /* all jobIds, each with its NUL */
	struct slots by_id;
	struct extended_file *extended; /* files that others extend */
	size_t extended_count, extended_size;
};

void jobs_done(struct jobs *jobs)
{
	size_t i;

	for (i = 0; jobs->items && i < jobs->count; i++)
		job_free(jobs->items[i]);
	free(jobs->items);
	*jobs = (struct jobs){ 0 };
}

static unsigned entry_order(size_t entry)
{
	return (unsigned)(entry + 1) * ORDER_STEP;
}

static const struct node *id_node(const struct job *job)
{
	const struct node *at = node_get(job->head.node, "jobId");

	return at ? at : node_get(job->head.node, "job_id");
}

static const struct taken *find_taken(const struct loader *loader,
				      const char *id, uint64_t hash)
{
	uint32_t number;
	size_t at = 0;

	while (slots_next(&loader->by_id, hash, &at, &number))
		if (!strcmp(loader->ids.data + loader->taken[number].id, id))
			return &loader->taken[number];
	return NULL;
}

static void take(struct loader *loader, const struct job *job, size_t entry,
		 uint64_t hash)
{
	const struct node *at = id_node(job);
	struct taken *taken;

	if (loader->taken_count == loader->taken_size) {
		loader->taken_size =
			loader->taken_size ? loader->taken_size * 2 : 16;
		loader->taken = mem_grow(loader->taken, loader->taken_size,
					 sizeof(*loader->taken));
	}
	slots_add(&loader->by_id, hash, (uint32_t)loader->taken_count);
	taken = &loader->taken[loader->taken_count++];
	*taken = (struct taken){
		.id = (uint32_t)loader->ids.len,
		.entry = (uint32_t)entry,
		.line = at ? at->line : job->head.node->line,
		.column = at ? at->column : 1,
		.length = at ? at->length : 1,
		.made = !at,
	};
	buf_add(&loader->ids, job->job_id, strlen(job->job_id) + 1);
}

/* Whether the job's id is new; two jobs with one id are reported, in whatever
 * files they are. */
static bool has_new_id(struct loader *loader, struct reading *reading,
		       const struct job *job, size_t entry)
{
	const struct node *at = id_node(job);
	struct path path = { .name = "jobId" };
	uint64_t hash = slots_hash(job->job_id, strlen(job->job_id));
	const struct taken *first = find_taken(loader, job->job_id, hash);

	if (!first) {
		take(loader, job, entry, hash);
		return true;
	}
	problem_add(&reading->found, SEVERITY_ERROR, at ? at : job->head.node,
		    &path, "duplicate-job",
		    "jobId \"%s\" is taken: %s:%u uses it, too", job->job_id,
		    loader->files.items[first->entry].path, first->line);
	problem_also_at(&reading->found,
			first->entry == entry ? &reading->source : NULL,
			loader->files.items[first->entry].path, first->line,
			first->column, first->length,
			first->made ? "the other job" : "first used here");
	if (!at || first->made)
		problem_hint(&reading->found,
			     "a job without a jobId is named after its folder "
			     "and file; set one");
	return false;
}

static void add_job(struct loader *loader, struct job *job)
{
	struct jobs *out = loader->out;

	if (!loader->options->check_only) {
		if (out->count == loader->size) {
			loader->size = loader->size ? loader->size * 2 : 16;
			out->items = mem_grow(out->items, loader->size,
					      sizeof(*out->items));
		}
		out->items[out->count] = job;
	}
	out->count++;
}

static void add_extended(struct loader *loader, const struct reading *reading)
{
	size_t i;

	for (i = 0; i < reading->extended_count; i++) {
		if (loader->extended_count == loader->extended_size) {
			loader->extended_size = loader->extended_size * 2 + 16;
			loader->extended = mem_grow(loader->extended,
						    loader->extended_size,
						    sizeof(*loader->extended));
		}
		loader->extended[loader->extended_count++] =
			reading->extended[i];
	}
}

/* Takes the results of a file when its turn has come; one thread at a time does
 * this. */
static void take_reading(struct loader *loader, struct reading *reading,
			 size_t entry)
{
	bool keep = !loader->options->check_only;
	struct file_entry *file = &loader->files.items[entry];
	size_t i;

	for (i = 0; i < reading->job_count; i++) {
		struct job *job = reading->jobs[i];

		if (!has_new_id(loader, reading, job, entry) ||
		    !bounds_add(&loader->bounds, job, &reading->found))
			continue;
		file->jobs++;
		add_job(loader, job);
		if (keep) {
			/* The job lives longer than the text of its file. */
			node_forget_source(job->head.node);
			reading->jobs[i] = NULL;
		}
	}
	file->documents = reading->documents > 0;
	file->has_id = reading->has_id;
	file->foreign = reading->foreign;
	file->has_problems = reading->found.errors || reading->found.warnings;
	add_extended(loader, reading);
	problems_move(loader->found, &reading->found, loader->options->limit);
}

static struct reading *new_reading(const struct loader *loader, size_t entry)
{
	const struct file_entry *file = &loader->files.items[entry];
	struct reading *reading = mem_alloc(sizeof(*reading));

	reading->options = loader->options;
	reading->provider_names = loader->provider_names;
	reading->block_names = loader->block_names;
	reading->path = file->path;
	reading->named = file->named;
	reading->order = entry_order(entry);
	reading->found.strict = loader->options->strict;
	return reading;
}

static struct reading *read_entry(const struct loader *loader, size_t entry,
				  struct last_root *last)
{
	const struct file_entry *file = &loader->files.items[entry];
	struct reading *reading = new_reading(loader, entry);

	reading->last_root = last;
	if (file->bad)
		problem_add_file(&reading->found, SEVERITY_ERROR, file->path,
				 reading->order, "file", "%s",
				 file_problem(file));
	else
		reading_file(reading);
	return reading;
}

static void free_reading(struct reading *reading)
{
	reading_done(reading);
	free(reading);
}

/* Takes the complete files in order; the lock is held. */
static void take_turns(struct loader *loader)
{
	while (loader->window[loader->done % WINDOW]) {
		struct reading *reading = loader->window[loader->done % WINDOW];

		loader->waiting_bytes -= reading->source.len;
		take_reading(loader, reading, loader->done);
		free_reading(reading);
		loader->window[loader->done++ % WINDOW] = NULL;
		pthread_cond_broadcast(&loader->moved);
	}
}

static void *read_files(void *arg)
{
	struct loader *loader = arg;
	struct last_root last = { 0 };

	pthread_mutex_lock(&loader->lock);
	while (loader->next < loader->files.count) {
		struct reading *reading;
		size_t entry = loader->next;

		if (entry - loader->done >= WINDOW ||
		    loader->waiting_bytes > WINDOW_BYTES) {
			pthread_cond_wait(&loader->moved, &loader->lock);
			continue;
		}
		loader->next++;
		pthread_mutex_unlock(&loader->lock);
		reading = read_entry(loader, entry, &last);
		pthread_mutex_lock(&loader->lock);
		loader->window[entry % WINDOW] = reading;
		loader->waiting_bytes += reading->source.len;
		take_turns(loader);
	}
	pthread_mutex_unlock(&loader->lock);
	free(last.folder);
	free(last.root);
	return NULL;
}

/* Returns the number of threads, including this one. */
static size_t thread_count(size_t files)
{
	size_t n = files / FILES_PER_THREAD, cores = 1;
	cpu_set_t set;

	if (n < 2)
		return 1;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		cores = (size_t)CPU_COUNT(&set);
	n = n < cores ? n : cores;
	return n < THREADS_MAX ? n : THREADS_MAX;
}

static void read_all_files(struct loader *loader)
{
	size_t i, n = 0, count = thread_count(loader->files.count);
	pthread_t threads[THREADS_MAX];

	/* If a thread cannot be started, fewer will do. */
	while (n + 1 < count &&
	       pthread_create(&threads[n], NULL, read_files, loader) == 0)
		n++;
	read_files(loader);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static bool is_extended(const struct loader *loader, const char *path)
{
	struct stat st;
	size_t i;

	if (stat(path, &st) < 0)
		return false;
	for (i = 0; i < loader->extended_count; i++)
		if (loader->extended[i].device == st.st_dev &&
		    loader->extended[i].inode == st.st_ino)
			return true;
	return false;
}

/* Drops the jobs made from a file. */
static void drop_jobs(struct loader *loader, const struct file_entry *file)
{
	struct jobs *out = loader->out;
	size_t i, n = 0;

	if (loader->options->check_only) {
		out->count -= file->jobs;
		return;
	}
	for (i = 0; i < out->count; i++) {
		struct job *job = out->items[i];

		if (!strcmp(job->file, file->path))
			job_free(job);
		else
			out->items[n++] = job;
	}
	out->count = n;
}

/*
 * Drops files of a directory that others extend and that have no jobId.  These
 * are no jobs, so missing fields are no problem; other problems were reported
 * when the extending files were read.
 */
static void drop_bases(struct loader *loader)
{
	size_t i;

	for (i = 0; i < loader->files.count && loader->extended_count; i++) {
		const struct file_entry *file = &loader->files.items[i];

		if (file->named || file->has_id || !file->documents ||
		    !is_extended(loader, file->path))
			continue;
		loader->files.items[i].has_problems = false;
		drop_jobs(loader, file);
		problems_drop(loader->found, entry_order(i),
			      entry_order(i + 1));
		problem_add_file(loader->found, SEVERITY_NOTE, file->path,
				 entry_order(i), "skipped",
				 "skipped: other files extend it, and it has "
				 "no jobId");
	}
}

/* Reports files of a directory that are no jobs: one note for all, as there may
 * be many, or with --strict an error for each. */
static void say_foreign(struct loader *loader)
{
	const struct file_entry *first = NULL;
	size_t count = 0, i;

	for (i = 0; i < loader->files.count; i++) {
		const struct file_entry *file = &loader->files.items[i];

		if (!file->foreign || is_extended(loader, file->path))
			continue;
		if (loader->options->strict) {
			problem_add_file(loader->found, SEVERITY_ERROR,
					 file->path, entry_order(i),
					 "no-training-input", "not a job file");
			problem_hint(loader->found,
				     "--strict allows only job files in a "
				     "directory of jobs");
		}
		if (!count++)
			first = file;
	}
	if (!count || loader->options->strict)
		return;
	i = (size_t)(first - loader->files.items);
	problem_add_file(loader->found, SEVERITY_NOTE, first->path,
			 entry_order(i), "skipped",
			 "skipped %zu file%s without a job%s", count,
			 count == 1 ? "" : "s",
			 count == 1 ? "" : ", starting with this one");
	problem_hint(loader->found,
		     "'jobrun validate --strict' lists them as errors");
}

static int loader_init(struct loader *loader,
		       const struct schema_options *options, struct jobs *out,
		       struct problems *found, struct error *err)
{
	bool known = !options->provider;
	size_t shown = 0, blocks = 0, i;

	for (i = 0; i < options->provider_count; i++)
		if (options->provider &&
		    !strcmp(options->providers[i].name, options->provider))
			known = true;
	if (!known)
		return error_set(err, ERROR_USAGE,
				 "unknown provider '%s'; 'jobrun explain "
				 "providers' lists them",
				 options->provider);
	for (i = 0; i < options->set_count; i++)
		if (override_check(&options->sets[i], err) < 0)
			return -1;
	*out = (struct jobs){ 0 };
	found->strict = options->strict;
	*loader = (struct loader){
		.options = options,
		.bounds.check_only = options->check_only,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.moved = PTHREAD_COND_INITIALIZER,
		.out = out,
		.found = found,
	};
	loader->provider_names = mem_alloc((options->provider_count + 1) *
					   sizeof(*loader->provider_names));
	loader->block_names = mem_alloc((options->provider_count + 1) *
					sizeof(*loader->block_names));
	for (i = 0; i < options->provider_count; i++) {
		const struct schema_provider *one = &options->providers[i];

		if (one->traits & TRAIT_HIDDEN)
			continue;
		loader->provider_names[shown++] = one->name;
		if (one->block)
			loader->block_names[blocks++] = one->name;
	}
	return 0;
}

static void loader_done(struct loader *loader)
{
	size_t i;

	loader->found->files = loader->files.count;
	for (i = 0; i < loader->files.count; i++)
		loader->found->bad_files += loader->files.items[i].has_problems;
	problems_sort(loader->found);
	problems_unite(loader->found);
	files_done(&loader->files);
	slots_done(&loader->by_id);
	buf_done(&loader->ids);
	free(loader->taken);
	free(loader->extended);
	free(loader->provider_names);
	free(loader->block_names);
	pthread_cond_destroy(&loader->moved);
	pthread_mutex_destroy(&loader->lock);
}

int schema_load(char *const *paths, size_t count,
		const struct schema_options *options, struct jobs *out,
		struct problems *found, struct error *err)
{
	struct loader loader;

	if (loader_init(&loader, options, out, found, err) < 0)
		return -1;
	files_init(&loader.files, paths, count, options->may_be_empty);
	read_all_files(&loader);
	drop_bases(&loader);
	say_foreign(&loader);
	loader_done(&loader);
	return 0;
}

int schema_load_text(const char *name, const char *text, size_t len,
		     const struct schema_options *options, struct jobs *out,
		     struct problems *found, struct error *err)
{
	struct reading *reading;
	struct loader loader;
	char *data;

	if (loader_init(&loader, options, out, found, err) < 0)
		return -1;
	files_init_one(&loader.files, name);
	data = mem_alloc(len + 1);
	if (len)
		memcpy(data, text, len);
	reading = new_reading(&loader, 0);
	reading->loose = true;
	reading_text(reading, data, len);
	take_reading(&loader, reading, 0);
	free_reading(reading);
	loader_done(&loader);
	return 0;
}
