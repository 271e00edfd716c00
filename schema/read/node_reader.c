/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/node_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/base/alloc.h"
#include "core/base/nearest.h"
#include "schema/yaml/names.h"
#include "schema/yaml/node.h"
#include "schema/read/node_map.h"
#include "schema/problem/problem.h"
#include "schema/yaml/source_text.h"
#include "schema/read/syntax.h"

/* libyaml walks its stack of brackets at every token and asks for more bytes in
 * between: it gets few at a time, and none while the stack is deep. */
#define PIECE 2048
#define BRACKETS_MAX (PIECE + 2 * NODE_DEPTH_MAX)
#define TAG_DIRECTIVES_MAX 64
#define ANCHORS_SEARCHED 64 /* for one that is similar */

/* A collection that is still open. */
struct level {
	struct node *node;
	struct item **tail;
	const struct node *key; /* of a map: its value comes next */
	bool in_brackets;
};

struct node_reader {
	yaml_parser_t parser;
	struct source *source;
	struct problems *found;
	size_t offset; /* how much of the source libyaml has */
	bool too_deep;
	bool ended;

	struct arena *mem;       /* for the current document */
	struct arena *given;     /* for all documents, or NULL */
	const struct node *from; /* what names the file, or NULL */
	unsigned shift;          /* skipped columns of the first line */
	struct origin *origin;
	const struct node *root;
	struct level levels[NODE_DEPTH_MAX + 1];
	size_t depth;
	struct names anchors;
	struct names keys; /* of one large map at a time */
	size_t nodes;      /* in the file */
	size_t documents;
	uint64_t expanded;       /* by all aliases of the document */
	const struct node *bomb; /* the alias that exceeded the limit */
};

static int feed(void *data, unsigned char *buffer, size_t size, size_t *used)
{
	struct node_reader *r = data;
	size_t n = r->source->len - r->offset;

	if (r->parser.flow_level > BRACKETS_MAX ||
	    r->parser.tag_directives.top - r->parser.tag_directives.start >
		    TAG_DIRECTIVES_MAX) {
		r->too_deep = true;
		return 0;
	}
	if (n > size)
		n = size;
	if (n > PIECE)
		n = PIECE;
	memcpy(buffer, r->source->text + r->offset, n);
	r->offset += n;
	*used = n;
	return 1;
}

struct node_reader *node_reader_new(struct source *source,
				    struct problems *found)
{
	struct node_reader *r = mem_alloc(sizeof(*r));

	r->source = source;
	r->found = found;
	if (!yaml_parser_initialize(&r->parser))
		mem_out();
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input(&r->parser, feed, r);
	return r;
}

void node_reader_use(struct node_reader *r, struct arena *mem,
		     const struct node *from)
{
	r->given = mem;
	r->from = from;
}

void node_reader_skip(struct node_reader *r, size_t offset, unsigned columns)
{
	r->offset = offset;
	r->shift = columns;
}

static void drop_memory(struct node_reader *r)
{
	if (!r->given)
		arena_free(r->mem);
	r->mem = NULL;
}

void node_reader_free(struct node_reader *r)
{
	if (!r)
		return;
	yaml_parser_delete(&r->parser);
	names_done(&r->anchors);
	names_done(&r->keys);
	drop_memory(r);
	free(r);
}

static unsigned column_of(const struct node_reader *r, const yaml_mark_t *mark)
{
	return (unsigned)mark->column + 1 + (mark->line ? 0 : r->shift);
}

static int refuse(struct node_reader *r, const yaml_mark_t *mark, size_t limit,
		  const char *what)
{
	problem_add_at(r->found, SEVERITY_ERROR, r->source,
		       (unsigned)mark->line + 1, column_of(r, mark), 1, "limit",
		       "more than %zu %s", limit, what);
	return -1;
}

static struct node *node_new(struct node_reader *r, enum node_kind kind,
			     const yaml_mark_t *start, const yaml_mark_t *end)
{
	struct node *node = arena_alloc(r->mem, sizeof(*node));

	node->kind = (uint8_t)kind;
	node->line = (uint32_t)start->line + 1;
	node->column = column_of(r, start);
	node->length = 1;
	node->broken = end->line != start->line;
	if (!node->broken && end->column > start->column)
		node->length = (uint32_t)(end->column - start->column);
	node->weight = 1;
	node->origin = r->origin;
	return node;
}

static void add_weight(struct node *node, const struct node *child)
{
	uint32_t sum = node->weight + child->weight;

	node->weight = sum < node->weight ? UINT32_MAX : sum;
}

/* Puts a value into the innermost open collection. */
static void place(struct node_reader *r, const struct node *value)
{
	struct level *level;
	struct item *item;

	if (!r->depth) {
		r->root = value;
		return;
	}
	level = &r->levels[r->depth - 1];
	if (level->node->kind == NODE_MAP && !level->key) {
		level->key = value;
		return;
	}
	item = arena_alloc(r->mem, sizeof(*item));
	item->key = level->key;
	item->value = value;
	*level->tail = item;
	level->tail = &item->next;
	level->node->count++;
	if (item->key)
		add_weight(level->node, item->key);
	add_weight(level->node, value);
	level->key = NULL;
}

