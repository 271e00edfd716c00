/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/s3/aws_credentials.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/net/url.h"
#include "providers/s3/aws_profile.h"
#include "providers/s3/xml.h"

/* Credentials are renewed while they are still good for that long. */
#define EARLY_MS 300000
#define TOKEN_MAX 65536
/* Of ECS tasks and of EKS pods; plain http is theirs by design. */
#define ECS_ADDRESS "http://169.254.170.2"
#define EKS_ADDRESS "http://169.254.170.23"
#define METADATA_ADDRESS "http://169.254.169.254"

struct aws_credentials {
	struct http *http;
	pthread_mutex_t lock; /* protects the members below */
	bool looked;
	bool found;
	struct aws_key key;
};

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void aws_key_done(struct aws_key *key)
{
	wipe(key->id);
	wipe(key->secret);
	wipe(key->token);
	*key = (struct aws_key){ 0 };
}

static char *copy(const char *text)
{
	return text && *text ? mem_strdup(text) : NULL;
}

/* Each source returns 1 if it has a key, 0 if it is not configured, or -1. */
typedef int source(struct aws_credentials *all, struct aws_key *out,
		   struct error *err);

static int from_environment(struct aws_credentials *all, struct aws_key *out,
			    struct error *err)
{
	const char *id = aws_variable("AWS_ACCESS_KEY_ID");
	const char *secret = aws_variable("AWS_SECRET_ACCESS_KEY");

	(void)all;
	if (!id && !secret)
		return 0;
	if (!id || !secret)
		return error_set(err, ERROR_DENIED,
				 "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
				 "must both be set");
	out->id = copy(id);
	out->secret = copy(secret);
	out->token = copy(aws_variable("AWS_SESSION_TOKEN"));
	return 1;
}

static int from_profile(struct aws_credentials *all, struct aws_key *out,
			struct error *err)
{
	static const char *const others[] = { "role_arn", "sso_session",
					      "sso_start_url",
					      "credential_process" };
	char *other;

	(void)all;
	out->id = aws_profile_get("aws_access_key_id");
	out->secret = aws_profile_get("aws_secret_access_key");
	out->token = aws_profile_get("aws_session_token");
	if (out->id && out->secret)
		return 1;
	aws_key_done(out);
	for (size_t i = 0; i < COUNT(others); i++) {
		other = aws_profile_get(others[i]);
		if (!other)
			continue;
		free(other);
		return error_set(err, ERROR_DENIED,
				 "the AWS profile '%s' has %s instead of keys: "
				 "run 'eval \"$(aws configure "
				 "export-credentials --format env)\"' first",
				 aws_profile_name(), others[i]);
	}
	return 0;
}

/* ---- asked for over HTTP ------------------------------------------------- */

static int ask(struct aws_credentials *all, struct http_request *request,
	       const char *whom, struct http_response *answer,
	       struct error *err)
{
	request->flags |= HTTP_SECRET | HTTP_REPEATABLE;
	answer->secret = true;
	if (http_do(all->http, request, answer, err) < 0)
		return error_prefix(err, "AWS credentials of %s", whom);
	if (answer->status / 100 != 2)
		return error_set(err, ERROR_DENIED,
				 "AWS credentials: %s answers with status %ld",
				 whom, answer->status);
	return 0;
}

/* Reads the form that containers and instances share. */
static int read_json(const struct http_response *answer, const char *whom,
		     struct aws_key *out, struct error *err)
{
	json_t *body =
		json_loadb(buf_text(&answer->body), answer->body.len, 0, NULL);
	int64_t expires;

	out->id = copy(json_get_text(body, "AccessKeyId", NULL));
	out->secret = copy(json_get_text(body, "SecretAccessKey", NULL));
	out->token = copy(json_get_text(body, "Token", NULL));
	expires = time_parse(json_get_text(body, "Expiration", ""));
	out->expires_ms = expires > 0 ? expires : 0;
	json_decref(body);
	if (out->id && out->secret)
		return 1;
	aws_key_done(out);
	return error_set(err, ERROR_DENIED,
			 "AWS credentials: %s answers with something else",
			 whom);
}

static int from_web_identity(struct aws_credentials *all, struct aws_key *out,
			     struct error *err)
{
	const char *path = aws_variable("AWS_WEB_IDENTITY_TOKEN_FILE");
	const char *role = aws_variable("AWS_ROLE_ARN");
	const char *session = aws_variable("AWS_ROLE_SESSION_NAME");
	struct http_request request = {
		.method = "POST",
		.content_type = "application/x-www-form-urlencoded",
	};
	struct http_response answer = { 0 };
	struct buf form = { 0 };
	char *token, *url, *endpoint, *region, *expires;
	struct xml body;
	size_t len;
	int ret;

	if (!path || !role)
		return 0;
	token = file_read(path, TOKEN_MAX, &len, err);
	if (!token)
		return error_prefix(err, "AWS_WEB_IDENTITY_TOKEN_FILE");
	token[strcspn(token, "\r\n")] = '\0';
	endpoint = aws_endpoint("STS");
	region = aws_region();
	url = endpoint ? mem_printf("%s/", endpoint)
		       : mem_printf("https://sts.%s.amazonaws.com/", region);
	url_add_pair(&form, "Action", "AssumeRoleWithWebIdentity");
	url_add_pair(&form, "Version", "2011-06-15");
	url_add_pair(&form, "RoleArn", role);
	url_add_pair(&form, "RoleSessionName", session ? session : "jobrun");
	url_add_pair(&form, "WebIdentityToken", token);
	request.url = url;
	request.body = form.data;
	request.body_len = form.len;
	ret = ask(all, &request, "the security token service", &answer, err);
	if (ret == 0) {
		body = (struct xml){ buf_text(&answer.body), answer.body.len };
		out->id = xml_text(body, "AccessKeyId");
		out->secret = xml_text(body, "SecretAccessKey");
		out->token = xml_text(body, "SessionToken");
		expires = xml_text(body, "Expiration");
		out->expires_ms = time_parse(expires);
		free(expires);
		ret = 1;
	}
	http_response_done(&answer);
	explicit_bzero(form.data, form.size);
	buf_done(&form);
	wipe(token);
	free(endpoint);
	free(region);
	free(url);
	return ret;
}

