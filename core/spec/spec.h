/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions for a run's supervisor: JSON in the run's folder, written by
 * whoever starts the run.  It contains the names of secrets, not their values.
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
	const char *to; /* the job's own folder; NULL: not copied */
	long every_s;
};

/* A command that runs on each host before each start of the program, with the
 * variables of the host's first task. */
struct run_before {
	const char *what; /* "the XRT server"; NULL: no command */
	struct strings command;
};

/* What a host is tested for before `setup`. */
struct run_preflight {
	long disk_kib; /* 0: not for that */
	bool devices;
	long device_count; /* that must be there */
	struct strings command;
	/* Among several hosts: what each must be able to send to the next in a
	 * second, and by how much clocks may differ; 0: not tested. */
	long bandwidth_kib;
	long clock_skew_s;
};

/* The container of its tasks. */
struct run_container {
	const char *runtime; /* NULL: nothing */
	struct pairs images; /* by type of task */
	struct strings mounts;
	const char *workdir;
	struct strings options;
	/* of struct run_words, for each type of task; none: all run the command
	 * of the run */
	struct messages words;
};

/* Whether a job's images are run. */
enum spec_images {
	IMAGES_IF_ASKED, /* by jobrun.container */
	IMAGES_ALWAYS,
};

/* The machines that run the tasks, if not this one. */
struct run_hosts {
	struct strings names; /* [USER@]HOST[:PORT]; none: this machine */
	struct strings shown; /* what they are called; empty: as in `names` */
	const char *nonce;    /* distinguishes runs of the same name */
	const char *source;   /* the folder to ship, absolute, or NULL */
	const char *rule;     /* a command that lets them reach each other */
	/* The jobrun command that connects to a host, given host and port,
	 * instead of ssh; or NULL. */
	const char *proxy;
	/* the folder for all that is stored there; NULL: home */
	const char *directory;
	const char *origin; /* of the job; NULL: unknown */
	const char *digest; /* of the job */
	/* also take over a run of that name from another origin */
	bool take_over;
	long lease_s; /* how long tasks go on without contact */
	/* How long new machines may take until they let us in; 0: they are not
	 * new. */
	long reach_s;
	/* This backend's number, from 0, if several run there at once; and how
	 * many rounds of tasks it has started: core/supervise/hosts.h. */
	long slot;
	long rounds;
};

/* Which runs of this machine the run waits for; see
 * core/process/run_queue.h. */
struct run_place {
	long limit; /* how many may run at once; 0: does not wait */
	long priority;
};

/* The GPUs that the run takes, on this machine or on hosts; see
 * core/device/device_queue.h. */
struct run_devices {
	/* The leases' folder here; "": its hosts have them; NULL: takes no
	 * devices. */
	const char *folder;
	const char *vendor;
	bool share; /* also take those on which others compute */
	/* The numbers for the master's machine and for each worker's. */
	long first, each;
	/* The names of the leases that it may take, and the names of these
	 * devices in the vendor's variable. */
	struct strings names, ids;
	/* The ids that it holds, machine by machine; empty: none yet.  "": a
	 * host that has no devices. */
	struct strings held;
	/* For hosts, which choose by themselves: core/device/choice.h. */
	const char *type, *model;
	bool strict;
};

struct run_spec {
	const char *job_id;
	int attempt;
	/* Absolute: the folder of the logs; the folder that all attempts share,
	 * with the lock and the packages; and the program's own folder. */
	const char *folder;
	const char *home;
	const char *output; /* JOBRUN_RUN_DIR */
	struct topology topology;
	struct strings command; /* the program and all its arguments */
	struct strings setup;   /* empty: none */
	struct run_preflight preflight;
	const char *directory;   /* the working directory of both, absolute */
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
	/* If it has parameters, the program is started for each trial, with the
	 * parameters inserted after the first `args_end` of `command`. */
	struct hyperparameter_spec tuning;
	size_t args_end;
	bool prepared; /* packages and `setup` are done: not stored */
	/* How often a trial was restarted; for a run its record has this. */
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
	/* The machines that were made for the run
	 * (core/supervise/allocation.h), as JSON; NULL: none. */
	const char *allocation;
	/* Where to record how the run ended (core/supervise/ended.h), or
	 * NULL. */
	const char *ended;
};

/* AI Platform's replicas listened on 2222; here ports count up from it. */
#define SPEC_FIRST_PORT 2222

/* Sets everything except attempt, folders and ports, from a checked job.  Sets
 * `missing` to a setting that a run needs and the file lacks, else to NULL. */
int spec_from_job(const struct job *job, const struct catalogue *catalogue,
		  enum spec_images images, struct arena *mem,
		  struct run_spec *out, const char **missing,
		  struct error *err);

