/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job file through validate, plan, render and validate again: plan and every
 * render handle what validate accepts; validate accepts the output of render,
 * and it is the same job.  No server is contacted.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan.h"
#include "core/provider/extension.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/schema.h"
#include "schema/tables/tables.h"
#include "schema/write/render_yaml.h"
#include "schema/write/yaml_write.h"
#include "tests/support/known.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed);

static void load(const char *text, size_t len, struct jobs *jobs,
		 struct problems *found)
{
	const struct schema_options options = known_options();
	struct error err;

	/* Relative paths lead nowhere from this folder, and nobody can create
	 * it. */
	if (schema_load_text("/proc/0/a.yaml", text, len, &options, jobs, found,
			     &err) < 0)
		abort();
}

/* Prints both texts and aborts. */
static void disagree(const char *what, const char *before, const char *after)
{
	fprintf(stderr, "%s:\n%s\n----\n%s\n", what, before, after);
	abort();
}

/* Whether the path leads nowhere, so that no job reads this machine's files. */
static bool stays_here(const char *path)
{
	return !path || (path[0] != '/' && !strstr(path, ".."));
}

static bool reads_nothing(const struct job *job)
{
	const struct strings *packages = &job->training_input.package_uris;
	size_t i;

	for (i = 0; i < packages->count; i++)
		if (!stays_here(packages->items[i]))
			return false;
	return stays_here(job->jobrun.source) &&
	       stays_here(job->training_input.job_dir);
}

static void tell(void *arg, bool needed, const char *path, const char *why)
{
	(void)arg;
	(void)needed;
	(void)path;
	assert(why);
}

/* Checks that an error is caused by this machine, which lacks something, and
 * not by the file. */
static void check_reason(const char *what, const struct job *job,
			 const struct error *err)
{
	struct buf text = { 0 };
	struct error ignored;

	if (err->code != ERROR_INVALID || strstr(err->text, "cannot open") ||
	    strstr(err->text, "No such file"))
		return;
	render_yaml(job, &text, &ignored);
	disagree(what, buf_text(&text), err->text);
}

/* Returns whether the job has all that a run needs. */
static bool plan(const struct provider *provider, struct job *job,
		 const struct provider_env *env)
{
	const struct plan_options options = { .catalogue = env->catalogue };
	struct resources *desired = resources_new();
	struct plan *made = plan_new();
	struct resource *observed = NULL;
	struct buf text = { 0 };
	struct error err = { 0 };
	bool whole = false;

	if (provider->desire(job, env, desired, &err) < 0) {
		check_reason("plan refuses what validate accepts", job, &err);
		goto out;
	}
	whole = !desired->missing_count;
	observed = calloc(desired->count + 1, sizeof(*observed));
	assert(observed);
	if (plan_add(made, provider, job, desired, observed, &options, &err) <
	    0)
		disagree("plan_add", job->job_id, err.text);
	plan_render_text(made, &(struct plan_style){ .width = 80 }, &text);
	plan_render_markdown(made, &text);
	json_decref(plan_json(made));
out:
	plan_free(made);
	free(observed);
	resources_free(desired);
	buf_done(&text);
	return whole;
}

static void render_all(const struct job *job, bool whole,
		       const struct provider_env *env)
{
	const struct render_env how = { .catalogue = env->catalogue,
					.write_yaml = yaml_write,
					.tell = tell };
	size_t i;

	for (i = 0; providers[i]; i++) {
		struct buf text = { 0 };
		struct error err = { 0 };

		/* A job for another provider may have no form in this one, nor
		 * one that lacks something. */
		if (providers[i]->render &&
		    providers[i]->render->render(job, &how, &text, &err) < 0 &&
		    whole && !strcmp(providers[i]->name, job->jobrun.provider))
			check_reason(providers[i]->name, job, &err);
		buf_done(&text);
	}
}

