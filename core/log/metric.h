/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the numbers in a line of a trainer's output:
 *  - NAME=VALUE and NAME: VALUE with known names (loss, accuracy, rate ...),
 *    as PyTorch/XLA, TensorFlow, Keras, Lightning, Hugging Face's trainer and
 *    the examples of PyTorch print them;
 *  - the position in the training: Epoch and Step in the same forms, "Epoch
 *    3/10", "Step [100/600]", and the bars of Keras and tqdm;
 *  - matches of the job's own patterns.
 * Names are compared without regard to case.  If a name has several values,
 * the last one counts, unless a pattern has found one.  A line may contain any
 * bytes; only its first METRIC_LINE_MAX are examined.
 */
#ifndef JOBRUN_METRIC_H
#define JOBRUN_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/job/message.h"

/* including the NUL; longer names are not metrics */
#define METRIC_NAME_SIZE 64
#define METRIC_LINE_MAX 4096
#define METRIC_VALUES_MAX 32 /* of one line; more are ignored */

enum metric_goal {
	METRIC_NEUTRAL, /* neither direction is better */
	METRIC_LOWER,   /* a loss */
	METRIC_HIGHER,  /* an accuracy */
};

struct metric_value {
	char name[METRIC_NAME_SIZE]; /* as spelt in the line */
	double value;                /* may be NaN or infinite */
	enum metric_goal goal;
	bool adds; /* add the values of all tasks: images per second */
};

struct metric_sample {
	double epoch; /* -1: not known */
	int64_t step; /* -1: not known */
	size_t count;
	struct metric_value values[METRIC_VALUES_MAX];
};

/* Values that carry over from a line to later lines of the same stream. */
struct metric_carry {
	double epoch; /* -1: none yet */
};

struct metric_parser;

/* Borrows the patterns (NULL: none): metric names with an extended regular
 * expression, whose first group is the value. */
struct metric_parser *metric_parser_new(const struct pairs *patterns,
					struct error *err);
/* Recognizes this name too, in the same forms as known names.  Borrowed. */
void metric_parser_know(struct metric_parser *parser, const char *name);
/* Reports which patterns were given up on, and for how many lines; false:
 * none. */
bool metric_parser_missed(const struct metric_parser *parser, struct buf *out);
void metric_parser_free(struct metric_parser *parser);

/* Parses one line without control characters that end it ('\n', '\r').  Returns
 * the number of values; at 0 the sample says nothing. */
size_t metric_parse(const struct metric_parser *parser,
		    struct metric_carry *carry, const char *text, size_t len,
		    struct metric_sample *out);

/*
 * The same for many lines at once, which is faster, also with patterns: add
 * lines until there is no room, match them, and then take the results in that
 * order. metric_parser_match() returns false if it takes longer than `wait_ms`
 * (-1: no limit); then call it again.
 */
bool metric_parser_add(struct metric_parser *parser, const char *text,
		       size_t len);
bool metric_parser_match(struct metric_parser *parser, int64_t wait_ms);
size_t metric_parser_take(const struct metric_parser *parser, size_t i,
			  struct metric_carry *carry,
			  struct metric_sample *out);
size_t metric_parser_added(const struct metric_parser *parser);
void metric_parser_clear(struct metric_parser *parser);
bool metric_parser_has_patterns(const struct metric_parser *parser);

/* Parses a number as trainers print it, including "nan", "-inf" and "1,234.5".
 * Returns its length in bytes, or 0 if there is none. */
size_t metric_number(const char *text, size_t len, double *out);

#endif
