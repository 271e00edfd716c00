/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/google/api.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/base/gcloud.h"
#include "providers/google/base/metadata.h"
#include "providers/google/operation.h"
#include "providers/google/google_place.h"
#include "providers/google/tpu/tpu.h"
#include "providers/google/auth/login.h"
#include "tests/support/stand_in.h"

struct fixture {
	struct stand_in server;
	struct http *http;
	struct google *google;
	struct arena *mem;
	struct error err;
	struct buf texts; /* all errors and descriptions so far */
};

/* Variables that may be set on the machine running the tests. */
static const char *const variables[] = {
	"CLOUDSDK_AUTH_ACCESS_TOKEN",
	"GOOGLE_OAUTH_ACCESS_TOKEN",
	"GOOGLE_APPLICATION_CREDENTIALS",
	"GOOGLE_CLOUD_PROJECT",
	"GCLOUD_PROJECT",
	"CLOUDSDK_CORE_PROJECT",
	"CLOUDSDK_COMPUTE_ZONE",
	"CLOUDSDK_COMPUTE_REGION",
	"CLOUDSDK_ACTIVE_CONFIG_NAME",
	"GOOGLE_CLOUD_QUOTA_PROJECT",
	"ACTIONS_ID_TOKEN_REQUEST_URL",
	"ACTIONS_ID_TOKEN_REQUEST_TOKEN",
	"GCE_METADATA_HOST",
	"GCE_METADATA_IP",
	"CURL_CA_BUNDLE",
	"STORAGE_EMULATOR_HOST",
};

static void clear_environment(void)
{
	size_t i;

	for (i = 0; i < COUNT(variables); i++)
		unsetenv(variables[i]);
	setenv("NO_GCE_CHECK", "true", 1);
}

static int start(void **state)
{
	static const struct retry_policy quick = {
		.first_ms = 10,
		.max_ms = 40,
		.total_ms = 20000,
	};
	struct fixture *f = mem_alloc(sizeof(*f));
	struct http_options options = { .retry = &quick };
	char url[80];

	clear_environment();
	stand_in_start(&f->server, 0);
	options.trace = mem_strdup(stand_in_file(&f->server, "trace"));
	f->http = http_new(&options, &f->err);
	assert_non_null(f->http);
	free((char *)options.trace);
	f->google = google_open(f->http);
	f->mem = arena_new();
	snprintf(url, sizeof(url), "%s/tpu/", f->server.base);
	setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU", url, 1);
	setenv("CLOUDSDK_CONFIG", stand_in_file(&f->server, "gcloud"), 1);
	*state = f;
	return 0;
}

static void says(struct fixture *f, const char *text)
{
	buf_puts(&f->texts, text);
}

/* Checks that no output contains a secret. */
static void nothing_is_shown(struct fixture *f)
{
	json_t *secrets = stand_in_ask(&f->server, "secrets"), *secret;
	json_t *wrong = stand_in_ask(&f->server, "wrong");
	struct error err;
	size_t i, len;
	char *text = file_read(stand_in_file(&f->server, "trace"), 1 << 24,
			       &len, &err);

	assert_int_equal(json_array_size(wrong), 0);
	assert_true(json_array_size(secrets) > 20);
	json_array_foreach(secrets, i, secret)
	{
		const char *one = json_string_value(secret);

		assert_non_null(text);
		if (strstr(text, one) || strstr(buf_text(&f->texts), one))
			fail_msg("shown: %s", one);
	}
	json_decref(wrong);
	json_decref(secrets);
	free(text);
}

static int stop(void **state)
{
	struct fixture *f = *state;

	nothing_is_shown(f);
	buf_done(&f->texts);
	arena_free(f->mem);
	google_close(f->google);
	http_free(f->http);
	stand_in_stop(&f->server);
	clear_environment();
	unsetenv("NO_GCE_CHECK");
	unsetenv("CLOUDSDK_CONFIG");
	unsetenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU");
	free(f);
	return 0;
}

/* Opens the service again, as another process would. */
static void reopen(struct fixture *f)
{
	google_close(f->google);
	f->google = google_open(f->http);
}

