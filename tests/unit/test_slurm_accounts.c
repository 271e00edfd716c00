/* SPDX-License-Identifier: Apache-2.0 */
/* The output of sacct, and the search for our job in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "providers/slurm/accounts.h"

/* Output of a real slurmdbd, except for names and comments. */
static const char printed[] =
	/* This number was used before the controller crashed. */
	"7|a|COMPLETED|1000|1001|1002|1|4|00:01.000||n1|\n"
	"7|a|FAILED|1795285629|1795285629|1795285632|3|4|00:04.231||n[1-2]|\n"
	"7.batch|batch|FAILED|1795285629|1795285629|1795285632|3|2|00:00.023|"
	"11112448|n1|\n"
	"7.0|jobrun-be|FAILED|1795285629|1795285629|1795285632|3|4|"
	"1-00:01:04.207|228888576|n[1-2]|\n"
	"8|b|CANCELLED by 1000|1795285629|Unknown|1795285640|0|8|00:00:00||"
	"None assigned|jobrun:b:x:d\n"
	"9|b|TIMEOUT|1795285629|1795285630|1795285640|10|8|00:00:00||n3|"
	"jobrun:b:y:d\n"
	"10_2|c|FAILED|1795285629|1795285630|1795285650|20|1|00:00:00||n3|\n"
	"10_2.0|jobrun-be|FAILED|1795285629|1795285630|1795285650|20|1|"
	"01:00|2M|n3|\n"
	"10_1|c|COMPLETED|1795285629|1795285630|1795285640|10|1|00:00:00||n3|"
	"\n"
	"10_1.0|jobrun-be|COMPLETED|1795285629|1795285630|1795285640|10|1|"
	"02:00|1.5G|n3|\n"
	"11+0|d|NODE_FAIL|1795285629|1795285630|1795285640|10|1|00:00:00||n3|"
	"\n"
	"11+0.0|jobrun-be|NODE_FAIL|1795285629|1795285630|1795285640|10|1|"
	"00:03.000|10|n3|\n"
	"11+1|d|CANCELLED by 0|1795285629|1795285630|1795285640|10|2|00:00:00|"
	"|n4|\n"
	"12_[3-9]|e|CANCELLED by 0|1795285629|None|1795285640|0|1|00:00:00|||\n"
	"15|g|CANCELLED by 0|1795285629|1795285640|1795285640|0|1|00:00:00|||\n"
	"15_1|g|FAILED|1795285629|1795285630|1795285635|5|1|00:00:00||n3|\n"
	"12_2|e|COMPLETED|1795285629|1795285630|1795285635|5|1|00:00:00||n3|\n"
	"14_[3-9%2]|f|PENDING|1795285629|Unknown|Unknown|0|1|00:00:00|||\n"
	"a banner | of the site\n"
	"13|e|RUN";

static const struct {
	struct account_key key;
	const char *state; /* NULL: not found */
	int64_t end_time_ms;
	struct usage usage;
} cases[] = {
	{ { "a", "7", "jobrun:a:x:d", 1795285629000 },
	  "FAILED",
	  1795285632000,
	  { 86464230, 12000, 228888576 } },
	/* Found by the comment, whatever the number is. */
	{ { "b", "", "jobrun:b:x:d", 1795285629000 },
	  "CANCELLED",
	  1795285640000,
	  { 0, 0, 0 } },
	{ { "b", "8", "jobrun:b:y:d", 1795285629000 },
	  "TIMEOUT",
	  1795285640000,
	  { 0, 80000, 0 } },
	{ { "b", "8", "jobrun:b:z:d", 1795285629000 }, NULL, 0, { 0, 0, 0 } },
	/* Not found by the number alone. */
	{ { "x", "7", "jobrun:x:x:d", 1795285629000 }, NULL, 0, { 0, 0, 0 } },
	{ { "a", "8", "jobrun:a:x:d", 1795285629000 }, NULL, 0, { 0, 0, 0 } },
	{ { "a", "7", "jobrun:a:x:d", 1795299999000 }, NULL, 0, { 0, 0, 0 } },
	{ { "c", "10", "jobrun:c:x:d", 1795285629000 },
	  "FAILED",
	  1795285650000,
	  { 180000, 30000, 1610612736 } },
	{ { "d", "11", "jobrun:d:x:d", 1795285629000 },
	  "NODE_FAIL",
	  1795285640000,
	  { 3000, 30000, 10 } },
	{ { "e", "12", "jobrun:e:x:d", 1795285629000 },
	  "CANCELLED",
	  1795285640000,
	  { 0, 5000, 0 } },
	{ { "g", "15", "jobrun:g:x:d", 1795285629000 },
	  "CANCELLED",
	  1795285640000,
	  { 0, 5000, 0 } },
	{ { "f", "14", "jobrun:f:x:d", 1795285629000 },
	  "PENDING",
	  0,
	  { 0, 0, 0 } },
};

