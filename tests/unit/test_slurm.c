/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/process/subprocess.h"
#include "core/task/task_runner.h"
#include "core/task/task_files.h"
#include "core/remote/log_sync.h"
#include "providers/slurm/script.h"
#include "providers/slurm/desire.h"
#include "providers/slurm/attempts.h"
#include "providers/slurm/cluster.h"
#include "providers/slurm/queue.h"
#include "providers/slurm/runs.h"
#include "providers/slurm/slurm.h"
#include "providers/slurm/slurm_look.h"
#include "schema/catalogue/catalogue_get.h"
#include "tests/support/known.h"

#define DIGEST                                                                 \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* ---- files ------------------------------------------------------------- */

static char *folder;

static void put(const char *name, const char *text)
{
	char *path = path_join(folder, name);
	char *above = path_folder(path);
	struct error err;
	FILE *file;

	assert_int_equal(folder_make(above, &err), 0);
	file = fopen(path, "a");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	free(above);
	free(path);
}

static void is(const char *name, const char *wanted)
{
	char *path = path_join(folder, name);
	struct error err;
	size_t len;
	char *text = file_read(path, 1 << 20, &len, &err);

	assert_non_null(text);
	assert_string_equal(text, wanted);
	free(text);
	free(path);
}

/* ---- scripts ----------------------------------------------------------- */

static void write_script(const char *path, struct buf *out)
{
	const struct schema_provider known = known_provider(&provider_slurm);
	const struct schema_options options = { .providers = &known,
						.provider_count = 1 };
	char *paths[] = { (char *)path };
	struct jobs jobs = { 0 };
	struct problems found = { 0 };
	struct arena *mem = arena_new();
	struct buf text = { 0 };
	struct slurm_job what;
	struct error err;

	assert_int_equal(schema_load(paths, 1, &options, &jobs, &found, &err),
			 0);
	problems_text(&found, 0, &text);
	assert_string_equal(buf_text(&text), "");
	assert_int_equal(jobs.count, 1);
	strcpy(jobs.items[0]->digest.hex, DIGEST);
	assert_int_equal(slurm_job_make(jobs.items[0], catalogue_get(&err), mem,
					&what, &err),
			 0);
	assert_null(what.missing);
	slurm_script_write(jobs.items[0], &what.request,
			   slurm_run_name(jobs.items[0], 1, mem), what.program,
			   out);
	arena_free(mem);
	buf_done(&text);
	problems_done(&found);
	jobs_done(&jobs);
}

/* Each job file has its script next to it.  With JOBRUN_TEST_WRITE the scripts
 * are written, for examination. */
static void scripts_are_as_they_should_be(void **state)
{
	static const char *const names[] = { "one",      "group", "differ",
					     "plain",    "array", "options",
					     "processes" };
	struct error err;
	size_t i, len;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		char *job = mem_printf("tests/unit/slurm/%s.yaml", names[i]);
		char *path = mem_printf("tests/unit/slurm/%s.sh", names[i]);
		struct buf is = { 0 };
		char *wanted;

		write_script(job, &is);
		if (getenv("JOBRUN_TEST_WRITE"))
			assert_int_equal(
				file_write(path, is.data, is.len, &err), 0);
		wanted = file_read(path, 1 << 20, &len, &err);
		assert_non_null(wanted);
		assert_string_equal(is.data, wanted);
		free(wanted);
		free(path);
		free(job);
		buf_done(&is);
	}
}

/* ---- commands ---------------------------------------------------------- */

static int run(const char *const *argv, const char *input, int64_t timeout_ms,
	       struct command_answer *out, struct error *err)
{
	const struct command_call call = { .argv = argv,
					   .input = input,
					   .input_len = strlen(input),
					   .output_max = 1 << 20,
					   .timeout_ms = timeout_ms };

	return command_run(&call, out, err);
}

