/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/base/api_error.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/text.h"

/* The longest text, which leaves room for what callers put before it. */
#define TEXT_MAX 400

/* The parts of an answer that matter. */
struct refusal {
	long status;
	enum error_code code;
	bool final;
	enum retry_verdict verdict;
	struct api_reason reason;
	struct buf text;
};

static bool is_type(const json_t *detail, const char *type)
{
	return text_ends(json_get_text(detail, "@type", ""), type);
}

/* Appends the text as one line. */
static void add_line(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_putc(out, *text == '\n' || *text == '\r' ? ' ' : *text);
}

/* Appends "; FIELD: TEXT", except parts that the message already has. */
static void add_violation(struct buf *out, const char *field, const char *text)
{
	struct buf line = { 0 };

	add_line(&line, text);
	if (line.len && strstr(buf_text(out), line.data))
		buf_clear(&line);
	if (*field && !strstr(buf_text(out), field))
		buf_printf(out, "; %s%s%s", field, line.len ? ": " : "",
			   buf_text(&line));
	else if (line.len)
		buf_printf(out, "; %s", line.data);
	buf_done(&line);
}

static void add_violations(struct buf *out, const json_t *list,
			   const char *field)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		add_violation(out, json_get_text(item, field, ""),
			      json_get_text(item, "description", ""));
}

static void add_details(struct refusal *refusal, const json_t *details,
			bool *quota)
{
	const json_t *detail;
	size_t i;

	json_array_foreach(details, i, detail)
	{
		if (is_type(detail, "google.rpc.ErrorInfo")) {
			snprintf(refusal->reason.text,
				 sizeof(refusal->reason.text), "%s",
				 json_get_text(detail, "reason", ""));
		} else if (is_type(detail, "google.rpc.QuotaFailure")) {
			*quota = true;
			add_violations(&refusal->text,
				       json_object_get(detail, "violations"),
				       "");
		} else if (is_type(detail, "google.rpc.BadRequest")) {
			add_violations(
				&refusal->text,
				json_object_get(detail, "fieldViolations"),
				"field");
		} else if (is_type(detail, "google.rpc.PreconditionFailure")) {
			add_violations(&refusal->text,
				       json_object_get(detail, "violations"),
				       "subject");
		}
	}
}

static const char *hint(const struct refusal *refusal)
{
	const char *reason = refusal->reason.text;

	if (!strcmp(reason, "ACCESS_TOKEN_SCOPE_INSUFFICIENT"))
		return "; the credentials are not for the scope "
		       "cloud-platform";
	if (refusal->status == 401)
		return "; see which credentials are used with 'jobrun doctor'";
	return "";
}

