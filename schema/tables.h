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
/* Parts of it: */
extern const struct message message_data_set;
extern const struct message message_checkpoints;
extern const struct message message_metrics;
extern const struct message message_restart;

/* Checks of the form of a text, for the rows. */
int check_job_id(const char *value, struct error *err);
int check_seconds(const char *value, struct error *err); /* "3600s" */
int check_label(const char *value, struct error *err);
int check_label_key(const char *key, struct error *err);
int check_variable(const char *name, struct error *err);
int check_email(const char *value, struct error *err);
int check_image(const char *value, struct error *err);   /* of a container */
int check_url(const char *value, struct error *err);     /* gs:// or a path */
int check_module(const char *value, struct error *err);  /* trainer.task */
int check_version(const char *value, struct error *err); /* "2.11" */
int check_peered(const char *value, struct error *err);  /* a network */
int check_kms_key(const char *value, struct error *err);
int check_project(const char *value, struct error *err);
int check_host(const char *value, struct error *err);
int check_pattern(const char *value, struct error *err);    /* of a metric */
int check_exit_codes(const char *value, struct error *err); /* "64-127" */
int check_signal(const char *value, struct error *err);     /* "SIGSEGV" */

/* The same provider lists in many rows: none honours it yet. */
extern const char *const no_provider[];

#define JOB_ID_MAX 128

#endif
