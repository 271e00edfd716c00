/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in a cluster, against its stand-in.  What a command does is done in a
 * child, so that it can be killed at each of its requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/apply/fill.h"
#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/provider.h"
#include "core/run/log_file.h"
#include "core/store/store.h"
#include "providers/kubernetes/internal.h"
#include "providers/kubernetes/kubernetes.h"
#include "providers/kubernetes/record.h"
#include "providers/kubernetes/run.h"
#include "providers/kubernetes/watch.h"
#include "schema/catalogue.h"
#include "schema/schema.h"
#include "schema/yaml_read.h"
#include "tests/support/stand_in.h"

#define WAIT_MS 20000

struct fixture {
	struct stand_in server;
	struct arena *mem;
};

/* A command: what it has open. */
struct command {
	struct jobs jobs;
	struct problems found;
	struct provider_env env;
	void *ctx;
	struct resources *want;
	struct error err;
};

#define JOB                                                                    \
	"jobId: net\ntrainingInput:\n  scaleTier: CUSTOM\n"                    \
	"  masterType: n1-standard-4\n"                                        \
	"  masterConfig: {imageUri: \"gcr.io/p/i:1\"}\n"                       \
	"  workerType: n1-standard-4\n  workerCount: 1\n"                      \
	"jobrun:\n  provider: kubernetes\n"

static int start(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	char *path;

	stand_in_start_service(&f->server, "kubernetes", 0);
	f->mem = arena_new();
	path = mem_strdup(stand_in_file(&f->server, "kubeconfig"));
	setenv("KUBECONFIG", path, 1);
	setenv("JOBRUN_STATE_DIR", stand_in_file(&f->server, "state"), 1);
	setenv("JOBRUN_TRACE_HTTP", stand_in_file(&f->server, "trace"), 1);
	setenv("KEY", "value-that-nobody-may-see", 1);
	free(path);
	*state = f;
	return 0;
}

/* No secret is in anything that was written. */
static void nothing_is_shown(struct fixture *f)
{
	char *command = mem_printf("! grep -rqF -e value-that-nobody-may-see "
				   "-e token-that-nobody-may-see "
				   "--exclude=kubeconfig %s",
				   f->server.folder);

	assert_int_equal(system(command), 0);
	free(command);
}

static int stop(void **state)
{
	struct fixture *f = *state;
	json_t *wrong = stand_in_ask(&f->server, "wrong");

	if (json_array_size(wrong))
		fail_msg("%s", json_dumps(wrong, 0));
	json_decref(wrong);
	nothing_is_shown(f);
	arena_free(f->mem);
	stand_in_stop(&f->server);
	free(f);
	return 0;
}

static void open_command(struct command *c, const char *text)
{
	static const struct schema_provider providers[] = { { "kubernetes",
							      NULL } };
	struct schema_provider named = providers[0];
	struct schema_options options = { .providers = &named,
					  .provider_count = 1 };

	*c = (struct command){ 0 };
	named.block = provider_kubernetes.block;
	assert_int_equal(schema_load_text("tests/unit/job.yaml", text,
					  strlen(text), &options, &c->jobs,
					  &c->found, &c->err),
			 0);
	if (c->jobs.count != 1)
		fail_msg("%s", c->found.items[0].message);
	assert_int_equal(job_digest(c->jobs.items[0], &c->err), 0);
	c->env.store = store_open(&c->err);
	assert_non_null(c->env.store);
	c->env.catalogue = catalogue_get(&c->err);
	c->env.read_yaml = yaml_read;
	c->ctx = provider_kubernetes.open(&c->env, &c->err);
	c->want = resources_new();
	assert_int_equal(provider_kubernetes.desire(c->jobs.items[0], &c->env,
						    c->want, &c->err),
			 0);
}

static void close_command(struct command *c)
{
	resources_free(c->want);
	provider_kubernetes.close(c->ctx);
	store_close(c->env.store);
	problems_done(&c->found);
	jobs_done(&c->jobs);
}

static struct resource *run_of(struct command *c)
{
	return c->want->items[c->want->count - 1];
}

static int make_one(struct command *c, struct resource *want)
{
	struct resource filled = *want;
	int ret = fill_resource(&filled, c->ctx, &c->err);

	if (ret == 0)
		ret = filled.kind->create(c->ctx, &filled, &c->err);
	fill_done(&filled);
	return ret;
}

