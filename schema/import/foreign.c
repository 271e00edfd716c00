/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/import/foreign.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/check.h"
#include "core/job/traits.h"
#include "schema/write/yaml_write.h"
#include "schema/yaml/source_text.h"

/* What a task gets if a file says nothing. */
#define USUAL_CPUS 4

static const struct foreign_form *const forms[] = {
	&foreign_job,    &foreign_jobset, &foreign_trainjob,
	&foreign_sbatch, &foreign_dstack, &foreign_sky,
};

/* ---- taking ------------------------------------------------------------ */

json_t *foreign_take_key(json_t *map, const char *key)
{
	json_t *value = json_incref(json_object_get(map, key));

	json_object_del(map, key);
	return value;
}

json_t *foreign_take(json_t *map, const char *path)
{
	const char *dot = strchr(path, '.');

	while (dot) {
		char *word = mem_printf("%.*s", (int)(dot - path), path);

		map = json_object_get(map, word);
		free(word);
		path = dot + 1;
		dot = strchr(path, '.');
	}
	return foreign_take_key(map, path);
}

bool foreign_text(const json_t *value, char *out, size_t size)
{
	if (json_is_string(value))
		snprintf(out, size, "%s", json_string_value(value));
	else if (json_is_integer(value))
		snprintf(out, size, "%lld",
			 (long long)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(out, size, "%.15g", json_real_value(value));
	else
		return false;
	return true;
}

void foreign_move(struct foreign *foreign, json_t *map, const char *path,
		  const char *field)
{
	json_t *value = foreign_take(map, path);

	if (value && !json_is_null(value))
		import_set(foreign->import->job, field, json_incref(value));
	json_decref(value);
}

void foreign_move_own(struct foreign *foreign, json_t *map, const char *path,
		      const char *field)
{
	char *whole = mem_printf("jobrun.%s.%s", foreign->block, field);

	foreign_move(foreign, map, path, whole);
	free(whole);
}

/* ---- putting ----------------------------------------------------------- */

void foreign_name(struct foreign *foreign, json_t *name)
{
	char text[JOB_ID_MAX + 1] = "", id[JOB_ID_MAX + 8];
	size_t i, n;

	if (!foreign_text(name, text, sizeof(text)) || !*text)
		snprintf(text, sizeof(text), "job");
	n = (size_t)snprintf(id, sizeof(id), "%s%s",
			     isalpha((unsigned char)*text) ? "" : "job_", text);
	for (i = 0; i < n; i++)
		if (!isascii((unsigned char)id[i]) ||
		    !isalnum((unsigned char)id[i]))
			id[i] = '_';
	id[JOB_ID_MAX] = '\0';
	import_set(foreign->import->job, "jobId", json_text(id));
	json_decref(name);
}

void foreign_pool_set(struct foreign *foreign, size_t role, const char *field,
		      json_t *value)
{
	static const char *const roles[FOREIGN_ROLES] = { "master", "worker",
							  "parameterServer",
							  "evaluator" };
	char *path = mem_printf(FOREIGN_IN "%s%s", roles[role], field);

	if (value)
		import_set(foreign->import->job, path, value);
	free(path);
}

/* Shortens a name such as "NVIDIA_H100_80GB" to the letters and digits that
 * users write; without `all`, to those before a separator after a digit:
 * "h100". */
static void plain_name(const char *name, bool all, char out[64])
{
	static const char *const words[] = { "nvidia", "tesla", "amd",
					     "instinct" };
	size_t i, n = 0;

	for (i = 0; i < COUNT(words); i++) {
		size_t len = strlen(words[i]);

		if (!strncasecmp(name, words[i], len) && name[len] &&
		    strchr("-_ ", name[len]))
			name += len + 1;
	}
	for (; *name && n < 63; name++)
		if (isalnum((unsigned char)*name))
			out[n++] = (char)tolower((unsigned char)*name);
		else if (!all && n && strpbrk(name, "0123456789"))
			break;
	out[n] = '\0';
}

const char *foreign_accelerator(const struct foreign *foreign, const char *name)
{
	const struct catalogue *all = foreign->catalogue;
	char want[64], have[64];
	int round;
	size_t i;

	/* Compare the whole name first, then the model.  If several match, the
	 * first is the usual one. */
	for (round = 0; round < 2; round++)
		for (i = 0; i < all->accelerator_count; i++) {
			plain_name(name, true, want);
			if (!round)
				plain_name(all->accelerators[i].type, true,
					   have);
			else
				catalogue_model(all, all->accelerators[i].type,
						have, sizeof(have));
			if (*want && !strcmp(want, have))
				return all->accelerators[i].type;
		}
	return NULL;
}

/* Whether the machine has exactly the pool's accelerators built in, or none and
 * enough CPUs and memory. */
static bool fits(const struct machine *machine, const struct foreign_pool *pool,
		 bool built_in)
{
	if (built_in)
		return machine->accelerator_type &&
		       !strcmp(machine->accelerator_type, pool->accelerator) &&
		       (long)machine->accelerator_count == pool->accelerators;
	return !machine->accelerator_type && !machine->tpu_chips &&
	       machine->vcpus >= pool->cpus &&
	       machine->memory_gb >= pool->memory_gb;
}

static const char *machine_for(const struct catalogue *all,
			       const struct foreign_pool *pool, bool built_in)
{
	const struct machine *best = NULL;
	size_t i, k;

	for (i = 0; i < all->family_count; i++)
		for (k = 0; k < all->families[i].machine_count; k++) {
			const struct machine *one =
				&all->families[i].machines[k];

			if (!all->families[i].legacy &&
			    fits(one, pool, built_in) &&
			    (!best || one->vcpus < best->vcpus ||
			     (one->vcpus == best->vcpus &&
			      one->memory_gb < best->memory_gb)))
				best = one;
		}
	return best ? best->name : NULL;
}

/* Says why a machine type was chosen, which the file does not name. */
static void note_machine(struct foreign *foreign,
			 const struct foreign_pool *pool, const char *type,
			 bool built_in)
{
	struct buf text = { 0 };

	if (built_in)
		buf_printf(&text, "%ld x %s", pool->accelerators,
			   pool->accelerator);
	else if (pool->cpus)
		buf_printf(&text, "%g CPUs or more", pool->cpus);
	if (!built_in && pool->memory_gb)
		buf_printf(&text, "%s%g GB or more", text.len ? ", and " : "",
			   pool->memory_gb);
	if (text.len)
		import_note(foreign->import,
			    "%s is the smallest machine type with %s", type,
			    buf_text(&text));
	else
		import_note(foreign->import,
			    "%s is a guess: the file names no machine type, "
			    "CPUs or memory",
			    type);
	buf_done(&text);
}

/* Returns a type without accelerators; a small one, which is said to be lost,
 * if none is large enough. */
static const char *plain_machine(struct foreign *foreign,
				 const struct foreign_pool *pool)
{
	struct foreign_pool want = *pool;
	const char *type;

	if (!want.cpus && !want.memory_gb)
		want.cpus = USUAL_CPUS;
	type = machine_for(foreign->catalogue, &want, false);
	if (type) {
		note_machine(foreign, pool, type, false);
		return type;
	}
	want = (struct foreign_pool){ .cpus = USUAL_CPUS };
	type = machine_for(foreign->catalogue, &want, false);
	import_loss(foreign->import,
		    "%s: no machine type of the catalogue has %g CPUs and %g "
		    "GB: %s",
		    foreign->file, pool->cpus, pool->memory_gb,
		    type ? type : "none");
	return type;
}

void foreign_pool_put(struct foreign *foreign, const struct foreign_pool *pool)
{
	const char *type = NULL;

	if (pool->accelerator)
		type = machine_for(foreign->catalogue, pool, true);
	if (type) {
		note_machine(foreign, pool, type, true);
	} else {
		if (pool->accelerator) {
			foreign_pool_set(foreign, pool->role,
					 "Config.acceleratorConfig.count",
					 json_integer(pool->accelerators));
			foreign_pool_set(foreign, pool->role,
					 "Config.acceleratorConfig.type",
					 json_text(pool->accelerator));
		}
		type = plain_machine(foreign, pool);
	}
	if (type)
		foreign_pool_set(foreign, pool->role, "Type", json_text(type));
	if (pool->role)
		foreign_pool_set(foreign, pool->role, "Count",
				 json_integer(pool->count));
}

double foreign_gb(const char *text, double plain)
{
	char *end;
	double number = strtod(text, &end);

	switch (toupper((unsigned char)*end)) {
	case 'K':
		return number / 1e6;
	case 'M':
		return number / 1e3;
	case 'G':
		return number;
	case 'T':
		return number * 1e3;
	default:
		return number * plain;
	}
}

json_t *foreign_shell(const char *text)
{
	return json_pack("[s,s,s]", "bash", "-c", text);
}

/* ---- what is left ------------------------------------------------------ */

/* Whether a value of that name may be a secret, which a job file must not
 * have. */
static bool is_secret(const char *path)
{
	static const char *const words[] = {
		"secret", "password", "token", "credential", "_auth", "_key",
	};
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (strcasestr(path, words[i]))
			return true;
	return false;
}

bool foreign_has_secret(const json_t *value, const char *path)
{
	const char *key;
	json_t *item;
	size_t i;

	if (is_secret(path))
		return true;
	json_object_foreach((json_t *)value, key, item)
	{
		if (foreign_has_secret(item, key))
			return true;
	}
	json_array_foreach(value, i, item)
	{
		if (foreign_has_secret(item, ""))
			return true;
	}
	return false;
}

static void lose_value(struct foreign *foreign, const json_t *value,
		       const char *path)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY);

	if (is_secret(path))
		import_loss(foreign->import,
			    "%s:%lld: %s: its value may be a secret, and is "
			    "not copied; jobrun.secrets says where to read one",
			    foreign->file,
			    json_get_int(foreign->lines, path, 1), path);
	else
		import_loss(foreign->import,
			    "%s:%lld: %s=%.80s: no field for it", foreign->file,
			    json_get_int(foreign->lines, path, 1), path,
			    text ? text : "");
	free(text);
}

