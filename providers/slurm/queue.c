/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/queue.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/base/units.h"

/* Times are in seconds since 1970, as time zones differ.  The comment comes
 * last, as the other columns are Slurm's own and have no '|'. */
#define FORMAT "%i|%T|%S|%e|%N|%r|%k"
#define COLUMNS 7

enum column {
	COLUMN_ID,
	COLUMN_STATE,
	COLUMN_START,
	COLUMN_END,
	COLUMN_NODES,
	COLUMN_REASON,
	COLUMN_COMMENT,
};

static int by_comment(const void *a, const void *b)
{
	const struct queue_job *one = a, *two = b;

	return strcmp(one->comment, two->comment);
}

static int by_element(const void *a, const void *b)
{
	const struct queue_job *one = a, *two = b;
	int order = by_comment(one, two);

	if (!order)
		order = strcmp(one->id, two->id);
	return order ? order
		     : (one->element > two->element) -
			       (one->element < two->element);
}

static int64_t time_of(const char *text)
{
	struct error ignored;
	long seconds;

	if (number_parse(text, 0, 1L << 40, &seconds, &ignored) < 0)
		return 0;
	return (int64_t)seconds * 1000;
}

bool queue_split(char *line, char **columns, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		columns[i] = line;
		if (i == count - 1)
			break;
		line = strchr(line, '|');
		if (!line)
			return false;
		*line++ = '\0';
	}
	return true;
}

int queue_number(const char *text)
{
	long value = strtol(text, NULL, 10);

	return value > 0 && value < QUEUE_REST ? (int)value : 0;
}

char *queue_cut_note(char *comment)
{
	char *blank = strchr(comment, ' ');

	if (!blank)
		return comment + strlen(comment);
	*blank = '\0';
	return blank + 1;
}

static void add(struct slurm_queue *out, size_t *room, char *columns[COLUMNS],
		struct arena *mem)
{
	char *plus = strchr(columns[COLUMN_ID], '+');
	struct queue_job *job;
	char *line, *note;

	if (!text_starts(columns[COLUMN_COMMENT], "jobrun:"))
		return;
	/* The first component of a heterogeneous job has the script, and stands
	 * for the whole job. */
	if (plus && strcmp(plus, "+0") != 0)
		return;
	if (plus)
		*plus = '\0';
	/* The id of an array's element is "12_3". */
	line = strchr(columns[COLUMN_ID], '_');
	if (line)
		*line++ = '\0';
	if (out->count == *room) {
		*room = *room ? 2 * *room : 16;
		out->items = mem_grow(out->items, *room, sizeof(*out->items));
	}
	note = queue_cut_note(columns[COLUMN_COMMENT]);
	job = &out->items[out->count++];
	*job = (struct queue_job){
		.id = arena_strdup(mem, columns[COLUMN_ID]),
		.element = line ? queue_number(line) : 0,
		.comment = arena_strdup(mem, columns[COLUMN_COMMENT]),
		.note = arena_strdup(mem, note),
		.state = arena_strdup(mem, columns[COLUMN_STATE]),
		.reason = strcmp(columns[COLUMN_REASON], "None") != 0
				  ? arena_strdup(mem, columns[COLUMN_REASON])
				  : "",
		.nodes = arena_strdup(mem, columns[COLUMN_NODES]),
		.start_time_ms = time_of(columns[COLUMN_START]),
		.end_time_ms = time_of(columns[COLUMN_END]),
	};
}

/* Returns the state of a whole array by those of its elements. */
static const char *state_of_all(const struct queue_job *elements, size_t count)
{
	size_t waiting = 0, ended = 0, succeeded = 0, cancelled = 0, i;

	for (i = 0; i < count; i++) {
		enum run_state state = queue_state(elements[i].state);

		waiting += state == RUN_QUEUED;
		ended += run_state_is_final(state);
		succeeded += state == RUN_SUCCEEDED;
		cancelled += state == RUN_CANCELLED;
	}
	if (waiting == count)
		return "PENDING";
	if (ended < count)
		return "RUNNING";
	return cancelled            ? "CANCELLED"
	       : succeeded == count ? "COMPLETED"
				    : "FAILED";
}

/* Combines the elements of an array into one job. */
static void fold(struct queue_job *elements, size_t count,
		 struct queue_job *out)
{
	size_t i;

