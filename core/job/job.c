/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/beneath.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/data/tree.h"
#include "core/job/origin.h"
#include "core/job/source.h"

void job_free(struct job *job)
{
	if (job)
		arena_free(job->mem);
}

const void *job_block(const struct job *job, const char *provider)
{
	size_t i;

	for (i = 0; i < job->jobrun.block_count; i++)
		if (!strcmp(job->jobrun.blocks[i].name, provider))
			return job->jobrun.blocks[i].data;
	return NULL;
}

bool job_has(const struct job *job, const char *field)
{
	return message_has(message_field(job->message, "jobrun")->message,
			   &job->jobrun, field);
}

json_t *job_json(const struct job *job, unsigned style)
{
	json_t *all = message_json(job->message, job, style);
	json_t *jobrun = json_object_get(all, "jobrun");
	size_t i;

	for (i = 0; i < job->jobrun.block_count; i++) {
		const struct job_block *block = &job->jobrun.blocks[i];
		const struct message_head *head = block->data;
		json_t *value;

		if (!head->set && strcmp(block->name, job->jobrun.provider))
			continue;
		value = message_json(block->message, block->data, style);
		if (!json_object_size(value)) {
			json_decref(value);
			continue;
		}
		if (!jobrun) {
			jobrun = json_object();
			json_put(all, "jobrun", jobrun);
		}
		json_put(jobrun, block->name, value);
	}
	return all;
}

char *job_path_new(const struct job *job, const char *name)
{
	const char *folder = job->folder ? job->folder : "";
	char *own = path_at_home(name);
	size_t n = strlen(folder);

	if (own)
		return own;
	if (name[0] == '/' || !n || !strcmp(folder, "."))
		return mem_strdup(name);
	return mem_printf("%s%s%s", folder, folder[n - 1] == '/' ? "" : "/",
			  name);
}

const char *job_path(const struct job *job, const char *name)
{
	char *path = job_path_new(job, name);
	const char *out = arena_strdup(job->mem, path);

	free(path);
	return out;
}

const char *job_root(const struct job *job, const char *path)
{
	size_t i;

	for (i = 0; i < job->reach_count; i++)
		if (!strcmp(job->reaches[i].path, path))
			return job->reaches[i].root;
	return job->root;
}

const char *job_package_root(const struct job *job, size_t i)
{
	const struct strings *uris = &job->training_input.package_uris;
	char *path = job_path_new(job, uris->items[i]);
	const char *root = job_root(job, path);

	free(path);
	return root;
}

void job_find_origin(struct job *job)
{
	char *origin = origin_of(job->folder);
	char *real = strcmp(job->file, "-") ? realpath(job->file, NULL) : NULL;

	job->origin = origin ? arena_strdup(job->mem, origin) : NULL;
	job->real_file = real ? arena_strdup(job->mem, real) : NULL;
	free(real);
	free(origin);
}

/* Keeps the entries of a source that is small enough to be listed. */
static void keep_entries(struct job *job, const struct tree *tree)
{
	struct tree_entry *kept;
	size_t i;

	if (tree->count > SOURCE_LISTED_MAX)
		return;
	kept = arena_alloc(job->mem, (tree->count + 1) * sizeof(*kept));
	for (i = 0; i < tree->count; i++) {
		kept[i] = tree->entries[i];
		kept[i].path = arena_strdup(job->mem, kept[i].path);
		if (kept[i].target)
			kept[i].target = arena_strdup(job->mem, kept[i].target);
	}
	job->source_entries = kept;
	job->source_entry_count = tree->count;
}

/* Keeps the names of files that are left out, and their number. */
static void keep_left_out(struct job *job, const struct tree *tree)
{
	size_t count = tree->left_out_count < SOURCE_LISTED_MAX
			       ? tree->left_out_count
			       : SOURCE_LISTED_MAX;
	struct tree_left_out *kept =
		arena_alloc(job->mem, (count + 1) * sizeof(*kept));
	size_t i;

	for (i = 0; i < tree->left_out_count; i++) {
		const struct tree_left_out *one = &tree->left_out[i];

		job->source_left_out_total[one->reason]++;
		if (i < count)
			kept[i] = (struct tree_left_out){
				arena_strdup(job->mem, one->path), one->reason
			};
	}
	job->source_left_out = kept;
	job->source_left_out_count = count;
}

static void keep_secrets(struct job *job, const struct tree *tree)
{
	struct strings *out = &job->source_secrets;
	size_t i;

	out->count = 0;
	out->items =
		arena_alloc(job->mem, SOURCE_SECRETS_MAX * sizeof(*out->items));
	for (i = 0; i < tree->count && out->count < SOURCE_SECRETS_MAX; i++)
		if (tree_entry_is_secret(&tree->entries[i]))
			out->items[out->count++] =
				arena_strdup(job->mem, tree->entries[i].path);
}

