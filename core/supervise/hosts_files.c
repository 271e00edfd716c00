/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers files: the source and the packages to the hosts, as one archive for
 * all, and the contents of JOBRUN_RUN_DIR back. */
#include "core/supervise/hosts_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/data/archive.h"
#include "core/data/tree.h"
#include "core/job/source.h"
#include "core/ssh/agent_archive.h"
#include "core/spec/hosts_program.h"
#include "core/process/process.h"

#define BLOCK (256 << 10)
#define SEND_AHEAD (1 << 20)
#define FETCH_BYTES_MAX (UINT64_C(1) << 40)
#define FETCH_ENTRIES_MAX 1000000

struct shipping {
	struct digester *digester;
	int fd;
	uint64_t len;
	char *block;
};

static int add(struct shipping *ship, const void *data, size_t len,
	       struct error *err)
{
	if (fd_write(ship->fd, data, len) < 0)
		return error_errno(err, "cannot write what is to be shipped");
	digester_add(ship->digester, data, len);
	ship->len += len;
	return 0;
}

static int add_header(struct shipping *ship, enum archive_kind kind,
		      const char *path, uint64_t size, struct error *err)
{
	unsigned char header[ARCHIVE_HEADER_MAX];
	size_t len = archive_header(header, kind, path, size);

	if (!len)
		return error_set(err, ERROR_FAILED, "'%s' is too long", path);
	return add(ship, header, len, err);
}

/* Takes the descriptor. */
static int add_contents(struct shipping *ship, int fd, const char *path,
			uint64_t left, struct error *err)
{
	int ret = -1;
	ssize_t n;

	while (left) {
		n = read(fd, ship->block, left < BLOCK ? (size_t)left : BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			error_set(err, ERROR_FAILED,
				  "'%s' changed while it was read", path);
			goto out;
		}
		if (add(ship, ship->block, (size_t)n, err) < 0)
			goto out;
		left -= (uint64_t)n;
	}
	ret = 0;
out:
	close(fd);
	return ret;
}

/* Adds one file of a tree as `to`. */
static int add_tree_file(struct shipping *ship, const struct tree *tree,
			 const struct tree_entry *entry, const char *to,
			 struct error *err)
{
	int fd = tree_open_file(tree->folder, entry, err);

	if (fd < 0)
		return -1;
	if (add_header(ship, entry->executable ? ARCHIVE_PROGRAM : ARCHIVE_FILE,
		       to, entry->size_bytes, err) < 0) {
		close(fd);
		return -1;
	}
	return add_contents(ship, fd, entry->path, entry->size_bytes, err);
}

static int add_tree(struct shipping *ship, const char *name,
		    const struct tree *tree, struct arena *mem,
		    struct error *err)
{
	int ret = add_header(ship, ARCHIVE_FOLDER, name, 0, err);
	size_t i;

	for (i = 0; ret == 0 && i < tree->count; i++) {
		const struct tree_entry *entry = &tree->entries[i];
		const char *to = arena_printf(mem, "%s/%s", name, entry->path);

		if (entry->kind == TREE_FOLDER) {
			ret = add_header(ship, ARCHIVE_FOLDER, to, 0, err);
		} else if (entry->kind == TREE_LINK) {
			ret = add_header(ship, ARCHIVE_LINK, to,
					 strlen(entry->target), err);
			if (ret == 0)
				ret = add(ship, entry->target,
					  strlen(entry->target), err);
		} else {
			ret = add_tree_file(ship, tree, entry, to, err);
		}
	}
	return ret;
}

static int add_source(struct shipping *ship, const struct run_spec *spec,
		      struct error *err)
{
	const char *folder = spec->hosts.source;
	struct arena *mem = arena_new();
	struct tree tree;
	int ret = source_read(folder, spec->checkpoints.directory, mem, &tree,
			      err);

	if (ret == 0)
		ret = add_tree(ship, "source", &tree, mem, err);
	arena_free(mem);
	return ret;
}

/* Packages are unpacked here, as hosts have no libarchive. */
static int add_package(struct shipping *ship, const struct run_spec *spec,
		       size_t i, struct error *err)
{
	static const struct source_options whole = {
		.version = SOURCE_VERSION_1,
	};
	char *folder = mem_printf("%s/packages/%zu", spec->home, i);
	char *name = mem_printf("packages/%zu", i);
	struct arena *mem = arena_new();
	struct tree tree;
	int ret = 0;

	if (access(folder, F_OK) < 0)
		ret = archive_unpack(spec->packages.items[i], NULL, folder,
				     NULL, err);
	if (ret == 0)
		ret = tree_read(folder, &whole, mem, &tree, err);
	if (ret == 0)
		ret = add_tree(ship, name, &tree, mem, err);
	arena_free(mem);
	free(folder);
	free(name);
	return ret;
}

