/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job is.  `trainingInput` is AI Platform Training's v1 message, every
 * field (https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs);
 * the `jobrun:` block is everything that it had no word for.  The tables that
 * fill these structs are in schema/; core knows no YAML.
 */
#ifndef JOBRUN_JOB_H
#define JOBRUN_JOB_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/data/source_rules.h"
#include "core/job/message.h"

struct tree_entry;
struct tree_left_out;

enum scale_tier {
	SCALE_TIER_UNSPECIFIED,
	SCALE_TIER_BASIC,
	SCALE_TIER_STANDARD_1,
	SCALE_TIER_PREMIUM_1,
	SCALE_TIER_BASIC_GPU,
	SCALE_TIER_BASIC_TPU,
	SCALE_TIER_CUSTOM,
};

struct accelerator_config {
	struct message_head head;
	long count;
	const char *type; /* "TPU_V3", "NVIDIA_TESLA_T4" */
};

struct disk_config {
	struct message_head head;
	const char *boot_disk_type;
	long boot_disk_size_gb;
};

struct replica_config {
	struct message_head head;
	struct accelerator_config accelerator_config;
	const char *image_uri;
	const char *tpu_tf_version;
	struct disk_config disk_config;
	struct strings container_command;
	struct strings container_args;
};

/* These four in the order of their rows' values. */
enum parameter_type {
	PARAMETER_TYPE_UNSPECIFIED,
	PARAMETER_DOUBLE,
	PARAMETER_INTEGER,
	PARAMETER_CATEGORICAL,
	PARAMETER_DISCRETE,
};

enum scale_type {
	SCALE_NONE,
	SCALE_LINEAR,
	SCALE_LOG,
	SCALE_REVERSE_LOG,
};

enum goal_type {
	GOAL_UNSPECIFIED,
	GOAL_MAXIMIZE,
	GOAL_MINIMIZE,
};

enum search_algorithm {
	ALGORITHM_UNSPECIFIED,
	ALGORITHM_GRID_SEARCH,
	ALGORITHM_RANDOM_SEARCH,
};

struct parameter_spec {
	struct message_head head;
	const char *parameter_name;
	int type; /* enum parameter_type */
	double min_value;
	double max_value;
	struct strings categorical_values;
	struct doubles discrete_values;
	int scale_type; /* enum scale_type */
};

struct hyperparameter_spec {
	struct message_head head;
	int goal;               /* enum goal_type */
	struct messages params; /* of struct parameter_spec */
	long max_trials;
	long max_parallel_trials;
	long max_failed_trials;
	const char *metric_tag;
	const char *resume_previous_job_id;
	bool enable_trial_early_stopping;
	int algorithm; /* enum search_algorithm */
};

struct encryption_config {
	struct message_head head;
	const char *kms_key_name;
};

struct scheduling {
	struct message_head head;
	long max_running_time_s;
	long max_wait_time_s;
	long priority;
};

struct training_input {
	struct message_head head;
	int scale_tier; /* enum scale_tier */
	const char *master_type;
	const char *worker_type;
	const char *parameter_server_type;
	const char *evaluator_type;
	long worker_count;
	long parameter_server_count;
	long evaluator_count;
	struct strings package_uris;
	const char *python_module;
	struct strings args;
	struct hyperparameter_spec hyperparameters;
	const char *region;
	const char *job_dir;
	const char *runtime_version;
	const char *python_version;
	struct replica_config master_config;
	struct replica_config worker_config;
	struct replica_config parameter_server_config;
	struct replica_config evaluator_config;
	struct encryption_config encryption_config;
	struct scheduling scheduling;
	const char *network;
	const char *service_account;
	bool use_chief_in_tf_config;
	bool enable_web_access;
};

struct secret {
	struct message_head head;
	const char *name; /* of the variable that the tasks see */
	const char *env;  /* the variable to take it from, or NULL */
	const char *file; /* the file to take it from, or NULL */
};

/* A set of shards of training data, and how processes share it. */
struct data_set {
	struct message_head head;
	const char *name;     /* "train" */
	struct strings urls;  /* with braces: gs://b/train-{000..639}.tar */
	const char *index;    /* the URL of their shards.json, or NULL */
	bool split_by_host;   /* each host has shards of its own */
	bool split_by_device; /* and each process of a host */
	bool shuffle;         /* another order of shards each epoch */
	long seed;
	int uneven;             /* enum split_uneven */
	const char *cache;      /* a folder where the tasks run, or NULL */
	const char *cache_size; /* as size_parse() reads it */
	/* Not from a key: what the index must be below, or NULL. */
	const char *root;
};

enum checkpoint_goal {
	CHECKPOINT_GOAL_UNSPECIFIED,
	CHECKPOINT_GOAL_MAXIMIZE,
	CHECKPOINT_GOAL_MINIMIZE,
};

