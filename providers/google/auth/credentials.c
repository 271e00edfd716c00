/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/auth/credentials.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "providers/google/auth/credentials_kind.h"
#include "providers/google/base/gcloud.h"
#include "providers/google/base/metadata.h"

#define FILE_SIZE_MAX 65536
/* The same as REFRESH_THRESHOLD of google-auth-library-python. */
#define REFRESH_BEFORE_MS ((3 * 60 + 45) * 1000)
/* If renewing fails, the old token is used while it lasts at least this
 * long. */
#define USABLE_BEFORE_MS 10000

struct credentials {
	struct http *http;
	const struct credential_kind *kind; /* NULL: a token from outside */
	void *data;
	char *text;
	char *project;
	char *quota_project;
	pthread_mutex_t lock; /* protects the token */
	struct token token;
};

static const struct credential_kind *const kinds[] = {
	&credentials_service_account, &credentials_user,
	&credentials_external_user,   &credentials_external,
	&credentials_impersonated,
};

const struct credential_kind *
credential_kind_find(const char *type, const char *name, struct error *err)
{
	struct buf known = { 0 };
	size_t i;

	for (i = 0; i < COUNT(kinds); i++)
		if (!strcmp(kinds[i]->type, type))
			return kinds[i];
	for (i = 0; i < COUNT(kinds); i++)
		buf_printf(&known, "%s%s", i ? ", " : "", kinds[i]->type);
	if (*type)
		error_set(err, ERROR_DENIED,
			  "'%s' is of type '%.40s'; known are %s", name, type,
			  known.data);
	else
		error_set(err, ERROR_DENIED,
			  "'%s' is not a credential file: it has no 'type'",
			  name);
	buf_done(&known);
	return NULL;
}

char *credential_text(const json_t *file, const char *key, const char *name,
		      struct error *err)
{
	const char *text = json_get_text(file, key, "");

	if (!*text) {
		error_set(err, ERROR_DENIED, "'%s' has no '%s'", name, key);
		return NULL;
	}
	return mem_strdup(text);
}

void credential_describe_target(const char *url, struct buf *out)
{
	const char *slash = strrchr(url, '/');
	const char *email = slash ? slash + 1 : url;

	buf_add(out, email, strcspn(email, ":"));
}

static struct credentials *make(struct http *http,
				const struct credential_kind *kind, void *data,
				const char *from)
{
	struct credentials *who = mem_alloc(sizeof(*who));
	const char *quota = getenv("GOOGLE_CLOUD_QUOTA_PROJECT");
	struct buf text = { 0 };

	who->http = http;
	who->kind = kind;
	who->data = data;
	if (kind)
		kind->describe(data, &text);
	else
		buf_puts(&text, "an access token");
	buf_printf(&text, ", from %s", from);
	who->text = buf_take(&text);
	if (quota && *quota)
		who->quota_project = mem_strdup(quota);
	pthread_mutex_init(&who->lock, NULL);
	return who;
}

/* Reads credentials.  `from` is the source as shown to users. */
static struct credentials *read_text(struct http *http, const char *text,
				     size_t len, const char *name,
				     const char *from, struct error *err)
{
	const struct credential_kind *kind;
	struct credentials *who = NULL;
	const char *value;
	json_t *file;
	void *data;

	/* Jansson's message could repeat a piece of the file, so it is not
	 * used. */
	file = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(file)) {
		error_set(err, ERROR_DENIED,
			  "'%s' is not a credential file: it is not a JSON "
			  "object",
			  name);
		goto out;
	}
	kind = credential_kind_find(json_get_text(file, "type", ""), name, err);
	data = kind ? kind->read(file, name, err) : NULL;
	if (!data)
		goto out;
	who = make(http, kind, data, from);
	value = json_get_text(file, "project_id", NULL);
	if (value)
		who->project = mem_strdup(value);
	value = json_get_text(file, "quota_project_id", NULL);
	if (value && !who->quota_project)
		who->quota_project = mem_strdup(value);
out:
	json_decref(file);
	return who;
}

struct credentials *credentials_read(struct http *http, const char *text,
				     size_t len, const char *name,
				     struct error *err)
{
	return read_text(http, text, len, name, name, err);
}

static struct credentials *read_file(struct http *http, const char *path,
				     const char *from, struct error *err)
{
	struct credentials *who;
	size_t len;
	char *text = file_read(path, FILE_SIZE_MAX, &len, err);

	if (!text) {
		err->code = ERROR_DENIED;
		return NULL;
	}
	who = read_text(http, text, len, path, from, err);
	explicit_bzero(text, len);
	free(text);
	return who;
}

