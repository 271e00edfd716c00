/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/supervised.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/provider/listing.h"
#include "core/supervise/elsewhere.h"
#include "core/supervise/ended.h"
#include "core/supervise/hosts.h"
#include "core/process/ports.h"
#include "core/process/process.h"
#include "core/supervise/supervisor.h"
#include "core/store/store.h"

/* How long hosts that a run left behind may take to answer. */
#define LEFT_MS 15000

int supervised_init(struct supervised *as, const struct provider_env *env,
		    const char *provider, struct error *err)
{
	if (!env->store)
		return error_set(err, ERROR_FAILED,
				 "the provider %s needs a store", provider);
	*as = (struct supervised){ .env = *env, .provider = provider };
	return 0;
}

static int specify(const struct supervised *as, const struct job *job,
		   const struct resource *want, struct arena *mem,
		   struct run_spec *out, const char **missing,
		   struct error *err)
{
	if (as->specify)
		return as->specify(as, job, want, mem, out, missing, err);
	return spec_from_job(job, as->env.catalogue, IMAGES_IF_ASKED, mem, out,
			     missing, err);
}

void supervised_check_trials(const struct job *job, const struct run_spec *spec,
			     struct resources *out)
{
	const struct hyperparameter_spec *tuning =
		&job->training_input.hyperparameters;

	if (tuning->resume_previous_job_id)
		resources_miss(
			out,
			"only AI Platform resumes trials of "
			"another job: remove "
			"trainingInput.hyperparameters.resumePreviousJobId");
	if (!tuning->params.count)
		return;
	if (spec->checkpoints.is_used)
		resources_miss(out, "checkpoints of trials are not supported: "
				    "remove jobrun.checkpoints, or "
				    "trainingInput.hyperparameters");
	if (tuning->algorithm == ALGORITHM_UNSPECIFIED)
		resources_note(out, "AI Platform's default search is not "
				    "available here: it is a grid if maxTrials "
				    "covers all of it, else random");
}

/* Reads the newest run of a job here, brought up to date; returns 1 if there is
 * none. */
static int latest(const struct supervised *as, const char *job_id,
		  struct arena *mem, struct run_record *out, struct error *err)
{
	struct store *store = as->env.store;
	int ret = store_run_get(store, job_id, 0, mem, out, err);

	if (ret != 0)
		return ret;
	if (strcmp(out->provider, as->provider) != 0)
		return 1;
	if (supervisor_check(store, out, err) < 0)
		return -1;
	if (run_state_is_final(out->state))
		return 0;
	ret = store_run_get(store, job_id, out->attempt, mem, out, err);
	/* The run never began, so the one before it is the newest. */
	return ret == 1 ? latest(as, job_id, mem, out, err) : ret;
}

static void show_run(const struct run_record *run, struct resource *found)
{
	struct error ignored;
	json_t *properties =
		run->properties
			? json_read(run->properties, strlen(run->properties),
				    "store", &ignored)
			: NULL;

	found->run.state = run->state;
	found->run.attempt = run->attempt;
	found->run.exit_code = run->exit_code;
	found->run.refusal = run_refusal(run);
	found->run.unbegun = run->state == RUN_CANCELLED &&
			     !run->start_time_ms && run->attempt == run->origin;
	run_status_set_origin(&found->run, run->job_origin);
	resource_found(found, properties, run->digest, run->digest2,
		       run->error);
}

static int read_run(void *ctx, const struct resource *want,
		    struct resource *found, struct error *err)
{
	struct arena *mem = arena_new();
	struct run_record run;
	struct claim claim;
	int ret = latest(ctx, want->name, mem, &run, err);
	int there = 1;

