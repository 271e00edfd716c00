/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a managed run, copied from Cloud Logging into the run's folder.
 *
 * Entries come late and out of order, so each look asks again for those
 * received in the last minutes, and leaves out known ones by their insertId.
 * The time of receipt is by the service's clock, so that neither our clock nor
 * the trainer's matters.  The state (core/remote/log_collect.h) is
 *
 *	{"from", "seen", "said", "aliveMs", "askedMs", "finalMs", "told"}
 *
 * Cloud Logging allows a project 60 such requests a minute, so with many runs,
 * or long ones, each asks less often.
 */
#include "core/base/clock.h"
#include "core/base/units.h"
#include "providers/google/managed/managed_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/remote/log_collect.h"
#include "providers/google/operation.h"

#define PAGES_MAX 100
#define TRIAL_MAX 100000
#define ENTRIES_MAX 1000
/* How late a received entry may become visible. */
#define OVERLAP_MS 120000
/* How late the last entries of a run may be, in first looks: ten seconds. */
#define SETTLE_LOOKS 10
/* How often a run that was seen to end is looked at again at least, and for how
 * many times as long. */
#define LOOKS_MIN 3
#define LOOKS_LONG 30

/* A single run asks at every look, several runs together once every two
 * seconds, and a run older than ten minutes at most twice a minute. */
#define EACH_MS 2000
#define LONG_MS (10 * 60 * 1000)
#define LONG_EVERY_MS 30000

#define LOG_NAME "cloud-log"

struct collector {
	struct managed *managed;
	const char *name; /* name of the run at the service */
	struct log_collect files;
};

/* ---- lines ------------------------------------------------------------- */

static const char *label_of(const json_t *entry, const char *name)
{
	const json_t *resource = json_object_get(entry, "resource");
	const json_t *labels = json_object_get(entry, "labels");
	char whole[64];
	const char *out;

	out = json_get_text(json_object_get(resource, "labels"), name, NULL);
	if (!out)
		out = json_get_text(labels, name, NULL);
	snprintf(whole, sizeof(whole), "ml.googleapis.com/%s", name);
	return out ? out : json_get_text(labels, whole, NULL);
}

static bool is_bad(const char *severity)
{
	return !strcmp(severity, "ERROR") || !strcmp(severity, "CRITICAL") ||
	       !strcmp(severity, "ALERT") || !strcmp(severity, "EMERGENCY");
}

/* Returns the trial whose log a line belongs to, 0 for the run itself. */
static long trial_of(const struct collector *c, const char *label)
{
	struct error ignored;
	long out;

	if (!label || !c->files.spec.tuning.params.count ||
	    number_parse(label, 1, TRIAL_MAX, &out, &ignored) < 0)
		return 0;
	return out;
}

/* Notes the service's newest line about the job, such as why it is pending. */
static void note_service(const struct collector *c, const char *task,
			 const json_t *line)
{
	long long time_ms = json_get_int(line, "timeMs", 0);
	const json_t *said = json_object_get(c->files.state, "said");

	if (!task || strcmp(task, "service") != 0 ||
	    json_get_int(said, "timeMs", -1) > time_ms)
		return;
	json_object_set_new(c->files.state, "said",
			    json_pack("{s:I, s:O}", "timeMs",
				      (json_int_t)time_ms, "text",
				      json_object_get(line, "text")));
}

/* Returns the line for log_collect_take(); NULL if the entry has no text. */
static json_t *line_of(const struct collector *c, const json_t *entry)
{
	const char *text = json_get_text(entry, "textPayload", NULL);
	const char *task = label_of(entry, "task_name");
	const char *trial = label_of(entry, "trial_id");
	int ordinal = managed_task(&c->files.spec.topology, task ? task : "");
	bool stranger = ordinal < 0 && task;
	long number = trial_of(c, trial);
	char *whole;
	json_t *out;

	if (!text)
		text = json_get_text(json_object_get(entry, "jsonPayload"),
				     "message", NULL);
	if (!text)
		return NULL;
	whole = mem_printf("%s%s%s", stranger ? task : "", stranger ? ": " : "",
			   text);
	out = log_collect_line(
		number, ordinal < 0 ? 0 : (size_t)ordinal,
		is_bad(json_get_text(entry, "severity", "")) ? LOG_STDERR
							     : LOG_STDOUT,
		time_parse(json_get_text(entry, "timestamp", "")), whole,
		strlen(whole));
	free(whole);
	note_service(c, task, out);
	return out;
}

