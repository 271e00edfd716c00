/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/api/exec_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/file.h"
#include "core/process/process.h"

#define TIME_MAX_MS 60000
#define TIME_MAX_S 3600
#define OUTPUT_MAX (256u << 10)
#define GROUP "client.authentication.k8s.io/"

extern char **environ;

static const char *command_of(const struct kubeconfig *config)
{
	return json_get_text(config->exec, "command", "");
}

static const char *version_of(const struct kubeconfig *config)
{
	return json_get_text(config->exec, "apiVersion", "");
}

static int check(const struct kubeconfig *config, struct error *err)
{
	if (!*command_of(config))
		return error_set(err, ERROR_INVALID,
				 "the exec plugin of the kubeconfig has no "
				 "command");
	if (strcmp(version_of(config), GROUP "v1") != 0 &&
	    strcmp(version_of(config), GROUP "v1beta1") != 0)
		return error_set(err, ERROR_INVALID,
				 "the exec plugin '%s' has the version '%s', "
				 "not " GROUP "v1 or v1beta1",
				 command_of(config), version_of(config));
	if (!strcmp(json_get_text(config->exec, "interactiveMode", ""),
		    "Always"))
		return error_set(err, ERROR_DENIED,
				 "the exec plugin '%s' wants to ask on a "
				 "terminal, which jobrun does not allow: log "
				 "in with it first",
				 command_of(config));
	return 0;
}

/* Returns KUBERNETES_EXEC_INFO, which tells the plugin what is requested. */
static char *exec_info(const struct kubeconfig *config)
{
	json_t *info = json_object(), *spec = json_object();
	json_t *cluster;
	char *out;

	json_put_text(info, "apiVersion", version_of(config));
	json_put_text(info, "kind", "ExecCredential");
	json_put(spec, "interactive", json_false());
	if (!strcmp(json_get_text(config->exec, "provideClusterInfo", ""),
		    "true")) {
		cluster = json_object();
		json_put_text(cluster, "server", config->server);
		json_object_set(cluster, "certificate-authority-data",
				json_object_get(config->cluster,
						"certificate-authority-data"));
		json_put(spec, "cluster", cluster);
	}
	json_put(info, "spec", spec);
	out = json_dumps(info, JSON_COMPACT);
	json_decref(info);
	return out;
}

/* Makes the environment: ours, the file's additions, and KUBERNETES_EXEC_INFO.
 * Strings before `first` are borrowed. */
static char **make_environment(const struct kubeconfig *config, size_t *first)
{
	const json_t *more = json_object_get(config->exec, "env"), *one;
	size_t n = 0, i;
	char *info = exec_info(config);
	char **out;

	while (environ[n])
		n++;
	out = mem_alloc((n + json_array_size(more) + 2) * sizeof(*out));
	memcpy(out, environ, n * sizeof(*out));
	*first = n;
	json_array_foreach(more, i, one)
	{
		out[n++] = mem_printf("%s=%s", json_get_text(one, "name", ""),
				      json_get_text(one, "value", ""));
	}
	out[n] = mem_printf("KUBERNETES_EXEC_INFO=%s", info);
	free(info);
	return out;
}

static char **make_arguments(const struct kubeconfig *config)
{
	const json_t *args = json_object_get(config->exec, "args"), *one;
	char **out = mem_alloc((json_array_size(args) + 2) * sizeof(*out));
	size_t i;

	out[0] = (char *)command_of(config);
	json_array_foreach(args, i, one) out[i + 1] =
		(char *)json_string_value(one);
	return out;
}

/* Returns the time limit; a plugin that queries a slow directory may be given
 * more. */
static int64_t time_max_ms(void)
{
	const char *text = getenv("JOBRUN_EXEC_TIMEOUT");
	long given = text ? strtol(text, NULL, 10) : 0;

	return given > 0 && given <= TIME_MAX_S ? given * 1000 : TIME_MAX_MS;
}

/* Reads all output until the plugin closes it; returns 1 if that takes too
 * long. */
