/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most lines of a log have no metrics, so memchr() first finds each '=' and
 * ':'; the word before it decides.
 */
#include "core/log/metric.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/pattern.h"
#include "core/log/metric_matcher.h"
#include "core/log/metric_names.h"

#define NUMBER_MAX 40
#define BLANKS_MAX 4

struct pattern {
	const char *name;
	regex_t regex;
};

struct metric_parser {
	struct pattern *patterns;
	const regex_t **regexes; /* the same, for the matcher */
	size_t count;
	struct metric_matcher *matcher; /* NULL without patterns */
	const char *also; /* a further name to recognize, or NULL */
};

/* A line being parsed. */
struct scan {
	const char *text;
	const char *end;
	const char *also; /* see above */
	struct metric_sample *out;
	size_t fixed; /* how many of its values come from patterns */
};

struct metric_parser *metric_parser_new(const struct pairs *patterns,
					struct error *err)
{
	struct metric_parser *parser = mem_alloc(sizeof(*parser));
	size_t count = patterns ? patterns->count : 0;

	parser->patterns = mem_alloc((count + 1) * sizeof(*parser->patterns));
	for (size_t i = 0; i < count; i++) {
		const struct pair *from = &patterns->items[i];
		struct pattern *to = &parser->patterns[i];

		if (pattern_compile(from->value, 0, &to->regex, err) < 0) {
			error_prefix(err, "metric '%s'", from->name);
			metric_parser_free(parser);
			return NULL;
		}
		to->name = from->name;
		parser->count++;
	}
	if (!count)
		return parser;
	parser->regexes = mem_alloc(count * sizeof(*parser->regexes));
	for (size_t i = 0; i < count; i++)
		parser->regexes[i] = &parser->patterns[i].regex;
	parser->matcher = metric_matcher_new(parser->regexes, count);
	return parser;
}

void metric_parser_know(struct metric_parser *parser, const char *name)
{
	parser->also = name;
}

bool metric_parser_missed(const struct metric_parser *parser, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < parser->count; i++) {
		uint64_t lines = metric_matcher_missed(parser->matcher, i);

		if (!lines)
			continue;
		buf_printf(
			out,
			"%sthe pattern of metric '%s' took too long, and was "
			"skipped in %" PRIu64 " line%s",
			any ? "; " : "", parser->patterns[i].name, lines,
			lines == 1 ? "" : "s");
		any = true;
	}
	return any;
}

void metric_parser_free(struct metric_parser *parser)
{
	if (!parser)
		return;
	metric_matcher_free(parser->matcher);
	free(parser->regexes);
	for (size_t i = 0; i < parser->count; i++)
		regfree(&parser->patterns[i].regex);
	free(parser->patterns);
	free(parser);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_/.@-", c));
}

static size_t digits(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && isdigit((unsigned char)*p))
		p++;
	return (size_t)(p - start);
}

/* The length of "nan", "inf" or "infinity", in any case. */
static size_t word_number(const char *p, const char *end)
{
	static const char *const words[] = { "infinity", "inf", "nan" };

	for (size_t i = 0; i < COUNT(words); i++) {
		size_t len = strlen(words[i]);

		if ((size_t)(end - p) >= len && !strncasecmp(p, words[i], len))
			return len;
	}
	return 0;
}

/* The length of ",234" groups after the one to three digits from `p`:
 * "1,234,567". */
static size_t thousands(const char *p, size_t first, const char *end)
{
	const char *at = p + first;

	if (first > 3 || *p == '0')
		return 0;
	while (at < end && *at == ',' && digits(at + 1, end) == 3)
		at += 4;
	/* "1,234,5" is a list. */
	if (at < end && *at == ',' && digits(at + 1, end))
		return 0;
	return (size_t)(at - p) - first;
}

static size_t copy_number(const char *text, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (text[i] != ',')
			out[n++] = text[i];
	out[n] = '\0';
	return n;
}