static void use_file(struct fixture *f, const char *name)
{
	setenv("GOOGLE_APPLICATION_CREDENTIALS",
	       stand_in_file(&f->server, name), 1);
	reopen(f);
}

static int look(struct fixture *f, struct tpu_node *node)
{
	int ret = tpu_node_get(f->google, TPU_API_V2, "p", "us-central2-b", "n",
			       f->mem, node, &f->err);

	if (ret < 0)
		says(f, f->err.text);
	return ret;
}

static void one_node(struct fixture *f)
{
	stand_in_tell(&f->server, "state", "{'tpu':{'us-central2-b/n':{}}}");
}

static void each_kind_of_credentials_works(void **state)
{
	static const struct {
		const char *file;
		const char *text;
	} cases[] = {
		{ "service_account.json",
		  "service account trainer@proj-1.iam.gserviceaccount.com, "
		  "from GOOGLE_APPLICATION_CREDENTIALS (" },
		{ "authorized_user.json", "a user's login, from " },
		{ "external_file.json", "workload identity of a file, from " },
		{ "external_url.json",
		  "workload identity of a URL, as "
		  "deployer@proj-1.iam.gserviceaccount.com, from " },
		{ "external_github.json",
		  "workload identity of GitHub Actions, from " },
		{ "impersonated.json",
		  "a user's login, as "
		  "deployer@proj-1.iam.gserviceaccount.com, from " },
	};
	struct fixture *f = *state;
	struct tpu_node node;
	char line[300], *value;
	FILE *env;
	size_t i;

	env = fopen(stand_in_file(&f->server, "github.env"), "r");
	while (fgets(line, sizeof(line), env)) {
		line[strcspn(line, "\n")] = '\0';
		value = strchr(line, '=');
		*value = '\0';
		setenv(line, value + 1, 1);
	}
	fclose(env);
	one_node(f);
	for (i = 0; i < COUNT(cases); i++) {
		use_file(f, cases[i].file);
		if (look(f, &node) < 0)
			fail_msg("%s: %s", cases[i].file, f->err.text);
		assert_string_equal(node.state, "READY");
		value = (char *)credentials_text(
			google_credentials(f->google, &f->err));
		says(f, value);
		if (!text_starts(value, cases[i].text))
			fail_msg("%s", value);
	}
}

static void a_machine_has_credentials(void **state)
{
	struct fixture *f = *state;
	struct google_place place;
	struct tpu_node node;
	char host[64];

	snprintf(host, sizeof(host), "127.0.0.1:%d", f->server.port);
	setenv("GCE_METADATA_HOST", host, 1);
	unsetenv("NO_GCE_CHECK");
	one_node(f);
	assert_int_equal(look(f, &node), 0);
	assert_string_equal(
		credentials_text(google_credentials(f->google, &f->err)),
		"this machine's service account, from the "
		"metadata server");
	place_find(f->google, NULL, NULL, f->mem, &place);
	assert_string_equal(place.project.text, "proj-metadata");
	assert_string_equal(place.project.source, "the metadata server");
	assert_string_equal(place.zone.text, "europe-west4-a");
	assert_string_equal(place.region.text, "europe-west4");
	assert_string_equal(place.region.source,
			    "the zone (the metadata server)");

	stand_in_tell(&f->server, "state", "{'no_service_account':true}");
	reopen(f);
	assert_int_equal(look(f, &node), -1);
	assert_int_equal(f->err.code, ERROR_DENIED);
	assert_non_null(strstr(f->err.text, "has no service account"));
	/* Another web server is not the metadata server. */
	stand_in_tell(&f->server, "state", "{'no_metadata':true}");
	assert_false(metadata_detect(f->http));
}

static void metadata_is_read(void **state)
{
	struct fixture *f = *state;
	const char *value = "";
	char host[64];

	snprintf(host, sizeof(host), "127.0.0.1:%d", f->server.port);
	setenv("GCE_METADATA_HOST", host, 1);
	assert_int_equal(metadata_get(f->http,
				      "instance/attributes/accelerator-type",
				      f->mem, &value, &f->err),
			 0);
	assert_string_equal(value, "v4-16");
	assert_int_equal(metadata_get(f->http, "instance/attributes/none",
				      f->mem, &value, &f->err),
			 0);
	assert_null(value);
	stand_in_tell(&f->server, "state", "{'no_metadata':true}");
	assert_int_equal(
		metadata_get(f->http, "instance/zone", f->mem, &value, &f->err),
		-1);
	assert_non_null(strstr(f->err.text, "is not Google's metadata "
					    "server"));
}

