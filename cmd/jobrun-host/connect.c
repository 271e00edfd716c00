/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `jobrun-host connect`: the command that ssh starts.  It reads the frame that
 * names the run, finds or starts that run's daemon, hands it the channel and
 * waits until the daemon is done with it.
 */
#include "cmd/jobrun-host/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/device/device_queue.h"
#include "core/device/look.h"

#define HELLO_MAX 2048
#define NONCE_MAX 64
#define EVICT_MS 15000

struct hello {
	char *run;
	char *nonce;
	uint32_t kind;
	char *owner;
	char *digest;
	char *origin;
};

static bool read_all(void *to, size_t len)
{
	char *at = to;

	while (len) {
		ssize_t n = read(STDIN_FILENO, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static void say(enum frame_type type, const char *why)
{
	struct wire_out out = { 0 };

	wire_begin(&out, type);
	wire_put_text(&out, why);
	wire_end(&out);
	fd_write(STDOUT_FILENO, out.data, out.len);
	wire_out_done(&out);
}

/* Refuses in a form that the client understands; returns the exit status. */
static int refuse(const struct error *err)
{
	say(err->code == ERROR_TRY_AGAIN ? FRAME_HELD : FRAME_REFUSED,
	    err->text);
	return 1;
}

/* Whether the text can be one part of a path that is not hidden. */
static bool is_name(const char *text, size_t max)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-.";

	return *text && *text != '.' && strlen(text) <= max &&
	       strspn(text, chars) == strlen(text);
}

/* Reads the first frame, but not one byte more: the rest is for the daemon. */
static bool read_frame(char bytes[FRAME_HEADER + HELLO_MAX],
		       struct frame *frame)
{
	struct wire_in in = { (unsigned char *)bytes, 4, false };
	uint32_t len;
	size_t used;

	if (!read_all(bytes, FRAME_HEADER))
		return false;
	len = wire_get_u32(&in);
	return len <= HELLO_MAX && read_all(bytes + FRAME_HEADER, len) &&
	       frame_find(bytes, FRAME_HEADER + len, frame, &used) ==
		       FRAME_WHOLE;
}

static int read_hello(const struct frame *frame, struct hello *hello)
{
	struct wire_in in = frame_fields(frame);

	if (frame->type != FRAME_HELLO)
		return -1;
	hello->run = wire_get_string(&in);
	hello->nonce = wire_get_string(&in);
	hello->kind = wire_get_u32(&in);
	hello->owner = wire_get_string(&in);
	hello->digest = wire_get_string(&in);
	hello->origin = wire_get_string(&in);
	if (!wire_is_done(&in) || !is_name(hello->run, NAME_MAX - 8) ||
	    !is_name(hello->nonce, NONCE_MAX))
		return -1;
	return 0;
}

/* Returns the folder of all runs and makes it the working directory. */
static char *enter_base(const char *directory, struct error *err)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	char *base;

	if (directory)
		base = path_join(directory, "hosts");
	else if (state && *state == '/')
		base = mem_printf("%s/jobrun/hosts", state);
	else
		base = mem_printf("%s/.local/state/jobrun/hosts",
				  home ? home : "");
	if (folder_make(base, err) == 0 && chdir(base) == 0)
		return base;
	free(base);
	error_prefix(err, "the folder for runs");
	return NULL;
}

static int open_socket(struct error *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		error_errno(err, "cannot create a socket");
	return fd;
}

/* A name relative to the run's folder, which must be the working directory:
 * names of sockets are limited to about a hundred bytes. */
static const struct sockaddr_un place = { .sun_family = AF_UNIX,
					  .sun_path = "socket" };

/* Returns a connection to the daemon, or -1 if there is none. */
static int find_daemon(struct error *err)
{
	int fd = open_socket(err);

	if (fd >= 0 &&
	    connect(fd, (const struct sockaddr *)&place, sizeof(place)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int start_daemon(const char *directory, const char *folder, int lock,
			struct error *err)
{
	int listener = open_socket(err);
	int log, null;
	pid_t pid;

	if (listener < 0)
		return -1;
	unlink(place.sun_path);
	if (bind(listener, (const struct sockaddr *)&place, sizeof(place)) <
		    0 ||
	    listen(listener, 16) < 0) {
		error_errno(err, "cannot listen in '%s'", folder);
		close(listener);
		return -1;
	}
	pid = fork();
	if (pid != 0) {
		close(listener);
		return pid < 0 ? error_errno(err, "cannot fork") : 0;
	}
	/* The daemon must not keep anything of the connection open. */
	setsid();
	close(lock);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	log = open("agent.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		   0600);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(log >= 0 ? log : null, STDERR_FILENO);
	_exit(agent_main(directory, folder, listener));
}

/* Ends the daemon of another run that has this one's folder. */
static int evict(struct error *err)
{
	struct pollfd gone = { .events = POLLIN };
	int fd = find_daemon(err);
	char byte = 0;

	if (fd < 0)
		return 0;
	gone.fd = fd;
	if (write(fd, &byte, 1) < 0 || poll(&gone, 1, EVICT_MS) <= 0) {
		close(fd);
		return error_set(err, ERROR_TRY_AGAIN,
				 "an earlier run of this job does not end "
				 "there");
	}
	close(fd);
	return 0;
}

static bool is_there(const struct hello *hello)
{
	struct error ignored;
	char *path = path_join(hello->run, "nonce");
	size_t len;
	char *have = file_read(path, NONCE_MAX, &len, &ignored);
	bool same = have && !strcmp(have, hello->nonce);

	free(have);
	free(path);
	return same;
}

/* ---- whose it is ---- */

/* The lines of the file `owner`. */
struct holder {
	char owner[160];
	char digest[80];
	char since[32];
	char origin[256]; /* "": an older agent wrote it */
};

static bool read_holder(struct holder *out)
{
	struct error ignored;
	size_t len;
	char *text = file_read("owner", HELLO_MAX, &len, &ignored);
	bool whole;

	out->origin[0] = '\0';
	whole = text &&
		sscanf(text, "%159[^\n]\n%79[^\n]\n%31[^\n]\n%255[^\n]",
		       out->owner, out->digest, out->since, out->origin) >= 3;

	free(text);
	return whole;
}

static int write_holder(const struct hello *hello, struct error *err)
{
	time_t now = time(NULL);
	char since[32];
	char *text;
	int ret;

	strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%SZ", gmtime(&now));
	text = mem_printf("%s\n%s\n%s\n%s\n", hello->owner,
			  *hello->digest ? hello->digest : "-", since,
			  hello->origin);
	ret = file_write("owner", text, strlen(text), err);
	free(text);
	if (ret == 0)
		ret = file_write(AGENT_HEARD, "", 0, err);
	if (ret == 0)
		ret = file_write("nonce", hello->nonce, strlen(hello->nonce),
				 err);
	return ret;
}

/* Compares the first words; the rest is for people. */
static bool is_same_owner(const char *a, const char *b)
{
	size_t len = strcspn(a, " ");

	return len == strcspn(b, " ") && !strncmp(a, b, len);
}

static const char *people_of(const struct holder *holder)
{
	const char *who = strchr(holder->owner, ' ');

	return who ? who + 1 : holder->owner;
}

static long silent_s(void)
{
	struct stat st;

	return stat(AGENT_HEARD, &st) == 0 ? (long)(time(NULL) - st.st_mtime)
					   : OWNER_LEASE_S;
}

static bool has_daemon(void)
{
	struct error ignored;
	int fd = find_daemon(&ignored);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Returns 1 if the existing run becomes this one, 0 if it must go, -1 if its
 * owner is still there. */
static int claim(const struct hello *hello, struct error *err)
{
	struct holder holder;
	long silent;

	if (!read_holder(&holder) || is_same_owner(holder.owner, hello->owner))
		return 0;
	silent = silent_s();
	if (silent < OWNER_LEASE_S)
		return error_set(err, ERROR_TRY_AGAIN,
				 "'%s' runs this job there, %s, since %s; it "
				 "was heard %ld s ago",
				 people_of(&holder),
				 strcmp(holder.digest, hello->digest) != 0
					 ? "in another form"
					 : "in the same form",
				 holder.since, silent < 0 ? 0 : silent);
	return !strcmp(holder.digest, hello->digest) && has_daemon();
}

/* ---- jobs of that name from elsewhere ---- */

/* Whether the folder is of the same job but another origin.  Run folders are
 * called JOB.ORIGIN.INDEX or JOB.ORIGIN-SLOT.INDEX. */
static bool is_of_other_origin(const char *run, const char *folder)
{
	size_t job = strcspn(run, ".");
	size_t len;

	if (!run[job] || strncmp(run, folder, job + 1) != 0)
		return false;
	run += job + 1;
	folder += job + 1;
	len = strcspn(run, ".-");
	return strcspn(folder, ".-") != len || strncmp(run, folder, len) != 0;
}

/* Ends the run in such a folder, which becomes the working directory.  Runs of
 * the same owner stay, as its own store knows them. */
static int end_other(const struct hello *hello, const char *folder,
		     struct error *err)
{
	struct holder holder;

	if (!has_daemon() || !read_holder(&holder) ||
	    is_same_owner(holder.owner, hello->owner))
		return 0;
	if (hello->kind != HELLO_TAKE_OVER)
		return error_set(err, ERROR_TRY_AGAIN,
				 "'%s' runs another job of that name there, "
				 "since %s: that one is from %s, this one from "
				 "%s; --take-over stops it",
				 people_of(&holder), holder.since,
				 *holder.origin ? holder.origin : "elsewhere",
				 *hello->origin ? hello->origin : "elsewhere");
	if (evict(err) < 0)
		return -1;
	if (chdir("..") < 0)
		return error_errno(err, "cannot leave '%s'", folder);
	return folder_remove(folder, err);
}

static int make_way(const struct hello *hello, const char *base,
		    struct error *err)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	int ret = 0;

	while (dir && ret == 0 && (entry = readdir(dir))) {
		if (!is_of_other_origin(hello->run, entry->d_name) ||
		    chdir(entry->d_name) < 0)
			continue;
		ret = end_other(hello, entry->d_name, err);
		if (chdir(base) < 0)
			ret = error_errno(err, "cannot enter '%s'", base);
	}
	if (dir)
		closedir(dir);
	return ret;
}

/* Makes the run's folder the working directory, and empties it if it has
 * another run's files. */
static int enter_run(const struct hello *hello, struct error *err)
{
	struct error ignored;
	char *have = NULL;
	size_t len;
	int ret = 0;

	if (mkdir(hello->run, 0700) < 0 && errno != EEXIST)
		return error_errno(err, "cannot create '%s'", hello->run);
	if (chdir(hello->run) < 0)
		return error_errno(err, "cannot enter '%s'", hello->run);
	have = file_read("nonce", NONCE_MAX, &len, &ignored);
	if (have && !strcmp(have, hello->nonce))
		goto out;
	ret = claim(hello, err);
	if (ret > 0) {
		ret = write_holder(hello, err);
		goto out;
	}
	if (ret == 0)
		ret = evict(err);
	if (ret == 0 && chdir("..") == 0) {
		ret = folder_remove(hello->run, err);
		if (ret == 0 &&
		    (mkdir(hello->run, 0700) < 0 || chdir(hello->run) < 0))
			ret = error_errno(err, "cannot create '%s'",
					  hello->run);
	}
	if (ret == 0)
		ret = write_holder(hello, err);
out:
	free(have);
	return ret;
}

/* Hands the channel to the daemon. */
static int hand_over(int daemon, struct error *err)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	int ends[2] = { STDIN_FILENO, STDOUT_FILENO };
	char byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr frame = { .msg_iov = &data,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = sizeof(control) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&frame);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(ends));
	memcpy(CMSG_DATA(head), ends, sizeof(ends));
	if (sendmsg(daemon, &frame, MSG_NOSIGNAL) < 0)
		return error_errno(err, "cannot reach the run's daemon");
	return 0;
}

static int attach(const char *directory, const struct hello *hello,
		  struct error *err)
{
	char *base = enter_base(directory, err);
	char *folder;
	int lock, daemon = -1;

	if (!base)
		return -1;
	folder = path_join(base, hello->run);
	/* Only one process at a time, as two would start two daemons. */
	lock = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0 || flock(lock, LOCK_EX) < 0) {
		error_errno(err, "cannot lock '%s'", folder);
		goto out;
	}
	if (hello->kind == HELLO_FIND && !is_there(hello)) {
		say(FRAME_GONE, "");
		_exit(0);
	}
	if (!is_there(hello) && make_way(hello, base, err) < 0)
		goto out;
	if (enter_run(hello, err) < 0)
		goto out;
	daemon = find_daemon(err);
	if (daemon < 0 && start_daemon(directory, folder, lock, err) == 0)
		daemon = find_daemon(err);
	if (daemon >= 0 && hand_over(daemon, err) < 0) {
		close(daemon);
		daemon = -1;
	}
out:
	if (lock >= 0)
		close(lock);
	free(folder);
	free(base);
	return daemon;
}

/* Answers with the devices of this machine. */
static int tell_devices(const char *directory)
{
	struct arena *mem = arena_new();
	struct error err = { 0 };
	struct devices *all = devices_look(mem, &err);
	struct buf text = { 0 };

	if (all) {
		char *cache = agent_cache(directory);

		device_queue_show(cache, all, mem);
		free(cache);
		devices_write(all, &text);
		say(FRAME_DEVICES_ARE, buf_text(&text));
	} else {
		say(FRAME_REFUSED, err.text);
	}
	buf_done(&text);
	arena_free(mem);
	return all ? 0 : 1;
}

int connect_main(const char *directory)
{
	char bytes[FRAME_HEADER + HELLO_MAX];
	struct hello hello = { 0 };
	struct error err = { 0 };
	struct frame frame;
	char byte;
	int daemon;

	if (!read_frame(bytes, &frame) ||
	    (frame.type != FRAME_DEVICES && read_hello(&frame, &hello) < 0)) {
		error_set(&err, ERROR_FAILED, "the first frame is invalid");
		return refuse(&err);
	}
	if (frame.type == FRAME_DEVICES)
		return tell_devices(directory);
	daemon = attach(directory, &hello, &err);
	free(hello.run);
	free(hello.nonce);
	free(hello.owner);
	free(hello.digest);
	free(hello.origin);
	if (daemon < 0)
		return refuse(&err);
	/* The daemon has these now; sshd keeps the session open as long as this
	 * process exists. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	while (read(daemon, &byte, 1) < 0 && errno == EINTR)
		;
	return 0;
}
