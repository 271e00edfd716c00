/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/host_devices.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device/look.h"
#include "core/process/process.h"
#include "core/process/subprocess.h"
#include "core/process/task.h"
#include "core/ssh/connection.h"

/* sshd accepts ten at a time that are not logged in yet. */
#define AT_ONCE 8
#define ANSWER_MS 50000
#define CALL_MS 60000
#define ANSWERS_MAX ((size_t)64 << 20)
/* The lines before the devices of a host, and the one instead of them. */
#define HOST "host\t"
#define TROUBLE "trouble\t"
#define DEFAULT "-"

/* ---- asking ---- */

struct asking;

struct queried_host {
	struct asking *all;
	struct ssh_target target;
	struct connection *connection;
	char *answer; /* NULL: none yet */
};

struct asking {
	struct task_parent parent;
	struct connection_deps deps;
	struct queried_host *hosts;
	size_t count, next, open;
};

static void ask_next(struct asking *all);

static void answered(struct queried_host *one, char *answer)
{
	struct asking *all = one->all;

	if (one->answer) {
		free(answer);
		return;
	}
	one->answer = answer;
	connection_free(one->connection);
	one->connection = NULL;
	all->open--;
	ask_next(all);
}

static char *trouble(enum error_code code, const char *why)
{
	return mem_printf(TROUBLE "%d\t%s\n", (int)code, why);
}

static void on_ready(void *arg)
{
	struct queried_host *one = arg;
	struct wire_out out = { 0 };

	wire_begin(&out, FRAME_DEVICES);
	if (wire_end(&out))
		connection_send(one->connection, &out);
	wire_out_done(&out);
}

static void on_frame(void *arg, const struct frame *frame)
{
	struct wire_in in = frame_fields(frame);
	char *text = wire_get_string(&in);

	if (text && frame->type == FRAME_DEVICES_ARE)
		answered(arg, mem_strdup(text));
	else
		answered(arg, trouble(ERROR_FAILED,
				      text ? text : "its answer is invalid"));
	free(text);
}

/* The agent sends no output here. */
static ssize_t on_rest(void *arg, const struct frame_output *output, int fd)
{
	char nowhere[4096];

	(void)arg;
	return read(fd, nowhere,
		    output->len < sizeof(nowhere) ? output->len
						  : sizeof(nowhere));
}

static void on_drained(void *arg)
{
	(void)arg;
}

static void on_closed(void *arg, enum ssh_trouble kind, const struct error *why)
{
	(void)kind;
	answered(arg, trouble(why->code, why->text));
}

static const struct connection_hooks hooks = {
	.ready = on_ready,
	.frame = on_frame,
	.rest = on_rest,
	.drained = on_drained,
	.closed = on_closed,
};

static void ask(struct queried_host *one)
{
	struct error err;

	one->all->open++;
	one->connection = connection_new(&one->all->deps, &one->target, &hooks,
					 one, &err);
	if (!one->connection)
		answered(one, trouble(err.code, err.text));
}

static void ask_next(struct asking *all)
{
	while (all->next < all->count && all->open < AT_ONCE)
		ask(&all->hosts[all->next++]);
	if (!all->open)
		loop_stop(all->parent.loop);
}

static void out_of_time(void *arg, uint32_t events)
{
	struct asking *all = arg;
	size_t i;

	(void)events;
	all->next = all->count;
	for (i = 0; i < all->count; i++)
		if (!all->hosts[i].answer && all->hosts[i].connection)
			answered(&all->hosts[i],
				 trouble(ERROR_TIMEOUT, "it does not answer"));
	loop_stop(all->parent.loop);
}

static void on_signal(void *arg, int number, bool from_kernel)
{
	struct asking *all = arg;

	(void)from_kernel;
	if (number != SIGCHLD)
		loop_stop(all->parent.loop);
}

static void write_answers(const struct asking *all, struct buf *out)
{
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct queried_host *one = &all->hosts[i];
		char *none = trouble(ERROR_TIMEOUT, "it was not asked in time");

		buf_printf(out, HOST "%s\n%s", one->target.name,
			   one->answer ? one->answer : none);
		free(none);
	}
}

