/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/base64.h"
#include "core/base/file.h"
#include "providers/kubernetes/api/apiserver.h"
#include "providers/kubernetes/api/kubeconfig.h"
#include "schema/read/yaml_read.h"
#include "tests/support/stand_in.h"

struct scene {
	char folder[64];
	struct kubeconfig config;
	struct kubeconfig_choice choice;
	struct error err;
};

static int start(void **state)
{
	struct scene *s = mem_alloc(sizeof(*s));

	strcpy(s->folder, "/tmp/kubeconfig.XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	setenv("HOME", s->folder, 1);
	unsetenv("KUBECONFIG");
	unsetenv("KUBERNETES_SERVICE_HOST");
	*state = s;
	return 0;
}

static int stop(void **state)
{
	struct scene *s = *state;

	kubeconfig_done(&s->config);
	folder_remove(s->folder, &s->err);
	unsetenv("KUBECONFIG");
	free(s);
	return 0;
}

static const char *in_folder(const struct scene *s, const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", s->folder, name);
	return path;
}

static void write_file(struct scene *s, const char *name, const char *text)
{
	char *path = mem_strdup(in_folder(s, name));
	char *folder = path_folder(path);

	assert_int_equal(folder_make(folder, &s->err), 0);
	assert_int_equal(file_write(path, text, strlen(text), &s->err), 0);
	free(folder);
	free(path);
}

static int read_config(struct scene *s)
{
	kubeconfig_done(&s->config);
	return kubeconfig_read(&s->choice, yaml_read, &s->config, &s->err);
}

#define CLUSTERS                                                               \
	"clusters:\n- name: c\n  cluster: {server: \"https://a:6443/\"}\n"
#define CONTEXTS "contexts:\n- name: x\n  context: {cluster: c, user: u}\n"

static void of_several_files_the_first_counts(void **state)
{
	struct scene *s = *state;
	char *all;

	write_file(s, "a/one",
		   "current-context: x\n"
		   "contexts:\n- name: x\n  context: {cluster: c, user: u, "
		   "namespace: ml}\n"
		   "users:\n- name: u\n  user: {tokenFile: t}\n");
	write_file(s, "b/two",
		   "current-context: y\n" CLUSTERS
		   "users:\n- name: u\n  user: {token: other}\n"
		   "contexts:\n- name: y\n  context: {cluster: c}\n");
	all = mem_printf("%s/a/one:%s/nowhere:%s/b/two", s->folder, s->folder,
			 s->folder);
	setenv("KUBECONFIG", all, 1);
	free(all);
	assert_true(kubeconfig_is_there(&s->choice));
	assert_int_equal(read_config(s), 0);
	assert_string_equal(s->config.context, "x");
	assert_string_equal(s->config.server, "https://a:6443");
	assert_string_equal(s->config.name_space, "ml");
	assert_string_equal(s->config.token_file, in_folder(s, "a/t"));
	assert_null(s->config.token);
	s->choice.context = "y";
	assert_int_equal(read_config(s), 0);
	assert_string_equal(s->config.name_space, "default");
	assert_null(s->config.token_file);
}

static void certificates_are_data_or_files(void **state)
{
	struct scene *s = *state;

	write_file(s, "ca.pem", "the CA\n");
	write_file(s, ".kube/config",
		   "current-context: x\n" CONTEXTS
		   "clusters:\n- name: c\n  cluster:\n    server: https://a\n"
		   "    certificate-authority: ../ca.pem\n"
		   "    proxy-url: http://proxy:3128\n"
		   "users:\n- name: u\n  user:\n"
		   "    client-certificate-data: Y2VydA==\n"
		   "    client-key-data: a2V5\n");
	assert_int_equal(read_config(s), 0);
	assert_string_equal(s->config.ca, "the CA\n");
	assert_string_equal(s->config.certificate, "cert");
	assert_string_equal(s->config.key, "key");
	assert_string_equal(s->config.proxy, "http://proxy:3128");
}

static void what_is_not_done_is_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "clusters: [1, 2]\ncurrent-context: x\n",
		  "the kubeconfig has no context 'x'" },
		{ CONTEXTS, "the kubeconfig has no current context: set "
			    "jobrun.kubernetes.context, or 'kubectl config "
			    "use-context'" },
		{ "current-context: x\n" CONTEXTS "clusters:\n- name: c\n"
		  "  cluster: {server: https://a, "
		  "insecure-skip-tls-verify: true}\n",
		  "cluster 'c' has insecure-skip-tls-verify, but jobrun always "
		  "verifies: put the cluster's certificate into "
		  "certificate-authority-data" },
		{ "current-context: x\n" CONTEXTS CLUSTERS
		  "users:\n- name: u\n  user: {username: a, password: b}\n",
		  "user 'u' of the kubeconfig has 'username': "
		  "Kubernetes has no passwords since 1.19: use a certificate, "
		  "a token or an exec plugin" },
		{ "current-context: x\n" CONTEXTS CLUSTERS
		  "users:\n- name: u\n  user: {as-groups: [a], token: t}\n",
		  "user 'u': 'as-groups' and 'as-uid' need 'as'" },
		{ "current-context: x\n" CONTEXTS CLUSTERS
		  "users:\n- name: u\n  user: {client-key-data: a2V5}\n",
		  "user 'u' of the kubeconfig has a client key without the "
		  "other" },
		{ "current-context: x\n" CONTEXTS CLUSTERS
		  "users:\n- name: u\n  user: {client-key-data: \"*\"}\n",
		  "user 'u': client-key-data of the kubeconfig is not base "
		  "64" },
	};
	struct scene *s = *state;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		write_file(s, ".kube/config", cases[i].text);
		assert_int_equal(read_config(s), -1);
		assert_string_equal(s->err.text, cases[i].why);
	}
	write_file(s, ".kube/config", "a: [\n");
	assert_int_equal(read_config(s), -1);
	assert_non_null(strstr(s->err.text, ".kube/config', line 2: "));
}

