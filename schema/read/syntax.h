/* SPDX-License-Identifier: Apache-2.0 */
/* Explains libyaml's syntax errors in words for the author of the file. */
#ifndef JOBRUN_SYNTAX_H
#define JOBRUN_SYNTAX_H

#include <yaml.h>

struct problems;
struct source;

/* Adds one problem for the error that the parser stopped at. */
void syntax_problem(struct problems *found, struct source *source,
		    const yaml_parser_t *parser);

#endif
