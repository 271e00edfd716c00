/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/host_probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/process/subprocess.h"
#include "core/ssh/ssh.h"

/* sshd accepts ten at a time that are not logged in yet. */
#define AT_ONCE 8
#define ANSWER_MS 30000
#define ANSWER_MAX ((size_t)64 << 10)
#define MARK "jobrun-probe\n"

/* $1: the folder, or "".  After the mark, which greetings of the host's shell
 * may precede, a line for each member: architecture, folder, "yes" if it can be
 * written, KiB free, Python's version, the container runtime. */
#define SCRIPT                                                                 \
	"printf '" MARK "'; uname -m; "                                        \
	"d=${1:-$HOME}; " SH_NEAREST_FOLDER "echo \"$d\"; "                    \
	"if [ -w \"$d\" ]; then echo yes; else echo no; fi; "                  \
	"echo \"$(" SH_FREE_KIB ")\"; "                                        \
	"echo \"$(python3 -c 'import platform; "                               \
	"print(platform.python_version())' 2>/dev/null)\"; "                   \
	"found=; for p in podman docker apptainer ch-run; do "                 \
	"[ -n \"$found\" ] || { command -v $p >/dev/null 2>&1 && found=$p; "   \
	"}; "                                                                  \
	"done; echo \"$found\""

struct probing {
	const struct host_probe_call *call;
	char config[32];
	char *command;
	struct host_probe *out;
	pthread_mutex_t lock; /* for both: */
	size_t next;
	struct arena *mem;
};

/* Takes the next line, in the arena; NULL if there is none or it is empty. */
static const char *take_line(char **rest, struct arena *mem)
{
	char *line = strsep(rest, "\n");

	return line && *line ? arena_strdup(mem, line) : NULL;
}

static void read_answer(char *text, struct host_probe *out, struct arena *mem)
{
	char *rest = strstr(text, MARK);
	const char *line;

	if (!rest) {
		error_set(&out->why, ERROR_FAILED,
			  "its login shell does not run sh: its answer is "
			  "not that of a script");
		return;
	}
	rest += strlen(MARK);
	out->architecture = take_line(&rest, mem);
	out->folder = take_line(&rest, mem);
	line = take_line(&rest, mem);
	out->is_writable = line && !strcmp(line, "yes");
	line = take_line(&rest, mem);
	out->free_bytes = line ? strtoull(line, NULL, 10) << 10 : 0;
	out->python = take_line(&rest, mem);
	out->container = take_line(&rest, mem);
}

static void probe_one(struct probing *all, struct host_probe *out)
{
	struct ssh_target target = { 0 };
	struct command_call call = { .output_max = ANSWER_MAX,
				     .timeout_ms = ANSWER_MS };
	struct command_answer answer = { 0 };
	struct ssh_command *ssh = NULL;

	if (ssh_target_parse(out->host, &target, &out->why) < 0)
		goto out;
	ssh = ssh_command_new(&target, all->config, all->command);
	call.argv = (const char *const *)ssh->argv;
	if (command_run(&call, &answer, &out->why) < 0)
		goto out;
	if (command_status(&answer) != 0) {
		ssh_explain(buf_text(&answer.words), &out->why);
		goto out;
	}
	pthread_mutex_lock(&all->lock);
	read_answer((char *)buf_text(&answer.out), out, all->mem);
	pthread_mutex_unlock(&all->lock);
out:
	command_answer_done(&answer);
	free(ssh);
	ssh_target_done(&target);
}

static void *probe_some(void *arg)
{
	struct probing *all = arg;
	size_t i;

	for (;;) {
		pthread_mutex_lock(&all->lock);
		i = all->next++;
		pthread_mutex_unlock(&all->lock);
		if (i >= all->call->count)
			return NULL;
		probe_one(all, &all->out[i]);
	}
}

static char *make_command(const char *directory)
{
	struct buf text = { 0 };

	buf_puts(&text, "sh -c ");
	command_quote(SCRIPT, &text);
	buf_puts(&text, " probe ");
	command_quote(directory ? directory : "", &text);
	return buf_take(&text);
}

struct host_probe *host_probe(const struct host_probe_call *call,
			      struct arena *mem, struct error *err)
{
	struct probing all = { .call = call,
			       .config = "/tmp/jobrun-ssh.XXXXXX",
			       .lock = PTHREAD_MUTEX_INITIALIZER,
			       .mem = mem };
	pthread_t threads[AT_ONCE - 1];
	size_t i, count = 0;
	int fd = mkostemp(all.config, O_CLOEXEC);

	if (fd < 0) {
		error_errno(err, "cannot create '%s'", all.config);
		return NULL;
	}
	close(fd);
	all.out = arena_alloc(mem, (call->count + 1) * sizeof(*all.out));
	for (i = 0; i < call->count; i++)
		all.out[i] = (struct host_probe){ .host = call->hosts[i] };
	all.command = make_command(call->directory);
	if (ssh_config_write(all.config, call->known, NULL, err) < 0) {
		all.out = NULL;
	} else {
		while (count < AT_ONCE - 1 && count + 1 < call->count &&
		       pthread_create(&threads[count], NULL, probe_some,
				      &all) == 0)
			count++;
		probe_some(&all);
	}
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	unlink(all.config);
	free(all.command);
	return all.out;
}
