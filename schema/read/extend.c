/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/extend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/beneath.h"
#include "core/base/file.h"
#include "schema/read/merge.h"
#include "schema/read/node_reader.h"
#include "schema/read/reach.h"
#include "schema/yaml/node.h"
#include "schema/read/reading.h"
#include "schema/yaml/scalar.h"

#define EXTENDS_MAX 16 /* files that extend one another */

/* A file that extends others: an element of the chain from the innermost file,
 * kept on the stack of follow(). */
struct link {
	const struct link *up;
	const struct node *at; /* the file that it extends next */
	bool known;
	struct extended_file id;
};

struct extender {
	struct reading *reading;
	struct document *doc;
	struct shape shape;
};

static const struct path jobrun_path = { .name = "jobrun" };
static const struct path extends_path = { .up = &jobrun_path,
					  .name = "extends" };

static const struct item *extends_item(const struct node *root)
{
	return node_item(node_get(root, "jobrun"), "extends");
}

bool extend_is_asked(const struct node *root)
{
	return extends_item(root) != NULL;
}

__attribute__((format(printf, 3, 4))) static const struct node *
fail(const struct extender *e, const struct node *at, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	problem_add(&e->reading->found, SEVERITY_ERROR, at, &extends_path,
		    "extends", "%s", text);
	return NULL;
}

/* Whether the file is one of those that led to it, which is reported. */
static bool is_cycle(const struct extender *e, const struct link *chain,
		     const struct node *at, const struct extended_file *id)
{
	char shown[SHORT_SIZE];
	const struct link *link;
	size_t depth = 0;

	for (link = chain; link; link = link->up, depth++) {
		if (!link->known || link->id.device != id->device ||
		    link->id.inode != id->inode)
			continue;
		text_short(at->text, shown);
		if (link == chain)
			fail(e, at, "\"extends\" \"%s\" is this file itself",
			     shown);
		else
			fail(e, at,
			     "\"extends\" \"%s\" is circular: that file "
			     "extends this one at %s:%u:%u",
			     shown, link->at->origin->name, link->at->line,
			     link->at->column);
		return true;
	}
	if (depth > EXTENDS_MAX)
		fail(e, at, "more than %d files extend one another",
		     EXTENDS_MAX);
	return depth > EXTENDS_MAX;
}

static void remember(struct reading *reading, const struct extended_file *id)
{
	size_t n = reading->extended_count;

	if (!(n & (n - 1))) /* 0 or a power of two */
		reading->extended = mem_grow(reading->extended, n ? n * 2 : 1,
					     sizeof(*reading->extended));
	reading->extended[n] = *id;
	reading->extended_count++;
}

/* Reads the only document of a file; its nodes live as long as the job's. */
static const struct node *read_root(const struct extender *e,
				    struct source *source,
				    const struct node *at)
{
	struct reading *reading = e->reading;
	struct node_reader *reader = node_reader_new(source, &reading->found);
	const struct node *root = NULL;
	struct document doc;
	char shown[SHORT_SIZE];
	int more;

	node_reader_use(reader, e->doc->mem, at);
	while ((more = node_reader_next(reader, &doc)) > 0) {
		doc.origin->next = e->doc->origin->next;
		e->doc->origin->next = doc.origin;
		if (root && doc.root) {
			fail(e, at,
			     "\"extends\" \"%s\" holds several documents, but "
			     "must hold one",
			     text_short(at->text, shown));
			break;
		}
		if (doc.root)
			root = doc.root;
	}
	node_reader_free(reader);
	if (more)
		return NULL;
	if (root && root->kind == NODE_MAP)
		return root;
	if (!root || root->kind != NODE_BAD)
		fail(e, at, "\"extends\" \"%s\" does not hold a map of keys",
		     text_short(at->text, shown));
	return NULL;
}

/* Removes "folder/.." from a path, so that one file has one name in problems.
 * If the folder is a link, "folder/.." is another folder and stays. */
static void tidy(char *path)
{
	char *up, *start;
	struct stat st;

	while ((up = strstr(path, "/../")) && up > path) {
		*up = '\0';
		start = strrchr(path, '/');
		start = start ? start + 1 : path;
		if (!strcmp(start, "..") || !strcmp(start, ".") || !*start ||
		    lstat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
			*up = '/';
			return;
		}
		memmove(start, up + 4, strlen(up + 4) + 1);
	}
}

/* Limits the values of extended files, as one line can name a large file dozens
 * of times, each of which takes time. */