	*out = (struct queue_job){
		.id = elements->id,
		.comment = elements->comment,
		.note = "",
		.state = state_of_all(elements, count),
		.reason = "",
		.nodes = "",
		.elements = elements,
		.element_count = count,
	};
	for (i = 0; i < count; i++) {
		const struct queue_job *one = &elements[i];
		bool waits = queue_state(one->state) == RUN_QUEUED;

		if (!strcmp(out->state, "PENDING") && !*out->reason)
			out->reason = one->reason;
		if (one->start_time_ms &&
		    (!waits || !strcmp(out->state, "PENDING")) &&
		    (!out->start_time_ms ||
		     one->start_time_ms < out->start_time_ms))
			out->start_time_ms = one->start_time_ms;
		if (one->end_time_ms > out->end_time_ms)
			out->end_time_ms = one->end_time_ms;
	}
}

static void fold_all(struct slurm_queue *queue, struct arena *mem)
{
	struct queue_job *to =
		arena_alloc(mem, (queue->count + 1) * sizeof(*to));
	size_t n = 0, i, end;

	for (i = 0; i < queue->count; i = end) {
		struct queue_job *one = &queue->items[i];

		for (end = i + 1; one->element && end < queue->count &&
				  !strcmp(queue->items[end].id, one->id) &&
				  !by_comment(&queue->items[end], one);
		     end++)
			;
		if (one->element)
			fold(one, end - i, &to[n++]);
		else
			to[n++] = *one;
	}
	queue->items = to;
	queue->count = n;
}

void queue_sort(struct slurm_queue *queue, struct arena *mem)
{
	qsort(queue->items, queue->count, sizeof(*queue->items), by_element);
	fold_all(queue, mem);
}

const struct queue_job *queue_element(const struct queue_job *job, int number)
{
	size_t i;

	/* The entry for the remaining elements comes last. */
	for (i = 0; i < job->element_count; i++)
		if (job->elements[i].element == number ||
		    job->elements[i].element == QUEUE_REST)
			return &job->elements[i];
	return NULL;
}

void queue_parse(char *text, struct arena *mem, struct slurm_queue *out)
{
	struct queue_job *items;
	char *columns[COLUMNS];
	char *line, *next;
	size_t room = 0;

	*out = (struct slurm_queue){ 0 };
	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (queue_split(line, columns, COLUMNS))
			add(out, &room, columns, mem);
	}
	items = arena_alloc(mem, (out->count + 1) * sizeof(*items));
	if (out->count)
		memcpy(items, out->items, out->count * sizeof(*items));
	free(out->items);
	out->items = items;
	queue_sort(out, mem);
}

int queue_read(struct cluster *cluster, const char *id, struct arena *mem,
	       struct slurm_queue *out, struct error *err)
{
	const char *argv[] = {
		"env",
		"SLURM_TIME_FORMAT=%s",
		"squeue",
		"--me",
		"-h",
		"-t",
		"all",
		"-r",
		"-o",
		FORMAT,
		id ? "-j" : NULL,
		id,
		NULL,
	};
	struct command_answer answer;

	*out = (struct slurm_queue){ 0 };
	if (cluster_slurm(cluster, argv, &answer, err) < 0)
		return id && strstr(err->text, "Invalid job id") ? 0 : -1;
	if (answer.out.len)
		queue_parse(answer.out.data, mem, out);
	command_answer_done(&answer);
	return 0;
}

/* Returns the value after " Name=" in a line of scontrol, "" if there is
 * none. */
static const char *field_of(const char *line, const char *name,
			    struct arena *mem)
{
	const char *at = strstr(line, name);

	return at ? arena_strndup(mem, at + strlen(name),
				  strcspn(at + strlen(name), " "))
		  : "";
}

/* Returns a state that is not final from the lines of scontrol, one for each
 * element or component of the job; NULL if there is none. */
static const char *find_live(char *text, const char *comment, struct arena *mem)
{
	char *line, *rest = NULL;
	const char *live = "nothing";
	const char *state;

	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		state = field_of(line, " JobState=", mem);
		if (!*state)
			return "nothing that is understood";
		live = NULL;
		/* The number may belong to another job by now. */
		if (!strcmp(field_of(line, " Comment=", mem), comment) &&
		    !run_state_is_final(queue_state(state)))
			return state;
	}
	return live;
}