static void a_token_from_outside_comes_first(void **state)
{
	struct fixture *f = *state;
	struct buf token = { 0 };
	struct tpu_node node;

	setenv("CLOUDSDK_AUTH_ACCESS_TOKEN", "ya29.not-good", 1);
	use_file(f, "service_account.json");
	one_node(f);
	assert_int_equal(
		credentials_token(google_credentials(f->google, &f->err),
				  &token, &f->err),
		0);
	assert_string_equal(token.data, "ya29.not-good");
	secret_done(&token);
	assert_int_equal(look(f, &node), -1);
	assert_int_equal(f->err.code, ERROR_DENIED);
	assert_string_equal(f->err.text,
			    "TPU node 'n' in us-central2-b: an access token, "
			    "from CLOUDSDK_AUTH_ACCESS_TOKEN is refused: it "
			    "has expired, or was never valid");
}

static void none_at_all_says_what_to_do(void **state)
{
	struct fixture *f = *state;

	assert_null(google_credentials(f->google, &f->err));
	assert_int_equal(f->err.code, ERROR_NO_CREDENTIALS);
	assert_string_equal(
		f->err.text,
		"no credentials for Google Cloud: run 'gcloud auth "
		"application-default login', or set "
		"GOOGLE_APPLICATION_CREDENTIALS to a credential file");
	/* Writes a trace to check. */
	one_node(f);
	use_file(f, "service_account.json");
	look(f, &(struct tpu_node){ 0 });
}

static void gclouds_file_is_found(void **state)
{
	struct fixture *f = *state;
	struct tpu_node node;
	char *path;

	setenv("CLOUDSDK_CONFIG", f->server.folder, 1);
	path = gcloud_path("application_default_credentials.json");
	assert_int_equal(
		rename(stand_in_file(&f->server, "authorized_user.json"), path),
		0);
	free(path);
	one_node(f);
	assert_int_equal(look(f, &node), 0);
	assert_string_equal(credentials_quota_project(
				    google_credentials(f->google, &f->err)),
			    "quota-1");
}

static void files_that_are_wrong_are_named(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
		{ "", "'k' is not a credential file: it is not a JSON object" },
		{ "{}", "'k' is not a credential file: it has no 'type'" },
		{ "{\"type\":\"gdch_service_account\"}",
		  "'k' is of type 'gdch_service_account'; known are "
		  "service_account, authorized_user, "
		  "external_account_authorized_user, external_account, "
		  "impersonated_service_account" },
		{ "{\"type\":\"service_account\",\"client_email\":\"a\"}",
		  "'k' has no 'private_key'" },
		{ "{\"type\":\"external_account\",\"audience\":\"a\","
		  "\"subject_token_type\":\"t\",\"token_url\":\"u\","
		  "\"credential_source\":{\"environment_id\":\"aws1\"}}",
		  "'k': only a file, a URL and GitHub Actions are taken as "
		  "the source of a token; write the token to a file, and name "
		  "that in credential_source.file" },
		{ "{\"type\":\"impersonated_service_account\","
		  "\"service_account_impersonation_url\":\"u\","
		  "\"source_credentials\":{\"type\":"
		  "\"impersonated_service_account\"}}",
		  "'k': the source of impersonation is impersonated itself; "
		  "name those between in 'delegates'" },
	};
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		assert_null(credentials_read(NULL, cases[i].text,
					     strlen(cases[i].text), "k", &err));
		assert_int_equal(err.code, ERROR_DENIED);
		assert_string_equal(err.text, cases[i].error);
	}
}

