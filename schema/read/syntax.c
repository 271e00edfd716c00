/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/syntax.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "schema/problem/problem.h"
#include "schema/yaml/source_text.h"

#define KEY_SHOWN 64

/*
 * Our messages for libyaml's.  The first row whose texts occur in libyaml's is
 * used.  The message is about the position of the problem, or about the start
 * of the construct (`at_start`).
 */
static const struct saying {
	const char *problem; /* NULL: any */
	const char *context; /* NULL: any */
	const char *message;
	const char *hint;
	bool at_start;
	const char *other; /* message about the other of these positions */
} sayings[] = {
	{ .problem = "unknown escape character",
	  .message = "unknown escape after \"\\\" in a double-quoted string",
	  .hint = "in single quotes a \\ is only a \\" },
	{ .problem = "mapping values are not allowed",
	  .message = "a \": \" is not expected here",
	  .hint = "quote a string with \": \" in it; put a key on its own "
		  "line, indented like its neighbours" },
	{ .problem = "could not find expected ':'",
	  .message = "this line is not a \"key: value\"",
	  .hint = "write \":\" and a space after a key",
	  .at_start = true },
	{ .problem = "did not find expected key",
	  .context = "block mapping",
	  .other = "the keys of this map",
	  .message = "this does not fit the indentation of the lines above",
	  .hint = "start all keys of a map in the same column" },
	{ .problem = "did not find expected '-'",
	  .other = "the items of this list",
	  .message = "this does not fit the list above",
	  .hint = "start all items of a list with \"-\" in the same column" },
	{ .problem = "block sequence entries are not allowed",
	  .message = "a \"- \" is not expected here",
	  .hint = "start a list on the line after its key" },
	{ .problem = "block mapping", .message = "a key is not expected here" },
	{ .problem = "mapping keys are not allowed",
	  .message = "a \"? \" is not expected here" },
	{ .problem = "alphabetic or numeric character",
	  .context = "alias",
	  .message = "\"*\" starts an alias, but no valid name follows",
	  .hint = "quote a string that starts with *" },
	{ .problem = "alphabetic or numeric character",
	  .context = "anchor",
	  .message = "\"&\" starts an anchor, but no valid name follows",
	  .hint = "quote a string that starts with &" },
	{ .problem = "tab character",
	  .message = "tab used for indentation",
	  .hint = "indent YAML with spaces, not tabs" },
	{ .problem = "incompatible YAML document",
	  .message = "a YAML version other than 1.1 and 1.2" },
	{ .problem = "undefined tag handle",
	  .message = "an undefined tag",
	  .hint = "quote a string that starts with !" },
	{ .problem = "expected <document start>",
	  .message = "the document has ended, but this is not \"---\"",
	  .hint = "indent everything in a file under its first keys" },
	{ .problem = "did not find expected node content",
	  .message = "a value is missing here" },
};

static bool has(const char *text, const char *part)
{
	return !part || (text && strstr(text, part));
}

static void add(struct problems *found, struct source *source,
		const yaml_mark_t *mark, const char *message, const char *hint)
{
	problem_add_at(found, SEVERITY_ERROR, source, (unsigned)mark->line + 1,
		       (unsigned)mark->column + 1, 1, "yaml", "%s", message);
	if (hint)
		problem_hint(found, "%s", hint);
}

/* Explains "found character that cannot start any token" by that character. */
static bool add_stray(struct problems *found, struct source *source,
		      const yaml_mark_t *mark)
{
	size_t at = source_offset(source, (unsigned)mark->line + 1,
				  (unsigned)mark->column + 1);
	char c = at < source->len ? source->text[at] : '\0';
	char message[] = "quote a value that starts with \"?\"";

	if (c == '\t') {
		add(found, source, mark, "tab used for indentation",
		    "indent YAML with spaces, not tabs");
		return true;
	}
	if (c != '@' && c != '`' && c != '%')
		return false;
	*strchr(message, '?') = c;
	add(found, source, mark, message, "quote the value");
	return true;
}

/* One line of the source. */
struct source_line {
	const char *text; /* after its indentation and "- " */
	size_t len;
	unsigned number, column; /* of the text, from 1 */
	bool is_item;
};

static struct source_line line_at(struct source *source, unsigned number)
{
	struct source_line line = { .number = number, .column = 1 };
	const char *p = source->text + source_offset(source, number, 1);

	while (*p == ' ' || (*p == '-' && p[1] == ' ')) {
		line.is_item |= *p == '-';
		p++;
		line.column++;
	}
	line.text = p;
	line.len = strcspn(p, "\r\n");
	return line;
}

/* Returns the last line before that one which has content. */
static struct source_line line_before(struct source *source, unsigned number)
{
	struct source_line line = { 0 };

	while (--number) {
		line = line_at(source, number);
		if (line.len && *line.text != '#')
			return line;
	}
	return (struct source_line){ 0 };
}

/* Returns the length of the key that a line begins with, 0 if there is none. */
static size_t key_length(const struct source_line *line)
{
	size_t n = strcspn(line->text, ": \r\n\"'{}[],#");

	return n < line->len && line->text[n] == ':' ? n : 0;
}