/* The rendered job reads back as the same job, and renders to the same text. */
static void render_and_read(struct job *job)
{
	struct buf once = { 0 }, twice = { 0 }, said = { 0 };
	struct problems found = { 0 };
	struct jobs again;
	struct error err;

	if (render_yaml(job, &once, &err) < 0)
		disagree("render", job->job_id, err.text);
	load(once.data, once.len, &again, &found);
	problems_text(&found, 0, &said);
	if (problems_errors(&found) || again.count != 1)
		disagree("validate refuses what render writes", buf_text(&once),
			 buf_text(&said));
	if (render_yaml(again.items[0], &twice, &err) < 0 ||
	    strcmp(buf_text(&once), buf_text(&twice)) != 0)
		disagree("render writes another job", buf_text(&once),
			 buf_text(&twice));
	if (job_digest(job, &err) == 0 &&
	    (job_digest(again.items[0], &err) < 0 ||
	     memcmp(&job->digest2, &again.items[0]->digest2,
		    sizeof(job->digest2)) != 0))
		disagree("render changes the digest", buf_text(&once),
			 job->digest2.hex);
	buf_done(&once);
	buf_done(&twice);
	buf_done(&said);
	problems_done(&found);
	jobs_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems found = { 0 };
	struct provider_env env = { 0 };
	struct error err;
	struct jobs jobs;
	size_t i;

	setenv("HOME", "/proc/0", 1);
	unsetenv("KUBECONFIG");
	env.catalogue = catalogue_get(&err);
	load((const char *)data, size, &jobs, &found);
	for (i = 0; i < jobs.count; i++) {
		struct job *job = jobs.items[i];

		render_and_read(job);
		if (reads_nothing(job) && job_digest(job, &err) == 0)
			render_all(job,
				   plan(provider_find(job->jobrun.provider),
					job, &env),
				   &env);
	}
	problems_done(&found);
	jobs_done(&jobs);
	return 0;
}

/* ---- mutations of job files --------------------------------------------- */

static uint64_t state;

static size_t below(size_t limit)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (size_t)((z ^ z >> 31) % limit);
}

static const char *any(const char *const *texts)
{
	size_t n = 0;

	while (texts[n])
		n++;
	return texts[below(n)];
}

static const char *const numbers[] = {
	"0",      "1",     "2",          "8",
	"-1",     "32",    "1000",       "100000",
	"100001", "\"3\"", "2147483647", "99999999999999999999",
	"0x10",   "1_0",   "010",        "1.5",
	"1e3",    "8.0",   ".inf",       NULL
};
static const char *const words[] = { "a",
				     "b_1",
				     "~",
				     "",
				     "null",
				     "gs://b/o",
				     "gs://b/{000..009}.tar",
				     ".",
				     "src",
				     "n1-standard-4",
				     "n1-standard-8",
				     "standard_gpu",
				     "cloud_tpu",
				     "complex_model_m",
				     "a2-highgpu-1g",
				     "us-central1",
				     "us-central1-a",
				     "europe-west4",
				     "2.11",
				     "\"2.1\"",
				     "1.15",
				     "\"3.7\"",
				     "gcr.io/p/i:1",
				     "python:3.12",
				     "projects/1/global/networks/n",
				     "a.b",
				     "[]",
				     "{}",
				     "'x: y'",
				     "TPU_V2",
				     "TPU_V3",
				     "NVIDIA_TESLA_T4",
				     "localhost",
				     "kubernetes",
				     "slurm",
				     "vertex-ai",
				     "ai-platform",
				     "tpu-vm",
				     "\"\"",
				     "tpu-node",
				     "fake",
				     "10s",
				     "1h",
				     "yes",
				     "{a: b}",
				     "[a, \"1\"]",
				     "é",
				     "\"a\\nb\"",
				     "*a",
				     "<<",
				     NULL };

static void put_message(struct buf *out, const struct message *message,
			int depth);

static void put_value(struct buf *out, const struct field *field, int depth)
{
	if (below(12) == 0) {
		buf_puts(out, any(below(2) ? words : numbers));
		return;
	}
	switch (field->type) {
	case FIELD_STRING:
	case FIELD_ENUM:
		buf_puts(out, any(field->values ? field->values : words));
		return;
	case FIELD_INT:
	case FIELD_DOUBLE:
		buf_puts(out, any(numbers));
		return;
	case FIELD_DURATION:
		buf_printf(out, "%zus", below(4000));
		return;
	case FIELD_BOOL:
		buf_puts(out, below(2) ? "true" : "false");
		return;
	case FIELD_STRINGS:
		buf_printf(out, "[%s, x%zu]", any(words), below(4));
		return;
	case FIELD_DOUBLES:
		buf_printf(out, "[%zu, %zu.5]", below(4), 2 + below(4));
		return;
	case FIELD_TREE:
		buf_printf(out, "{a%zu: {b: [%s]}, C: %s}", below(4),
			   any(words), any(numbers));
		return;
	case FIELD_PAIRS:
		buf_printf(out, "{A%zu: %s}", below(4), any(words));
		return;
	case FIELD_MESSAGE:
		put_message(out, field->message, depth - 1);
		return;
	case FIELD_MESSAGES:
		buf_putc(out, '[');
		put_message(out, field->message, depth - 1);
		buf_putc(out, ']');
		return;
	case FIELD_NAMED:
		buf_printf(out, "{N%zu: ", below(3));
		put_message(out, field->message, depth - 1);
		buf_putc(out, '}');
		return;
	}
}