static void keys_that_are_none_are_refused(void **state)
{
	static const char file[] =
		"{\"type\":\"service_account\",\"client_email\":\"a@b\","
		"\"token_uri\":\"https://127.0.0.1:1/\",\"private_key\":"
		"\"-----BEGIN PRIVATE KEY-----\\nMIIBnothing\\n-----END "
		"PRIVATE KEY-----\\n\"}";
	struct fixture *f = *state;
	struct credentials *who =
		credentials_read(f->http, file, sizeof(file) - 1, "k", &f->err);
	struct buf token = { 0 };

	assert_non_null(who);
	assert_int_equal(credentials_token(who, &token, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_DENIED);
	assert_string_equal(f->err.text, "service account a@b, from k: the "
					 "private key is not an RSA key in "
					 "PEM");
	credentials_free(who);
	one_node(f);
	use_file(f, "service_account.json");
	look(f, &(struct tpu_node){ 0 });
}

static void refusals_do_not_repeat_what_was_sent(void **state)
{
	struct fixture *f = *state;
	struct tpu_node node;

	stand_in_tell(&f->server, "state", "{'refresh_revoked':true}");
	use_file(f, "authorized_user.json");
	assert_int_equal(look(f, &node), -1);
	assert_int_equal(f->err.code, ERROR_DENIED);
	assert_non_null(strstr(f->err.text,
			       "/oauth2/token' gives no token: 400 "
			       "invalid_grant; log in again: gcloud auth "
			       "application-default login"));
	/* Uses some tokens, for the check of all output. */
	one_node(f);
	use_file(f, "service_account.json");
	assert_int_equal(look(f, &node), 0);
}

static void tokens_are_kept_and_renewed(void **state)
{
	struct fixture *f = *state;
	struct tpu_node node;

	one_node(f);
	use_file(f, "service_account.json");
	assert_int_equal(look(f, &node), 0);
	assert_int_equal(look(f, &node), 0);
	assert_int_equal(stand_in_count(&f->server, "/oauth2/token"), 1);
	/* The service refuses the token for a reason unknown to us. */
	stand_in_tell(&f->server, "forget", "{}");
	assert_int_equal(look(f, &node), 0);
	assert_int_equal(stand_in_count(&f->server, "/oauth2/token"), 2);
	/* A token is renewed 3 minutes and 45 seconds before its end. */
	stand_in_tell(&f->server, "state", "{'token_life':224}");
	reopen(f);
	assert_int_equal(look(f, &node), 0);
	assert_int_equal(look(f, &node), 0);
	assert_int_equal(stand_in_count(&f->server, "/oauth2/token"), 4);
	stand_in_tell(&f->server, "state", "{'token_life':240}");
	reopen(f);
	assert_int_equal(look(f, &node), 0);
	assert_int_equal(look(f, &node), 0);
	assert_int_equal(stand_in_count(&f->server, "/oauth2/token"), 5);
}

static void an_old_token_serves_while_there_is_no_new_one(void **state)
{
	struct fixture *f = *state;
	struct tpu_node node;

	one_node(f);
	stand_in_tell(&f->server, "state", "{'token_life':100}");
	use_file(f, "service_account.json");
	assert_int_equal(look(f, &node), 0);
	stand_in_tell(&f->server, "faults",
		      "[{'path':'oauth2','do':'status','status':400,"
		      "'count':99}]");
	assert_int_equal(look(f, &node), 0);
}

static void *ask_token(void *arg)
{
	struct fixture *f = arg;
	struct buf token = { 0 };
	struct error err;
	intptr_t ret = credentials_token(google_credentials(f->google, &err),
					 &token, &err);

	secret_done(&token);
	return (void *)ret;
}

static void threads_share_a_token(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[12];
	size_t i;
	void *ret;

	one_node(f);
	use_file(f, "service_account.json");
	for (i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, ask_token, f);
	for (i = 0; i < COUNT(threads); i++) {
		pthread_join(threads[i], &ret);
		assert_null(ret);
	}
	assert_int_equal(stand_in_count(&f->server, "/oauth2/token"), 1);
}

static void passing_trouble_passes(void **state)
{
	struct fixture *f = *state;
	struct tpu_node node;

	one_node(f);
	use_file(f, "service_account.json");
	stand_in_tell(&f->server, "faults",
		      "[{'path':'oauth2','do':'status','status':400,'body':"
		      "'{\\u0022error\\u0022:\\u0022internal_failure\\u0022}'},"
		      "{'path':'tpu','do':'cut'},"
		      "{'path':'tpu','nth':2,'do':'status','status':503},"
		      "{'path':'tpu','nth':3,'do':'drop-answer'},"
		      "{'path':'tpu','nth':4,'do':'cut-body'},"
		      "{'path':'tpu','nth':5,'do':'status','status':429}]");
	if (look(f, &node) < 0)
		fail_msg("%s", f->err.text);
	assert_string_equal(node.state, "READY");
}

static void tpu_nodes_are_looked_at(void **state)
{
	static const struct {
		const char *state;
		const char *health;
		enum tpu_phase phase;
	} expected[] = {
		{ "CREATING", "", TPU_PENDING },
		{ "READY", "", TPU_PENDING },
		{ "READY", "UNHEALTHY_MAINTENANCE", TPU_PENDING },
		{ "READY", "HEALTHY", TPU_USABLE },
		{ "PREEMPTED", "", TPU_LOST },
	};
	struct fixture *f = *state;
	struct tpu_node node;
	size_t i;

	stand_in_tell(&f->server, "state",
		      "{'tpu':{'europe-west4-a/pod':{'hosts':4,'type':'v3-32',"
		      "'script':[{'state':'CREATING'},{'state':'READY'},"
		      "{'state':'READY','health':'UNHEALTHY_MAINTENANCE'},"
		      "{'state':'READY','health':'HEALTHY','symptoms':["
		      "{'symptomType':'OUT_OF_MEMORY'}]},"
		      "{'state':'PREEMPTED'}]}}}");
	use_file(f, "service_account.json");
	for (i = 0; i < COUNT(expected); i++) {
		if (tpu_node_get(f->google, TPU_API_V1, "p", "europe-west4-a",
				 "pod", f->mem, &node, &f->err) < 0)
			fail_msg("%s", f->err.text);
		assert_true(node.exists);
		assert_string_equal(node.state, expected[i].state);
		assert_string_equal(node.health, expected[i].health);
		assert_int_equal(tpu_node_phase(&node), expected[i].phase);
		if (expected[i].phase != TPU_USABLE)
			continue;
		assert_string_equal(node.accelerator_type, "v3-32");
		assert_string_equal(node.version, "2.2");
		assert_int_equal(node.endpoint_count, 4);
		assert_string_equal(node.endpoints[3].ip, "10.240.1.5");
		assert_int_equal(node.endpoints[3].port, 8470);
		assert_null(node.endpoints[3].external_ip);
		assert_string_equal(node.symptoms[0], "OUT_OF_MEMORY");
	}
	assert_int_equal(tpu_node_get(f->google, TPU_API_V2, "p", "z", "gone",
				      f->mem, &node, &f->err),
			 0);
	assert_false(node.exists);
	assert_int_equal(tpu_node_phase(&node), TPU_LOST);
}

static void places_have_an_order(void **state)
{
	struct fixture *f = *state;
	const struct google_place file = { .zone = { "z-file-a",
						     "jobrun.zone" } };
	const struct google_place flags = { .project = { "p-flag",
							 "--project" },
					    .zone = { "z-flag-a", "--zone" } };
	char *folder = gcloud_path("configurations"), *path;
	static const char ini[] = "# comment\n[core]\naccount = a@b\n"
				  "project = p-gcloud\n\n[compute]\n"
				  "zone = us-east1-b\n";
	struct google_place place;

	assert_int_equal(folder_make(folder, &f->err), 0);
	path = path_join(folder, "config_work");
	assert_int_equal(file_write(path, ini, strlen(ini), &f->err), 0);
	free(path);
	free(folder);
	path = gcloud_path("active_config");
	assert_int_equal(file_write(path, "work\n", 5, &f->err), 0);
	free(path);
	one_node(f);
	use_file(f, "service_account.json");
	look(f, &(struct tpu_node){ 0 });

	place_find(f->google, &file, &flags, f->mem, &place);
	assert_string_equal(place.project.text, "p-flag");
	assert_string_equal(place.project.source, "--project");
	assert_string_equal(place.zone.text, "z-file-a");
	assert_string_equal(place.region.text, "z-file");
	assert_string_equal(place.region.source, "the zone (jobrun.zone)");

	place_find(f->google, NULL, NULL, f->mem, &place);
	assert_string_equal(place.project.text, "p-gcloud");
	assert_string_equal(place.project.source,
			    "gcloud's configuration 'work'");
	assert_string_equal(place.zone.text, "us-east1-b");

	setenv("GOOGLE_CLOUD_PROJECT", "p-env", 1);
	setenv("CLOUDSDK_COMPUTE_ZONE", "us-west1-c", 1);
	place_find(f->google, NULL, NULL, f->mem, &place);
	assert_string_equal(place.project.text, "p-env");
	assert_string_equal(place.zone.source, "CLOUDSDK_COMPUTE_ZONE");

	unsetenv("GOOGLE_CLOUD_PROJECT");
	unsetenv("CLOUDSDK_COMPUTE_ZONE");
	setenv("CLOUDSDK_ACTIVE_CONFIG_NAME", "NONE", 1);
	place_find(f->google, NULL, NULL, f->mem, &place);
	assert_string_equal(place.project.text, "proj-1");
	assert_null(place.zone.text);
	assert_int_equal(place_need_zone(&place, &f->err), -1);
	assert_int_equal(f->err.code, ERROR_INVALID);
}

static void endpoints_can_be_moved(void **state)
{
	static const struct {
		const char *variable;
		const char *value;
		enum google_service service;
		const char *url;
	} cases[] = {
		{ NULL, NULL, SERVICE_ML, "https://ml.googleapis.com/" },
		{ NULL, NULL, SERVICE_AIPLATFORM,
		  "https://us-east1-aiplatform.googleapis.com/" },
		{ NULL, NULL, SERVICE_COMPUTE,
		  "https://compute.googleapis.com/compute/v1/" },
		{ "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE",
		  "https://c.example/compute/v1/", SERVICE_COMPUTE,
		  "https://c.example/compute/v1/" },
		{ "CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", "https://ml.example",
		  SERVICE_ML, "https://ml.example/" },
		{ "STORAGE_EMULATOR_HOST", "localhost:9000", SERVICE_STORAGE,
		  "http://localhost:9000/storage/v1/" },
		{ "STORAGE_EMULATOR_HOST", "http://127.0.0.1:1/",
		  SERVICE_STORAGE, "http://127.0.0.1:1/storage/v1/" },
	};
	struct buf url = { 0 };
	size_t i;

	(void)state;
	clear_environment();
	setenv("CLOUDSDK_CONFIG", "/nonexistent", 1);
	for (i = 0; i < COUNT(cases); i++) {
		buf_clear(&url);
		if (cases[i].variable)
			setenv(cases[i].variable, cases[i].value, 1);
		endpoint_add(cases[i].service, "us-east1", &url);
		assert_string_equal(url.data, cases[i].url);
		if (cases[i].variable)
			unsetenv(cases[i].variable);
	}
	buf_done(&url);
	unsetenv("CLOUDSDK_CONFIG");
}

static void refusals_become_messages(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum error_code code;
		bool final;
		enum retry_verdict verdict;
		const char *text;
	} cases[] = {
		{ 429,
		  "{'error':{'code':429,'status':'RESOURCE_EXHAUSTED',"
		  "'message':'Quota failure for project X.','details':[{"
		  "'@type':'type.googleapis.com/google.rpc.QuotaFailure',"
		  "'violations':[{'subject':'X','description':'2 K80 of 0'},"
		  "{'subject':'Y','description':'8 TPU of 0'}]}]}}",
		  ERROR_TRY_AGAIN, true, RETRY_NEVER,
		  "status 429: Quota failure for project X.; 2 K80 of 0; 8 "
		  "TPU of 0; the request exceeds the quota" },
		{ 429,
		  "{'error':{'message':'slow down','details':[{'@type':"
		  "'type.googleapis.com/google.rpc.ErrorInfo','reason':"
		  "'RATE_LIMIT_EXCEEDED'}]}}",
		  ERROR_TRY_AGAIN, false, RETRY_ALWAYS,
		  "status 429 RATE_LIMIT_EXCEEDED: slow down" },
		{ 429, "", ERROR_TRY_AGAIN, false, RETRY_REPEATABLE,
		  "status 429" },
		{ 400,
		  "{'error':{'message':'Field: runtime_version Error: no.',"
		  "'details':[{'@type':'type.googleapis.com/google.rpc."
		  "BadRequest','fieldViolations':[{'field':"
		  "'runtime_version','description':'no.'},{'field':'region',"
		  "'description':'a\\nb'}]}]}}",
		  ERROR_FAILED, false, RETRY_NEVER,
		  "status 400: Field: runtime_version Error: no.; region: a "
		  "b" },
		{ 403,
		  "{'error':{'message':\"Quota exceeded for quota metric "
		  "'x' and limit 'y per minute'\"}}",
		  ERROR_TRY_AGAIN, false, RETRY_ALWAYS, NULL },
		{ 403, "{'error':{'message':'no'}}", ERROR_DENIED, false,
		  RETRY_NEVER, "status 403: no" },
		{ 409,
		  "{'error':{'message':'m','errors':[{'reason':"
		  "'operationInProgress'}]}}",
		  ERROR_TRY_AGAIN, false, RETRY_ALWAYS,
		  "status 409 operationInProgress: m" },
		{ 400,
		  "{'error':{'message':'m','errors':[{'reason':"
		  "'resourceNotReady'}]}}",
		  ERROR_TRY_AGAIN, false, RETRY_ALWAYS, NULL },
		{ 503, "<html>", ERROR_UNREACHABLE, false, RETRY_REPEATABLE,
		  "status 503" },
		{ 404, "[1]", ERROR_FAILED, false, RETRY_NEVER, "status 404" },
		{ 412, "{'error':'x'}", ERROR_FAILED, false, RETRY_NEVER,
		  "status 412" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct http_response answer = { .status = cases[i].status };
		struct error err;
		char *p;

		buf_puts(&answer.body, cases[i].body);
		for (p = answer.body.data; p && *p; p++)
			if (*p == '\'' && !strchr(cases[i].body, '"'))
				*p = '"';
		if (strchr(cases[i].body, '"')) {
			buf_clear(&answer.body);
			buf_puts(&answer.body,
				 "{\"error\":{\"message\":\"Quota exceeded for "
				 "quota metric 'x' and limit 'y per "
				 "minute'\"}}");
		}
		assert_int_equal(api_error_set(&answer, &err), -1);
		if (err.code != cases[i].code || err.final != cases[i].final ||
		    api_error_judge(&answer) != cases[i].verdict)
			fail_msg("case %zu: %d %s", i, err.code, err.text);
		if (cases[i].text)
			assert_string_equal(err.text, cases[i].text);
		http_response_done(&answer);
	}
}

static void operations_end_in_their_own_ways(void **state)
{
	static const struct {
		enum google_service service;
		const char *body;
		bool done, failed;
		enum error_code code;
		const char *text;
	} cases[] = {
		{ SERVICE_TPU, "{\"name\":\"o\"}", false, false, 0, NULL },
		{ SERVICE_TPU, "{\"done\":true,\"response\":{}}", true, false,
		  0, NULL },
		{ SERVICE_TPU,
		  "{\"done\":true,\"error\":{\"code\":8,\"message\":\"There "
		  "is no more capacity\"}}",
		  true, true, ERROR_TRY_AGAIN, "There is no more capacity" },
		{ SERVICE_TPU, "{\"done\":true,\"error\":{\"code\":7}}", true,
		  true, ERROR_DENIED,
		  "the operation failed without a message" },
		{ SERVICE_COMPUTE, "{\"status\":\"RUNNING\"}", false, false, 0,
		  NULL },
		{ SERVICE_COMPUTE, "{\"status\":\"DONE\"}", true, false, 0,
		  NULL },
		{ SERVICE_COMPUTE,
		  "{\"status\":\"DONE\",\"error\":{\"errors\":[{\"code\":"
		  "\"QUOTA_EXCEEDED\",\"message\":\"CPUS\",\"errorDetails\":"
		  "[{\"quotaInfo\":{\"limitName\":\"CPUS-per-region\","
		  "\"limit\":8}}]}]},\"httpErrorStatusCode\":403}",
		  true, true, ERROR_TRY_AGAIN,
		  "QUOTA_EXCEEDED: CPUS (quota CPUS-per-region, limit 8)" },
		{ SERVICE_COMPUTE,
		  "{\"status\":\"DONE\",\"error\":{},"
		  "\"httpErrorStatusCode\":403,\"httpErrorMessage\":"
		  "\"FORBIDDEN\"}",
		  true, true, ERROR_DENIED, "FORBIDDEN" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct operation operation;
		json_t *body = json_loads(cases[i].body, 0, NULL);

		operation_read(cases[i].service, body, &operation);
		assert_int_equal(operation.done, cases[i].done);
		assert_int_equal(operation.failed, cases[i].failed);
		if (operation.failed) {
			assert_int_equal(operation.failure.code, cases[i].code);
			assert_string_equal(operation.failure.text,
					    cases[i].text);
		}
		json_decref(body);
	}
}

/* A text that is no public key of ssh is neither sent nor shown. */
static void only_public_keys_are_taken(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
		{ "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGvT0WJq me@here\n",
		  true },
		{ "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGvT0WJq", true },
		{ "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIGvT0WJq", false },
		{ "ssh-ed25519 aHVudGVyMiBpcyBubyBrZXk=", false },
		{ "ssh-ed25519 hunter2", false },
		{ "ssh-ed25519", false },
		{ "-----BEGIN OPENSSH PRIVATE KEY-----\n", false },
		{ "root:x:0:0:root:/root:/bin/bash\n", false },
		{ "", false },
	};
	char path[] = "/tmp/jobrun-key-XXXXXX";
	json_t *properties;
	struct error err;
	size_t i;
	char *key;

	(void)state;
	close(mkstemp(path));
	properties = json_pack("{ss}", "sshKey", path);
	for (i = 0; i < COUNT(cases); i++) {
		assert_int_equal(file_write(path, cases[i].text,
					    strlen(cases[i].text), &err),
				 0);
		if (cases[i].good) {
			assert_int_equal(
				login_key(properties, NULL, &key, &err), 0);
			assert_memory_equal(key, cases[i].text, strlen(key));
			free(key);
		} else {
			assert_int_equal(
				login_key(properties, NULL, &key, &err), -1);
			assert_null(strstr(err.text, "hunter2"));
			assert_true(text_ends(
				err.text,
				"is not an ssh public key file (sshKey)"));
		}
	}
	/* A link that leads out of a job's root is followed no more. */
	assert_int_equal(
		file_write(path, cases[0].text, strlen(cases[0].text), &err),
		0);
	assert_int_equal(login_key(properties, "/nowhere", &key, &err), -1);
	assert_int_equal(login_key(properties, "/tmp", &key, &err), 0);
	free(key);
	json_decref(properties);
	unlink(path);
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_server(each_kind_of_credentials_works),
		with_server(a_machine_has_credentials),
		with_server(metadata_is_read),
		with_server(a_token_from_outside_comes_first),
		with_server(none_at_all_says_what_to_do),
		with_server(gclouds_file_is_found),
		cmocka_unit_test(files_that_are_wrong_are_named),
		with_server(keys_that_are_none_are_refused),
		with_server(refusals_do_not_repeat_what_was_sent),
		with_server(tokens_are_kept_and_renewed),
		with_server(an_old_token_serves_while_there_is_no_new_one),
		with_server(threads_share_a_token),
		with_server(passing_trouble_passes),
		with_server(tpu_nodes_are_looked_at),
		with_server(places_have_an_order),
		cmocka_unit_test(endpoints_can_be_moved),
		cmocka_unit_test(refusals_become_messages),
		cmocka_unit_test(operations_end_in_their_own_ways),
		cmocka_unit_test(only_public_keys_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
