/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/kube_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/apply/fill_outputs.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/log/log_file.h"
#include "providers/kubernetes/kubernetes.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/read/yaml_read.h"
#include "tests/support/known.h"

#define WAIT_MS 20000

int kube_test_start(void **state)
{
	struct kube_test *f = mem_alloc(sizeof(*f));
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

/* Checks that no output contains a secret that the server has ever held. */
static void nothing_is_shown(struct kube_test *f)
{
	json_t *secrets = stand_in_ask(&f->server, "secrets"), *one;
	struct buf command = { 0 };
	size_t i;

	buf_puts(&command, "! grep -rqF --exclude=kubeconfig "
			   "-e value-that-nobody-may-see");
	json_array_foreach(secrets, i, one)
		buf_printf(&command, " -e '%s'", json_string_value(one));
	buf_printf(&command, " %s", f->server.folder);
	assert_int_equal(system(command.data), 0);
	buf_done(&command);
	json_decref(secrets);
}

int kube_test_stop(void **state)
{
	struct kube_test *f = *state;
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

void kube_test_open(struct kube_command *c, const char *text)
{
	const struct schema_provider known =
		known_provider(&provider_kubernetes);
	struct schema_options options = { .providers = &known,
					  .provider_count = 1 };

	*c = (struct kube_command){ 0 };
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

void kube_test_close(struct kube_command *c)
{
	resources_free(c->want);
	provider_kubernetes.close(c->ctx);
	store_close(c->env.store);
	problems_done(&c->found);
	jobs_done(&c->jobs);
}

struct resource *kube_test_run(struct kube_command *c)
{
	return c->want->items[c->want->count - 1];
}

int kube_test_make(struct kube_command *c, struct resource *want)
{
	struct resource filled = *want;
	int ret = fill_resource(&filled, c->ctx, false, &c->err);

	if (ret == 0)
		ret = filled.kind->create(c->ctx, &filled, &c->err);
	fill_done(&filled);
	return ret;
}

/* Acts like apply: reads, creates what is missing, and starts the run unless
 * one with its digest exists. */
int kube_test_apply(struct kube_command *c, bool again)
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
			ret = kube_test_make(c, want);
	}
	resources_forget(found, c->want->count);
	return ret;
}

int kube_test_wait(struct kube_command *c)
{
	int64_t until = time_monotonic_ms() + WAIT_MS;
	enum wait_state state = WAIT_PENDING;

	while (state != WAIT_DONE) {
		if (kube_test_run(c)->kind->wait(c->ctx, kube_test_run(c),
						 &state, &c->err) < 0)
			return -1;
		if (time_monotonic_ms() > until)
			return error_set(&c->err, ERROR_TIMEOUT, "no end");
		usleep(10000);
	}
	return 0;
}

void kube_test_must(struct kube_command *c, int ret)
{
	if (ret < 0)
		fail_msg("%s", c->err.text);
}

void kube_test_get_run(struct kube_command *c, struct arena *mem,
		       struct run_record *out)
{
	assert_int_equal(
		store_run_get(c->env.store, "net", 0, mem, out, &c->err), 0);
}

/* Returns the output of a task, in `mem`. */
const char *kube_test_log(struct kube_command *c, const char *type, int index,
			  struct arena *mem)
{
	struct run_record run;
	struct error err;
	char *folder, *path, *text;
	const char *out;
	size_t len;

	kube_test_get_run(c, mem, &run);
	folder = store_run_folder(c->env.store, "net", run.attempt);
	path = log_stream_path(folder, type, index, LOG_STDOUT);
	text = file_read(path, 1 << 24, &len, &err);
	out = text ? arena_strdup(mem, text) : "";
	free(text);
	free(path);
	free(folder);
	return out;
}

/* Returns how many objects of a kind exist. */
size_t kube_test_count(const struct kube_test *f, const char *kind)
{
	json_t *made = stand_in_ask(&f->server, "made"), *one;
	size_t i, n = 0;

	json_array_foreach(made, i, one) n +=
		!strcmp(json_string_value(json_array_get(one, 0)), kind);
	json_decref(made);
	return n;
}

/* Applies in a child process, whose pid goes to `pid_file` for the one who
 * kills it. */
int kube_test_child(struct kube_test *f, const char *text)
{
	struct kube_command c;
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
	kube_test_open(&c, text);
	if (kube_test_apply(&c, false) < 0 || kube_test_wait(&c) < 0) {
		fprintf(stderr, "%s\n", c.err.text);
		_exit(1);
	}
	_exit(0);
}

/* Kills apply after its n-th request was carried out but not answered, which is
 * the same as a kill before the next request.  Returns whether it was
 * killed. */
bool kube_test_killed_at(struct kube_test *f, const char *text, int n)
{
	char *fault = mem_printf("[{'do': 'kill-after', 'nth': %d, 'pid-file': "
				 "'%s', 'path': '/namespaces/'}]",
				 n, stand_in_file(&f->server, "pid"));
	int status;

	stand_in_tell(&f->server, "faults", fault);
	free(fault);
	status = kube_test_child(f, text);
	stand_in_tell(&f->server, "faults", "[]");
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

/* Looks until the run shows the text. */
void kube_test_says(struct kube_test *f, struct kube_command *c,
		    const char *text)
{
	int64_t until = time_monotonic_ms() + WAIT_MS;
	enum wait_state state;
	struct run_record run;

	do {
		kube_test_must(
			c, kube_test_run(c)->kind->wait(
				   c->ctx, kube_test_run(c), &state, &c->err));
		kube_test_get_run(c, f->mem, &run);
		if (time_monotonic_ms() > until)
			fail_msg("%s, not: %s", run.error, text);
		usleep(10000);
	} while (!run.error || !strstr(run.error, text));
}
