/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/process/process.h"

#define WORDS_MAX ((size_t)16 << 10)
#define PIECE ((size_t)64 << 10)

/* The state of a running program: our ends of its pipes, -1 once closed. */
struct exchange {
	const struct command_call *call;
	struct command_answer *answer;
	int in, out, words;
	size_t written;
	bool too_much;
};

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A program may end without having read all of its input. */
static void give(struct exchange *x)
{
	const char *data = x->call->input;
	size_t left = x->call->input_len - x->written;
	ssize_t n = write(x->in, data + x->written, left);

	if (n > 0)
		x->written += (size_t)n;
	if ((n < 0 && errno != EAGAIN && errno != EINTR) ||
	    x->written == x->call->input_len)
		close_end(&x->in);
}

static void take(struct exchange *x, int *fd, struct buf *into, size_t max,
		 bool keep_start)
{
	char *room = buf_reserve(into, PIECE);
	ssize_t n = read(*fd, room, PIECE);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_end(fd);
		return;
	}
	if (into->len + (size_t)n <= max) {
		into->len += (size_t)n;
		into->data[into->len] = '\0';
	} else if (!keep_start) {
		x->too_much = true;
	}
}

static int late(const struct command_call *call, struct error *err)
{
	return error_set(err, ERROR_TIMEOUT,
			 "it did not end within %lld seconds",
			 (long long)call->timeout_ms / 1000);
}

/* Exchanges data until both outputs are closed; ERROR_TIMEOUT if that takes too
 * long. */
static int talk(struct exchange *x, int64_t until, struct error *err)
{
	while ((x->out >= 0 || x->words >= 0) && !x->too_much) {
		struct pollfd fds[] = { { x->in, POLLOUT, 0 },
					{ x->out, POLLIN, 0 },
					{ x->words, POLLIN, 0 } };
		int64_t left = until - time_monotonic_ms();

		if (left <= 0)
			return late(x->call, err);
		if (poll(fds, COUNT(fds), (int)(left < 60000 ? left : 60000)) <
			    0 &&
		    errno != EINTR)
			return error_errno(err, "cannot wait for it");
		if (fds[0].revents)
			give(x);
		if (fds[1].revents)
			take(x, &x->out, &x->answer->out, x->call->output_max,
			     false);
		if (fds[2].revents)
			take(x, &x->words, &x->answer->words, WORDS_MAX, true);
	}
	return x->too_much ? error_set(err, ERROR_FAILED,
				       "it wrote more than %zu bytes",
				       x->call->output_max)
			   : 0;
}

static int open_pipe(int fds[2], int ours, struct error *err)
{
	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_errno(err, "cannot create a pipe");
	fcntl(fds[ours], F_SETFL, O_NONBLOCK);
	return 0;
}

static pid_t start(const struct command_call *call, const char *path,
		   char *const *envp, int in[2], int out[2], int words[2],
		   struct error *err)
{
	struct rlimit files;
	struct process_start what = {
		.path = path,
		.argv = (char *const *)call->argv,
		.envp = envp,
		.directory = call->directory ? call->directory : "/",
		.no_files = &files,
		.in = call->input_fd,
		.out = out[1],
		.err = words[1],
	};

	getrlimit(RLIMIT_NOFILE, &files);
	if (in[0] >= 0)
		what.in = in[0];
	return process_start(&what, err);
}

int command_run(const struct command_call *call, struct command_answer *out,
		struct error *err)
{
	char *const *envp = call->envp ? call->envp : environ;
	int in[2] = { -1, -1 }, from[2] = { -1, -1 }, words[2] = { -1, -1 };
	struct exchange x = { .call = call, .answer = out };
	int64_t until = time_monotonic_ms() + call->timeout_ms;
	char *path;
	pid_t pid = -1;
	int ret = -1;

	*out = (struct command_answer){ 0 };
	path = process_find(call->argv[0], "/", envp, err);
	if (!path)
		return -1;
	if ((call->input && open_pipe(in, 1, err) < 0) ||
	    open_pipe(from, 0, err) < 0 || open_pipe(words, 0, err) < 0)
		goto out;
	pid = start(call, path, envp, in, from, words, err);
	close_end(&in[0]);
	close_end(&from[1]);
	close_end(&words[1]);
	if (pid >= 0) {
		x.in = in[1];
		x.out = from[0];
		x.words = words[0];
		in[1] = from[0] = words[0] = -1;
		ret = talk(&x, until, err);
		close_end(&x.in);
		close_end(&x.out);
		close_end(&x.words);
		/* The program may close them and continue. */
		if (!process_end(pid, ret < 0 ? 0 : until, &out->status) &&
		    ret == 0)
			ret = late(call, err);
	}
out:
	if (ret < 0) {
		error_prefix(err, "%s", call->argv[0]);
		command_answer_done(out);
	}
	close_end(&in[0]);
	close_end(&in[1]);
	close_end(&from[0]);
	close_end(&from[1]);
	close_end(&words[0]);
	close_end(&words[1]);
	free(path);
	return ret;
}

void command_answer_done(struct command_answer *answer)
{
	buf_done(&answer->out);
	buf_done(&answer->words);
	*answer = (struct command_answer){ 0 };
}

int command_status(const struct command_answer *answer)
{
	return process_exit_code(answer->status);
}

void command_last_words(const struct command_answer *answer, char *out,
			size_t size)
{
	text_last_words(buf_text(&answer->words), answer->words.len, out, size);
}

void command_quote(const char *text, struct buf *out)
{
	const char *safe =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_-+=./:,@%";

	if (*text && !text[strspn(text, safe)]) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}
