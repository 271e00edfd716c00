/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/schema.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "schema/fill.h"
#include "schema/names.h"
#include "schema/nearest.h"
#include "schema/node.h"
#include "schema/rules.h"
#include "schema/scalar.h"
#include "schema/source.h"

/* One call of schema_load(). */
struct loader {
	const struct schema_options *options;
	const char **provider_names; /* up to NULL */
	struct jobs *out;
	size_t size; /* of `out` */
	struct problems *found;
	unsigned order; /* of the file, from 1 */
	struct arena *mem;
	struct names ids; /* to struct seen */
};

/* Where a jobId was given, or made. */
struct seen {
	const char *file;
	unsigned line;
	bool made;
};

/* One file. */
struct file {
	const char *path;
	bool named;    /* on the command line, so it must hold a job */
	size_t values; /* documents that are not empty */
	size_t jobs;   /* documents with a trainingInput */
	size_t errors; /* of all files, before the document was read */
};

void jobs_done(struct jobs *jobs)
{
	size_t i;

	for (i = 0; i < jobs->count; i++)
		job_free(jobs->items[i]);
	free(jobs->items);
	*jobs = (struct jobs){ 0 };
}

/* A valid jobId that looks like the text. */
static void make_job_id(const char *text, size_t len, char out[JOB_ID_MAX + 1])
{
	size_t n = 0, i;

	if (!len || !strchr("abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
			    text[0])) {
		memcpy(out, "job_", 4);
		n = 4;
	}
	for (i = 0; i < len && n < JOB_ID_MAX; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		    (c >= 'A' && c <= 'Z'))
			out[n++] = (char)c;
		else if (c < 0x80 || c >= 0xc0) /* once a code point */
			out[n++] = '_';
	}
	out[n] = '\0';
}

static bool mend(const struct field *field, const char *text,
		 char out[SHORT_SIZE])
{
	char id[JOB_ID_MAX + 1];

	if (field->check != check_job_id)
		return false;
	make_job_id(text, strlen(text), id);
	text_short(id, out);
	return true;
}

/* The index of the provider, or -1. */
static int provider_index(const struct schema_options *options,
			  const char *name)
{
	size_t i;

	for (i = 0; i < options->provider_count; i++)
		if (!strcmp(options->providers[i].name, name))
			return (int)i;
	return -1;
}

/* Keys of no table: blocks of providers, and places for anchors. */
static bool other_key(struct fill *fill, const struct message *message,
		      const struct node *key, const struct node *value,
		      const struct path *path, void *data)
{
	const struct loader *loader = fill->arg;
	struct jobrun_block *block = data;
	int i;

	if (message == &message_job)
		return text_starts(key->text, "x-");
	if (message != &message_jobrun)
		return false;
	i = provider_index(loader->options, key->text);
	if (i < 0 || !loader->options->providers[i].block)
		return false;
	if (value->kind == NODE_MAP) {
		fill_message(fill, loader->options->providers[i].block, value,
			     path, block->blocks[i]);
		return true;
	}
	if (value->kind != NODE_BAD && value->count)
		problem_add(fill->found, SEVERITY_ERROR, value, path, "type",
			    "\"%s\" must be a map of keys", key->text);
	return true;
}

static const char *const *other_names(const struct fill *fill,
				      const struct message *message)
{
	const struct loader *loader = fill->arg;

	return message == &message_jobrun ? loader->provider_names : NULL;
}

/* The blocks of all providers, with their defaults. */
static void make_blocks(struct fill *fill, const struct schema_options *options,
			struct job *job)
{
	void **blocks = arena_alloc(job->mem, (options->provider_count + 1) *
						      sizeof(*blocks));
	size_t i;

	for (i = 0; i < options->provider_count; i++) {
		const struct message *block = options->providers[i].block;

		if (!block)
			continue;
		blocks[i] = arena_alloc(job->mem, block->size);
		fill_message(fill, block, NULL, NULL, blocks[i]);
	}
	job->jobrun.blocks = blocks;
}

static void add_unknown_provider(struct loader *loader, const struct job *job)
{
	struct path block = { .name = "jobrun" };
	struct path path = { .up = &block, .name = "provider" };
	const struct node *at = node_get(job->jobrun.head.node, "provider");
	const char *const *names = loader->provider_names;
	const char *near = nearest_name(job->jobrun.provider, names,
					loader->options->provider_count);
	struct buf list = { 0 };
	char shown[SHORT_SIZE];

	for (; *names; names++)
		buf_printf(&list, "%s%s", list.len ? ", " : "", *names);
	problem_add(loader->found, SEVERITY_ERROR, at, &path, "enum",
		    "\"provider\" \"%s\" is not one of %s",
		    text_short(job->jobrun.provider, shown), buf_text(&list));
	if (near)
		problem_hint(loader->found, "did you mean %s?", near);
	buf_done(&list);
}

