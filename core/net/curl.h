/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl, opened when first used.  For core/net only. */
#ifndef JOBRUN_CURL_H
#define JOBRUN_CURL_H

/* curl_easy_setopt's type checks need its macros; ours are function
 * pointers. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "core/base/error.h"

struct curl_api {
	__typeof__(&curl_global_init) global_init;
	__typeof__(&curl_version_info) version_info;
	__typeof__(&curl_easy_init) easy_init;
	__typeof__(&curl_easy_cleanup) easy_cleanup;
	__typeof__(&curl_easy_reset) easy_reset;
	__typeof__(&curl_easy_pause) easy_pause;
	__typeof__(&curl_easy_perform) easy_perform;
	__typeof__(&curl_easy_send) easy_send;
	__typeof__(&curl_easy_recv) easy_recv;
	__typeof__(&curl_easy_setopt) easy_setopt;
	__typeof__(&curl_easy_getinfo) easy_getinfo;
	__typeof__(&curl_easy_strerror) easy_strerror;
	__typeof__(&curl_multi_init) multi_init;
	__typeof__(&curl_multi_cleanup) multi_cleanup;
	__typeof__(&curl_multi_setopt) multi_setopt;
	__typeof__(&curl_multi_add_handle) multi_add_handle;
	__typeof__(&curl_multi_remove_handle) multi_remove_handle;
	__typeof__(&curl_multi_perform) multi_perform;
	__typeof__(&curl_multi_poll) multi_poll;
	__typeof__(&curl_multi_wakeup) multi_wakeup;
	__typeof__(&curl_multi_info_read) multi_info_read;
	__typeof__(&curl_multi_strerror) multi_strerror;
	__typeof__(&curl_slist_append) slist_append;
	__typeof__(&curl_slist_free_all) slist_free_all;
	__typeof__(&curl_url) url_new;
	__typeof__(&curl_url_cleanup) url_free;
	__typeof__(&curl_url_set) url_set;
	__typeof__(&curl_url_get) url_get;
	__typeof__(&curl_free) free;
};

/* Opened once, for the life of the process.  Thread-safe. */
const struct curl_api *curl_open(struct error *err);

#endif
