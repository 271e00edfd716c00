/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/reading.h"
#include "schema/read/reach.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "schema/read/extend.h"
#include "schema/read/likeness.h"
#include "core/base/nearest.h"
#include "schema/read/node_reader.h"
#include "schema/tables/tables.h"
#include "schema/yaml/node.h"
#include "schema/read/override.h"
#include "schema/yaml/scalar.h"

/* Finds the first key at the top level that belongs into trainingInput. */
static const struct node *stray_key(const struct node *root)
{
	const struct item *item;

	for (item = root->items; item; item = item->next)
		if (message_field(&message_training_input, item->key->text))
			return item->key;
	return NULL;
}

/* Whether a key at the top level is similar to trainingInput. */
static bool has_near_training(const struct node *root)
{
	static const char *const names[] = { "trainingInput" };
	const struct item *item;

	for (item = root->items; item; item = item->next)
		if (nearest_name(item->key->text, names, 1))
			return true;
	return false;
}

#define IMPORT_FILE "'jobrun import FILE' converts it to a job file"

/* Keys that show another program's file, and what to do with it; the first that
 * matches is used. */
static const struct {
	const char *key;
	const char *value; /* NULL: any */
	const char *also;  /* another key, or NULL */
	const char *what, *hint;
} signs[] = {
	{ "trialJobSpec", NULL, NULL,
	  "a Vertex AI HyperparameterTuningJob spec",
	  "'jobrun import -- gcloud ai hp-tuning-jobs create --config FILE' "
	  "reads it" },
	{ "kind", "Job", "apiVersion", "a Kubernetes Job", IMPORT_FILE },
	{ "kind", "JobSet", "apiVersion", "a Kubernetes JobSet", IMPORT_FILE },
	{ "kind", "TrainJob", "apiVersion", "a Kubeflow TrainJob",
	  IMPORT_FILE },
	{ "kind", NULL, "apiVersion", "a Kubernetes manifest",
	  "jobrun writes manifests itself, for a job with jobrun.provider: "
	  "kubernetes" },
	{ "workerPoolSpecs", NULL, NULL, "a Vertex AI CustomJob spec",
	  "'jobrun import -- gcloud ai custom-jobs create --config FILE' "
	  "reads it" },
	{ "jobSpec", NULL, NULL, "a Vertex AI CustomJob spec",
	  "'jobrun import -- gcloud ai custom-jobs create --config FILE' "
	  "reads it" },
	{ "predictionInput", NULL, NULL,
	  "a batch prediction job, but jobrun runs only training jobs", NULL },
	{ "type", "task", "commands", "a dstack task", IMPORT_FILE },
	{ "run", NULL, "resources", "a SkyPilot task", IMPORT_FILE },
	{ "run", NULL, "num_nodes", "a SkyPilot task", IMPORT_FILE },
	{ "run", NULL, "setup", "a SkyPilot task", IMPORT_FILE },
	{ "jobs", NULL, "on", "a GitHub Actions workflow", NULL },
	{ "services", NULL, NULL, "a Docker Compose file", NULL },
};

/* Reports the file of another program; returns false if it is not known. */
static bool add_foreign(struct reading *reading, const struct node *root)
{
	const struct node *value;
	size_t i;

	for (i = 0; i < COUNT(signs); i++) {
		value = node_get(root, signs[i].key);
		if (!value || (signs[i].also && !node_get(root, signs[i].also)))
			continue;
		if (!signs[i].value || (value->kind == NODE_SCALAR &&
					!strcmp(value->text, signs[i].value)))
			break;
	}
	if (i == COUNT(signs))
		return false;
	problem_add(&reading->found, SEVERITY_ERROR, root, NULL,
		    "no-training-input", "no \"trainingInput\": this is %s",
		    signs[i].what);
	if (signs[i].hint)
		problem_hint(&reading->found, "%s", signs[i].hint);
	return true;
}

static void add_no_training(struct reading *reading, const struct node *root)
{
	const struct node *stray = stray_key(root);

	if (add_foreign(reading, root))
		return;
	if (stray) {
		problem_add(&reading->found, SEVERITY_ERROR, root, NULL,
			    "no-training-input",
			    "no \"trainingInput\": \"%s\" belongs under it",
			    stray->text);
		problem_hint(&reading->found,
			     "put trainingInput: on its own line before it, "
			     "and indent the fields below it");
	} else {
		problem_add(&reading->found, SEVERITY_ERROR, root, NULL,
			    "no-training-input",
			    "no \"trainingInput\": not a job file");
	}
}

