/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/jobrun-host/agent.h"
#include "core/base/file.h"
#include "core/container/container.h"
#include "core/device/look.h"
#include "core/enter/enter.h"
#include "core/process/process.h"

/* For core/device/look.h. */
static int list_devices(void)
{
	struct buf out = { 0 };
	struct error err;
	int ret = devices_tell(&out, &err);

	if (ret < 0)
		fprintf(stderr, "%s\n", err.text);
	else if (fd_write(STDOUT_FILENO, out.data, out.len) < 0)
		ret = -1;
	buf_done(&out);
	return ret < 0;
}

int main(int argc, char **argv)
{
	struct enter_target target;
	struct error err;
	int status = -1;

	umask(077);
	process_without_core();
	if ((argc == 2 || argc == 3) && !strcmp(argv[1], "connect"))
		return connect_main(argv[2]);
	if (argc == 2 && !strcmp(argv[1], LOOK_COMMAND))
		return list_devices();
	if (argc > 2 && !strcmp(argv[1], CONTAINER_COMMAND)) {
		container_exec(argc - 2, argv + 2, &err);
		fprintf(stderr, "jobrun: %s\n", err.text);
		return 65;
	}
	if (argc > 4 && !strcmp(argv[1], ENTER_COMMAND) &&
	    !strcmp(argv[3], "--")) {
		if (enter_target_parse(argv[2], &target, &err) == 0)
			status = enter_attended(&target, argv + 4, &err);
		if (status >= 0)
			return status;
		fprintf(stderr, "jobrun: error: %s\n", err.text);
		return 1;
	}
	fprintf(stderr, "This is the part of jobrun that it puts on other "
			"machines; it is of no use by hand.\n");
	return 64;
}