/* As apply: reads, makes what is missing, and starts the run unless one of
 * its digest is there. */
static int apply(struct command *c, bool again)
{
	struct resource *found = resources_read(c->want, c->ctx, &c->err);
	size_t i;
	int ret = found ? 0 : -1;

	for (i = 0; ret == 0 && i < c->want->count; i++) {
		struct resource *want = c->want->items[i];
		bool run = want->kind->flags & KIND_RUN;

		if (run)
			want->run.attempt = found[i].run.attempt;
		if (!found[i].exists || (run && again))
			ret = make_one(c, want);
	}
	resources_forget(found, c->want->count);
	return ret;
}

static int wait_for_end(struct command *c)
{
	int64_t until = time_monotonic_ms() + WAIT_MS;
	enum wait_state state = WAIT_PENDING;

	while (state != WAIT_DONE) {
		if (run_of(c)->kind->wait(c->ctx, run_of(c), &state, &c->err) <
		    0)
			return -1;
		if (time_monotonic_ms() > until)
			return error_set(&c->err, ERROR_TIMEOUT, "no end");
		usleep(10000);
	}
	return 0;
}

static void must(struct command *c, int ret)
{
	if (ret < 0)
		fail_msg("%s", c->err.text);
}

static void get_run(struct command *c, struct arena *mem,
		    struct run_record *out)
{
	assert_int_equal(
		store_run_get(c->env.store, "net", 0, mem, out, &c->err), 0);
}

/* What a task has written, in `mem`. */
static const char *log_of(struct command *c, const char *type, int index,
			  struct arena *mem)
{
	struct run_record run;
	struct error err;
	char *folder, *path, *text;
	const char *out;
	size_t len;

	get_run(c, mem, &run);
	folder = store_run_folder(c->env.store, "net", run.attempt);
	path = log_stream_path(folder, type, index, LOG_STDOUT);
	text = file_read(path, 1 << 24, &len, &err);
	out = text ? arena_strdup(mem, text) : "";
	free(text);
	free(path);
	free(folder);
	return out;
}

/* Of a kind, how many objects there are. */
static size_t count_made(const struct fixture *f, const char *kind)
{
	json_t *made = stand_in_ask(&f->server, "made"), *one;
	size_t i, n = 0;

	json_array_foreach(made, i, one) n +=
		!strcmp(json_string_value(json_array_get(one, 0)), kind);
	json_decref(made);
	return n;
}

#define FULL                                                                   \
	JOB "  source: ../../examples/numpy-minimal\n"                         \
	    "  secrets: {KEY: {env: KEY}}\n"

static void a_run_is_made_followed_and_forgotten(void **state)
{
	struct fixture *f = *state;
	struct command c;
	struct run_record run;
	struct task_list tasks;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['one', 'two']}]}");
	open_command(&c, FULL);
	must(&c, apply(&c, false));
	must(&c, wait_for_end(&c));
	get_run(&c, f->mem, &run);
	assert_int_equal(run.state, RUN_SUCCEEDED);
	assert_int_equal(run.exit_code, 0);
	assert_string_equal(log_of(&c, "worker", 0, f->mem), "one\ntwo\n");
	assert_int_equal(
		store_task_list(c.env.store, &run, f->mem, &tasks, &c.err), 0);
	assert_int_equal(tasks.count, 2);
	assert_int_equal(tasks.items[1].state, RUN_SUCCEEDED);
	/* Again is another attempt, and still one object. */
	must(&c, apply(&c, true));
	must(&c, wait_for_end(&c));
	get_run(&c, f->mem, &run);
	assert_int_equal(run.attempt, 2);
	assert_int_equal(count_made(f, "JobSet"), 1);
	assert_int_equal(count_made(f, "Secret"), 1);
	assert_int_equal(count_made(f, "ConfigMap"), 1);
	must(&c, run_of(&c)->kind->delete (c.ctx, run_of(&c), &c.err));
	assert_int_equal(count_made(f, "JobSet"), 0);
	assert_int_equal(count_made(f, "Secret"), 0);
	assert_int_equal(count_made(f, "ConfigMap"), 0);
	close_command(&c);
}

