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

static const struct kind fixed = { .name = "fixed" };
static const struct kind run = { .name = "run", .flags = KIND_RUN };
static const struct kind *const kinds[] = { &fixed, &run, NULL };
static const struct provider cloud = { .name = "cloud", .kinds = kinds };

/* One job: a fixed thing, existing or not, and a run. */
struct one {
	struct job job;
	struct resources *desired;
	struct resource found[2];
	char id[32];
};

static json_t *properties(const char *value)
{
	json_t *out = json_object();

	json_put_text(out, "text", value);
	return out;
}

/* Adds a job.  `before` and `after` are the text of the thing; NULL: it does
 * not exist. */
static struct one *add(struct plan *plan, size_t i, const char *before,
		       const char *after, bool succeeded)
{
	struct plan_options options = { 0 };
	struct one *one = mem_alloc(sizeof(*one));
	struct error err;

	snprintf(one->id, sizeof(one->id), "job%zu", i);
	one->job.job_id = one->id;
	one->job.file = "jobs/a.yaml";
	one->desired = resources_new();
	resources_add(one->desired, &fixed, "`thing`|<b>", &one->job)
		->properties = properties(after);
	resources_add(one->desired, &run, one->id, &one->job)->properties =
		properties("x");
	if (before) {
		one->found[0].exists = true;
		one->found[0].properties = properties(before);
	}
	if (succeeded) {
		one->found[1].exists = true;
		one->found[1].properties = properties("x");
		one->found[1].run.state = RUN_SUCCEEDED;
	}
	resources_note(one->desired, "<i>be</i> *careful*");
	assert_int_equal(plan_add(plan, &cloud, &one->job, one->desired,
				  one->found, &options, &err),
			 0);
	return one;
}

static void one_free(struct one *one)
{
	json_decref(one->found[0].properties);
	json_decref(one->found[1].properties);
	resources_free(one->desired);
	free(one);
}

static void what_matters_is_on_top_and_escaped(void **state)
{
	struct plan *plan = plan_new();
	struct one *ones[3];
	struct buf out = { 0 };
	size_t i;

	(void)state;
	ones[0] = add(plan, 0, "same", "same", true);
	ones[1] = add(plan, 1, "```\n</details>", "b", false);
	ones[2] = add(plan, 2, NULL, "|x|", false);
	resources_miss(ones[2]->desired, "what to `run`");
	plan_render_markdown(plan, &out);
	assert_string_equal(
		buf_text(&out),
		"**jobrun plan:** 2 to run, 1 to create, 1 to replace, 2 "
		"unchanged\n"
		"\n"
		"**Replaced or deleted:**\n"
		"\n"
		"- ± replace fixed `` `thing`|<b> `` of `job1`: text cannot "
		"change in place\n"
		"\n"
		"**Missing, so these cannot be applied yet:**\n"
		"\n"
		"- `job2`: what to \\`run\\`\n"
		"\n"
		"**Jobs:**\n"
		"\n"
		"- `job1` (cloud, `jobs/a.yaml`): 1 to run, 1 to replace; not "
		"run yet\n"
		"- `job2` (cloud, `jobs/a.yaml`): 1 to run, 1 to create; not "
		"run yet\n"
		"- unchanged: `job0`\n"
		"\n"
		"**Notes:**\n"
		"\n"
		"- `job0`, `job1`, `job2`: &lt;i&gt;be&lt;/i&gt; "
		"\\*careful\\*\n"
		"\n"
		"<details><summary><code>job1</code></summary>\n"
		"\n"
		"```diff\n"
		"@@ replace fixed `thing`|<b> @@ text cannot change in place\n"
		"-   text: $'```\\n</details>'\n"
		"+   text: b\n"
		"!   (forces replacement)\n"
		"@@ run run job1 @@ not run yet\n"
		"+   text: x\n"
		"```\n"
		"\n"
		"</details>\n"
		"<details><summary><code>job2</code></summary>\n"
		"\n"
		"```diff\n"
		"@@ create fixed `thing`|<b> @@ does not exist yet\n"
		"+   text: |x|\n"
		"@@ run run job2 @@ not run yet\n"
		"+   text: x\n"
		"```\n"
		"\n"
		"</details>\n");
	buf_done(&out);
	plan_free(plan);
	for (i = 0; i < 3; i++)
		one_free(ones[i]);
}