static int ask_all(struct asking *all, struct error *err)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	if (task_parent_own(&all->parent, &signals, on_signal, all, err) < 0)
		return -1;
	all->deps.loop = all->parent.loop;
	all->deps.reaper = all->parent.reaper;
	loop_add_timer(all->parent.loop, ANSWER_MS, out_of_time, all);
	ask_next(all);
	return all->open ? loop_run(all->parent.loop, err) : 0;
}

int host_devices_tell(const struct host_devices_call *call, struct buf *out,
		      struct error *err)
{
	struct asking all = { .count = call->count };
	char config[] = "/tmp/jobrun-ssh.XXXXXX";
	size_t i, running = 0;
	int fd = mkostemp(config, O_CLOEXEC), ret = -1;

	if (fd < 0)
		return error_errno(err, "cannot create '%s'", config);
	close(fd);
	all.hosts = mem_alloc((call->count + 1) * sizeof(*all.hosts));
	all.deps.config = config;
	all.deps.directory = call->directory;
	all.deps.running = &running;
	if (ssh_config_write(config, call->known, NULL, err) < 0)
		goto out;
	for (i = 0; i < call->count; i++) {
		all.hosts[i].all = &all;
		if (ssh_target_parse(call->hosts[i], &all.hosts[i].target,
				     err) < 0)
			goto out;
	}
	ret = ask_all(&all, err);
	if (ret == 0)
		write_answers(&all, out);
out:
	for (i = 0; i < call->count; i++) {
		connection_free(all.hosts[i].connection);
		ssh_target_done(&all.hosts[i].target);
		free(all.hosts[i].answer);
	}
	unlink(config);
	free(all.hosts);
	task_parent_close(&all.parent);
	return ret;
}

/* ---- hearing ---- */

static void read_trouble(char *text, struct host_devices *out,
			 struct arena *mem)
{
	char *code = strsep(&text, "\t");

	out->code = (enum error_code)atoi(code);
	out->why = arena_strndup(mem, text ? text : "",
				 strcspn(text ? text : "", "\n"));
}

/* Reads "host NAME" and what follows it. */
static void read_host(char *text, struct host_devices *out, struct arena *mem)
{
	out->host = arena_strdup(mem, strsep(&text, "\n"));
	if (text && !strncmp(text, TROUBLE, strlen(TROUBLE))) {
		read_trouble(text + strlen(TROUBLE), out, mem);
		return;
	}
	out->all = text ? devices_read(text, mem) : NULL;
	if (out->all)
		return;
	out->code = ERROR_FAILED;
	out->why = "its list of GPUs can't be read";
}

static struct host_devices *read_all(char *text, size_t count,
				     struct arena *mem, struct error *err)
{
	struct host_devices *out = arena_alloc(mem, (count + 1) * sizeof(*out));
	size_t i;

	for (i = 0; i < count; i++) {
		char *end;

		if (!text || strncmp(text, HOST, strlen(HOST)) != 0) {
			error_set(err, ERROR_FAILED,
				  "the lists of GPUs can't be read");
			return NULL;
		}
		text += strlen(HOST);
		end = strstr(text, "\n" HOST);
		if (end)
			*end = '\0';
		read_host(text, &out[i], mem);
		text = end ? end + 1 : NULL;
	}
	return out;
}

struct host_devices *host_devices_look(const struct host_devices_call *call,
				       struct arena *mem, struct error *err)
{
	char self[4096], words[400];
	const char **argv = arena_alloc(mem, (call->count + 5) * sizeof(*argv));
	const struct command_call command = { .argv = argv,
					      .output_max = ANSWERS_MAX,
					      .timeout_ms = CALL_MS };
	struct command_answer answer = { 0 };
	struct host_devices *out = NULL;
	size_t n = 0, i;

	process_self(self, sizeof(self));
	argv[n++] = self;
	argv[n++] = LOOK_COMMAND;
	argv[n++] = call->known;
	argv[n++] = call->directory ? call->directory : DEFAULT;
	for (i = 0; i < call->count; i++)
		argv[n++] = call->hosts[i];
	if (command_run(&command, &answer, err) < 0)
		return NULL;
	command_last_words(&answer, words, sizeof(words));
	if (command_status(&answer) == 0)
		out = read_all((char *)buf_text(&answer.out), call->count, mem,
			       err);
	else
		error_set(err, ERROR_FAILED, "%s", words);
	command_answer_done(&answer);
	return out;
}
