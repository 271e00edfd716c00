/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task that only writes: lines MB.  Lines of a hundred bytes, in writes of
 * 64 kB as a buffered trainer's are; each line has its number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE 100
#define LINES 640

int main(int argc, char **argv)
{
	long bytes = argc > 1 ? atol(argv[1]) * 1000000 : 0;
	static char block[LINE * LINES + 1];
	long done = 0;

	while (done < bytes) {
		size_t len = sizeof(block) - 1;

		for (int i = 0; i < LINES && !done; i++)
			snprintf(block + i * LINE, LINE + 1, "%-99s\n",
				 "Training Device=xla:0/14 Epoch=1 Step=100 "
				 "Loss=6.87500 Rate=258.47");
		if ((long)len > bytes - done)
			len = (size_t)(bytes - done);
		if (write(STDOUT_FILENO, block, len) != (ssize_t)len)
			return 1;
		done += (long)len;
	}
	return 0;
}
