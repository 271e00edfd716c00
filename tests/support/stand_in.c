/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/stand_in.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/net/http.h"

const char *stand_in_file(const struct stand_in *one, const char *name)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s", one->folder, name);
	return path;
}

static void make_certificate(const struct stand_in *one)
{
	char *command = mem_printf(
		"openssl req -x509 -newkey rsa:2048 -nodes -days 2 "
		"-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 "
		"-keyout %s/key.pem -out %s/cert.pem 2>/dev/null",
		one->folder, one->folder);

	assert_int_equal(system(command), 0);
	free(command);
}

static void run_server(const struct stand_in *one, const char *service,
		       int input, int tls)
{
	char *server = mem_printf("tests/stand-ins/%s/server.py", service);
	char *port = mem_strdup(stand_in_file(one, "port"));
	char *cert = mem_strdup(stand_in_file(one, "cert.pem"));
	char *key = mem_strdup(stand_in_file(one, "key.pem"));

	dup2(input, STDIN_FILENO);
	execlp("python3", "python3", server, "--port-file", port,
	       "--credentials", one->folder, tls ? "--tls" : NULL, cert, key,
	       strcmp(service, "kubernetes") ? NULL : "--client-ca", cert,
	       NULL);
	_exit(127);
}

void stand_in_start(struct stand_in *one, int tls)
{
	stand_in_start_service(one, "google", tls);
}

void stand_in_start_service(struct stand_in *one, const char *service, int tls)
{
	int64_t until = time_monotonic_ms() + 60000;
	struct error err;
	char *text = NULL;
	int ends[2];
	size_t len;

	setenv("JOBRUN_LOOK_MS", "20", 0);
	strcpy(one->folder, "/tmp/stand-in.XXXXXX");
	assert_non_null(mkdtemp(one->folder));
	if (tls)
		make_certificate(one);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	one->pid = fork();
	assert_true(one->pid >= 0);
	if (one->pid == 0)
		run_server(one, service, ends[0], tls);
	close(ends[0]);
	one->input = ends[1];
	while (access(stand_in_file(one, "port"), F_OK) < 0) {
		assert_int_equal(waitpid(one->pid, NULL, WNOHANG), 0);
		assert_true(time_monotonic_ms() < until);
		usleep(20000);
	}
	text = file_read(stand_in_file(one, "port"), 100, &len, &err);
	assert_non_null(text);
	one->port = atoi(text);
	snprintf(one->base, sizeof(one->base), "%s://127.0.0.1:%d",
		 tls ? "https" : "http", one->port);
	free(text);
}

void stand_in_stop(struct stand_in *one)
{
	struct error err;

	close(one->input);
	waitpid(one->pid, NULL, 0);
	folder_remove(one->folder, &err);
}

static void talk(const struct stand_in *one, const char *method,
		 const char *what, const char *body, struct http_response *out)
{
	char *url = mem_printf("%s/_/%s", one->base, what);
	char *ca = mem_strdup(stand_in_file(one, "cert.pem"));
	const struct http_request request = {
		.method = method,
		.url = url,
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.flags = HTTP_REPEATABLE,
	};
	struct http_options options = { .trace = "" };
	struct http *http;
	struct error err;

	if (access(ca, F_OK) == 0)
		setenv("CURL_CA_BUNDLE", ca, 1);
	http = http_new(&options, &err);
	assert_non_null(http);
	if (http_do(http, &request, out, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(out->status, 200);
	http_free(http);
	free(ca);
	free(url);
}

void stand_in_tell(const struct stand_in *one, const char *what,
		   const char *json)
{
	struct http_response answer = { 0 };
	char *body = mem_strdup(json);
	char *quote;

	while ((quote = strchr(body, '\'')))
		*quote = '"';
	talk(one, "POST", what, body, &answer);
	http_response_done(&answer);
	free(body);
}

json_t *stand_in_ask(const struct stand_in *one, const char *what)
{
	struct http_response answer = { 0 };
	struct error err;
	json_t *out;

	talk(one, "GET", what, NULL, &answer);
	out = json_read(answer.body.data, answer.body.len, what, &err);
	assert_non_null(out);
	http_response_done(&answer);
	return out;
}

size_t stand_in_count(const struct stand_in *one, const char *path)
{
	json_t *requests = stand_in_ask(one, "requests"), *request;
	size_t i, n = 0;

	json_array_foreach(requests, i, request) n +=
		text_starts(json_get_text(request, "path", ""), path);
	json_decref(requests);
	return n;
}