enum checkpoint_resume {
	CHECKPOINT_RESUME_NEWEST,
	CHECKPOINT_RESUME_BEST,
	CHECKPOINT_RESUME_NONE,
};

/* Used if the file has it: ask message_has(). */
struct checkpoints {
	struct message_head head;
	const char *directory; /* where the program writes them; NULL: in a
				* folder of the run's own */
	const char *to;        /* gs:// or a directory; NULL: they stay */
	long keep;             /* the last N, or with `metric` the best N */
	const char *metric;    /* or NULL */
	int goal;              /* enum checkpoint_goal, of the metric */
	int resume;            /* enum checkpoint_resume */
	long quiet_period_s;   /* a file left alone for so long is whole */
};

/* Used if `to` is set. */
struct upload_logs {
	struct message_head head;
	const char *to; /* gs:// or a directory */
	long every_s;   /* what is new is copied so often */
};

struct metrics {
	struct message_head head;
	struct pairs patterns; /* a metric to its regular expression */
};

enum restart_action {
	RESTART_ACTION_RESTART,
	RESTART_ACTION_FAIL,
};

/* Holds for an attempt that ended in one of these ways; a rule that names
 * none holds for all. */
struct restart_rule {
	struct message_head head;
	struct strings exit_codes; /* "1", "64-127" */
	struct strings signals;    /* "SIGSEGV" */
	bool preempted;            /* or its host was lost otherwise */
	int action;                /* enum restart_action */
};

struct restart {
	struct message_head head;
	struct messages
		rules;        /* of struct restart_rule; the first that holds */
	long max_restarts;    /* after failures */
	long max_preemptions; /* after preemptions, counted apart */
	long backoff_s;       /* before the first; doubled each time */
	long max_backoff_s;
};

/* Used if `image` is set. */
struct docker {
	struct message_head head;
	const char *image;
	struct strings run_flags; /* of `docker run` */
};

/* Used if the file has it: ask job_has(). */
struct container_block {
	struct message_head head;
	const char *runtime; /* a name, "auto" or "none" */
	const char *image;   /* in place of the tasks' own, or NULL */
	struct strings mounts;
	const char *workdir;    /* NULL: where the program starts without one */
	struct strings options; /* of the runtime */
};

/* Used if `env` is set. */
struct conda {
	struct message_head head;
	const char *env; /* a name or a path */
};

enum cleanup {
	CLEANUP_ALWAYS,
	CLEANUP_ON_SUCCESS,
	CLEANUP_NEVER,
};

enum on_change {
	ON_CHANGE_RERUN,
	ON_CHANGE_FAIL,
};

/* A provider's own fields: `jobrun: NAME:`. */
struct job_block {
	const char *name;
	const struct message *message;
	void *data; /* its struct, defaults filled in */
};

/* A process of the program for each GPU or TPU chip of a machine. */
#define PROCESSES_DEVICE "device"

struct jobrun_block {
	struct message_head head;
	const char *provider;   /* the name of one, never NULL after loading */
	struct strings extends; /* merged already: empty after loading */
	const char *project;
	const char *zone;
	const char *network;  /* of the machines that jobrun makes, or NULL */
	const char *staging;  /* gs:// directory for what is uploaded */
	struct strings hosts; /* [USER@]HOST[:PORT]; none: this machine */
	long host_lease_s;    /* how long they go on without being asked for */
	const char *host_directory;     /* on each; NULL: the user's home */
	const char *processes_per_host; /* "4", or PROCESSES_DEVICE */
	struct docker docker;
	struct container_block container;
	struct conda conda;
	const char *source;     /* a directory, relative to the job's file */
	struct strings command; /* instead of pythonModule */
	struct strings setup;   /* a command, once per host, before it */
	struct pairs env;
	struct messages secrets; /* of struct secret */
	struct messages data;    /* of struct data_set */
	struct checkpoints checkpoints;
	struct upload_logs logs;
	struct metrics metrics;
	struct restart restart;
	int cleanup;   /* enum cleanup: of what is billed by the hour */
	long grace_s;  /* from SIGTERM to SIGKILL */
	int on_change; /* enum on_change */
	/* One for each provider that has fields of its own. */
	struct job_block *blocks;
	size_t block_count;
};

enum reach_use {
	REACH_READS, /* shipped, or read by what runs here */
	REACH_WRITES,
	REACH_SECRET, /* opened when the job is applied, not before */
	REACH_KEY,    /* the same; it proves to others who we are */
	REACH_CHOSEN, /* by an option: the operator knows of it */
};