static void lose(struct foreign *foreign, const json_t *value, const char *path)
{
	const char *key;
	json_t *item;
	char *below;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, key, item)
		{
			below = mem_printf("%s%s%s", path, *path ? "." : "",
					   key);
			lose(foreign, item, below);
			free(below);
		}
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, item)
		{
			below = mem_printf("%s.%zu", path, i);
			lose(foreign, item, below);
			free(below);
		}
	} else if (!json_is_null(value) || is_secret(path)) {
		lose_value(foreign, value, path);
	}
}

/* ---- files ------------------------------------------------------------- */

static const struct import_place *place_of(const struct foreign_form *form,
					   const struct import_place *places)
{
	for (; form->traits && places->name; places++)
		if (traits_have(places->traits, form->traits) &&
		    !(places->traits & (form->unless | TRAIT_HIDDEN)))
			return places;
	return NULL;
}

/* Keeps the directory of the source where the job file will be elsewhere. */
static void move_source(const struct foreign *foreign,
			const struct foreign_form *form)
{
	json_t *job = foreign->import->job;
	const char *source =
		json_string_value(import_get(job, "jobrun.source"));
	char *beside, *home, *from, *to;
	size_t len;

	if (!source && form->at_home)
		source = ".";
	if (!source || *source == '/' || *source == '~')
		return;
	beside = path_folder(foreign->file);
	home = realpath(beside, NULL);
	from = mem_printf("%s/%s/", home ? home : beside,
			  strcmp(source, ".") != 0 ? source : "");
	for (len = strlen(from); len > 1 && from[len - 2] == '/'; len--)
		from[len - 1] = '\0';
	to = path_relative(foreign->folder, from);
	for (len = strlen(to); len > 1 && to[len - 1] == '/'; len--)
		to[len - 1] = '\0';
	import_set(job, "jobrun.source", json_text(*to ? to : "."));
	free(to);
	free(from);
	free(home);
	free(beside);
}

