/* SPDX-License-Identifier: Apache-2.0 */
/* The last output of a supervisor that could not report or record its end. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/supervise/supervisor_internal.h"

#define TAIL_SIZE 300

void supervisor_last_words(const char *log, char *out, size_t size)
{
	static const char name[] = "jobrun: ";
	char text[TAIL_SIZE + 1];
	int fd = open(log, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;
	char *line;

	*out = '\0';
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0)
		n = pread(fd, text, TAIL_SIZE,
			  st.st_size > TAIL_SIZE ? st.st_size - TAIL_SIZE : 0);
	close(fd);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	if (n <= 0)
		return;
	text[n] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (text_starts(line, name))
		line += strlen(name);
	snprintf(out, size, ": %s", line);
}