static void name_file(const struct job *job, const char *path, struct buf *out)
{
	struct stat st = { 0 };

	if (stat(job_path(job, path), &st) == 0)
		buf_printf(out, "%llx:%llx\n", (unsigned long long)st.st_dev,
			   (unsigned long long)st.st_ino);
	else
		buf_printf(out, "%s\n", job_path(job, path));
}

/* Lists what is shipped, whatever its name. */
static const char *name_contents(const struct job *job)
{
	const struct strings *uris = &job->training_input.package_uris;
	const char *without = job->jobrun.checkpoints.directory;
	struct buf key = { 0 };
	const char *out;
	size_t i;

	if (job->jobrun.source) {
		name_file(job, job->jobrun.source, &key);
		buf_printf(&key, "without %s\n", without ? without : "");
	}
	for (i = 0; i < uris->count; i++)
		if (!strstr(uris->items[i], "://"))
			name_file(job, uris->items[i], &key);
	out = arena_strdup(job->mem, buf_text(&key));
	buf_done(&key);
	return out;
}

/* Takes the digests of an earlier job that ships the same files.  Without this,
 * a few lines for each job would multiply the cost of one large folder. */
static bool take_contents(struct job *job)
{
	const struct job *from = NULL;
	size_t i;

	job->contents_name = name_contents(job);
	for (i = 0; i < job->before_count && !from; i++)
		if (!strcmp(job->contents_name, job->before[i]->contents_name))
			from = job->before[i];
	if (!from)
		return false;
	job->contents = from->contents;
	job->source_digest = from->source_digest;
	job->source_folder = from->source_folder;
	job->source_odd = from->source_odd;
	job->source_files = from->source_files;
	job->source_bytes = from->source_bytes;
	job->source_entries = from->source_entries;
	job->source_entry_count = from->source_entry_count;
	job->source_left_out = from->source_left_out;
	job->source_left_out_count = from->source_left_out_count;
	memcpy(job->source_left_out_total, from->source_left_out_total,
	       sizeof(job->source_left_out_total));
	job->source_secrets = from->source_secrets;
	return true;
}

static void keep_oddness(struct job *job, const struct tree *tree)
{
	struct buf text = { 0 };

	source_oddness(job, tree, &text);
	job->source_odd =
		text.len ? arena_strdup(job->mem, buf_text(&text)) : NULL;
	buf_done(&text);
}

static int read_source(struct job *job, struct tree *tree, struct error *err)
{
	struct arena *mem;
	int ret;

	job->source_entries = NULL;
	job->source_entry_count = 0;
	memset(job->source_left_out_total, 0,
	       sizeof(job->source_left_out_total));
	if (!job->jobrun.source)
		return 0;
	mem = arena_new();
	ret = source_read_job(job, SOURCE_NOW, mem, tree, err);
	if (ret == 0) {
		job->source_folder = arena_strdup(job->mem, tree->folder);
		keep_oddness(job, tree);
		keep_entries(job, tree);
		keep_left_out(job, tree);
		keep_secrets(job, tree);
	}
	arena_free(mem);
	tree->folder = NULL;
	tree->ignored = NULL;
	tree->entries = NULL;
	tree->left_out = NULL;
	if (ret < 0 && access(job_path(job, job->jobrun.source), F_OK) < 0 &&
	    errno == ENOENT)
		err->code = ERROR_INVALID;
	if (ret < 0)
		return error_prefix(err, "jobrun.source");
	return 0;
}

static int digest_file(const struct job *job, const char *path,
		       struct digest *out, struct error *err)
{
	struct digester *contents = NULL;
	int ret = -1;
	int fd;

	fd = beneath_open_file(job_root(job, path), path, err);
	if (fd < 0)
		goto out;
	contents = digester_new();
	if (digester_add_file(contents, fd, path, NULL, NULL, err) < 0)
		goto out;
	digester_end(contents, out);
	ret = 0;
out:
	digester_free(contents);
	if (fd >= 0)
		close(fd);
	return ret;
}

static int add_packages(const struct job *job, struct strings *contents,
			struct error *err)
{
	const struct strings *uris = &job->training_input.package_uris;
	struct digest digest;
	size_t i;

	for (i = 0; i < uris->count; i++) {
		/* "gs://" URLs are not ours to read. */
		if (strstr(uris->items[i], "://"))
			continue;
		if (digest_file(job, job_path(job, uris->items[i]), &digest,
				err) < 0)
			return error_prefix(
				err, "trainingInput.packageUris[%zu]", i);
		contents->items[contents->count++] =
			arena_strdup(job->mem, digest.hex);
	}
	return 0;
}

/* Adds the name and the provider, which count whether the file or an option
 * gave them. */