	if (ret == 1 || (ret == 0 && run_state_is_final(run.state)))
		there = elsewhere_look(ctx, want->job, mem, &claim, err);
	if (there < 0)
		ret = -1;
	else if (there == 0 && (ret == 1 || claim_is_live(&claim) ||
				claim.end_ms > run.end_time_ms))
		elsewhere_show(&claim, want->name, found);
	else if (ret == 0)
		show_run(&run, found);
	else if (ret == 1)
		ret = elsewhere_read_end(ctx, want->job, mem, found, err);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

/* Finds what would make a run fail at once: a missing secret or program.  What
 * `setup`, conda or a container may provide is checked later, and so is what is
 * on other hosts. */
static int check_start(const struct run_spec *spec, struct error *err)
{
	struct environment env = { 0 };
	char *path = NULL;
	int ret = spec_environment(spec, 0, true, &env, err);

	if (ret == 0 && !spec->setup.count && !spec->hosts.names.count &&
	    !spec->allocation && !spec->docker_image && !spec->conda_env &&
	    !spec->container.runtime && spec->command.count) {
		environment_inherit(&env, environ);
		path = process_find(spec->command.items[0], spec->directory,
				    env.items, err);
		ret = path ? 0 : -1;
	}
	if (ret < 0)
		err->code = ERROR_INVALID;
	free(path);
	environment_done(&env);
	return ret;
}

/* What makes the run impossible is found before there is a run. */
static int specify_run(const struct supervised *as, const struct resource *want,
		       struct arena *mem, struct run_spec *spec,
		       struct error *err)
{
	const char *missing;

	if (specify(as, want->job, want, mem, spec, &missing, err) < 0)
		return -1;
	return missing ? error_set(err, ERROR_INVALID, "%s", missing) : 0;
}

static int prepare_spec(const struct supervised *as,
			const struct run_record *run, const char *folder,
			struct arena *mem, struct run_spec *spec,
			struct error *err)
{
	spec->attempt = run->attempt;
	spec->hosts.take_over = as->env.take_over;
	spec_set_folder(spec, folder, mem);
	return check_start(spec, err);
}

/* Records a run that could not be started. */
static void record_failure(struct store *store, struct run_record *run,
			   const struct error *why)
{
	struct error ignored;

	run->state = RUN_FAILED;
	run->error = why->text;
	run->end_time_ms = time_now_ms();
	store_run_put(store, run, &ignored);
}

/* Takes our run back if another command added its own at the same time, or if
 * the earlier run, which we saw end, goes on with another attempt.  The next
 * try finds that run. */
static int yield_to_other(struct store *store, const struct run_record *run,
			  struct arena *mem, struct error *err)
{
	struct run_record other;
	int ret = 1;

