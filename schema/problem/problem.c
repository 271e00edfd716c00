/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/problem/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/yaml/node.h"
#include "schema/yaml/slots.h"
#include "schema/yaml/source_text.h"

/* More problems in one file are not worth reading. */
#define FILE_PROBLEMS_MAX 1000
/* The size of an excerpt of a long source line: before the position, and in
 * all. */
#define EXCERPT_BEFORE 60
#define EXCERPT_MAX 120

const char *severity_name(enum severity severity)
{
	static const char *const names[] = { "error", "warning", "note" };

	return names[severity];
}

void problems_done(struct problems *found)
{
	free(found->items);
	arena_free(found->mem);
	*found = (struct problems){ 0 };
}

size_t problems_errors(const struct problems *found)
{
	return found->errors;
}

bool problems_is_full(const struct problems *found)
{
	return found->added >= FILE_PROBLEMS_MAX;
}

const char *text_short(const char *text, char out[SHORT_SIZE])
{
	size_t len = strlen(text), n;

	if (len < SHORT_SIZE) {
		memcpy(out, text, len + 1);
		return out;
	}
	for (n = SHORT_SIZE - 4; n && (text[n] & 0xc0) == 0x80; n--)
		;
	memcpy(out, text, n);
	memcpy(out + n, "...", 4);
	return out;
}

static char *path_text(struct problems *found, const struct path *path)
{
	const struct path *steps[64], *p;
	struct buf text = { 0 };
	char *out;
	size_t n = 0;

	for (p = path; p && n < COUNT(steps); p = p->up)
		steps[n++] = p;
	while (n--) {
		if (!steps[n]->name)
			buf_printf(&text, "[%zu]", steps[n]->index);
		else
			buf_printf(&text, "%s%s", text.len ? "." : "",
				   steps[n]->name);
	}
	out = arena_strdup(found->mem, buf_text(&text));
	buf_done(&text);
	return out;
}

/* Copies a part of a line, with an asterisk for each character of a secret. */
static char *copy_line(struct problems *found, struct source *source,
		       size_t from, size_t to)
{
	char *out = arena_strndup(found->mem, source->text + from, to - from);
	size_t i, n, at = 0;
	uint32_t c;

	for (; from < to; from += n) {
		n = utf8_decode(source->text + from, to - from, &c);
		n = n ? n : 1;
		if (source_is_secret(source, from))
			out[at++] = '*';
		else if (!source->text[from])
			out[at++] = '\x01'; /* shown like other controls */
		else
			for (i = 0; i < n; i++)
				out[at++] = source->text[from + i];
	}
	out[at] = '\0';
	return out;
}

/* Copies the part of the source line around the position. */
static void set_excerpt(struct problems *found, struct position *place,
			struct source *source)
{
	unsigned skip = 0, points = 0;
	size_t from, to, n;
	uint32_t c;

	if (!source_is_job(source))
		return;
	if (place->column > EXCERPT_BEFORE + 1)
		skip = place->column - 1 - EXCERPT_BEFORE;
	from = source_offset(source, place->line, skip + 1);
	for (to = from; points < EXCERPT_MAX && !source_line_ends(source, to);
	     to += n) {
		n = utf8_decode(source->text + to, source->len - to, &c);
		n = n ? n : 1;
		points++;
	}
	place->excerpt = copy_line(found, source, from, to);
	place->excerpt_start = skip;
	place->excerpt_cut = !source_line_ends(source, to);
}

static void set_place(struct problems *found, struct position *place,
		      const struct node *at)
{
	place->line = at->line;
	place->column = at->column;
	place->length = at->length;
	if (at->origin->source)
		set_excerpt(found, place, at->origin->source);
}

static void count(struct problems *found, enum severity severity, int more)
{
	size_t *of[] = { &found->errors, &found->warnings, &found->notes };

	*of[severity] += (size_t)more;
}

