/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/storage/staging.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/beneath.h"
#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/data/sdist.h"
#include "core/job/job.h"
#include "core/net/url.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/storage/storage.h"

/* A file to be uploaded. */
struct package {
	const char *path;
	const char *root; /* what it must be below, or NULL */
	struct digest digest;
	uint64_t size_bytes;
	uint32_t crc32c; /* by which the stored object is known */
};

/* ---- the files --------------------------------------------------------- */

/* Returns the path of a new empty folder of our own, which the caller
 * removes. */
static char *make_temporary(struct error *err)
{
	const char *parent = getenv("TMPDIR");
	char *path = path_join(parent && *parent ? parent : "/tmp",
			       "jobrun-package-XXXXXX");

	if (mkdtemp(path))
		return path;
	error_errno(err, "cannot create '%s'", path);
	free(path);
	return NULL;
}

static void remove_temporary(char *folder)
{
	struct error ignored;

	if (folder)
		folder_remove(folder, &ignored);
	free(folder);
}

/* Packs the source.  It must contain the program's module unless something else
 * can. */
static int pack_source(const struct job *job, const char *folder,
		       struct arena *mem, struct package *out,
		       struct error *err)
{
	const struct training_input *input = &job->training_input;
	char *source = job_path_new(job, job->jobrun.source);
	const struct source_options options = {
		.never = job->never,
		.never_count = job->never_count,
		.root = job_root(job, source),
	};
	struct sdist made;
	int ret = sdist_make(source, &options,
			     input->package_uris.count ? NULL
						       : input->python_module,
			     folder, mem, &made, err);

	free(source);
	if (ret < 0)
		return error_prefix(err, "jobrun.source");
	*out = (struct package){ .path = made.path,
				 .digest = made.digest,
				 .size_bytes = made.size_bytes,
				 .crc32c = made.crc32c };
	return 0;
}

static int look_at_file(const struct job *job, const char *path,
			struct arena *mem, struct package *out,
			struct error *err)
{
	struct digester *digester = digester_new();
	int fd, ret = -1;

	*out = (struct package){ .path = arena_strdup(mem, path),
				 .root = job_root(job, path) };
	fd = beneath_open_file(out->root, path, err);
	if (fd >= 0)
		ret = digester_add_file(digester, fd, path, &out->size_bytes,
					&out->crc32c, err);
	if (ret == 0)
		digester_end(digester, &out->digest);
	if (fd >= 0)
		close(fd);
	digester_free(digester);
	return ret;
}

/* ---- what is wanted ---------------------------------------------------- */

static json_t *upload_request(const char *url, uint64_t size, struct arena *mem)
{
	const char *bucket, *object;
	struct buf text = { 0 };
	struct error ignored;
	json_t *out = json_object();

	storage_url_parse(url, mem, &bucket, &object, &ignored);
	endpoint_add_root(SERVICE_STORAGE, NULL, &text);
	buf_puts(&text, "upload/storage/v1/b/");
	url_encode(&text, bucket, NULL);
	if (storage_is_small(size)) {
		buf_puts(&text, "/o?uploadType=multipart&ifGenerationMatch=0");
	} else {
		buf_puts(&text,
			 "/o?uploadType=resumable&ifGenerationMatch=0&name=");
		url_encode(&text, object, NULL);
	}
	json_put_text(out, "method", "POST");
	json_put_text(out, "url", buf_text(&text));
	buf_done(&text);
	return out;
}

static struct resource *add_object(const struct job *job, const char *bucket,
				   const char *from,
				   const struct package *package,
				   const struct kind *kind,
				   struct resources *all)
{
	size_t len = strlen(bucket);
	struct resource *object;
	const char *url;
	char crc[9];
	size_t i;

	while (len && bucket[len - 1] == '/')
		len--;
	url = arena_printf(all->mem, "%.*s/%s/%s", (int)len, bucket,
			   package->digest.hex, path_base(package->path));
	for (i = 0; i < all->count; i++)
		if (!strcmp(all->items[i]->name, url))
			return all->items[i]; /* the same contents again */
	object = resources_add(all, kind, url, job);
	object->properties = json_object();
	json_put_text(object->properties, "from", from);
	json_put_int(object->properties, "size",
		     (long long)package->size_bytes);
	json_put_text(object->properties, "sha256", package->digest.hex);
	crc32c_format(package->crc32c, crc);
	json_put_text(object->properties, "crc32c", crc);
	object->request = upload_request(url, package->size_bytes, all->mem);
	return object;
}

static int add_source(const struct job *job, const char *bucket,
		      const struct kind *kind, struct resources *all,
		      struct strings *urls, struct error *err)
{
	char *folder = make_temporary(err);
	struct package package;
	int ret =
		folder ? pack_source(job, folder, all->mem, &package, err) : -1;

	if (ret == 0)
		urls->items[urls->count++] =
			add_object(job, bucket, job->jobrun.source, &package,
				   kind, all)
				->name;
	remove_temporary(folder);
	return ret;
}

