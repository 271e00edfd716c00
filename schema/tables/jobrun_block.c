/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun: fields that AI Platform did not have.  Fields of one provider are in
 * a block declared in that provider's folder. */
#include "core/job/check.h"
#include "core/job/traits.h"
#include "schema/tables/tables.h"

#include "core/job/job.h"

/* In the order of enum cleanup. */
static const char *const cleanup_names[] = { "always", "onSuccess", "never",
					     NULL };

static const char *const on_change_names[] = { "rerun", "fail", NULL };

static const struct field secret_fields[] = {
	{ .name = "env",
	  .type = FIELD_STRING,
	  .check = check_variable,
	  .offset = offsetof(struct secret, env),
	  .doc = "The variable of jobrun's own environment that holds it." },
	{ .name = "file",
	  .type = FIELD_STRING,
	  .flags = FIELD_PATH,
	  .offset = offsetof(struct secret, file),
	  .doc = "The file that holds it, relative to the job's file.  A "
		 "newline at its end is dropped." },
	{ .name = NULL },
};

static const struct message message_secret = {
	.name = "Secret",
	.doc = "Where the value of a secret variable comes from: exactly one "
	       "of env and file.",
	.size = sizeof(struct secret),
	.fields = secret_fields,
};

/* In the order of enum after_state. */
static const char *const after_states[] = { "SUCCEEDED", "ended", NULL };

static const struct field after_fields[] = {
	{ .name = "job",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED,
	  .check = check_job_id,
	  .offset = offsetof(struct after, job),
	  .doc = "The jobId of the other job." },
	{ .name = "state",
	  .type = FIELD_ENUM,
	  .values = after_states,
	  .fallback = "SUCCEEDED",
	  .offset = offsetof(struct after, state),
	  .doc = "How its run must have ended: SUCCEEDED, or ended for any "
		 "end." },
	{ .name = NULL },
};

static const struct message message_after = {
	.name = "After",
	.doc = "A job that this one waits for.",
	.size = sizeof(struct after),
	.fields = after_fields,
};