/* Adds this program. */
static int add_program(struct shipping *ship, struct error *err)
{
	char path[4096];
	struct stat st;
	int fd;

	process_self(path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		if (fd >= 0)
			close(fd);
		return error_errno(err, "cannot read '%s'", path);
	}
	if (add_header(ship, ARCHIVE_FOLDER, "bin", 0, err) < 0 ||
	    add_header(ship, ARCHIVE_PROGRAM, HOSTS_PROGRAM,
		       (uint64_t)st.st_size, err) < 0) {
		close(fd);
		return -1;
	}
	return add_contents(ship, fd, path, (uint64_t)st.st_size, err);
}

static int add_all(struct shipping *ship, const struct run_spec *spec,
		   struct error *err)
{
	size_t i;

	if (spec->hosts.source && add_source(ship, spec, err) < 0)
		return -1;
	if (hosts_need_program(spec) && add_program(ship, err) < 0)
		return -1;
	for (i = 0; i < spec->packages.count; i++)
		if (add_package(ship, spec, i, err) < 0)
			return -1;
	return add_header(ship, ARCHIVE_END, "", 0, err);
}

int ship_make(struct hosts *all, struct error *err)
{
	const struct run_spec *spec = all->deps.spec;
	struct shipping ship = { .fd = -1 };
	struct digest digest;
	char *path;
	int ret = -1;

	if (all->ship_made)
		return 0;
	if (!spec->hosts.source && !spec->packages.count &&
	    !hosts_need_program(spec)) {
		all->ship_made = true;
		return 0;
	}
	path = path_join(spec->home, "ship");
	ship.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (ship.fd < 0) {
		error_errno(err, "cannot write '%s'", path);
		goto out;
	}
	/* The open file disappears with this process. */
	unlink(path);
	ship.digester = digester_new();
	ship.block = mem_alloc(BLOCK);
	if (add_all(&ship, spec, err) < 0)
		goto out;
	digester_end(ship.digester, &digest);
	memcpy(all->ship_digest, digest.hex, sizeof(all->ship_digest));
	all->ship = ship.fd;
	all->ship_len = ship.len;
	all->ship_made = true;
	ret = 0;
out:
	if (ret < 0 && ship.fd >= 0)
		close(ship.fd);
	digester_free(ship.digester);
	free(ship.block);
	free(path);
	return ret;
}

int ship_send(struct host *host, struct error *err)
{
	struct hosts *all = host->all;
	struct wire_out out = { 0 };
	char *piece;
	int ret = 0;

	if (host->ship_at == UINT64_MAX)
		return 0;
	piece = mem_alloc(FRAME_PIECE);
	while (host->ship_at != UINT64_MAX &&
	       connection_queued(host->connection) < SEND_AHEAD) {
		ssize_t n = pread(all->ship, piece, FRAME_PIECE,
				  (off_t)host->ship_at);

		if (n < 0) {
			ret = error_errno(err, "cannot read what is shipped");
			break;
		}
		wire_begin(&out, FRAME_SHIP);
		wire_put_bytes(&out, piece, (size_t)n);
		wire_end(&out);
		connection_send(host->connection, &out);
		out.len = 0;
		/* An empty piece marks the end. */
		host->ship_at = n ? host->ship_at + (uint64_t)n : UINT64_MAX;
	}
	wire_out_done(&out);
	free(piece);
	return ret;
}

/* Returns where a host's files go: those of the master's host where a run on
 * this machine has them, those of another host into a folder of their own. */
static char *fetch_folder(const struct host *host)
{
	const char *output = host->all->deps.spec->output;

	return host->index ? mem_printf("%s/host-%zu", output, host->index)
			   : mem_strdup(output);
}

static int fetch_begin(struct host *host, struct error *err)
{
	char *folder = fetch_folder(host);
	char *part = mem_printf("%s/fetched-%zu", host->all->deps.spec->folder,
				host->index);
	int ret = folder_remove(part, err);

	if (ret == 0)
		ret = folder_make(part, err);
	if (ret == 0) {
		host->unpack_root =
			open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (host->unpack_root < 0)
			ret = error_errno(err, "cannot open '%s'", part);
	}
	if (ret == 0)
		host->unpacking = unpacking_new(
			host->unpack_root, FETCH_BYTES_MAX, FETCH_ENTRIES_MAX);
	free(part);
	free(folder);
	return ret;
}