/* Adds a problem, zeroed for the caller to fill. */
static struct problem *add(struct problems *found)
{
	if (!found->mem)
		found->mem = arena_new();
	if (found->count == found->size) {
		found->size = found->size ? found->size * 2 : 16;
		found->items = mem_grow(found->items, found->size,
					sizeof(*found->items));
	}
	return &found->items[found->count++];
}

static struct problem *new_problem(struct problems *found,
				   enum severity severity, unsigned order,
				   const char *file, const char *rule)
{
	struct problem *problem;

	if (severity == SEVERITY_WARNING && found->strict)
		severity = SEVERITY_ERROR;
	found->open = ++found->added <= FILE_PROBLEMS_MAX;
	count(found, severity, 1);
	if (!found->open)
		return NULL;
	problem = add(found);
	*problem = (struct problem){
		.at.file = arena_strdup(found->mem, file),
		.order = order,
		.severity = severity,
		.rule = rule,
		.path = "",
	};
	return problem;
}

__attribute__((format(printf, 2, 0))) static char *
format_text(struct problems *found, const char *format, va_list args)
{
	struct buf text = { 0 };
	va_list again;
	char *out;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len > 0)
		vsnprintf(buf_reserve(&text, (size_t)len), (size_t)len + 1,
			  format, args);
	out = arena_strdup(found->mem, len > 0 ? text.data : "");
	buf_done(&text);
	return out;
}

/* Marks the last problem kept of a file that has too many. */
static void close_file(struct problems *found, struct problem *problem)
{
	if (found->added == FILE_PROBLEMS_MAX)
		problem->message = "too many problems: the rest of this file "
				   "is not shown";
}

#define USES_SHOWN 2

/* Adds the places that brought a value here: of an alias, of a merge key, of the
 * name of its file. */
static void add_uses(struct problems *found, const struct node *at)
{
	const struct node *uses[USES_SHOWN];
	size_t i, n;

	if (at->origin->from)
		problem_also(found, at->origin->from, "extended here");
	if (at->anchor) {
		problem_also(found, at->anchor, "the value is given here");
		return;
	}
	if (!at->origin->root || !at->origin->has_aliases)
		return;
	n = node_uses(at->origin->root, at, uses, COUNT(uses));
	for (i = 0; i < n; i++)
		problem_also(found, uses[i], "and used here");
}

void problem_add(struct problems *found, enum severity severity,
		 const struct node *at, const struct path *path,
		 const char *rule, const char *format, ...)
{
	struct problem *problem = new_problem(
		found, severity, at->origin->order, at->origin->name, rule);
	va_list args;

	if (!problem)
		return;
	set_place(found, &problem->at, at);
	if (path)
		problem->path = path_text(found, path);
	va_start(args, format);
	problem->message = format_text(found, format, args);
	va_end(args);
	close_file(found, problem);
	add_uses(found, at);
}

void problem_add_at(struct problems *found, enum severity severity,
		    struct source *source, unsigned line, unsigned column,
		    unsigned length, const char *rule, const char *format, ...)
{
	struct problem *problem =
		new_problem(found, severity, source->order, source->name, rule);
	va_list args;

	if (!problem)
		return;
	problem->at.line = line;
	problem->at.column = column;
	problem->at.length = length;
	va_start(args, format);
	problem->message = format_text(found, format, args);
	va_end(args);
	set_excerpt(found, &problem->at, source);
	close_file(found, problem);
}

void problem_add_file(struct problems *found, enum severity severity,
		      const char *file, unsigned order, const char *rule,
		      const char *format, ...)
{
	struct problem *problem =
		new_problem(found, severity, order, file, rule);
	va_list args;

	if (!problem)
		return;
	va_start(args, format);
	problem->message = format_text(found, format, args);
	va_end(args);
}

