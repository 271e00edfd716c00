/* SPDX-License-Identifier: Apache-2.0 */
/* ssh's way to a VM that only Identity-Aware Proxy reaches: standard input and
 * output are the connection; not for users. */
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "core/base/units.h"
#include "providers/google/iap.h"

static int tunnel(const struct app *app, const struct iap_target *target,
		  struct error *err)
{
	const struct http_options options = { .trace = app->trace_http };
	struct http *http = http_new(&options, err);
	struct google *google;
	int ret;

	if (!http)
		return -1;
	google = google_open(http);
	ret = iap_tunnel(google, target, STDIN_FILENO, STDOUT_FILENO, err);
	google_close(google);
	http_free(http);
	return ret;
}

static int run(struct app *app, int argc, char **argv)
{
	struct iap_target target = { 0 };
	struct arena *mem;
	struct error err;
	int first, status = 0;

	first = options_parse(app, &cmd_iap_tunnel, argc, argv, NULL, 2, 2,
			      &status);
	if (first < 0)
		return status;
	mem = arena_new();
	if (iap_host_parse(argv[first], mem, &target, &err) < 0 ||
	    number_parse(argv[first + 1], 1, 65535, &target.port, &err) < 0 ||
	    tunnel(app, &target, &err) < 0)
		status = app_fail(app, &err);
	arena_free(mem);
	return status;
}

const struct command cmd_iap_tunnel = {
	.name = IAP_COMMAND,
	.args = "HOST PORT",
	.summary = "connect to a VM through Identity-Aware Proxy; called by "
		   "ssh",
	.hidden = true,
	.remote = true,
	.run = run,
};