/* Reports a document that is a list or text; scripts of sbatch are read as
 * text. */
static void add_no_map(struct reading *reading, const struct node *root)
{
	problem_add(&reading->found, SEVERITY_ERROR, root, NULL,
		    "no-training-input",
		    "a job is a map of keys, but this is a %s",
		    root->kind == NODE_LIST ? "list" : "string");
	if (text_starts(reading->source.text, "#!") &&
	    strstr(reading->source.text, "\n#SBATCH"))
		problem_hint(&reading->found,
			     "it is an sbatch script: " IMPORT_FILE);
}

static void add_empty_training(struct reading *reading, const struct node *root,
			       const struct item *training)
{
	const struct node *stray = stray_key(root);
	struct path path = { .name = "trainingInput" };

	/* After such errors an empty trainingInput is no wonder. */
	if (reading->found.errors != reading->errors)
		return;
	if (!stray) {
		problem_add(&reading->found, SEVERITY_ERROR, training->value,
			    &path, "no-training-input",
			    "\"trainingInput\" is empty");
		problem_hint(&reading->found, "write at least scaleTier: "
					      "BASIC");
		return;
	}
	problem_add(&reading->found, SEVERITY_ERROR, stray, NULL,
		    "no-training-input",
		    "\"trainingInput\" is empty and \"%s\" is at the top "
		    "level: indent it",
		    stray->text);
	problem_hint(&reading->found, "indent the fields of trainingInput "
				      "deeper than trainingInput itself");
}

static const struct item *training_item(const struct node *root)
{
	const struct item *item = node_item(root, "trainingInput");

	return item ? item : node_item(root, "training_input");
}

/* Merges the document over what it extends, and applies the options. */
static int compose(struct reading *reading, struct document *doc)
{
	bool extends = extend_is_asked(doc->root);

	if (extends && extend(reading, doc) < 0)
		return -1;
	if (doc->root->kind == NODE_MAP &&
	    (reading->named || extends || training_item(doc->root)))
		override_apply(reading, doc);
	return 0;
}

static void add_unnamed(struct reading *reading, const struct place *at)
{
	problem_add_at(&reading->found, SEVERITY_ERROR, &reading->source,
		       at->line, at->column, at->length, "unnamed-job",
		       "each job in a file of several needs a jobId");
	problem_hint(&reading->found, "the file's name can name only one job");
}

/* Counts the job and reports it if it needs a jobId: in a file with several
 * jobs, names by position would change when a job is added or removed, and runs
 * would belong to other jobs. */
static void count_job(struct reading *reading, const struct node *root)
{
	struct place at = { .line = root->line,
			    .column = root->column,
			    .length = root->length };
	struct place *first = &reading->unnamed;

	reading->documents++;
	if (node_get(root, "jobId") || node_get(root, "job_id"))
		reading->has_id = true;
	else if (!first->line)
		*first = at;
	else
		add_unnamed(reading, &at);
	if (reading->documents > 1 && first->line && !first->told &&
	    !reading->options->job_id) {
		first->told = true;
		add_unnamed(reading, first);
	}
}

/* Reads a map without a trainingInput.  Returns true if the document was taken
 * as a job nevertheless. */
static bool read_slip(struct reading *reading, struct document *doc)
{
	const struct node *root = doc->root;
	bool near = has_near_training(root);

	if (likeness_of_document(root) || (near && reading->named))
		count_job(reading, root);
	else if (!reading->named)
		return false; /* a directory may hold other files */
	if (near)
		reading_add_job(reading, doc);
	else
		add_no_training(reading, root);
	return near;
}