static void without_jobsets_it_is_a_job(void **state)
{
	struct fixture *f = *state;
	struct command c;

	stand_in_tell(&f->server, "state",
		      "{'jobset': false, 'pods': [{'lines': ['x']}]}");
	open_command(&c, JOB);
	must(&c, apply(&c, false));
	must(&c, wait_for_end(&c));
	assert_int_equal(count_made(f, "Job"), 1);
	assert_int_equal(count_made(f, "Service"), 1);
	assert_string_equal(log_of(&c, "master", 0, f->mem), "x\n");
	close_command(&c);
}

/* In a child of its own; `pid_file` is for whoever kills it. */
static int in_child(struct fixture *f, const char *text)
{
	struct command c;
	FILE *file;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0) {
		waitpid(pid, &status, 0);
		return status;
	}
	file = fopen(stand_in_file(&f->server, "pid"), "w");
	fprintf(file, "%d", (int)getpid());
	fclose(file);
	open_command(&c, text);
	if (apply(&c, false) < 0 || wait_for_end(&c) < 0) {
		fprintf(stderr, "%s\n", c.err.text);
		_exit(1);
	}
	_exit(0);
}

/* Done, and never answered: what a kill before the next request leaves is the
 * same.  Returns whether it was killed by it. */
static bool killed_at(struct fixture *f, int n)
{
	char *fault = mem_printf("[{'do': 'kill-after', 'nth': %d, 'pid-file': "
				 "'%s', 'path': '/namespaces/'}]",
				 n, stand_in_file(&f->server, "pid"));
	int status;

	stand_in_tell(&f->server, "faults", fault);
	free(fault);
	status = in_child(f, FULL);
	stand_in_tell(&f->server, "faults", "[]");
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

/* The next command goes on, whatever was done: then there is one of each, all
 * is owned, no line is lost and none comes twice. */
static void killed_after_each_request(void **state)
{
	struct fixture *f = *state;
	struct command c;
	bool killed = true;
	int n;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['one', 'two', 'three']}]}");
	for (n = 1; killed; n++) {
		killed = killed_at(f, n);
		if (killed)
			assert_int_equal(in_child(f, FULL), 0);
		assert_int_equal(count_made(f, "JobSet"), 1);
		assert_int_equal(count_made(f, "Secret"), 1);
		assert_int_equal(count_made(f, "ConfigMap"), 1);
		open_command(&c, FULL);
		assert_string_equal(log_of(&c, "master", 0, f->mem),
				    "one\ntwo\nthree\n");
		assert_string_equal(log_of(&c, "worker", 0, f->mem),
				    "one\ntwo\nthree\n");
		must(&c, run_of(&c)->kind->delete (c.ctx, run_of(&c), &c.err));
		close_command(&c);
		assert_int_equal(count_made(f, "Secret"), 0);
	}
	/* It makes so many. */
	assert_true(n > 15);
}

static void a_lost_answer_makes_no_second_run(void **state)
{
	struct fixture *f = *state;
	struct command c;
	struct run_record run;

	stand_in_tell(&f->server, "faults",
		      "[{'do': 'drop-answer', 'method': 'PATCH', 'path': "
		      "'jobsets/net.fieldManager=jobrun&fieldValidation="
		      "Strict$'},"
		      "{'do': 'cut-body', 'path': '/log'}]");
	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['one', 'two', 'three']}]}");
	open_command(&c, JOB);
	must(&c, apply(&c, false));
	must(&c, wait_for_end(&c));
	get_run(&c, f->mem, &run);
	assert_int_equal(run.attempt, 1);
	assert_string_equal(log_of(&c, "master", 0, f->mem),
			    "one\ntwo\nthree\n");
	close_command(&c);
}

static void logs_go_on_through_restarts(void **state)
{
	struct fixture *f = *state;
	struct command c;
	struct run_record run;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'pod': 'node/0/0', 'lines': ['first'], "
		      "'exit': 1, 'every': 0.5}, {'lines': ['second']}]}");
	open_command(&c, JOB "  restart: {maxRestarts: 2}\n");
	must(&c, apply(&c, false));
	must(&c, wait_for_end(&c));
	get_run(&c, f->mem, &run);
	assert_int_equal(run.state, RUN_SUCCEEDED);
	assert_string_equal(log_of(&c, "master", 0, f->mem), "first\nsecond\n");
	close_command(&c);
}

