/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/git_status.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/beneath.h"
#include "core/base/file.h"
#include "core/base/repository.h"
#include "core/base/text.h"
#include "core/data/git_index.h"

#define REF_MAX 1024 /* the most bytes of HEAD and of a file below refs/ */
#define PACKED_REFS_MAX ((size_t)64 << 20)
/* the most refs that refer to other refs in a row */
#define LINKS_MAX 5
/* the most files checked outside the folder */
#define WHOLE_MAX 50000
/* the most bytes of a file to compare */
#define CONTENTS_MAX ((size_t)64 << 20)
/* the most bytes to compare in all */
#define COMPARED_MAX ((uint64_t)512 << 20)
#define NS_PER_S INT64_C(1000000000)
#define SHA1_DIGITS 40
#define SHA256_DIGITS 64

struct git_status {
	struct repository repository;
	struct git_index *index;
	char *below; /* the folder relative to the top; "" for the top */
	char *branch;
	char *commit;
	struct git_change *changes; /* of tracked files; only the first ones */
	size_t count;               /* of all */
	uint64_t compared;          /* bytes compared so far */
};

/* ---- HEAD and refs ------------------------------------------------------ */

/* The hash at the start of a text, new, or NULL. */
static char *hash_of(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	if (n != SHA1_DIGITS && n != SHA256_DIGITS)
		return NULL;
	if (text[n] && !isspace((unsigned char)text[n]))
		return NULL;
	return mem_printf("%.*s", (int)n, text);
}

/* Whether the name stays below refs/. */
static bool is_ref(const char *name)
{
	char clean[PATH_MAX];

	return text_starts(name, "refs/") && !path_clean(name, clean) &&
	       !strcmp(name, clean);
}

/* Finds a line "HASH refs/heads/main". */
static char *find_packed(const char *common, const char *name)
{
	char *path = path_join(common, "packed-refs");
	struct error ignored;
	size_t len;
	char *text = file_read(path, PACKED_REFS_MAX, &len, &ignored);
	char *line, *rest = NULL, *space, *out = NULL;

	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line && !out;
	     line = strtok_r(NULL, "\n", &rest)) {
		space = strchr(line, ' ');
		if (space && !strcmp(space + 1, name))
			out = hash_of(line);
	}
	free(text);
	free(path);
	return out;
}

/* Reads a small file without the white space at its end.  Returns new, or
 * NULL. */
static char *read_ref(const char *folder, const char *name)
{
	char *path = path_join(folder, name);
	struct error ignored;
	size_t len;
	char *text = file_read(path, REF_MAX, &len, &ignored);

	while (text && len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	free(path);
	return text;
}

static void read_head(struct git_status *status)
{
	static const char link[] = "ref: ", heads[] = "refs/heads/";
	char *text = read_ref(status->repository.git, "HEAD");
	unsigned links = 0;

	while (text && text_starts(text, link) && ++links <= LINKS_MAX) {
		char *name = mem_strdup(text + strlen(link));

		free(text);
		text = NULL;
		if (is_ref(name)) {
			if (links == 1 && text_starts(name, heads))
				status->branch =
					mem_strdup(name + strlen(heads));
			text = read_ref(status->repository.common, name);
			if (!text)
				text = find_packed(status->repository.common,
						   name);
		}
		free(name);
	}
	status->commit = text ? hash_of(text) : NULL;
	free(text);
}

/* ---- tracked files ------------------------------------------------------ */

/* Whether Git's hash of the file matches: over "blob SIZE", 0, and the
 * contents. */
static bool has_hash(const char *data, size_t len,
		     const struct git_entry *entry, size_t hash_size)
{
	unsigned char sha1[DIGEST_SHA1_SIZE];
	char head[32], hex[2 * GIT_HASH_MAX + 1];
	size_t n = (size_t)snprintf(head, sizeof(head), "blob %zu", len) + 1;
	char *all = mem_alloc(n + len);
	struct digest digest;
	struct error ignored;
	bool same = false;
	size_t i;

	memcpy(all, head, n);
	memcpy(all + n, data, len);
	if (hash_size == DIGEST_SHA1_SIZE) {
		same = digest_sha1(all, n + len, sha1, &ignored) == 0 &&
		       !memcmp(sha1, entry->hash, hash_size);
	} else {
		digest_bytes(all, n + len, &digest);
		for (i = 0; i < hash_size; i++)
			snprintf(hex + 2 * i, 3, "%02x", entry->hash[i]);
		same = !strcmp(hex, digest.hex);
	}
	free(all);
	return same;
}

static bool is_link_as_tracked(const char *path, const struct git_entry *entry,
			       size_t hash_size)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target));

	return n >= 0 && has_hash(target, (size_t)n, entry, hash_size);
}