static void a_pod_has_its_service_account(void **state)
{
	struct scene *s = *state;

	s->choice.service_account = s->folder;
	assert_false(kubeconfig_is_there(&s->choice));
	assert_int_equal(read_config(s), -1);
	assert_int_equal(s->err.code, ERROR_NO_CLUSTER);
	setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
	setenv("KUBERNETES_SERVICE_PORT", "443", 1);
	write_file(s, "token", "t");
	write_file(s, "ca.crt", "the CA");
	write_file(s, "namespace", "team");
	assert_true(kubeconfig_is_there(&s->choice));
	assert_int_equal(read_config(s), 0);
	assert_string_equal(s->config.server, "https://[fd00::1]:443");
	assert_string_equal(s->config.ca, "the CA");
	assert_string_equal(s->config.name_space, "team");
	assert_string_equal(s->config.token_file, in_folder(s, "token"));
}

static void base64_is_read_back(void **state)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
		{ "", "" },        { "YQ==", "a" },      { "YWI=", "ab" },
		{ "YWJj", "abc" }, { "YW\nJj ", "abc" }, { "YWJ", NULL },
		{ "YWJj=", NULL }, { "Y", NULL },        { "YQ=a", NULL },
		{ "YW*j", NULL },  { "====", NULL },     { "YWJjZA==", "abcd" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct buf out = { 0 };
		bool good = base64_decode(&out, cases[i].text,
					  strlen(cases[i].text));

		assert_int_equal(good, cases[i].plain != NULL);
		if (good)
			assert_string_equal(buf_text(&out), cases[i].plain);
		buf_done(&out);
	}
}

/* ---- with a server ----------------------------------------------------- */

static int get_version(struct apiserver *api, struct error *err)
{
	const struct apiserver_request request = { .method = "GET",
						   .path = "/version" };
	struct apiserver_answer answer = { 0 };
	int ret = apiserver_call(api, &request, &answer, err);

	apiserver_answer_done(&answer);
	return ret;
}

/* Writes a kubeconfig whose user is `user`. */
static void write_for(struct scene *s, const struct stand_in *server,
		      const char *user)
{
	char *text = mem_printf("current-context: x\n" CONTEXTS
				"clusters:\n- name: c\n  cluster: {server: "
				"\"%s\", certificate-authority: \"%s\"}\n"
				"users:\n- name: u\n  user: %s\n",
				server->base, stand_in_file(server, "cert.pem"),
				user);

	write_file(s, ".kube/config", text);
	free(text);
}

/* A plugin that gives token-1, token-2 and so on, and counts its calls. */
#define PLUGIN                                                                 \
	"#!/bin/sh\ncd \"$(dirname \"$0\")\"\n"                                \
	"case $KUBERNETES_EXEC_INFO in *'\"interactive\":false'*) ;; "         \
	"*) exit 9;; esac\n"                                                   \
	"echo x >>asked\nn=$(wc -l <asked)\n"                                  \
	"echo \"{\\\"apiVersion\\\": \\\"client.authentication.k8s.io/v1\\\"," \
	" \\\"kind\\\": \\\"ExecCredential\\\", \\\"status\\\": "              \
	"{\\\"token\\\": \\\"$1-$((n))\\\", \\\"expirationTimestamp\\\": "     \
	"\\\"2999-01-01T00:00:00Z\\\"}}\"\n"

