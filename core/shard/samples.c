/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/data/sample_key.h"

struct samples *samples_new(void)
{
	struct samples *all = mem_alloc(sizeof(*all));

	all->mem = arena_new();
	return all;
}

void samples_free(struct samples *all)
{
	size_t i;

	if (!all)
		return;
	for (i = 0; i < all->source_count; i++)
		if (all->sources[i].folder >= 0)
			close(all->sources[i].folder);
	free(all->sources);
	free(all->files);
	free(all->items);
	free(all->classes);
	arena_free(all->mem);
	free(all);
}

/* ---- adding ------------------------------------------------------------ */

uint32_t samples_add_source(struct samples *all, enum source_kind kind,
			    const char *path, int folder)
{
	all->sources = mem_grow(all->sources, all->source_count + 1,
				sizeof(*all->sources));
	all->sources[all->source_count] = (struct sample_source){
		.kind = kind,
		.path = arena_strdup(all->mem, path),
		.folder = folder,
	};
	return (uint32_t)all->source_count++;
}

void samples_skip(struct samples *all, enum skip why, const char *path)
{
	struct skipped *skipped = &all->skipped[why];

	if (!skipped->count++)
		skipped->first = arena_strdup(all->mem, path);
}

static bool is_hidden(const char *path)
{
	return path[0] == '.' || strstr(path, "/.");
}

static enum skip why_skipped(const char *path)
{
	if (is_hidden(path))
		return SKIP_HIDDEN;
	if (sample_path_is_meta(path))
		return SKIP_META;
	return sample_path_is_reserved(path) ? SKIP_RESERVED : SKIP_NO_DOT;
}

void samples_add_file(struct samples *all, const struct sample_file *file)
{
	size_t key_len = sample_key_len(file->name);

	if (!key_len || is_hidden(file->name)) {
		samples_skip(all, why_skipped(file->name), file->name);
		return;
	}
	if (all->file_count == all->file_size) {
		all->file_size = all->file_size ? all->file_size * 2 : 1024;
		all->files = mem_grow(all->files, all->file_size,
				      sizeof(*all->files));
	}
	all->files[all->file_count] = *file;
	all->files[all->file_count++].key_len = (uint32_t)key_len;
}

/* ---- names ------------------------------------------------------------- */

static bool same_key(const struct sample_file *a, const struct sample_file *b)
{
	return a->key_len == b->key_len &&
	       !memcmp(a->name, b->name, a->key_len);
}

/* Compares keys, a shorter one first, then the rest of the names. */
static int compare_names(const struct sample_file *a,
			 const struct sample_file *b)
{
	size_t len = a->key_len < b->key_len ? a->key_len : b->key_len;
	int order = memcmp(a->name, b->name, len);

	if (order)
		return order;
	if (a->key_len != b->key_len)
		return a->key_len < b->key_len ? -1 : 1;
	return strcmp(a->name + len, b->name + len);
}

/* ---- classes ----------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* Finds the folder at the top of each file: all->classes, sorted, without
 * duplicates. */
static int find_classes(struct samples *all, struct error *err)
{
	const char *last = NULL;
	size_t i, n, kept = 0;

	for (i = 0; i < all->file_count; i++) {
		const char *name = all->files[i].name;

		n = strcspn(name, "/");
		if (!name[n])
			return error_set(err, ERROR_INVALID,
					 "'%s' is in no folder, so it has no "
					 "class",
					 name);
		/* Neighbours are mostly of the same class. */
		if (last && !strncmp(last, name, n) && !last[n])
			continue;
		last = arena_strndup(all->mem, name, n);
		all->classes = mem_grow(all->classes, all->class_count + 1,
					sizeof(*all->classes));
		all->classes[all->class_count++] = last;
	}
	if (all->class_count)
		qsort(all->classes, all->class_count, sizeof(*all->classes),
		      by_text);
	for (i = 0; i < all->class_count; i++)
		if (!i || strcmp(all->classes[i], all->classes[kept - 1]) != 0)
			all->classes[kept++] = all->classes[i];
	all->class_count = kept;
	return 0;
}

