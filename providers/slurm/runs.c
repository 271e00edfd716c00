/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/provider/listing.h"

/*
 * Prints for each run its run.json on one line, and on another the number of
 * its job and each attempt with its status: "117 0:143 1:-".  A run with trials
 * has only attempt 0.  If a node was lost after the master's end, nobody has
 * written the status.
 */
#define READ                                                                   \
	"cd \"$1/runs\" 2>/dev/null || exit 0\n"                               \
	"for d in ${2:-*}/*/; do\n"                                            \
	"  [ -f \"${d}run.json\" ] || continue\n"                              \
	"  cat \"${d}run.json\" || continue\n"                                 \
	"  echo\n"                                                             \
	"  line=$(readlink \"${d}job\") || line=-\n"                           \
	"  for a in \"$d\"attempts/*/; do\n"                                   \
	"    [ -d \"$a\" ] || continue\n"                                      \
	"    s=-; [ -f \"${a}status\" ] && read -r s <\"${a}status\"\n"        \
	"    [ \"$s\" != - ] || ! grep -qs '^end 0 ' \"${a}tasks/master-0\" "  \
	"|| s=0\n"                                                             \
	"    a=${a%/}; line=\"$line ${a##*/}:$s\"\n"                           \
	"  done\n"                                                             \
	"  if [ -d \"${d}trials\" ]; then\n"                                   \
	"    s=-; [ -f \"${d}status\" ] && read -r s <\"${d}status\"\n"        \
	"    line=\"$line 0:$s\"\n"                                            \
	"  fi\n"                                                               \
	"  echo \"$line\"\n"                                                   \
	"done\n"

json_t *run_json(const struct slurm_run *run)
{
	json_t *out = json_object();

	json_put_int(out, "formatVersion", 1);
	json_put_text(out, "jobId", run->job_id);
	json_put_text(out, "name", run->name);
	json_put_int(out, "number", run->number);
	json_put_text(out, "digest", run->digest);
	json_put_text(out, "digest2", run->digest2);
	json_put_text(out, "comment", run->comment);
	if (run->owner)
		json_put_text(out, "owner", run->owner);
	json_put_text(out, "set", run->set);
	json_put_text(out, "origin", run->origin);
	json_put_text(out, "revision", run->revision);
	json_put_text(out, "cleanup", cleanup_name(run->cleanup));
	json_put_int(out, "createTimeMs", run->create_time_ms);
	json_put(out, "properties", json_incref(run->properties));
	return out;
}

static const char *copy(const json_t *from, const char *key, struct arena *mem)
{
	const char *text = json_get_text(from, key, NULL);

	return text ? arena_strdup(mem, text) : NULL;
}

/* Reads a line such as "117 0:143 1:-". */
static void take_progress(char *line, struct arena *mem, struct slurm_run *run)
{
	char *word, *rest = NULL;
	int restart, status;

	word = strtok_r(line, " ", &rest);
	if (word && strcmp(word, "-") != 0)
		run->id = arena_strdup(mem, word);
	while ((word = strtok_r(NULL, " ", &rest))) {
		int found = sscanf(word, "%d:%d", &restart, &status);

		if (found < 1 || restart < run->restart)
			continue;
		run->restart = restart;
		run->status = found == 2 ? status : -1;
	}
}

static int by_number(const void *a, const void *b)
{
	const struct slurm_run *one = a, *two = b;
	int order = strcmp(one->job_id, two->job_id);

	return order ? order
		     : (one->number > two->number) -
			       (one->number < two->number);
}

static int take_run(char *json, char *progress, struct arena *mem,
		    struct slurm_run *out, struct error *err)
{
	json_t *value = json_read(json, strlen(json), "run.json", err);

	if (!value)
		return -1;
	*out = (struct slurm_run){
		.job_id = copy(value, "jobId", mem),
		.name = copy(value, "name", mem),
		.number = (int)json_get_int(value, "number", 0),
		.digest = copy(value, "digest", mem),
		.digest2 = copy(value, "digest2", mem),
		.comment = copy(value, "comment", mem),
		.owner = copy(value, "owner", mem),
		.set = copy(value, "set", mem),
		.origin = copy(value, "origin", mem),
		.revision = copy(value, "revision", mem),
		.restart = -1,
		.status = -1,
		.cleanup = cleanup_parse(json_get_text(value, "cleanup", "")),
		.create_time_ms = json_get_int(value, "createTimeMs", 0),
		.properties = json_incref(json_object_get(value, "properties")),
	};
	json_decref(value);
	if (!out->job_id || !out->name || !out->digest || !out->comment) {
		json_decref(out->properties);
		return error_set(err, ERROR_FAILED,
				 "a run.json there is incomplete");
	}
	take_progress(progress, mem, out);
	return 0;
}

int runs_parse(char *text, struct arena *mem, struct slurm_runs *out,
	       struct error *err)
{
	size_t room = 0;
	char *json, *progress, *next;

	*out = (struct slurm_runs){ 0 };
	for (json = text; json && *json; json = next) {
		progress = strchr(json, '\n');
		next = progress ? strchr(progress + 1, '\n') : NULL;
		if (!next)
			break;
		*progress++ = '\0';
		*next++ = '\0';
		if (out->count == room) {
			room = room ? 2 * room : 8;
			out->items =
				mem_grow(out->items, room, sizeof(*out->items));
		}
		if (take_run(json, progress, mem, &out->items[out->count],
			     err) < 0) {
			runs_done(out);
			return -1;
		}
		out->count++;
	}
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_number);
	return 0;
}

int runs_read(struct cluster *cluster, const char *job_id, struct arena *mem,
	      struct slurm_runs *out, struct error *err)
{
	const char *args[] = { cluster_folder(cluster), job_id, NULL };
	struct command_answer answer;
	int ret = 0;

	if (cluster_sh(cluster, "cannot read the runs", READ, args, NULL,
		       &answer, err) < 0)
		return -1;
	*out = (struct slurm_runs){ 0 };
	if (answer.out.len)
		ret = runs_parse(answer.out.data, mem, out, err);
	command_answer_done(&answer);
	return ret;
}

void runs_done(struct slurm_runs *runs)
{
	size_t i;

	for (i = 0; i < runs->count; i++)
		json_decref(runs->items[i].properties);
	free(runs->items);
	*runs = (struct slurm_runs){ 0 };
}