static int from_container(struct aws_credentials *all, struct aws_key *out,
			  struct error *err)
{
	const char *below =
		aws_variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *whole = aws_variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	const char *path =
		aws_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	const char *given = aws_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
	const char *headers[2] = { NULL };
	struct http_request request = { .method = "GET", .headers = headers };
	struct http_response answer = { 0 };
	char *url, *token = NULL, *header = NULL;
	size_t len;
	int ret;

	if (!below && !whole)
		return 0;
	if (path && !(token = file_read(path, TOKEN_MAX, &len, err)))
		return error_prefix(err,
				    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	if (token)
		token[strcspn(token, "\r\n")] = '\0';
	if (token || given) {
		header = mem_printf("Authorization: %s", token ? token : given);
		headers[0] = header;
	}
	url = below ? mem_printf(ECS_ADDRESS "%s", below) : mem_strdup(whole);
	request.url = url;
	if (text_starts(url, ECS_ADDRESS "/") ||
	    text_starts(url, EKS_ADDRESS "/"))
		request.flags = HTTP_PLAIN;
	ret = ask(all, &request, "the container", &answer, err);
	if (ret == 0)
		ret = read_json(&answer, "the container", out, err);
	http_response_done(&answer);
	wipe(header);
	wipe(token);
	free(url);
	return ret;
}

/* Gets a path of the metadata server.  0 with `out` set, or -1. */
static int metadata(struct aws_credentials *all, const char *method,
		    const char *path, const char *header, char **out,
		    struct error *err)
{
	static const struct retry_policy one_try = { .total_ms = -1 };
	const char *base = aws_variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	const char *const headers[] = { header, NULL };
	char *url = mem_printf("%s/latest/%s", base ? base : METADATA_ADDRESS,
			       path);
	struct http_request request = {
		.method = method,
		.url = url,
		.headers = header ? headers : NULL,
		.connect_timeout_ms = 1000,
		.total_timeout_ms = 5000,
		.flags = HTTP_PLAIN,
		.retry = &one_try,
	};
	struct http_response answer = { 0 };
	int ret = ask(all, &request, "this instance", &answer, err);

	if (ret == 0)
		*out = mem_strdup(buf_text(&answer.body));
	http_response_done(&answer);
	free(url);
	return ret;
}

#define ROLES "meta-data/iam/security-credentials/"

/* An address that does not answer belongs to a machine elsewhere, and one
 * without a role has no credentials. */
static int from_instance(struct aws_credentials *all, struct aws_key *out,
			 struct error *err)
{
	const char *off = aws_variable("AWS_EC2_METADATA_DISABLED");
	struct http_response answer = { 0 };
	char *session = NULL, *role = NULL, *text = NULL;
	char *header = NULL, *path = NULL;
	int ret = 0;

	if ((off && !strcmp(off, "true")) ||
	    metadata(all, "PUT", "api/token",
		     "X-aws-ec2-metadata-token-ttl-seconds: 21600", &session,
		     err) < 0)
		return 0;
	header = mem_printf("X-aws-ec2-metadata-token: %s", session);
	if (metadata(all, "GET", ROLES, header, &role, err) < 0 || !*role)
		goto out;
	role[strcspn(role, "\r\n")] = '\0';
	path = mem_printf(ROLES "%s", role);
	ret = metadata(all, "GET", path, header, &text, err);
	if (ret == 0) {
		buf_puts(&answer.body, text);
		ret = read_json(&answer, "this instance", out, err);
		answer.secret = true;
		http_response_done(&answer);
	}
out:
	wipe(session);
	wipe(header);
	wipe(text);
	free(path);
	free(role);
	return ret;
}

/* ---- all of them --------------------------------------------------------- */

static source *const sources[] = {
	from_environment, from_web_identity, from_profile,
	from_container,   from_instance,
};

struct aws_credentials *aws_credentials_new(struct http *http)
{
	struct aws_credentials *all = mem_alloc(sizeof(*all));

	all->http = http;
	pthread_mutex_init(&all->lock, NULL);
	return all;
}

void aws_credentials_free(struct aws_credentials *all)
{
	if (!all)
		return;
	aws_key_done(&all->key);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

static int look(struct aws_credentials *all, struct error *err)
{
	struct aws_key key = { 0 };
	int ret = 0;

	for (size_t i = 0; i < COUNT(sources) && ret == 0; i++)
		ret = sources[i](all, &key, err);
	if (ret < 0)
		return -1;
	aws_key_done(&all->key);
	all->key = key;
	all->found = ret > 0;
	all->looked = true;
	return 0;
}

int aws_credentials_get(struct aws_credentials *all, struct aws_key *out,
			struct error *err)
{
	int ret = 0;

	pthread_mutex_lock(&all->lock);
	if (!all->looked || (all->key.expires_ms &&
			     all->key.expires_ms - EARLY_MS < time_now_ms()))
		ret = look(all, err);
	*out = (struct aws_key){ 0 };
	if (ret == 0 && all->found) {
		out->id = mem_strdup(all->key.id);
		out->secret = mem_strdup(all->key.secret);
		out->token = copy(all->key.token);
		ret = 1;
	}
	pthread_mutex_unlock(&all->lock);
	return ret;
}
