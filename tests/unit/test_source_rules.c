/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a job, compared with what Git itself says. */
#include "core/data/secret_like.h"
#include "core/data/source_rules.h"

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
#include "core/data/tree.h"
#include "core/job/message.h"
#include "tests/support/sample.h"
#include "tests/support/skip.h"

#define TREE_COUNT 200
#define TREE_STEP 10

struct place {
	char folder[64];
	struct arena *mem;
	unsigned seed;
};

static int set_up(void **state)
{
	struct place *at = mem_alloc(sizeof(*at));

	strcpy(at->folder, "/tmp/jobrun-rules-XXXXXX");
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

static void put(struct place *at, const char *name, const char *text)
{
	char *path = path_join(at->folder, name);
	char *folder = path_folder(path);
	struct error err = { 0 };

	if (folder_make(folder, &err) < 0 ||
	    file_write(path, text, strlen(text), &err) < 0)
		fail_msg("%s", err.text);
	free(folder);
	free(path);
}

/* Runs Git with the built-in patterns as the user's own. */
static void git(struct place *at, const char *line, ...)
	__attribute__((format(printf, 2, 3)));
static void git(struct place *at, const char *line, ...)
{
	struct buf text = { 0 };
	va_list args;

	buf_printf(&text,
		   "cd %s && GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null "
		   "GIT_AUTHOR_NAME=a "
		   "GIT_AUTHOR_EMAIL=a@b "
		   "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b git "
		   "-c core.excludesFile=%s.own ",
		   at->folder, at->folder);
	va_start(args, line);
	buf_vprintf(&text, line, args);
	va_end(args);
	if (system(buf_text(&text)) != 0)
		fail_msg("%s", text.data);
	buf_done(&text);
}

static struct tree read_it(struct place *at, const char *below,
			   const struct source_options *options)
{
	char *folder = path_join(at->folder, below);
	struct tree tree = { 0 };
	struct error err = { 0 };

	if (tree_read(folder, options, at->mem, &tree, &err) < 0)
		fail_msg("%s", err.text);
	free(folder);
	return tree;
}

/* Returns "a b | c/ by .gitignore": what ships, and what does not. */
static const char *list(struct place *at, const char *below,
			const struct source_options *options)
{
	struct tree tree = read_it(at, below, options);
	struct buf out = { 0 };
	const char *text;
	size_t i;

	for (i = 0; i < tree.count; i++)
		buf_printf(&out, "%s%s", i ? " " : "", tree.entries[i].path);
	buf_puts(&out, " |");
	for (i = 0; i < tree.left_out_count; i++)
		buf_printf(&out, " %s %s", tree.left_out[i].path,
			   source_reason_text(tree.left_out[i].reason));
	text = arena_strdup(at->mem, buf_text(&out));
	buf_done(&out);
	return text;
}

static void gitignore_counts_without_a_repository(void **state)
{
	struct place *at = *state;

	put(at, ".gitignore", ".env\n*.log\n!keep.log\n/out/\n");
	put(at, ".env", "SECRET=1");
	put(at, "a.log", "");
	put(at, "keep.log", "");
	put(at, "out/x", "");
	put(at, "sub/.gitignore", "!a.log\nkeep.log\n");
	put(at, "sub/a.log", "");
	put(at, "sub/keep.log", "");
	put(at, "sub/out/x", "");
	put(at, "x.pyc", "");
	assert_string_equal(list(at, ".", NULL),
			    ".gitignore keep.log sub/.gitignore sub/a.log "
			    "sub/out/x | .env by .gitignore a.log by "
			    ".gitignore out/ by .gitignore sub/keep.log by "
			    ".gitignore");
}

static void jobrunignore_decides_alone(void **state)
{
	struct place *at = *state;

	put(at, ".gitignore", ".env\n");
	put(at, "src/.gitignore", "b\n");
	put(at, "src/.jobrunignore", "a\n");
	put(at, "src/a", "");
	put(at, "src/b", "");
	put(at, "src/.env", "");
	git(at, "init -q");
	git(at, "add -f src/a");
	assert_string_equal(list(at, "src", NULL),
			    ".env .gitignore .jobrunignore b | a by "
			    ".jobrunignore");
}

static void what_is_tracked_ships_all_the_same(void **state)
{
	struct place *at = *state;

	put(at, ".gitignore", "*.log\n/data/\n__pycache__/\n");
	put(at, "a.log", "");
	put(at, "b.log", "");
	put(at, "data/deep/a", "");
	put(at, "data/deep/b", "");
	put(at, "data/c", "");
	put(at, "__pycache__/x.pyc", "");
	put(at, "__pycache__/y.pyc", "");
	git(at, "init -q");
	git(at, "add -f a.log data/deep/a __pycache__/x.pyc");
	assert_string_equal(list(at, ".", NULL),
			    ".gitignore __pycache__/x.pyc a.log data/deep/a | "
			    "b.log by "
			    ".gitignore data/c by .gitignore data/deep/b by "
			    ".gitignore");
	/* The same from a folder within, whose own name does not count. */
	assert_string_equal(list(at, "data", NULL), "c deep/a deep/b |");
}

static void lists_of_the_user_do_not_count(void **state)
{
	struct place *at = *state;

	git(at, "init -q");
	git(at, "config core.excludesFile %s/mine", at->folder);
	put(at, "mine", "*\n");
	put(at, ".git/info/exclude", "*\n");
	put(at, "a", "");
	assert_string_equal(list(at, ".", NULL), "a mine |");
}

static void repositories_within_have_rules_of_their_own(void **state)
{
	struct place *at = *state;

	put(at, ".gitignore", "*.log\n");
	put(at, "sub/.gitignore", "/b\n");
	put(at, "sub/a.log", "");
	put(at, "sub/b", "");
	put(at, "sub/c/b", "");
	put(at, "sub/c/d", "");
	git(at, "init -q");
	git(at, "init -q sub");
	git(at, "-C sub add -f b");
	assert_string_equal(list(at, ".", NULL),
			    ".gitignore sub/.gitignore sub/a.log sub/b "
			    "sub/c/b sub/c/d |");
}

static void what_jobrun_writes_is_no_source(void **state)
{
	struct place *at = *state;
	const char *never[2];
	struct source_options options = { .never = never, .never_count = 2 };

	put(at, "state/jobrun.db", "");
	put(at, "state/runs/x", "");
	put(at, "other/new", "");
	put(at, "a.plan", "{\n  \"jobrunPlan\": 1,\n");
	put(at, "b.plan", "{\n  \"jobrunPlant\": 1,\n");
	put(at, "out.json", "");
	never[0] = arena_printf(at->mem, "%s/other", at->folder);
	never[1] = arena_printf(at->mem, "%s/out.json", at->folder);
	assert_string_equal(list(at, ".", &options), "b.plan |");
	options.version = SOURCE_VERSION_1;
	assert_string_equal(list(at, ".", &options),
			    "a.plan b.plan other/new out.json state/jobrun.db "
			    "state/runs/x |");
}

static void ignore_files_that_are_none_are_not_waited_for(void **state)
{
	struct place *at = *state;
	char path[128];

	put(at, "a", "");
	put(at, "list", "a\n");
	snprintf(path, sizeof(path), "%s/.gitignore", at->folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_string_equal(list(at, ".", NULL), "a list |");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("list", path), 0);
	assert_string_equal(list(at, ".", NULL), ".gitignore a list |");
}

static void empty_folders_are_nothing_to_git(void **state)
{
	struct place *at = *state;

	put(at, "a", "");
	put(at, ".gitignore", "*.log\n");
	put(at, "logs/x.log", "");
	assert_string_equal(list(at, ".", NULL),
			    ".gitignore a logs | logs/x.log by .gitignore");
	git(at, "init -q");
	assert_string_equal(list(at, ".", NULL),
			    ".gitignore a | logs/x.log by .gitignore");
}

static void names_of_secrets_are_known(void **state)
{
	static const char *const yes[] = {
		".env",  "a/.env.local", "b/server.pem",           "id_rsa",
		"x.KEY", "sa-key.json",  "my-service-account.json"
	};
	static const char *const no[] = { "train.py",    ".env.example",
					  "keys/a.py",   "environment.yaml",
					  "monkey.json", "id_rsa.pub" };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(yes); i++)
		if (!secret_is_named(yes[i]))
			fail_msg("%s", yes[i]);
	for (i = 0; i < COUNT(no); i++)
		if (secret_is_named(no[i]))
			fail_msg("%s", no[i]);
}