static int add_file(const struct job *job, const char *bucket, const char *name,
		    const struct kind *kind, struct resources *all,
		    struct strings *urls, struct error *err)
{
	char *path = job_path_new(job, name);
	struct package package;
	int ret = look_at_file(job, path, all->mem, &package, err);

	free(path);
	if (ret < 0)
		return error_prefix(err, "trainingInput.packageUris");
	urls->items[urls->count++] =
		add_object(job, bucket, name, &package, kind, all)->name;
	return 0;
}

int staging_desire(const struct job *job, const char *bucket,
		   const struct kind *kind, struct resources *all,
		   struct strings *urls, struct error *err)
{
	const struct training_input *input = &job->training_input;
	bool packs = job->jobrun.source && input->python_module &&
		     !input->master_config.image_uri;
	bool lacks = packs && !bucket;
	size_t i;

	*urls = (struct strings){
		.items = arena_alloc(all->mem, (input->package_uris.count + 1) *
						       sizeof(*urls->items))
	};
	for (i = 0; i < input->package_uris.count; i++) {
		const char *name = input->package_uris.items[i];

		if (text_starts(name, "gs://"))
			urls->items[urls->count++] = name;
		else if (!bucket)
			lacks = true;
		else if (add_file(job, bucket, name, kind, all, urls, err) < 0)
			return -1;
	}
	if (lacks)
		resources_miss(all, "where packages are uploaded to: set "
				    "jobrun.staging to a gs:// directory");
	else if (packs)
		return add_source(job, bucket, kind, all, urls, err);
	return 0;
}

/* Whoever reports the failure names the object. */
static int fail(const struct resource *it, struct error *err)
{
	size_t len = strlen(it->name);

	if (!strncmp(err->text, it->name, len) &&
	    text_starts(err->text + len, ": "))
		memmove(err->text, err->text + len + 2,
			strlen(err->text + len + 2) + 1);
	return -1;
}

/* ---- what is there ----------------------------------------------------- */

int staging_read(struct google *google, const struct resource *want,
		 struct resource *found, struct error *err)
{
	struct arena *mem = arena_new();
	const char *bucket, *name;
	struct storage_object object;
	int ret = storage_url_parse(want->name, mem, &bucket, &name, err);

	if (ret == 0)
		ret = storage_stat(google, bucket, name, mem, &object, err);
	if (ret == 0 && object.exists) {
		/* Whoever else may write there may have put another object at
		 * the name, which contains the digest of ours. */
		found->exists = true;
		found->properties = want->properties
					    ? json_deep_copy(want->properties)
					    : json_object();
		json_object_set_new(found->properties, "size",
				    json_integer((json_int_t)object.size));
		if (*object.crc32c)
			json_object_set_new(found->properties, "crc32c",
					    json_string(object.crc32c));
	}
	arena_free(mem);
	return ret < 0 ? fail(want, err) : 0;
}

static int upload(struct google *google, const struct resource *want,
		  const struct package *package, struct arena *mem,
		  struct error *err)
{
	static const struct storage_put how = {
		.content_type = "application/gzip",
		.generation = 0,
	};
	const char *bucket, *object;
	int fd, ret;

	if (strcmp(package->digest.hex,
		   json_get_text(want->properties, "sha256", "")) != 0)
		return error_set_final(
			err, ERROR_TRY_AGAIN,
			"'%s' has changed since the plan: plan again",
			json_get_text(want->properties, "from", ""));
	if (storage_url_parse(want->name, mem, &bucket, &object, err) < 0)
		return -1;
	fd = beneath_open_file(package->root, package->path, err);
	if (fd < 0)
		return -1;
	ret = storage_put_file(google, bucket, object, fd, &how, mem, NULL,
			       err);
	close(fd);
	return ret;
}

int staging_create(struct google *google, const struct resource *want,
		   struct error *err)
{
	const char *from = json_get_text(want->properties, "from", "");
	const char *source = want->job->jobrun.source;
	struct arena *mem = arena_new();
	struct package package;
	char *folder = NULL, *path = NULL;
	int ret = -1;

	if (source && !strcmp(from, source)) {
		folder = make_temporary(err);
		if (folder)
			ret = pack_source(want->job, folder, mem, &package,
					  err);
	} else {
		path = job_path_new(want->job, from);
		ret = look_at_file(want->job, path, mem, &package, err);
	}
	if (ret == 0)
		ret = upload(google, want, &package, mem, err);
	remove_temporary(folder);
	free(path);
	arena_free(mem);
	return ret < 0 ? fail(want, err) : 0;
}

int staging_delete(struct google *google, const struct resource *have,
		   struct error *err)
{
	struct arena *mem = arena_new();
	const char *bucket, *object;
	int ret = storage_url_parse(have->name, mem, &bucket, &object, err);

	if (ret == 0)
		ret = storage_delete(google, bucket, object, 0, err);
	arena_free(mem);
	return ret < 0 ? fail(have, err) : 0;
}