size_t metric_number(const char *text, size_t len, double *out)
{
	const char *end = text + len;
	const char *p = text;
	char copy[NUMBER_MAX];
	size_t whole, part = 0, exponent;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	whole = word_number(p, end);
	if (whole) {
		p += whole;
	} else {
		whole = digits(p, end);
		p += whole + (whole ? thousands(p, whole, end) : 0);
		if (p < end && *p == '.') {
			part = digits(p + 1, end);
			p += part || whole ? 1 + part : 0;
		}
		if (!whole && !part)
			return 0;
		if (p < end && (*p == 'e' || *p == 'E')) {
			const char *q = p + 1;

			if (q < end && (*q == '-' || *q == '+'))
				q++;
			exponent = digits(q, end);
			if (exponent)
				p = q + exponent;
		}
	}
	len = (size_t)(p - text);
	if (len >= sizeof(copy))
		return 0;
	copy_number(text, len, copy);
	*out = strtod(copy, NULL);
	return len;
}

static const char *skip_blanks(const char *p, const char *end)
{
	for (int n = 0; n < BLANKS_MAX && p < end && is_blank(*p); n++)
		p++;
	return p;
}

/*
 * Reads the number after '=' or ':', also inside a list, string or tensor: 0.5,
 * [3/10], '0.5', tensor(0.5, device=...).  For a fraction (98/100), `of` is the
 * whole, else 0.
 */
static bool read_value(const char *p, const char *end, double *value,
		       double *of)
{
	static const char tensor[] = "tensor(";
	size_t len;

	p = skip_blanks(p, end);
	if ((size_t)(end - p) > sizeof(tensor) &&
	    !memcmp(p, tensor, sizeof(tensor) - 1))
		p += sizeof(tensor) - 1;
	else if (p < end && strchr("[('\"", *p) && *p)
		p++;
	p = skip_blanks(p, end);
	len = metric_number(p, (size_t)(end - p), value);
	if (!len)
		return false;
	p += len;
	*of = 0;
	if (p < end && *p == '/') {
		len = metric_number(p + 1, (size_t)(end - p - 1), of);
		p += len ? 1 + len : 0;
	}
	/* "0.5s" and "12:30:00" are times, "1.2.3" is a version. */
	if (p == end)
		return true;
	if (*p == ':' || *p == '.')
		return p + 1 == end || is_blank(p[1]);
	return !isalnum((unsigned char)*p) && *p != '_';
}

/* The start of the name that ends before `p`; "" if there is none. */
static const char *read_name(const struct scan *scan, const char *p,
			     char name[METRIC_NAME_SIZE])
{
	const char *end;

	name[0] = '\0';
	for (int n = 0; n < BLANKS_MAX && p > scan->text && is_blank(p[-1]);
	     n++)
		p--;
	if (p > scan->text && (p[-1] == '\'' || p[-1] == '"'))
		p--;
	end = p;
	while (p > scan->text && is_name(p[-1]) && end - p < METRIC_NAME_SIZE)
		p--;
	/* "--loss" is an option, and ".5" is not a name. */
	if (p == end || end - p >= METRIC_NAME_SIZE ||
	    !isalpha((unsigned char)*p))
		return p;
	memcpy(name, p, (size_t)(end - p));
	name[end - p] = '\0';
	return p;
}

/* "Max Accuracy=93.33%" repeats an earlier value. */
static bool is_summary(const struct scan *scan, const char *name)
{
	static const char *const words[] = { "max", "min", "best" };
	const char *end = name;

	if (end == scan->text || !is_blank(end[-1]))
		return false;
	end--;
	for (size_t i = 0; i < COUNT(words); i++) {
		size_t len = strlen(words[i]);
		const char *word = end - len;

		if ((size_t)(end - scan->text) >= len &&
		    !strncasecmp(word, words[i], len) &&
		    (word == scan->text || !is_name(word[-1])))
			return true;
	}
	return false;
}

static void set_place(struct metric_sample *out, enum metric_kind kind,
		      double value)
{
	if (!(value >= 0 && value < 9e15)) /* exact in a double */
		return;
	if (kind == METRIC_KIND_EPOCH)
		out->epoch = value;
	else
		out->step = (int64_t)value;
}