static const struct field *any_field(const struct message *message)
{
	return &message->fields[below(message_field_count(message))];
}

static void put_message(struct buf *out, const struct message *message,
			int depth)
{
	size_t i, count = message_field_count(message), n = 1 + below(3);

	buf_putc(out, '{');
	for (i = 0; depth > 0 && i < count; i++) {
		const struct field *field = &message->fields[i];

		if (!(field->flags & FIELD_REQUIRED) && below(count) >= n)
			continue;
		buf_printf(out, "%s: ", field->name);
		put_value(out, field, depth);
		buf_puts(out, ", ");
	}
	buf_putc(out, '}');
}

static bool has_word(const char *line, size_t len, const char *word)
{
	if (!len)
		return false;
	return memmem(line, len, word, strlen(word)) != NULL;
}

/* Adds a field below the line, if there is one, with the same indentation. */
static void put_field(struct buf *out, const struct buf *all, const char *line,
		      size_t len, size_t left)
{
	const struct message *message = NULL;
	const struct field *field;
	size_t i, indent = 0;

	while (len + indent < left && line[len + indent] == ' ')
		indent++;
	if (has_word(line, len, "trainingInput:"))
		message = &message_training_input;
	else if (has_word(line, len, "jobrun:"))
		message = &message_jobrun;
	for (i = 0; !message && providers[i]; i++)
		if (has_word(line, len, providers[i]->name))
			message = providers[i]->block;
	if (!message || !indent)
		return;
	field = any_field(message);
	if (has_word(all->data, all->len, field->name))
		return;
	buf_printf(out, "%*s%s: ", (int)indent, "", field->name);
	put_value(out, field, 4);
	buf_putc(out, '\n');
}

static const char *any_provider(void)
{
	size_t n = 0;

	while (providers[n])
		n++;
	return providers[below(n)]->name;
}

static void put_changed(struct buf *out, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);

	switch (below(16)) {
	case 0: /* another byte */
		if (len < 2)
			break;
		buf_add(out, line, len / 2);
		buf_putc(out, (char)below(256));
		line += len / 2 + 1;
		len -= len / 2 + 1;
		break;
	case 1: /* the line again */
		buf_add(out, line, len);
		break;
	case 2: /* deeper, or less so */
		if (below(2))
			buf_putc(out, ' ');
		else if (*line == ' ')
			line++, len--;
		break;
	case 3:
	case 4:
	case 5: /* it goes */
		return;
	default: /* another value */
		if (!colon)
			break;
		buf_add(out, line, (size_t)(colon - line) + 1);
		if (has_word(line, len, "provider:"))
			buf_printf(out, " %s\n", any_provider());
		else
			buf_printf(out, " %s\n",
				   any(below(3) ? words : numbers));
		return;
	}
	buf_add(out, line, len);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed)
{
	const char *p = (const char *)data, *end = p + size;
	struct buf out = { 0 }, all = { 0 };
	size_t lines = 1, i, len;

	state = seed;
	buf_add(&all, data, size);
	for (i = 0; i < size; i++)
		lines += data[i] == '\n';
	for (; p < end; p += len) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		len = stop ? (size_t)(stop - p) + 1 : (size_t)(end - p);
		if (below(lines) < 1)
			put_changed(&out, p, len);
		else
			buf_add(&out, p, len);
		if (below(2))
			put_field(&out, &all, p, len, (size_t)(end - p));
	}
	if (!has_word(out.data, out.len, "jobrun") && below(2))
		buf_printf(&out, "jobrun:\n  provider: %s\n", any_provider());
	buf_done(&all);
	len = out.len < max ? out.len : max;
	if (len)
		memcpy(data, out.data, len);
	buf_done(&out);
	return len;
}
