/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a run's specification in spec.json: message_json() with
 * MESSAGE_PLAIN writes it, message_read() reads it.  A new member is one row.
 */
#ifndef JOBRUN_SPEC_TABLES_H
#define JOBRUN_SPEC_TABLES_H

#include "core/job/message.h"

extern const struct message spec_message; /* of struct run_spec */

/* The parts: */
extern const struct message spec_set_message; /* of struct data_set */
/* A struct run_data is an object with one member, "data". */
extern const struct message spec_data_message;

#endif
