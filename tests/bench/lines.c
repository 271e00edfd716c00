/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task that only writes: lines MB.  Lines of a hundred bytes, in writes of
 * 64 kB as a buffered trainer's are.  In a run the first task waits for the
 * others, as the run ends with it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE 100
#define LINES 640

/* Each says when it is done, by a file in the run's folder. */
static void wait_for_others(void)
{
	const char *folder = getenv("JOBRUN_RUN_DIR");
	const char *rank = getenv("RANK");
	const char *world = getenv("WORLD_SIZE");
	char path[4096];

	if (!folder || !rank || !world)
		return;
	snprintf(path, sizeof(path), "%s/done.%s", folder, rank);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	for (int i = 1; atoi(rank) == 0 && i < atoi(world);) {
		snprintf(path, sizeof(path), "%s/done.%d", folder, i);
		if (access(path, F_OK) == 0)
			i++;
		else
			usleep(1000);
	}
}

int main(int argc, char **argv)
{
	long bytes = argc > 1 ? atol(argv[1]) * 1000000 : 0;
	static char block[LINE * LINES + 1];
	long done = 0;

	for (int i = 0; i < LINES; i++)
		snprintf(block + i * LINE, LINE + 1, "%-99s\n",
			 "| Training Device=xla:0/14 Epoch=1 Step=100 "
			 "Loss=6.87500 Rate=258.47 GlobalRate=258.47");
	while (done < bytes) {
		size_t len = LINE * LINES;

		if ((long)len > bytes - done)
			len = (size_t)(bytes - done);
		if (write(STDOUT_FILENO, block, len) != (ssize_t)len)
			return 1;
		done += (long)len;
	}
	wait_for_others();
	return 0;
}