/* A line is whatever bytes are before its newline. */
static void logs_need_not_be_text(void **state)
{
	struct fixture *f = *state;
	struct command c;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'lines': ['caf\\udce9', '', 'a b'], "
		      "'every': 0.05}]}");
	open_command(&c, JOB);
	must(&c, apply(&c, false));
	must(&c, wait_for_end(&c));
	assert_string_equal(log_of(&c, "master", 0, f->mem),
			    "caf\xe9\n\na b\n");
	close_command(&c);
}

static void failures_name_the_task(void **state)
{
	static const struct {
		const char *pods, *why;
		int code;
	} cases[] = {
		{ "{'pods': [{'pod': 'node/1', 'exit': 3}, {'hold': true}]}",
		  "worker 0 exited with 3", 3 },
		{ "{'pods': [{'pod': 'node/0', 'exit': 139}, {'hold': true}]}",
		  "master 0 was killed by SIGSEGV", 139 },
		{ "{'pods': [{'pod': 'node/0', 'lost': true}, {'hold': true}]}",
		  "master 0 lost its node", 137 },
	};
	struct fixture *f = *state;
	struct run_record run;
	struct command c;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		stand_in_tell(&f->server, "state", cases[i].pods);
		open_command(&c, JOB);
		must(&c, apply(&c, i > 0));
		must(&c, wait_for_end(&c));
		get_run(&c, f->mem, &run);
		assert_int_equal(run.state, RUN_FAILED);
		assert_string_equal(run.error, cases[i].why);
		assert_int_equal(run.exit_code, cases[i].code);
		close_command(&c);
	}
}

/* Looks until the run says so. */
static void wait_until_it_says(struct fixture *f, struct command *c,
			       const char *text)
{
	int64_t until = time_monotonic_ms() + WAIT_MS;
	enum wait_state state;
	struct run_record run;

	do {
		must(c,
		     run_of(c)->kind->wait(c->ctx, run_of(c), &state, &c->err));
		get_run(c, f->mem, &run);
		if (time_monotonic_ms() > until)
			fail_msg("%s, not: %s", run.error, text);
		usleep(10000);
	} while (!run.error || !strstr(run.error, text));
}

static void what_it_waits_for_is_said(void **state)
{
	struct fixture *f = *state;
	struct run_record run;
	struct command c;

	stand_in_tell(
		&f->server, "state",
		"{'pods': [{'pod': 'node/0', 'hold': true, 'pending': "
		"{'message': '0/3 nodes are available: 3 Insufficient cpu.', "
		"'seconds': 2}}, {'hold': true, 'waiting': {'reason': "
		"'ErrImagePull', 'message': 'no such image', 'seconds': 60}}]"
		"}");
	open_command(&c, JOB);
	must(&c, apply(&c, false));
	wait_until_it_says(f, &c,
			   "waits for a node: 0/3 nodes are available: 3 "
			   "Insufficient cpu.");
	wait_until_it_says(f, &c, "its image can't be pulled: no such image");
	/* To be asked to end is no failure. */
	must(&c, run_of(&c)->kind->cancel(c.ctx, run_of(&c), true, &c.err));
	must(&c, wait_for_end(&c));
	get_run(&c, f->mem, &run);
	assert_int_equal(run.state, RUN_CANCELLED);
	assert_int_equal(count_made(f, "JobSet"), 0);
	assert_int_equal(count_made(f, "Pod"), 0);
	close_command(&c);
}

static void a_launcher_that_does_not_come_is_named(void **state)
{
	struct fixture *f = *state;
	struct run_record run;
	struct command c;

	stand_in_tell(&f->server, "state",
		      "{'pods': [{'pod': '/0/', 'init': {'reason': "
		      "'ImagePullBackOff', 'message': 'back-off', 'seconds': "
		      "60}}, {'hold': true}]}");
	open_command(&c, JOB "  command: [python3]\n"
			     "  kubernetes: {launcher: jobrun}\n");
	must(&c, apply(&c, false));
	wait_until_it_says(f, &c,
			   "waits: jobrun.kubernetes.launcher: its image can't "
			   "be pulled: back-off");
	/* As it comes, it fails. */
	stand_in_tell(&f->server, "state",
		      "{'pods': [{'pod': '/0/', 'init': {'exit': 126, "
		      "'message': 'one\\ntwo\\n'}}, {'hold': true}]}");
	must(&c, run_of(&c)->kind->cancel(c.ctx, run_of(&c), true, &c.err));
	must(&c, wait_for_end(&c));
	must(&c, apply(&c, true));
	must(&c, wait_for_end(&c));
	get_run(&c, f->mem, &run);
	assert_int_equal(run.state, RUN_FAILED);
	assert_int_equal(run.exit_code, 126);
	assert_string_equal(run.error,
			    "master 0 was not started: the container of "
			    "jobrun.kubernetes.launcher exited with 126: two");
	close_command(&c);
}