/* Sets the machines of a job's run; strings live as long as `names`, which may
 * be empty if the allocation will supply them.  Fails if a name is invalid. */
int spec_set_hosts(struct run_spec *spec, const struct job *job,
		   const struct strings *names, struct arena *mem,
		   struct error *err);
/* Whether its tasks run in containers. */
bool spec_has_containers(const struct run_spec *spec);
/* Whether its tasks run on hosts, existing or still to be made. */
bool spec_is_elsewhere(const struct run_spec *spec);
/* Rotates the hosts, so that number `first` becomes the first one. */
int spec_rotate_hosts(struct run_spec *spec, size_t first, struct arena *mem,
		      struct error *err);
/* Updates the specification from the outputs of its machines
 * (core/supervise/allocation.h); values that they lack stay. */
int spec_set_outputs(struct run_spec *spec, const json_t *outputs,
		     struct arena *mem, struct error *err);

/* Sets the folders of the first attempt at a run.  Values that are not copies
 * live in `mem`. */
void spec_set_folder(struct run_spec *spec, const char *folder,
		     struct arena *mem);

/* For plans: the variables of the job, and the sources of the secret ones.
 * Both return new. */
json_t *spec_env_json(const struct run_spec *spec);
json_t *spec_secrets_json(const struct run_spec *spec);

json_t *spec_json(const struct run_spec *spec); /* returns new */
/* The result lives in `mem`.  The error names the member that is missing or
 * wrong. */
int spec_from_json(const json_t *value, struct arena *mem, struct run_spec *out,
		   struct error *err);
int spec_write(const struct run_spec *spec, struct error *err);
/* Reads it from the folder of a run. */
int spec_read(const char *folder, struct arena *mem, struct run_spec *out,
	      struct error *err);

/*
 * Adds the variables that a task gets besides the inherited ones: the
 * contracts, JOBRUN_RUN_DIR, JOBRUN_CHECKPOINT_DIR, JOBRUN_DATA_..., PYTHONPATH
 * with the packages, PYTHONUNBUFFERED, the job's `env` (which wins) and, with
 * `secrets`, their values.
 */
int spec_environment(const struct run_spec *spec, size_t ordinal, bool secrets,
		     struct environment *out, struct error *err);

/* The same for a task elsewhere, where `output` is the folder of the run's own
 * files and `packages` that of the unpacked packages.  With the ordinal
 * SPEC_NO_TASK: for `setup` rather than a task. */
#define SPEC_NO_TASK SIZE_MAX
struct spec_folders {
	const char *output; /* a trial's metric file is in it */
	const char *packages;
};
int spec_environment_at(const struct run_spec *spec, size_t ordinal,
			const struct spec_folders *folders, bool secrets,
			struct environment *out, struct error *err);

/* The number of devices that all its tasks need together, for a run without
 * trials or for one trial. */
size_t spec_devices_needed(const struct run_spec *spec);
/* The number of hosts with a task. */
size_t spec_host_count(const struct run_spec *spec);
/* The number that one of so many hosts needs. */
size_t spec_devices_on(const struct run_spec *spec, size_t host, size_t hosts);
/* Sets what all machines hold: `ids` of each host in the order of its machines,
 * or none.  The result lives in `mem`, and borrows the ids. */
void spec_devices_hold(struct run_spec *spec, const struct strings *ids,
		       size_t hosts, struct arena *mem);
/* Sets the variables that show a task the devices of its machine. */
void spec_devices_environment(const struct run_spec *spec, size_t ordinal,
			      struct environment *out);

/* Formats the reason for cancelling a run that exceeded its time limit. */
void spec_limit_text(const struct run_spec *spec, char *out, size_t size);

/* The user's name for the host of a task: hosts are assigned to machines in
 * turn, starting again after the last.  SIZE_MAX: on this machine. */
const char *spec_host_name(const struct run_spec *spec, size_t ordinal);
/* How ssh reaches it; the run has hosts. */
const char *spec_host_target(const struct run_spec *spec, size_t ordinal);
/* The name of the run's folder on its hosts, before ".N" for the host of that
 * number: after its origin, else `owner`, as other repositories may have a job
 * of the same name; and after the slot, as each backend has its own folder.
 * Returns new. */
char *spec_hosts_run(const struct run_spec *spec, const char *owner);
/* The name of that folder on the host of a task.  Returns new. */
char *spec_host_run(const struct run_spec *spec, size_t ordinal,
		    const char *owner);

/* The position of a task among those of the run. */
int spec_find_task(const struct run_spec *spec, const char *type, int index,
		   size_t *out, struct error *err);
/* The task's RANK, in `mem`; NULL: it has none. */
const char *spec_rank(const struct run_spec *spec, size_t ordinal,
		      struct arena *mem);

#endif