static void plugins_are_asked_when_needed(struct scene *s,
					  const struct stand_in *server)
{
	struct apiserver *api;
	char *asked;
	size_t len;

	write_file(s, ".kube/plugin", PLUGIN);
	assert_int_equal(chmod(in_folder(s, ".kube/plugin"), 0700), 0);
	write_for(s, server,
		  "{exec: {apiVersion: client.authentication.k8s.io/v1, "
		  "command: ./plugin, args: [token], interactiveMode: Never, "
		  "env: [{name: A, value: b}]}}");
	stand_in_tell(server, "state", "{'tokens': ['token-1']}");
	api = apiserver_open(&s->choice, yaml_read, "", &s->err);
	if (!api)
		fail_msg("%s", s->err.text);
	assert_int_equal(get_version(api, &s->err), 0);
	assert_int_equal(get_version(api, &s->err), 0);
	/* A token is kept until it ends or is refused. */
	stand_in_tell(server, "state", "{'tokens': ['token-2']}");
	assert_int_equal(get_version(api, &s->err), 0);
	stand_in_tell(server, "state", "{'tokens': ['none']}");
	assert_int_equal(get_version(api, &s->err), -1);
	assert_int_equal(s->err.code, ERROR_DENIED);
	assert_null(strstr(s->err.text, "token-"));
	asked = file_read(in_folder(s, ".kube/asked"), 100, &len, &s->err);
	assert_string_equal(asked, "x\nx\nx\n");
	free(asked);
	apiserver_close(api);
}

static void plugins_that_fail_are_named(struct scene *s,
					const struct stand_in *server)
{
	static const struct {
		const char *script, *why;
	} cases[] = {
		{ "#!/bin/sh\nexit 3\n",
		  "the exec plugin './plugin' exited with 3" },
		{ "#!/bin/sh\necho secret-garbage\n",
		  "the exec plugin './plugin' gave no ExecCredential with a "
		  "token or a certificate" },
	};
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		write_file(s, ".kube/plugin", cases[i].script);
		assert_int_equal(chmod(in_folder(s, ".kube/plugin"), 0700), 0);
		write_for(s, server,
			  "{exec: {apiVersion: "
			  "client.authentication.k8s.io/v1, command: "
			  "./plugin}}");
		assert_null(apiserver_open(&s->choice, yaml_read, "", &s->err));
		assert_string_equal(s->err.text, cases[i].why);
		assert_int_equal(s->err.code, ERROR_DENIED);
	}
}

/* The server's certificate is its own authority, and the client's, too. */
static void servers_are_verified_and_clients_known(void **state)
{
	struct scene *s = *state;
	struct stand_in server;
	struct apiserver *api;
	char *user;

	stand_in_start_service(&server, "kubernetes", 1);
	user = mem_printf("{client-certificate: \"%s/cert.pem\", client-key: "
			  "\"%s/key.pem\"}",
			  server.folder, server.folder);
	write_for(s, &server, user);
	api = apiserver_open(&s->choice, yaml_read, "", &s->err);
	assert_non_null(api);
	if (get_version(api, &s->err) < 0)
		fail_msg("%s", s->err.text);
	apiserver_close(api);
	plugins_are_asked_when_needed(s, &server);
	plugins_that_fail_are_named(s, &server);
	/* Only the authority that the file names is trusted. */
	unsetenv("CURL_CA_BUNDLE");
	write_for(s, &server, "{token: t}");
	s->choice.file = in_folder(s, "other");
	{
		char *text = mem_printf(
			"current-context: x\n" CONTEXTS "users: [{name: u, "
			"user: {token: t}}]\nclusters:\n- name: c\n  cluster: "
			"{server: \"%s\"}\n",
			server.base);

		write_file(s, "other", text);
		free(text);
	}
	s->choice.file = in_folder(s, "other");
	api = apiserver_open(&s->choice, yaml_read, "", &s->err);
	assert_non_null(api);
	assert_int_equal(get_version(api, &s->err), -1);
	assert_non_null(strstr(s->err.text, "cannot be trusted"));
	apiserver_close(api);
	free(user);
	stand_in_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_is_read_back),
		cmocka_unit_test_setup_teardown(
			of_several_files_the_first_counts, start, stop),
		cmocka_unit_test_setup_teardown(certificates_are_data_or_files,
						start, stop),
		cmocka_unit_test_setup_teardown(what_is_not_done_is_refused,
						start, stop),
		cmocka_unit_test_setup_teardown(a_pod_has_its_service_account,
						start, stop),
		cmocka_unit_test_setup_teardown(
			servers_are_verified_and_clients_known, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