int queue_confirm_end(struct cluster *cluster, const char *id,
		      const char *comment, struct error *err)
{
	const char *argv[] = { "scontrol", "-o", "show", "job", id, NULL };
	struct arena *mem = arena_new();
	struct command_answer answer = { 0 };
	const char *state;
	int ret = cluster_slurm(cluster, argv, &answer, err);

	if (ret == 0) {
		buf_putc(&answer.out, '\0');
		state = find_live(answer.out.data, comment, mem);
		if (state)
			ret = error_set(err, ERROR_UNREACHABLE,
					"Slurm's commands disagree about job "
					"%s: squeue does not show it, scontrol "
					"says %s",
					id, state);
		command_answer_done(&answer);
	} else if (strstr(err->text, "Invalid job id")) {
		ret = 0;
	} else {
		err->code = ERROR_UNREACHABLE;
	}
	arena_free(mem);
	return ret;
}

const struct queue_job *queue_find(const struct slurm_queue *queue,
				   const char *comment)
{
	const struct queue_job key = { .comment = comment };

	if (!queue->count)
		return NULL;
	return bsearch(&key, queue->items, queue->count, sizeof(key),
		       by_comment);
}

void queue_job_copy(const struct queue_job *job, struct arena *mem,
		    struct queue_job *out)
{
	size_t i;

	*out = *job;
	out->id = arena_strdup(mem, job->id);
	out->comment = arena_strdup(mem, job->comment);
	out->note = arena_strdup(mem, job->note);
	out->state = arena_strdup(mem, job->state);
	out->reason = arena_strdup(mem, job->reason);
	out->nodes = arena_strdup(mem, job->nodes);
	out->elements = arena_alloc(mem, (job->element_count + 1) *
						 sizeof(*out->elements));
	for (i = 0; i < job->element_count; i++)
		queue_job_copy(&job->elements[i], mem, &out->elements[i]);
}

enum run_state queue_state(const char *name)
{
	static const struct {
		const char *name;
		enum run_state state;
	} states[] = {
		{ "PENDING", RUN_QUEUED },
		{ "REQUEUED", RUN_QUEUED },
		{ "REQUEUE_HOLD", RUN_QUEUED },
		{ "REQUEUE_FED", RUN_QUEUED },
		{ "SPECIAL_EXIT", RUN_QUEUED },
		{ "CONFIGURING", RUN_PREPARING },
		{ "COMPLETED", RUN_SUCCEEDED },
		{ "CANCELLED", RUN_CANCELLED },
		{ "REVOKED", RUN_CANCELLED },
		{ "FAILED", RUN_FAILED },
		{ "TIMEOUT", RUN_FAILED },
		{ "NODE_FAIL", RUN_FAILED },
		{ "PREEMPTED", RUN_FAILED },
		{ "BOOT_FAIL", RUN_FAILED },
		{ "DEADLINE", RUN_FAILED },
		{ "OUT_OF_MEMORY", RUN_FAILED },
	};
	size_t i;

	for (i = 0; i < COUNT(states); i++)
		if (!strcmp(states[i].name, name))
			return states[i].state;
	/* RUNNING, COMPLETING, SUSPENDED, STAGE_OUT and so on are not final. */
	return RUN_RUNNING;
}

bool queue_is_held(const struct queue_job *job)
{
	return text_starts(job->reason, "JobHold") ||
	       strcasestr(job->reason, "held");
}

struct meaning {
	const char *name;
	const char *text;
};