static size_t class_of(const struct samples *all, const char *name)
{
	size_t low = 0, high = all->class_count;
	size_t n = strcspn(name, "/");

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;
		const char *class = all->classes[middle];
		int order = strncmp(class, name, n);

		/* A longer name with the same beginning sorts after it. */
		if (order > 0 || (order == 0 && class[n]))
			high = middle;
		else
			low = middle;
	}
	return low;
}

static struct sample_file make_class(struct samples *all, uint32_t source,
				     const struct sample_file *of)
{
	struct sample_file file = *of;
	char text[24];

	file.offset = class_of(all, of->name);
	file.size_bytes = (uint64_t)snprintf(text, sizeof(text), "%llu",
					     (unsigned long long)file.offset);
	file.name =
		arena_printf(all->mem, "%.*s.cls", (int)of->key_len, of->name);
	file.source = source;
	return file;
}

int samples_add_classes(struct samples *all, struct error *err)
{
	struct sample_file *old = all->files, class = { 0 };
	size_t count = all->file_count, i;
	bool due = false; /* the class's file is not inserted yet */
	uint32_t source;

	if (find_classes(all, err) < 0)
		return -1;
	source = samples_add_source(all, SOURCE_CLASS, "", -1);
	all->files = NULL;
	all->file_count = all->file_size = 0;
	/* Inserted in between, so that sorted files stay sorted.  A sample
	 * whose files are scattered gets several: samples_order() keeps one. */
	for (i = 0; i < count; i++) {
		if (!i || !same_key(&old[i], &old[i - 1])) {
			class = make_class(all, source, &old[i]);
			due = true;
		}
		if (due && compare_names(&class, &old[i]) < 0) {
			samples_add_file(all, &class);
			due = false;
		}
		samples_add_file(all, &old[i]);
		if (due && (i + 1 == count || !same_key(&old[i], &old[i + 1])))
			samples_add_file(all, &class);
	}
	free(old);
	return 0;
}

/* ---- order ------------------------------------------------------------- */

/* A file and when it was added. */
struct placed {
	const struct sample_file *file;
	size_t at;
};

