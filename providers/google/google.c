/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/google.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/request_id.h"

struct google {
	struct http *http;
	pthread_mutex_t lock; /* protects `who` */
	struct credentials *who;
	struct request_ids *ids;
};

struct google *google_open(struct http *http)
{
	struct google *google = mem_alloc(sizeof(*google));

	google->http = http;
	google->ids = request_ids_new();
	pthread_mutex_init(&google->lock, NULL);
	return google;
}

void google_close(struct google *google)
{
	if (!google)
		return;
	credentials_free(google->who);
	request_ids_free(google->ids);
	pthread_mutex_destroy(&google->lock);
	free(google);
}

struct http *google_http(struct google *google)
{
	return google->http;
}

struct request_ids *google_request_ids(struct google *google)
{
	return google->ids;
}

struct credentials *google_credentials(struct google *google, struct error *err)
{
	struct credentials *who;

	pthread_mutex_lock(&google->lock);
	if (!google->who)
		google->who = credentials_find(google->http, err);
	who = google->who;
	pthread_mutex_unlock(&google->lock);
	return who;
}