static void set_provider(struct loader *loader, struct job *job)
{
	const struct schema_options *options = loader->options;

	if (options->provider_count && job->jobrun.head.node &&
	    node_get(job->jobrun.head.node, "provider") &&
	    provider_index(options, job->jobrun.provider) < 0)
		add_unknown_provider(loader, job);
	if (options->provider)
		job->jobrun.provider =
			arena_strdup(job->mem, options->provider);
}

static void set_job_id(struct loader *loader, const struct file *file,
		       struct job *job)
{
	const char *base = path_base(file->path), *end;
	char id[JOB_ID_MAX + 1];

	if (job->job_id)
		return;
	if (loader->options->job_id) {
		text_short(loader->options->job_id, id);
	} else if (!strcmp(file->path, "-")) {
		memcpy(id, "job", 4);
	} else {
		end = strrchr(base, '.');
		make_job_id(base,
			    end && end > base ? (size_t)(end - base)
					      : strlen(base),
			    id);
	}
	if (file->jobs > 1)
		job->job_id =
			arena_printf(job->mem, "%.120s_%zu", id, file->jobs);
	else
		job->job_id = arena_strdup(job->mem, id);
}

/* Two jobs with one id are an error, wherever they stand. */
static void check_job_id_is_new(struct loader *loader, const struct file *file,
				const struct job *job)
{
	const struct node *at = node_get(job->head.node, "jobId");
	struct path path = { .name = "jobId" };
	const struct seen *first;
	struct seen *seen;
	const char *id;
	const void **known;

	if (!at)
		at = node_get(job->head.node, "job_id");
	/* A jobId that was refused stands for no other. */
	if (at && !message_has(&message_job, job, "jobId"))
		return;
	id = arena_strdup(loader->mem, job->job_id);
	known = names_at(&loader->ids, id, strlen(id));
	first = *known;
	if (!first) {
		seen = arena_alloc(loader->mem, sizeof(*seen));
		seen->file = arena_strdup(loader->mem, file->path);
		seen->made = !at;
		at = at ? at : job->head.node;
		seen->line = at->line;
		*known = seen;
		return;
	}
	problem_add(loader->found, SEVERITY_ERROR, at ? at : job->head.node,
		    &path, "duplicate-job",
		    "jobId \"%s\" is taken: %s:%u has it too", id, first->file,
		    first->line);
	if (!at || first->made)
		problem_hint(loader->found,
			     "a job without a jobId is named after its file; "
			     "give it one");
}

static void add_job(struct loader *loader, struct job *job)
{
	struct jobs *out = loader->out;

	if (out->count == loader->size) {
		loader->size = loader->size ? loader->size * 2 : 16;
		out->items =
			mem_grow(out->items, loader->size, sizeof(*out->items));
	}
	out->items[out->count++] = job;
}

static const char *folder_of(const struct job *job)
{
	const char *slash = strrchr(job->file, '/');

	if (!slash)
		return ".";
	return arena_strndup(job->mem, job->file,
			     slash == job->file ? 1
						: (size_t)(slash - job->file));
}

/* Whose rules the job is to follow, or NULL if nobody said. */
static const char *target_of(const struct loader *loader, const struct job *job)
{
	if (loader->options->provider)
		return loader->options->provider;
	return message_has(&message_jobrun, &job->jobrun, "provider")
		       ? job->jobrun.provider
		       : NULL;
}

/* Takes the document's arena. */
static void load_job(struct loader *loader, struct file *file,
		     struct document *doc)
{
	struct job *job = arena_alloc(doc->mem, sizeof(*job));
	struct fill fill = {
		.mem = doc->mem,
		.found = loader->found,
		.root = &message_job,
		.other_key = other_key,
		.other_names = other_names,
		.mend = mend,
		.arg = loader,
	};

	file->jobs++;
	job->mem = doc->mem;
	job->message = &message_job;
	job->training_message = &message_training_input;
	job->file = doc->origin->name;
	job->folder = folder_of(job);
	make_blocks(&fill, loader->options, job);
	fill_message(&fill, &message_job, doc->root, NULL, job);
	set_provider(loader, job);
	set_job_id(loader, file, job);
	check_job_id_is_new(loader, file, job);
	rules_check(job, target_of(loader, job), loader->found);
	if (loader->found->errors != file->errors)
		arena_free(doc->mem);
	else
		add_job(loader, job);
}

/* The first key at the top level that belongs into trainingInput. */
static const struct node *stray_key(const struct node *root)
{
	const struct item *item;

	for (item = root->items; item; item = item->next)
		if (message_field(&message_training_input, item->key->text))
			return item->key;
	return NULL;
}

