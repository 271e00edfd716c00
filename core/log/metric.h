/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers in a line of a trainer's output.  Read are
 *  - NAME=VALUE and NAME: VALUE with known names (loss, accuracy, rate ...),
 *    as PyTorch/XLA, TensorFlow, Keras, Lightning, Hugging Face's trainer and
 *    the examples of PyTorch print them;
 *  - where in the training that is: Epoch and Step in the same forms, "Epoch
 *    3/10", "Step [100/600]", and the bars of Keras and tqdm;
 *  - what the job's own patterns find.
 * Names are compared without regard to case, and of two values of a name the
 * last counts, unless a pattern has found one.  Any bytes may be in a line; of
 * a long one only the first METRIC_LINE_MAX are looked at.
 */
#ifndef JOBRUN_METRIC_H
#define JOBRUN_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/job/message.h"

#define METRIC_NAME_SIZE 64 /* with the NUL; longer names are no metrics */
#define METRIC_LINE_MAX 4096
#define METRIC_VALUES_MAX 32 /* of one line; more are passed over */

enum metric_goal {
	METRIC_NEUTRAL, /* neither direction is better */
	METRIC_LOWER,   /* a loss */
	METRIC_HIGHER,  /* an accuracy */
};

struct metric_value {
	char name[METRIC_NAME_SIZE]; /* as it stood in the line */
	double value;                /* may be NaN or infinite */
	enum metric_goal goal;
	bool adds; /* the values of all tasks add up: images per second */
};

struct metric_sample {
	double epoch; /* -1: not known */
	int64_t step; /* -1: not known */
	size_t count;
	struct metric_value values[METRIC_VALUES_MAX];
};

/* Values that a line passes on to later lines of the same stream. */
struct metric_carry {
	double epoch; /* -1: none yet */
};

struct metric_parser;

/* Borrows the patterns (NULL: none): a metric's name to the extended regular
 * expression whose first group is its value. */
struct metric_parser *metric_parser_new(const struct pairs *patterns,
					struct error *err);
/* Reads this name, too, in the forms that the known ones have.  Borrowed. */
void metric_parser_know(struct metric_parser *parser, const char *name);
/* Adds which patterns were given up, and in how many lines; false: none. */
bool metric_parser_missed(const struct metric_parser *parser, struct buf *out);
void metric_parser_free(struct metric_parser *parser);

/* One line, without control characters that end one ('\n', '\r').  Returns
 * the number of values: with 0 the sample says nothing. */
size_t metric_parse(const struct metric_parser *parser,
		    struct metric_carry *carry, const char *text, size_t len,
		    struct metric_sample *out);

/*
 * The same for many lines at a time, which is cheap with patterns, too: lines
 * are added until there is no room for one, looked at, and then taken in that
 * order.  metric_parser_match() returns false if it takes longer than `wait_ms`
 * (-1: as long as it takes); then call it again.
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

/* A number as trainers print it, "nan", "-inf" and "1,234.5" too.  Returns how many
 * bytes it takes, or 0 if there is none. */
size_t metric_number(const char *text, size_t len, double *out);

#endif