static void read_document(struct reading *reading, struct document *doc)
{
	const struct node *root;
	const struct item *training;

	if (!doc->root) {
		arena_free(doc->mem);
		return;
	}
	reading->values++;
	if (compose(reading, doc) < 0) {
		arena_free(doc->mem);
		return;
	}
	root = doc->root;
	training = training_item(root);
	if (training && !scalar_is_null(training->value)) {
		count_job(reading, root);
		reading_add_job(reading, doc);
		return;
	}
	if (root->kind != NODE_MAP && root->kind != NODE_BAD) {
		if (reading->named)
			add_no_map(reading, root);
		else if (!reading->stray.line)
			reading->stray =
				(struct place){ .line = root->line,
						.column = root->column };
	} else if (training) {
		count_job(reading, root);
		add_empty_training(reading, root, training);
	} else if (root->kind == NODE_MAP && read_slip(reading, doc)) {
		return;
	}
	arena_free(doc->mem);
}

static void read_documents(struct reading *reading)
{
	struct node_reader *reader =
		node_reader_new(&reading->source, &reading->found);
	size_t errors = reading->found.errors;
	struct document doc;
	int more;

	for (;;) {
		reading->errors = reading->found.errors;
		more = node_reader_next(reader, &doc);
		if (more <= 0)
			break;
		read_document(reading, &doc);
	}
	node_reader_free(reader);
	/* In a file with jobs this document was meant to be a job, too. */
	if (reading->documents && reading->stray.line)
		problem_add_at(&reading->found, SEVERITY_ERROR,
			       &reading->source, reading->stray.line,
			       reading->stray.column, 1, "no-training-input",
			       "a job is a map of keys, but this document of a "
			       "file with jobs is not");
	if (more < 0 || reading->documents || reading->found.errors != errors)
		return;
	if (!reading->named)
		reading->foreign = true;
	else if (!reading->values)
		problem_add_at(&reading->found, SEVERITY_ERROR,
			       &reading->source, 1, 1, 1, "empty",
			       "empty file: no job in it");
}

/* Ignores the file with all its problems. */
static void pass_over(struct reading *reading)
{
	bool strict = reading->found.strict;

	problems_done(&reading->found);
	reading->found.strict = strict;
	reading->foreign = true;
}

void reading_text(struct reading *reading, char *data, size_t len)
{
	struct source *source = &reading->source;
	enum likeness likeness = LIKENESS_JOB;
	struct source_fault fault;
	int ret;

	ret = source_init(source, reading->path, reading->order, data, len,
			  &fault);
	source->own = true;
	if (!reading->named)
		likeness = likeness_of_text(source);
	if (likeness == LIKENESS_NONE)
		reading->foreign = true;
	else if (ret < 0)
		problem_add_at(&reading->found, SEVERITY_ERROR, source,
			       fault.line, fault.column, 1, "encoding", "%s",
			       fault.text);
	else
		read_documents(reading);
	if (likeness == LIKENESS_POSSIBLE && !reading->documents)
		pass_over(reading);
}

void reading_file(struct reading *reading)
{
	const char *path = reading->path;
	char *data = NULL;
	struct error err;
	size_t len;

	if (!strcmp(path, "-"))
		data = file_read_fd(STDIN_FILENO, "-", SOURCE_SIZE_MAX, &len,
				    &err);
	else if (reach_check_file(reading, &err) == 0)
		data = file_read_argument(path, SOURCE_SIZE_MAX, &len, &err);
	if (data)
		reading_text(reading, data, len);
	else
		problem_add_file(&reading->found, SEVERITY_ERROR, path,
				 reading->order, "file", "%s", err.text);
}

struct source *reading_add_text(struct reading *reading, const char *name,
				unsigned order, char *data, size_t len)
{
	struct other_text *other = mem_alloc(sizeof(*other));
	struct source_fault fault;

	other->next = reading->others;
	reading->others = other;
	other->name = mem_strdup(name);
	if (source_init(&other->source, other->name, order, data, len,
			&fault) == 0)
		return &other->source;
	problem_add_at(&reading->found, SEVERITY_ERROR, &other->source,
		       fault.line, fault.column, 1, "encoding", "%s",
		       fault.text);
	return NULL;
}

void reading_done(struct reading *reading)
{
	struct other_text *other, *next;
	size_t i;

	for (i = 0; i < reading->job_count; i++)
		job_free(reading->jobs[i]);
	for (other = reading->others; other; other = next) {
		next = other->next;
		source_done(&other->source);
		free(other->name);
		free(other);
	}
	free(reading->jobs);
	free(reading->root);
	free(reading->extended);
	source_done(&reading->source);
	problems_done(&reading->found);
}
