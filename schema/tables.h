/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the messages of a job file.  To add a field: a row in the
 * table, a member in core/job.h, a valid and an invalid file in
 * tests/cli/validate/.
 *
 * The rows stand in the order in which AI Platform printed the messages in
 * TF_CONFIG; what came later stands after them.
 */
#ifndef JOBRUN_TABLES_H
#define JOBRUN_TABLES_H

#include "core/message.h"

extern const struct message message_job;
extern const struct message message_training_input;
extern const struct message message_replica_config;
extern const struct message message_hyperparameter_spec;
extern const struct message message_jobrun;

/* Checks of the form of a text, for the rows. */
int check_job_id(const char *value, struct error *err);
int check_seconds(const char *value, struct error *err); /* "3600s" */
int check_label(const char *value, struct error *err);
int check_label_key(const char *key, struct error *err);
int check_variable(const char *name, struct error *err);
int check_email(const char *value, struct error *err);

#define JOB_ID_MAX 128

#endif
