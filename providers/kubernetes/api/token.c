/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/api/token.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "providers/kubernetes/api/exec_plugin.h"

#define HEADER "Authorization: Bearer "
/* A token file is read again after this time, as others renew it. */
#define FILE_FRESH_MS 60000
/* A token is renewed this long before its end, so that it does not end on the
 * way. */
#define EXPIRY_SLACK_MS 30000

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static int read_file(struct kube_token *token, struct error *err)
{
	size_t len;
	char *text = file_read(token->config->token_file, TOKEN_MAX, &len, err);

	if (!text)
		return -1;
	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
	wipe(token->text);
	token->text = text;
	token->ends_ms = time_now_ms() + FILE_FRESH_MS;
	return 0;
}

static int run_plugin(struct kube_token *token, struct exec_credential *found,
		      struct error *err)
{
	if (exec_plugin_run(token->config, found, err) < 0)
		return -1;
	wipe(token->text);
	token->text = found->token;
	found->token = NULL;
	token->ends_ms = found->ends_ms ? found->ends_ms - EXPIRY_SLACK_MS : 0;
	return 0;
}

/* Takes the plugin's certificate, before the first connection only. */
static void take_certificate(struct kubeconfig *config,
			     struct exec_credential *found)
{
	if (!found->certificate)
		return;
	free(config->certificate);
	wipe(config->key);
	config->certificate = found->certificate;
	config->key = found->key;
	found->certificate = found->key = NULL;
}

int token_init(struct kube_token *token, struct kubeconfig *config,
	       struct error *err)
{
	struct exec_credential found = { 0 };

	*token = (struct kube_token){ .config = config };
	pthread_mutex_init(&token->lock, NULL);
	if (config->token)
		token->text = mem_strdup(config->token);
	if (!config->exec)
		return 0;
	if (run_plugin(token, &found, err) < 0)
		return -1;
	take_certificate(config, &found);
	exec_credential_done(&found);
	return 0;
}

void token_done(struct kube_token *token)
{
	/* The token was never set up. */
	if (!token->config)
		return;
	wipe(token->text);
	pthread_mutex_destroy(&token->lock);
}

/* Renews the token; the lock is held.  `refused` means that the server refused
 * the current one. */
static int renew(struct kube_token *token, bool refused, struct error *err)
{
	bool late = token->ends_ms && time_now_ms() >= token->ends_ms;
	struct exec_credential found = { 0 };

	if (token->config->token_file && (refused || late || !token->text))
		return read_file(token, err);
	if (!token->config->exec || (!refused && !late))
		return 0;
	if (run_plugin(token, &found, err) < 0)
		return -1;
	exec_credential_done(&found);
	return 0;
}

int token_add_header(struct kube_token *token, struct buf *line,
		     struct error *err)
{
	int ret;

	pthread_mutex_lock(&token->lock);
	ret = renew(token, false, err);
	if (ret == 0 && token->text)
		buf_printf(line, HEADER "%s", token->text);
	pthread_mutex_unlock(&token->lock);
	return ret;
}

static bool is_other(const struct kube_token *token, const struct buf *line)
{
	return token->text &&
	       strcmp(token->text, line->data + strlen(HEADER)) != 0;
}

bool token_find_another(struct kube_token *token, const struct buf *line)
{
	struct error ignored;
	bool other;

	if (!line->len)
		return false;
	pthread_mutex_lock(&token->lock);
	other = is_other(token, line);
	if (!other && renew(token, true, &ignored) == 0)
		other = is_other(token, line);
	pthread_mutex_unlock(&token->lock);
	return other;
}