/* A path that leads out of the job's root (core/job/boundary.h). */
struct job_reach {
	enum reach_use use;
	const char *field; /* "jobrun.source"; of a secret: its name */
	const char *path;  /* as a process here has to say it */
	const char *root;  /* the folder that allows it; NULL: it may lead on */
};

struct job {
	struct message_head head;
	const char *job_id; /* never NULL after loading */
	struct pairs labels;
	const char *etag;
	struct training_input training_input;
	struct jobrun_block jobrun;

	/* Not from a key of the file: */
	struct arena *mem;  /* owns all of the above, and the job itself */
	const char *file;   /* "jobs/a.yaml", or "-" */
	const char *folder; /* where relative paths in it start */
	const char *root;   /* what its paths stay below, or NULL: not known */
	const char *set;    /* what it is applied as one of, or NULL */
	struct job_reach *reaches; /* what leads out of the root all the same */
	size_t reach_count;
	/* Set by job_find_origin(), else NULL: see core/job/origin.h; and the
	 * file, absolute and without links. */
	const char *origin;
	const char *real_file; /* NULL: standard input */
	const char *revision;  /* by revision_set(), else NULL */
	/* Jobs of the same command that were digested before: what several ship
	 * is read once.  They outlive it; or NULL. */
	const struct job *const *before;
	size_t before_count;
	/* The digests of its source and its packages; set by job_digest(). */
	struct strings contents;
	const char *contents_name; /* private */
	/* What jobrun writes itself, absolute and without links; borrowed. */
	const char *const *never;
	size_t never_count;
	const struct message *message;          /* the table it was filled by */
	const struct message *training_message; /* of training_input */
	/* Set by job_digest(), else "".  The first is what runs are named by
	 * and the versions before know; the second tells one job from
	 * another. */
	struct digest digest, digest2;
	struct digest source_digest; /* of `source`, or "" */
	size_t source_files;
	uint64_t source_bytes;
	const char *source_at;     /* "a.yaml:3:9", or NULL */
	const char *source_odd;    /* by source_oddness(), or NULL */
	const char *source_folder; /* without links, for tree_open_file() */
	/* What is in it, for core/job/source.h; NULL if that is too much. */
	const struct tree_entry *source_entries;
	size_t source_entry_count;
	/* The names of what is left out of it, and how much that is by reason:
	 * see source_reason_text(). */
	const struct tree_left_out *source_left_out;
	size_t source_left_out_count;
	size_t source_left_out_total[SOURCE_REASON_COUNT];
	/* Files that are likely to be secrets, the first of them by path. */
	struct strings source_secrets;
};

void job_free(struct job *job); /* its arena, and so the job */

/* The struct of a provider's own fields, or NULL if it has none. */
const void *job_block(const struct job *job, const char *provider);

/* Whether its file has a "restart", "checkpoints", … below `jobrun`. */
bool job_has(const struct job *job, const char *field);

/*
 * The whole job as JSON, with the block of its own provider and those that
 * were given; `style` as for message_json().  Returns new.
 */
json_t *job_json(const struct job *job, unsigned style);

/*
 * Fills in the digests: SHA-256 over canonical JSON, the contents of `source`
 * and of local packages.  Digest 2 has what the file says, but for what equals
 * a default; digest 1 has the defaults, too, of the fields that it knows.  No
 * new field or other default changes either (core/job/message.h).
 * Reads files, so costs grow with the bytes below `source`.
 */
int job_digest(struct job *job, struct error *err);

/* Finds out whose job it is: looks at folders. */
void job_find_origin(struct job *job);

/* Labels have no room for the last digit of a digest. */
#define DIGEST_LABEL 63

/* Whether a run that keeps these digests ran the job: digest 2 decides if it
 * is kept, digest 1 if it is NULL or "", as in what an older jobrun wrote.  It
 * shipped what ignore files list, so the source is read once more. */
bool job_was_run(const struct job *job, const char *digest,
		 const char *digest2);

/* The path of `name` as the file means it: relative to the file's folder, or
 * with "~/" to the user's own.  Lives in the job's arena. */
const char *job_path(const struct job *job, const char *name);
/* The same for any thread, new: the arena is not for several. */
char *job_path_new(const struct job *job, const char *name);

/* The folder below which a path of job_path() must be when it is opened
 * (core/base/beneath.h); NULL: it may be anywhere. */
const char *job_root(const struct job *job, const char *path);
/* The same of a local package, by its place in packageUris. */
const char *job_package_root(const struct job *job, size_t i);

/* The program's name as the service knew its master: "chief" or "master"
 * (custom containers have a master unless useChiefInTfConfig says chief;
 * runtime versions from 2.1 on have a chief: AI Platform's release notes). */
const char *job_master_name(const struct job *job);

/* True if a type of worker is a Cloud TPU ("cloud_tpu"). */
bool job_uses_tpu(const struct job *job);

#endif