/* Adds a value; a later one replaces it unless it comes from a pattern. */
static void add_value(const struct scan *scan, const char *name,
		      const struct metric_name *known, double value)
{
	struct metric_sample *out = scan->out;
	struct metric_value *to;
	size_t i = 0;

	while (i < out->count && strcasecmp(out->values[i].name, name) != 0)
		i++;
	if (i == METRIC_VALUES_MAX || i < scan->fixed)
		return;
	to = &out->values[i];
	out->count += i == out->count;
	strcpy(to->name, name);
	to->value = value;
	to->goal = known ? known->goal : METRIC_NEUTRAL;
	to->adds = known && known->adds;
}

/* Reads the name and the value around one '=' or ':'. */
static void read_pair(const struct scan *scan, const char *at)
{
	const struct metric_name *known;
	char name[METRIC_NAME_SIZE];
	double value, of;
	const char *start;

	/* Ask the cheaper question first. */
	if (!read_value(at + 1, scan->end, &value, &of))
		return;
	start = read_name(scan, at, name);
	known = name[0] ? metric_name_find(name) : NULL;
	if (!known && !(scan->also && !strcasecmp(scan->also, name)))
		return;
	if (known && known->kind != METRIC_KIND_VALUE)
		set_place(scan->out, known->kind, value);
	else if (!is_summary(scan, start))
		add_value(scan, name, known, of > 0 ? value / of : value);
}

static void read_pairs(const struct scan *scan)
{
	const char *equals = scan->text, *colon = scan->text;
	const char *at = scan->text;

	for (;; at++) {
		if (equals && equals <= at)
			equals = memchr(at, '=', (size_t)(scan->end - at));
		if (colon && colon <= at)
			colon = memchr(at, ':', (size_t)(scan->end - at));
		if (!equals && !colon)
			return;
		at = !colon || (equals && equals < colon) ? equals : colon;
		read_pair(scan, at);
		if (at + 1 >= scan->end)
			return;
	}
}

/* Finds the number after a word: "Epoch 3/10", "Epoch [3/10]", "Epoch 3:
 * 42%|". */
static bool word_number_at(const char *p, const char *end, const char *word,
			   double *value)
{
	size_t len = strlen(word);
	double of;

	if ((size_t)(end - p) <= len || strncasecmp(p, word, len) != 0 ||
	    !is_blank(p[len]))
		return false;
	p = skip_blanks(p + len, end);
	if (p == end || (*p != '[' && !isdigit((unsigned char)*p)))
		return false;
	return read_value(p, end, value, &of);
}

/* The step of "120/1875 [" in bars of Keras and tqdm, at the line's start or
 * after the bar. */
static bool bar_step(const char *p, const char *end, double *step)
{
	double of;
	size_t len, more;

	p = skip_blanks(p, end);
	len = digits(p, end);
	if (!len || p + len == end || p[len] != '/')
		return false;
	more = digits(p + len + 1, end);
	if (!more || !metric_number(p, len, step) ||
	    !metric_number(p + len + 1, more, &of))
		return false;
	p += len + 1 + more;
	/* Keras 2 draws bars with '[', Keras 3 with U+2501. */
	return end - p > 3 && *p == ' ' &&
	       (p[1] == '[' || !memcmp(p + 1, "\xe2\x94\x81", 3) ||
		p[1] == '\033');
}

/* Reads the text after tqdm's bar: "| 100/200 [00:01<00:02, 85.3it/s, ...". */
static void read_tqdm(const struct scan *scan, const char *bar)
{
	static const char unit[] = "it/s";
	const struct metric_name *known = metric_name_find(unit);
	double step, rate;
	const char *at, *p;

	if (!bar_step(bar + 1, scan->end, &step))
		return;
	if (scan->out->step < 0)
		scan->out->step = (int64_t)step;
	at = memmem(bar, (size_t)(scan->end - bar), unit, sizeof(unit) - 1);
	if (!at)
		return;
	for (p = at; p > bar && (isdigit((unsigned char)p[-1]) || p[-1] == '.');
	     p--)
		;
	if (metric_number(p, (size_t)(at - p), &rate))
		add_value(scan, unit, known, rate);
}