static bool is_blank(char c)
{
	return !c || strchr(" \t\r\n", c);
}

/* Explains a key where none can be: it is indented too far, or the line above
 * is wrong. */
static bool add_misplaced(struct problems *found, struct source *source,
			  const yaml_mark_t *mark)
{
	struct source_line line = line_at(source, (unsigned)mark->line + 1);
	struct source_line above = line_before(source, line.number);
	size_t key = key_length(&line), other;

	if (!key || key > KEY_SHOWN ||
	    line.column + key != (unsigned)mark->column + 1 || !above.number)
		return false;
	other = key_length(&above);
	if (other > KEY_SHOWN)
		return false;
	if (other && !is_blank(above.text[other + 1])) {
		problem_add_at(found, SEVERITY_ERROR, source, above.number,
			       above.column, (unsigned)above.len, "yaml",
			       "missing space after the \":\" of \"%.*s\"",
			       (int)other, above.text);
		return true;
	}
	if (other && line.column > above.column) {
		problem_add_at(
			found, SEVERITY_ERROR, source, line.number, line.column,
			(unsigned)key, "yaml",
			"\"%.*s\" is indented deeper than \"%.*s\" (line %u), "
			"which already has a value",
			(int)key, line.text, (int)other, above.text,
			above.number);
		problem_also_at(found, source, NULL, above.number, above.column,
				(unsigned)other, "this already has a value");
		problem_hint(found,
			     "start all keys of a map in the same column: here "
			     "%u",
			     above.column);
		return true;
	}
	if (other || above.is_item || line.column != above.column)
		return false;
	problem_add_at(found, SEVERITY_ERROR, source, above.number,
		       above.column, (unsigned)above.len, "yaml",
		       "this line is not a \"key: value\"");
	problem_hint(found, "write \":\" and a space after a key");
	return true;
}

/* Explains a key that is indented less than the map above and more than the one
 * around that: names the columns of both. */
static bool add_between(struct problems *found, struct source *source,
			const yaml_parser_t *parser, const yaml_mark_t *mark)
{
	struct source_line line = line_at(source, (unsigned)mark->line + 1);
	struct source_line near = { 0 }, above = line;
	unsigned outer = (unsigned)parser->context_mark.column + 1;
	size_t key = key_length(&line);

	while ((above = line_before(source, above.number)).number &&
	       above.column > line.column)
		if (!near.number || above.column < near.column)
			near = above;
	if (!near.number || line.column != (unsigned)mark->column + 1 ||
	    outer >= line.column || key > KEY_SHOWN)
		return false;
	problem_add_at(found, SEVERITY_ERROR, source, line.number, line.column,
		       key ? (unsigned)key : 1, "yaml",
		       "this does not fit the indentation of the lines above");
	key = key_length(&near);
	problem_also_at(found, source, NULL, near.number, near.column,
			key && key <= KEY_SHOWN ? (unsigned)key : 1,
			"its neighbour starts here");
	problem_hint(found,
		     "start all keys of a map in the same column: here %u or "
		     "%u",
		     near.column, outer);
	return true;
}

/* Moves to the start of the word that ends there, and returns its length. */
static unsigned find_word(struct source *source, yaml_mark_t *mark)
{
	static const char ends[] = " \t\r\n,[]{}\"'";
	size_t at = source_offset(source, (unsigned)mark->line + 1,
				  (unsigned)mark->column + 1);
	unsigned n = 0;

	if (at >= source->len || source->text[at] != ':')
		return 1;
	while (n < mark->column && n < KEY_SHOWN && at > n &&
	       !strchr(ends, source->text[at - n - 1]) &&
	       !(source->text[at - n - 1] & 0x80))
		n++;
	mark->column -= n;
	return n ? n : 1;
}

/* Explains a list or a map in brackets that goes on where it cannot. */
static void add_open(struct problems *found, struct source *source,
		     const yaml_parser_t *parser, yaml_mark_t mark)
{
	const yaml_mark_t *start = &parser->context_mark;
	bool is_list = has(parser->problem, "']'");
	unsigned length = find_word(source, &mark);
	struct source_line above = line_before(source, (unsigned)mark.line + 1);

	add(found, source, start,
	    is_list ? "the list that starts here with \"[\" is not closed with "
		      "\"]\" or lacks a \",\""
		    : "the map that starts here with \"{\" is not closed with "
		      "\"}\" or lacks a \",\"",
	    NULL);
	problem_also_at(found, source, NULL, (unsigned)mark.line + 1,
			(unsigned)mark.column + 1, length,
			is_list ? "a \",\" or a \"]\" is missing before this"
				: "a \",\" or a \"}\" is missing before this");
	if (above.number > start->line)
		problem_hint(found,
			     "write \"%c\" or \",\" at the end of line %u",
			     is_list ? ']' : '}', above.number);
}