static const struct field jobrun_fields[] = {
	/* extends is resolved before the table is used: see
	 * schema/read/extend.c. */
	{ .name = "extends",
	  .type = FIELD_STRINGS,
	  .flags = FIELD_SINGLE | FIELD_POSITION,
	  .offset = offsetof(struct jobrun_block, extends),
	  .doc = "A base file, or several in this order, that this file "
		 "overrides: maps merge key by key, lists and everything else "
		 "replace, and null removes.  Relative to the file that names "
		 "it." },
	{ .name = "provider",
	  .type = FIELD_STRING,
	  .flags = FIELD_PROVIDER,
	  .fallback_1 = "local",
	  .offset = offsetof(struct jobrun_block, provider),
	  .doc = "Where the job runs." },
	{ .name = "project",
	  .type = FIELD_STRING,
	  .check = check_project,
	  .offset = offsetof(struct jobrun_block, project),
	  .doc = "The Google Cloud project that the job belongs to." },
	{ .name = "zone",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct jobrun_block, zone),
	  .doc = "The zone to run in, for instance us-central1-b, if the "
		 "provider needs one." },
	{ .name = "network",
	  .type = FIELD_STRING,
	  .check = check_network,
	  .offset = offsetof(struct jobrun_block, network),
	  .traits = TRAIT_MAKES_MACHINES,
	  .doc = "The network of the machines that jobrun creates: its name, "
		 "or projects/PROJECT/global/networks/NAME." },
	{ .name = "staging",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_url,
	  .offset = offsetof(struct jobrun_block, staging),
	  .traits = TRAIT_GOOGLE_CLOUD,
	  .doc = "The gs:// directory through which packages and source reach "
		 "the job, and where jobrun keeps how a run on a TPU ended." },
	{ .name = "hosts",
	  .type = FIELD_STRINGS,
	  .flags = FIELD_POSITION,
	  .check = check_host,
	  .offset = offsetof(struct jobrun_block, hosts),
	  .traits = TRAIT_THIS_MACHINE,
	  .doc = "Machines to run on instead of this one, reached by ssh: "
		 "HOST, USER@HOST or HOST:PORT, the master's first.  With more "
		 "tasks than hosts, it begins again with the first." },
	{ .name = "hostLease",
	  .type = FIELD_DURATION,
	  .flags = FIELD_POSITION,
	  .fallback = "1d",
	  .offset = offsetof(struct jobrun_block, host_lease_s),
	  .traits = TRAIT_SUPERVISED,
	  .doc = "How long tasks on hosts continue without hearing from the "
		 "machine that started them.  It may be switched off for this "
		 "long; a host that is cut off stops after that." },
	{ .name = "hostDirectory",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_host_directory,
	  .offset = offsetof(struct jobrun_block, host_directory),
	  .traits = TRAIT_SUPERVISED,
	  .doc = "Where jobrun keeps its agent, the source and the runs on "
		 "each host, in a directory per user below it, if the home "
		 "directory is small, slow or mounted noexec." },
	{ .name = "processesPerHost",
	  .type = FIELD_STRING,
	  .flags = FIELD_NUMBERS,
	  .check = check_processes,
	  .fallback = "1",
	  .offset = offsetof(struct jobrun_block, processes_per_host),
	  .traits = TRAIT_PROCESSES,
	  .doc = "How many processes of the program run on each machine of the "
		 "master and the workers: a number, or device for one per GPU "
		 "or TPU chip.  Each is a task with a RANK and a LOCAL_RANK of "
		 "its own, and sees all devices of its machine.  All but the "
		 "first on the master's machine are workers." },
	{ .name = "docker",
	  .type = FIELD_MESSAGE,
	  .message = &message_docker,
	  .offset = offsetof(struct jobrun_block, docker),
	  .traits = TRAIT_SUPERVISED,
	  .deprecated = "use jobrun.container",
	  .doc = "A container to run the program in, on hosts that have "
		 "docker." },
	{ .name = "container",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_PRESENCE,
	  .message = &message_container,
	  .offset = offsetof(struct jobrun_block, container),
	  .traits = TRAIT_STARTS_PROGRAM,
	  .fallback_2 = "",
	  .doc = "Runs trainingInput.masterConfig.imageUri, or the task's own "
		 "image, where tasks are processes: here and on hosts if the "
		 "file has it, on Slurm wherever there is an image." },
	{ .name = "conda",
	  .type = FIELD_MESSAGE,
	  .message = &message_conda,
	  .offset = offsetof(struct jobrun_block, conda),
	  .traits = TRAIT_STARTS_PROGRAM,
	  .doc = "A conda environment to run setup and the program in." },
	{ .name = "preflight",
	  .type = FIELD_MESSAGE,
	  .message = &message_preflight,
	  .offset = offsetof(struct jobrun_block, preflight),
	  .traits = TRAIT_SUPERVISED,
	  .doc = "Tests of this machine, or of each host, before setup runs "
		 "there.  A host that fails is named, and the attempt fails; "
		 "with jobrun.restart a spare host from jobrun.hosts takes its "
		 "place, or it is tested again." },
	{ .name = "source",
	  .type = FIELD_STRING,
	  .flags = FIELD_PATH,
	  .offset = offsetof(struct jobrun_block, source),
	  .doc = "A directory, relative to the job's file, that jobrun ships "
		 "to where the job runs.  The program starts in it.  jobrun "
		 "excludes files that .gitignore lists and Git does not track; "
		 "a .jobrunignore in the directory replaces that rule." },
	{ .name = "command",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct jobrun_block, command),
	  .doc = "The program to run and its first arguments, instead of "
		 "trainingInput.pythonModule; args follow." },
	{ .name = "setup",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct jobrun_block, setup),
	  .doc = "A command that runs once on each host before the "
		 "program." },
	{ .name = "env",
	  .type = FIELD_PAIRS,
	  .check_key = check_variable,
	  .offset = offsetof(struct jobrun_block, env),
	  .doc = "Variables of the program's environment." },
	{ .name = "secrets",
	  .type = FIELD_NAMED,
	  .message = &message_secret,
	  .check = check_variable,
	  .offset = offsetof(struct jobrun_block, secrets),
	  .doc = "Variables whose values jobrun reads when the program starts, "
		 "and never prints, stores or puts into a plan. On Slurm they "
		 "are in a file of mode 0600 in the run's folder until all "
		 "tasks have read them, or until the run has ended if it may "
		 "be restarted or has trials." },
	{ .name = "data",
	  .type = FIELD_NAMED,
	  .message = &message_data_set,
	  .check = check_variable,
	  .offset = offsetof(struct jobrun_block, data),
	  .traits = TRAIT_BESIDE_TASKS,
	  .doc = "Sets of shards, by name.  A program finds its share of the "
		 "set train in JOBRUN_DATA_TRAIN, as URLs for the WebDataset "
		 "library, in JOBRUN_DATA_TRAIN_PIPES, each behind "
		 "'pipe:jobrun cat', and as a command that streams it, "
		 "JOBRUN_DATA_TRAIN_STREAM.  JOBRUN_DATA_TRAIN_SHARDS is how "
		 "many shards, and JOBRUN_DATA_TRAIN_SAMPLES how many "
		 "samples, the process has in an epoch." },
	{ .name = "checkpoints",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_PRESENCE,
	  .message = &message_checkpoints,
	  .offset = offsetof(struct jobrun_block, checkpoints),
	  .traits = TRAIT_BESIDE_TASKS,
	  .doc = "What happens to the checkpoints that the program "
		 "writes." },
	{ .name = "logs",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_POSITION,
	  .message = &message_logs,
	  .offset = offsetof(struct jobrun_block, logs),
	  .traits = TRAIT_SUPERVISED,
	  .doc = "Where to upload the raw logs during the run, besides the "
		 "store here.  jobrun reports upload errors; they never fail "
		 "the run." },
	{ .name = "metrics",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_POSITION,
	  .message = &message_metrics,
	  .offset = offsetof(struct jobrun_block, metrics),
	  .doc = "What to read from the log." },
	{ .name = "restart",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_POSITION,
	  .message = &message_restart,
	  .offset = offsetof(struct jobrun_block, restart),
	  .traits = TRAIT_BESIDE_TASKS,
	  .doc = "What happens when the run fails or loses its host.  Without "
		 "it jobrun restarts nothing." },
	{ .name = "after",
	  .type = FIELD_MESSAGES,
	  .flags = FIELD_POSITION | FIELD_SHORT,
	  .message = &message_after,
	  .offset = offsetof(struct jobrun_block, after),
	  .doc = "Jobs that must have run before this one starts: their "
		 "jobIds, or {job: ID, state: ended} for one that may fail.  "
		 "apply starts the jobs of its files in this order, side by "
		 "side where it can; a job behind one that failed is skipped.  "
		 "A job that is not among these files must have run before." },
	{ .name = "cleanup",
	  .type = FIELD_ENUM,
	  .flags = FIELD_POSITION,
	  .values = cleanup_names,
	  .fallback = "always",
	  .offset = offsetof(struct jobrun_block, cleanup),
	  .doc = "When to delete resources of the run that are billed by the "
		 "hour: always, onSuccess or never." },
	{ .name = "grace",
	  .type = FIELD_DURATION,
	  .fallback = "10s",
	  .fallback_1 = "10s",
	  .offset = offsetof(struct jobrun_block, grace_s),
	  .doc = "How long a process has between SIGTERM and SIGKILL, for "
		 "instance 90s or 5m." },
	/* This is a policy, so changing it does not change the job. */
	{ .name = "onChange",
	  .type = FIELD_ENUM,
	  .flags = FIELD_POSITION,
	  .values = on_change_names,
	  .fallback = "rerun",
	  .offset = offsetof(struct jobrun_block, on_change),
	  .doc = "What to do if a job that has already run has changed: rerun "
		 "it, or fail." },
	{ .name = NULL },
};

const struct message message_jobrun = {
	.name = "Jobrun",
	.doc = "Everything that AI Platform had no field for; all of it "
	       "optional.",
	.size = sizeof(struct jobrun_block),
	.fields = jobrun_fields,
};