/* The reasons of squeue(1), "JOB REASON CODES". */
static const struct meaning reasons[] = {
	{ "Priority", "jobs with a higher priority are before it" },
	{ "Resources", "it waits until enough nodes are free" },
	{ "Dependency", "it waits for another job" },
	{ "BeginTime", "its start time has not come yet" },
	{ "JobHeldUser", "it is held; 'scontrol release' lets it go" },
	{ "JobHeldAdmin", "an administrator holds it" },
	{ "JobHoldMaxRequeue",
	  "it was requeued too often, and is held; 'scontrol release' lets it "
	  "try again" },
	{ "Reservation", "it waits for its reservation" },
	{ "ReservationDeleted", "its reservation is gone" },
	{ "PartitionDown", "the partition is down" },
	{ "PartitionInactive", "the partition starts no jobs right now" },
	{ "PartitionNodeLimit", "it wants more nodes than the partition allows "
				"per job" },
	{ "PartitionTimeLimit", "its maxRunningTime is longer than the "
				"partition allows" },
	{ "ReqNodeNotAvail", "nodes that it needs are down, drained or "
			     "reserved" },
	{ "BadConstraints", "no node can satisfy it" },
	{ "Licenses", "it waits for a licence" },
	{ "InvalidAccount", "the account is not valid" },
	{ "InvalidQOS", "the QOS is not valid" },
	{ "Cleaning", "it is ending, to be queued again" },
	{ "NodeDown", "a node that it needs is down" },
	{ "PartitionConfig", "it wants more nodes than the partition has" },
	{ "NodeNotAvail", "nodes that it needs are unavailable" },
	{ "DependencyNeverSatisfied", "the job that it waits for has failed" },
	{ "AccountNotAllowed", "its account may not use the partition" },
	{ "QOSNotAllowed", "its QOS may not use the partition" },
	{ "launch failed requeued held",
	  "it could not be started, and is held; 'scontrol release' lets it "
	  "try again" },
	{ "user env retrieval failed requeued held",
	  "the user's environment could not be read, and it is held; 'scontrol "
	  "release' lets it try again" },
	{ "job requeued in held state",
	  "it was queued again, and is held; 'scontrol release' lets it go" },
	{ "JobArrayTaskLimit", "as many of its elements run as may" },
	{ "BurstBufferResources", "it waits for room in the burst buffer" },
	{ "BurstBufferStageIn", "its files are brought into the burst buffer" },
	{ "Prolog", "its nodes are being prepared" },
	{ "NoReason", "" },
	{ "None", "" },
};

static const struct meaning ends[] = {
	{ "TIMEOUT", "it reached its time limit" },
	{ "NODE_FAIL", "a node was lost" },
	{ "PREEMPTED", "it was preempted" },
	{ "BOOT_FAIL", "its nodes did not start" },
	{ "DEADLINE", "its deadline has passed" },
	{ "OUT_OF_MEMORY", "it used more memory than it has" },
};

/* Reasons on the same page for jobs that have FAILED. */
static const struct meaning failures[] = {
	{ "JobLaunchFailure", "its script could not be started: do the nodes "
			      "see jobrun.slurm.directory, and under this "
			      "user?" },
	{ "SystemFailure", "Slurm or a node failed" },
	{ "InactiveLimit", "it reached the limit of time without activity" },
	{ "RaisedSignal:53(Real-time_signal_19)",
	  "its output could not be opened: do the nodes see "
	  "jobrun.slurm.directory?" },
};

static const char *find(const struct meaning *from, size_t count,
			const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(from[i].name, name))
			return from[i].text;
	return NULL;
}

const char *queue_explain(const struct queue_job *job, struct arena *mem)
{
	size_t len = strcspn(job->reason, ",");
	const char *reason = arena_strndup(mem, job->reason, len);
	const char *text;
	char time[32];

	text = find(ends, COUNT(ends), job->state);
	if (text)
		return text;
	text = find(failures, COUNT(failures), reason);
	if (text && queue_state(job->state) == RUN_FAILED)
		return text;
	if (queue_state(job->state) != RUN_QUEUED)
		return *reason ? arena_printf(mem, "Slurm says %s", job->reason)
			       : "";
	if (!strcmp(reason, "BeginTime") && job->start_time_ms) {
		time_format_log(job->start_time_ms, time, sizeof(time));
		return arena_printf(mem, "its start time has not come yet: %s",
				    time);
	}
	text = find(reasons, COUNT(reasons), reason);
	if (text)
		return text;
	if (text_starts(reason, "Max"))
		return arena_printf(mem,
				    "a limit of the cluster is reached "
				    "(%s)",
				    reason);
	if (text_starts(reason, "QOS"))
		return arena_printf(mem, "a limit of its QOS is reached (%s)",
				    reason);
	if (text_starts(reason, "Assoc"))
		return arena_printf(
			mem, "a limit of its account is reached (%s)", reason);
	return *reason ? arena_printf(mem, "Slurm says %s", job->reason) : "";
}