static bool is_file_as_tracked(const char *path, const struct git_entry *entry,
			       size_t hash_size)
{
	struct error ignored;
	char *data = NULL;
	size_t len;
	bool same;
	int fd = beneath_open_found(path, O_RDONLY | O_NONBLOCK);

	if (fd >= 0) {
		data = file_read_fd(fd, path, CONTENTS_MAX, &len, &ignored);
		close(fd);
	}
	same = data && has_hash(data, len, entry, hash_size);
	free(data);
	return same;
}

/* Whether size and time are those of the index.  They only decide if the file
 * is older than the index: a later change could have left both as they were.
 * Not everything that writes an index stores nanoseconds. */
static bool is_as_seen(const struct git_status *status, const struct stat *st,
		       const struct git_entry *entry)
{
	int64_t index_ns = git_index_time_ns(status->index);
	int64_t file_ns =
		st->st_mtim.tv_sec * NS_PER_S +
		(entry->mtime_ns ? st->st_mtim.tv_nsec : NS_PER_S - 1);

	return (uint32_t)st->st_size == entry->size &&
	       (uint32_t)st->st_mtim.tv_sec == entry->mtime_s &&
	       (!entry->mtime_ns ||
		(uint32_t)st->st_mtim.tv_nsec == entry->mtime_ns) &&
	       file_ns < index_ns;
}

/* Returns whether the file has changed, and sets how. */
static bool has_changed(struct git_status *status, const char *path,
			const struct git_entry *entry,
			enum git_change_type *type)
{
	size_t hash_size = git_index_hash_size(status->index);
	uint32_t kind = entry->mode & GIT_MODE_TYPE;
	struct stat st;

	*type = GIT_CHANGE_MODIFIED;
	if (lstat(path, &st) < 0) {
		*type = GIT_CHANGE_DELETED;
		return true;
	}
	if ((entry->flags & (GIT_ENTRY_ADDED | GIT_ENTRY_CONFLICT)) ||
	    (st.st_mode & S_IFMT) != kind)
		return true;
	if (kind == GIT_MODE_FILE &&
	    !(st.st_mode & S_IXUSR) != !(entry->mode & S_IXUSR))
		return true;
	if (is_as_seen(status, &st, entry))
		return false;
	if (entry->size && (uint32_t)st.st_size != entry->size)
		return true;
	/* A file that is too large to be compared is taken as changed. */
	status->compared += (uint64_t)st.st_size;
	if (status->compared > COMPARED_MAX)
		return true;
	if (kind == GIT_MODE_LINK)
		return !is_link_as_tracked(path, entry, hash_size);
	return !is_file_as_tracked(path, entry, hash_size);
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !n || (!strncmp(path, folder, n) && path[n] == '/');
}

/* Skips submodules, and files that the user or a sparse checkout has marked as
 * absent. */
static void find_changes(struct git_status *status)
{
	size_t total = git_index_count(status->index), i;
	char path[PATH_MAX];

	status->changes = mem_alloc(GIT_CHANGES_MAX * sizeof(*status->changes));
	for (i = 0; i < total; i++) {
		const struct git_entry *entry = git_index_at(status->index, i);
		uint32_t kind = entry->mode & GIT_MODE_TYPE;
		enum git_change_type type;

		if ((entry->flags & (GIT_ENTRY_ABSENT | GIT_ENTRY_UNCHECKED)) ||
		    (kind != GIT_MODE_FILE && kind != GIT_MODE_LINK) ||
		    (total > WHOLE_MAX &&
		     !is_below(entry->path, status->below)) ||
		    (i && !strcmp(entry->path,
				  git_index_at(status->index, i - 1)->path)))
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s",
				     status->repository.top,
				     entry->path) >= sizeof(path) ||
		    !has_changed(status, path, entry, &type))
			continue;
		if (status->count < GIT_CHANGES_MAX)
			status->changes[status->count] =
				(struct git_change){ entry->path, type };
		status->count++;
	}
}

