/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the functions behind the rules.  They examine the filled job, and
 * its nodes only for positions.  A rejected value is unknown to them, and they
 * stay silent about it, since it is already a problem.
 */
#ifndef JOBRUN_RULES_CHECK_H
#define JOBRUN_RULES_CHECK_H

#include <string.h>

#include "core/job/catalogue.h"
#include "core/job/machines.h"
#include "schema/yaml/node.h"
#include "schema/rules/rules.h"

/* Related places of the next problem. */
struct others {
	const struct node *nodes[PROBLEM_LABELS_MAX];
	const char *labels[PROBLEM_LABELS_MAX];
	size_t count;
};

struct check {
	const struct rule *rule;
	const struct job *job;
	const struct training_input *in; /* of the job */
	unsigned traits;                 /* AI Platform's if none was given */
	bool asked;                      /* somebody did */
	bool elsewhere; /* the job is of another provider: only notes */
	const struct catalogue *catalogue;
	struct problems *found;
	struct others *others;
};

/* The names of the fields of each role. */
struct role_fields {
	const char *title; /* "parameter server" */
	/* names of fields; `count` NULL: always one */
	const char *type, *count, *config;
};

extern const struct role_fields roles[ROLE_COUNT];

/* The position of the field, in either spelling; NULL if it was not given. */
const struct node *value_of(const void *message, const char *name);
const struct node *key_of(const void *message, const char *name);

/* Whether the field was given but rejected. */
bool input_refused(const struct check *check, const char *name);
bool config_refused(const struct replica_config *config, const char *name);

/* "line 3", or "base.yaml:3" if that is not the file of `here`.  The place is
 * added to the rule's next problem, with the label. */
#define LINE_SIZE 96
const char *line_of(const struct check *check, const struct node *node,
		    const struct node *here, const char *label,
		    char out[LINE_SIZE]);

/* Add a problem at the node; `path` is the field's path. */
void broken(const struct check *check, const struct node *at, const char *path,
	    const char *format, ...) __attribute__((format(printf, 4, 5)));
void doubtful(const struct check *check, const struct node *at,
	      const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Labels another place of the problem that was just added; `at` may be NULL. */
void mark_also(const struct check *check, const struct node *at,
	       const char *label);

/*
 * Whether a name missing from the catalogue is an error.  For a file with
 * `provider: ai-platform` it is, as that world is closed; elsewhere a name may
 * be newer than the catalogue, and it is a warning.
 */
bool is_closed(const struct check *check);
void unknown(const struct check *check, const struct node *at, const char *path,
	     const char *value, const char *what);

/* Reports what is doubtful for AI Platform's past: a note if no provider was
 * named, or another one. */
void dated(const struct check *check, const struct node *at, const char *path,
	   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The job's TPUs. */
/* The category of a machine type, as far as its name says it. */
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
void check_machine_accelerator(const struct check *check);
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
void check_docker_hosts(const struct check *check);
void check_block_fits(const struct check *check);
void check_processes_place(const struct check *check);
void check_checkpoints(const struct check *check);
void check_launcher(const struct check *check);
void check_after(const struct check *check);

#endif
