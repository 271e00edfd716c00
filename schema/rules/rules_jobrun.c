/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the jobrun block and the top level. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/job/misfit.h"
#include "core/job/traits.h"
#include "schema/rules/rules_check.h"
#include "schema/rules/rules_when.h"
#include "schema/tables/tables.h"

void check_secrets(const struct check *check)
{
	const struct secret *secret = check->job->jobrun.secrets.items;
	char path[SHORT_SIZE + 32], shown[SHORT_SIZE];
	size_t i;

	for (i = 0; i < check->job->jobrun.secrets.count; i++, secret++) {
		/* A value that was refused was given, too, so look into the
		 * file. */
		const struct node *env = value_of(secret, "env");
		const struct node *file = value_of(secret, "file");

		if (!env == !!file || secret->head.strange ||
		    secret->head.refused)
			continue;
		text_short(secret->name, shown);
		snprintf(path, sizeof(path), "jobrun.secrets.%s", shown);
		broken(check, secret->head.node, path, "secret \"%s\" needs %s",
		       shown,
		       env ? "one of \"env\" and \"file\", not both"
			   : "\"env\" or \"file\": where to take it from");
		problem_hint(check->found, "for instance %s: {env: %s}", shown,
			     shown);
	}
}

void check_secret_names(const struct check *check)
{
	const struct jobrun_block *block = &check->job->jobrun;
	const struct secret *secret = block->secrets.items;
	const struct node *env = block->secrets.count && block->env.count
					 ? value_of(block, "env")
					 : NULL;
	char path[SHORT_SIZE + 32], shown[SHORT_SIZE], line[LINE_SIZE];
	const struct node *other;
	size_t i;

	for (i = 0; env && i < block->secrets.count; i++, secret++) {
		other = env->kind == NODE_MAP ? node_get(env, secret->name)
					      : NULL;
		if (!other)
			continue;
		text_short(secret->name, shown);
		snprintf(path, sizeof(path), "jobrun.secrets.%s", shown);
		broken(check, secret->head.node, path,
		       "variable \"%s\" is also in jobrun.env (%s)", shown,
		       line_of(check, other, secret->head.node,
			       "given here too", line));
	}
}

void check_own_variable(const struct check *check)
{
	static const char name[] = "JOBRUN_RUN_DIR";
	const struct jobrun_block *block = &check->job->jobrun;
	const struct secret *secret = block->secrets.items;
	const struct node *env =
		block->env.count ? value_of(block, "env") : NULL;
	const struct node *set =
		env && env->kind == NODE_MAP ? node_get(env, name) : NULL;
	const char *path = "jobrun.env.JOBRUN_RUN_DIR";
	size_t i;

	for (i = 0; !set && i < block->secrets.count; i++, secret++) {
		if (strcmp(secret->name, name) != 0)
			continue;
		set = secret->head.node;
		path = "jobrun.secrets.JOBRUN_RUN_DIR";
	}
	if (!set)
		return;
	broken(check, set, path,
	       "variable \"%s\" is reserved: jobrun recognises the processes "
	       "of a run by it",
	       name);
	problem_hint(check->found, "use another, and set it in the command: "
				   "[sh, -c, 'OUT=$JOBRUN_RUN_DIR/out ...']");
}

/* Providers that make machines, or do not use the field, need no hosts. */
void check_docker_hosts(const struct check *check)
{
	const struct jobrun_block *block = &check->job->jobrun;
	const struct node *at = value_of(block, "docker");

	if (!at || value_of(block, "hosts") || block->head.strange ||
	    message_refused(&message_jobrun, block, "hosts") ||
	    (check->asked && !(check->traits & TRAIT_THIS_MACHINE)))
		return;
	broken(check, at, "jobrun.docker", "\"docker\" also needs \"hosts\"");
	problem_hint(check->found,
		     "hosts: [localhost] is this machine, over ssh");
}

void check_checkpoints(const struct check *check)
{
	const struct checkpoints *all = &check->job->jobrun.checkpoints;
	const struct node *metric, *goal;

	if (!all->head.node)
		return;
	metric = all->metric ? key_of(all, "metric") : NULL;
	goal = all->goal ? key_of(all, "goal") : NULL;
	if (all->head.refused || all->head.strange)
		return;
	if (!metric && all->resume == CHECKPOINT_RESUME_BEST) {
		broken(check, value_of(all, "resume"),
		       "jobrun.checkpoints.resume",
		       "\"resume\": best also needs \"metric\" and \"goal\"");
		return;
	}
	if (!metric == !goal)
		return;
	broken(check, metric ? metric : goal,
	       metric ? "jobrun.checkpoints.metric" : "jobrun.checkpoints.goal",
	       "\"%s\" also needs \"%s\"", metric ? "metric" : "goal",
	       metric ? "goal" : "metric");
}