/* A key at the top level that is nearly trainingInput. */
static bool has_near_training(const struct node *root)
{
	static const char *const names[] = { "trainingInput" };
	const struct item *item;

	for (item = root->items; item; item = item->next)
		if (text_nearest(item->key->text, names, 1))
			return true;
	return false;
}

static void add_no_training(struct loader *loader, const struct node *root)
{
	const struct node *stray = stray_key(root);

	if (node_get(root, "workerPoolSpecs") || node_get(root, "jobSpec")) {
		problem_add(loader->found, SEVERITY_ERROR, root, NULL,
			    "no-training-input",
			    "no \"trainingInput\": this is a Vertex AI "
			    "CustomJob spec");
		problem_hint(loader->found,
			     "jobrun reads AI Platform's form, and makes "
			     "Vertex AI's from it");
	} else if (node_get(root, "predictionInput")) {
		problem_add(loader->found, SEVERITY_ERROR, root, NULL,
			    "no-training-input",
			    "no \"trainingInput\": this is a batch prediction "
			    "job, and jobrun runs training jobs only");
	} else if (stray) {
		problem_add(loader->found, SEVERITY_ERROR, root, NULL,
			    "no-training-input",
			    "no \"trainingInput\": \"%s\" belongs under it",
			    stray->text);
		problem_hint(loader->found,
			     "put trainingInput: on a line of its own before "
			     "it, and indent what belongs there");
	} else {
		problem_add(loader->found, SEVERITY_ERROR, root, NULL,
			    "no-training-input",
			    "no \"trainingInput\": this is no job");
	}
}

static void add_empty_training(struct loader *loader, const struct node *root,
			       const struct item *training)
{
	const struct node *stray = stray_key(root);
	struct path path = { .name = "trainingInput" };

	if (!stray) {
		problem_add(loader->found, SEVERITY_ERROR, training->value,
			    &path, "no-training-input",
			    "\"trainingInput\" is empty");
		problem_hint(loader->found, "at least scaleTier: BASIC");
		return;
	}
	problem_add(loader->found, SEVERITY_ERROR, stray, NULL,
		    "no-training-input",
		    "\"trainingInput\" is empty and \"%s\" stands at the top "
		    "level: indent it",
		    stray->text);
	problem_hint(loader->found, "what belongs to trainingInput is "
				    "indented deeper than it");
}

static void load_document(struct loader *loader, struct file *file,
			  struct document *doc)
{
	const struct node *root = doc->root;
	const struct item *training;

	if (!root) {
		arena_free(doc->mem);
		return;
	}
	file->values++;
	training = node_item(root, "trainingInput");
	if (!training)
		training = node_item(root, "training_input");
	if (training && !scalar_is_null(training->value)) {
		load_job(loader, file, doc);
		return;
	}
	if (root->kind != NODE_MAP && root->kind != NODE_BAD) {
		if (file->named)
			problem_add(loader->found, SEVERITY_ERROR, root, NULL,
				    "no-training-input",
				    "a job is a map of keys, and this is a %s",
				    root->kind == NODE_LIST ? "list" : "text");
	} else if (training) {
		file->jobs++;
		add_empty_training(loader, root, training);
	} else if (root->kind == NODE_MAP && has_near_training(root)) {
		load_job(loader, file, doc);
		return;
	} else if (file->named && root->kind == NODE_MAP) {
		add_no_training(loader, root);
	}
	arena_free(doc->mem);
}

static void add_skipped(struct loader *loader, const struct file *file,
			const char *why)
{
	problem_add_file(loader->found, SEVERITY_NOTE, file->path,
			 loader->order, "skipped", "skipped: %s", why);
}

static bool mentions_training(const struct source *source)
{
	static const char camel[] = "trainingInput", snake[] = "training_input";

	return memmem(source->text, source->len, camel, sizeof(camel) - 1) ||
	       memmem(source->text, source->len, snake, sizeof(snake) - 1);
}

static void load_documents(struct loader *loader, struct file *file,
			   struct source *source)
{
	struct node_reader *reader = node_reader_new(source, loader->found);
	size_t errors = loader->found->errors;
	struct document doc;
	int more;

	for (;;) {
		file->errors = loader->found->errors;
		more = node_reader_next(reader, &doc);
		if (more <= 0)
			break;
		load_document(loader, file, &doc);
	}
	node_reader_free(reader);
	if (more < 0 || file->jobs || loader->found->errors != errors)
		return;
	if (!file->named)
		add_skipped(loader, file, "it holds no trainingInput");
	else if (!file->values)
		problem_add_at(loader->found, SEVERITY_ERROR, source, 1, 1, 1,
			       "empty", "empty file: there is no job in it");
}

