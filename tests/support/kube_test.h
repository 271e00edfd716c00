/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by tests of runs in a cluster: its stand-in, and commands there, as
 * 'apply' and the like have them.  All assert that they work.
 */
#ifndef JOBRUN_KUBE_TEST_H
#define JOBRUN_KUBE_TEST_H

#include "core/provider/provider.h"
#include "core/store/store.h"
#include "schema/schema.h"
#include "tests/support/stand_in.h"

/* The state of a test: kube_test_start() sets it up, kube_test_stop() also
 * asserts that no schema was broken and no secret was shown. */
struct kube_test {
	struct stand_in server;
	struct arena *mem;
};

int kube_test_start(void **state);
int kube_test_stop(void **state);

/* A master and a worker, which are alike. */
#define KUBE_TEST_JOB                                                          \
	"jobId: net\ntrainingInput:\n  scaleTier: CUSTOM\n"                    \
	"  masterType: n1-standard-4\n"                                        \
	"  masterConfig: {imageUri: \"gcr.io/p/i:1\"}\n"                       \
	"  workerType: n1-standard-4\n  workerCount: 1\n"                      \
	"jobrun:\n  provider: kubernetes\n"
/* With all that one can have beside it. */
#define KUBE_TEST_FULL                                                         \
	KUBE_TEST_JOB "  source: ../../examples/numpy-minimal\n"               \
		      "  secrets: {KEY: {env: KEY}}\n"

/* A command: what it has open. */
struct kube_command {
	struct jobs jobs;
	struct problems found;
	struct provider_env env;
	void *ctx;
	struct resources *want;
	struct error err;
};

void kube_test_open(struct kube_command *c, const char *text);
void kube_test_close(struct kube_command *c);
struct resource *kube_test_run(struct kube_command *c);

/* One resource; -1 with the command's error set. */
int kube_test_make(struct kube_command *c, struct resource *want);
/* As apply: reads, makes what is missing, and starts the run unless one of
 * its digest is there, or in any case. */
int kube_test_apply(struct kube_command *c, bool again);
int kube_test_wait(struct kube_command *c);
/* Asserts that it did not fail. */
void kube_test_must(struct kube_command *c, int ret);
/* Both in a process of its own, which a fault of the stand-in may kill: what
 * waitpid() says of it. */
int kube_test_child(struct kube_test *f, const char *text);
/* The same, killed when the nth request was done, and never answered: what a
 * kill before the next request leaves is the same.  Whether it came so far. */
bool kube_test_killed_at(struct kube_test *f, const char *text, int n);

void kube_test_get_run(struct kube_command *c, struct arena *mem,
		       struct run_record *out);
/* Looks until the run's record says so. */
void kube_test_says(struct kube_test *f, struct kube_command *c,
		    const char *text);
/* The output of a task, in `mem`. */
const char *kube_test_log(struct kube_command *c, const char *type, int index,
			  struct arena *mem);
/* How many objects of a kind exist. */
size_t kube_test_count(const struct kube_test *f, const char *kind);

#endif