static int read_output(int fd, int64_t until, struct buf *out)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	buf_reserve(out, OUTPUT_MAX);
	for (;;) {
		int64_t left = until - time_monotonic_ms();
		ssize_t n;

		if (left <= 0 || out->len >= OUTPUT_MAX)
			return 1;
		if (poll(&wait, 1, (int)left) <= 0)
			continue;
		n = read(fd, buf_reserve(out, 1), OUTPUT_MAX - out->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		out->len += (size_t)n;
	}
}

static int run(const struct kubeconfig *config, struct buf *out,
	       struct error *err)
{
	struct process_start start = { .directory = "/" };
	const char *hint = json_get_text(config->exec, "installHint", "");
	size_t first, i;
	char **env = make_environment(config, &first);
	char **argv = make_arguments(config);
	char *path, *folder = path_absolute(config->exec_folder);
	char ended[64], cwd[4096];
	struct rlimit files;
	int status = 0, ends[2], ret = -1;
	int64_t until;
	bool late;
	pid_t pid;

	/* A path is relative to the kubeconfig, a plain name is searched in
	 * PATH. */
	path = process_find(command_of(config), folder, env, err);
	if (!path) {
		if (*hint)
			error_prefix(err, "%s", hint);
		goto out;
	}
	if (pipe2(ends, O_CLOEXEC) < 0) {
		error_errno(err, "cannot run '%s'", command_of(config));
		goto out;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	start.no_files = &files;
	start.path = path;
	start.argv = argv;
	start.envp = env;
	start.directory = getcwd(cwd, sizeof(cwd)) ? cwd : "/";
	start.out = ends[1];
	start.err = STDERR_FILENO;
	until = time_monotonic_ms() + time_max_ms();
	pid = process_start(&start, err);
	close(ends[1]);
	if (pid > 0) {
		late = read_output(ends[0], until, out) == 1;
		/* Wait for the end of the process, as it may close its output
		 * earlier. */
		if (!process_end(pid, late ? 0 : until, &status))
			late = true;
		process_status_format(status, ended, sizeof(ended));
		if (late)
			error_set(err, ERROR_DENIED,
				  "the exec plugin '%s' took more than %d s",
				  command_of(config),
				  (int)(time_max_ms() / 1000));
		else if (status)
			error_set(err, ERROR_DENIED, "the exec plugin '%s' %s",
				  command_of(config), ended);
		else
			ret = 0;
	}
	close(ends[0]);
out:
	for (i = first; env[i]; i++)
		free(env[i]);
	free(env);
	free(argv);
	free(path);
	free(folder);
	return ret;
}

static char *copy_text(const json_t *from, const char *key)
{
	const char *text = json_get_text(from, key, "");

	return *text ? mem_strdup(text) : NULL;
}

int exec_plugin_run(const struct kubeconfig *config,
		    struct exec_credential *out, struct error *err)
{
	struct exec_credential found = { 0 };
	struct buf text = { 0 };
	const json_t *status;
	json_t *value = NULL;
	struct error ignored;
	int64_t ends_ms;
	int ret = -1;

	if (check(config, err) < 0 || run(config, &text, err) < 0)
		goto out;
	/* The plugin's output may hold a secret: keep it out of messages. */
	value = json_read(buf_text(&text), text.len, "plugin", &ignored);
	status = json_object_get(value, "status");
	found.token = copy_text(status, "token");
	found.certificate = copy_text(status, "clientCertificateData");
	found.key = copy_text(status, "clientKeyData");
	ends_ms = time_parse(json_get_text(status, "expirationTimestamp", ""));
	found.ends_ms = ends_ms > 0 ? ends_ms : 0;
	if (strcmp(json_get_text(value, "kind", ""), "ExecCredential") != 0 ||
	    (!found.token && !(found.certificate && found.key))) {
		error_set(err, ERROR_DENIED,
			  "the exec plugin '%s' gave no ExecCredential with a "
			  "token or a certificate",
			  command_of(config));
		exec_credential_done(&found);
		goto out;
	}
	*out = found;
	ret = 0;
out:
	if (text.data)
		explicit_bzero(text.data, text.size);
	buf_done(&text);
	json_decref(value);
	return ret;
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void exec_credential_done(struct exec_credential *credential)
{
	wipe(credential->token);
	wipe(credential->key);
	free(credential->certificate);
	*credential = (struct exec_credential){ 0 };
}