static int by_name(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = compare_names(x->file, y->file);

	/* Among equals, the first stays first. */
	return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* The position of a sample's first file, and where its files are now. */
struct begun {
	size_t at, first, count;
};

static int by_place(const void *a, const void *b)
{
	const struct begun *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int refuse_twin(const struct samples *all, const struct sample_file *a,
		       const struct sample_file *b, struct error *err)
{
	const struct sample_source *x = &all->sources[a->source];
	const struct sample_source *y = &all->sources[b->source];

	if (x->kind == SOURCE_CLASS || y->kind == SOURCE_CLASS)
		return error_set(err, ERROR_INVALID,
				 "'%s' exists already: a sample can have only "
				 "one class",
				 a->name);
	if (a->source == b->source)
		return error_set(err, ERROR_INVALID,
				 "'%s' has the file '%s' twice", x->path,
				 a->name);
	return error_set(err, ERROR_INVALID,
			 "'%s' is in '%s' and in '%s': make a set of each",
			 a->name, x->path, y->path);
}

/* Whether samples_add_classes() made both from one sample whose files are
 * scattered. */
static bool is_same_class(const struct samples *all,
			  const struct sample_file *a,
			  const struct sample_file *b)
{
	return all->sources[a->source].kind == SOURCE_CLASS &&
	       a->source == b->source;
}

static bool is_in_order(const struct samples *all)
{
	size_t i;

	for (i = 1; i < all->file_count; i++)
		if (compare_names(&all->files[i - 1], &all->files[i]) >= 0)
			return false;
	return true;
}

/* Sorts files by name; `begun` gets the samples, sorted by name. */
static int sort_files(struct samples *all, struct begun **begun,
		      struct error *err)
{
	struct placed *placed = mem_alloc(all->file_count * sizeof(*placed));
	struct sample_file *files = mem_alloc(all->file_count * sizeof(*files));
	size_t i, kept = 0, count = 0;
	int ret = 0;

	for (i = 0; i < all->file_count; i++)
		placed[i] = (struct placed){ &all->files[i], i };
	qsort(placed, all->file_count, sizeof(*placed), by_name);
	*begun = mem_alloc(all->file_count * sizeof(**begun));
	for (i = 0; i < all->file_count && ret == 0; i++) {
		const struct sample_file *file = placed[i].file;
		struct begun *last;

		if (kept && !compare_names(&files[kept - 1], file)) {
			if (!is_same_class(all, &files[kept - 1], file))
				ret = refuse_twin(all, &files[kept - 1], file,
						  err);
			continue;
		}
		if (!kept || !same_key(&files[kept - 1], file))
			(*begun)[count++] =
				(struct begun){ placed[i].at, kept, 0 };
		last = &(*begun)[count - 1];
		last->count++;
		if (placed[i].at < last->at)
			last->at = placed[i].at;
		files[kept++] = *file;
	}
	free(placed);
	free(all->files);
	all->files = files;
	all->file_count = all->file_size = kept;
	all->count = count;
	return ret;
}

/* Groups files that are already sorted, as those of one folder are. */
static void group(struct samples *all)
{
	struct sample *last = NULL;
	size_t i;

	all->items = mem_alloc(all->file_count * sizeof(*all->items));
	for (i = 0; i < all->file_count; i++) {
		if (!last || !same_key(&all->files[i - 1], &all->files[i])) {
			last = &all->items[all->count++];
			*last = (struct sample){ i, 0 };
		}
		last->count++;
	}
}

/* WebDataset lower-cases the part after a key. */
static int by_part(const void *a, const void *b)
{
	const struct sample_file *const *x = a, *const *y = b;

	return strcasecmp((*x)->name + (*x)->key_len,
			  (*y)->name + (*y)->key_len);
}

static bool has_upper(const struct sample_file *file)
{
	const char *p = file->name + file->key_len;

	while (*p && !(*p >= 'A' && *p <= 'Z'))
		p++;
	return *p;
}

/* Refuses two parts of a sample that are the same to WebDataset. */
static int check_parts(const struct samples *all, const struct sample *sample,
		       struct error *err)
{
	const struct sample_file **parts;
	bool any = false;
	size_t i;
	int ret = 0;

	for (i = 0; i < sample->count && !any; i++)
		any = has_upper(&all->files[sample->first + i]);
	if (!any)
		return 0;
	parts = mem_alloc(sample->count * sizeof(*parts));
	for (i = 0; i < sample->count; i++)
		parts[i] = &all->files[sample->first + i];
	qsort(parts, sample->count, sizeof(*parts), by_part);
	for (i = 1; i < sample->count && ret == 0; i++)
		if (!by_part(&parts[i - 1], &parts[i]))
			ret = error_set(err, ERROR_INVALID,
					"'%s' and '%s' are the same to "
					"WebDataset, which ignores case after "
					"the first dot",
					parts[i - 1]->name, parts[i]->name);
	free(parts);
	return ret;
}

static int check_all_parts(const struct samples *all, struct error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < all->count && ret == 0; i++)
		ret = check_parts(all, &all->items[i], err);
	return ret;
}

int samples_order(struct samples *all, struct error *err)
{
	struct begun *begun = NULL;
	int ret = 0;
	size_t i;

	if (!all->file_count)
		return error_set(err, ERROR_INVALID, "no samples");
	if (is_in_order(all)) {
		group(all);
		return check_all_parts(all, err);
	}
	ret = sort_files(all, &begun, err);
	if (ret == 0) {
		qsort(begun, all->count, sizeof(*begun), by_place);
		all->items = mem_alloc(all->count * sizeof(*all->items));
		for (i = 0; i < all->count; i++)
			all->items[i] = (struct sample){ begun[i].first,
							 begun[i].count };
	}
	free(begun);
	return ret == 0 ? check_all_parts(all, err) : ret;
}

/* ---- shuffling --------------------------------------------------------- */

/* SplitMix64 (Steele, Lea and Flood, 2014), as the order must be the same in
 * every version and on every machine. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A uniform number below `limit`: draws that would favour low numbers are
 * repeated. */
static uint64_t random_below(uint64_t *state, uint64_t limit)
{
	uint64_t unfair = -limit % limit;
	uint64_t value;

	do {
		value = next_random(state);
	} while (value < unfair);
	return value % limit;
}

void samples_shuffle(struct samples *all, uint64_t seed)
{
	uint64_t state = seed;
	size_t i;

	for (i = all->count; i > 1; i--) {
		size_t j = (size_t)random_below(&state, i);
		struct sample swap = all->items[i - 1];

		all->items[i - 1] = all->items[j];
		all->items[j] = swap;
	}
}