/* As Kueue makes it for a JobSet that is suspended. */
static void make_workload(struct fixture *f, const char *uid)
{
	char *item = mem_printf(
		"{'kind': 'Workload', 'metadata': {'name': 'jobset-net', "
		"'ownerReferences': [{'kind': 'JobSet', 'name': 'net', 'uid': "
		"'%s'}]}, 'status': {'conditions': [{'type': 'QuotaReserved', "
		"'status': 'False', 'reason': 'Pending', 'message': "
		"'insufficient unused quota for cpu'}]}}",
		uid);

	stand_in_tell(&f->server, "make", item);
	free(item);
}

static void kueue_says_what_it_waits_for(void **state)
{
	struct fixture *f = *state;
	struct kube_record record;
	struct command c;
	struct error err;

	stand_in_tell(&f->server, "state", "{'kueue': true, 'paused': true}");
	open_command(&c, JOB "  kubernetes: {queue: team}\n");
	must(&c, apply(&c, false));
	assert_int_equal(record_get(c.ctx, "net", f->mem, &record, &err), 0);
	/* That of another is not about this one. */
	make_workload(f, "another");
	make_workload(f, record.uid);
	wait_until_it_says(f, &c,
			   "waits in Kueue's queue: insufficient unused quota "
			   "for cpu");
	close_command(&c);
}

/* What is there of a kind, with a store that knows of nothing. */
static void list_all(struct command *c, struct listing *out)
{
	const struct kind *const *kind;

	listing_init(out);
	for (kind = provider_kubernetes.kinds; *kind; kind++)
		must(c, (*kind)->list(c->ctx, NULL, out, &c->err));
}

static void delete_all(struct command *c, const struct listing *all)
{
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct resource have = { .kind = all->items[i].kind,
					 .name = all->items[i].name,
					 .place = all->items[i].place };

		must(c, have.kind->delete (c->ctx, &have, &c->err));
	}
}

static void what_was_made_is_found_without_the_store(void **state)
{
	struct fixture *f = *state;
	struct resource run = { .kind = &kind_kube_run, .name = "net" };
	struct listing all;
	struct command c;
	size_t i;

	stand_in_tell(&f->server, "state", "{'pods': [{'hold': true}]}");
	open_command(&c, FULL);
	must(&c, apply(&c, false));
	close_command(&c);
	setenv("JOBRUN_STATE_DIR", stand_in_file(&f->server, "lost"), 1);
	open_command(&c, FULL);
	list_all(&c, &all);
	assert_int_equal(all.count, 3);
	for (i = 0; i < all.count; i++) {
		assert_string_equal(all.items[i].labels.job_id, "net");
		assert_string_equal(all.items[i].labels.digest,
				    c.jobs.items[0]->digest.hex);
	}
	assert_true(all.items[2].live);
	run.place = all.items[2].place;
	/* It goes on: whoever deletes it has to end it first. */
	assert_int_equal(run.kind->delete (c.ctx, &run, &c.err), -1);
	assert_non_null(strstr(c.err.text, "jobrun cancel net"));
	must(&c, run.kind->cancel(c.ctx, &run, true, &c.err));
	delete_all(&c, &all);
	listing_done(&all);
	assert_int_equal(count_made(f, "JobSet"), 0);
	assert_int_equal(count_made(f, "Secret"), 0);
	assert_int_equal(count_made(f, "ConfigMap"), 0);
	close_command(&c);
}

static void the_cluster_has_a_say_in_the_plan(void **state)
{
	struct fixture *f = *state;
	struct resource *found;
	struct command c;

	stand_in_tell(&f->server, "state",
		      "{'deny': 'no GPUs on Fridays', 'warn': 'old field'}");
	open_command(&c, JOB);
	assert_null(resources_read(c.want, c.ctx, &c.err));
	assert_string_equal(c.err.text,
			    "read job 'net': the cluster refuses it: admission "
			    "webhook \"policy.example.com\" denied the "
			    "request: no GPUs on Fridays");
	stand_in_tell(&f->server, "state", "{'deny': null}");
	found = resources_read(c.want, c.ctx, &c.err);
	assert_non_null(found);
	assert_string_equal(json_get_text(run_of(&c)->request, "warning", ""),
			    "old field");
	assert_int_equal(count_made(f, "JobSet"), 0);
	resources_forget(found, c.want->count);
	close_command(&c);
}

