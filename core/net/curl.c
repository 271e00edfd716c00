/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/curl.h"

#include <pthread.h>

#include "core/base/library.h"

static struct curl_api api;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode initialized;

static const struct library_symbol symbols[] = {
	{ "curl_global_init", &api.global_init },
	{ "curl_version_info", &api.version_info },
	{ "curl_easy_init", &api.easy_init },
	{ "curl_easy_cleanup", &api.easy_cleanup },
	{ "curl_easy_reset", &api.easy_reset },
	{ "curl_easy_pause", &api.easy_pause },
	{ "curl_easy_perform", &api.easy_perform },
	{ "curl_easy_send", &api.easy_send },
	{ "curl_easy_recv", &api.easy_recv },
	{ "curl_easy_setopt", &api.easy_setopt },
	{ "curl_easy_getinfo", &api.easy_getinfo },
	{ "curl_easy_strerror", &api.easy_strerror },
	{ "curl_multi_init", &api.multi_init },
	{ "curl_multi_cleanup", &api.multi_cleanup },
	{ "curl_multi_setopt", &api.multi_setopt },
	{ "curl_multi_add_handle", &api.multi_add_handle },
	{ "curl_multi_remove_handle", &api.multi_remove_handle },
	{ "curl_multi_perform", &api.multi_perform },
	{ "curl_multi_poll", &api.multi_poll },
	{ "curl_multi_wakeup", &api.multi_wakeup },
	{ "curl_multi_info_read", &api.multi_info_read },
	{ "curl_multi_strerror", &api.multi_strerror },
	{ "curl_slist_append", &api.slist_append },
	{ "curl_slist_free_all", &api.slist_free_all },
	{ "curl_url", &api.url_new },
	{ "curl_url_cleanup", &api.url_free },
	{ "curl_url_set", &api.url_set },
	{ "curl_url_get", &api.url_get },
	{ "curl_free", &api.free },
	{ NULL, NULL },
};

static void initialize(void)
{
	initialized = api.global_init(CURL_GLOBAL_DEFAULT);
}

const struct curl_api *curl_open(struct error *err)
{
	if (library_open("libcurl.so.4", symbols, err) < 0)
		return NULL;
	pthread_once(&once, initialize);
	if (initialized != CURLE_OK) {
		error_set(err, ERROR_FAILED, "libcurl cannot start: %s",
			  api.easy_strerror(initialized));
		return NULL;
	}
	return &api;
}