/* A shell gives back any bytes that were quoted. */
static void quoting_survives_a_shell(void **state)
{
	struct buf script = { 0 }, wanted = { 0 };
	const char *argv[] = { "sh", "-c", NULL, NULL };
	struct command_answer answer;
	struct error err;
	int i, j;

	(void)state;
	buf_puts(&script, "printf '%s\\n'");
	for (i = 0; i < 300; i++) {
		char word[9];

		for (j = 0; j < 8; j++)
			word[j] = (char)(1 + (i * 37 + j * (i + 11)) % 255);
		word[i % 9] = '\0';
		buf_putc(&script, ' ');
		command_quote(word, &script);
		buf_printf(&wanted, "%s\n", word);
	}
	argv[2] = buf_text(&script);
	assert_int_equal(run(argv, "", 10000, &answer, &err), 0);
	assert_string_equal(buf_text(&answer.out), buf_text(&wanted));
	command_answer_done(&answer);
	buf_done(&script);
	buf_done(&wanted);
}

static void commands_say_how_they_ended(void **state)
{
	static const char *const cat[] = { "cat", NULL };
	static const char *const bad[] = {
		"sh", "-c", "echo a; printf 'one\\ntwo\\033\\n\\n' >&2; exit 3",
		NULL
	};
	static const char *const slow[] = { "sleep", "60", NULL };
	static const char *const much[] = { "head", "-c2000000", "/dev/zero",
					    NULL };
	static const char *const none[] = { "no-such-command", NULL };
	struct command_answer answer;
	struct error err = { 0 };
	char *input = mem_alloc(300001);
	char words[64];

	(void)state;
	memset(input, 'x', 300000);
	assert_int_equal(run(cat, input, 10000, &answer, &err), 0);
	assert_string_equal(answer.out.data, input);
	command_answer_done(&answer);
	/* The command ends without reading its input. */
	assert_int_equal(run(bad, input, 10000, &answer, &err), 0);
	assert_int_equal(command_status(&answer), 3);
	assert_string_equal(answer.out.data, "a\n");
	command_last_words(&answer, words, sizeof(words));
	assert_string_equal(words, "two?");
	command_answer_done(&answer);
	assert_int_equal(run(slow, "", 50, &answer, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	assert_int_equal(run(much, "", 10000, &answer, &err), -1);
	assert_string_equal(err.text, "head: it wrote more than 1048576 bytes");
	assert_int_equal(run(none, "", 10000, &answer, &err), -1);
	assert_string_equal(err.text,
			    "command 'no-such-command' not found in PATH");
	free(input);
}

/* ---- a login host ------------------------------------------------------ */

/* Writes a stand-in for ssh, which runs its last argument. */
static void put_ssh(const char *way)
{
	char *path = path_join(folder, "bin/ssh");
	char *text = mem_printf("#!/bin/sh\n"
				"for line; do :; done\n%s\n",
				way);

	unlink(path);
	put("bin/ssh", text);
	assert_int_equal(chmod(path, 0700), 0);
	free(text);
	free(path);
}

/* An answer is complete, or an error, however it was cut off. */
static void answers_from_afar_are_whole(void **state)
{
	static const struct {
		const char *way;
		enum error_code code; /* 0: it is complete */
		const char *text;     /* the answer or the error */
	} cases[] = {
		{ "sh -c \"$line\"", 0, "one 'two'\n" },
		{ "echo 'no account'; exit 1", ERROR_FAILED,
		  "login host 'far': it runs no commands: its shell ends at "
		  "once" },
		/* The exit status came, but not all of the output. */
		{ "sh -c \"$line\" | head -c 12", ERROR_UNREACHABLE,
		  "login host 'far': the connection was cut" },
		{ "exit 255", ERROR_UNREACHABLE,
		  "login host 'far': the connection was cut" },
		{ "kill -9 $$", ERROR_UNREACHABLE,
		  "login host 'far': the connection was cut" },
		{ "echo 'ssh: connect to host far port 22: Connection "
		  "refused' >&2; exit 255",
		  ERROR_UNREACHABLE,
		  "login host 'far': ssh: connect to host far port 22: "
		  "Connection refused" },
		{ "echo 'me@far: Permission denied (publickey).' >&2; exit 255",
		  ERROR_DENIED, "login host 'far': ssh is refused" },
		{ "echo 'no logins' >&2; exit 1", ERROR_FAILED,
		  "login host 'far': it runs no commands: no logins" },
	};
	const char *argv[] = { "sh", "-c",        "echo \"$1\"; exit 3",
			       "sh", "one 'two'", NULL };
	char *known = path_join(folder, "known_hosts");
	char *bin = path_join(folder, "bin");
	char *before = mem_strdup(getenv("PATH"));
	char *now = mem_printf("%s:%s", bin, before);
	struct command_answer answer;
	struct cluster *cluster;
	struct error err;
	size_t i;

	(void)state;
	setenv("PATH", now, 1);
	cluster = cluster_open("far:dir", known, &err);
	assert_non_null(cluster);
	for (i = 0; i < COUNT(cases); i++) {
		put_ssh(cases[i].way);
		err.text[0] = '\0';
		if (!cases[i].code) {
			assert_int_equal(cluster_call(cluster, argv, NULL,
						      &answer, &err),
					 0);
			assert_string_equal(buf_text(&answer.out),
					    cases[i].text);
			assert_int_equal(command_status(&answer), 3);
			command_answer_done(&answer);
			continue;
		}
		assert_int_equal(
			cluster_call(cluster, argv, NULL, &answer, &err), -1);
		assert_int_equal(err.code, cases[i].code);
		assert_memory_equal(err.text, cases[i].text,
				    strlen(cases[i].text));
	}
	cluster_close(cluster);
	setenv("PATH", before, 1);
	free(now);
	free(before);
	free(bin);
	free(known);
}

/* ---- the queue --------------------------------------------------------- */

static void queue_is_by_comment(void **state)
{
	char text[] = "12|RUNNING|1763712756|N/A|n[1-2]|None|jobrun:a:x:d\n"
		      "13+0|PENDING|N/A|N/A||Resources|jobrun:b:x:d\n"
		      "13+1|PENDING|N/A|N/A||Resources|jobrun:b:x:d\n"
		      "14|RUNNING|1|2|n3|None|somebody else's | job\n"
		      "15|RUNNING|1|2|n3|None|(null)\n"
		      "a banner\n"
		      "17|COMPLETED|1|2|n3|None|jobrun:e:x:d";
	struct arena *mem = arena_new();
	const struct queue_job *job;
	struct slurm_queue queue;

	(void)state;
	queue_parse(text, mem, &queue);
	assert_int_equal(queue.count, 3);
	job = queue_find(&queue, "jobrun:b:x:d");
	assert_string_equal(job->id, "13");
	assert_string_equal(queue_explain(job, mem),
			    "it waits until enough nodes are free");
	assert_int_equal(queue_state(job->state), RUN_QUEUED);
	job = queue_find(&queue, "jobrun:a:x:d");
	assert_int_equal(queue_state(job->state), RUN_RUNNING);
	assert_true(job->start_time_ms == 1763712756000);
	assert_string_equal(job->nodes, "n[1-2]");
	job = queue_find(&queue, "jobrun:e:x:d");
	assert_int_equal(queue_state(job->state), RUN_SUCCEEDED);
	assert_null(queue_find(&queue, "jobrun:c:x:d"));
	arena_free(mem);
}

static void reasons_are_in_plain_words(void **state)
{
	static const struct {
		const char *state, *reason, *text;
	} cases[] = {
		{ "PENDING", "Priority",
		  "jobs with a higher priority are before it" },
		{ "PENDING", "ReqNodeNotAvail, UnavailableNodes:n2",
		  "nodes that it needs are down, drained or reserved" },
		{ "PENDING", "QOSMaxJobsPerUserLimit",
		  "a limit of its QOS is reached (QOSMaxJobsPerUserLimit)" },
		{ "PENDING", "JobHeldUser",
		  "it is held; 'scontrol release' lets it go" },
		{ "PENDING", "Dependency", "it waits for another job" },
		{ "PENDING", "JobArrayTaskLimit",
		  "as many of its elements run as may" },
		{ "PENDING", "MaxJobsPerAccount",
		  "a limit of the cluster is reached (MaxJobsPerAccount)" },
		{ "PENDING", "Brand New", "Slurm says Brand New" },
		{ "PENDING", "", "" },
		{ "TIMEOUT", "TimeLimit", "it reached its time limit" },
		{ "OUT_OF_MEMORY", "", "it used more memory than it has" },
		{ "RUNNING", "", "" },
	};
	struct arena *mem = arena_new();
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const struct queue_job job = { .state = cases[i].state,
					       .reason = cases[i].reason };

		assert_string_equal(queue_explain(&job, mem), cases[i].text);
	}
	arena_free(mem);
}

/* After the loss of a node a job waits for its time, and may be given a node
 * that is dead, too: nobody sees a word of its script until Slurm knows. */
static void a_job_that_is_queued_again_says_what_it_waits_for(void **state)
{
	struct arena *mem = arena_new();
	struct slurm_record record = { .run = { .create_time_ms = 5000 } };
	struct slurm_look look = { .mem = mem, .record = &record };
	char time[32], want[128];

	(void)state;
	look.job = (struct queue_job){ .state = "PENDING",
				       .reason = "BeginTime",
				       .start_time_ms = 1763712756000 };
	time_format_log(look.job.start_time_ms, time, sizeof(time));
	snprintf(want, sizeof(want), "its start time has not come yet: %s",
		 time);
	assert_string_equal(look_explain_wait(&look), want);
	look.job.start_time_ms = 0;
	assert_string_equal(look_explain_wait(&look),
			    "its start time has not come yet");
	look.job = (struct queue_job){ .state = "RUNNING",
				       .reason = "",
				       .nodes = "n[2-3]",
				       .start_time_ms = 6000 };
	assert_string_equal(look_explain_wait(&look),
			    "Slurm has given it n[2-3], where its script has "
			    "not begun yet");
	/* A script that waits for its next attempt began before that. */
	look.job.start_time_ms = 4000;
	assert_string_equal(look_explain_wait(&look), "");
	arena_free(mem);
}

/* ---- runs -------------------------------------------------------------- */

static void runs_tell_of_themselves(void **state)
{
	struct slurm_run made = {
		.job_id = "a",
		.name = "01234567-2",
		.number = 2,
		.digest = DIGEST,
		.comment = "jobrun:a:01234567-2:" DIGEST,
		.set = "jobs",
		.cleanup = CLEANUP_NEVER,
		.create_time_ms = 5,
		.properties = json_pack("{s:s}", "command", "x"),
	};
	json_t *value = run_json(&made);
	char *json = json_canonical(value);
	char *text = mem_printf("%s\n117 0:143 1:-\n"
				"{\"jobId\":\"a\",\"name\":\"n\",\"number\":1,"
				"\"digest\":\"d\",\"comment\":\"c\"}\n-\n",
				json);
	struct arena *mem = arena_new();
	struct slurm_runs runs;
	struct error err;
	char broken[] = "{\"jobId\":\"a\"}\n-\n";

	(void)state;
	assert_int_equal(runs_parse(text, mem, &runs, &err), 0);
	assert_int_equal(runs.count, 2);
	assert_string_equal(runs.items[0].name, "n");
	assert_null(runs.items[0].id);
	assert_int_equal(runs.items[0].restart, -1);
	assert_string_equal(runs.items[1].name, made.name);
	assert_string_equal(runs.items[1].comment, made.comment);
	assert_string_equal(runs.items[1].id, "117");
	assert_int_equal(runs.items[1].restart, 1);
	assert_int_equal(runs.items[1].status, -1);
	assert_int_equal(runs.items[1].cleanup, CLEANUP_NEVER);
	assert_true(json_equal(runs.items[1].properties, made.properties));
	runs_done(&runs);
	assert_int_equal(runs_parse(broken, mem, &runs, &err), -1);
	assert_string_equal(err.text, "a run.json there is incomplete");
	json_decref(made.properties);
	json_decref(value);
	free(json);
	free(text);
	arena_free(mem);
}

/* ---- copies ------------------------------------------------------------ */

static int make_folder(void **state)
{
	char path[] = "/tmp/jobrun-test.XXXXXX";

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	folder = mem_strdup(mkdtemp(path));
	return 0;
}

static int remove_folder(void **state)
{
	struct error err;

	(void)state;
	folder_remove(folder, &err);
	free(folder);
	return 0;
}

static size_t copy(struct error *err)
{
	char *from = path_join(folder, "from");
	char *to = path_join(folder, "to");
	struct buf have = { 0 }, stream = { 0 };
	size_t len;

	assert_int_equal(log_sync_have(to, &have, err), 0);
	assert_int_equal(log_sync_send(from, buf_text(&have), &stream, err), 0);
	assert_int_equal(log_sync_take(to, &stream, err), 0);
	len = stream.len;
	buf_done(&have);
	buf_done(&stream);
	free(from);
	free(to);
	return len;
}

static void copies_get_what_is_new(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(copy(&err), 0);
	put("from/logs/a.stdout", "one\n");
	put("from/logs/a.index", "i");
	put("from/status", "0\n");
	put("from/.part", "no");
	assert_true(copy(&err) > 0);
	is("to/logs/a.stdout", "one\n");
	is("to/logs/a.index", "i");
	is("to/status", "0\n");
	assert_int_equal(copy(&err), 0);
	put("from/logs/a.stdout", "two\n");
	put("from/tasks/master-0", "start n1 7 5\n");
	copy(&err);
	is("to/logs/a.stdout", "one\ntwo\n");
	is("to/tasks/master-0", "start n1 7 5\n");
}

static void copies_stay_where_they_are(void **state)
{
	static const char *const bad[] = {
		"../a 0 1\nx", "/tmp/a 0 1\nx", "a/../../b 0 1\nx",
		".a 0 1\nx",   "a/b/c 0 1\nx",  "a 0 9\nx",
		"a\n",         "a/.b 0 1\nx",
	};
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		struct buf stream = { 0 };

		buf_puts(&stream, bad[i]);
		assert_int_equal(log_sync_take(folder, &stream, &err), -1);
		buf_done(&stream);
	}
}

