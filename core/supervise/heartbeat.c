/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/heartbeat.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/store/store.h"

#define ASKED "cancel" /* in the folder of the run */
#define BEATS "beats"
#define LOOKED "looked"
/* The clocks of machines mostly differ by less. */
#define SURE_MS (60 * 1000)

bool heartbeat_is_needed(const char *folder)
{
	static const unsigned own[] = {
		0xef53,     /* ext4 */
		0x58465342, /* XFS */
		0x9123683e, /* Btrfs */
		0x2fc12fc1, /* ZFS */
		0x01021994, /* tmpfs */
		0x858458f6, /* ramfs */
		0x794c7630, /* overlay */
		0xf2f52010, /* F2FS */
		0xca451a4e, /* bcachefs */
		0x3153464a, /* JFS */
	};
	const char *said = getenv("JOBRUN_STATE_SHARED");
	struct statfs fs;

	if (said && *said)
		return strcmp(said, "0") != 0;
	if (statfs(folder, &fs) < 0)
		return true;
	for (size_t i = 0; i < COUNT(own); i++)
		if ((unsigned)fs.f_type == own[i])
			return false;
	return true;
}

/* Returns the folder of the run whose lock this is; NULL if that can't be found
 * out. */
static char *folder_of(int lock)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", lock);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	return mem_strdup(path);
}

/* Whether another machine has recorded this run as failed, because this machine
 * was silent for too long. */
static bool was_given_up(const char *folder)
{
	char *path = path_join(folder, "state");
	struct error ignored;
	size_t len;
	char *text = file_read(path, 4096, &len, &ignored);
	bool was = text && text_starts(text, "FAILED");

	free(text);
	free(path);
	return was;
}

static int asked_for(const char *folder)
{
	char *path = path_join(folder, ASKED);
	struct error ignored;
	size_t len;
	char *text = access(path, F_OK) == 0
			     ? file_read(path, 64, &len, &ignored)
			     : NULL;
	int number = 0;

	if (text)
		number = text_starts(text, "now") ? SIGINT : SIGTERM;
	if (text)
		unlink(path);
	free(text);
	free(path);
	return number;
}

/* Names this process among those that may guard the run. */
static void name_self(struct heartbeat *guard)
{
	char host[256];

	if (gethostname(host, sizeof(host)) < 0)
		host[0] = '\0';
	host[sizeof(host) - 1] = '\0';
	snprintf(guard->name, sizeof(guard->name), "%s %ld\n", host,
		 (long)getpid());
}

/* Leaves word that this run beats, and of whom: a machine that sees the folder
 * as its own disk does not, and whoever sees it as a shared one must not wait
 * for that.  On a full disk a later beat does. */
static void leave_word(struct heartbeat *guard, const char *folder)
{
	char *path = path_join(folder, BEATS);
	struct error ignored;

	guard->is_named = file_write(path, guard->name, strlen(guard->name),
				     &ignored) == 0;
	free(path);
}

/* Whether another process has left word since. */
static bool is_anothers(const struct heartbeat *guard, const char *folder)
{
	char *path = path_join(folder, BEATS);
	struct error ignored;
	size_t len = 0;
	char *text = file_read(path, sizeof(guard->name), &len, &ignored);
	/* Older versions left an empty file. */
	bool is = guard->is_named && text && len &&
		  strcmp(text, guard->name) != 0;

	free(text);
	free(path);
	return is;
}

bool heartbeat_is_anothers(const struct heartbeat *guard, int lock)
{
	char *folder = folder_of(lock);
	bool is = folder && is_anothers(guard, folder);

	free(folder);
	return is;
}

static bool has_word(const char *folder)
{
	char *path = path_join(folder, BEATS);
	bool has = access(path, F_OK) == 0;

	free(path);
	return has;
}

int heartbeat_beat(struct heartbeat *guard, int lock)
{
	char *folder = folder_of(lock);
	struct timespec up;
	int64_t now_ms;
	int number = 0;

	/* CLOCK_BOOTTIME counts the time asleep, when the machine is silent,
	 * too. */
	clock_gettime(CLOCK_BOOTTIME, &up);
	now_ms = (int64_t)up.tv_sec * 1000 + up.tv_nsec / 1000000;
	if (!*guard->name)
		name_self(guard);
	if (folder && !guard->is_named)
		leave_word(guard, folder);
	if (folder)
		number = asked_for(folder);
	if (folder && guard->last_ms &&
	    now_ms - guard->last_ms >= HEARTBEAT_LOST_MS &&
	    was_given_up(folder))
		number = SIGINT;
	/* This may take as long as the file system is away. */
	if (futimens(lock, NULL) == 0 || !guard->last_ms)
		guard->last_ms = now_ms;
	if (folder && is_anothers(guard, folder))
		number = SIGKILL;
	free(folder);
	return number;
}

static int64_t changed_ms(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -1;
	return (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
}

/* Returns the time by the clock of the machine that has the files. */
static int64_t file_time_ms(const char *folder)
{
	char *path = path_join(folder, LOOKED);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int64_t out = -1;

	if (fd >= 0 && futimens(fd, NULL) == 0)
		out = changed_ms(path);
	if (fd >= 0)
		close(fd);
	free(path);
	return out;
}

int64_t heartbeat_age_ms(const char *folder)
{
	char *path = path_join(folder, STORE_RUN_LOCK);
	int64_t beat_ms = changed_ms(path);
	int64_t age_ms = time_now_ms() - beat_ms;
	int64_t now_ms;

	free(path);
	if (beat_ms < 0 || !has_word(folder))
		return -1;
	if (age_ms >= 0 && age_ms < SURE_MS)
		return age_ms;
	now_ms = file_time_ms(folder);
	return now_ms < beat_ms ? -1 : now_ms - beat_ms;
}

int heartbeat_ask_end(const char *folder, bool now, struct error *err)
{
	char *path = path_join(folder, ASKED);
	const char *text = now ? "now\n" : "\n";
	int ret = file_write(path, text, strlen(text), err);

	free(path);
	return ret;
}
