/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/elsewhere.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/supervise/ended.h"

/* How long a claim lasts that no supervisor has renewed yet. */
#define CLAIM_FIRST_MS (5 * 60 * 1000)

int elsewhere_look(const struct supervised *as, const struct job *job,
		   struct arena *mem, struct claim *out, struct error *err)
{
	const char *url = job ? claim_url(ended_url(job, mem), mem) : NULL;
	const char *version;
	char *own;
	int ret;

	if (!url || !as->objects.get)
		return 1;
	ret = claim_read(&as->objects, url, mem, out, &version, err);
	if (ret < 0)
		return error_is_denied(err)
			       ? 1
			       : error_prefix(err, "whose run it is, '%s'",
					      url);
	own = store_owner_known(as->env.store);
	if (ret == 0 &&
	    (claim_is_same_owner(out->owner, own) ||
	     (!claim_is_live(out) &&
	      (!run_state_is_final(out->run.state) ||
	       !job_was_run(job, out->run.digest.hex, out->run.digest2.hex)))))
		ret = 1;
	free(own);
	return ret;
}

void elsewhere_show(const struct claim *claim, const char *name,
		    struct resource *found)
{
	char since[40];
	json_t *notes;

	resource_found(found, NULL, claim->run.digest.hex,
		       claim->run.digest2.hex, claim->run.error);
	found->run = claim->run;
	if (!claim_is_live(claim))
		return;
	time_format(claim->since_ms, since, sizeof(since));
	notes = json_array();
	json_array_append_new(
		notes,
		json_sprintf("run '%s' is that of another owner, %s, since %s",
			     name, claim->owner, since));
	found->outputs = json_object();
	json_put(found->outputs, OUTPUT_NOTES, notes);
	json_put_text(found->outputs, OUTPUT_HELD, claim->owner);
}

int elsewhere_read_end(const struct supervised *as, const struct job *job,
		       struct arena *mem, struct resource *found,
		       struct error *err)
{
	const char *url = job ? ended_url(job, mem) : NULL;
	const char *text = NULL, *version;
	struct run_status status;
	struct error ignored;

	if (!url || !as->objects.get)
		return 0;
	if (as->objects.get(as->objects.arg, url, mem, &text, &version, err) <
	    0)
		return error_is_denied(err)
			       ? 0
			       : error_prefix(err, "how the job ended, '%s'",
					      url);
	if (!text || ended_read(text, job, &status, &ignored) < 0)
		return 0;
	resource_found(found, NULL, status.digest.hex, status.digest2.hex,
		       status.error);
	found->run = status;
	return 0;
}

/* Says who has the job, whose run this is not. */
static int refuse(const struct claim *claim, struct error *err)
{
	return error_set_final(err, ERROR_TRY_AGAIN,
			       "another owner, %s, runs it with other "
			       "settings: it is free when that run ends, or "
			       "when nothing was heard of it for its lease",
			       claim->owner);
}

int elsewhere_claim(const struct supervised *as, const struct job *job, bool up,
		    struct arena *mem, struct error *err)
{
	const char *url = claim_url(ended_url(job, mem), mem);
	struct claim own = { .since_ms = time_now_ms() }, other;
	char *owner;
	int ret;

	if (!url || !as->objects.put)
		return 0;
	owner = store_owner(as->env.store, err);
	if (!owner)
		return -1;
	own.owner = owner;
	own.until_ms = up ? 0 : own.since_ms + CLAIM_FIRST_MS;
	own.run = (struct run_status){ .state = up ? RUN_CANCELLED : RUN_QUEUED,
				       .attempt = 1,
				       .exit_code = -1,
				       .unbegun = true };
	run_status_set_digests(&own.run, job->digest.hex, job->digest2.hex);
	run_status_set_origin(&own.run, job->origin);
	ret = claim_take(&as->objects, url, &own, mem, &other, err);
	free(owner);
	/* Whoever may not write there claims nothing. */
	if (ret < 0 && error_is_denied(err))
		return 0;
	if (ret < 0)
		return error_prefix(err, "claim the job, '%s'", url);
	if (ret == 1 &&
	    !job_was_run(job, other.run.digest.hex, other.run.digest2.hex))
		return refuse(&other, err);
	return ret;
}

int elsewhere_follow(const struct supervised *as, const struct run_record *run,
		     struct error *err)
{
	return run->job_id && run_refusal(run)
		       ? store_run_delete(as->env.store, run, err)
		       : 0;
}

int elsewhere_wait(const struct supervised *as, const struct resource *have,
		   struct arena *mem, enum wait_state *state, struct error *err)
{
	struct claim claim;
	int ret = elsewhere_look(as, have->job, mem, &claim, err);

	if (ret == 1)
		return error_set(err, ERROR_FAILED,
				 "the run is gone, or nothing was heard of it "
				 "for its lease");
	if (ret == 0 && claim_is_live(&claim)) {
		*state = WAIT_PENDING;
		error_set(err, ERROR_TRY_AGAIN,
			  "follows the run of another owner, %s, whose log is "
			  "there",
			  claim.owner);
	} else if (ret == 0) {
		*state = WAIT_DONE;
	}
	return ret;
}

static int remove_object(const struct supervised *as, const char *url,
			 const char *version, struct error *err)
{
	if (as->remove_object(as->objects.arg, url, version, err) == 0 ||
	    error_is_denied(err))
		return 0;
	return error_prefix(err, "how the job ended, '%s'", url);
}

int elsewhere_forget(const struct supervised *as, const char *url,
		     struct arena *mem, struct error *err)
{
	const char *claimed = claim_url(url, mem);
	const char *version, *now;
	struct claim claim;
	struct error ignored;
	int ret;

	if (!url || !as->remove_object)
		return 0;
	if (remove_object(as, url, "", err) < 0)
		return -1;
	ret = claim_read(&as->objects, claimed, mem, &claim, &version, err);
	if (ret < 0)
		return error_is_denied(err) ? 0 : -1;
	if (ret == 1 || claim_is_live(&claim) ||
	    remove_object(as, claimed, version, err) == 0)
		return 0;
	/* Somebody may have claimed the job meanwhile. */
	ret = claim_read(&as->objects, claimed, mem, &claim, &now, &ignored);
	return ret == 0 && strcmp(now, version) != 0 ? 0 : -1;
}
