/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/reach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/buf.h"
#include "core/base/text.h"
#include "core/job/boundary.h"
#include "core/job/source.h"
#include "schema/read/reading.h"
#include "schema/rules/rules_check.h"
#include "schema/yaml/node.h"

struct reaching {
	struct reading *reading;
	struct job *job;
	size_t room;
	bool ships; /* its source goes elsewhere */
};

/* A value in the job that names a file, a program or a secret. */
struct named_path {
	enum reach_use use;
	const struct path *at;
	const char *name;   /* of the field: "source" */
	const char *secret; /* the secret's name, or NULL */
	const struct node *node;
	const char *value;
	bool pattern; /* contains braces */
};

/* Returns new, or NULL. */
static char *find_root(const char *folder, struct last_root *last)
{
	char *root;

	if (last && last->folder && !strcmp(last->folder, folder))
		return mem_strdup(last->root);
	root = boundary_root(folder);
	if (last && root) {
		free(last->folder);
		free(last->root);
		last->folder = mem_strdup(folder);
		last->root = mem_strdup(root);
	}
	return root;
}

/* Returns the root of the folders that the file may name; borrowed; NULL if
 * unknown. */
static const char *root_of(struct reading *reading)
{
	char *folder;

	if (!reading->root) {
		folder = path_folder(reading->path);
		reading->root = find_root(folder, reading->last_root);
		free(folder);
	}
	return reading->root;
}

int reach_check_file(struct reading *reading, struct error *err)
{
	const struct boundary *boundary = reading->options->boundary;
	const char *path = reading->path;
	struct stat st;

	/* Files that the shell opened are the user's choice. */
	if (!boundary || !boundary->untrusted || text_starts(path, "/dev/") ||
	    text_starts(path, "/proc/") || lstat(path, &st) < 0 ||
	    !S_ISLNK(st.st_mode) ||
	    boundary_side(boundary, root_of(reading), path) != BOUNDARY_OUTSIDE)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "it is a link that leads out of %s",
			 boundary_root_name(root_of(reading)));
}

static bool is_of_operator(const struct node *node)
{
	return text_starts(node->origin->name, "--set");
}

int reach_check_base(struct reading *reading, const char *path,
		     const struct node *at, const char **root,
		     struct error *err)
{
	const struct boundary *boundary = reading->options->boundary;

	*root = NULL;
	if (!boundary || is_of_operator(at))
		return 0;
	*root = boundary_holder(boundary, root_of(reading), path);
	if (*root)
		return 0;
	return error_set(err, ERROR_INVALID, "leads out of %s",
			 boundary_root_name(root_of(reading)));
}

/* Adds what the path reaches, for the plan. */
static void add_reach(struct reaching *reaching, const struct named_path *one,
		      const char *path, const char *holder)
{
	struct job *job = reaching->job;
	struct job_reach *items = job->reaches;
	size_t n = job->reach_count;

	if (n == reaching->room) {
		reaching->room = n ? 2 * n : 4;
		items = arena_alloc(job->mem, reaching->room * sizeof(*items));
		if (n)
			memcpy(items, job->reaches, n * sizeof(*items));
		job->reaches = items;
	}
	items[job->reach_count++] = (struct job_reach){
		.use = one->use,
		.field = one->secret ? one->secret : one->name,
		.path = path,
		.root = holder ? arena_strdup(job->mem, holder) : NULL,
	};
}

static void check_path(struct reaching *reaching, const struct named_path *one)
{
	struct reading *reading = reaching->reading;
	const struct boundary *boundary = reading->options->boundary;
	struct problems *found = &reading->found;
	const char *root, *path;
	struct named_path chosen = *one;
	enum boundary_side side;
	char shown[SHORT_SIZE];

	if (!one->value || !one->node || strstr(one->value, "://"))
		return;
	root = root_of(reading);
	path = job_path(reaching->job, one->value);
	if (is_of_operator(one->node)) {
		chosen.use = REACH_CHOSEN;
		add_reach(reaching, &chosen, path, NULL);
		return;
	}
	side = one->pattern ? boundary_side_of_pattern(boundary, root, path)
			    : boundary_side(boundary, root, path);
	if (side == BOUNDARY_WITHIN)
		return;
	if (side == BOUNDARY_ALLOWED || !boundary->untrusted) {
		add_reach(reaching, one, path,
			  boundary_holder(boundary, NULL, path));
		return;
	}
	problem_add(found, SEVERITY_ERROR, one->node, one->at, "outside",
		    "\"%s\" \"%s\" leads out of %s", one->name,
		    text_short(one->value, shown), boundary_root_name(root));
	problem_hint(found, REACH_HINT);
}

