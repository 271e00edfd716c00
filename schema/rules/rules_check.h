/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the functions behind the rules share.  They look at the job as it was
 * filled, and at its nodes only for places.  A value that was refused is
 * unknown to them: they keep silent, since there is a problem already.
 */
#ifndef JOBRUN_RULES_CHECK_H
#define JOBRUN_RULES_CHECK_H

#include <string.h>

#include "core/job/catalogue.h"
#include "schema/yaml/node.h"
#include "schema/rules/rules.h"

/* Places that the next problem is about, too. */
struct others {
	const struct node *nodes[PROBLEM_LABELS_MAX];
	const char *labels[PROBLEM_LABELS_MAX];
	size_t count;
};

struct check {
	const struct rule *rule;
	const struct job *job;
	const struct training_input *in; /* of the job */
	unsigned traits;                 /* AI Platform's if nobody said */
	bool asked;                      /* somebody did */
	const struct catalogue *catalogue;
	struct problems *found;
	struct others *others;
};

/* The same for each kind of replica. */
struct role {
	const char *title;                 /* "parameter server" */
	const char *type, *count, *config; /* names of fields; no count: one */
	size_t type_offset, count_offset, config_offset;
};

enum {
	ROLE_MASTER,
	ROLE_WORKER,
	ROLE_PARAMETER_SERVER,
	ROLE_EVALUATOR,
	ROLE_COUNT,
};

extern const struct role roles[ROLE_COUNT];

const char *role_type(const struct training_input *in, int role);
long role_count(const struct training_input *in, int role); /* master: 1 */
const struct replica_config *role_config(const struct training_input *in,
					 int role);
/* The image that it runs: its own, or the master's. */
const char *role_image(const struct training_input *in, int role);

/* Where the field was given, in either spelling; NULL if it was not. */
const struct node *value_of(const void *message, const char *name);
const struct node *key_of(const void *message, const char *name);

/* Was tried, and is not known. */
bool input_refused(const struct check *check, const char *name);
bool config_refused(const struct replica_config *config, const char *name);

/* "line 3", or "base.yaml:3" if that is another file than `here` is in.  The
 * next problem of the rule has this as another place, with the label. */
#define LINE_SIZE 96
const char *line_of(const struct check *check, const struct node *node,
		    const struct node *here, const char *label,
		    char out[LINE_SIZE]);

/* Add a problem at the node; `path` is that of the field. */
void broken(const struct check *check, const struct node *at, const char *path,
	    const char *format, ...) __attribute__((format(printf, 4, 5)));
void doubtful(const struct check *check, const struct node *at,
	      const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * A name that the catalogue has not.  The file that says `provider:
 * ai-platform` is of a closed world, and this an error; anywhere else what is
 * newer than the catalogue is as good as what is in it, and this a warning.
 */
bool is_closed(const struct check *check);
void unknown(const struct check *check, const struct node *at, const char *path,
	     const char *value, const char *what);

/* Doubtful for AI Platform's past, and a note if nobody named a provider. */
void dated(const struct check *check, const struct node *at, const char *path,
	   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What the job has of TPUs. */
/* What a machine type is, as far as its name says it. */
enum category {
	CATEGORY_UNKNOWN,
	CATEGORY_LEGACY,
	CATEGORY_COMPUTE,
};
/* "n1-standard-8": letters, a digit, and after a hyphen more of both. */
bool looks_like_compute(const char *type);
enum category category_of(const struct check *check, const char *type);

bool is_cloud_tpu(const char *type);
bool is_tpu(const char *accelerator);
bool uses_tpu(const struct check *check);

/* rules_world.c */
void check_accelerator_known(const struct check *check);

/* rules_machine.c */
void check_custom_master(const struct check *check);
void check_only_custom(const struct check *check);
void check_types(const struct check *check);
void check_one_category(const struct check *check);
void check_machine_types(const struct check *check);
void check_machine_known(const struct check *check);
void check_accelerator_pairs(const struct check *check);
void check_accelerators(const struct check *check);
void check_accelerator_region(const struct check *check);

/* rules_tpu.c */
void check_tpu_accelerator(const struct check *check);
void check_tpu_one(const struct check *check);
void check_tpu_count(const struct check *check);
void check_tpu_slice(const struct check *check);
void check_tpu_tf(const struct check *check);
void check_tpu_runtime(const struct check *check);
void check_tpu_region(const struct check *check);
void check_tpu_zone(const struct check *check);

/* rules_program.c */
void check_image_or_runtime(const struct check *check);
void check_container_args(const struct check *check);
void check_runtime(const struct check *check);
void check_python(const struct check *check);

/* rules_place.c */
void check_region(const struct check *check);
void check_zone(const struct check *check);
void check_zone_in_region(const struct check *check);

/* rules_hyperparameters.c */
void check_parameter_names(const struct check *check);
void check_parameter_range(const struct check *check);
void check_parameter_values(const struct check *check);
void check_parameter_scale(const struct check *check);
void check_parameter_fields(const struct check *check);
void check_parameters(const struct check *check);
void check_grid_search(const struct check *check);
void check_trials(const struct check *check);

/* rules_jobrun.c */
void check_secrets(const struct check *check);
void check_secret_names(const struct check *check);
void check_own_variable(const struct check *check);
void check_processes_place(const struct check *check);
void check_checkpoints(const struct check *check);
void check_launcher(const struct check *check);

#endif