/* Whether the block of the provider has a launcher, or had one that was
 * refused. */
static bool has_launcher(const struct job *job)
{
	size_t i;

	for (i = 0; i < job->jobrun.block_count; i++) {
		const struct job_block *block = &job->jobrun.blocks[i];
		const struct message_head *head = block->data;

		if (strcmp(block->name, job->jobrun.provider) == 0)
			return head->strange || head->refused ||
			       message_has(block->message, block->data,
					   "launcher");
	}
	return false;
}

void check_launcher(const struct check *check)
{
	static const char *const names[] = { "checkpoints", "data" };
	const struct jobrun_block *block = &check->job->jobrun;
	char path[32];
	size_t i;

	if (block->head.strange || has_launcher(check->job))
		return;
	for (i = 0; i < COUNT(names); i++) {
		const struct node *at = key_of(block, names[i]);

		if (!at)
			continue;
		snprintf(path, sizeof(path), "jobrun.%s", names[i]);
		broken(check, at, path,
		       "with provider %s, \"%s\" needs \"launcher\" in \"%s\"",
		       block->provider, names[i], block->provider);
		problem_hint(check->found,
			     "%s: {launcher: IMAGE}, of an image that has "
			     "jobrun: %s in the pods",
			     block->provider,
			     i ? "it streams data" : "it uploads checkpoints");
	}
}

/* Finds the node of "jobrun.env", or of an item of a list, "a.list[1]". */
static const struct node *misfit_node(const struct check *check,
				      const char *path)
{
	const char *bracket = strchr(path, '[');
	char list[RULE_PATH_SIZE];
	const struct node *at;
	const struct item *item;
	long n;

	if (!bracket)
		return when_node(check, path);
	snprintf(list, sizeof(list), "%.*s", (int)(bracket - path), path);
	at = when_node(check, list);
	n = strtol(bracket + 1, NULL, 10);
	for (item = at && at->kind == NODE_LIST ? at->items : NULL; item;
	     item = item->next)
		if (!n--)
			return item->value;
	return at;
}

static void say_misfit(const struct check *check, const struct job_block *block,
		       const struct misfit *one)
{
	const struct message_head *head = block->data;
	const struct node *at = misfit_node(check, one->path);

	/* A scale tier may stand for the field. */
	if (!at)
		at = head->node;
	if (one->certain)
		broken(check, at, one->path, "%s", one->text);
	else
		doubtful(check, at, one->path, "%s", one->text);
	if (one->hint)
		problem_hint(check->found, "%s", one->hint);
}

void check_block_fits(const struct check *check)
{
	const struct job *job = check->job;
	struct misfits all = { .mem = job->mem };
	size_t i, k;

	for (i = 0; i < job->jobrun.block_count; i++) {
		const struct job_block *block = &job->jobrun.blocks[i];

		if (!block->message->fit ||
		    strcmp(block->name, job->jobrun.provider) != 0)
			continue;
		block->message->fit(job, check->catalogue, &all);
		for (k = 0; k < all.count; k++)
			say_misfit(check, block, &all.items[k]);
	}
}

/* Without a provider in the file the job may run anywhere. */
void check_processes_place(const struct check *check)
{
	const struct jobrun_block *block = &check->job->jobrun;
	const struct node *at = value_of(block, "processesPerHost");

	if (!check->asked || !at || !block->processes_per_host ||
	    !strcmp(block->processes_per_host, "1"))
		return;
	broken(check, at, "jobrun.processesPerHost",
	       "provider %s starts one process per machine, not %s",
	       block->provider,
	       strcmp(block->processes_per_host, PROCESSES_DEVICE) != 0
		       ? block->processes_per_host
		       : "one per device");
	problem_hint(check->found,
		     "remove \"processesPerHost\", and start the others from "
		     "the program, with torchrun or with 'jobrun launch "
		     "--processes'");
}

void check_after(const struct check *check)
{
	const struct messages *list = &check->job->jobrun.after;
	const struct after *after = list->items;
	char path[48];
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (!after[i].job || !check->job->job_id ||
		    strcmp(after[i].job, check->job->job_id) != 0)
			continue;
		snprintf(path, sizeof(path), "jobrun.after[%zu]", i);
		broken(check, after[i].head.node, path,
		       "\"after\" names the job itself");
	}
}
