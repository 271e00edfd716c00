/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/log_grep.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/pattern.h"
#include "core/log/log_screen.h"

struct piece_end {
	/* the end of the last piece; empty after a whole line */
	struct buf end;
	bool matched; /* the last piece matched */
};

struct log_grep {
	const regex_t *pattern;
	size_t streams;
	struct piece_end *before; /* by stream */
	struct buf text;          /* for regexec(), which needs a NUL */
	/* a piece preceded by the end of the one before */
	struct buf both;
};

struct log_grep *log_grep_new(const regex_t *pattern, size_t streams)
{
	struct log_grep *grep = mem_alloc(sizeof(*grep));

	grep->pattern = pattern;
	grep->streams = streams;
	grep->before = mem_alloc((streams + 1) * sizeof(*grep->before));
	return grep;
}

void log_grep_free(struct log_grep *grep)
{
	if (!grep)
		return;
	for (size_t i = 0; i < grep->streams; i++)
		buf_done(&grep->before[i].end);
	free(grep->before);
	buf_done(&grep->text);
	buf_done(&grep->both);
	free(grep);
}

static bool is_match(struct log_grep *grep, const struct log_line *line,
		     bool begins)
{
	int flags = (begins ? 0 : REG_NOTBOL) | (line->more ? REG_NOTEOL : 0);
	regmatch_t whole;
	size_t len;

	buf_clear(&grep->text);
	if (!line->plain && log_screen_is_needed(line->text, line->len, false))
		log_screen_text(line->text, line->len, &grep->text);
	else
		buf_add(&grep->text, line->text, line->len);
	/* Its newline is no part of the line. */
	len = grep->text.len;
	if (len && grep->text.data[len - 1] == '\n')
		len--;
	return pattern_match(grep->pattern, buf_text(&grep->text), len, 1,
			     &whole, flags) == 0;
}

/* Whether both pieces together match where the second alone does not. */
static bool is_match_of_both(struct log_grep *grep,
			     const struct piece_end *before,
			     const struct log_line *line, struct log_line *out)
{
	if (!before->end.len)
		return false;
	buf_clear(&grep->both);
	buf_add(&grep->both, before->end.data, before->end.len);
	buf_add(&grep->both, line->text, line->len);
	*out = *line;
	out->text = grep->both.data;
	out->len = grep->both.len;
	out->plain = false;
	return is_match(grep, out, false);
}

static void remember(struct piece_end *before, const struct log_line *line,
		     bool matched)
{
	size_t len = line->len < LOG_GREP_BEFORE ? line->len : LOG_GREP_BEFORE;
	const char *from = line->text + line->len - len;

	buf_clear(&before->end);
	before->matched = matched;
	if (!line->more)
		return;
	/* Do not start within a character. */
	for (int n = 0; n < 3 && len && ((unsigned char)*from & 0xc0) == 0x80;
	     n++, from++, len--)
		;
	buf_add(&before->end, from, len);
}

bool log_grep_take(struct log_grep *grep, size_t stream, struct log_line *line)
{
	struct piece_end *before = &grep->before[stream];
	const struct log_line piece = *line;
	struct log_line both;
	bool found;

	if (line->lost) /* lost bytes might have matched */
		return true;
	if (!line->rest)
		log_grep_forget(grep, stream);
	found = is_match(grep, line, !line->rest);
	if (!found && is_match_of_both(grep, before, line, &both)) {
		found = true;
		/* the end of the piece before was not shown */
		if (!before->matched)
			*line = both;
	}
	remember(before, &piece, found);
	return found;
}

bool log_grep_look(struct log_grep *grep, size_t stream,
		   const struct log_line *line)
{
	struct log_line both;

	return is_match(grep, line, !line->rest) ||
	       (line->rest &&
		is_match_of_both(grep, &grep->before[stream], line, &both));
}

void log_grep_forget(struct log_grep *grep, size_t stream)
{
	buf_clear(&grep->before[stream].end);
	grep->before[stream].matched = false;
}