static bool has_room(const struct extender *e, const struct node *root,
		     const struct node *at)
{
	struct reading *reading = e->reading;

	reading->extended_values += root->weight;
	if (reading->extended_values <= NODE_COUNT_MAX)
		return true;
	fail(e, at, "the files that are extended here hold more than %d values",
	     NODE_COUNT_MAX);
	return false;
}

static const struct node *follow(const struct extender *e,
				 const struct node *root, struct link *link);

static const struct node *read_base(const struct extender *e,
				    const struct node *at, struct link *up)
{
	struct reading *reading = e->reading;
	char *folder = path_folder(at->origin->name);
	char *own = path_at_home(at->text);
	char *path = own ? own : path_join(folder, at->text);
	const char *below;
	struct link link = { .up = up, .known = true };
	const struct node *root = NULL;
	struct source *source;
	struct error err;
	struct stat st;
	char shown[SHORT_SIZE];
	char *data;
	size_t len;

	tidy(path);
	up->at = at;
	if (reach_check_base(reading, path, at, &below, &err) < 0) {
		fail(e, at, "\"extends\" \"%s\" %s",
		     text_short(at->text, shown), err.text);
		problem_hint(&reading->found, REACH_HINT);
		goto out;
	}
	if (stat(path, &st) == 0) {
		link.id = (struct extended_file){ st.st_dev, st.st_ino };
		if (is_cycle(e, up, at, &link.id))
			goto out;
		/* Reading a pipe could block. */
		if (!S_ISREG(st.st_mode)) {
			fail(e, at, "\"extends\" \"%s\" is not a regular file",
			     text_short(at->text, shown));
			goto out;
		}
	}
	if (reading->other_count >= ORDER_OPTIONS - 1) {
		fail(e, at, "more than %d files are extended here",
		     ORDER_OPTIONS - 1);
		goto out;
	}
	data = beneath_read(below, path, SOURCE_SIZE_MAX, &len, &err);
	if (!data) {
		fail(e, at, "\"extends\": %s", err.text);
		goto out;
	}
	remember(reading, &link.id);
	source = reading_add_text(reading, arena_strdup(e->doc->mem, path),
				  reading->order + ++reading->other_count, data,
				  len);
	if (source && !source_is_job(source))
		fail(e, at,
		     "\"extends\" \"%s\" is not part of a job: no line starts "
		     "with a key of a job",
		     text_short(at->text, shown));
	else if (source)
		root = read_root(e, source, at);
	if (root && !has_room(e, root, at))
		root = NULL;
	if (root)
		root = follow(e, root, &link);
out:
	free(folder);
	free(path);
	return root;
}

/* Returns the document without the key, merged over the files that the key
 * names. */
static const struct node *follow(const struct extender *e,
				 const struct node *root, struct link *link)
{
	const struct item *jobrun = node_item(root, "jobrun");
	const struct item *extends = extends_item(root);
	const struct node *value = extends ? extends->value : NULL;
	const struct node *merged = NULL, *base;
	const struct item one = { .value = value }, *item = &one;
	struct arena *mem = e->doc->mem;

	if (!extends)
		return root;
	root = node_with(mem, root, jobrun,
			 node_without(mem, jobrun->value, extends));
	if (value->kind == NODE_BAD || scalar_is_null(value))
		return root;
	if (value->kind == NODE_LIST)
		item = value->items;
	for (; item; item = item->next) {
		if (item->value->kind != NODE_SCALAR || !item->value->count)
			return fail(e, item->value,
				    "\"extends\" must be the path of a file, "
				    "or a list of paths");
		base = read_base(e, item->value, link);
		if (!base)
			return NULL;
		merged = merged ? node_merge(mem, &e->shape, merged, base)
				: base;
	}
	return merged ? node_merge(mem, &e->shape, merged, root) : root;
}

int extend(struct reading *reading, struct document *doc)
{
	struct extender e = { .reading = reading,
			      .doc = doc,
			      .shape = shape_root(reading->options) };
	struct link link = { 0 };
	const struct node *root;
	struct stat st;

	if (!extend_is_asked(doc->root))
		return 0;
	if (strcmp(reading->path, "-") != 0 && stat(reading->path, &st) == 0) {
		link.known = true;
		link.id = (struct extended_file){ st.st_dev, st.st_ino };
	}
	root = follow(&e, doc->root, &link);
	if (!root)
		return -1;
	doc->root = root;
	return 0;
}