void fetch_drop(struct host *host)
{
	if (!host->unpacking)
		return;
	unpacking_free(host->unpacking);
	host->unpacking = NULL;
	close(host->unpack_root);
}

/* Merges the files of the master's host, when it came back later than the
 * others, into its folder, which already has theirs. */
static int merge(const char *part, const char *folder, struct error *err)
{
	DIR *dir = opendir(part);
	struct dirent *entry;
	int ret = folder_make(folder, err);

	if (!dir)
		return error_errno(err, "cannot read '%s'", part);
	while (ret == 0 && (entry = readdir(dir))) {
		char *from, *to;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		from = path_join(part, entry->d_name);
		to = path_join(folder, entry->d_name);
		ret = folder_remove(to, err);
		if (ret == 0 && rename(from, to) < 0)
			ret = error_errno(err, "cannot create '%s'", to);
		free(from);
		free(to);
	}
	closedir(dir);
	return ret < 0 ? -1 : folder_remove(part, err);
}

/* Moves the fetched files to their place; an empty folder is dropped. */
static int keep(struct host *host, struct error *err)
{
	char *part = mem_printf("%s/fetched-%zu", host->all->deps.spec->folder,
				host->index);
	char *folder = fetch_folder(host);
	struct error ignored;
	int ret = 0;

	if (rmdir(part) < 0 && host->left && !host->index) {
		ret = merge(part, folder, err);
	} else if (access(part, F_OK) == 0) {
		/* If the master's host is fetched again, this also removes the
		 * other hosts' folders, but those are fetched again, too. */
		ret = folder_remove(folder, err);
		if (ret == 0 && host->index) {
			char *above = path_folder(folder);

			ret = folder_make(above, err);
			free(above);
		}
		if (ret == 0 && rename(part, folder) < 0)
			ret = error_errno(err, "cannot create '%s'", folder);
	}
	if (ret < 0)
		folder_remove(part, &ignored);
	free(folder);
	free(part);
	return ret;
}

int fetch_add(struct host *host, const struct frame *frame, struct error *err)
{
	bool done;

	if (!host->unpacking)
		return error_set(err, ERROR_FAILED, "nothing was asked for");
	if (frame->len)
		return unpacking_add(host->unpacking, frame->body, frame->len,
				     err);
	done = unpacking_is_done(host->unpacking);
	fetch_drop(host);
	if (!done)
		return error_set(err, ERROR_FAILED,
				 "its output folder can't be read");
	return keep(host, err);
}

/* ---- of which hosts, and when ---- */

static bool has_output(const struct host *host)
{
	return host_is_there(host) && host->stage == HOST_ENDED &&
	       host->agent_round;
}

static void fetch(struct host *host)
{
	struct error err;

	if (fetch_begin(host, &err) == 0) {
		host_send_fetch(host);
		return;
	}
	fprintf(stderr, "host '%s': %s\n", host->target.name, err.text);
	host->fetched = true;
}

/* Fetches the files of hosts that came back, which may then forget the run. */
void hosts_fetch_left(struct hosts *all)
{
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		if (!host->left || host->stage != HOST_ENDED || host->unpacking)
			continue;
		if (!host->fetched && has_output(host))
			fetch(host);
		if (host->unpacking)
			continue;
		host_send_simple(host, FRAME_RELEASE);
		host_reconciled(host);
	}
}

/* Fetches the files of the other hosts after the master's, as they go into its
 * folder. */
void hosts_fetched(struct hosts *all)
{
	size_t i;

	if (all->stage == HOSTS_RECONCILING)
		hosts_fetch_left(all);
	if (all->stage != HOSTS_FETCHING)
		return;
	if (!all->hosts[0].fetched && has_output(&all->hosts[0]))
		return;
	for (i = 1; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		if (!host->fetched && !host->unpacking && has_output(host))
			fetch(host);
	}
	for (i = 1; i < all->count; i++)
		if (!all->hosts[i].fetched && has_output(&all->hosts[i]))
			return;
	hosts_finished(all);
}

void hosts_begin_fetching(struct hosts *all)
{
	all->stage = HOSTS_FETCHING;
	if (has_output(&all->hosts[0]))
		fetch(&all->hosts[0]);
	hosts_fetched(all);
}
