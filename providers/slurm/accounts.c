/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/accounts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

/* The comment comes last, as it alone may contain the separator. */
#define FORMAT                                                                 \
	"JobID,JobName,State,Submit,Start,End,ElapsedRaw,AllocCPUS,TotalCPU,"  \
	"MaxRSS,NodeList,Comment"
#define COLUMNS 12
/* A margin for clocks that differ. */
#define EARLIER_MS 600000
/* More seconds or processors than there can be. */
#define NUMBER_MAX 1000000000000

enum column {
	COLUMN_ID,
	COLUMN_NAME,
	COLUMN_STATE,
	COLUMN_SUBMIT,
	COLUMN_START,
	COLUMN_END,
	COLUMN_ELAPSED,
	COLUMN_CPUS,
	COLUMN_CPU_TIME,
	COLUMN_MEMORY,
	COLUMN_NODES,
	COLUMN_COMMENT,
};

struct account {
	struct queue_job job; /* with its id up to "_" or "+" */
	bool step;            /* a step of the preceding job */
	bool component;       /* of a heterogeneous job, not the first */
	const char *name;
	int64_t submit_ms;
	struct usage usage; /* memory and CPU of a step, nodes of a job */
};

/* Parses a number; a missing or impossible one gives 0, which means unknown. */
static int64_t number_of(const char *text)
{
	long long value =
		isdigit((unsigned char)*text) ? strtoll(text, NULL, 10) : 0;

	return value <= NUMBER_MAX ? value : 0;
}

/* Adds two numbers without overflow. */
static int64_t sum(int64_t a, int64_t b)
{
	return a <= INT64_MAX - b ? a + b : INT64_MAX;
}

/* Returns the milliseconds of "1-02:03:04" or "03:04.567". */
static int64_t cpu_time_of(const char *text)
{
	const char *dash = strchr(text, '-');
	double seconds = dash ? (double)number_of(text) * 24 : 0;
	const char *at = dash ? dash + 1 : text;
	char *end;

	for (;; at = end + 1) {
		double part = strtod(at, &end);

		if (end == at || !(part >= 0 && part <= 1e9))
			return 0;
		seconds += part;
		if (*end != ':')
			break;
		seconds *= 60;
	}
	return seconds <= (double)NUMBER_MAX ? (int64_t)(seconds * 1000 + 0.5)
					     : 0;
}

/* Returns the bytes of "123", "123K" or "1.50M". */
static uint64_t memory_of(const char *text)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0 && value < 1e15))
		return 0;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	for (; unit && unit >= units; unit--)
		value *= 1024;
	return value < 1e18 ? (uint64_t)value : 0;
}

static int64_t allocated_of(int64_t elapsed_s, int64_t cpus)
{
	return !cpus || elapsed_s <= NUMBER_MAX / cpus ? elapsed_s * cpus * 1000
						       : 0;
}

/* Reads an id such as "12_3.batch" or "13+0.0"; returns false for other
 * text. */
static bool take_id(char *text, struct account *out, struct arena *mem)
{
	size_t digits = strspn(text, "0123456789");
	char *rest = text + digits;

	if (!digits)
		return false;
	out->job.id = arena_strndup(mem, text, digits);
	/* The pending rest of an array has one line, "12_[4-9]", which sacct
	 * may truncate. */
	if (text_starts(rest, "_["))
		out->job.element = QUEUE_REST;
	else if (*rest == '_')
		out->job.element = queue_number(rest + 1);
	out->component = text_starts(rest, "+") && !text_starts(rest, "+0");
	out->step = strchr(rest, '.');
	return true;
}

static bool take(char *columns[COLUMNS], struct arena *mem, struct account *out)
{
	char *state = columns[COLUMN_STATE];

	*out = (struct account){ 0 };
	if (!take_id(columns[COLUMN_ID], out, mem))
		return false;
	/* Cut off what follows, as in "CANCELLED by 1000". */
	out->job.state = arena_strndup(mem, state, strcspn(state, " +"));
	out->job.reason = "";
	out->job.nodes = isalnum((unsigned char)*columns[COLUMN_NODES])
				 ? arena_strdup(mem, columns[COLUMN_NODES])
				 : "";
	out->job.note =
		arena_strdup(mem, queue_cut_note(columns[COLUMN_COMMENT]));
	out->job.comment = arena_strdup(mem, columns[COLUMN_COMMENT]);
	out->job.start_time_ms = number_of(columns[COLUMN_START]) * 1000;
	out->job.end_time_ms = number_of(columns[COLUMN_END]) * 1000;
	out->name = arena_strdup(mem, columns[COLUMN_NAME]);
	out->submit_ms = number_of(columns[COLUMN_SUBMIT]) * 1000;
	if (out->step)
		out->usage = (struct usage){
			.cpu_ms = cpu_time_of(columns[COLUMN_CPU_TIME]),
			.memory_bytes = memory_of(columns[COLUMN_MEMORY]),
		};
	else
		out->usage.allocated_cpu_ms =
			allocated_of(number_of(columns[COLUMN_ELAPSED]),
				     number_of(columns[COLUMN_CPUS]));
	return true;
}