/* Finds the position in the training, unless a pair has given it. */
static void read_place(const struct scan *scan)
{
	struct metric_sample *out = scan->out;
	const char *p = skip_blanks(scan->text, scan->end);
	const char *bar;
	double value;

	if (out->epoch < 0 && word_number_at(p, scan->end, "epoch", &value))
		set_place(out, METRIC_KIND_EPOCH, value);
	if (out->step < 0 && bar_step(p, scan->end, &value))
		set_place(out, METRIC_KIND_STEP, value);
	bar = memrchr(p, '|', (size_t)(scan->end - p));
	if (bar)
		read_tqdm(scan, bar);
	for (; out->step < 0 && out->count && p; p++) {
		p = memmem(p, (size_t)(scan->end - p), "tep ", 4);
		if (!p)
			break;
		if (p > scan->text &&
		    word_number_at(p - 1, scan->end, "step", &value))
			set_place(out, METRIC_KIND_STEP, value);
	}
}

static void take_match(const struct scan *scan, const struct pattern *pattern,
		       const struct metric_match *match)
{
	const struct metric_name *known = metric_name_find(pattern->name);
	double value;

	if (strlen(pattern->name) >= METRIC_NAME_SIZE || match->from < 0 ||
	    !metric_number(scan->text + match->from,
			   (size_t)(match->to - match->from), &value))
		return;
	if (known && known->kind != METRIC_KIND_VALUE)
		set_place(scan->out, known->kind, value);
	else
		add_value(scan, pattern->name, known, value);
}

/* The user's patterns override anything else in the line. */
static size_t parse(const struct metric_parser *parser, const char *text,
		    size_t len, const struct metric_match *found,
		    struct metric_carry *carry, struct metric_sample *out)
{
	struct scan scan = { .text = text,
			     .end = text + len,
			     .also = parser->also,
			     .out = out };

	out->epoch = -1;
	out->step = -1;
	out->count = 0;
	if (!len)
		return 0;
	for (size_t i = 0; found && i < parser->count; i++)
		take_match(&scan, &parser->patterns[i], &found[i]);
	scan.fixed = out->count;
	read_pairs(&scan);
	read_place(&scan);
	if (out->epoch >= 0)
		carry->epoch = out->epoch;
	else
		out->epoch = carry->epoch;
	return out->count;
}

bool metric_parser_has_patterns(const struct metric_parser *parser)
{
	return parser->count;
}

bool metric_parser_add(struct metric_parser *parser, const char *text,
		       size_t len)
{
	return metric_matcher_add(parser->matcher, text,
				  len < METRIC_LINE_MAX ? len
							: METRIC_LINE_MAX);
}

size_t metric_parser_added(const struct metric_parser *parser)
{
	return metric_matcher_count(parser->matcher);
}

bool metric_parser_match(struct metric_parser *parser, int64_t wait_ms)
{
	return metric_matcher_run(parser->matcher, wait_ms);
}

size_t metric_parser_take(const struct metric_parser *parser, size_t i,
			  struct metric_carry *carry, struct metric_sample *out)
{
	size_t len;
	const char *text = metric_matcher_text(parser->matcher, i, &len);

	return parse(parser, text, len,
		     metric_matcher_found(parser->matcher, i), carry, out);
}

void metric_parser_clear(struct metric_parser *parser)
{
	metric_matcher_clear(parser->matcher);
}

size_t metric_parse(const struct metric_parser *parser,
		    struct metric_carry *carry, const char *text, size_t len,
		    struct metric_sample *out)
{
	const struct metric_match *found = NULL;

	if (len > METRIC_LINE_MAX)
		len = METRIC_LINE_MAX;
	if (len && parser->count) {
		metric_matcher_clear(parser->matcher);
		if (metric_matcher_add(parser->matcher, text, len) &&
		    metric_matcher_run(parser->matcher, -1))
			found = metric_matcher_found(parser->matcher, 0);
	}
	return parse(parser, text, len, found, carry, out);
}
