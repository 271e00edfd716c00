/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/syntax.h"

#include <stdbool.h>
#include <string.h>

#include "core/base/alloc.h"
#include "schema/problem.h"
#include "schema/source.h"

/*
 * Rows are tried in order; the first whose texts are in libyaml's is taken.
 * The message is said of the place of the problem, or of where the thing
 * that it is about began (`at_start`).
 */
static const struct saying {
	const char *problem; /* NULL: any */
	const char *context; /* NULL: any */
	const char *message;
	const char *hint;
	bool at_start;
} sayings[] = {
	{ .problem = "unknown escape character",
	  .message = "unknown escape after \"\\\" in a double-quoted string",
	  .hint = "in single quotes a \\ is only a \\" },
	{ .problem = "mapping values are not allowed",
	  .message = "a \": \" is not expected here",
	  .hint = "text with \": \" in it needs quotes; a key of its own "
		  "needs a line of its own, indented as its neighbours" },
	{ .problem = "could not find expected ':'",
	  .message = "this line is no \"key: value\"",
	  .hint = "a key needs a \":\" and a blank after it",
	  .at_start = true },
	{ .problem = "did not find expected key",
	  .context = "block mapping",
	  .message = "this does not fit the indentation of the lines above",
	  .hint = "the keys of one map start in the same column" },
	{ .problem = "did not find expected '-'",
	  .message = "this does not fit the list above",
	  .hint = "the items of one list start with \"-\" in the same "
		  "column" },
	{ .problem = "block sequence entries are not allowed",
	  .message = "a \"- \" is not expected here",
	  .hint = "a list starts on the line after its key" },
	{ .problem = "block mapping", .message = "a key is not expected here" },
	{ .problem = "mapping keys are not allowed",
	  .message = "a \"? \" is not expected here" },
	{ .problem = "expected ',' or ']'",
	  .message = "the list that starts here with \"[\" is not closed with "
		     "\"]\" or lacks a \",\"",
	  .at_start = true },
	{ .problem = "expected ',' or '}'",
	  .message = "the map that starts here with \"{\" is not closed with "
		     "\"}\" or lacks a \",\"",
	  .at_start = true },
	{ .problem = "alphabetic or numeric character",
	  .context = "alias",
	  .message = "\"*\" begins an alias, and this is no name of one",
	  .hint = "text that begins with * needs quotes" },
	{ .problem = "alphabetic or numeric character",
	  .context = "anchor",
	  .message = "\"&\" begins an anchor, and this is no name of one",
	  .hint = "text that begins with & needs quotes" },
	{ .problem = "tab character",
	  .message = "tab used for indentation",
	  .hint = "YAML is indented with blanks only" },
	{ .problem = "incompatible YAML document",
	  .message = "a YAML version other than 1.1 and 1.2" },
	{ .problem = "undefined tag handle",
	  .message = "a tag that nothing defines",
	  .hint = "text that begins with ! needs quotes" },
	{ .problem = "expected <document start>",
	  .message = "the document has ended, and this is no \"---\"",
	  .hint = "everything of a file is indented under its first keys" },
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

/* "found character that cannot start any token" and what it is. */
static bool add_stray(struct problems *found, struct source *source,
		      const yaml_mark_t *mark)
{
	size_t at = source_offset(source, (unsigned)mark->line + 1,
				  (unsigned)mark->column + 1);
	char c = at < source->len ? source->text[at] : '\0';
	char message[] = "no value can begin with \"?\" unless it is quoted";

	if (c == '\t') {
		add(found, source, mark, "tab used for indentation",
		    "YAML is indented with blanks only");
		return true;
	}
	if (c != '@' && c != '`' && c != '%')
		return false;
	*strchr(message, '?') = c;
	add(found, source, mark, message, "put the value into quotes");
	return true;
}

/* A string without its second quote: what counts is where it starts. */
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

void syntax_problem(struct problems *found, struct source *source,
		    const yaml_parser_t *parser)
{
	const yaml_mark_t *mark = &parser->problem_mark;
	const char *problem = parser->problem ? parser->problem : "no YAML";
	size_t i;

	if (parser->error == YAML_MEMORY_ERROR ||
	    parser->error == YAML_READER_ERROR)
		mark = &parser->mark;
	if (has(problem, "cannot start any token") &&
	    add_stray(found, source, mark))
		return;
	if (has(problem, "found unexpected") &&
	    has(parser->context, "quoted scalar")) {
		add_unterminated(found, source, &parser->context_mark);
		return;
	}
	for (i = 0; i < COUNT(sayings); i++) {
		const struct saying *saying = &sayings[i];

		if (!has(problem, saying->problem) ||
		    !has(parser->context, saying->context))
			continue;
		if (saying->at_start)
			mark = &parser->context_mark;
		add(found, source, mark, saying->message, saying->hint);
		return;
	}
	add(found, source, mark, problem, NULL);
}
