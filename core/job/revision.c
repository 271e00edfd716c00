/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/revision.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/data/tree.h"

#define COMMIT_WIDTH 12
#define SHOWN_MAX 5

const char *revision_folder(const struct job *job)
{
	if (job->jobrun.source)
		return job_path(job, job->jobrun.source);
	return job->folder && *job->folder ? job->folder : ".";
}

static json_t *changes_json(const struct git_change *changes, size_t count)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < count; i++) {
		json_t *one = json_object();

		json_put_text(one, "path", changes[i].path);
		json_put_text(one, "change", git_change_name(changes[i].type));
		json_array_append_new(out, one);
	}
	return out;
}

void revision_set(struct job *job, const struct git_status *status)
{
	size_t count = job->source_entries ? job->source_entry_count : 0;
	struct git_change changes[GIT_CHANGES_MAX];
	struct arena *mem = arena_new();
	const char **paths =
		arena_alloc(mem, (count + 1) * sizeof(const char *));
	json_t *out = json_object();
	size_t n, i;
	char *text;

	for (i = 0; i < count; i++) {
		const struct tree_entry *entry = &job->source_entries[i];

		paths[i] = entry->path;
	}
	n = git_status_changes(status, revision_folder(job), paths, count, mem,
			       changes);
	json_put_text(out, "commit", git_status_commit(status));
	json_put_text(out, "branch", git_status_branch(status));
	json_put_int(out, "changed", (long long)n);
	json_put(out, "changes",
		 changes_json(changes,
			      n < GIT_CHANGES_MAX ? n : GIT_CHANGES_MAX));
	if (git_status_is_staged(status))
		json_put(out, "staged", json_true());
	text = json_canonical(out);
	job->revision = arena_strdup(job->mem, text);
	free(text);
	json_decref(out);
	arena_free(mem);
}

json_t *revision_json(const char *revision)
{
	struct error ignored;

	return revision ? json_read(revision, strlen(revision), "revision",
				    &ignored)
			: NULL;
}

static void add_changes(const json_t *revision, struct buf *out)
{
	long long changed = json_get_int(revision, "changed", 0);
	const json_t *changes = json_object_get(revision, "changes");
	size_t i, n = json_array_size(changes);

	if (changed > 0)
		buf_printf(out, ", %lld file%s not committed: ", changed,
			   changed == 1 ? "" : "s");
	for (i = 0; i < n && i < SHOWN_MAX; i++) {
		const json_t *one = json_array_get(changes, i);

		buf_printf(out, "%s%s %s", i ? ", " : "",
			   json_get_text(one, "path", "?"),
			   json_get_text(one, "change", "?"));
	}
	if (changed > (long long)i)
		buf_printf(out, " and %lld more", changed - (long long)i);
	if (!changed && json_is_true(json_object_get(revision, "staged")))
		buf_puts(out, ", perhaps with staged changes");
}

void revision_text(const char *revision, struct buf *out)
{
	json_t *value = revision_json(revision);
	const char *commit = json_get_text(value, "commit", NULL);
	const char *branch = json_get_text(value, "branch", NULL);

	if (!value)
		return;
	if (commit)
		buf_printf(out, "commit %.*s", COMMIT_WIDTH, commit);
	else
		buf_puts(out, "no commit");
	if (branch)
		buf_printf(out, " on %s", branch);
	add_changes(value, out);
	json_decref(value);
}
