/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/shard_verify.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/crc32c.h"
#include "core/base/digest.h"
#include "core/shard/samples.h"
#include "core/data/sample_key.h"
#include "core/data/tar_scan.h"

struct verifying {
	struct shard_verifying *how;
	_Atomic size_t next;
	pthread_mutex_t lock; /* guards the calls of `each`, and the count */
	long wrong;
};

/* ---- bytes ------------------------------------------------------------- */

struct verify_reading {
	struct shard_verifying *how;
	uint64_t bytes;
	uint32_t crc32c;
	struct digester *digester; /* or NULL */
};

static int take(void *arg, const char *data, size_t len)
{
	struct verify_reading *reading = arg;

	reading->crc32c = crc32c_add(reading->crc32c, data, len);
	if (reading->digester)
		digester_add(reading->digester, data, len);
	reading->bytes += len;
	atomic_fetch_add_explicit(&reading->how->bytes, len,
				  memory_order_relaxed);
	return atomic_load(&reading->how->stop) ? -1 : 0;
}

static int compare(struct verify_reading *reading,
		   const struct shard_entry *entry, struct error *err)
{
	struct digest sha256;
	char crc32c[9];

	if (reading->bytes != entry->bytes)
		return error_set(err, ERROR_FAILED,
				 "it has %llu bytes, not %llu",
				 (unsigned long long)reading->bytes,
				 (unsigned long long)entry->bytes);
	crc32c_format(reading->crc32c, crc32c);
	if (strcmp(crc32c, entry->crc32c) != 0)
		return error_set(err, ERROR_FAILED, "its CRC-32C is %s, not %s",
				 crc32c, entry->crc32c);
	if (!reading->digester)
		return 0;
	digester_end(reading->digester, &sha256);
	if (strcmp(sha256.hex, entry->sha256.hex) != 0)
		return error_set(err, ERROR_FAILED, "its SHA-256 is %s, not %s",
				 sha256.hex, entry->sha256.hex);
	return 0;
}

static int verify_bytes(struct shard_verifying *how,
			const struct shard_entry *entry, const char *url,
			struct error *err)
{
	struct verify_reading reading = { .how = how };
	struct arena *mem = arena_new();
	struct object object;
	int ret = object_stat(how->store, url, mem, &object, err);

	if (ret == 0 && !object.exists)
		ret = error_set(err, ERROR_FAILED, "it does not exist");
	else if (ret == 0 && object.size_bytes != entry->bytes)
		ret = error_set(err, ERROR_FAILED,
				"it has %llu bytes, not %llu",
				(unsigned long long)object.size_bytes,
				(unsigned long long)entry->bytes);
	if (ret == 0 && entry->sha256.hex[0])
		reading.digester = digester_new();
	if (ret == 0)
		ret = object_read(how->store, &object, 0, object.size_bytes,
				  take, &reading, err);
	if (ret == 0)
		ret = compare(&reading, entry, err);
	digester_free(reading.digester);
	arena_free(mem);
	return ret;
}

/* ---- samples ----------------------------------------------------------- */

struct counting {
	uint64_t samples, files;
	char *key; /* of the last sample */
	char **parts;
	size_t part_count; /* of that */
};

static void forget_sample(struct counting *counting)
{
	while (counting->part_count)
		free(counting->parts[--counting->part_count]);
	free(counting->key);
	counting->key = NULL;
}

/* Readers refuse a part that occurs twice, ignoring case. */
static int add_part(struct counting *counting, const char *name, size_t key_len,
		    struct error *err)
{
	size_t i;

	for (i = 0; i < counting->part_count; i++)
		if (!strcasecmp(counting->parts[i], name + key_len))
			return error_set(
				err, ERROR_FAILED,
				"'%s' and '%s%s' are the same to WebDataset",
				name, counting->key, counting->parts[i]);
	counting->parts = mem_grow(counting->parts, counting->part_count + 1,
				   sizeof(char *));
	counting->parts[counting->part_count++] = mem_strdup(name + key_len);
	return 0;
}

static int count(void *arg, const struct tar_member *member, struct error *err)
{
	struct counting *counting = arg;
	size_t len = sample_key_len(member->name);

	if (member->type == TAR_FOLDER)
		return 0;
	if (member->type != TAR_FILE || !len)
		return error_set(err, ERROR_FAILED,
				 "'%s' is not a file of a sample",
				 member->name);
	counting->files++;
	/* To readers a new sample begins wherever the key changes. */
	if (!counting->key || strncmp(counting->key, member->name, len) != 0 ||
	    counting->key[len]) {
		counting->samples++;
		forget_sample(counting);
		counting->key = mem_printf("%.*s", (int)len, member->name);
	}
	return add_part(counting, member->name, len, err);
}

static int verify_samples(const struct shard_entry *entry, const char *path,
			  struct error *err)
{
	struct counting counting = { 0 };
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return error_errno(err, "cannot open '%s'", path);
	ret = tar_scan(fd, path, count, &counting, err);
	close(fd);
	forget_sample(&counting);
	free(counting.parts);
	if (ret == 0 && (counting.samples != entry->samples ||
			 counting.files != entry->files))
		ret = error_set(err, ERROR_FAILED,
				"it has %llu samples in %llu files, not %llu "
				"in %llu",
				(unsigned long long)counting.samples,
				(unsigned long long)counting.files,
				(unsigned long long)entry->samples,
				(unsigned long long)entry->files);
	return ret;
}

/* ---- all of them ------------------------------------------------------- */

static void *work(void *arg)
{
	struct verifying *verifying = arg;
	struct shard_verifying *how = verifying->how;

	for (;;) {
		size_t shard = atomic_fetch_add(&verifying->next, 1);
		const struct shard_entry *entry;
		struct error err;
		char *url;
		int ret;

		if (shard >= how->index->count)
			return NULL;
		entry = &how->index->shards[shard];
		url = entry->url ? mem_strdup(entry->url)
				 : mem_printf("%s/%s", how->base, entry->name);
		ret = verify_bytes(how, entry, url, &err);
		if (ret == 0 && !strstr(url, "://"))
			ret = verify_samples(entry, url, &err);
		free(url);
		if (atomic_load(&how->stop))
			return NULL;
		pthread_mutex_lock(&verifying->lock);
		verifying->wrong += ret < 0;
		how->each(how->arg, shard, ret < 0 ? &err : NULL);
		pthread_mutex_unlock(&verifying->lock);
	}
}

long shard_verify(struct shard_verifying *how, struct error *err)
{
	struct verifying verifying = { .how = how };
	pthread_t *threads = mem_alloc(how->threads * sizeof(*threads));
	unsigned i, started;
	int code = 0;

	pthread_mutex_init(&verifying.lock, NULL);
	for (started = 0; started < how->threads && code == 0; started++) {
		code = pthread_create(&threads[started], NULL, work,
				      &verifying);
		if (code)
			break;
	}
	if (code)
		atomic_store(&how->stop, true);
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&verifying.lock);
	free(threads);
	if (code) {
		errno = code;
		return error_errno(err, "cannot start a thread");
	}
	if (atomic_load(&how->stop))
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	return verifying.wrong;
}