static void nothing_to_do_is_one_line(void **state)
{
	struct plan *plan = plan_new();
	struct one *one = add(plan, 0, "same", "same", true);
	struct buf out = { 0 };

	(void)state;
	one->desired->note_count = 0;
	plan_render_markdown(plan, &out);
	assert_string_equal(buf_text(&out),
			    "**jobrun plan:** nothing to do, 2 unchanged\n"
			    "\n"
			    "**Jobs:**\n"
			    "\n"
			    "- unchanged: `job0`\n");
	buf_done(&out);
	plan_free(plan);
	one_free(one);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

/* Whatever the size of the plan, the summary is complete, the limit is kept,
 * cuts are noted, and every opened fold is closed. */
static void large_plans_are_cut(void **state)
{
	static const struct {
		size_t jobs;
		size_t value; /* bytes of each */
		bool replaced;
		size_t listed, detailed; /* at least; SIZE_MAX: all */
	} cases[] = {
		{ 1, 100000, true, SIZE_MAX, SIZE_MAX },
		{ 100, 10, false, SIZE_MAX, SIZE_MAX },
		{ 1000, 200, true, 0, 0 },
		{ 1000, 200, false, 700, 0 },
		{ 700, 20, false, SIZE_MAX, 50 },
		{ 20000, 20, true, 0, 0 },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		size_t n = cases[i].jobs, listed, detailed;
		struct one **ones = mem_alloc(n * sizeof(struct one *));
		char *value = mem_alloc(cases[i].value + 1);
		struct plan *plan = plan_new();
		struct buf out = { 0 }, again = { 0 };
		char summary[128];

		memset(value, 'v', cases[i].value);
		for (j = 0; j < n; j++)
			ones[j] = add(plan, j, cases[i].replaced ? "old" : NULL,
				      value, false);
		plan_render_markdown(plan, &out);
		plan_render_markdown(plan, &again);
		assert_string_equal(buf_text(&out), buf_text(&again));
		assert_true(out.len <= PLAN_MARKDOWN_MAX);
		snprintf(summary, sizeof(summary),
			 "**jobrun plan:** %zu to run, %zu to %s\n", n, n,
			 cases[i].replaced ? "replace" : "create");
		assert_memory_equal(out.data, summary, strlen(summary));
		listed = count(out.data, "; not run yet\n");
		detailed = count(out.data, "<details>");
		assert_int_equal(detailed, count(out.data, "</details>"));
		assert_int_equal(2 * detailed, count(out.data, "```"));
		assert_true(
			listed >=
			(cases[i].listed == SIZE_MAX ? n : cases[i].listed));
		assert_true(detailed >= (cases[i].detailed == SIZE_MAX
						 ? n
						 : cases[i].detailed));
		if (listed < n) {
			snprintf(summary, sizeof(summary),
				 "%zu entries of the jobs", n - listed);
			assert_non_null(strstr(out.data, summary));
		}
		if (detailed < n) {
			snprintf(summary, sizeof(summary),
				 "%zu entries with the details of a job",
				 n - detailed);
			assert_non_null(strstr(out.data, summary));
			/* Nearly all the space is used. */
			assert_true(out.len > PLAN_MARKDOWN_MAX * 9 / 10);
		}
		assert_int_equal(!strstr(out.data, "_Cut to fit"),
				 listed == n && detailed == n);
		buf_done(&out);
		buf_done(&again);
		plan_free(plan);
		for (j = 0; j < n; j++)
			one_free(ones[j]);
		free(value);
		free(ones);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_matters_is_on_top_and_escaped),
		cmocka_unit_test(nothing_to_do_is_one_line),
		cmocka_unit_test(large_plans_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