static void set_anchor(struct node_reader *r, const yaml_char_t *name,
		       const struct node *node)
{
	const char *copy;

	if (!name)
		return;
	copy = arena_strdup(r->mem, (const char *)name);
	*names_at(&r->anchors, copy, strlen(copy)) = node;
}

static bool is_open(const struct node_reader *r, const struct node *node)
{
	size_t i;

	for (i = 0; i < r->depth; i++)
		if (r->levels[i].node == node)
			return true;
	return false;
}

static void add_alias(struct node_reader *r, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct node *target;
	struct node *bad =
		node_new(r, NODE_BAD, &event->start_mark, &event->end_mark);
	const char *known[ANCHORS_SEARCHED], *near;
	char shown[SHORT_SIZE];
	struct node *alias;

	name = arena_strdup(r->mem, name);
	target = *names_at(&r->anchors, name, strlen(name));
	if (!target) {
		problem_add(r->found, SEVERITY_ERROR, bad, NULL, "yaml-alias",
			    "alias \"*%s\" is undefined: there is no \"&%s\" "
			    "before it",
			    text_short(name, shown), shown);
		near = nearest_name(
			name, known,
			names_list(&r->anchors, known, COUNT(known)));
		if (near)
			problem_hint(r->found, "did you mean *%s?", near);
		else
			problem_hint(r->found,
				     "quote a string that starts with *");
	} else if (is_open(r, target)) {
		problem_add(r->found, SEVERITY_ERROR, bad, NULL, "yaml-alias",
			    "alias \"*%s\" refers to itself: it is inside "
			    "\"&%s\" (a cycle)",
			    text_short(name, shown), shown);
		problem_also(r->found, target, "it is inside this");
	} else {
		r->expanded += target->weight;
		if (r->expanded > NODE_COUNT_MAX &&
		    (!r->bomb || target->weight > NODE_COUNT_MAX))
			r->bomb = bad;
		/* The node has the place of the alias and the value of its
		 * anchor. */
		alias = arena_alloc(r->mem, sizeof(*alias));
		*alias = *target;
		alias->line = bad->line;
		alias->column = bad->column;
		alias->length = bad->length;
		alias->anchor = target->anchor ? target->anchor : target;
		r->origin->has_aliases = true;
		place(r, alias);
		return;
	}
	place(r, bad);
}

/* Whether a tag is known: YAML's own tags repeat what the form says, "!" and
 * !!str make text. */
static bool tag_is_known(struct node_reader *r, const yaml_char_t *tag,
			 struct node *node)
{
	static const char *const known[] = { "int",  "float", "bool",
					     "null", "seq",   "map" };
	const char *name = (const char *)tag;
	char shown[SHORT_SIZE];
	size_t i;

	if (!name)
		return true;
	if (!strncmp(name, "tag:yaml.org,2002:", 18)) {
		for (i = 0; i < COUNT(known); i++)
			if (!strcmp(name + 18, known[i]))
				return true;
		node->plain = false;
		if (!strcmp(name + 18, "str"))
			return true;
	}
	node->plain = false;
	if (!strcmp(name, "!"))
		return true;
	problem_add(r->found, SEVERITY_ERROR, node, NULL, "yaml-tag",
		    "tag \"%s\" has no meaning in a job file",
		    text_short(name, shown));
	return false;
}

/* The length of the escape that stands for U+0000, or 0. */
static unsigned nul_length(const char *text, size_t len)
{
	static const char *const nuls[] = { "\\0", "\\x00", "\\u0000",
					    "\\U00000000" };
	size_t i, n;

	for (i = 0; i < COUNT(nuls); i++) {
		n = strlen(nuls[i]);
		if (len >= n && !memcmp(text, nuls[i], n))
			return (unsigned)n;
	}
	return 0;
}

/* Reports a string that contains U+0000, at the escape for it. */
static void report_nul(struct node_reader *r, const struct node *node)
{
	struct source *source = r->source;
	unsigned column = node->column, length = node->length, i, n;

	for (i = node->broken ? node->length : 0; i < node->length; i++) {
		size_t at = source_offset(source, node->line, node->column + i);

		if (at >= source->len || source->text[at] != '\\')
			continue;
		n = nul_length(source->text + at, source->len - at);
		if (n) {
			column = node->column + i;
			length = n;
			break;
		}
		i++; /* the escaped character may be a backslash */
	}
	problem_add_at(r->found, SEVERITY_ERROR, source, node->line, column,
		       length, "yaml-text",
		       "control character U+0000 in a string");
	problem_hint(r->found, "remove it: programs read a string only up to "
			       "it");
}

static void add_scalar(struct node_reader *r, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	struct node *node =
		node_new(r, NODE_SCALAR, &event->start_mark, &event->end_mark);

	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	node->text = arena_strndup(r->mem, text, len);
	node->count = (uint32_t)len;
	if (memchr(text, '\0', len)) {
		report_nul(r, node);
		node->kind = NODE_BAD;
	}
	if (!tag_is_known(r, event->data.scalar.tag, node))
		node->kind = NODE_BAD;
	set_anchor(r, event->data.scalar.anchor, node);
	place(r, node);
}