/* Two writers at once: a piece that comes late does not fit any more. */
static void copies_are_not_doubled(void **state)
{
	struct buf stream = { 0 };
	struct error err;

	(void)state;
	buf_puts(&stream, "once 0 4\nabcd");
	assert_int_equal(log_sync_take(folder, &stream, &err), 0);
	assert_int_equal(log_sync_take(folder, &stream, &err), 0);
	is("once", "abcd");
	buf_done(&stream);
}

static void members_leave_word(void **state)
{
	struct task_record task = { .type = "worker",
				    .index = 3,
				    .state = RUN_QUEUED,
				    .exit_code = -1 };
	struct arena *mem = arena_new();
	struct error err;

	(void)state;
	assert_int_equal(task_file_read(folder, mem, &task, &err), 1);
	put("tasks/worker-3", "start n7 42 1000\n");
	assert_int_equal(task_file_read(folder, mem, &task, &err), 0);
	assert_int_equal(task.state, RUN_RUNNING);
	assert_string_equal(task.host, "n7");
	assert_int_equal(task.pid, 42);
	assert_true(task_file_is_whole(folder, &task));
	/* An incomplete line does not count. */
	put("tasks/worker-3", "end 9 2000 26 5");
	assert_int_equal(task_file_read(folder, mem, &task, &err), 0);
	assert_int_equal(task.state, RUN_RUNNING);
	put("tasks/worker-3", "3\n");
	assert_int_equal(task_file_read(folder, mem, &task, &err), 0);
	assert_int_equal(task.state, RUN_FAILED);
	assert_int_equal(task.signal, 9);
	assert_int_equal(task.exit_code, 137);
	assert_int_equal(task.end_time_ms, 2000);
	assert_int_equal(task.lost_bytes, 53);
	/* The end of a task may be visible before the rest of its log. */
	put("logs/worker-3.stdout", "0123456789");
	put("logs/worker-3.index", "0123456789abcde");
	assert_false(task_file_is_whole(folder, &task));
	put("logs/worker-3.index", "f");
	assert_true(task_file_is_whole(folder, &task));
	arena_free(mem);
}