/* The environment variables that hold a token. */
static const char *const token_names[] = {
	"CLOUDSDK_AUTH_ACCESS_TOKEN",
	"GOOGLE_OAUTH_ACCESS_TOKEN",
};

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

bool credentials_are_set_up(void)
{
	char *path;
	bool found;
	size_t i;

	for (i = 0; i < COUNT(token_names); i++)
		if (is_set(token_names[i]))
			return true;
	if (is_set("GOOGLE_APPLICATION_CREDENTIALS"))
		return true;
	path = gcloud_path("application_default_credentials.json");
	found = path && access(path, F_OK) == 0;
	free(path);
	return found || metadata_is_likely();
}

static struct credentials *from_environment(struct http *http)
{
	struct credentials *who;
	size_t i;

	for (i = 0; i < COUNT(token_names); i++) {
		const char *token = getenv(token_names[i]);

		if (!token || !*token)
			continue;
		who = make(http, NULL, NULL, token_names[i]);
		buf_puts(&who->token.text, token);
		return who;
	}
	return NULL;
}

struct credentials *credentials_find(struct http *http, struct error *err)
{
	const char *named = getenv("GOOGLE_APPLICATION_CREDENTIALS");
	struct credentials *who = from_environment(http);
	char *path = NULL, *from = NULL;

	if (who)
		return who;
	if (named && *named) {
		from = mem_printf("GOOGLE_APPLICATION_CREDENTIALS (%s)", named);
		who = read_file(http, named, from, err);
		if (!who)
			error_prefix(err, "GOOGLE_APPLICATION_CREDENTIALS");
		goto out;
	}
	path = gcloud_path("application_default_credentials.json");
	if (path && access(path, F_OK) == 0) {
		who = read_file(http, path, path, err);
		goto out;
	}
	if (metadata_detect(http)) {
		who = make(http, &credentials_metadata, NULL,
			   "the metadata server");
		goto out;
	}
	error_set(err, ERROR_NO_CREDENTIALS,
		  "no credentials for Google Cloud: run 'gcloud auth "
		  "application-default login', or set "
		  "GOOGLE_APPLICATION_CREDENTIALS to a credential file");
out:
	free(path);
	free(from);
	return who;
}

void credentials_free(struct credentials *who)
{
	if (!who)
		return;
	if (who->data)
		who->kind->free(who->data);
	secret_done(&who->token.text);
	pthread_mutex_destroy(&who->lock);
	free(who->text);
	free(who->project);
	free(who->quota_project);
	free(who);
}

static bool holds(const struct credentials *who, int64_t for_ms)
{
	return who->token.text.len &&
	       (!who->kind || who->token.ends_ms - time_now_ms() > for_ms);
}

/* Called under the lock. */
static int refresh(struct credentials *who, struct error *err)
{
	struct token fresh = { 0 };

	if (!who->kind)
		return error_set(err, ERROR_DENIED,
				 "%s is refused: it has expired, or was never "
				 "valid",
				 who->text);
	if (who->kind->fetch(who->data, who->http, &fresh, err) < 0) {
		secret_done(&fresh.text);
		return error_prefix(err, "%s", who->text);
	}
	secret_done(&who->token.text);
	who->token = fresh;
	return 0;
}

int credentials_token(struct credentials *who, struct buf *out,
		      struct error *err)
{
	struct error why;
	int ret = 0;

	pthread_mutex_lock(&who->lock);
	if (!holds(who, REFRESH_BEFORE_MS) && refresh(who, &why) < 0 &&
	    !holds(who, USABLE_BEFORE_MS)) {
		*err = why;
		ret = -1;
	}
	if (ret == 0)
		buf_add(out, who->token.text.data, who->token.text.len);
	pthread_mutex_unlock(&who->lock);
	return ret;
}

void credentials_refused(struct credentials *who, const char *token)
{
	pthread_mutex_lock(&who->lock);
	if (!strcmp(buf_text(&who->token.text), token))
		secret_done(&who->token.text);
	pthread_mutex_unlock(&who->lock);
}

const char *credentials_text(const struct credentials *who)
{
	return who->text;
}

const char *credentials_project(const struct credentials *who)
{
	return who->project;
}

const char *credentials_quota_project(const struct credentials *who)
{
	return who->quota_project;
}

bool credentials_are_machine(const struct credentials *who)
{
	return who->kind == &credentials_metadata;
}