static int start(struct node_reader *r, const yaml_event_t *event,
		 enum node_kind kind, bool in_brackets,
		 const yaml_char_t *anchor, const yaml_char_t *tag)
{
	struct node *node =
		node_new(r, kind, &event->start_mark, &event->end_mark);

	if (r->depth == NODE_DEPTH_MAX)
		return refuse(r, &event->start_mark, NODE_DEPTH_MAX,
			      "lists and maps nested in one another");
	tag_is_known(r, tag, node);
	set_anchor(r, anchor, node);
	r->levels[r->depth].node = node;
	r->levels[r->depth].tail = &node->items;
	r->levels[r->depth].key = NULL;
	r->levels[r->depth].in_brackets = in_brackets;
	r->depth++;
	return 0;
}

static int end(struct node_reader *r, const yaml_event_t *event)
{
	struct node *node = r->levels[r->depth - 1].node;
	const struct map_reader maps = { r->mem, r->found, &r->keys,
					 &r->nodes };

	if (r->levels[r->depth - 1].in_brackets &&
	    event->end_mark.line + 1 == node->line)
		node->length = column_of(r, &event->end_mark) - node->column;
	if (node->kind == NODE_MAP)
		map_end(&maps, node);
	if (r->nodes > NODE_COUNT_MAX)
		return refuse(r, &event->start_mark, NODE_COUNT_MAX,
			      "values in one file, merged ones counted");
	r->depth--;
	place(r, node);
	return 0;
}

static void begin_document(struct node_reader *r)
{
	r->mem = r->given ? r->given : arena_new();
	r->origin = arena_alloc(r->mem, sizeof(*r->origin));
	r->origin->name = arena_strdup(r->mem, r->source->name);
	r->origin->order = r->source->order;
	r->origin->source = r->source;
	r->origin->from = r->from;
	r->root = NULL;
	r->depth = 0;
	r->expanded = 0;
	r->bomb = NULL;
	names_clear(&r->anchors);
}

static int end_document(struct node_reader *r, struct document *out)
{
	const struct node *root = r->root;

	if (r->bomb) {
		problem_add(r->found, SEVERITY_ERROR, r->bomb, NULL, "limit",
			    "aliases expand to more than %d values",
			    NODE_COUNT_MAX);
		return -1;
	}
	if (root && root->kind == NODE_SCALAR && root->plain && !root->count)
		root = NULL;
	r->origin->root = root;
	*out = (struct document){ r->mem, r->origin, root };
	r->mem = NULL;
	return 1;
}

/* Returns 1 if the document is complete, 0 to go on, -1 if it is refused. */
static int take_event(struct node_reader *r, const yaml_event_t *event,
		      struct document *out)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (++r->documents > NODE_DOCUMENTS_MAX)
			return refuse(r, &event->start_mark, NODE_DOCUMENTS_MAX,
				      "documents in one file");
		begin_document(r);
		return 0;
	case YAML_DOCUMENT_END_EVENT:
		return end_document(r, out);
	case YAML_STREAM_END_EVENT:
		r->ended = true;
		return 0;
	case YAML_ALIAS_EVENT:
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		if (++r->nodes > NODE_COUNT_MAX)
			return refuse(r, &event->start_mark, NODE_COUNT_MAX,
				      "values in one file");
		break;
	default:
		break;
	}
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		add_alias(r, event);
		return 0;
	case YAML_SCALAR_EVENT:
		add_scalar(r, event);
		return 0;
	case YAML_SEQUENCE_START_EVENT:
		return start(r, event, NODE_LIST,
			     event->data.sequence_start.style ==
				     YAML_FLOW_SEQUENCE_STYLE,
			     event->data.sequence_start.anchor,
			     event->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return start(r, event, NODE_MAP,
			     event->data.mapping_start.style ==
				     YAML_FLOW_MAPPING_STYLE,
			     event->data.mapping_start.anchor,
			     event->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return end(r, event);
	default:
		return 0;
	}
}

static int syntax_error(struct node_reader *r)
{
	if (r->too_deep)
		return refuse(r, &r->parser.mark, NODE_DEPTH_MAX,
			      "brackets nested in one another, or directives");
	r->parser.mark.column += r->parser.mark.line ? 0 : r->shift;
	r->parser.problem_mark.column +=
		r->parser.problem_mark.line ? 0 : r->shift;
	r->parser.context_mark.column +=
		r->parser.context_mark.line ? 0 : r->shift;
	syntax_problem(r->found, r->source, &r->parser);
	if (r->from)
		problem_also(r->found, r->from, "extended here");
	return -1;
}

int node_reader_next(struct node_reader *r, struct document *out)
{
	yaml_event_t event;
	int ret = 0;

	while (!r->ended && !ret) {
		if (!yaml_parser_parse(&r->parser, &event)) {
			ret = syntax_error(r);
			break;
		}
		ret = take_event(r, &event, out);
		yaml_event_delete(&event);
	}
	if (ret < 0) {
		drop_memory(r);
		r->ended = true;
	}
	return ret;
}