static bool is_quota_text(const char *message)
{
	return text_starts(message, "Quota failure") ||
	       strstr(message, "quota metrics exceed");
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

/* Whether the service has not begun the request, and will accept it later. */
static bool is_passing(const struct refusal *refusal, const char *message)
{
	static const char *const reasons[] = {
		"operationInProgress",
		"resourceNotReady",
		"rateLimitExceeded",
		"userRateLimitExceeded",
		"RATE_LIMIT_EXCEEDED",
		"CONCURRENT_OPERATIONS_QUOTA_EXCEEDED",
		NULL,
	};

	if (is_one_of(refusal->reason.text, reasons))
		return true;
	return (refusal->status == 403 &&
		text_starts(message, "Quota exceeded for quota metric") &&
		strstr(message, "per minute")) ||
	       (refusal->status == 400 &&
		strstr(message,
		       "Another activation or deactivation is in progress"));
}

static void judge(struct refusal *refusal, const char *message, bool quota)
{
	long status = refusal->status;

	refusal->verdict = retry_status(status);
	refusal->code = status == 401 || status == 403       ? ERROR_DENIED
			: status == 408 || status / 100 == 5 ? ERROR_UNREACHABLE
			: status == 429                      ? ERROR_TRY_AGAIN
							     : ERROR_FAILED;
	if (is_passing(refusal, message)) {
		refusal->verdict = RETRY_ALWAYS;
		refusal->code = ERROR_TRY_AGAIN;
	} else if (status == 429 && (quota || is_quota_text(message))) {
		refusal->verdict = RETRY_NEVER;
		refusal->final = true;
	}
}

static void read_refusal(const struct http_response *answer,
			 struct refusal *out)
{
	json_t *body =
		json_loadb(buf_text(&answer->body), answer->body.len, 0, NULL);
	const json_t *error = json_object_get(body, "error");
	const json_t *first =
		json_array_get(json_object_get(error, "errors"), 0);
	const char *message = json_get_text(error, "message", "");
	bool quota = false;

	*out = (struct refusal){ .status = answer->status };
	snprintf(out->reason.text, sizeof(out->reason.text), "%s",
		 json_get_text(first, "reason", ""));
	add_line(&out->text, message);
	add_details(out, json_object_get(error, "details"), &quota);
	judge(out, message, quota);
	json_decref(body);
}

/* Shortens the text at a character boundary. */
static void shorten(struct buf *text)
{
	size_t len = TEXT_MAX;

	if (text->len <= TEXT_MAX)
		return;
	while (len && ((unsigned char)text->data[len] & 0xc0) == 0x80)
		len--;
	text->len = len;
	buf_puts(text, "…");
}

int api_error_set(const struct http_response *answer, struct error *err)
{
	struct refusal refusal;

	read_refusal(answer, &refusal);
	shorten(&refusal.text);
	error_set(err, refusal.code, "status %ld%s%s%s%s%s%s", answer->status,
		  refusal.reason.text[0] ? " " : "", refusal.reason.text,
		  refusal.text.len ? ": " : "", buf_text(&refusal.text),
		  hint(&refusal),
		  refusal.final ? "; the request exceeds the quota" : "");
	err->final = refusal.final;
	buf_done(&refusal.text);
	return -1;
}

void api_error_reason(const struct http_response *answer,
		      struct api_reason *out)
{
	struct refusal refusal;

	read_refusal(answer, &refusal);
	*out = refusal.reason;
	buf_done(&refusal.text);
}

enum retry_verdict api_error_judge(const struct http_response *answer)
{
	struct refusal refusal;

	if (answer->status / 100 == 2)
		return RETRY_NEVER;
	read_refusal(answer, &refusal);
	buf_done(&refusal.text);
	return refusal.verdict;
}

/* Converts a code of google.rpc.Code (google/rpc/code.proto). */
static enum error_code code_of_rpc(long long code)
{
	switch (code) {
	case 7:  /* PERMISSION_DENIED */
	case 16: /* UNAUTHENTICATED */
		return ERROR_DENIED;
	case 8: /* RESOURCE_EXHAUSTED: quota, stock */
		return ERROR_TRY_AGAIN;
	case 14: /* UNAVAILABLE */
		return ERROR_UNREACHABLE;
	default:
		return ERROR_FAILED;
	}
}

int api_error_operation(const json_t *status, struct error *err)
{
	struct refusal refusal = { 0 };
	bool quota = false;

	refusal.code = code_of_rpc(json_get_int(status, "code", 2));
	add_line(&refusal.text, json_get_text(status, "message", ""));
	add_details(&refusal, json_object_get(status, "details"), &quota);
	shorten(&refusal.text);
	error_set(err, refusal.code, "%s",
		  refusal.text.len ? refusal.text.data
				   : "the operation failed without a message");
	/* A resource or a quota is exhausted: the operation would fail again at
	 * once. */
	err->final = refusal.code == ERROR_TRY_AGAIN;
	buf_done(&refusal.text);
	return -1;
}

static void add_quota(struct buf *out, const json_t *one)
{
	const json_t *detail, *quota;
	size_t i;

	json_array_foreach(json_object_get(one, "errorDetails"), i, detail)
	{
		quota = json_object_get(detail, "quotaInfo");
		if (!quota)
			continue;
		buf_printf(out, " (quota %s, limit %g)",
			   json_get_text(quota, "limitName", "?"),
			   json_number_value(json_object_get(quota, "limit")));
	}
}

int api_error_compute(const json_t *operation, struct error *err)
{
	const json_t *list =
		json_object_get(json_object_get(operation, "error"), "errors");
	long long status = json_get_int(operation, "httpErrorStatusCode", 0);
	enum error_code code = status == 401 || status == 403 ? ERROR_DENIED
			       : status / 100 == 5 ? ERROR_UNREACHABLE
						   : ERROR_FAILED;
	struct buf text = { 0 };
	const json_t *one;
	bool final = false;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *name = json_get_text(one, "code", "");

		buf_printf(&text, "%s%s: ", i ? "; " : "", name);
		add_line(&text, json_get_text(one, "message", ""));
		add_quota(&text, one);
		if (!strcmp(name, "QUOTA_EXCEEDED") ||
		    text_starts(name, "ZONE_RESOURCE_POOL_EXHAUSTED")) {
			code = ERROR_TRY_AGAIN;
			final = true;
		}
	}
	if (!text.len)
		buf_puts(&text, json_get_text(operation, "httpErrorMessage",
					      "the operation failed without a "
					      "message"));
	shorten(&text);
	error_set(err, code, "%s", text.data);
	err->final = final;
	buf_done(&text);
	return -1;
}
