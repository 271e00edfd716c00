/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as its supervisor is told to do it: JSON in the run's folder, written
 * by who starts it.  Secrets are named in it, their values are not.
 */
#ifndef JOBRUN_SPEC_H
#define JOBRUN_SPEC_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "core/job/job.h"
#include "core/base/environment.h"
#include "core/job/secret.h"
#include "core/spec/spec_checkpoints.h"
#include "core/spec/spec_data.h"
#include "core/topology/topology.h"

/* Where the raw logs are copied to. */
struct run_logs {
	const char *to; /* the job's own folder; NULL: nowhere */
	long every_s;
};

/* What runs on each host before the program, whenever that is started there,
 * with the variables of the first task there. */
struct run_before {
	const char *what; /* "the XRT server"; NULL: nothing does */
	struct strings command;
};

/* What its tasks run in. */
struct run_container {
	const char *runtime; /* NULL: nothing */
	struct pairs images; /* by type of task */
	struct strings mounts;
	const char *workdir;
	struct strings options;
};

/* The machines that the tasks run on, if not on this one. */
struct run_hosts {
	struct strings names; /* [USER@]HOST[:PORT]; none: this machine */
	struct strings shown; /* what they are called; none: as in `names` */
	const char *nonce;    /* tells this run from others of its name */
	const char *source;   /* what is shipped, absolute, or NULL */
	const char *rule;     /* a command that lets them reach each other */
	/* The command of jobrun that connects to one, given host and port, in
	 * ssh's stead; or NULL. */
	const char *proxy;
	const char *directory; /* what is kept there is below it; NULL: home */
	const char *origin;    /* of the job; NULL: not known */
	const char *digest;    /* of the job */
	bool take_over; /* runs there of another origin's job of that name */
	long lease_s;   /* how long tasks go on without being asked for */
	/* How long they may take to let us in, as new machines do; 0: they are
	 * no new machines. */
	long reach_s;
	/* The number of this backend, from 0, where several run there at a
	 * time; and how often it has started tasks: core/supervise/hosts.h. */
	long slot;
	long rounds;
};

/* Which runs of this machine it waits for; see core/process/run_queue.h. */
struct run_place {
	long limit; /* so many at once; 0: it waits for none */
	long priority;
};

/* The GPUs of this machine that it takes; see core/device/device_queue.h. */
struct run_devices {
	const char *folder; /* of the leases; NULL: it takes none */
	const char *vendor;
	bool share; /* also those where others compute */
	/* So many for the master's machine and for each worker's. */
	long first, each;
	/* The names of the leases that it may take, and what the vendor's
	 * variable calls these devices. */
	struct strings names, ids;
	/* The ids that it holds, machine after machine; none: not yet. */
	struct strings held;
};

struct run_spec {
	const char *job_id;
	int attempt;
	/* Absolute: where the logs go; where the run has what all its attempts
	 * share, its lock and its packages; and what is the program's own. */
	const char *folder;
	const char *home;
	const char *output; /* JOBRUN_RUN_DIR */
	struct topology topology;
	struct strings command;  /* program and all its arguments */
	struct strings setup;    /* empty: none */
	const char *directory;   /* where both start, absolute */
	struct strings packages; /* archives to unpack, absolute */
	struct pairs env;
	struct pairs metrics; /* patterns for core/log/metric.h */
	struct secret_source *secrets;
	size_t secret_count;
	long grace_s;
	long max_running_time_s; /* 0: no limit */
	struct restart restart;
	struct run_checkpoints checkpoints;
	struct run_logs logs;
	struct run_data data;
	/* If it has parameters the program is started for each trial, with
	 * these after the first `args_end` of `command`. */
	struct hyperparameter_spec tuning;
	size_t args_end;
	bool prepared; /* packages and `setup` are there: not stored */
	/* How often a trial was restarted; of a run its record says that. */
	int restarts;
	int preemptions;
	const char *docker_image; /* or NULL */
	struct strings docker_flags;
	struct run_container container;
	const char *conda_env; /* or NULL */
	struct run_place queue;
	struct run_devices devices;
	struct run_hosts hosts;
	struct run_before before; /* on these */
	/* The machines that were made for it (core/supervise/allocation.h), as JSON;
	 * NULL: none were. */
	const char *allocation;
	/* Where to keep how it ended (core/supervise/ended.h), or NULL. */
	const char *ended;
};