static void check_list(struct reaching *reaching, const struct named_path *all,
		       const struct strings *values)
{
	const struct item *item = all->node && all->node->kind == NODE_LIST
					  ? all->node->items
					  : NULL;
	struct named_path one = *all;
	struct path at = { .up = all->at };
	size_t i;

	for (i = 0; i < values->count; i++) {
		at.index = i;
		one.at = item ? &at : all->at;
		one.node = item ? item->value : all->node;
		one.value = values->items[i];
		check_path(reaching, &one);
		item = item ? item->next : NULL;
	}
}

static const struct path jobrun_at = { .name = "jobrun" };

static void check_secret_files(struct reaching *reaching)
{
	const struct messages *all = &reaching->job->jobrun.secrets;
	const struct secret *secret = all->items;
	struct path list = { .up = &jobrun_at, .name = "secrets" };
	size_t i;

	for (i = 0; i < all->count; i++, secret++) {
		struct path one = { .up = &list, .name = secret->name };
		struct path at = { .up = &one, .name = "file" };

		check_path(reaching, &(struct named_path){
					     .use = REACH_SECRET,
					     .at = &at,
					     .name = "file",
					     .secret = secret->name,
					     .node = value_of(secret, "file"),
					     .value = secret->file,
				     });
	}
}

/* Only the index of shards is read here, unless the tasks also run here. */
static void check_data(struct reaching *reaching, bool local)
{
	const struct messages *all = &reaching->job->jobrun.data;
	const struct data_set *set = all->items;
	struct path list = { .up = &jobrun_at, .name = "data" };
	size_t i;

	for (i = 0; i < all->count; i++, set++) {
		struct path one = { .up = &list, .name = set->name };
		struct path at = { .up = &one, .name = "index" };
		struct named_path what = { .at = &at,
					   .name = "index",
					   .node = value_of(set, "index"),
					   .value = set->index };

		check_path(reaching, &what);
		at.name = what.name = "urls";
		what.node = value_of(set, "urls");
		what.pattern = true;
		if (local)
			check_list(reaching, &what, &set->urls);
	}
}

/* Checks keys and configurations named in a provider's block. */
static void check_block(struct reaching *reaching,
			const struct job_block *block)
{
	struct path up = { .up = &jobrun_at, .name = block->name };
	const struct message_head *head = block->data;
	const struct field *field = block->message->fields;

	for (; head->node && field->name; field++) {
		struct path at = { .up = &up, .name = field->name };
		const void *member = (const char *)block->data + field->offset;

		if (field->type != FIELD_STRING || !(field->flags & FIELD_PATH))
			continue;
		check_path(reaching,
			   &(struct named_path){
				   .use = REACH_KEY,
				   .at = &at,
				   .name = field->name,
				   .node = value_of(head, field->name),
				   .value = *(const char *const *)member,
			   });
	}
}

static void check_output(struct reaching *reaching, const char *block,
			 const char *name, const void *message, const char *to)
{
	struct path up = { .up = &jobrun_at, .name = block };
	struct path at = { .up = &up, .name = name };

	check_path(reaching, &(struct named_path){
				     .use = REACH_WRITES,
				     .at = &at,
				     .name = name,
				     .node = value_of(message, name),
				     .value = to,
			     });
}

/* Notes where the file names the source, and warns of what is odd about the
 * files that ship. */
