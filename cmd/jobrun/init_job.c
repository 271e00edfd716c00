/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/init_job.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/import_file.h"
#include "cmd/jobrun/ui/training_script.h"
#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/job/traits.h"
#include "providers/registry.h"

/* "src/train-big.py" gives "train_big". */
static char *name_of(const char *path)
{
	char *out = mem_strdup(path_base(path)), *p;

	out[strcspn(out, ".")] = '\0';
	for (p = out; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	if (!isalpha((unsigned char)*out)) {
		free(out);
		out = mem_strdup("train");
	}
	return out;
}

static bool has_jobs(const char *folder)
{
	char *jobs = path_join(folder, "jobs");
	bool out = access(jobs, F_OK) == 0;

	free(jobs);
	return out;
}

/* Adds a text in the quotes of YAML if it needs them. */
static void put_word(const char *word, struct buf *out)
{
	bool plain = isalnum((unsigned char)*word) &&
		     !word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789"
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ_./-")];
	const char *p;

	if (plain) {
		buf_puts(out, word);
		return;
	}
	buf_putc(out, '\'');
	for (p = word; *p; p++)
		buf_puts(out, *p == '\'' ? "''" : (char[]){ *p, '\0' });
	buf_putc(out, '\'');
}

/* Lists the providers that a user may choose. */
static void put_providers(struct buf *out)
{
	size_t i;

	for (i = 0; providers[i]; i++)
		if (!(providers[i]->traits & TRAIT_HIDDEN))
			buf_printf(out, "%s%s", out->len ? ", " : "",
				   providers[i]->name);
}

static int choose_provider(struct app *app, const char *given, char **out,
			   struct error *err)
{
	struct buf question = { 0 }, names = { 0 };
	int ret = 0;

	put_providers(&names);
	buf_printf(&question, "Where does it run? (%s)", buf_text(&names));
	*out = given ? mem_strdup(given)
		     : app_ask(app, buf_text(&question), providers[0]->name);
	if (!provider_find(*out))
		ret = error_set(err, ERROR_USAGE,
				"unknown provider '%s'; choose one of %s", *out,
				buf_text(&names));
	buf_done(&question);
	buf_done(&names);
	return ret;
}

static void put_job(const struct training_script *script, const char *name,
		    const char *provider, struct buf *out)
{
	buf_puts(out, "# yaml-language-server: $schema=../job.schema.json\n#\n"
		      "# What a field means: jobrun explain "
		      "trainingInput.scaleTier\n");
	buf_printf(out, "jobId: %s\ntrainingInput:\n  scaleTier: BASIC\n",
		   name);
	buf_printf(out, "jobrun:\n  provider: %s\n  source: ..\n", provider);
	buf_puts(out, "  command: [python3, -u, ");
	put_word(script->path, out);
	buf_puts(out, "]\n");
	if (script->is_distributed)
		buf_puts(out, "  # One process per GPU:\n"
			      "  # processesPerHost: device\n");
}

static int from_script(struct app *app, const char *folder,
		       const struct init_job *how, char **name,
		       struct buf *text, struct error *err)
{
	struct arena *mem = arena_new();
	struct training_script script;
	char *path = NULL, *provider = NULL;
	bool found = !how->script && !has_jobs(folder) &&
		     training_script_find(folder, mem, &script);
	int ret = 1;

	if (how->script)
		path = mem_strdup(how->script);
	else if (found)
		path = app_ask(app, "Which script trains?", script.path);
	if (!path && how->provider)
		ret = error_set(err, ERROR_USAGE,
				"--provider is for the job of a script: name "
				"that with --script");
	if (!path)
		goto out;
	ret = -1;
	if (!training_script_look(folder, path, mem, &script)) {
		error_set(err, ERROR_USAGE, "cannot read the script '%s'",
			  path);
		goto out;
	}
	app_say(app, "%s trains%s%s", script.path,
		script.framework ? " with " : "",
		script.framework ? script.framework : "");
	if (choose_provider(app, how->provider, &provider, err) < 0)
		goto out;
	*name = name_of(path);
	put_job(&script, *name, provider, text);
	ret = 0;
out:
	free(provider);
	free(path);
	arena_free(mem);
	return ret;
}

/* The folder of the job files as an absolute path; it may not be there yet. */
static char *jobs_folder(const char *folder)
{
	char clean[PATH_MAX];
	char *top = realpath(*folder ? folder : ".", NULL), *out;

	if (!top)
		top = path_absolute(path_clean(folder, clean) ? folder : clean);
	out = path_join(top, "jobs");
	free(top);
	return out;
}

static int from_file(struct app *app, const char *folder,
		     const struct init_job *how, char **name, struct buf *text,
		     struct error *err)
{
	char *jobs;
	int ret;

	if (how->script || how->provider)
		return error_set(err, ERROR_USAGE,
				 "--from takes the script and the provider "
				 "from its file: leave out --%s",
				 how->script ? "script" : "provider");
	jobs = jobs_folder(folder);
	ret = import_file(app, how->from, jobs, text, err);
	if (ret == 0)
		*name = name_of(how->from);
	free(jobs);
	return ret;
}

int init_job_make(struct app *app, const char *folder,
		  const struct init_job *how, char **name, struct buf *text,
		  struct error *err)
{
	return how->from ? from_file(app, folder, how, name, text, err)
			 : from_script(app, folder, how, name, text, err);
}