	if (run->attempt > 1)
		ret = store_run_get(store, run->job_id, run->attempt - 1, mem,
				    &other, err);
	while (ret == 0 && run_state_is_final(other.state)) {
		ret = store_run_after(store, &other, mem, &other, err);
		if (ret == 0 && other.attempt == run->attempt)
			ret = 1;
	}
	if (ret < 0)
		return -1;
	if (ret == 1 || strcmp(other.provider, run->provider) != 0)
		return 0;
	if (store_run_delete(store, run, err) < 0)
		return -1;
	return error_set(err, ERROR_TRY_AGAIN,
			 "attempt %d was started meanwhile and is running",
			 other.attempt);
}

static int create(void *ctx, const struct resource *want, struct error *err)
{
	const struct supervised *as = ctx;
	struct store *store = as->env.store;
	struct arena *mem = arena_new();
	struct run_record run;
	struct run_spec spec;
	struct error ignored;
	char *properties = NULL;
	char *folder = NULL;
	int lock = -1;
	int ret;

	ret = latest(as, want->name, mem, &run, err);
	if (ret < 0)
		goto out;
	/* Adopt a run started by an earlier try that was killed or got no
	 * answer. */
	if (ret == 0 && job_was_run(want->job, run.digest, run.digest2) &&
	    (!run_state_is_final(run.state) || run.attempt > want->run.attempt))
		goto out;
	if (ret == 1)
		run.job_id = NULL;
	ret = elsewhere_claim(as, want->job, false, mem, err);
	if (ret == 1)
		ret = elsewhere_follow(as, &run, err) < 0 ? -1 : 1;
	if (ret != 0)
		goto out;
	properties = json_canonical(want->properties);
	run = (struct run_record){ .job_id = want->name,
				   .provider = as->provider,
				   .digest = want->job->digest.hex,
				   .digest2 = want->job->digest2.hex,
				   .job_origin = want->job->origin,
				   .revision = want->job->revision,
				   .job_file = want->job->real_file,
				   .state = RUN_QUEUED,
				   .exit_code = -1,
				   .properties = properties };
	ret = specify_run(as, want, mem, &spec, err);
	if (ret == 0)
		ret = supervisor_add(store, &run, &lock, err);
	if (ret < 0)
		elsewhere_claim(as, want->job, true, mem, &ignored);
	else
		ret = yield_to_other(store, &run, mem, err);
	if (ret < 0)
		goto out;
	folder = store_run_folder(store, run.job_id, run.attempt);
	ret = prepare_spec(as, &run, folder, mem, &spec, err);
	if (ret == 0)
		ret = supervisor_start(store, &spec, lock, err);
	if (ret < 0) {
		record_failure(store, &run, err);
		elsewhere_claim(as, want->job, true, mem, &ignored);
	}
out:
	if (lock >= 0)
		close(lock);
	free(folder);
	free(properties);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

static int wait_for(void *ctx, const struct resource *have,
		    enum wait_state *state, struct error *err)
{
	const struct supervised *as = ctx;
	struct arena *mem = arena_new();
	struct run_record run;
	int ret = latest(as, have->name, mem, &run, err);

	if (ret == 1 || (ret == 0 && resource_is_held(have)))
		ret = elsewhere_wait(as, have, mem, state, err);
	else if (ret == 0)
		*state = run_state_is_final(run.state) &&
					 !supervisor_releases(as->env.store,
							      &run)
				 ? WAIT_DONE
				 : WAIT_PENDING;
	arena_free(mem);
	return ret;
}

static int cancel(void *ctx, const struct resource *have, bool now,
		  struct error *err)
{
	const struct supervised *as = ctx;
	struct arena *mem = arena_new();
	struct run_record run;
	int ret = latest(as, have->name, mem, &run, err);

	if (ret == 0 && run_state_is_final(run.state))
		ret = supervisor_end_left(as->env.store, &run, false, LEFT_MS,
					  err);
	else if (ret == 0)
		ret = supervisor_cancel(as->env.store, &run, now, err);
	else if (ret > 0)
		ret = 0;
	if (ret == 0 && resource_is_held(have))
		ret = error_set(err, ERROR_TRY_AGAIN,
				"it can be cancelled where it was started");
	arena_free(mem);
	return ret;
}

static int watch(void *ctx, const struct resource *have, int *fd,
		 struct error *err)
{
	const struct supervised *as = ctx;
	struct arena *mem = arena_new();
	struct run_record run;
	int ret = latest(as, have->name, mem, &run, err);

	if (ret == 1 || (ret == 0 && resource_is_held(have))) {
		/* Another owner's run gives no sign here. */
		*fd = eventfd(0, EFD_CLOEXEC);
		ret = *fd < 0 ? error_errno(err, "cannot make an eventfd") : 0;
	} else if (ret == 0)
		ret = supervisor_watch(as->env.store, run.job_id, run.attempt,
				       fd, err);
	arena_free(mem);
	return ret;
}

/* Forgets the host keys that ssh has learned for a job. */
static int forget_hosts(struct store *store, const char *job_id,
			struct error *err)
{
	char *path = hosts_known_path(store_folder(store), job_id);
	int ret = 0;

	if (unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR)
		ret = error_errno(err, "cannot remove '%s'", path);
	free(path);
	return ret;
}

static int forget_run(const struct supervised *as, const struct run_record *run,
		      struct arena *mem, struct error *err)
{
	char *folder =
		store_run_folder(as->env.store, run->job_id, run->attempt);
	struct run_spec spec = { 0 };
	struct error ignored;
	int ret = 0;

	if (as->remove_object && spec_read(folder, mem, &spec, &ignored) == 0)
		ret = elsewhere_forget(as, spec.ended, mem, err);
	free(folder);
	return ret == 0 ? store_run_delete(as->env.store, run, err) : -1;
}

static int delete (void *ctx, const struct resource *have, struct error *err)
{
	const struct supervised *as = ctx;
	struct arena *mem = arena_new();
	struct run_record run;
	int ret;

	for (;;) {
		ret = latest(as, have->name, mem, &run, err);
		if (ret != 0)
			break;
		if (!run_state_is_final(run.state)) {
			ret = error_set(err, ERROR_TRY_AGAIN,
					"still running; 'jobrun cancel %s' "
					"stops it",
					have->name);
			break;
		}
		/* Once the run is forgotten, nothing would find what still
		 * runs. */
		ret = supervisor_end_left(as->env.store, &run, false, LEFT_MS,
					  err);
		if (ret < 0) {
			error_append(err,
				     "; 'jobrun delete --force' forgets it");
			break;
		}
		ret = forget_run(as, &run, mem, err);
		if (ret < 0)
			break;
	}
	if (ret == 1 && have->job &&
	    elsewhere_forget(as, ended_url(have->job, mem), mem, err) < 0)
		ret = -1;
	if (ret == 1)
		ret = forget_hosts(as->env.store, have->name, err);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

/* Lists the runs; the sets they belong to are only in the store. */
static int list(void *ctx, const char *place, struct listing *out,
		struct error *err)
{
	const struct supervised *as = ctx;
	struct arena *mem = arena_new();
	struct run_record run;
	struct run_list all;
	size_t i;
	int ret;

	(void)place;
	ret = store_run_list(as->env.store, false, mem, &all, err);
	for (i = 0; ret == 0 && i < all.count; i++) {
		ret = latest(as, all.items[i].job_id, mem, &run, err);
		if (ret < 0)
			break;
		if (ret == 1) { /* of another provider, or gone */
			ret = 0;
			continue;
		}
		listing_add(out,
			    &(struct listed){
				    .kind = &kind_supervised_run,
				    .name = run.job_id,
				    .labels = { .job_id = run.job_id,
						.digest = run.digest },
				    .create_time_ms = run.create_time_ms,
				    .live = !run_state_is_final(run.state),
				    .succeeded = run.state == RUN_SUCCEEDED,
			    });
	}
	arena_free(mem);
	return ret;
}

/* How often to read the state.  The watch reports changes at once; only a run
 * whose processes were all killed needs this. */
#define POLL_MS 2000

const struct kind kind_supervised_run = {
	.name = "run",
	.flags = KIND_RUN,
	.files = "source.files",
	.poll_ms = POLL_MS,
	.read = read_run,
	.create = create,
	.delete = delete,
	.wait = wait_for,
	.cancel = cancel,
	.watch = watch,
	.list = list,
	.enter = supervised_enter,
};

/* Makes the specification of the next run, with the ports it would get now. */
static int predict_spec(const struct supervised *as, const struct job *job,
			const char *folder, struct arena *mem,
			struct run_spec *spec, struct error *err)
{
	struct port_leases *leases;
	const char *missing;
	size_t count;
	int *ports;

	if (specify(as, job, NULL, mem, spec, &missing, err) < 0)
		return -1;
	spec_set_folder(spec, folder, mem);
	/* Hosts choose their ports at the start. */
	if (spec->hosts.names.count)
		return 0;
	count = topology_port_count(&spec->topology);
	ports = arena_alloc(mem, count * sizeof(*ports));
	leases = ports_lease(SPEC_FIRST_PORT, count, ports, err);
	if (!leases)
		return -1;
	ports_return(leases);
	topology_set_ports(&spec->topology, ports);
	return 0;
}

int supervised_environment(void *ctx, const struct job *job,
			   enum task_type type, int index,
			   struct environment *out, struct error *err)
{
	const struct supervised *as = ctx;
	struct store *store = as->env.store;
	struct arena *mem = arena_new();
	char *folder = NULL;
	struct run_record run;
	struct run_spec spec;
	int ordinal;
	int ret;

	ret = latest(as, job->job_id, mem, &run, err);
	if (ret < 0)
		goto out;
	if (ret == 0 && job_was_run(job, run.digest, run.digest2)) {
		folder = store_run_folder(store, run.job_id, run.attempt);
		ret = spec_read(folder, mem, &spec, err);
	} else {
		folder = store_run_folder(store, job->job_id,
					  ret == 0 ? run.attempt + 1 : 1);
		ret = predict_spec(as, job, folder, mem, &spec, err);
	}
	if (ret < 0)
		goto out;
	ordinal = topology_find(&spec.topology, type, index);
	if (ordinal < 0)
		ret = error_set(err, ERROR_USAGE, "'%s' has no task %s %d",
				job->job_id, task_type_name(type), index);
	else
		ret = spec_environment(&spec, (size_t)ordinal, false, out, err);
out:
	free(folder);
	arena_free(mem);
	return ret;
}
