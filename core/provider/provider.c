/* SPDX-License-Identifier: Apache-2.0 */
#include "core/provider/provider.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/provider/listing.h"
#include "core/topology/topology_read.h"

void run_status_set_digests(struct run_status *run, const char *digest,
			    const char *digest2)
{
	snprintf(run->digest.hex, sizeof(run->digest.hex), "%s",
		 digest ? digest : "");
	snprintf(run->digest2.hex, sizeof(run->digest2.hex), "%s",
		 digest2 ? digest2 : "");
}

void run_status_set_origin(struct run_status *run, const char *origin)
{
	snprintf(run->origin, sizeof(run->origin), "%s", origin ? origin : "");
}

struct resources *resources_new(void)
{
	struct resources *all = mem_alloc(sizeof(*all));

	all->mem = arena_new();
	return all;
}

void resources_free(struct resources *all)
{
	size_t i;

	if (!all)
		return;
	for (i = 0; i < all->count; i++) {
		json_decref(all->items[i]->properties);
		json_decref(all->items[i]->request);
	}
	arena_free(all->mem);
	free(all);
}

/*
 * Returns `items` with room for one more behind `count` pointers.  The array
 * doubles when the count is a power of two, so its size need not be stored; the
 * outgrown arrays stay in the arena and take less space than the last one.
 */
static void *room(struct arena *mem, void *items, size_t count)
{
	void *larger;

	if (count & (count - 1))
		return items;
	larger = arena_alloc(mem, (count ? 2 * count : 1) * sizeof(void *));
	if (count)
		memcpy(larger, items, count * sizeof(void *));
	return larger;
}

struct resource *resources_add(struct resources *all, const struct kind *kind,
			       const char *name, const struct job *job)
{
	struct resource *resource = arena_alloc(all->mem, sizeof(*resource));

	resource->kind = kind;
	resource->name = arena_strdup(all->mem, name);
	resource->job = job;
	resource->index = all->count;
	all->items = room(all->mem, all->items, all->count);
	all->items[all->count++] = resource;
	return resource;
}

void resource_needs(struct resources *all, struct resource *later,
		    const struct resource *before)
{
	size_t i;

	assert(all->items[later->index] == later);
	assert(all->items[before->index] == before);
	for (i = 0; i < later->need_count; i++)
		if (later->needs[i] == before)
			return;
	later->needs = room(all->mem, later->needs, later->need_count);
	later->needs[later->need_count++] = before;
}

__attribute__((format(printf, 4, 0))) static void
add_text(struct resources *all, const char ***texts, size_t *count,
	 const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		return;
	*texts = room(all->mem, *texts, *count);
	(*texts)[(*count)++] = arena_strdup(all->mem, text);
	free(text);
}

void resources_miss(struct resources *all, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_text(all, &all->missing, &all->missing_count, format, args);
	va_end(args);
}

void resources_note(struct resources *all, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_text(all, &all->notes, &all->note_count, format, args);
	va_end(args);
}

void resources_unknown(struct resources *all, const char *format, ...)
{
	const char **texts = NULL;
	size_t count = 0;
	va_list args;

	va_start(args, format);
	add_text(all, &texts, &count, format, args);
	va_end(args);
	all->unknown = texts[0];
}

/* The fields that a provider does not use, for one reason: notes name fields of
 * the same reason together. */
struct unused_reason {
	const char *why; /* "not used: ..."; "": nothing is said */
	const char *fields;
	size_t count;
};

struct unused {
	struct resources *all;
	const struct provider *provider;
	struct unused_reason *reasons;
	size_t count;
};

bool use_is_none(const char *use)
{
	return !*use || text_starts(use, USE_NOT_USED) ||
	       text_starts(use, USE_LEFT_OUT);
}

const char *provider_use(const struct provider *provider, const char *path,
			 bool honoured)
{
	const struct field_use *use, *best = NULL;
	bool below = false;

	if (!provider->uses)
		return honoured ? USE_AS_DOCUMENTED : "";
	for (use = provider->uses; use->path; use++) {
		if (text_is_within(path, use->path, '.') &&
		    (!best || strlen(use->path) > strlen(best->path)))
			best = use;
		if (use->doc && text_is_within(use->path, path, '.'))
			below = true;
	}
	if (best && best->doc && !strcmp(best->path, path))
		return best->doc;
	if (!honoured)
		return "";
	if (best && best->doc)
		return best->doc;
	return below ? USE_SEE_FIELDS : "";
}

