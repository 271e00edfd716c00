/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/plan/plan.h"

#define THINGS_MAX 8

/* Is never called; only its presence matters. */
static int update(void *ctx, const struct resource *want, struct error *err)
{
	(void)ctx;
	(void)want;
	(void)err;
	return 0;
}

static const char *const node_replace_on[] = { "zone", "disk.type", NULL };
static const struct kind node = { .name = "node",
				  .replace_on = node_replace_on,
				  .update = update };
static const struct kind fixed = { .name = "fixed" };
static const struct kind run = { .name = "run", .flags = KIND_RUN };
static const struct kind *const kinds[] = { &node, &fixed, &run, NULL };
static const struct provider cloud = { .name = "cloud", .kinds = kinds };

/* A job, its desired resources, and the existing ones. */
struct scene {
	struct job job;
	struct resources *desired;
	struct resource found[THINGS_MAX];
	struct plan *plan;
	struct error err;
};

static void scene_init(struct scene *scene, const char *job_id)
{
	memset(scene, 0, sizeof(*scene));
	scene->job.job_id = job_id;
	scene->job.file = "jobs/a.yaml";
	strcpy(scene->job.digest.hex, "d1");
	scene->desired = resources_new();
	scene->plan = plan_new();
}

static void scene_done(struct scene *scene)
{
	size_t i;

	plan_free(scene->plan);
	for (i = 0; i < THINGS_MAX; i++)
		json_decref(scene->found[i].properties);
	resources_free(scene->desired);
}

static json_t *read_json(const char *text)
{
	struct error err;
	json_t *value = json_read(text, strlen(text), "test", &err);

	assert_non_null(value);
	return value;
}

static struct resource *want(struct scene *scene, const struct kind *kind,
			     const char *name, const char *properties)
{
	struct resource *it =
		resources_add(scene->desired, kind, name, &scene->job);

	it->properties = read_json(properties);
	return it;
}

static struct resource *found(struct scene *scene, size_t i,
			      const char *properties)
{
	scene->found[i].kind = scene->desired->items[i]->kind;
	scene->found[i].exists = true;
	scene->found[i].properties = read_json(properties);
	return &scene->found[i];
}

static int make(struct scene *scene, bool rerun)
{
	struct plan_options options = { .rerun = rerun };

	return plan_add(scene->plan, &cloud, &scene->job, scene->desired,
			scene->found, &options, &scene->err);
}

/* Nodes by letter, in the order in which they are wanted; "ab" in `needs` means
 * that a needs b. */
static void order_is_stable_and_cycles_are_named(void **state)
{
	static const struct {
		const char *nodes, *needs, *order, *error;
	} cases[] = {
		{ "abc", "", "abc", NULL },
		{ "abc", "ab ac", "bca", NULL },
		{ "abc", "ac ab", "cba", NULL },
		{ "abcd", "da ca", "abcd", NULL },
		{ "abcd", "ab bc cd", "dcba", NULL },
		{ "abcd", "ad bd", "dabc", NULL },
		{ "ab", "ab ab", "ba", NULL },
		{ "a", "aa", NULL, "a -> a" },
		{ "ab", "ab ba", NULL, "a -> b -> a" },
		{ "abcd", "ab bc cd db", NULL, "b -> c -> d -> b" },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const char *nodes = cases[i].nodes, *p;
		struct scene scene;
		char text[256];

		scene_init(&scene, "job");
		for (p = nodes; *p; p++)
			want(&scene, &node, (char[]){ *p, '\0' }, "{}");
		for (p = cases[i].needs; *p; p += p[2] ? 3 : 2)
			resource_needs(
				scene.desired,
				scene.desired
					->items[strchr(nodes, p[0]) - nodes],
				scene.desired
					->items[strchr(nodes, p[1]) - nodes]);
		if (cases[i].error) {
			snprintf(text, sizeof(text),
				 "job 'job': circular dependency: %s",
				 cases[i].error);
			assert_int_equal(make(&scene, false), -1);
			assert_string_equal(scene.err.text, text);
			assert_int_equal(scene.err.code, ERROR_INVALID);
			assert_int_equal(plan_job_count(scene.plan), 0);
			assert_int_equal(plan_count(scene.plan), 0);
		} else {
			assert_int_equal(make(&scene, false), 0);
			for (j = 0; j < plan_count(scene.plan); j++) {
				const struct action *action =
					plan_at(scene.plan, j);

				assert_int_equal(action->index, j);
				assert_int_equal(action->want->name[0],
						 cases[i].order[j]);
			}
			assert_int_equal(j, strlen(nodes));
		}
		scene_done(&scene);
	}
}