static void check_source_ships(struct reaching *reaching,
			       const struct named_path *source)
{
	struct job *job = reaching->job;
	struct arena *mem;
	struct buf text = { 0 };
	struct error ignored;
	struct tree tree = { 0 };

	if (!source->value || !source->node || is_of_operator(source->node))
		return;
	job->source_at =
		arena_printf(job->mem, "%s:%u:%u", source->node->origin->name,
			     source->node->line, source->node->column);
	if (!reaching->reading->options->check_only || !reaching->ships)
		return;
	mem = arena_new();
	if (source_look(job, mem, &tree, &ignored) == 0)
		source_oddness(job, &tree, &text);
	if (text.len)
		problem_add(&reaching->reading->found, SEVERITY_WARNING,
			    source->node, source->at, "source-ships",
			    "jobrun.source %s", buf_text(&text));
	buf_done(&text);
	arena_free(mem);
}

/* Only `validate` checks that the source exists: deleting and showing need
 * none. */
static void check_source_is_there(struct reaching *reaching,
				  const struct named_path *source)
{
	struct stat st;

	if (!reaching->reading->options->check_only || !source->value ||
	    !source->node || is_of_operator(source->node))
		return;
	if (stat(job_path(reaching->job, source->value), &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return;
		errno = ENOTDIR;
	}
	problem_add(&reaching->reading->found, SEVERITY_ERROR, source->node,
		    source->at, "source-missing",
		    "jobrun.source: cannot read '%s': %s", source->value,
		    strerror(errno));
}

/* Returns the path of a name, which is relative to the source: the program
 * starts there. */
static const char *from_source(const struct job *job, const char *name)
{
	char *path;
	const char *out;

	if (!name || !job->jobrun.source)
		return name;
	path = path_join(job->jobrun.source, name);
	out = arena_strdup(job->mem, path);
	free(path);
	return out;
}

static void check_written(struct reaching *reaching)
{
	struct job *job = reaching->job;
	const struct checkpoints *checkpoints = &job->jobrun.checkpoints;
	const struct data_set *set = job->jobrun.data.items;
	struct path list = { .up = &jobrun_at, .name = "data" };
	size_t i;

	check_output(reaching, "checkpoints", "to", checkpoints,
		     checkpoints->to);
	check_output(reaching, "checkpoints", "directory", checkpoints,
		     from_source(job, checkpoints->directory));
	check_output(reaching, "logs", "to", &job->jobrun.logs,
		     job->jobrun.logs.to);
	for (i = 0; i < job->jobrun.data.count; i++, set++) {
		struct path one = { .up = &list, .name = set->name };
		struct path at = { .up = &one, .name = "cache" };

		check_path(reaching,
			   &(struct named_path){
				   .use = REACH_WRITES,
				   .at = &at,
				   .name = "cache",
				   .node = value_of(set, "cache"),
				   .value = from_source(job, set->cache),
			   });
	}
}

static void check_program(struct reaching *reaching)
{
	const struct job *job = reaching->job;
	struct path input = { .name = "trainingInput" };
	struct path at = { .up = &jobrun_at, .name = "source" };
	struct named_path one = { .at = &at,
				  .name = "source",
				  .node = value_of(&job->jobrun, "source"),
				  .value = job->jobrun.source };

	check_path(reaching, &one);
	check_source_is_there(reaching, &one);
	if (reaching->reading->found.errors == 0)
		check_source_ships(reaching, &one);
	at = (struct path){ .up = &input, .name = "packageUris" };
	one.name = at.name;
	one.node = value_of(&job->training_input, "packageUris");
	check_list(reaching, &one, &job->training_input.package_uris);
}

void reach_check(struct reading *reading, struct job *job, bool local)
{
	const struct jobrun_block *block = &job->jobrun;
	struct reaching reaching = { .reading = reading,
				     .job = job,
				     .ships = !local || block->hosts.count };
	size_t i;

	if (!reading->options->boundary)
		return;
	if (root_of(reading))
		job->root = arena_strdup(job->mem, root_of(reading));
	check_program(&reaching);
	check_secret_files(&reaching);
	check_data(&reaching, local);
	if (local)
		check_written(&reaching);
	for (i = 0; i < block->block_count; i++)
		check_block(&reaching, &block->blocks[i]);
}
