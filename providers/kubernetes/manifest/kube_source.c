/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/kube_source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base64.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/data/tree.h"
#include "providers/kubernetes/manifest/kube_names.h"

/* The limit for all values together (k8s.io/api, MaxSecretSize), with some
 * margin. */
#define SOURCE_MAX 1000000
#define NAME_DIGITS 10
#define MODE_EXECUTABLE 0555
#define MODE_FILE 0444

/* Returns "NAME-0123456789" with digits of the source's digest; in `mem`. */
static const char *source_name(const struct job *job, struct arena *mem)
{
	return arena_printf(mem, "%s-%.*s", kube_name(job->job_id, mem),
			    NAME_DIGITS, job->source_digest.hex);
}

/* Returns the key of a file, as keys may not contain slashes. */
static const char *key_of(size_t i, char room[24])
{
	snprintf(room, 24, "f%zu", i);
	return room;
}

static void check(const struct job *job, struct arena *mem,
		  struct kube_job *out)
{
	size_t i;

	if (job->source_bytes > SOURCE_MAX || !job->source_entries)
		kube_leave_out(
			out, true, "jobrun.source",
			arena_printf(mem,
				     "a ConfigMap holds at most %d "
				     "bytes, and this has %llu in %zu "
				     "files: leave out what is not "
				     "needed with .jobrunignore, or "
				     "build it into the image",
				     SOURCE_MAX,
				     (unsigned long long)job->source_bytes,
				     job->source_files));
	for (i = 0; job->source_entries && i < job->source_entry_count; i++)
		if (!strncmp(job->source_entries[i].path, "..", 2))
			kube_leave_out(
				out, true, "jobrun.source",
				arena_printf(mem,
					     "'%s' begins with two dots, which "
					     "no path in a volume may: rename "
					     "it, or leave it out with "
					     ".jobrunignore",
					     job->source_entries[i].path));
	for (i = 0; i < job->source_entry_count; i++)
		if (job->source_entries &&
		    job->source_entries[i].kind == TREE_LINK)
			kube_leave_out(
				out, true, "jobrun.source",
				arena_printf(mem,
					     "'%s' is a symbolic link, which a "
					     "ConfigMap can't hold: copy what "
					     "it points to",
					     job->source_entries[i].path));
}

json_t *source_config_map(const struct job *job, struct arena *mem,
			  struct kube_job *out)
{
	json_t *map;

	if (!job->jobrun.source)
		return NULL;
	check(job, mem, out);
	map = json_object();
	json_put_text(map, "apiVersion", "v1");
	json_put_text(map, "kind", "ConfigMap");
	json_put(map, "metadata", kube_metadata(job, source_name(job, mem)));
	json_put(map, "immutable", json_true());
	return map;
}

json_t *source_volume(const struct job *job, struct arena *mem)
{
	json_t *volume = json_object(), *map = json_object();
	json_t *items = json_array();
	char key[24];
	size_t i;

	for (i = 0; job->source_entries && i < job->source_entry_count; i++) {
		const struct tree_entry *entry = &job->source_entries[i];
		json_t *item;

		if (entry->kind != TREE_FILE)
			continue;
		item = json_object();
		json_put_text(item, "key", key_of(i, key));
		json_put_text(item, "path", entry->path);
		json_put_int(item, "mode",
			     entry->executable ? MODE_EXECUTABLE : MODE_FILE);
		json_array_append_new(items, item);
	}
	json_put_text(map, "name", source_name(job, mem));
	json_put(map, "items", items);
	json_put_text(volume, "name", SOURCE_VOLUME);
	json_put(volume, "configMap", map);
	return volume;
}

/* The file must still have the contents that were digested for the plan. */
static int add_file(const char *folder, const struct tree_entry *entry,
		    const char *key, json_t *data, struct error *err)
{
	char *path = path_join(folder, entry->path), *bytes = NULL;
	int fd = tree_open_file(folder, entry, err), ret = -1;
	struct buf text = { 0 };
	struct digest digest;
	size_t len;

	if (fd >= 0) {
		bytes = file_read_fd(fd, path, SOURCE_MAX, &len, err);
		close(fd);
	}
	if (!bytes)
		goto out;
	digest_bytes(bytes, len, &digest);
	if (strcmp(digest.hex, entry->digest.hex) != 0) {
		error_set(err, ERROR_TRY_AGAIN,
			  "'%s' has changed since the plan: plan again", path);
		goto out;
	}
	base64_add(&text, bytes, len);
	json_put_text(data, key, buf_text(&text));
	ret = 0;
out:
	buf_done(&text);
	free(bytes);
	free(path);
	return ret;
}

int source_fill(const struct job *job, json_t *config_map, struct error *err)
{
	const char *folder = job->source_folder;
	json_t *data = json_object();
	char key[24];
	size_t i;

	json_put(config_map, "binaryData", data);
	for (i = 0; job->source_entries && i < job->source_entry_count; i++)
		if (job->source_entries[i].kind == TREE_FILE &&
		    add_file(folder, &job->source_entries[i], key_of(i, key),
			     data, err) < 0)
			return -1;
	return 0;
}
