/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a tree of nodes to JSON, with the types that YAML gives: for fields
 * whose form somebody else defines. */
#ifndef JOBRUN_NODE_JSON_H
#define JOBRUN_NODE_JSON_H

#include <jansson.h>

#include "schema/yaml/node.h"

/* Returns new. */
json_t *node_json(const struct node *node);

#endif