static void put_given(json_t *all, const struct job *job, bool sparse)
{
	const struct message *message =
		message_field(job->message, "jobrun")->message;
	const char *fallback = message_field(message, "provider")->fallback_1;
	const char *provider = job->jobrun.provider;
	json_t *jobrun = json_object_get(all, "jobrun");

	if (job->job_id && !json_object_get(all, "jobId"))
		json_put_text(all, "jobId", job->job_id);
	if (job_has(job, "provider") || (sparse && !strcmp(provider, fallback)))
		return;
	if (!jobrun) {
		jobrun = json_object();
		json_put(all, "jobrun", jobrun);
	}
	json_put_text(jobrun, "provider", provider);
}

/* Computes the digest of the file's contents, in one of two forms, and of
 * `contents`, the digests of the files that are part of the job. */
static void digest_form(const struct job *job, const char *form, unsigned style,
			const struct strings *contents, struct digest *out)
{
	struct digester *digester = digester_new();
	json_t *value;
	char *text;
	size_t i;

	value = job_json(job, MESSAGE_DIGEST | style);
	put_given(value, job, style & MESSAGE_DIGEST_2);
	text = json_canonical(value);
	digester_add_text(digester, form);
	digester_add_text(digester, text);
	for (i = 0; i < contents->count; i++)
		digester_add_text(digester, contents->items[i]);
	digester_end(digester, out);
	free(text);
	json_decref(value);
	digester_free(digester);
}

static int read_contents(struct job *job, struct error *err)
{
	const struct strings *uris = &job->training_input.package_uris;
	struct strings *contents = &job->contents;
	struct tree tree = { 0 };

	*contents = (struct strings){
		.items = arena_alloc(job->mem, (uris->count + 1) *
						       sizeof(*contents->items))
	};
	if (read_source(job, &tree, err) < 0)
		return -1;
	job->source_digest = tree.digest;
	job->source_files = tree.files;
	job->source_bytes = tree.bytes;
	if (job->jobrun.source)
		contents->items[contents->count++] = job->source_digest.hex;
	return add_packages(job, contents, err);
}

int job_digest(struct job *job, struct error *err)
{
	if (!take_contents(job) && read_contents(job, err) < 0)
		return -1;
	digest_form(job, "job 1", MESSAGE_DIGEST_1, &job->contents,
		    &job->digest);
	digest_form(job, "job 2", MESSAGE_DIGEST_2, &job->contents,
		    &job->digest2);
	return 0;
}

/* Digest 1 as it was before Git's ignore files counted.  False if that source
 * can't be read, or is the same: then digest 1 is, too. */
static bool digest_before(const struct job *job, struct digest *out)
{
	const struct strings *uris = &job->training_input.package_uris;
	struct arena *mem = arena_new();
	struct strings contents = { 0 };
	struct tree tree = { 0 };
	struct error ignored;
	bool other = false;

	contents.items =
		arena_alloc(mem, (uris->count + 1) * sizeof(*contents.items));
	if (job->jobrun.source &&
	    source_read_job(job, SOURCE_VERSION_1, mem, &tree, &ignored) == 0 &&
	    strcmp(tree.digest.hex, job->source_digest.hex) != 0) {
		contents.items[contents.count++] = tree.digest.hex;
		other = add_packages(job, &contents, &ignored) == 0;
		if (other)
			digest_form(job, "job 1", MESSAGE_DIGEST_1, &contents,
				    out);
	}
	arena_free(mem);
	return other;
}

bool job_was_run(const struct job *job, const char *digest, const char *digest2)
{
	struct digest before;

	if (digest2 && *digest2)
		return !strncmp(digest2, job->digest2.hex, DIGEST_LABEL);
	digest = digest ? digest : "";
	if (!strncmp(digest, job->digest.hex, DIGEST_LABEL))
		return true;
	return *digest && digest_before(job, &before) &&
	       !strncmp(digest, before.hex, DIGEST_LABEL);
}

const char *job_master_name(const struct job *job)
{
	const struct training_input *in = &job->training_input;
	const char *version = in->runtime_version;
	int major = 0, minor = 0;

	if (in->master_config.image_uri)
		return in->use_chief_in_tf_config ? "chief" : "master";
	/* Compares numbers, not decimal fractions: "2.11" is later than
	 * "2.2". */
	if (!version || sscanf(version, "%9d.%9d", &major, &minor) < 1)
		return "master";
	return major > 2 || (major == 2 && minor >= 1) ? "chief" : "master";
}

bool job_uses_tpu(const struct job *job)
{
	const struct training_input *in = &job->training_input;
	const char *type = in->worker_config.accelerator_config.type;

	return in->scale_tier == SCALE_TIER_BASIC_TPU ||
	       (in->worker_type && !strcmp(in->worker_type, "cloud_tpu")) ||
	       (type && text_starts(type, "TPU_"));
}
