/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a multiplexer of lines can do: prefix TASKS COMMAND…  Starts
 * the command so many times and writes every line of theirs with a prefix of
 * its own; it keeps no logs, looks at no clock and hears no signals.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS_MAX 64
#define ROOM (256 << 10)
#define PREFIX 34 /* as long as that of a line on 127.0.0.1 */

struct task {
	char prefix[PREFIX + 16];
	char *data;
	size_t len;
};

static char out[ROOM * 2];
static size_t out_len;

static void flush(void)
{
	for (size_t done = 0; done < out_len;) {
		ssize_t n = write(STDOUT_FILENO, out + done, out_len - done);

		if (n < 0)
			exit(1);
		done += (size_t)n;
	}
	out_len = 0;
}

static void give_lines(struct task *task)
{
	const char *p = task->data;
	const char *end = p + task->len;
	const char *stop;

	while ((stop = memchr(p, '\n', (size_t)(end - p)))) {
		size_t len = (size_t)(stop - p) + 1;

		if (out_len + PREFIX + len > sizeof(out))
			flush();
		memcpy(out + out_len, task->prefix, PREFIX);
		memcpy(out + out_len + PREFIX, p, len);
		out_len += PREFIX + len;
		p = stop + 1;
	}
	task->len = (size_t)(end - p);
	memmove(task->data, p, task->len);
}

static int start(char **argv)
{
	int ends[2];

	if (pipe(ends) < 0)
		exit(1);
	if (fork() == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	return ends[0];
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[1]) : 0;
	struct pollfd fds[TASKS_MAX];
	struct task tasks[TASKS_MAX];
	int open = count;

	if (count < 1 || count > TASKS_MAX)
		return 2;
	for (int i = 0; i < count; i++) {
		fds[i] = (struct pollfd){ start(argv + 2), POLLIN, 0 };
		snprintf(tasks[i].prefix, sizeof(tasks[i].prefix),
			 "2020-08-06 02:38:57 127.0.0.1 [%d] ", i);
		tasks[i].data = malloc(ROOM);
		tasks[i].len = 0;
	}
	while (open) {
		if (poll(fds, (nfds_t)count, -1) < 0)
			return 1;
		for (int i = 0; i < count; i++) {
			struct task *task = &tasks[i];
			ssize_t n;

			if (!fds[i].revents)
				continue;
			n = read(fds[i].fd, task->data + task->len,
				 ROOM - task->len);
			if (n <= 0) {
				fds[i].fd = -1;
				open--;
				continue;
			}
			task->len += (size_t)n;
			give_lines(task);
		}
		flush();
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
