/* SPDX-License-Identifier: Apache-2.0 */
/* Explains libyaml's syntax errors in terms that the author of the file
 * understands. */
#ifndef JOBRUN_SYNTAX_H
#define JOBRUN_SYNTAX_H

#include <yaml.h>

struct problems;
struct source;

/* Adds one problem for the error at which the parser stopped. */
void syntax_problem(struct problems *found, struct source *source,
		    const yaml_parser_t *parser);

#endif
