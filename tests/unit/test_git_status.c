/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a repository, compared with Git's. */
#include "core/data/git_status.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"

struct place {
	char folder[64];
	struct arena *mem;
};

static int set_up(void **state)
{
	struct place *at = mem_alloc(sizeof(*at));

	strcpy(at->folder, "/tmp/jobrun-status-XXXXXX");
	if (!mkdtemp(at->folder))
		return -1;
	at->mem = arena_new();
	*state = at;
	return 0;
}

static int tear_down(void **state)
{
	struct place *at = *state;
	struct error err;
	int ret = folder_remove(at->folder, &err);

	arena_free(at->mem);
	free(at);
	return ret;
}

static void run(struct place *at, const char *line)
{
	char *all = mem_printf(
		"cd %s && export GIT_CONFIG_GLOBAL=/dev/null "
		"GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
		"GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && { %s; }",
		at->folder, line);

	if (system(all) != 0)
		fail_msg("%s", line);
	free(all);
}

static char *said(struct place *at, const char *line)
{
	char *path = mem_printf("%s.said", at->folder);
	char *all = mem_printf("%s >%s", line, path);
	struct error err;
	size_t len;
	char *text;

	run(at, all);
	text = file_read(path, 1 << 20, &len, &err);
	assert_non_null(text);
	text[strcspn(text, "\n")] = '\0';
	unlink(path);
	free(all);
	free(path);
	return text;
}

/* Returns the state of the source "src" as "main staged | a modified, b
 * deleted, c untracked". */
static const char *look(struct place *at, const char *const *paths,
			size_t count)
{
	struct git_change changes[GIT_CHANGES_MAX];
	char *folder = path_join(at->folder, "src");
	struct git_status *status = git_status_new(folder);
	struct buf out = { 0 };
	const char *text;
	size_t i, n;

	assert_non_null(status);
	n = git_status_changes(status, folder, paths, count, at->mem, changes);
	buf_printf(&out, "%s%s |",
		   git_status_branch(status) ? git_status_branch(status)
					     : "(none)",
		   git_status_is_staged(status) ? " staged" : "");
	for (i = 0; i < n; i++)
		buf_printf(&out, "%s %s %s", i ? "," : "", changes[i].path,
			   git_change_name(changes[i].type));
	if (git_status_commit(status)) {
		char *head = said(at, "git rev-parse HEAD");

		assert_string_equal(git_status_commit(status), head);
		free(head);
	} else {
		buf_puts(&out, " no commit");
	}
	text = arena_strdup(at->mem, buf_text(&out));
	buf_done(&out);
	git_status_free(status);
	free(folder);
	return text;
}

static void changes_are_found(void **state)
{
	static const char *const paths[] = { "a", "new" };
	struct place *at = *state;

	run(at, "git init -q -b main; mkdir src; echo 1 >src/a; "
		"echo 1 >b; echo 1 >c; ln -s a link; git add .");
	assert_string_equal(look(at, paths, 1), "main | no commit");
	run(at, "git commit -q -m x");
	assert_string_equal(look(at, paths, 1), "main |");
	run(at, "echo 2 >src/a; rm b; chmod +x c; ln -sf b link");
	assert_string_equal(look(at, paths, 2),
			    "main | b deleted, c modified, link modified, "
			    "src/a modified, src/new untracked");
	run(at, "git reset -q --hard; touch src/a b");
	assert_string_equal(look(at, paths, 1), "main |");
	run(at, "echo 3 >src/a; git add src/a");
	assert_string_equal(look(at, paths, 1), "main staged |");
	run(at, "git commit -q -m y");
	assert_string_equal(look(at, paths, 1), "main |");
}

/* A change keeps the size, and is in the second in which the index was
 * written. */
static void changes_within_a_second_are_found(void **state)
{
	struct place *at = *state;
	int i;

	run(at, "git init -q -b main; mkdir src; echo 1 >src/a; git add .; "
		"git commit -q -m x");
	for (i = 2; i < 6; i++) {
		char *line = mem_printf("echo %d >src/a", i);

		run(at, line);
		assert_string_equal(look(at, NULL, 0), "main | src/a modified");
		run(at, "git commit -q -a -m x");
		assert_string_equal(look(at, NULL, 0), "main |");
		free(line);
	}
}

static void refs_are_found_wherever_they_are(void **state)
{
	struct place *at = *state;

	run(at, "git init -q -b topic/one --object-format=sha256; mkdir src; "
		"echo 1 >src/a; git add .; git commit -q -m x");
	assert_string_equal(look(at, NULL, 0), "topic/one |");
	run(at, "git pack-refs --all; test ! -e .git/refs/heads/topic/one");
	assert_string_equal(look(at, NULL, 0), "topic/one |");
	run(at, "git checkout -q --detach");
	assert_string_equal(look(at, NULL, 0), "(none) |");
}

static void names_lead_nowhere_else(void **state)
{
	struct place *at = *state;

	run(at, "git init -q -b main; mkdir src; echo 1 >src/a; git add .; "
		"git commit -q -m x; git rev-parse HEAD >elsewhere; "
		"echo 'ref: refs/../../elsewhere' >.git/HEAD");
	assert_non_null(strstr(look(at, NULL, 0), "no commit"));
	run(at, "rm .git/HEAD; mkfifo .git/HEAD");
	assert_non_null(strstr(look(at, NULL, 0), "no commit"));
	run(at, "rm .git/index; mkfifo .git/index");
	{
		char *folder = path_join(at->folder, "src");

		assert_null(git_status_new(folder));
		free(folder);
	}
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(changes_are_found),
		TEST(changes_within_a_second_are_found),
		TEST(refs_are_found_wherever_they_are),
		TEST(names_lead_nowhere_else),
	};

	if (system("git --version >/dev/null 2>&1") != 0) {
		printf("# skipped test_git_status: no git\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