/* ---- entries ----------------------------------------------------------- */

static int64_t received_ms(const json_t *entry)
{
	const char *text = json_get_text(entry, "receiveTimestamp", NULL);

	return time_parse(text ? text : json_get_text(entry, "timestamp", ""));
}

/* Remembers in "seen" when an entry was received; returns true if it is new. */
static bool remember(json_t *seen, const json_t *entry)
{
	char *key = mem_printf("%s %s", json_get_text(entry, "timestamp", ""),
			       json_get_text(entry, "insertId", ""));
	bool is_new = !json_object_get(seen, key);

	if (is_new)
		json_object_set_new(seen, key,
				    json_integer(received_ms(entry)));
	free(key);
	return is_new;
}

static int take_entries(struct collector *c, const json_t *entries,
			struct error *err)
{
	json_t *seen = json_object_get(c->files.state, "seen");
	json_t *lines = json_array();
	const json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry)
	{
		json_t *line = remember(seen, entry) ? line_of(c, entry) : NULL;

		if (line)
			json_array_append_new(lines, line);
	}
	if (json_array_size(lines))
		return log_collect_take(&c->files, lines, err);
	json_decref(lines);
	return 0;
}

/* Moves on when all pages were read: entries from before the overlap are
 * neither asked for again nor remembered. */
static void advance(const struct collector *c)
{
	json_t *seen = json_object_get(c->files.state, "seen");
	int64_t last = 0;
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach(seen, key, value)
	{
		if (json_integer_value(value) > last)
			last = json_integer_value(value);
	}
	json_object_foreach_safe(seen, next, key, value)
	{
		if (json_integer_value(value) < last - OVERLAP_MS)
			json_object_del(seen, key);
	}
	if (last)
		json_object_set_new(c->files.state, "from",
				    json_integer(last - OVERLAP_MS));
}

static json_t *make_query(const struct collector *c, const char *page)
{
	long long from_ms = json_get_int(c->files.state, "from", 0);
	const char *slash = strchr(c->name + strlen("projects/"), '/');
	struct buf filter = { 0 };
	json_t *out = json_object();
	char from[40];

	buf_printf(&filter,
		   "(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\")"
		   " AND resource.labels.job_id=\"%s\"",
		   path_base(c->name));
	time_format(from_ms, from, sizeof(from));
	if (from_ms)
		buf_printf(&filter, " AND receiveTimestamp>=\"%s\"", from);
	json_put(out, "resourceNames",
		 json_pack("[o]", json_sprintf("%.*s", (int)(slash - c->name),
					       c->name)));
	json_put_text(out, "filter", filter.data);
	json_put_text(out, "orderBy", "timestamp asc");
	json_put_int(out, "pageSize", ENTRIES_MAX);
	if (page)
		json_put_text(out, "pageToken", page);
	buf_done(&filter);
	return out;
}

/* In this API the token of the next page is in the body, not in the query. */
static int collect_pages(struct collector *c, struct error *err)
{
	struct api_request request = { .service = SERVICE_LOGGING,
				       .method = "POST",
				       .path = "v2/entries:list",
				       .repeatable = true };
	const char *page = NULL;
	int pages = 0, ret;

	do {
		struct api_answer answer = { 0 };
		json_t *query = make_query(c, page);

		request.body = query;
		ret = api_call(c->managed->google, &request, &answer, err);
		if (ret == 0)
			ret = take_entries(
				c, json_object_get(answer.body, "entries"),
				err);
		page = ret == 0 ? arena_strdup(c->files.mem,
					       json_get_text(answer.body,
							     "nextPageToken",
							     ""))
				: "";
		json_decref(query);
		api_answer_done(&answer);
	} while (ret == 0 && *page && ++pages < PAGES_MAX);
	if (ret == 0 && !*page)
		advance(c);
	return ret;
}

/* ---- a look ------------------------------------------------------------ */