static void secrets_are_told_by_content(void **state)
{
	static const struct {
		const char *text;
		bool secret;
	} cases[] = {
		{ "{\"type\": \"service_account\", \"private_key\": \"x\"}",
		  true },
		{ "\n {\"refresh_token\": \"a\", \"client_secret\": \"b\"}",
		  true },
		{ "-----BEGIN PRIVATE KEY-----\nMII\n", true },
		{ "a: b\n-----BEGIN OPENSSH PRIVATE KEY-----\r\nb3\n", true },
		{ "if '-----BEGIN PRIVATE KEY-----' in text:\n", false },
		{ "-----BEGIN CERTIFICATE-----\nMII\n", false },
		{ "-----BEGIN PRIVATE KEY-----", false },
		{ "-----BEGIN -----\n", false },
		{ "key = d['private_key']\n", false },
		{ "{\"a\": 1}", false },
		{ "", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		if (secret_is_in(cases[i].text, strlen(cases[i].text)) !=
		    cases[i].secret)
			fail_msg("%s", cases[i].text);
}

/* ---- beside Git --------------------------------------------------------- */

static unsigned some(struct place *at, unsigned count)
{
	at->seed = at->seed * 1103515245U + 12345U;
	return (at->seed >> 16) % count;
}

static const char *some_name(struct place *at)
{
	static const char *const names[] = {
		"a",     "b",     "c",   "ab",          "foo",   "bar",
		"x.log", "y.log", "b.o", "out",         "build", "data",
		"#x",    "!y",    "z ",  "[a]",         "a-b",   "f\xc3\xa4",
		"*",     "\\q",   "t\t", "foo.",        ".h",    "x.pyc",
		"]",     "^",     "Foo", "__pycache__",
	};

	return names[some(at, COUNT(names))];
}

/* Adds a pattern, mostly made of existing names. */
static void some_pattern(struct place *at, struct buf *out)
{
	static const char *const parts[] = {
		"*",     "**",    "?",          "[a-c]",       "[!a]",
		"*.log", "[^x]*", "f*o",        "[[:alpha:]]", "\\#x",
		"\\!y",  "a\\b",  "[]]",        "[a",          "foo**",
		"**bar", "*a*",   "[[:nope:]]", "\\",          "z\\ ",
		"?*",    "***",   "[a-]",       "[\\]]",       "b**o",
		"[]-a]", "[^]]",  "x.[lo]og",   "[[:]",        "a[/]b",
		"*.",
	};
	unsigned n = 1 + some(at, 3), i;

	if (!some(at, 4))
		buf_puts(out, "!");
	if (!some(at, 4))
		buf_puts(out, "/");
	for (i = 0; i < n; i++) {
		if (i)
			buf_puts(out, some(at, 12) ? "/" : "//");
		if (some(at, 3))
			buf_puts(out, some_name(at));
		else
			buf_puts(out, parts[some(at, COUNT(parts))]);
		if (some(at, 2))
			break;
	}
	if (!some(at, 4))
		buf_puts(out, "/");
	if (!some(at, 12))
		buf_puts(out, "  ");
	buf_puts(out, some(at, 10) ? "\n" : "\r\n");
}

static void some_list(struct place *at, const char *folder)
{
	struct buf text = { 0 };
	char *path = path_join(folder, ".gitignore");
	unsigned n = 1 + some(at, 5);

	if (!some(at, 8))
		buf_puts(&text, "\xef\xbb\xbf");
	while (n--)
		some_pattern(at, &text);
	put(at, path, buf_text(&text));
	free(path);
	buf_done(&text);
}

static bool folder_there(struct place *at, const char *folder)
{
	char *full = path_join(at->folder, folder);
	bool there = access(full, F_OK) == 0;

	free(full);
	return there;
}

static void some_folder(struct place *at, const char *folder, unsigned depth)
{
	unsigned n = 2 + some(at, 6);

	if (!some(at, 3) || !depth)
		some_list(at, folder);
	while (n--) {
		char *path = path_join(folder, some_name(at));
		char *full = path_join(at->folder, path);

		struct stat st;

		if (lstat(full, &st) == 0)
			;
		else if (depth < 3 && some(at, 2))
			some_folder(at, path, depth + 1);
		else if (!some(at, 10) && folder_there(at, folder))
			assert_int_equal(symlink("nowhere", full), 0);
		else
			put(at, path, "x");
		free(full);
		free(path);
	}
}

/* Tracks some of the files, in some version of the index. */
static void track(struct place *at)
{
	unsigned version = 2 + some(at, 3);

	git(at, "init -q %s", some(at, 3) ? "" : "--object-format=sha256");
	git(at, "config core.quotePath false");
	git(at,
	    "ls-files -z -o | awk 'BEGIN { RS = ORS = \"\\0\"; srand(%u) } "
	    "rand() < 0.25' | git update-index -z --add --stdin",
	    some(at, 1000));
	if (!some(at, 3))
		git(at, "commit -q --allow-empty -m x");
	if (version == 3)
		git(at, "ls-files -z -o | head -z -n 1 | "
			"xargs -0 -r git add -f -N --");
	else
		git(at, "update-index --index-version %u", version);
	if (!some(at, 3)) /* tracked, but gone or changed now */
		git(at, "ls-files -z | head -z -n 1 | xargs -0 -r rm -f --");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns what Git would have in a clone, or add with `git add`. */
static struct strings from_git(struct place *at, const char *below)
{
	struct strings out = { 0 };
	struct error err = { 0 };
	char *path = mem_printf("%s.list", at->folder);
	char *text, *p;
	size_t len, n = 0;

	git(at,
	    "-C ./%s ls-files -z -c -o --exclude-standard --deduplicate "
	    ">%s",
	    below, path);
	text = file_read(path, 1 << 20, &len, &err);
	assert_non_null(text);
	out.items = arena_alloc(at->mem, (len + 1) * sizeof(*out.items));
	for (p = text; p < text + len; p += strlen(p) + 1) {
		char *full =
			arena_printf(at->mem, "%s/%s/%s", at->folder, below, p);
		struct stat st;

		if (lstat(full, &st) == 0 && !S_ISDIR(st.st_mode))
			out.items[n++] = arena_strdup(at->mem, p);
	}
	out.count = n;
	qsort(out.items, n, sizeof(*out.items), by_text);
	free(text);
	unlink(path);
	free(path);
	return out;
}

static void compare(struct place *at, const char *below, unsigned number)
{
	struct strings want = from_git(at, below);
	struct tree got = read_it(at, below, NULL);
	size_t i;

	for (i = 0; i < want.count || i < got.count; i++) {
		const char *a = i < want.count ? want.items[i] : "";
		const char *b = i < got.count ? got.entries[i].path : "";

		if (strcmp(a, b) != 0)
			fail_msg("tree %u, '%s': Git has '%s', we '%s'", number,
				 below, a, b);
	}
}

/* `git check-ignore` is asked about each path that the walk has left out. */
static void compare_left_out(struct place *at, unsigned number)
{
	struct tree tree = read_it(at, ".", NULL);
	struct buf paths = { 0 };
	char *path = mem_printf("%s.list", at->folder);
	struct error err = { 0 };
	size_t i;

	for (i = 0; i < tree.left_out_count; i++)
		buf_add(&paths, tree.left_out[i].path,
			strlen(tree.left_out[i].path) + 1);
	assert_int_equal(file_write(path, buf_text(&paths), paths.len, &err),
			 0);
	if (tree.left_out_count)
		git(at,
		    "check-ignore --no-index -z --stdin <%s | cmp - %s || "
		    "{ echo tree %u; false; }",
		    path, path, number);
	unlink(path);
	free(path);
	buf_done(&paths);
}

static void it_is_what_git_says(void **state)
{
	struct place *at = *state;
	unsigned step = (unsigned)sample_step(TREE_STEP);
	char *own = mem_printf("%s.own", at->folder);
	static const char patterns[] = "__pycache__\n*.pyc\n";
	struct error err = { 0 };
	unsigned i;

	if (system("git --version >/dev/null 2>&1") != 0)
		skip_because(__func__, "no git");
	assert_int_equal(file_write(own, patterns, strlen(patterns), &err), 0);
	for (i = 0; i < TREE_COUNT; i += step) {
		at->seed = i * 7919 + 1;
		some_folder(at, ".", 0);
		track(at);
		compare(at, ".", i);
		compare_left_out(at, i);
		assert_int_equal(folder_remove(at->folder, &err), 0);
		assert_int_equal(mkdir(at->folder, 0700), 0);
	}
	unlink(own);
	free(own);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gitignore_counts_without_a_repository),
		TEST(jobrunignore_decides_alone),
		TEST(what_is_tracked_ships_all_the_same),
		TEST(lists_of_the_user_do_not_count),
		TEST(repositories_within_have_rules_of_their_own),
		TEST(what_jobrun_writes_is_no_source),
		TEST(ignore_files_that_are_none_are_not_waited_for),
		TEST(empty_folders_are_nothing_to_git),
		cmocka_unit_test(names_of_secrets_are_known),
		cmocka_unit_test(secrets_are_told_by_content),
		TEST(it_is_what_git_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