/* ---- attempts ---------------------------------------------------------- */

/* Writes a stand-in for scontrol that records its arguments. */
static void put_scontrol(void)
{
	char *path = path_join(folder, "bin/scontrol");
	char *text = mem_printf("#!/bin/sh\necho \"$@\" >>%s/told\n", folder);

	unlink(path);
	put("bin/scontrol", text);
	assert_int_equal(chmod(path, 0700), 0);
	free(text);
	free(path);
}

static void put_spec(const char *policy)
{
	char *text = mem_printf(
		"{\"jobId\":\"a\",\"folder\":\".\",\"directory\":\"~\","
		"\"command\":[\"x\"],\"restart\":%s,"
		"\"topology\":{\"jobId\":\"a\",\"masterName\":\"master\","
		"\"tasks\":[{\"type\":\"master\",\"index\":0,\"host\":\"\"},"
		"{\"type\":\"worker\",\"index\":0,\"host\":\"\"}]}}",
		policy);

	put("run/spec.json", text);
	free(text);
}

static void turn_after_is(int queued, int ended, int status,
			  enum slurm_step step, int number)
{
	char *run = path_join(folder, "run");
	const struct slurm_turn turn = { .run = run,
					 .job_id = "12",
					 .queued = queued,
					 .ended = ended,
					 .status = status };
	enum slurm_step is_step;
	struct error err = { 0 };
	int is_number;