static void long_chains_are_ordered(void **state)
{
	const size_t count = 100000;
	struct scene scene;
	struct resource *none;
	struct plan_options options = { 0 };
	char name[32];
	size_t i;

	(void)state;
	scene_init(&scene, "job");
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "n%zu", i);
		resources_add(scene.desired, &node, name, &scene.job);
	}
	for (i = 0; i + 1 < count; i++)
		resource_needs(scene.desired, scene.desired->items[i],
			       scene.desired->items[i + 1]);
	none = mem_alloc(count * sizeof(*none));
	assert_int_equal(plan_add(scene.plan, &cloud, &scene.job, scene.desired,
				  none, &options, &scene.err),
			 0);
	assert_string_equal(plan_at(scene.plan, 0)->want->name, "n99999");
	assert_string_equal(plan_at(scene.plan, count - 1)->want->name, "n0");
	free(none);
	scene_done(&scene);
}

static void rules_for_things(void **state)
{
	static const struct {
		const struct kind *kind;
		const char *found; /* NULL: does not exist */
		const char *want;
		enum action_type type;
		const char *reason;
		size_t changes;
	} cases[] = {
		{ &node, NULL, "{\"zone\":\"a\"}", ACTION_CREATE,
		  "does not exist yet", 1 },
		{ &node, "{\"zone\":\"a\"}", "{\"zone\":\"a\"}", ACTION_NOOP,
		  "is up to date", 0 },
		{ &node, "{\"n\":1}", "{\"n\":2}", ACTION_UPDATE,
		  "1 field differs", 1 },
		{ &node, "{\"n\":1}", "{\"n\":2,\"m\":1}", ACTION_UPDATE,
		  "2 fields differ", 2 },
		{ &node, "{\"n\":1,\"zone\":\"a\"}", "{\"n\":2,\"zone\":\"b\"}",
		  ACTION_REPLACE, "zone cannot change in place", 2 },
		{ &node, "{\"disk\":{\"type\":1,\"size\":1}}",
		  "{\"disk\":{\"type\":1,\"size\":2}}", ACTION_UPDATE,
		  "1 field differs", 1 },
		{ &node, "{\"disk\":{\"type\":1},\"zone\":1}",
		  "{\"disk\":{\"type\":2},\"zone\":2}", ACTION_REPLACE,
		  "disk.type and 1 more cannot change in place", 2 },
		{ &fixed, "{\"n\":1}", "{\"n\":2}", ACTION_REPLACE,
		  "n cannot change in place", 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const struct action *action;
		struct scene scene;

		scene_init(&scene, "job");
		want(&scene, cases[i].kind, "x", cases[i].want);
		if (cases[i].found)
			found(&scene, 0, cases[i].found);
		assert_int_equal(make(&scene, false), 0);
		action = plan_at(scene.plan, 0);
		assert_int_equal(action->type, cases[i].type);
		assert_string_equal(action->reason, cases[i].reason);
		assert_int_equal(action->change_count, cases[i].changes);
		assert_int_equal(plan_total(scene.plan, cases[i].type), 1);
		assert_int_equal(plan_is_empty(scene.plan),
				 cases[i].type == ACTION_NOOP);
		scene_done(&scene);
	}
}

#define UNBEGUN 100 /* in the place of `on_change` */

static void rules_for_runs(void **state)
{
	static const struct {
		const char *digest; /* of the run, or NULL: none */
		enum run_state state;
		int exit_code;
		bool rerun;
		int on_change;
		enum action_type type;
		bool follow;
		const char *reason; /* of the action, or the error */
		int ret;
	} cases[] = {
		{ NULL, 0, 0, false, 0, ACTION_RUN, false, "not run yet", 0 },
		{ NULL, 0, 0, true, 0, ACTION_RUN, false, "not run yet", 0 },
		{ "d1", RUN_SUCCEEDED, 0, false, 0, ACTION_NOOP, false,
		  "already succeeded", 0 },
		{ "d1", RUN_SUCCEEDED, 0, true, 0, ACTION_RUN, false,
		  "again, after attempt 2 (succeeded)", 0 },
		{ "d1", RUN_FAILED, 3, false, 0, ACTION_NOOP, false,
		  "failed before (exit 3); --rerun runs it again", 0 },
		{ "d1", RUN_FAILED, -1, false, 0, ACTION_NOOP, false,
		  "failed before; --rerun runs it again", 0 },
		{ "d1", RUN_FAILED, 3, true, 0, ACTION_RUN, false,
		  "again, after attempt 2 (failed, exit 3)", 0 },
		{ "d1", RUN_CANCELLED, -1, false, 0, ACTION_NOOP, false,
		  "cancelled before; --rerun runs it again", 0 },
		{ "d1", RUN_CANCELLED, -1, false, UNBEGUN, ACTION_RUN, false,
		  "cancelled before it began", 0 },
		{ "d1", RUN_CANCELLED, -1, true, 0, ACTION_RUN, false,
		  "again, after attempt 2 (cancelled)", 0 },
		{ "d1", RUN_RUNNING, -1, false, 0, ACTION_NOOP, true,
		  "is running, attempt 2", 0 },
		{ "d1", RUN_QUEUED, -1, false, 0, ACTION_NOOP, true,
		  "is queued, attempt 2", 0 },
		{ "d1", RUN_CANCELLING, -1, false, 0, ACTION_NOOP, true,
		  "is being cancelled, attempt 2", 0 },
		{ "d1", RUN_RUNNING, -1, true, 0, ACTION_NOOP, true,
		  "is still running, attempt 2; --rerun starts no second one",
		  0 },
		{ "d0", RUN_SUCCEEDED, 0, false, 0, ACTION_RUN, false,
		  "changed since attempt 2 (succeeded)", 0 },
		{ "d0", RUN_FAILED, 1, false, ON_CHANGE_FAIL, ACTION_RUN, false,
		  "changed since attempt 2 (failed, exit 1)", 0 },
		{ "d0", RUN_RUNNING, -1, false, 0, ACTION_REPLACE, false,
		  "running with other settings: will be cancelled, then run "
		  "again",
		  0 },
		{ "d0", RUN_PREPARING, -1, true, 0, ACTION_REPLACE, false,
		  "being prepared with other settings: will be cancelled, then "
		  "run again",
		  0 },
		{ "d0", RUN_RUNNING, -1, false, ON_CHANGE_FAIL, 0, false,
		  "job 'job': run 'job' is running with other settings "
		  "(attempt 2), and onChange is 'fail': cancel it first",
		  -1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		bool changed = cases[i].digest && cases[i].digest[1] == '0';
		const struct action *action;
		struct resource *had;
		struct scene scene;

		scene_init(&scene, "job");
		scene.job.jobrun.on_change = cases[i].on_change;
		want(&scene, &run, "job", "{\"lr\":2}");
		if (cases[i].digest) {
			had = found(&scene, 0, "{\"lr\":1}");
			had->name = "job";
			had->run.state = cases[i].state;
			had->run.exit_code = cases[i].exit_code;
			had->run.attempt = 2;
			had->run.unbegun = cases[i].on_change == UNBEGUN;
			strcpy(had->run.digest.hex, cases[i].digest);
		}
		assert_int_equal(make(&scene, cases[i].rerun), cases[i].ret);
		if (cases[i].ret < 0) {
			assert_string_equal(scene.err.text, cases[i].reason);
			assert_int_equal(scene.err.code, ERROR_FAILED);
			scene_done(&scene);
			continue;
		}
		action = plan_at(scene.plan, 0);
		assert_string_equal(action->reason, cases[i].reason);
		assert_int_equal(action->type, cases[i].type);
		assert_int_equal(action->follow, cases[i].follow);
		assert_int_equal(plan_follow_count(scene.plan),
				 cases[i].follow);
		assert_int_equal(action->change_count,
				 changed || !cases[i].digest);
		scene_done(&scene);
	}
}

/* The node of an ended run is not created again, unless something else needs
 * it. */
static void an_ended_run_needs_nothing(void **state)
{
	struct scene scene;
	struct resource *network, *machine, *other, *it;

	(void)state;
	scene_init(&scene, "job");
	network = want(&scene, &node, "network", "{}");
	machine = want(&scene, &node, "machine", "{}");
	other = want(&scene, &fixed, "other", "{}");
	it = want(&scene, &run, "job", "{}");
	resource_needs(scene.desired, machine, network);
	resource_needs(scene.desired, other, network);
	resource_needs(scene.desired, it, machine);
	found(&scene, 3, "{}")->run.state = RUN_SUCCEEDED;
	strcpy(scene.found[3].run.digest.hex, "d1");
	assert_int_equal(make(&scene, false), 0);
	assert_int_equal(plan_at(scene.plan, 0)->type, ACTION_CREATE);
	assert_int_equal(plan_at(scene.plan, 1)->type, ACTION_NOOP);
	assert_string_equal(plan_at(scene.plan, 1)->reason,
			    "not needed: the run has ended");
	assert_int_equal(plan_at(scene.plan, 2)->type, ACTION_CREATE);
	scene_done(&scene);
}

static void deletion_is_in_the_opposite_order(void **state)
{
	struct scene scene;
	const struct action *last;

	(void)state;
	scene_init(&scene, "job");
	want(&scene, &node, "a", "{}");
	want(&scene, &node, "b", "{}");
	want(&scene, &run, "job", "{}");
	resource_needs(scene.desired, scene.desired->items[2],
		       scene.desired->items[0]);
	found(&scene, 0, "{}");
	found(&scene, 2, "{}");
	plan_add_delete(scene.plan, &cloud, &scene.job, scene.desired,
			scene.found, "as asked");
	assert_int_equal(plan_count(scene.plan), 2); /* b is not there */
	assert_int_equal(plan_total(scene.plan, ACTION_DELETE), 2);
	assert_string_equal(plan_at(scene.plan, 0)->id, "job/run/job");
	last = plan_at(scene.plan, 1);
	assert_string_equal(last->id, "job/node/a");
	assert_int_equal(last->need_count, 1);
	assert_ptr_equal(last->needs[0], plan_at(scene.plan, 0));
	scene_done(&scene);
}

/* Makes one of each action, for the renderings. */
static void fill(struct scene *scene)
{
	struct resource *it;
	size_t i;

	scene_init(scene, "quick");
	want(scene, &node, "net", "{\"mtu\":1500}");
	want(scene, &node, "vm-1",
	     "{\"zone\":\"b\",\"labels\":{\"owner\":\"me\\u001B[0m\"}}");
	want(scene, &node, "vm-22",
	     "{\"command\":[\"python3\",\"a b.py\"],\"env\":{\"N\":\"1\"}}");
	want(scene, &node, "old", "{\"n\":2}");
	it = want(scene, &run, "quick", "{\"args\":[\"--lr\",\"0.1\"]}");
	for (i = 0; i < 3; i++)
		resource_needs(scene->desired, it, scene->desired->items[i]);
	it->request = read_json("{\"method\":\"POST\",\"url\":\"u\"}");
	found(scene, 0, "{\"mtu\":1500}");
	found(scene, 1,
	      "{\"zone\":\"a\",\"labels\":{\"owner\":\"me\",\"x\":1}}");
	found(scene, 3, "{\"n\":1}");
	resources_note(scene->desired, "image is not used %s", "here");
	resources_miss(scene->desired, "what is to run");
	assert_int_equal(make(scene, false), 0);
}

static void check_text(struct scene *scene, const struct plan_style *style,
		       const char *want_text)
{
	struct buf out = { 0 };

	plan_render_text(scene->plan, style, &out);
	assert_string_equal(buf_text(&out), want_text);
	buf_done(&out);
}

static void text_is_aligned_and_escaped(void **state)
{
	struct plan_style style = { 0 };
	struct scene scene;

	(void)state;
	fill(&scene);
	check_text(&scene, &style,
		   "quick  (cloud)  jobs/a.yaml\n"
		   "  · node  net    is up to date\n"
		   "  ± node  vm-1   zone cannot change in place\n"
		   "      zone          a → b  (forces replacement)\n"
		   "      labels.owner  me → $'me\\x1b[0m'\n"
		   "      labels.x      1 → (gone)\n"
		   "  + node  vm-22  does not exist yet\n"
		   "      command  python3 'a b.py'\n"
		   "      env.N    1\n"
		   "  ~ node  old    1 field differs\n"
		   "      n  1 → 2\n"
		   "  ↻ run   quick  not run yet\n"
		   "      args  --lr 0.1\n"
		   "  note: image is not used here\n"
		   "  ! missing: what is to run\n"
		   "\n"
		   "Plan: 1 to run, 1 to create, 1 to update, 1 to replace, 1 "
		   "unchanged.\n"
		   "1 job cannot be applied yet: something is missing.\n");
	scene_done(&scene);
}

static void text_is_cut_to_the_width(void **state)
{
	struct plan_style style = { .width = 60 };
	struct scene scene;

	(void)state;
	scene_init(&scene, "job");
	want(&scene, &node, "new",
	     "{\"text\":\"0123456789012345678901234567890123456789012345678901"
	     "234567890123456789\"}");
	want(&scene, &node, "long",
	     "{\"text\":\"0123456789012345678901234567890123456789012345678901"
	     "23456789 new\"}");
	found(&scene, 1,
	      "{\"text\":\"012345678901234567890123456789012345678901234567890"
	      "123456789 old\"}");
	assert_int_equal(make(&scene, false), 0);
	check_text(
		&scene, &style,
		"job  (cloud)  jobs/a.yaml\n"
		"  + node  new   does not exist yet\n"
		"      text  01234567890123456789012345678901234567890123456…\n"
		"  ~ node  long  1 field differs\n"
		"      text  …3456789 old → …3456789 new\n"
		"\n"
		"Plan: 1 to create, 1 to update.\n");
	scene_done(&scene);
}

static void text_with_nothing_to_do(void **state)
{
	struct plan_style style = { .color = true };
	struct scene scene;
	size_t i;

	(void)state;
	scene_init(&scene, "job");
	for (i = 0; i < 6; i++) {
		want(&scene, &node, (char[]){ (char)('a' + i), '\0' }, "{}");
		found(&scene, i, "{}");
	}
	assert_int_equal(make(&scene, false), 0);
	check_text(&scene, &style,
		   "\033[1mjob\033[0m  (cloud)  jobs/a.yaml\n"
		   "  \033[2m·\033[0m node  a  \033[2mis up to date\033[0m\n"
		   "  \033[2m·\033[0m node  b  \033[2mis up to date\033[0m\n"
		   "  \033[2m·\033[0m node  c  \033[2mis up to date\033[0m\n"
		   "  \033[2m·\033[0m node  d  \033[2mis up to date\033[0m\n"
		   "  · and 2 more, unchanged\n"
		   "\n"
		   "Nothing to do.\n");
	scene_done(&scene);
}

static char *json_of(struct scene *scene)
{
	json_t *value = plan_json(scene->plan);
	char *text = json_dumps(value, JSON_COMPACT);

	json_decref(value);
	return text;
}

static void json_is_as_documented(void **state)
{
	static const char want_text[] =
		"{\"formatVersion\":1,\"jobs\":[{\"jobId\":\"quick\","
		"\"provider\":\"cloud\",\"digest\":\"d1\",\"actions\":["
		"{\"id\":\"quick/node/net\",\"action\":\"noop\","
		"\"kind\":\"node\",\"name\":\"net\",\"dependsOn\":[],"
		"\"reason\":\"is up to date\",\"changes\":[],\"request\":null},"
		"{\"id\":\"quick/node/vm-1\",\"action\":\"replace\","
		"\"kind\":\"node\",\"name\":\"vm-1\",\"dependsOn\":[],"
		"\"reason\":\"zone cannot change in place\",\"changes\":["
		"{\"path\":\"zone\",\"before\":\"a\",\"after\":\"b\"},"
		"{\"path\":\"labels.owner\",\"before\":\"me\","
		"\"after\":\"me\\u001B[0m\"},"
		"{\"path\":\"labels.x\",\"before\":1,\"after\":null}],"
		"\"request\":null},"
		"{\"id\":\"quick/node/vm-22\",\"action\":\"create\","
		"\"kind\":\"node\",\"name\":\"vm-22\",\"dependsOn\":[],"
		"\"reason\":\"does not exist yet\",\"changes\":["
		"{\"path\":\"command\",\"before\":null,"
		"\"after\":[\"python3\",\"a b.py\"]},"
		"{\"path\":\"env.N\",\"before\":null,\"after\":\"1\"}],"
		"\"request\":null},"
		"{\"id\":\"quick/node/old\",\"action\":\"update\","
		"\"kind\":\"node\",\"name\":\"old\",\"dependsOn\":[],"
		"\"reason\":\"1 field differs\",\"changes\":["
		"{\"path\":\"n\",\"before\":1,\"after\":2}],"
		"\"request\":null},"
		"{\"id\":\"quick/run/quick\",\"action\":\"run\","
		"\"kind\":\"run\",\"name\":\"quick\",\"dependsOn\":["
		"\"quick/node/net\",\"quick/node/vm-1\",\"quick/node/vm-22\"],"
		"\"reason\":\"not run yet\",\"changes\":["
		"{\"path\":\"args\",\"before\":null,"
		"\"after\":[\"--lr\",\"0.1\"]}],"
		"\"request\":{\"method\":\"POST\",\"url\":\"u\"}}],"
		"\"missing\":[\"what is to run\"],"
		"\"notes\":[\"image is not used here\"],\"fields\":{}}],"
		"\"summary\":{\"create\":1,\"update\":1,\"replace\":1,"
		"\"delete\":0,\"run\":1,\"noop\":1}}";
	struct scene scene, again;
	char *text, *other;

	(void)state;
	fill(&scene);
	fill(&again);
	text = json_of(&scene);
	other = json_of(&again);
	assert_string_equal(text, want_text);
	assert_string_equal(text, other);
	free(text);
	free(other);
	scene_done(&scene);
	scene_done(&again);
}

static const struct kind machine = { .name = "machine",
				     .flags = KIND_BILLED | KIND_FOR_RUN };

/* A template, a machine that needs it, and the run on that. */
static void what_was_made_for_a_run_goes_with_it(void **state)
{
	static const struct {
		int cleanup;
		enum run_state ended;
		const char *digest; /* of the existing run */
		bool exists;        /* template and machine do */
		enum action_type type;
	} cases[] = {
		{ CLEANUP_ALWAYS, RUN_SUCCEEDED, "d1", true, ACTION_DELETE },
		{ CLEANUP_ALWAYS, RUN_FAILED, "d1", true, ACTION_DELETE },
		{ CLEANUP_ON_SUCCESS, RUN_SUCCEEDED, "d1", true,
		  ACTION_DELETE },
		{ CLEANUP_ON_SUCCESS, RUN_FAILED, "d1", true, ACTION_NOOP },
		{ CLEANUP_NEVER, RUN_SUCCEEDED, "d1", true, ACTION_NOOP },
		/* The resource is gone, as it should be. */
		{ CLEANUP_ALWAYS, RUN_SUCCEEDED, "d1", false, ACTION_NOOP },
		{ CLEANUP_ALWAYS, RUN_RUNNING, "d1", true, ACTION_NOOP },
		/* The run is ended together with its resource, which is created
		 * again. */
		{ CLEANUP_ALWAYS, RUN_RUNNING, "d0", true, ACTION_REPLACE },
		{ CLEANUP_NEVER, RUN_RUNNING, "d0", true, ACTION_NOOP },
		/* A run that has ended runs again on the existing resource. */
		{ CLEANUP_ON_SUCCESS, RUN_FAILED, "d0", true, ACTION_NOOP },
		{ CLEANUP_ALWAYS, RUN_FAILED, "d0", false, ACTION_CREATE },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const struct action *first, *second;
		struct resource *a, *b, *it;
		struct scene scene;

		scene_init(&scene, "j");
		scene.job.jobrun.cleanup = cases[i].cleanup;
		a = want(&scene, &machine, "template", "{}");
		b = want(&scene, &machine, "machine", "{}");
		it = want(&scene, &run, "j", "{}");
		resource_needs(scene.desired, b, a);
		resource_needs(scene.desired, it, b);
		if (cases[i].exists) {
			found(&scene, 0, "{}");
			found(&scene, 1, "{}");
		}
		found(&scene, 2, "{}")->run.state = cases[i].ended;
		strcpy(scene.found[2].run.digest.hex, cases[i].digest);
		assert_int_equal(make(&scene, false), 0);
		first = plan_at(scene.plan, 0);
		second = plan_at(scene.plan, 1);
		if (first->type != cases[i].type ||
		    second->type != cases[i].type)
			fail_msg("case %zu: %s, %s", i,
				 action_type_name(first->type),
				 action_type_name(second->type));
		/* Deletion is in reverse: the template waits for the
		 * machine. */
		if (cases[i].type == ACTION_DELETE) {
			assert_int_equal(first->need_count, 1);
			assert_ptr_equal(first->needs[0], second);
			assert_int_equal(second->need_count, 0);
		} else {
			assert_int_equal(first->need_count, 0);
			assert_int_equal(second->need_count, 1);
		}
		scene_done(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_made_for_a_run_goes_with_it),
		cmocka_unit_test(order_is_stable_and_cycles_are_named),
		cmocka_unit_test(long_chains_are_ordered),
		cmocka_unit_test(rules_for_things),
		cmocka_unit_test(rules_for_runs),
		cmocka_unit_test(an_ended_run_needs_nothing),
		cmocka_unit_test(deletion_is_in_the_opposite_order),
		cmocka_unit_test(text_is_aligned_and_escaped),
		cmocka_unit_test(text_is_cut_to_the_width),
		cmocka_unit_test(text_with_nothing_to_do),
		cmocka_unit_test(json_is_as_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