void problem_hint(struct problems *found, const char *format, ...)
{
	va_list args;

	if (!found->open)
		return;
	va_start(args, format);
	found->items[found->count - 1].hint = format_text(found, format, args);
	va_end(args);
}

static struct problem *last(struct problems *found)
{
	return found->open ? &found->items[found->count - 1] : NULL;
}

void problem_also(struct problems *found, const struct node *at,
		  const char *format, ...)
{
	struct problem *problem = last(found);
	struct label *label;
	va_list args;

	if (!problem || problem->label_count == PROBLEM_LABELS_MAX)
		return;
	label = &problem->labels[problem->label_count++];
	label->at.file = arena_strdup(found->mem, at->origin->name);
	set_place(found, &label->at, at);
	va_start(args, format);
	label->message = format_text(found, format, args);
	va_end(args);
}

void problem_also_at(struct problems *found, struct source *source,
		     const char *file, unsigned line, unsigned column,
		     unsigned length, const char *message)
{
	struct problem *problem = last(found);
	struct label *label;

	if (!problem || problem->label_count == PROBLEM_LABELS_MAX)
		return;
	label = &problem->labels[problem->label_count++];
	*label = (struct label){
		.at.file =
			arena_strdup(found->mem, source ? source->name : file),
		.at.line = line,
		.at.column = column,
		.at.length = length,
		.message = arena_strdup(found->mem, message),
	};
	if (source)
		set_excerpt(found, &label->at, source);
}

static char char_at(struct source *source, const struct edit *edit)
{
	size_t at = source_offset(source, edit->line, edit->column);

	return at < source->len ? source->text[at] : '\0';
}

/* Moves the start of the edit behind the anchor and the tag of a value. */
static void skip_properties(struct source *source, struct edit *edit)
{
	bool is_blank;

	while (edit->length && char_at(source, edit) &&
	       strchr("&!", char_at(source, edit))) {
		for (is_blank = false; edit->length; edit->length--) {
			char c = char_at(source, edit);

			if (is_blank && c != ' ' && c != '\t')
				break;
			is_blank |= c == ' ' || c == '\t';
			edit->column++;
		}
	}
}

/* Adds an edit of a scalar to the last problem; with `same_quotes` the text is
 * quoted as the scalar is. */
static void add_edit(struct problems *found, const struct node *at,
		     const char *text, bool same_quotes)
{
	struct problem *problem = last(found);
	struct edit *edits, *edit;
	struct buf quoted = { 0 };
	char quote;

	if (!problem || at->kind != NODE_SCALAR || at->anchor || at->broken ||
	    !at->origin->source || !at->origin->source->own ||
	    strcmp(at->origin->name, problem->at.file))
		return;
	edits = arena_alloc(found->mem,
			    (problem->edit_count + 1) * sizeof(*edits));
	if (problem->edit_count)
		memcpy(edits, problem->edits,
		       problem->edit_count * sizeof(*edits));
	edit = &edits[problem->edit_count++];
	*edit = (struct edit){ at->line, at->column, at->length, NULL };
	skip_properties(at->origin->source, edit);
	quote = char_at(at->origin->source, edit);
	if (same_quotes && (quote == '"' || quote == '\''))
		buf_printf(&quoted, "%c%s%c", quote, text, quote);
	edit->text =
		arena_strdup(found->mem, quoted.len ? buf_text(&quoted) : text);
	problem->edits = edits;
	buf_done(&quoted);
}

void problem_fix(struct problems *found, const struct node *at,
		 const char *format, ...)
{
	va_list args;

	if (!last(found))
		return;
	va_start(args, format);
	add_edit(found, at, format_text(found, format, args), false);
	va_end(args);
}

void problem_respell(struct problems *found, const struct node *at,
		     const char *text)
{
	add_edit(found, at, text, true);
}