/* ---- all of it ---------------------------------------------------------- */

/* The folder relative to the top; NULL if it is not below it. */
static char *below_top(const struct repository *repository, const char *folder)
{
	char *real = realpath(folder, NULL);
	char *out = NULL;

	if (real && !strcmp(real, repository->top))
		out = mem_strdup("");
	else if (real && is_below(real, repository->top))
		out = mem_strdup(real + strlen(repository->top) + 1);
	free(real);
	return out;
}

struct git_status *git_status_new(const char *folder)
{
	struct git_status *status = mem_alloc(sizeof(*status));
	struct error ignored;

	if (repository_find(folder, &status->repository)) {
		status->below = below_top(&status->repository, folder);
		status->index =
			git_index_read(status->repository.git, &ignored);
	}
	if (!status->below || !status->index) {
		git_status_free(status);
		return NULL;
	}
	read_head(status);
	find_changes(status);
	return status;
}

void git_status_free(struct git_status *status)
{
	if (!status)
		return;
	repository_done(&status->repository);
	git_index_free(status->index);
	free(status->below);
	free(status->branch);
	free(status->commit);
	free(status->changes);
	free(status);
}

bool git_status_is_of(const struct git_status *status, const char *folder)
{
	struct repository repository;
	char *below = NULL;
	bool is = false;

	if (!repository_find(folder, &repository))
		return false;
	if (!strcmp(repository.top, status->repository.top)) {
		below = below_top(&repository, folder);
		is = git_index_count(status->index) <= WHOLE_MAX ||
		     (below && !strcmp(below, status->below));
	}
	free(below);
	repository_done(&repository);
	return is;
}

const char *git_status_commit(const struct git_status *status)
{
	return status->commit;
}

const char *git_status_branch(const struct git_status *status)
{
	return status->branch;
}

bool git_status_is_staged(const struct git_status *status)
{
	return git_index_is_ahead(status->index);
}

/* A submodule's files are not this repository's to track. */
static bool is_tracked(const struct git_index *index, char *path)
{
	bool is = git_index_find(index, path);
	char *slash;

	for (slash = strchr(path, '/'); slash && !is;
	     slash = strchr(slash + 1, '/')) {
		const struct git_entry *entry;

		*slash = '\0';
		entry = git_index_find(index, path);
		is = entry && (entry->mode & GIT_MODE_TYPE) == GIT_MODE_MODULE;
		*slash = '/';
	}
	return is;
}

size_t git_status_changes(const struct git_status *status, const char *folder,
			  const char *const *paths, size_t count,
			  struct arena *mem, struct git_change *out)
{
	char *below = below_top(&status->repository, folder);
	size_t n = status->count, i;

	for (i = 0; i < n && i < GIT_CHANGES_MAX; i++)
		out[i] = (struct git_change){
			arena_strdup(mem, status->changes[i].path),
			status->changes[i].type
		};
	for (i = 0; below && i < count; i++) {
		char *path = mem_printf("%s%s%s", below, *below ? "/" : "",
					paths[i]);

		if (!is_tracked(status->index, path)) {
			if (n < GIT_CHANGES_MAX)
				out[n] = (struct git_change){
					arena_strdup(mem, path),
					GIT_CHANGE_UNTRACKED
				};
			n++;
		}
		free(path);
	}
	free(below);
	return n;
}

const char *git_change_name(enum git_change_type type)
{
	static const char *const names[] = {
		[GIT_CHANGE_MODIFIED] = "modified",
		[GIT_CHANGE_DELETED] = "deleted",
		[GIT_CHANGE_UNTRACKED] = "untracked",
	};

	return names[type];
}
