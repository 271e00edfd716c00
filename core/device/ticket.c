/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device/ticket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"

#define NEW "n-"
#define HOLDER_MAX 65536
#define PRIORITY_MAX 2000000000L
#define READABLE 0644
/* How many of the files before its own a look at the queue tests for being
 * alive; it assumes that the others are. */
#define LOOK_AT 32

struct queued {
	char *name;
	bool own;           /* belongs to this user */
	int64_t arrival_ms; /* for others' files: the kernel's time */
	long rank;          /* the smaller one goes first: 0 has PRIORITY_MAX */
};

struct ticket_list {
	struct queued *items;
	size_t count;
};

char *ticket_name(int64_t create_time_ms, long priority, const char *run)
{
	unsigned random = 0;

	if (priority > PRIORITY_MAX)
		priority = PRIORITY_MAX;
	if (priority < -PRIORITY_MAX)
		priority = -PRIORITY_MAX;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (unsigned)getpid();
	return mem_printf(TICKET_WAITS "%014lld-%010ld-%.160s-%08x",
			  (long long)create_time_ms, PRIORITY_MAX - priority,
			  run, random);
}

/* It has another name until it is locked, so that nobody takes it for dead. */
int ticket_make(int folder, const char *name, struct error *err)
{
	char *early = mem_printf(NEW "%s", name);
	int fd = openat(folder, early,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			READABLE);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ||
	    fchmod(fd, READABLE) < 0 ||
	    renameat(folder, early, folder, name) < 0) {
		error_errno(err, "cannot create '%s'", name);
		if (fd >= 0) {
			unlinkat(folder, early, 0);
			close(fd);
		}
		fd = -1;
	}
	free(early);
	return fd;
}

/* Never blocks, whatever another user has put there. */
static int open_ticket(int folder, const char *name, struct stat *st)
{
	int fd = openat(folder, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && (fstat(fd, st) < 0 || !S_ISREG(st->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Whether somebody holds it; one that is dead is removed. */
static bool ticket_is_alive(int folder, const char *name)
{
	struct stat st;
	int fd = open_ticket(folder, name, &st);
	bool dead;

	if (fd < 0)
		return false;
	dead = flock(fd, LOCK_SH | LOCK_NB) == 0;
	/* Others' files are left to their owners, as the folder's mode
	 * demands. */
	if (dead)
		unlinkat(folder, name, 0);
	close(fd);
	return !dead;
}

/* "w-TIME-RANK-..." */
static bool read_name(const char *name, int64_t *arrival_ms, long *rank)
{
	char *end;

	*arrival_ms = strtoll(name + strlen(TICKET_WAITS), &end, 10);
	if (*end != '-')
		return false;
	*rank = strtol(end + 1, &end, 10);
	return *end == '-';
}

static void take(int folder, const char *name, struct ticket_list *all)
{
	struct queued *one;
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return;
	all->items = mem_grow(all->items, all->count + 1, sizeof(*all->items));
	one = &all->items[all->count];
	*one = (struct queued){ .own = st.st_uid == geteuid() };
	if (!one->own)
		one->arrival_ms = st.st_ctim.tv_sec * INT64_C(1000) +
				  st.st_ctim.tv_nsec / 1000000;
	else if (!read_name(name, &one->arrival_ms, &one->rank))
		return;
	one->name = mem_strdup(name);
	all->count++;
}

static DIR *list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *out = fd >= 0 ? fdopendir(fd) : NULL;

	if (!out && fd >= 0)
		close(fd);
	return out;
}

static int by_arrival(const void *a, const void *b)
{
	const struct queued *one = a, *two = b;

	if (one->arrival_ms != two->arrival_ms)
		return one->arrival_ms < two->arrival_ms ? -1 : 1;
	return strcmp(one->name, two->name);
}

static bool goes_before(const struct queued *one, const struct queued *two)
{
	if (one->rank != two->rank)
		return one->rank < two->rank;
	return by_arrival(one, two) < 0;
}

static bool counts(int folder, const struct queued *one, long *looked)
{
	bool alive = *looked >= LOOK_AT || ticket_is_alive(folder, one->name);

	/* Only live ones count: others' dead tickets stay where they are. */
	*looked += alive;
	return alive;
}

/*
 * A user's runs have the positions in which they arrived; their priorities
 * decide which run has which position.  So the position of `self` is that of
 * the n-th run of its user, where n - 1 of these go before it.
 */
static long count_before(int folder, const struct ticket_list *all,
			 const struct queued *self)
{
	long own_before = 0, others = 0, own_seen = 0, looked = 0;
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->items[i].own && goes_before(&all->items[i], self))
			own_before += counts(folder, &all->items[i], &looked);
	for (i = 0; i < all->count; i++) {
		const struct queued *one = &all->items[i];
		bool alive = one == self || counts(folder, one, &looked);

		if (alive && one->own && own_seen++ == own_before)
			break;
		others += alive && !one->own;
	}
	return own_before + others;
}

long tickets_before(int folder, const char *name)
{
	DIR *dir = list(folder);
	struct ticket_list all = { 0 };
	const struct dirent *entry;
	long before = 0;
	size_t i;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, TICKET_WAITS, strlen(TICKET_WAITS)))
			take(folder, entry->d_name, &all);
	if (dir)
		closedir(dir);
	qsort(all.items, all.count, sizeof(*all.items), by_arrival);
	for (i = 0; i < all.count; i++)
		if (all.items[i].own && !strcmp(all.items[i].name, name))
			before = count_before(folder, &all, &all.items[i]);
	for (i = 0; i < all.count; i++)
		free(all.items[i].name);
	free(all.items);
	return before;
}