static int compare(const void *left, const void *right)
{
	const struct problem *a = left, *b = right;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->at.line != b->at.line)
		return a->at.line < b->at.line ? -1 : 1;
	if (a->at.column != b->at.column)
		return a->at.column < b->at.column ? -1 : 1;
	if (a->severity != b->severity)
		return a->severity < b->severity ? -1 : 1;
	return strcmp(a->message, b->message);
}

void problems_sort(struct problems *found)
{
	if (found->count)
		qsort(found->items, found->count, sizeof(*found->items),
		      compare);
}

static const char *copy(struct problems *found, const char *text)
{
	return text ? arena_strdup(found->mem, text) : NULL;
}

/* Copies the name of the file; problems of one file are adjacent and share
 * it. */
static const char *copy_file(struct problems *found, const char *file)
{
	size_t n = found->count;

	if (n > 1 && !strcmp(found->items[n - 2].at.file, file))
		return found->items[n - 2].at.file;
	return copy(found, file);
}

static void copy_label(struct problems *found, struct label *label)
{
	label->at.file = copy(found, label->at.file);
	label->at.excerpt = copy(found, label->at.excerpt);
	label->message = copy(found, label->message);
}

static void copy_edits(struct problems *found, struct problem *problem)
{
	size_t size = problem->edit_count * sizeof(*problem->edits);
	struct edit *edits;
	unsigned i;

	if (!size)
		return;
	edits = arena_alloc(found->mem, size);
	memcpy(edits, problem->edits, size);
	for (i = 0; i < problem->edit_count; i++)
		edits[i].text = copy(found, edits[i].text);
	problem->edits = edits;
}

void problems_move(struct problems *found, struct problems *from, size_t limit)
{
	unsigned k;
	size_t i;

	problems_sort(from);
	for (i = 0; i < from->count; i++) {
		const struct problem *problem = &from->items[i];
		struct problem *to;

		if (limit && found->kept[problem->severity] >= limit)
			continue;
		found->kept[problem->severity]++;
		to = add(found);
		*to = *problem;
		to->at.file = copy_file(found, problem->at.file);
		to->path = *problem->path ? copy(found, problem->path) : "";
		to->message = copy(found, problem->message);
		to->hint = copy(found, problem->hint);
		to->at.excerpt = copy(found, problem->at.excerpt);
		for (k = 0; k < problem->label_count; k++)
			copy_label(found, &to->labels[k]);
		copy_edits(found, to);
	}
	found->errors += from->errors;
	found->warnings += from->warnings;
	found->notes += from->notes;
	problems_done(from);
}

static bool is_same(const struct problem *a, const struct problem *b)
{
	return a->at.line == b->at.line && a->at.column == b->at.column &&
	       a->severity == b->severity && !strcmp(a->at.file, b->at.file) &&
	       !strcmp(a->message, b->message);
}

void problems_unite(struct problems *found)
{
	struct slots known = { 0 };
	size_t i, n = 0;

	for (i = 0; i < found->count; i++) {
		struct problem *problem = &found->items[i];
		uint64_t hash =
			slots_hash(problem->message, strlen(problem->message)) +
			problem->at.line;
		uint32_t other;
		size_t at = 0;
		bool is_new = true;

		while (is_new && slots_next(&known, hash, &at, &other))
			is_new = !is_same(&found->items[other], problem);
		if (is_new) {
			slots_add(&known, hash, (uint32_t)n);
			found->items[n++] = *problem;
		} else {
			count(found, problem->severity, -1);
		}
	}
	found->count = n;
	slots_done(&known);
}

void problems_drop(struct problems *found, unsigned from, unsigned to)
{
	size_t i, n = 0;

	for (i = 0; i < found->count; i++) {
		const struct problem *problem = &found->items[i];

		if (problem->order >= from && problem->order < to)
			count(found, problem->severity, -1);
		else
			found->items[n++] = *problem;
	}
	found->count = n;
}

size_t problems_omitted(const struct problems *found)
{
	return found->errors + found->warnings + found->notes - found->count;
}