static void ours_is_found(void **state)
{
	struct arena *mem = arena_new();
	char *text = mem_strdup(printed);
	struct accounts accounts;
	struct queue_job job;
	struct usage usage;
	size_t i;

	(void)state;
	accounts_parse(text, mem, &accounts);
	for (i = 0; i < COUNT(cases); i++) {
		bool found = accounts_find(&accounts, &cases[i].key, mem, &job,
					   &usage);

		assert_int_equal(found, cases[i].state != NULL);
		if (!found)
			continue;
		assert_string_equal(job.state, cases[i].state);
		assert_string_equal(job.comment, cases[i].key.comment);
		assert_true(job.end_time_ms == cases[i].end_time_ms);
		assert_true(usage.cpu_ms == cases[i].usage.cpu_ms);
		assert_true(usage.allocated_cpu_ms ==
			    cases[i].usage.allocated_cpu_ms);
		assert_true(usage.memory_bytes == cases[i].usage.memory_bytes);
		if (!strcmp(cases[i].key.name, "c"))
			assert_string_equal(queue_element(&job, 1)->state,
					    "COMPLETED");
		if (!strcmp(cases[i].key.name, "g")) {
			assert_string_equal(queue_element(&job, 1)->state,
					    "FAILED");
			assert_string_equal(queue_element(&job, 2)->state,
					    "CANCELLED");
		}
		if (!strcmp(cases[i].key.name, "e")) {
			assert_string_equal(queue_element(&job, 2)->state,
					    "COMPLETED");
			assert_string_equal(queue_element(&job, 7)->state,
					    "CANCELLED");
		}
	}
	free(text);
	arena_free(mem);
}

/* Without accounting there are no accounts, but no failure either. */
static void sacct_is_called_once_for_all(void **state)
{
	static const char script[] =
		"#!/bin/sh\n[ \"$SLURM_TIME_FORMAT $*\" = \"%s -n -P "
		"--noconvert -S uts400 -o JobID,JobName,State,Submit,Start,"
		"End,ElapsedRaw,AllocCPUS,TotalCPU,MaxRSS,NodeList,Comment "
		"--name=a,b\" ] || { echo \"$*\" >&2; exit 9; }\n"
		"echo '7|a|TIMEOUT|2000|2001|2002|1|4|00:01.000||n1|'\n"
		"[ ! -e off ] || { echo Slurm accounting storage is disabled "
		">&2; exit 1; }\n";
	static const char *names[] = { "a", "b" };
	const struct strings both = { .count = 2, .items = names };
	char folder[] = "/tmp/jobrun-test.XXXXXX";
	char *home = mem_strdup(getenv("HOME") ? getenv("HOME") : "/");
	char *before = mem_strdup(getenv("PATH"));
	struct arena *mem = arena_new();
	struct accounts accounts;
	struct cluster *cluster;
	struct error err = { 0 };
	char *path;

	(void)state;
	assert_non_null(mkdtemp(folder));
	path = path_join(folder, "sacct");
	assert_int_equal(file_write(path, script, strlen(script), &err), 0);
	assert_int_equal(chmod(path, 0700), 0);
	setenv("HOME", folder, 1);
	setenv("PATH", arena_printf(mem, "%s:%s", folder, before), 1);
	cluster = cluster_open(NULL, "/nowhere", &err);
	if (accounts_read(cluster, &both, 1000000, mem, &accounts, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(accounts.count, 1);
	free(path);
	path = path_join(folder, "off");
	assert_int_equal(file_write(path, "", 0, &err), 0);
	assert_int_equal(
		accounts_read(cluster, &both, 1000000, mem, &accounts, &err),
		-1);
	assert_int_equal(err.code, ERROR_FAILED);
	cluster_close(cluster);
	setenv("HOME", home, 1);
	setenv("PATH", before, 1);
	folder_remove(folder, &err);
	free(path);
	free(before);
	free(home);
	arena_free(mem);
}

static void usage_survives_its_file(void **state)
{
	char folder[] = "/tmp/jobrun-test.XXXXXX";
	const struct usage made = { 5, 6, UINT64_C(1) << 40 };
	struct usage is = { 0 };
	struct error err;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(usage_read(folder, &is, &err), 1);
	assert_false(usage_is_known(&is));
	assert_int_equal(usage_write(folder, &made, &err), 0);
	assert_int_equal(usage_read(folder, &is, &err), 0);
	assert_memory_equal(&is, &made, sizeof(is));
	assert_true(usage_is_known(&is));
	folder_remove(folder, &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ours_is_found),
		cmocka_unit_test(sacct_is_called_once_for_all),
		cmocka_unit_test(usage_survives_its_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