void accounts_parse(char *text, struct arena *mem, struct accounts *out)
{
	struct account *items = NULL, one;
	char *columns[COLUMNS];
	char *line, *next;
	size_t room = 0;

	*out = (struct accounts){ 0 };
	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!queue_split(line, columns, COLUMNS) ||
		    !take(columns, mem, &one))
			continue;
		if (out->count == room) {
			room = room ? 2 * room : 16;
			items = mem_grow(items, room, sizeof(*items));
		}
		items[out->count++] = one;
	}
	out->items = arena_alloc(mem, (out->count + 1) * sizeof(*items));
	if (out->count)
		memcpy(out->items, items, out->count * sizeof(*items));
	free(items);
}

int accounts_read(struct cluster *cluster, const struct strings *names,
		  int64_t since_ms, struct arena *mem, struct accounts *out,
		  struct error *err)
{
	struct buf list = { 0 };
	const char *argv[] = {
		"env",
		"SLURM_TIME_FORMAT=%s",
		"sacct",
		"-n",
		"-P",
		"--noconvert",
		"-S",
		arena_printf(mem, "uts%lld",
			     (long long)(since_ms - EARLIER_MS) / 1000),
		"-o",
		FORMAT,
		NULL,
		NULL,
	};
	struct command_answer answer;
	int ret;

	for (size_t i = 0; i < names->count; i++)
		buf_printf(&list, "%s%s", i ? "," : "--name=", names->items[i]);
	argv[10] = list.len ? buf_text(&list) : NULL;
	ret = cluster_slurm(cluster, argv, &answer, err);
	buf_done(&list);
	if (ret < 0)
		return -1;
	*out = (struct accounts){ 0 };
	if (answer.out.len)
		accounts_parse(answer.out.data, mem, out);
	command_answer_done(&answer);
	return 0;
}

static bool is_wanted(const struct account *job, const struct account_key *key)
{
	if (strcmp(job->name, key->name) != 0)
		return false;
	if (*job->job.comment)
		return !strcmp(job->job.comment, key->comment);
	/* Slurm reuses numbers after a crash, but not within a day. */
	return !strcmp(job->job.id, key->id) &&
	       job->submit_ms >= key->since_ms - EARLIER_MS;
}

bool accounts_find(const struct accounts *accounts,
		   const struct account_key *key, struct arena *mem,
		   struct queue_job *out, struct usage *usage)
{
	struct slurm_queue all = {
		.items = arena_alloc(mem, (accounts->count + 1) *
						  sizeof(*all.items)),
	};
	bool wanted = false;

	*usage = (struct usage){ 0 };
	for (size_t i = 0; i < accounts->count; i++) {
		const struct account *one = &accounts->items[i];

		if (!one->step) {
			wanted = is_wanted(one, key);
			if (wanted && !one->component &&
			    (!all.count ||
			     !strcmp(all.items[0].id, one->job.id)))
				all.items[all.count++] = one->job;
		}
		if (!wanted)
			continue;
		usage->cpu_ms = sum(usage->cpu_ms, one->usage.cpu_ms);
		usage->allocated_cpu_ms = sum(usage->allocated_cpu_ms,
					      one->usage.allocated_cpu_ms);
		if (one->usage.memory_bytes > usage->memory_bytes)
			usage->memory_bytes = one->usage.memory_bytes;
	}
	for (size_t i = 0; i < all.count; i++) {
		all.items[i].comment = key->comment;
		/* These elements were never listed one by one. */
		if (all.count > 1 && !all.items[i].element)
			all.items[i].element = QUEUE_REST;
	}
	queue_sort(&all, mem);
	if (all.count)
		*out = all.items[0];
	return all.count;
}