static int take_form(struct foreign *foreign, const struct foreign_form *form,
		     const struct import_place *places, struct buf *out,
		     struct error *err)
{
	struct import *import = foreign->import;
	const struct import_place *place;
	json_t *typed;
	json_t *note;
	size_t i;
	int ret;

	place = place_of(form, places);
	if (place) {
		foreign->block = place->name;
		foreign->fields = place->block;
	}
	if (foreign->block)
		import_set(import->job, "jobrun.provider",
			   json_text(foreign->block));
	else
		import_note(import, "jobrun.provider sets where it runs; by "
				    "default on this machine");
	import_set(import->job, "trainingInput.scaleTier", json_text("CUSTOM"));
	if (form->take(foreign, err) < 0)
		return error_prefix(err, "'%s'", foreign->file);
	if (foreign->folder)
		move_source(foreign, form);
	lose(foreign, foreign->value, "");
	buf_printf(out, "# From %s, %s\n", foreign->file, form->name);
	json_array_foreach(import->notes, i, note)
		buf_printf(out, "# %s\n", json_string_value(note));
	typed = import_typed(import->job);
	ret = yaml_write(typed, out, err);
	json_decref(typed);
	return ret;
}

static const struct foreign_form *form_of(const json_t *value)
{
	size_t i;

	for (i = 0; i < COUNT(forms); i++)
		if (!forms[i]->text == !json_object_get(value, "#text") &&
		    forms[i]->is(value))
			return forms[i];
	return NULL;
}