/* AI Platform's replicas listened on 2222; here they count up from it. */
#define SPEC_FIRST_PORT 2222

/* All but attempt, folders and the ports, from a checked job.  `missing` is
 * set to what the file does not say and a run needs, else to NULL. */
int spec_from_job(const struct job *job, const struct catalogue *catalogue,
		  struct arena *mem, struct run_spec *out, const char **missing,
		  struct error *err);

/* The machines of a job's run: strings live as long as `names`, which may be
 * empty where the allocation will have them.  Fails if one is none. */
int spec_set_hosts(struct run_spec *spec, const struct job *job,
		   const struct strings *names, struct arena *mem,
		   struct error *err);
/* Its tasks run on hosts, which may have to be made yet. */
bool spec_is_elsewhere(const struct run_spec *spec);
/* Another host becomes the first one, those before it the last. */
int spec_rotate_hosts(struct run_spec *spec, size_t first, struct arena *mem,
		      struct error *err);
/* From the outputs of what was made for it (core/supervise/allocation.h); what they
 * do not name stays. */
int spec_set_outputs(struct run_spec *spec, const json_t *outputs,
		     struct arena *mem, struct error *err);

/* The folders of the first attempt at a run.  What it has no copy of lives in
 * `mem`. */
void spec_set_folder(struct run_spec *spec, const char *folder,
		     struct arena *mem);

/* For plans: the variables of the job, and where the secret ones come from.
 * Both return new. */
json_t *spec_env_json(const struct run_spec *spec);
json_t *spec_secrets_json(const struct run_spec *spec);

json_t *spec_json(const struct run_spec *spec); /* returns new */
/* Lives in `mem`.  The error names the member that is missing or wrong. */
int spec_from_json(const json_t *value, struct arena *mem, struct run_spec *out,
		   struct error *err);
int spec_write(const struct run_spec *spec, struct error *err);
/* From the folder of a run. */
int spec_read(const char *folder, struct arena *mem, struct run_spec *out,
	      struct error *err);

/*
 * The variables that a task gets besides those that it inherits: the
 * contracts, JOBRUN_RUN_DIR, JOBRUN_CHECKPOINT_DIR, JOBRUN_DATA_..., PYTHONPATH
 * with the packages, PYTHONUNBUFFERED, the job's `env` (which wins) and, with
 * `secrets`, their values.
 */
int spec_environment(const struct run_spec *spec, size_t ordinal, bool secrets,
		     struct environment *out, struct error *err);

/* The same for one that runs elsewhere, where the folder of the run's own
 * files is `output` and that with the unpacked packages is `packages`.  With
 * SPEC_NO_TASK for the ordinal, of no task but of `setup`. */
#define SPEC_NO_TASK SIZE_MAX
struct spec_folders {
	const char *output; /* the metric file of a trial is in it */
	const char *packages;
};
int spec_environment_at(const struct run_spec *spec, size_t ordinal,
			const struct spec_folders *folders, bool secrets,
			struct environment *out, struct error *err);

/* How many devices all its tasks have together, of a run without trials or of
 * one trial. */
size_t spec_devices_needed(const struct run_spec *spec);
/* The variables that show a task those of its machine. */
void spec_devices_environment(const struct run_spec *spec, size_t ordinal,
			      struct environment *out);

/* Why a run that took longer than it may was cancelled. */
void spec_limit_text(const struct run_spec *spec, char *out, size_t size);

/* The host of a task as the user calls it: the i-th machine is the i-th host,
 * and again from the first.  SIZE_MAX: on this machine. */
const char *spec_host_name(const struct run_spec *spec, size_t ordinal);

#endif
