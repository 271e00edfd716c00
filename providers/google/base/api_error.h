/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads error answers of Google's services: google.rpc.Status, with details
 * that name fields, quotas and reasons; and Compute Engine's older form.
 *
 *	401, 403               ERROR_DENIED
 *	408, 5xx               ERROR_UNREACHABLE
 *	429, rate quotas       ERROR_TRY_AGAIN
 *	429 with QuotaFailure  ERROR_TRY_AGAIN, final: more was asked for than
 *	                       is allowed
 *	not ready, in progress ERROR_TRY_AGAIN
 *	all else               ERROR_FAILED
 *
 * The rules and their sources: magic-modules' retry predicates,
 * google-auth-library-python, google-resumable-media-python.
 */
#ifndef JOBRUN_API_ERROR_H
#define JOBRUN_API_ERROR_H

#include <jansson.h>

#include "core/base/error.h"
#include "core/net/http.h"

/* The reason in the service's own word ("RATE_LIMIT_EXCEEDED",
 * "resourceNotReady"); "" if it gives none. */
struct api_reason {
	char text[64];
};

/* Sets `err` from an answer that is not 2xx.  Returns -1. */
int api_error_set(const struct http_response *answer, struct error *err);
void api_error_reason(const struct http_response *answer,
		      struct api_reason *out);

/* For http_request.judge: whether another try now is worthwhile. */
enum retry_verdict api_error_judge(const struct http_response *answer);

/* Set `err` from the `error` of a failed operation: in the form of all services
 * but Compute Engine, and in Compute Engine's.  Return -1. */
int api_error_operation(const json_t *status, struct error *err);
int api_error_compute(const json_t *operation, struct error *err);

#endif