/* Whether a note begins with the field. */
static bool is_noted(const struct resources *all, const char *path)
{
	size_t i, len = strlen(path);

	for (i = 0; i < all->note_count; i++)
		if (text_starts(all->notes[i], path) &&
		    all->notes[i][len] == ' ')
			return true;
	return false;
}

static void add_unused(struct unused *unused, const char *path, const char *why)
{
	struct unused_reason *at = unused->reasons;
	struct unused_reason *end = at + unused->count;

	while (at < end && strcmp(at->why, why) != 0)
		at++;
	if (at == end) {
		unused->reasons = mem_grow(unused->reasons, unused->count + 1,
					   sizeof(*unused->reasons));
		at = &unused->reasons[unused->count++];
		*at = (struct unused_reason){ .why = why, .fields = "" };
	}
	at->fields = arena_printf(unused->all->mem, "%s%s%s", at->fields,
				  at->count ? ", " : "", path);
	at->count++;
}

/* Collects a field with the reason that `explain` gives, too. */
static bool visit_field(void *ctx, const char *path, bool honoured)
{
	struct unused *unused = ctx;
	const char *use = provider_use(unused->provider, path, honoured);

	if (!use_is_none(use))
		return true;
	if (!is_noted(unused->all, path))
		add_unused(unused, path, use);
	return false;
}

void resources_note_unused(struct resources *all, const struct job *job,
			   const struct provider *provider)
{
	struct unused unused = { .all = all, .provider = provider };
	size_t i;

	message_visit(job->message, job, "", provider->traits, visit_field,
		      &unused);
	for (i = 0; i < unused.count; i++) {
		const struct unused_reason *one = &unused.reasons[i];
		const char *is = one->count > 1 ? "are" : "is";

		if (*one->why)
			resources_note(all, "%s %s %s", one->fields, is,
				       one->why);
		else
			resources_note(all, "%s %s not used by provider %s",
				       one->fields, is, provider->name);
	}
	free(unused.reasons);
}

void places_add(struct places *places, struct arena *mem, const char *place)
{
	size_t i;

	/* The list is short, so a linear search will do. */
	for (i = 0; i < places->count; i++)
		if (!strcmp(places->items[i], place))
			return;
	places->items = mem_grow(places->items, places->count + 1,
				 sizeof(*places->items));
	places->items[places->count++] = arena_strdup(mem, place);
}

const char *provider_unseen(const struct provider *provider,
			    const struct job *job,
			    const struct boundary *boundary, struct arena *mem)
{
	if (!boundary || !provider->contacts)
		return NULL;
	return provider->contacts(job, boundary, mem);
}

void places_add_job(struct places *places, struct arena *mem,
		    const struct provider *provider,
		    const struct boundary *boundary, const struct job *job)
{
	const char *place;

	if (!provider->place ||
	    strcmp(job->jobrun.provider, provider->name) != 0 ||
	    provider_unseen(provider, job, boundary, mem))
		return;
	place = provider->place(job, mem);
	if (place)
		places_add(places, mem, place);
}

void places_done(struct places *places)
{
	free(places->items);
	*places = (struct places){ 0 };
}

static int list_place(const struct provider *provider, void *ctx,
		      const char *place, struct listing *out, struct error *err)
{
	const struct kind *const *kind;

	for (kind = provider->kinds; *kind; kind++)
		if ((*kind)->list && (*kind)->list(ctx, place, out, err) < 0)
			return error_prefix(err, "list each %s of provider %s",
					    (*kind)->name, provider->name);
	return 0;
}

void provider_list(const struct provider *provider, void *ctx,
		   const struct places *places, struct listing *out)
{
	struct error why;
	size_t i;

	if (list_place(provider, ctx, NULL, out, &why) < 0)
		listing_add_unreached(out, NULL, &why);
	for (i = 0; i < places->count; i++)
		if (list_place(provider, ctx, places->items[i], out, &why) < 0)
			listing_add_unreached(out, places->items[i], &why);
	listing_sort(out, provider->kinds);
}