static void what_is_of_others_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct command c;

	stand_in_tell(&f->server, "state", "{'paused': true}");
	stand_in_tell(&f->server, "make",
		      "{'kind': 'JobSet', 'metadata': {'name': 'net'}, "
		      "'spec': {'replicatedJobs': []}}");
	open_command(&c, JOB);
	assert_null(resources_read(c.want, c.ctx, &c.err));
	assert_string_equal(c.err.text, "read job 'net': JobSet 'net' is there "
					"already and was not made by jobrun");
	assert_true(make_one(&c, run_of(&c)) < 0);
	assert_true(c.err.final);
	assert_int_equal(count_made(f, "JobSet"), 1);
	close_command(&c);
}

static bool is_readable(int fd, int ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, ms) == 1;
}

static void change(const struct fixture *f, const char *label)
{
	char *item = mem_printf(
		"{'kind': 'JobSet', 'metadata': {'name': 'net', 'labels': "
		"{'a': '%s'}}, 'spec': {'replicatedJobs': []}}",
		label);

	stand_in_tell(&f->server, "make", item);
	free(item);
}

/* A new descriptor of the same watch. */
static int look(struct command *c, const struct kube_at *at)
{
	int fd = -1;

	must(c, watch_open(c->ctx, at, &type_jobset, "net", &fd, &c->err));
	return fd;
}

/* Whoever follows a run keeps its watch, and hears of a change. */
static bool hears(struct command *c, const struct kube_at *at, int fd)
{
	int64_t until = time_monotonic_ms() + WAIT_MS;

	do {
		watch_keep(c->ctx, at, &type_jobset, "net");
		if (is_readable(fd, 20))
			return true;
	} while (time_monotonic_ms() < until);
	return false;
}

/* A watch was broken so, and another asked for. */
static bool was_broken(const struct fixture *f, const char *fault)
{
	json_t *all = stand_in_ask(&f->server, "requests"), *one;
	size_t i, n = 0;

	json_array_foreach(all, i, one)
	{
		if (!strstr(json_get_text(one, "path", ""), "watch=true"))
			continue;
		if (!strcmp(json_get_text(one, "fault", ""), fault) || n)
			n++;
	}
	json_decref(all);
	return n > 1;
}

static void keep_until_broken(struct fixture *f, struct command *c,
			      const struct kube_at *at, const char *fault)
{
	int64_t until = time_monotonic_ms() + WAIT_MS;

	while (!was_broken(f, fault)) {
		watch_keep(c->ctx, at, &type_jobset, "net");
		assert_true(time_monotonic_ms() < until);
		usleep(10000);
	}
}

static void watches_go_on(void **state)
{
	struct fixture *f = *state;
	struct command c;
	struct kube_at at;
	int fd;

	stand_in_tell(&f->server, "state", "{'paused': true}");
	open_command(&c, JOB);
	must(&c, kube_find(c.ctx, "team@", &at, &c.err));
	fd = look(&c, &at);
	change(f, "one");
	assert_true(hears(&c, &at, fd));
	close(fd);
	/* What was heard of is not heard of again. */
	fd = look(&c, &at);
	assert_false(is_readable(fd, 200));
	/* What it could go on from is gone (410): it begins anew. */
	stand_in_tell(&f->server, "compact", "{}");
	assert_true(hears(&c, &at, fd));
	close(fd);
	/* So it does when its connection breaks in the middle of an event. */
	stand_in_tell(&f->server, "faults",
		      "[{'do': 'cut-body', 'path': 'watch=true'}]");
	fd = look(&c, &at);
	stand_in_tell(&f->server, "compact", "{}");
	keep_until_broken(f, &c, &at, "cut-body");
	close(fd);
	fd = look(&c, &at);
	change(f, "two");
	assert_true(hears(&c, &at, fd));
	close(fd);
	close_command(&c);
}