	if (slurm_turn_take(&turn, &is_step, &is_number, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(is_step, step);
	assert_int_equal(is_number, number);
	free(run);
}

static void turn_is(int queued, enum slurm_step step, int number)
{
	turn_after_is(queued, -1, 0, step, number);
}

static void next_is(int attempt, bool again, int failures, int preemptions,
		    const char *why_not)
{
	char *path = mem_printf("%s/run/attempts/%d", folder, attempt);
	struct slurm_next next;
	struct error err;

	assert_int_equal(slurm_next_read(path, &next, &err), 0);
	assert_int_equal(next.again, again);
	if (again) {
		assert_int_equal(next.counts.failures, failures);
		assert_int_equal(next.counts.preemptions, preemptions);
	} else {
		assert_string_equal(next.why_not, why_not);
	}
	free(path);
}

static void forget_run(void)
{
	char *run = path_join(folder, "run");
	char *told = path_join(folder, "told");
	struct error err;

	folder_remove(run, &err);
	unlink(told);
	free(told);
	free(run);
}

/* Decides about attempts as the script does, with what may happen in
 * between. */
static void attempts_follow_the_rules(void **state)
{
	char *bin = path_join(folder, "bin");
	char *before = mem_strdup(getenv("PATH"));
	char *now = mem_printf("%s:%s", bin, before);
	struct slurm_next next;
	struct error err;

	(void)state;
	setenv("PATH", now, 1);
	put_scontrol();

	/* Without jobrun.restart the end is final. */
	put_spec("{}");
	turn_is(0, SLURM_STEP_BEGIN, 0);
	assert_int_equal(slurm_next_read("/nowhere", &next, &err), 1);
	/* A controller that has lost its state starts the job again, which
	 * counts as a loss. */
	turn_is(0, SLURM_STEP_END, 1);
	forget_run();
	put_spec("{\"maxPreemptions\":1}");
	turn_is(0, SLURM_STEP_BEGIN, 0);
	turn_is(0, SLURM_STEP_BEGIN, 1);
	forget_run();
	put_spec("{}");
	turn_is(0, SLURM_STEP_BEGIN, 0);
	put("run/attempts/0/tasks/master-0", "start n1 1 1\nend 768 5 0 0\n");
	turn_after_is(0, 0, 3, SLURM_STEP_END, 3);
	is("run/attempts/0/status", "3\n");
	turn_is(0, SLURM_STEP_END, 3);
	turn_is(1, SLURM_STEP_END, 3);
	next_is(0, false, 0, 0, "");
	forget_run();

	/* Failures and losses are counted separately. */
	put_spec("{\"maxRestarts\":1,\"maxPreemptions\":1}");
	turn_is(0, SLURM_STEP_BEGIN, 0);
	put("run/attempts/0/tasks/master-0",
	    "start n1 1 1\ntold 15 4\nend 15 5 0 0\n");
	put("run/attempts/0/tasks/worker-0", "start n2 1 1\nend 768 6 0 0\n");
	put("run/attempts/0/status", "143\n");
	turn_is(0, SLURM_STEP_BEGIN, 1);
	next_is(0, true, 1, 0, "");
	/* A node was lost, whatever the tasks have recorded. */
	put("run/attempts/1/status", "1\n");
	turn_is(1, SLURM_STEP_BEGIN, 2);
	next_is(1, true, 1, 1, "");
	is("told", "update JobId=12 Requeue=0\n");
	/* The job is requeued nevertheless. */
	turn_is(2, SLURM_STEP_END, 1);
	next_is(2, false, 0, 0,
		"already restarted 1 time (jobrun.restart.maxPreemptions)");
	turn_is(2, SLURM_STEP_END, 1);
	forget_run();

	/* The decision was recorded, and then the script was killed. */
	put_spec("{\"maxRestarts\":5}");
	turn_is(0, SLURM_STEP_BEGIN, 0);
	put("run/attempts/0/status", "1\n");
	put("run/attempts/0/next", "again 1 0 5\n");
	turn_is(3, SLURM_STEP_BEGIN, 1);
	put("run/attempts/1/status", "0\n");
	turn_is(3, SLURM_STEP_END, 0);
	turn_is(4, SLURM_STEP_END, 0);
	forget_run();

	/* The tasks were told to end by somebody else, as before the time
	 * limit. */
	put_spec("{\"maxRestarts\":5}");
	turn_is(0, SLURM_STEP_BEGIN, 0);
	put("run/attempts/0/tasks/master-0",
	    "start n1 1 1\ntold 15 4\nend 256 5 0 0\n");
	put("run/attempts/0/tasks/worker-0", "start n2 1 1\nend 15 6 0 0\n");
	put("run/attempts/0/status", "1\n");
	turn_is(0, SLURM_STEP_END, 1);
	forget_run();

	setenv("PATH", before, 1);
	free(now);
	free(before);
	free(bin);
}

/* The task that an attempt ended for: worker 0, worker 1 and so on. */
static void one_task_is_to_blame(void **state)
{
	static const struct {
		const char *files[3]; /* files of each; NULL: none */
		enum attempt_cause cause;
		int index;
	} cases[] = {
		{ { NULL, NULL, NULL }, OUTCOME_OTHER, -1 },
		{ { "end 0 9 0 0\n", "end 256 8 0 0\n", "end 512 7 0 0\n" },
		  OUTCOME_TASK,
		  2 },
		/* This task was killed because of the other, so suddenly that
		 * it recorded nothing more. */
		{ { "told 15 5\n", "end 256 8 0 0\n", NULL }, OUTCOME_TASK, 1 },
		/* The other task has noticed that a node was lost. */
		{ { "end 256 5 0 0\n", "", "told 15 5\nend 15 6 0 0\n" },
		  OUTCOME_LOST,
		  1 },
		{ { "end 15 5 0 0\n", "end 9 6 0 0\n", NULL },
		  OUTCOME_TASK,
		  1 },
		{ { "end 15 5 0 0\n", "told 15 5\nend 256 6 0 0\n", NULL },
		  OUTCOME_CANCEL,
		  0 },
		{ { "end 15 5 0 0\n", "end 36608 4 0 0\n", NULL },
		  OUTCOME_TASK,
		  1 },
	};
	struct attempt_outcome outcome;
	struct arena *mem = arena_new();
	struct error err;
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct task_record items[3] = { 0 };
		struct task_list tasks = { .count = 3, .items = items };
		char *here = mem_printf("%s/blame-%zu", folder, i);

		for (j = 0; j < 3; j++) {
			char *name =
				mem_printf("blame-%zu/tasks/worker-%zu", i, j);

			items[j] = (struct task_record){
				.type = "worker",
				.index = (int)j,
				.state = RUN_QUEUED,
			};
			if (cases[i].files[j]) {
				put(name, "start n1 1 1\n");
				put(name, cases[i].files[j]);
			}
			free(name);
		}
		assert_int_equal(task_files_read(here, mem, &tasks, NULL, &err),
				 0);
		task_files_outcome(here, &tasks, &outcome);
		assert_int_equal(outcome.cause, cases[i].cause);
		assert_int_equal(outcome.task ? outcome.task->index : -1,
				 cases[i].index);
		free(here);
	}
	arena_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_are_as_they_should_be),
		cmocka_unit_test(quoting_survives_a_shell),
		cmocka_unit_test(commands_say_how_they_ended),
		cmocka_unit_test(answers_from_afar_are_whole),
		cmocka_unit_test(queue_is_by_comment),
		cmocka_unit_test(reasons_are_in_plain_words),
		cmocka_unit_test(
			a_job_that_is_queued_again_says_what_it_waits_for),
		cmocka_unit_test(runs_tell_of_themselves),
		cmocka_unit_test(copies_get_what_is_new),
		cmocka_unit_test(copies_stay_where_they_are),
		cmocka_unit_test(copies_are_not_doubled),
		cmocka_unit_test(members_leave_word),
		cmocka_unit_test(attempts_follow_the_rules),
		cmocka_unit_test(one_task_is_to_blame),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