void leftovers_add(struct leftovers *all, const struct leftover *one)
{
	struct leftover *to;

	if (all->count == all->room) {
		all->room = all->room ? 2 * all->room : 16;
		all->items =
			mem_grow(all->items, all->room, sizeof(*all->items));
	}
	to = &all->items[all->count++];
	*to = *one;
	to->what = arena_strdup(all->mem, one->what);
	to->name = arena_strdup(all->mem, one->name);
	to->why = arena_strdup(all->mem, one->why);
	to->job_id = one->job_id ? arena_strdup(all->mem, one->job_id) : NULL;
	to->key = one->key ? arena_strdup(all->mem, one->key) : NULL;
}

static struct resource *found_new(const struct resources *all)
{
	struct resource *found = mem_alloc(all->count * sizeof(*found));
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct resource *want = all->items[i];

		found[i].kind = want->kind;
		found[i].name = want->name;
		found[i].job = want->job;
		found[i].place = want->place;
		found[i].index = i;
	}
	return found;
}

struct resource *resources_unseen(const struct resources *all)
{
	struct resource *found = found_new(all);
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct resource *want = all->items[i];

		found[i].unseen = true;
		if (want->kind->adapt)
			want->kind->adapt(want, &found[i]);
	}
	return found;
}

struct resource *resources_read(const struct resources *all, void *ctx,
				struct error *err)
{
	struct resource *found = found_new(all);
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct resource *want = all->items[i];

		if (want->kind->read(ctx, want, &found[i], err) < 0) {
			error_prefix(err, "read %s '%s'", want->kind->name,
				     want->name);
			resources_forget(found, all->count);
			return NULL;
		}
		if (want->kind->adapt)
			want->kind->adapt(want, &found[i]);
	}
	return found;
}

static void say_all(struct resources *all, const json_t *outputs,
		    const char *key,
		    void (*say)(struct resources *all, const char *format, ...))
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(outputs, key), i, one)
		say(all, "%s", json_string_value(one));
}

void resources_say_found(struct resources *all, const struct resource *found)
{
	size_t before, i;

	for (i = 0; i < all->count; i++) {
		before = all->missing_count;
		say_all(all, found[i].outputs, OUTPUT_MISSING, resources_miss);
		all->denied_count += all->missing_count - before;
		say_all(all, found[i].outputs, OUTPUT_NOTES, resources_note);
	}
}

bool resource_is_held(const struct resource *resource)
{
	return json_object_get(resource->outputs, OUTPUT_HELD);
}

const char *resource_held_why(const struct resource *resource)
{
	const json_t *notes = json_object_get(resource->outputs, OUTPUT_NOTES);

	return resource_is_held(resource)
		       ? json_string_value(json_array_get(notes, 0))
		       : NULL;
}

void resource_found(struct resource *found, json_t *properties,
		    const char *digest, const char *digest2, const char *why)
{
	found->exists = true;
	found->properties = properties ? properties : json_object();
	run_status_set_digests(&found->run, digest, digest2);
	snprintf(found->run.error, sizeof(found->run.error), "%s",
		 why ? why : "");
}

void resources_forget(struct resource *observed, size_t count)
{
	size_t i;

	for (i = 0; observed && i < count; i++) {
		json_decref(observed[i].properties);
		json_decref(observed[i].outputs);
	}
	free(observed);
}

bool provider_makes_for_runs(const struct provider *provider)
{
	const struct kind *const *kind;

	for (kind = provider->kinds; *kind; kind++)
		if ((*kind)->flags & KIND_FOR_RUN)
			return true;
	return false;
}

const struct kind *provider_run_kind(const struct provider *provider)
{
	const struct kind *const *kind;

	for (kind = provider->kinds; *kind; kind++)
		if ((*kind)->flags & KIND_RUN)
			return *kind;
	return NULL;
}

void provider_readers(const struct provider *const *all,
		      struct topology_readers *out)
{
	*out = (struct topology_readers){ 0 };
	for (; *all; all++)
		if ((*all)->reader)
			topology_readers_add(out, (*all)->reader);
}
