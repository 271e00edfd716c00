/* SPDX-License-Identifier: Apache-2.0 */
/* Writes problems as commands for GitHub's runner: one line each, so that no
 * text of a file can end it or begin another. */
#include "schema/problem/problem.h"

#include <string.h>

/* Escapes the value of a property, which ends at "," and ":", or of a message,
 * which ends with the line. */
static void put_escaped(struct buf *out, const char *text, const char *special)
{
	struct buf safe = { 0 };
	const char *p;

	problem_put_safe(&safe, text);
	for (p = buf_text(&safe); *p; p++)
		if (strchr(special, *p))
			buf_printf(out, "%%%02X", (unsigned char)*p);
		else
			buf_putc(out, *p);
	buf_done(&safe);
}

static void put_problem(struct buf *out, const struct problem *p)
{
	static const char *const commands[] = { "error", "warning", "notice" };
	static const char value[] = "%\r\n:,", message[] = "%\r\n";

	buf_printf(out, "::%s file=", commands[p->severity]);
	put_escaped(out, p->at.file, value);
	if (p->at.line)
		buf_printf(out, ",line=%u,col=%u,endColumn=%u", p->at.line,
			   p->at.column, p->at.column + p->at.length);
	buf_puts(out, ",title=");
	put_escaped(out, p->rule, value);
	buf_puts(out, "::");
	put_escaped(out, p->message, message);
	if (p->hint) {
		buf_puts(out, "%0A");
		put_escaped(out, p->hint, message);
	}
	buf_putc(out, '\n');
}

void problems_github(const struct problems *found, struct buf *out)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		put_problem(out, &found->items[i]);
	if (problems_omitted(found))
		buf_printf(out, "::notice::%zu more problems are not shown\n",
			   problems_omitted(found));
}