/* Runs whose records say that they wait, of jobs j0, j1 … */
static void remember(struct command *c, int count)
{
	char id[32], *properties;
	int i;

	for (i = 0; i < count; i++) {
		struct run_record run = { .provider = "kubernetes",
					  .digest = "",
					  .exit_code = -1 };

		snprintf(id, sizeof(id), "job%d", i);
		properties = mem_printf("{\"kind\":\"JobSet\",\"name\":\"%s\","
					"\"place\":\"team@\",\"uid\":\"\"}",
					id);
		run.job_id = id;
		run.properties = properties;
		must(c, store_run_add(c->env.store, &run, &c->err));
		free(properties);
	}
}

/* Asks about all, and returns with how many requests. */
static size_t ask_about_all(struct fixture *f, struct command *c, size_t *same)
{
	size_t before = stand_in_count(&f->server, "/api"), i;
	struct run_record *runs[50];
	struct run_list all;
	bool fresh[50];

	assert_int_equal(
		store_run_list(c->env.store, false, f->mem, &all, &c->err), 0);
	assert_int_equal(all.count, 50);
	for (i = 0; i < all.count; i++)
		runs[i] = &all.items[i];
	kind_kube_run.refresh(c->ctx, runs, all.count, f->mem, fresh);
	for (i = 0, *same = 0; i < all.count; i++)
		*same += fresh[i];
	return stand_in_count(&f->server, "/api") - before;
}

static void many_are_asked_about_at_once(void **state)
{
	struct fixture *f = *state;
	struct command c;
	size_t same;

	stand_in_tell(&f->server, "many",
		      "{'count': 50, 'state': 'Suspended'}");
	open_command(&c, JOB);
	remember(&c, 50);
	assert_int_equal(ask_about_all(f, &c, &same), 1);
	assert_int_equal(same, 50);
	close_command(&c);
	/* Without a queue they wait for nodes. */
	stand_in_tell(&f->server, "many", "{'count': 50, 'state': 'Pending'}");
	stand_in_tell(&f->server, "make",
		      "{'kind': 'Pod', 'metadata': {'name': "
		      "'job7-node-0-1-fghij', 'labels': {'jobrun-job': "
		      "'job7'}}, 'spec': {}, 'status': {'phase': 'Running'}}");
	open_command(&c, JOB);
	assert_int_equal(ask_about_all(f, &c, &same), 2);
	assert_int_equal(same, 49);
	close_command(&c);
	/* What has ended, or is there no more, is looked at. */
	stand_in_tell(&f->server, "make",
		      "{'kind': 'JobSet', 'metadata': {'name': 'job3', "
		      "'labels': {'jobrun-attempt': '1'}}, 'spec': "
		      "{'replicatedJobs': []}, 'status': {'terminalState': "
		      "'Failed'}}");
	open_command(&c, JOB);
	ask_about_all(f, &c, &same);
	assert_int_equal(same, 48);
	close_command(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_run_is_made_followed_and_forgotten, start, stop),
		cmocka_unit_test_setup_teardown(without_jobsets_it_is_a_job,
						start, stop),
		cmocka_unit_test_setup_teardown(killed_after_each_request,
						start, stop),
		cmocka_unit_test_setup_teardown(
			a_lost_answer_makes_no_second_run, start, stop),
		cmocka_unit_test_setup_teardown(logs_go_on_through_restarts,
						start, stop),
		cmocka_unit_test_setup_teardown(logs_need_not_be_text, start,
						stop),
		cmocka_unit_test_setup_teardown(failures_name_the_task, start,
						stop),
		cmocka_unit_test_setup_teardown(
			a_launcher_that_does_not_come_is_named, start, stop),
		cmocka_unit_test_setup_teardown(what_it_waits_for_is_said,
						start, stop),
		cmocka_unit_test_setup_teardown(kueue_says_what_it_waits_for,
						start, stop),
		cmocka_unit_test_setup_teardown(
			what_was_made_is_found_without_the_store, start, stop),
		cmocka_unit_test_setup_teardown(
			the_cluster_has_a_say_in_the_plan, start, stop),
		cmocka_unit_test_setup_teardown(what_is_of_others_is_left_alone,
						start, stop),
		cmocka_unit_test_setup_teardown(watches_go_on, start, stop),
		cmocka_unit_test_setup_teardown(many_are_asked_about_at_once,
						start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
