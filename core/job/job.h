/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job is.  `trainingInput` is AI Platform Training's v1 message, every
 * field
 * (https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs);
 * the `jobrun:` block has everything that the message cannot express.  The
 * tables that fill these structs are in schema/; core knows no YAML.
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

/* The first four are in the order of their rows' values. */
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
	const char *env;  /* the variable with the value, or NULL */
	const char *file; /* the file with the value, or NULL */
};

/* A set of shards of training data, and how processes share it. */
struct data_set {
	struct message_head head;
	const char *name;     /* "train" */
	struct strings urls;  /* with braces: gs://b/train-{000..639}.tar */
	const char *index;    /* the URL of their shards.json, or NULL */
	bool split_by_host;   /* each host has its own shards */
	bool split_by_device; /* and so has each process of a host */
	bool shuffle;         /* in another order in each epoch */
	long seed;
	int uneven;             /* enum split_uneven */
	const char *cache;      /* a folder where the tasks run, or NULL */
	const char *cache_size; /* as size_parse() reads it */
	/* Not from a key: the folder that the index must be below, or NULL;
	 * whether `uneven` is SPLIT_EXACT, for specifications. */
	const char *root;
	bool exact;
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

/* Used only if the file has it: ask message_has(). */
struct checkpoints {
	struct message_head head;
	/* where the program writes them; NULL: a folder of the run */
	const char *directory;
	const char *to;      /* gs:// or a directory; NULL: not copied */
	long keep;           /* the last N, or with `metric` the best N */
	const char *metric;  /* or NULL */
	int goal;            /* enum checkpoint_goal, of the metric */
	int resume;          /* enum checkpoint_resume */
	long quiet_period_s; /* a file unchanged for so long is complete */
};

/* Used only if `to` is set. */
struct upload_logs {
	struct message_head head;
	const char *to; /* gs:// or a directory */
	long every_s;   /* the interval between copies */
};

struct metrics {
	struct message_head head;
	struct pairs patterns; /* regular expressions by metric */
};

enum restart_action {
	RESTART_ACTION_RESTART,
	RESTART_ACTION_FAIL,
};

/* Holds for an attempt that ended in one of these ways; a rule that names none
 * holds for every attempt. */
struct restart_rule {
	struct message_head head;
	struct strings exit_codes; /* "1", "64-127" */
	struct strings signals;    /* "SIGSEGV" */
	bool preempted;            /* or its host was lost in another way */
	int action;                /* enum restart_action */
};

struct restart {
	struct message_head head;
	/* of struct restart_rule; the first that holds decides */
	struct messages rules;
	long max_restarts;    /* after failures */
	long max_preemptions; /* after preemptions, which are counted apart */
	long backoff_s;       /* before the first restart; doubled each time */
	long max_backoff_s;
};

/* Used only if `image` is set. */
struct docker {
	struct message_head head;
	const char *image;
	struct strings run_flags; /* of `docker run` */
};

/* Used only if the file has it: ask job_has(). */
struct container_block {
	struct message_head head;
	const char *runtime; /* a name, "auto" or "none" */
	const char *image;   /* replaces the tasks' own, or NULL */
	struct strings mounts;
	/* NULL: where the program starts without a container */
	const char *workdir;
	struct strings options; /* options of the runtime */
};

/* What each host is tested for before anything of the job runs there. */
struct preflight {
	struct message_head head;
	bool devices;
	bool peers;
	const char *bandwidth; /* as size_parse() reads it; NULL: any */
	long clock_skew_s;     /* 0: any */
	const char *disk;      /* as size_parse() reads it; NULL: any */
	struct strings command;
};

/* Used only if `env` is set. */
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

enum after_state {
	AFTER_SUCCEEDED,
	AFTER_ENDED, /* in whatever state */
};

/* Another job that must have run before this one starts. */
struct after {
	struct message_head head;
	const char *job; /* its jobId */
	int state;       /* enum after_state */
};

/* A provider's own fields: `jobrun: NAME:`. */
struct job_block {
	const char *name;
	const struct message *message;
	void *data; /* its struct, defaults filled in */
};

/* One process of the program per GPU or TPU chip of a machine. */
#define PROCESSES_DEVICE "device"

struct jobrun_block {
	struct message_head head;
	/* a provider's name, never NULL after loading */
	const char *provider;
	struct strings extends; /* empty after loading: already merged */
	const char *project;
	const char *zone;
	const char *network;  /* for machines that jobrun makes, or NULL */
	const char *staging;  /* gs:// directory for uploads */
	struct strings hosts; /* [USER@]HOST[:PORT]; none: this machine */
	long host_lease_s;    /* how long they go on without contact */
	const char *host_directory;     /* on each; NULL: the user's home */
	const char *processes_per_host; /* "4", or PROCESSES_DEVICE */
	struct docker docker;
	struct container_block container;
	struct conda conda;
	struct preflight preflight;
	const char *source;     /* a directory, relative to the job's file */
	struct strings command; /* instead of pythonModule */
	struct strings setup;   /* a command, run once per host before it */
	struct pairs env;
	struct messages secrets; /* of struct secret */
	struct messages data;    /* of struct data_set */
	struct checkpoints checkpoints;
	struct upload_logs logs;
	struct metrics metrics;
	struct restart restart;
	struct messages after; /* of struct after */
	int cleanup;   /* enum cleanup: of resources billed by the hour */
	long grace_s;  /* between SIGTERM and SIGKILL */
	int on_change; /* enum on_change */
	/* One for each provider with fields of its own. */
	struct job_block *blocks;
	size_t block_count;
};

enum reach_use {
	REACH_READS, /* shipped, or read by what runs here */
	REACH_WRITES,
	REACH_SECRET, /* opened only when the job is applied */
	REACH_KEY,    /* the same; it proves to others who we are */
	REACH_CHOSEN, /* chosen by an option: the operator knows of it */
};

/* A path that leads out of the job's root (core/job/boundary.h). */
struct job_reach {
	enum reach_use use;
	const char *field; /* "jobrun.source"; for a secret: its name */
	const char *path;  /* as a process here would write it */
	const char *root;  /* the folder that allows it; NULL: anywhere */
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
	const char *folder; /* the base of its relative paths */
	/* the folder that its paths stay below, or NULL: not known */
	const char *root;
	const char *set; /* the set that it is applied in, or NULL */
	/* paths that lead out of the root nevertheless */
	struct job_reach *reaches;
	size_t reach_count;
	/* Set by job_find_origin(), else NULL: see core/job/origin.h.
	 * `real_file` is the file, absolute and without links. */
	const char *origin;
	const char *real_file; /* NULL: standard input */
	const char *revision;  /* by revision_set(), else NULL */
	/* Jobs of the same command that were digested earlier: files that
	 * several of them ship are read once.  They outlive this one; or
	 * NULL. */
	const struct job *const *before;
	size_t before_count;
	/* The digests of its source and its packages; set by job_digest(). */
	struct strings contents;
	const char *contents_name; /* private */
	/* Paths that jobrun writes itself, absolute and without links;
	 * borrowed. */
	const char *const *never;
	size_t never_count;
	const struct message *message;          /* the table that filled it */
	const struct message *training_message; /* of training_input */
	/* Set by job_digest(), else "".  The first names runs, and older
	 * versions know it; the second distinguishes jobs. */
	struct digest digest, digest2;
	struct digest source_digest; /* of `source`, or "" */
	size_t source_files;
	uint64_t source_bytes;
	const char *source_at;     /* "a.yaml:3:9", or NULL */
	const char *source_odd;    /* set by source_oddness(), or NULL */
	const char *source_folder; /* without links, for tree_open_file() */
	/* The files in it, for core/job/source.h; NULL if they are too many. */
	const struct tree_entry *source_entries;
	size_t source_entry_count;
	/* The names left out of the source, and their number by reason: see
	 * source_reason_text(). */
	const struct tree_left_out *source_left_out;
	size_t source_left_out_count;
	size_t source_left_out_total[SOURCE_REASON_COUNT];
	/* Files that are likely to be secrets, the first ones by path. */
	struct strings source_secrets;
};

void job_free(struct job *job); /* frees its arena, and so the job */

/* The struct of a provider's own fields, or NULL if it has none. */
const void *job_block(const struct job *job, const char *provider);

/* Whether the file has the field below `jobrun`: "restart", "checkpoints", … */
bool job_has(const struct job *job, const char *field);

/*
 * The whole job as JSON, with its own provider's block and any others in the
 * file; `style` as for message_json().  Returns new.
 */
json_t *job_json(const struct job *job, unsigned style);

/*
 * Fills in the digests: SHA-256 over canonical JSON, the contents of `source`
 * and of local packages.  Digest 2 covers what the file says, except values
 * that equal a default; digest 1 also covers the defaults of the fields that it
 * knows.  Neither a new field nor a changed default alters them
 * (core/job/message.h).  Reads files, so the cost grows with the bytes below
 * `source`.
 */
int job_digest(struct job *job, struct error *err);

/* Finds out whom the job belongs to, by looking at folders. */
void job_find_origin(struct job *job);

/* Labels have no room for the last digit of a digest. */
#define DIGEST_LABEL 63

/* Whether a run with these digests ran this job.  Digest 2 decides if the run
 * has it; if it is NULL or "", as written by an older jobrun, digest 1 does.
 * Older versions shipped files that ignore lists name, so the source is read
 * once more. */
bool job_was_run(const struct job *job, const char *digest,
		 const char *digest2);

/* The path that `name` in the file stands for: relative to the file's folder,
 * or with "~/" to the user's home.  Lives in the job's arena. */
const char *job_path(const struct job *job, const char *name);
/* The same for any thread, returned new, as the arena is not thread-safe. */
char *job_path_new(const struct job *job, const char *name);

/* The folder that a path of job_path() must be below when it is opened
 * (core/base/beneath.h); NULL: it may be anywhere. */
const char *job_root(const struct job *job, const char *path);
/* The same for a local package, by its index in packageUris. */
const char *job_package_root(const struct job *job, size_t i);

/* The name that the service gave to the master: "chief" or "master" (custom
 * containers have a master unless useChiefInTfConfig says chief; runtime
 * versions from 2.1 on have a chief: AI Platform's release notes). */
const char *job_master_name(const struct job *job);

/* Whether a worker type is a Cloud TPU ("cloud_tpu"). */
bool job_uses_tpu(const struct job *job);

#endif