/* Returns the documents of the file; a script is one document with its text. */
static json_t *read_documents(const char *path, struct problems *found,
			      struct error *err)
{
	size_t len;
	char *data = file_read_argument(path, SOURCE_SIZE_MAX, &len, err);
	json_t *out;

	if (!data)
		return NULL;
	if (strncmp(data, "#!", 2) != 0)
		return import_documents(path, data, len, found, err);
	out = json_pack("[{s:{s:o},s:{}}]", "value", "#text", json_text(data),
			"lines");
	free(data);
	return out;
}

int import_foreign(const char *path, const char *folder,
		   const struct import_place *places,
		   const struct catalogue *catalogue, struct problems *found,
		   struct buf *out, struct error *err)
{
	json_t *documents = read_documents(path, found, err), *document;
	int lost = 0;
	size_t i;

	if (!documents)
		return -1;
	json_array_foreach(documents, i, document)
	{
		struct import import = { .job = json_object(),
					 .notes = json_array(),
					 .found = found };
		struct foreign foreign = {
			.import = &import,
			.catalogue = catalogue,
			.file = path,
			.folder = folder,
			.value = json_object_get(document, "value"),
			.lines = json_object_get(document, "lines"),
		};
		const struct foreign_form *form = form_of(foreign.value);

		if (i)
			buf_puts(out, "---\n");
		if (!form)
			lost = error_set(err, ERROR_INVALID,
					 "'%s' is not a Kubernetes Job, JobSet "
					 "or TrainJob, an sbatch script, or a "
					 "task of SkyPilot or dstack",
					 path);
		else if (take_form(&foreign, form, places, out, err) < 0)
			lost = -1;
		else
			lost += (int)import.lost;
		json_decref(import.job);
		json_decref(import.notes);
		json_decref(foreign.shared);
		if (lost < 0)
			break;
	}
	json_decref(documents);
	return lost;
}