/* Names the escape that YAML does not know. */
static bool add_escape(struct problems *found, struct source *source,
		       const yaml_mark_t *mark)
{
	size_t at = source_offset(source, (unsigned)mark->line + 1,
				  (unsigned)mark->column + 1);

	if (at + 1 >= source->len || source->text[at] != '\\' ||
	    source->text[at + 1] <= ' ' || source->text[at + 1] > '~' ||
	    source_is_secret(source, at + 1))
		return false;
	problem_add_at(found, SEVERITY_ERROR, source, (unsigned)mark->line + 1,
		       (unsigned)mark->column + 1, 2, "yaml",
		       "unknown escape \"\\%c\" in a double-quoted string",
		       source->text[at + 1]);
	problem_hint(found,
		     "write \\\\ for a \\, or use single quotes, where a "
		     "\\ is only a \\");
	return true;
}

/* Explains a missing comma, which is clear from the strings of JSON. */
static bool add_no_comma(struct problems *found, struct source *source,
			 const yaml_mark_t *mark)
{
	size_t at = source_offset(source, (unsigned)mark->line + 1,
				  (unsigned)mark->column + 1);

	if (at >= source->len || source->text[at] != '"')
		return false;
	add(found, source, mark, "a \",\" is missing before this", NULL);
	return true;
}

/* Explains a string without its closing quote, at its start. */
static void add_unterminated(struct problems *found, struct source *source,
			     const yaml_mark_t *start)
{
	size_t at = source_offset(source, (unsigned)start->line + 1,
				  (unsigned)start->column + 1);
	bool is_single = at < source->len && source->text[at] == '\'';

	add(found, source, start,
	    is_single ? "unterminated single-quoted string"
		      : "unterminated double-quoted string",
	    "the string starts here and has no closing quote");
}

#define KEY_MAX 1024

/* Explains a key that is too long: libyaml gives it up and reports something
 * else. */
static bool add_long_key(struct problems *found, struct source *source,
			 const yaml_mark_t *mark)
{
	struct source_line line = line_at(source, (unsigned)mark->line + 1);
	yaml_mark_t start = *mark;
	const char *colon = memmem(line.text, line.len, ": ", 2);
	char message[96];

	if (!colon && line.len && line.text[line.len - 1] == ':')
		colon = line.text + line.len - 1;
	if (!colon || colon - line.text <= KEY_MAX)
		return false;
	start.column = line.column - 1;
	snprintf(message, sizeof(message),
		 "a key of %zu characters, but YAML allows %d",
		 (size_t)(colon - line.text), KEY_MAX);
	add(found, source, &start, message,
	    "a key this long is usually an unquoted value with \": \" in it");
	return true;
}

/* Reports a problem with our own message, if there is one. */
static bool add_saying(struct problems *found, struct source *source,
		       const yaml_parser_t *parser, const char *problem,
		       const yaml_mark_t *mark)
{
	const yaml_mark_t *start = &parser->context_mark, *other;
	size_t i;

	for (i = 0; i < COUNT(sayings); i++) {
		const struct saying *saying = &sayings[i];

		if (!has(problem, saying->problem) ||
		    !has(parser->context, saying->context))
			continue;
		other = saying->at_start ? mark : start;
		mark = saying->at_start ? start : mark;
		add(found, source, mark, saying->message, saying->hint);
		if (saying->other && (other->line != mark->line ||
				      other->column != mark->column))
			problem_also_at(
				found, source, NULL, (unsigned)other->line + 1,
				(unsigned)other->column + 1, 1, saying->other);
		return true;
	}
	return false;
}

/* Explains what the source around the position says better than libyaml. */
static bool add_explained(struct problems *found, struct source *source,
			  const yaml_parser_t *parser, const char *problem,
			  const yaml_mark_t *mark)
{
	bool no_map = has(problem, "mapping values are not allowed");

	if (has(problem, "cannot start any token"))
		return add_stray(found, source, mark);
	if (has(problem, "unknown escape character"))
		return add_escape(found, source, mark);
	if (has(problem, "did not find expected key"))
		return has(parser->context, "block mapping") &&
		       add_between(found, source, parser, mark);
	if (has(problem, "expected ',' or")) {
		if (!add_no_comma(found, source, mark))
			add_open(found, source, parser, *mark);
		return true;
	}
	if (!no_map && !has(problem, "could not find expected ':'"))
		return false;
	return add_long_key(found, source, mark) ||
	       add_long_key(found, source, &parser->context_mark) ||
	       (no_map && add_misplaced(found, source, mark));
}

void syntax_problem(struct problems *found, struct source *source,
		    const yaml_parser_t *parser)
{
	const yaml_mark_t *mark = &parser->problem_mark;
	const char *problem = parser->problem ? parser->problem : "no YAML";

	if (parser->error == YAML_MEMORY_ERROR)
		mem_out();
	if (parser->error == YAML_READER_ERROR)
		mark = &parser->mark;
	if (has(problem, "found unexpected") &&
	    has(parser->context, "quoted scalar"))
		add_unterminated(found, source, &parser->context_mark);
	else if (!add_explained(found, source, parser, problem, mark) &&
		 !add_saying(found, source, parser, problem, mark))
		add(found, source, mark, problem, NULL);
}
