/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the messages of a job file.  To add a field: a row in the
 * table, a member in core/job/job.h, a valid and an invalid file in
 * tests/cli/validate/.
 *
 * The rows are in the order in which AI Platform printed the messages in
 * TF_CONFIG; later fields follow.
 */
#ifndef JOBRUN_TABLES_H
#define JOBRUN_TABLES_H

#include "core/job/message.h"

extern const struct message message_job;
extern const struct message message_training_input;
extern const struct message message_replica_config;
extern const struct message message_hyperparameter_spec;
extern const struct message message_jobrun;
/* Parts of it: */
extern const struct message message_data_set;
extern const struct message message_checkpoints;
extern const struct message message_logs;
extern const struct message message_metrics;
extern const struct message message_restart;
extern const struct message message_docker;
extern const struct message message_container;
extern const struct message message_preflight;
extern const struct message message_conda;

#endif