/* Writes a failure once into the log, as the run itself goes on. */
static void tell(struct collector *c, const struct error *why)
{
	struct error ignored;
	json_t *line;
	char *text;

	if (json_object_get(c->files.state, "told"))
		return;
	json_object_set_new(c->files.state, "told", json_true());
	text = mem_printf("jobrun: the log can't be read: %s", why->text);
	line = log_collect_line(0, 0, LOG_STDERR, time_now_ms(), text,
				strlen(text));
	free(text);
	log_collect_take(&c->files, json_pack("[o]", line), &ignored);
}

/* Whether enough time has passed since the end, by the service's clock or ours,
 * whichever is first, as one may be wrong.  A run cannot have ended before we
 * last saw it running. */
static bool is_settled(const struct collector *c, int64_t end_ms)
{
	long long seen_ms = json_get_int(c->files.state, "finalMs", 0);
	long long alive_ms = json_get_int(c->files.state, "aliveMs", 0);
	long long looks = json_get_int(c->files.state, "finalLooks", 0) + 1;
	int64_t settle_ms = SETTLE_LOOKS * operation_first_look_ms();
	int64_t now_ms = time_now_ms();

	json_object_set_new(c->files.state, "finalLooks", json_integer(looks));
	if (alive_ms &&
	    (now_ms - alive_ms < settle_ms ||
	     (looks < LOOKS_MIN && now_ms - alive_ms < LOOKS_LONG * settle_ms)))
		return false;
	if (!seen_ms)
		json_object_set_new(c->files.state, "finalMs",
				    json_integer(now_ms));
	return now_ms - end_ms >= settle_ms ||
	       (seen_ms && now_ms - seen_ms >= settle_ms);
}

/* Returns the service's last line without its newline. */
static const char *what_was_said(const struct collector *c, struct arena *mem)
{
	const char *text = json_get_text(
		json_object_get(c->files.state, "said"), "text", NULL);

	if (text && text_starts(text, "service: "))
		text += strlen("service: ");
	return text ? arena_strndup(mem, text, strcspn(text, "\r\n")) : NULL;
}

/* Returns how many runs share the quota of requests. */
static size_t live_runs(const struct managed *managed)
{
	struct arena *mem = arena_new();
	struct run_list all = { 0 };
	struct error ignored;
	size_t n = 0;

	if (store_run_list_open(managed->env.store, managed->as->provider, mem,
				&all, &ignored) == 0)
		n = all.count;
	arena_free(mem);
	return n;
}

/* Whether the log is due to be read now; if so, records the time. */
static bool is_due(const struct collector *c, const struct run_record *run)
{
	size_t live = live_runs(c->managed);
	long long now_ms = time_now_ms();
	long long asked_ms = json_get_int(c->files.state, "askedMs", 0);
	long long every_ms = live > 1 ? (long long)live * EACH_MS : 0;

	if (now_ms - run->create_time_ms > LONG_MS && every_ms < LONG_EVERY_MS)
		every_ms = LONG_EVERY_MS;
	if (now_ms >= asked_ms && now_ms - asked_ms < every_ms)
		return false;
	json_object_set_new(c->files.state, "askedMs", json_integer(now_ms));
	return true;
}

bool managed_log_collect(struct managed *managed, const struct run_record *run,
			 const char *name, bool ended, int64_t end_ms,
			 struct arena *mem, const char **said)
{
	char *folder =
		store_run_folder(managed->env.store, run->job_id, run->attempt);
	struct collector c = { .managed = managed, .name = name };
	struct error err;
	bool settled = false;
	int ret = log_collect_open(&c.files, folder, LOG_NAME, &err);

	if (ret == 0) {
		if (!json_object_get(c.files.state, "seen"))
			json_object_set_new(c.files.state, "seen",
					    json_object());
		/* This is set before the last look, so that the look comes
		 * after the end. */
		settled = ended && is_settled(&c, end_ms);
		if (!ended)
			json_object_set_new(c.files.state, "aliveMs",
					    json_integer(time_now_ms()));
		if ((ended || is_due(&c, run)) && collect_pages(&c, &err) < 0 &&
		    (settled || error_is_denied(&err)))
			tell(&c, &err);
	} else if (ret < 0) {
		settled = ended; /* another try will not do better */
	}
	*said = what_was_said(&c, mem);
	log_collect_close(&c.files);
	free(folder);
	return settled;
}
