/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of ssh to a VM that only Identity-Aware Proxy reaches, on
 * standard input and output; not for users. */
#include "providers/google/iap_command.h"

#include <unistd.h>

#include "core/base/units.h"
#include "core/provider/provider.h"
#include "core/ssh/ssh.h"
#include "providers/google/iap.h"

static int tunnel(const char *trace_http, const struct iap_target *target,
		  struct error *err)
{
	const struct http_options options = { .trace = trace_http };
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

static int run(const void *opts, char *const *args,
	       const struct provider_env *env, struct buf *out,
	       struct error *err)
{
	struct iap_target target = { 0 };
	struct arena *mem = arena_new();
	int ret = -1;

	(void)opts;
	(void)out;
	if (iap_host_parse(args[0], mem, &target, err) == 0 &&
	    number_parse(args[1], 1, 65535, &target.port, err) == 0)
		ret = tunnel(env->trace_http, &target, err);
	arena_free(mem);
	/* ssh hands on what it says, not its status. */
	return ret < 0 && err->code == ERROR_DENIED
		       ? error_prefix(err, SSH_PROXY_DENIED)
		       : ret;
}

static const struct provider_command iap_tunnel_command = {
	.name = IAP_COMMAND,
	.args = "HOST PORT",
	.summary = "connect to a VM through Identity-Aware Proxy; called by "
		   "ssh",
	.arg_count = 2,
	.remote = true,
	.run = run,
};

const struct provider_command *const iap_commands[] = {
	&iap_tunnel_command,
	NULL,
};
