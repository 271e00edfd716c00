/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/store/store.h"

struct place {
	char folder[64];
	struct arena *mem;
	struct store *store;
	char once[INTENT_ONCE_MAX]; /* of the last intent */
};

static int set_up(void **state)
{
	struct place *at = mem_alloc(sizeof(*at));
	struct error err;

	strcpy(at->folder, "/tmp/test_journal.XXXXXX");
	assert_non_null(mkdtemp(at->folder));
	setenv("JOBRUN_STATE_DIR", at->folder, 1);
	at->mem = arena_new();
	at->store = store_open(&err);
	assert_non_null(at->store);
	*state = at;
	return 0;
}

static int tear_down(void **state)
{
	struct place *at = *state;
	struct error err;

	store_close(at->store);
	assert_int_equal(folder_remove(at->folder, &err), 0);
	arena_free(at->mem);
	free(at);
	return 0;
}

static struct intent_record intent(const char *name, const char *verb)
{
	return (struct intent_record){ .job_id = "job",
				       .provider = "fake",
				       .kind = "thing",
				       .name = name,
				       .action_id = "job/thing/x",
				       .verb = verb,
				       .digest = "ab" };
}

static void put(struct place *at, const char *name, const char *verb)
{
	struct intent_record one = intent(name, verb);
	struct error err;

	assert_int_equal(store_intent_put(at->store, &one, at->once, &err), 0);
}

static void end(struct place *at, const char *name, enum intent_outcome outcome,
		const char *error)
{
	struct intent_record one = intent(name, "any");
	struct error err;

	assert_int_equal(
		store_intent_end(at->store, &one, outcome, error, &err), 0);
}

static struct intent_list list(struct place *at)
{
	struct intent_list out;
	struct error err;

	assert_int_equal(store_intent_list(at->store, at->mem, &out, &err), 0);
	return out;
}

static void one_name_until_it_has_ended(void **state)
{
	struct place *at = *state;
	char first[INTENT_ONCE_MAX];

	put(at, "x", "create");
	assert_int_equal(strlen(at->once), INTENT_ONCE_MAX - 1);
	strcpy(first, at->once);
	put(at, "y", "create");
	assert_string_not_equal(at->once, first);
	/* Whoever did it was killed, or does not know what came of it. */
	put(at, "x", "create");
	assert_string_equal(at->once, first);
	end(at, "x", INTENT_UNKNOWN, "no answer");
	put(at, "x", "create");
	assert_string_equal(at->once, first);
	put(at, "x", "delete");
	assert_string_not_equal(at->once, first);
	strcpy(first, at->once);
	end(at, "x", INTENT_DONE, NULL);
	put(at, "x", "delete");
	assert_string_not_equal(at->once, first);
}

static void open_until_it_is_known(void **state)
{
	struct place *at = *state;
	struct intent_list open;

	assert_int_equal(list(at).count, 0);
	put(at, "x", "create");
	put(at, "y", "create");
	put(at, "z", "delete");
	end(at, "y", INTENT_DONE, NULL);
	end(at, "never", INTENT_DONE, NULL);
	end(at, "z", INTENT_UNKNOWN, "no answer");
	open = list(at);
	assert_int_equal(open.count, 2);
	assert_string_equal(open.items[0].name, "x");
	assert_string_equal(open.items[0].verb, "create");
	assert_string_equal(open.items[0].provider, "fake");
	assert_string_equal(open.items[0].digest, "ab");
	assert_int_equal(open.items[0].pid, getpid());
	assert_true(open.items[0].time_ms > 0);
	assert_null(open.items[0].error);
	assert_string_equal(open.items[1].error, "no answer");
	end(at, "x", INTENT_FAILED, "not allowed");
	end(at, "z", INTENT_DONE, NULL);
	assert_int_equal(list(at).count, 0);
}

static void the_latest_counts(void **state)
{
	struct place *at = *state;
	struct intent_list open;

	put(at, "x", "create");
	put(at, "x", "delete");
	open = list(at);
	assert_int_equal(open.count, 1);
	assert_string_equal(open.items[0].verb, "delete");
	end(at, "x", INTENT_DONE, NULL);
	put(at, "x", "create");
	assert_int_equal(list(at).count, 1);
}

/* Changes the database back to the version before restarts and trials. */
#define VERSION_3                                                              \
	"DROP TABLE trial; DROP TABLE task;"                                   \
	"CREATE TABLE task (id INTEGER PRIMARY KEY, run INTEGER NOT NULL,"     \
	" type TEXT NOT NULL, idx INTEGER NOT NULL, state TEXT NOT NULL,"      \
	" exit_code INTEGER NOT NULL, signal INTEGER NOT NULL, host TEXT,"     \
	" pid INTEGER NOT NULL, start_time_ms INTEGER NOT NULL,"               \
	" end_time_ms INTEGER NOT NULL, lost_bytes INTEGER NOT NULL,"          \
	" UNIQUE (run, type, idx));"                                           \
	"ALTER TABLE run DROP COLUMN origin;"                                  \
	"ALTER TABLE run DROP COLUMN restarts;"                                \
	"ALTER TABLE run DROP COLUMN preemptions;"                             \
	"ALTER TABLE run DROP COLUMN not_before_ms;"

/* The journal was added in version 2. */
static void an_older_store_gets_one(void **state)
{
	struct place *at = *state;
	struct run_record run = { .job_id = "job",
				  .provider = "local",
				  .digest = "ab" };
	char *path = path_join(at->folder, "jobrun.db");
	struct error err;
	sqlite3 *db;

	assert_int_equal(store_run_add(at->store, &run, &err), 0);
	store_close(at->store);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "DROP TABLE journal; DROP TABLE member;"
				      "DROP TABLE applied;" VERSION_3
				      "PRAGMA user_version = 1",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	at->store = store_open_to_read(&err);
	assert_int_equal(list(at).count, 0);
	store_close(at->store);
	at->store = store_open(&err);
	put(at, "x", "create");
	assert_int_equal(list(at).count, 1);
	assert_int_equal(
		store_run_get(at->store, "job", 1, at->mem, &run, &err), 0);
	free(path);
}

/* A commit that waits for the disk does not change later ones. */
static void only_intents_wait_for_the_disk(void **state)
{
	struct place *at = *state;
	struct timespec from, to;
	int kind, i;

	for (kind = 0; kind < 2; kind++) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (i = 0; i < 50; i++) {
			if (kind)
				end(at, "x", INTENT_UNKNOWN, NULL);
			else
				put(at, "x", "create");
		}
		clock_gettime(CLOCK_MONOTONIC, &to);
		print_message("%s: %.3f ms each\n", kind ? "outcome" : "intent",
			      ((double)(to.tv_sec - from.tv_sec) * 1e3 +
			       (double)(to.tv_nsec - from.tv_nsec) / 1e6) /
				      50);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_name_until_it_has_ended),
		TEST(open_until_it_is_known),
		TEST(the_latest_counts),
		TEST(an_older_store_gets_one),
		TEST(only_intents_wait_for_the_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