/* The contents are for people: only the locks count.  A line for the run, then
 * one for each device. */
int ticket_hold(int folder, int fd, const char *name,
		const struct ticket_claim *claim, struct error *err)
{
	struct buf text = { 0 };
	char *later =
		mem_printf(TICKET_HOLDS "%s", name + strlen(TICKET_WAITS));
	int ret = 0;
	size_t i;

	buf_printf(&text, "%s\n", claim->run);
	for (i = 0; i < claim->count; i++)
		buf_printf(&text, "%s\n", claim->devices[i]);
	if (fd_write(fd, text.data, text.len) < 0 ||
	    renameat(folder, name, folder, later) < 0)
		ret = error_errno(err, "cannot say what is held");
	free(later);
	buf_done(&text);
	return ret;
}

/* Splits the contents of such a file in place; the devices are a new array. */
static const char **read_claim(char *text, struct ticket_claim *out)
{
	const char **devices = NULL;
	char *line;

	*out = (struct ticket_claim){ .run = strsep(&text, "\n") };
	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		devices = mem_grow(devices, out->count + 1, sizeof(*devices));
		devices[out->count++] = line;
	}
	out->devices = devices;
	return devices;
}

static void show_claim(int fd, const struct stat *st,
		       void (*each)(void *arg, const struct ticket_claim *claim,
				    const char *user, int64_t since_ms),
		       void *arg)
{
	const struct passwd *user = getpwuid(st->st_uid);
	struct ticket_claim claim;
	const char **devices;
	struct error ignored;
	char number[24], *text;
	size_t len;

	text = file_read_fd(fd, "holder", HOLDER_MAX, &len, &ignored);
	if (!text)
		return;
	snprintf(number, sizeof(number), "%ld", (long)st->st_uid);
	devices = read_claim(text, &claim);
	each(arg, &claim, user ? user->pw_name : number,
	     st->st_ctim.tv_sec * INT64_C(1000));
	free(devices);
	free(text);
}

void tickets_each_holder(int folder,
			 void (*each)(void *arg,
				      const struct ticket_claim *claim,
				      const char *user, int64_t since_ms),
			 void *arg)
{
	DIR *dir = list(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st;
		int fd;

		if (strncmp(entry->d_name, TICKET_HOLDS,
			    strlen(TICKET_HOLDS)) != 0 ||
		    !ticket_is_alive(folder, entry->d_name))
			continue;
		fd = open_ticket(folder, entry->d_name, &st);
		if (fd < 0)
			continue;
		show_claim(fd, &st, each, arg);
		close(fd);
	}
	if (dir)
		closedir(dir);
}
