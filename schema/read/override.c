/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/override.h"

#include <string.h>

#include "core/base/json.h"
#include "schema/read/merge.h"
#include "schema/read/node_reader.h"
#include "schema/tables/tables.h"
#include "schema/yaml/node.h"
#include "schema/read/reading.h"
#include "schema/yaml/scalar.h"

#define STEPS_MAX 32

/* One step of a path: "args" or "[0]". */
struct step {
	const char *name; /* NULL: an index */
	size_t len;
	size_t index;
	unsigned column;
};

struct steps {
	struct step items[STEPS_MAX];
	size_t count;
	const char *value; /* the text after "=" */
	unsigned column;   /* column of the value */
};

struct setter {
	struct reading *reading;
	struct arena *mem;
	struct origin *origin;
	struct steps steps;
	const struct node *value;
};

static const char *option_name(const struct schema_set *set)
{
	return set->json ? "--set-json" : "--set";
}

static size_t points(const char *text, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static bool parse_index(const char **at, struct step *step)
{
	const char *p = *at + 1;

	step->name = NULL;
	step->index = 0;
	if (*p == ']')
		return false;
	for (; *p >= '0' && *p <= '9' && step->index < NODE_COUNT_MAX; p++)
		step->index = step->index * 10 + (size_t)(*p - '0');
	if (*p != ']')
		return false;
	*at = p + 1;
	return true;
}

/* Parses trainingInput.args[0]=VALUE. */
static int parse(const struct schema_set *set, struct steps *out,
		 struct error *err)
{
	const char *p = set->text;

	out->count = 0;
	while (*p != '=') {
		struct step *step = &out->items[out->count];

		if (out->count++ == STEPS_MAX)
			goto bad;
		step->column =
			(unsigned)points(set->text, (size_t)(p - set->text)) +
			1;
		if (*p == '[' && out->count > 1) {
			if (!parse_index(&p, step))
				goto bad;
		} else {
			step->name = p;
			step->len = strcspn(p, ".[=");
			p += step->len;
			if (!step->len)
				goto bad;
		}
		if (*p == '.' && p[1] && !strchr(".[=", p[1]))
			p++;
		else if (*p != '[' && *p != '=')
			goto bad;
	}
	if (!out->count)
		goto bad;
	out->value = p + 1;
	out->column = (unsigned)points(set->text, (size_t)(p - set->text)) + 2;
	return 0;
bad:
	return error_set(err, ERROR_USAGE,
			 "%s takes PATH=VALUE, such as "
			 "trainingInput.args[0]=--fast, not '%.200s'",
			 option_name(set), set->text);
}

int override_check(const struct schema_set *set, struct error *err)
{
	struct steps steps;

	return parse(set, &steps, err);
}

static struct node *new_node(const struct setter *s, enum node_kind kind,
			     unsigned column, size_t length)
{
	struct node *node = arena_alloc(s->mem, sizeof(*node));

	node->kind = (uint8_t)kind;
	node->line = 1;
	node->column = column;
	node->length = length ? (uint32_t)length : 1;
	node->weight = 1;
	node->origin = s->origin;
	return node;
}

/* Returns the value literally: it needs no quotes where a file would. */
static const struct node *plain_value(const struct setter *s)
{
	const char *text = s->steps.value;
	size_t len = strlen(text);
	struct node *node =
		new_node(s, NODE_SCALAR, s->steps.column, points(text, len));

	node->plain = true;
	node->loose = true;
	node->text = arena_strndup(s->mem, text, len);
	node->count = (uint32_t)len;
	return node;
}

/* Returns a quoted or JSON value, which libyaml reads, too; NULL with a
 * problem. */
static const struct node *parsed_value(const struct setter *s)
{
	struct source *source = s->origin->source;
	struct problems *found = &s->reading->found;
	struct node_reader *reader = node_reader_new(source, found);
	struct document doc = { 0 }, more;
	const struct node *value = NULL;

	node_reader_use(reader, s->mem, NULL);
	node_reader_skip(reader, source_offset(source, 1, s->steps.column),
			 s->steps.column - 1);
	if (node_reader_next(reader, &doc) > 0) {
		value = doc.root;
		doc.origin->next = s->origin->next;
		s->origin->next = doc.origin;
		if (node_reader_next(reader, &more) != 0)
			value = NULL;
	}
	node_reader_free(reader);
	return value;
}

/* Returns a value that is strictly JSON; libyaml then gives its positions. */
static const struct node *json_value(const struct setter *s)
{
	json_error_t error;
	json_t *value =
		json_loads(s->steps.value,
			   JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
	unsigned line, column;

	if (value) {
		json_decref(value);
		return parsed_value(s);
	}
	line = error.line > 0 ? (unsigned)error.line : 1;
	column = error.column > 0 ? (unsigned)error.column : 1;
	problem_add_at(&s->reading->found, SEVERITY_ERROR, s->origin->source,
		       line, column + (line == 1 ? s->steps.column - 1 : 0), 1,
		       "json", "invalid JSON: %s", error.text);
	problem_hint(&s->reading->found,
		     "--set takes a string or a number without quotes");
	return NULL;
}

static const struct node *fail(const struct setter *s, const struct step *step,
			       const struct path *path, const char *what,
			       const struct node *old)
{
	struct node *at =
		new_node(s, NODE_BAD, step->column,
			 step->name ? points(step->name, step->len) : 3);

	problem_add(&s->reading->found, SEVERITY_ERROR, at, path, "set",
		    "%s (%s:%u)", what, old->origin->name, old->line);
	return NULL;
}

static const struct node *put(const struct setter *s, const struct shape *shape,
			      const struct node *old, size_t depth,
			      const struct path *up);

static const struct node *put_item(const struct setter *s,
				   const struct shape *shape,
				   const struct node *old, size_t depth,
				   const struct path *up)
{
	const struct step *step = &s->steps.items[depth];
	struct path path = { .up = up, .index = step->index };
	struct shape under = shape_item(shape);
	const struct item *item;
	const struct node *value;
	size_t i = 0;
	struct node *list;

	if (!old)
		old = new_node(s, NODE_LIST, step->column, 1);
	if (old->kind != NODE_LIST)
		return fail(s, step, &path, "this is not a list", old);
	if (step->index > old->count)
		return fail(s, step, &path, "the list is shorter", old);
	for (item = old->items; item && i < step->index; item = item->next)
		i++;
	value = put(s, &under, item ? item->value : NULL, depth + 1, &path);
	if (!value)
		return NULL;
	if (item)
		return node_with(s->mem, old, item, value);
	list = node_copy(s->mem, old);
	node_add(s->mem, list, NULL, value);
	return list;
}

static const struct node *put_key(const struct setter *s,
				  const struct shape *shape,
				  const struct node *old, size_t depth,
				  const struct path *up)
{
	const struct step *step = &s->steps.items[depth];
	struct node *key = new_node(s, NODE_SCALAR, step->column,
				    points(step->name, step->len));
	struct path path = { .up = up };
	const struct item *item;
	const struct node *value;
	struct shape under;
	struct node *map;
	const char *name;

	key->text = arena_strndup(s->mem, step->name, step->len);
	key->count = (uint32_t)step->len;
	name = shape_name(shape, key->text);
	path.name = name;
	if (!old)
		old = new_node(s, NODE_MAP, step->column, step->len);
	if (old->kind != NODE_MAP)
		return fail(s, step, &path, "this is not a map", old);
	if (shape->keys == &message_jobrun && !strcmp(name, "extends"))
		return fail(s, step, &path,
			    "\"extends\" can't be set; give the file instead",
			    old);
	for (item = old->items; item; item = item->next)
		if (!strcmp(shape_name(shape, item->key->text), name))
			break;
	under = shape_under(shape, key->text);
	value = put(s, &under, item ? item->value : NULL, depth + 1, &path);
	if (!value)
		return NULL;
	if (scalar_is_null(value))
		return item ? node_without(s->mem, old, item) : old;
	if (item)
		return node_with(s->mem, old, item, value);
	map = node_copy(s->mem, old);
	node_add(s->mem, map, key, value);
	return map;
}

/* Returns a copy of `old`, which may be NULL, with the value at the path. */
static const struct node *put(const struct setter *s, const struct shape *shape,
			      const struct node *old, size_t depth,
			      const struct path *up)
{
	if (depth == s->steps.count)
		return s->value;
	if (old && scalar_is_null(old))
		old = NULL;
	if (s->steps.items[depth].name)
		return put_key(s, shape, old, depth, up);
	return put_item(s, shape, old, depth, up);
}

static void apply(struct reading *reading, struct document *doc,
		  const struct schema_set *set)
{
	struct setter s = { .reading = reading, .mem = doc->mem };
	struct shape shape = shape_root(reading->options);
	const struct node *root;
	struct source *source;
	struct error err;
	char *name;

	if (parse(set, &s.steps, &err) < 0)
		return;
	name = arena_printf(s.mem, "%s %.*s", option_name(set),
			    (int)(s.steps.value - set->text - 1), set->text);
	source = reading_add_text(reading, name, reading->order + ORDER_OPTIONS,
				  mem_strdup(set->text), strlen(set->text));
	if (!source)
		return;
	source->option = true;
	s.origin = arena_alloc(s.mem, sizeof(*s.origin));
	*s.origin = (struct origin){ .name = name,
				     .order = reading->order + ORDER_OPTIONS,
				     .source = source,
				     .next = doc->origin->next };
	doc->origin->next = s.origin;
	if (set->json)
		s.value = json_value(&s);
	else if (s.steps.value[0] == '"' || s.steps.value[0] == '\'')
		s.value = parsed_value(&s);
	else
		s.value = plain_value(&s);
	root = s.value ? put(&s, &shape, doc->root, 0, NULL) : NULL;
	if (root)
		doc->root = root;
}

void override_apply(struct reading *reading, struct document *doc)
{
	size_t i;

	for (i = 0; i < reading->options->set_count; i++)
		apply(reading, doc, &reading->options->sets[i]);
}
