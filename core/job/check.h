/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the form of a string, for the rows of field tables (message.h).
 * Each returns 0, or -1 and says in `err` what was expected.
 * schema/tables/forms.c has the same forms as patterns, for the JSON Schema.
 */
#ifndef JOBRUN_CHECK_H
#define JOBRUN_CHECK_H

#include "core/base/error.h"

#define JOB_ID_MAX 128     /* characters */
#define PROCESSES_MAX 1024 /* of a job on a machine */

int check_job_id(const char *value, struct error *err);
int check_seconds(const char *value, struct error *err); /* "3600s" */
int check_label(const char *value, struct error *err);
int check_label_key(const char *key, struct error *err);
int check_variable(const char *name, struct error *err);
int check_email(const char *value, struct error *err);
int check_image(const char *value, struct error *err); /* of a container */
int check_url(const char *value, struct error *err);   /* gs:// or a path */
/* gs://, s3:// or a path. */
int check_store(const char *value, struct error *err);
int check_module(const char *value, struct error *err);  /* trainer.task */
int check_version(const char *value, struct error *err); /* "2.11" */
int check_peered(const char *value, struct error *err);  /* a network */
int check_kms_key(const char *value, struct error *err);
int check_project(const char *value, struct error *err);
int check_network(const char *value, struct error *err);
/* A Compute Engine name: of a VM, an image family or a zone. */
int check_compute(const char *value, struct error *err);
int check_host(const char *value, struct error *err);
/* "device", or a number of processes. */
int check_processes(const char *value, struct error *err);
/* An absolute path without characters that a shell could interpret. */
int check_host_directory(const char *value, struct error *err);
int check_login(const char *value, struct error *err); /* a user's name */
/* One word of a batch script's options; and a folder in one. */
int check_option(const char *value, struct error *err);
int check_shared_folder(const char *value, struct error *err);
int check_folder(const char *value, struct error *err);     /* absolute */
int check_mount(const char *value, struct error *err);      /* "/a:/b:ro" */
int check_size(const char *value, struct error *err);       /* "64GiB" */
int check_pattern(const char *value, struct error *err);    /* of a metric */
int check_exit_codes(const char *value, struct error *err); /* "64-127" */
int check_signal(const char *value, struct error *err);     /* "SIGSEGV" */
int check_time(const char *value, struct error *err); /* RFC 3339, with zone */

#endif