static void load_text(struct loader *loader, struct file *file, char *data,
		      size_t len)
{
	size_t i, first = loader->out->count;
	struct source_fault fault;
	struct source source;
	int ret;

	ret = source_init(&source, file->path, loader->order, data, len,
			  &fault);
	if (!file->named && !mentions_training(&source))
		add_skipped(loader, file, "it holds no trainingInput");
	else if (ret < 0)
		problem_add_at(loader->found, SEVERITY_ERROR, &source,
			       fault.line, fault.column, 1, "encoding", "%s",
			       fault.text);
	else
		load_documents(loader, file, &source);
	/* The jobs outlive the text that they were read from. */
	for (i = first; i < loader->out->count; i++)
		node_forget_source(loader->out->items[i]->head.node);
	source_done(&source);
}

static void load_file(struct loader *loader, const char *path, bool named)
{
	struct file file = { .path = path, .named = named };
	struct error err;
	char *data;
	size_t len;

	loader->order++;
	if (!strcmp(path, "-"))
		data = file_read_fd(STDIN_FILENO, "-", SOURCE_SIZE_MAX, &len,
				    &err);
	else
		data = file_read(path, SOURCE_SIZE_MAX, &len, &err);
	if (!data) {
		problem_add_file(loader->found, SEVERITY_ERROR, path,
				 loader->order, "file", "%s", err.text);
		return;
	}
	load_text(loader, &file, data, len);
}

static bool is_job_file_name(const char *name)
{
	return text_ends(name, ".yaml") || text_ends(name, ".yml");
}

/* Hidden ones are not ours: .git, .github, .venv. */
static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Returns the number of files that it found.  Links to directories are not
 * followed: they may lead back. */
static size_t load_folder(struct loader *loader, const char *folder)
{
	struct dirent **entries = NULL;
	size_t found = 0;
	struct stat st;
	int i, n;

	n = scandir(folder, &entries, is_visible, by_name);
	if (n < 0)
		problem_add_file(loader->found, SEVERITY_ERROR, folder,
				 ++loader->order, "file",
				 "cannot read the directory: %s",
				 strerror(errno));
	for (i = 0; i < n; i++) {
		unsigned char type = entries[i]->d_type;
		char *path = path_join(folder, entries[i]->d_name);

		if (type == DT_UNKNOWN && lstat(path, &st) == 0)
			type = S_ISDIR(st.st_mode) ? DT_DIR : DT_REG;
		if (type == DT_DIR) {
			found += load_folder(loader, path);
		} else if (is_job_file_name(entries[i]->d_name) &&
			   (type == DT_REG || type == DT_LNK)) {
			load_file(loader, path, false);
			found++;
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	return found;
}

static void load_path(struct loader *loader, const char *path)
{
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		load_file(loader, path, true);
		return;
	}
	if (!load_folder(loader, path))
		problem_add_file(loader->found, SEVERITY_ERROR, path,
				 ++loader->order, "file",
				 "there is no *.yaml or *.yml file in this "
				 "directory");
}

static int loader_init(struct loader *loader,
		       const struct schema_options *options, struct jobs *out,
		       struct problems *found, struct error *err)
{
	size_t i;

	if (options->provider && provider_index(options, options->provider) < 0)
		return error_set(err, ERROR_USAGE, "unknown provider '%s'",
				 options->provider);
	*out = (struct jobs){ 0 };
	found->strict = options->strict;
	*loader = (struct loader){
		.options = options,
		.out = out,
		.found = found,
		.mem = arena_new(),
	};
	loader->provider_names = arena_alloc(
		loader->mem, (options->provider_count + 1) * sizeof(char *));
	for (i = 0; i < options->provider_count; i++)
		loader->provider_names[i] = options->providers[i].name;
	return 0;
}

static void loader_done(struct loader *loader)
{
	problems_sort(loader->found);
	names_done(&loader->ids);
	arena_free(loader->mem);
}

int schema_load(char *const *paths, size_t count,
		const struct schema_options *options, struct jobs *out,
		struct problems *found, struct error *err)
{
	struct loader loader;
	size_t i;

	if (loader_init(&loader, options, out, found, err) < 0)
		return -1;
	for (i = 0; i < count; i++)
		load_path(&loader, paths[i]);
	loader_done(&loader);
	return 0;
}

int schema_load_text(const char *name, const char *text, size_t len,
		     const struct schema_options *options, struct jobs *out,
		     struct problems *found, struct error *err)
{
	struct file file = { .path = name, .named = true };
	struct loader loader;
	char *data;

	if (loader_init(&loader, options, out, found, err) < 0)
		return -1;
	data = mem_alloc(len + 1);
	if (len)
		memcpy(data, text, len);
	loader.order++;
	load_text(&loader, &file, data, len);
	loader_done(&loader);
	return 0;
}
