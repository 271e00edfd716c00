/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of hosts.h: the backend (hosts.c), one host of it
 * (hosts_host.c, hosts_spool.c), the test whether they reach each other
 * (hosts_check.c), and the files sent and fetched (hosts_files.c). */
#ifndef JOBRUN_HOSTS_INTERNAL_H
#define JOBRUN_HOSTS_INTERNAL_H

#include <stdbool.h>

#include "core/ssh/connection.h"
#include "core/supervise/hosts.h"

/* How long a host may be silent before its connection is given up, and before
 * the host itself is. */
#define HOST_SILENT_MS 6000
#define HOST_LOST_MS 12000
/* How long hosts may take to be reached at first; and the same for hosts that
 * refuse too many connections at once, or whose connection never gets to the
 * protocol. */
#define HOST_REACH_MS 15000
#define HOST_BUSY_MS 60000
/* How long killed processes may take to disappear, and their output to
 * arrive. */
#define HOST_END_MS 10000

struct hosts;

enum host_stage {
	HOST_AWAY, /* waits for its turn to connect */
	HOST_CONNECTING,
	HOST_GREETING,  /* HELLO was sent */
	HOST_LEASING,   /* its devices are leased first, host by host */
	HOST_PREPARING, /* PREPARE was */
	HOST_READY,     /* waits for START; or has started an earlier round */
	HOST_STARTED,   /* START was sent, or was found to be done */
	HOST_ENDED,     /* nothing runs there */
};

struct host {
	struct hosts *all;
	size_t index;
	struct ssh_target target;
	struct connection *connection; /* NULL: none */
	enum host_stage stage;
	bool connecting; /* counts in `connecting` of all */
	bool lost;       /* for good */
	bool had;        /* an attempt has begun there */
	bool prepared;   /* files are there and `setup` has run */
	bool failed;     /* they could not be, or it failed */
	bool met;        /* its agent has spoken to this process */
	bool held;       /* by another owner's run */
	/* Why it can't be reached at present; 0: it was reached. */
	enum error_code away;
	bool may_run; /* something of the run may run there, as far as known */
	bool left;    /* one that the run has left and must reconcile */
	bool settled; /* has come as far as it can before the start */
	bool following;
	bool checked;
	char *blocked; /* what it does not reach, in words; NULL: nothing */
	size_t blocks; /* connections from it or to it that failed */
	bool fetched;
	unsigned tries;
	struct loop_event *retry;
	int64_t heard_ms; /* of its agent, monotonic */
	/* of anything at the other end of the connection, monotonic */
	int64_t spoke_ms;
	int64_t left_heard_ms, left_until_ms; /* of a left host, by the clock */
	int64_t begun_ms;    /* when reaching it began; 0: it had no turn yet */
	int64_t clock_ms;    /* our clock minus its own */
	int64_t hello_ms;    /* when it was greeted, monotonic */
	int64_t doubt_ms;    /* by how much less clock_ms may be */
	uint64_t greeted_ms; /* by its own clock: when it was last met */
	uint32_t agent_stage;
	/* the round that it reported, or was told to begin */
	uint32_t agent_round;
	char *folder;
	char *home;
	char *address;
	char *machine;      /* names it, and its folder of leases */
	bool leased;        /* holds the devices that its tasks need */
	bool leasing;       /* was asked to */
	struct strings ids; /* of these devices, in the deps' arena */
	const char *vendor;
	/* the offset sent so far; UINT64_MAX: nothing to send */
	uint64_t ship_at;
	struct unpacking *unpacking; /* for the files it sends */
	int unpack_root;
};

enum task_stage {
	TASK_WAITING,
	TASK_STARTED,
	TASK_ENDED,
};

enum hosts_stage {
	HOSTS_IDLE,
	HOSTS_REACHING, /* and preparing */
	HOSTS_CHECKING, /* ports */
	HOSTS_RUNNING,
	HOSTS_ENDING, /* processes */
	HOSTS_FETCHING,
	HOSTS_RECONCILING, /* with hosts that were left */
};

struct hosts {
	struct backend base;
	struct hosts_deps deps;
	char *config; /* of ssh */
	char *run;    /* the run's name on hosts, without the index */
	struct host *hosts;
	size_t count;
	size_t task_count;
	enum task_stage *tasks;
	enum hosts_stage stage;
	struct host *blocked; /* the first host that has said so, or NULL */
	uint32_t round;       /* the current or last round */
	/* the round begun by this attempt; 0: still connecting */
	uint32_t begun;
	uint32_t before; /* the logs have nothing of rounds up to this one */
	size_t ssh_running;
	size_t connecting; /* how many are connecting now */
	size_t connecting_max;
	struct loop_event *tick;
	int64_t ticked_ms;
	struct loop_event *end_timer;
	int64_t patience_ms; /* reconcile at least until then */

	/* The archive to send: made when the first host wants it. */
	bool ship_made;
	char ship_digest[65]; /* "": nothing */
	int ship;             /* -1: none */
	uint64_t ship_len;
};

/* ---- hosts that are left: hosts_left.c ---- */

/* Records, when an attempt has ended, what may still run on hosts. */
void hosts_note_left(struct hosts *all);
/* Records that nothing of the run is left there, and no output is missing. */
void host_reconciled(struct host *host);
void hosts_reconciled(struct hosts *all);

/* ---- hosts without a task: hosts_spare.c ---- */

/* They take the places of those that could not be prepared. */
void hosts_replace_failed(struct hosts *all);

/* ---- one host: hosts_host.c ---- */

void host_init(struct host *host, struct hosts *all, size_t index);
void host_done(struct host *host);
void host_connect(struct host *host);
/* Goes on with a host that holds its devices. */
void host_go_on(struct host *host);
/* Gives the host up: its pending work is reported as failed or lost. */
void host_lose(struct host *host, const char *why);
/* Records that the host got to this stage, the last one before the start. */
void host_settle(struct host *host, enum host_stage stage);
/* Drop its connection; the second one reconnects. */
void host_drop(struct host *host);
void host_reconnect(struct host *host);

/* ---- what it is asked: hosts_ask.c ---- */

/* Takes the frame, if it is complete. */
void host_send(struct host *host, struct wire_out *out, bool whole);
void host_send_simple(struct host *host, enum frame_type type);
/* Fails if a secret of the environment is unavailable. */
int host_send_prepare(struct host *host, struct error *err);
/* Sends what remains to be begun, and follows the spool. */
void host_begin(struct host *host);
/* Follows its spool, from where our logs end. */
void host_follow(struct host *host);
void host_send_signal(struct host *host, size_t ordinal, int number);
void host_send_end(struct host *host, uint32_t grace_ms);
/* Asks for the files that the tasks leave in JOBRUN_RUN_DIR. */
void host_send_fetch(struct host *host);

/* ---- its devices: hosts_lease.c ---- */

/* Whether its devices must be leased before it goes on; asks for them when it
 * is its turn. */
bool host_must_lease(struct host *host);
/* Handles the agent's answers. */
void host_take_lease(struct host *host, const struct frame *frame);
/* Writes into the specification what all hosts hold. */
void hosts_hold_devices(struct hosts *all);

/* ---- whether they reach each other: hosts_check.c ---- */

/* Adds the ports that the host also holds for its peers, in the form of
 * PREPARE. */
void host_put_fixed_ports(const struct host *host, struct wire_out *out);
void host_send_check(struct host *host);
/* Fails the attempt because hosts do not reach each other. */
void hosts_report_blocked(struct hosts *all);
void hosts_forget_checks(struct hosts *all);
/* Whether a clock is too far off; the attempt has failed then. */
bool hosts_clocks_differ(struct hosts *all);
/* Handles the host's answer. */
void host_take_checked(struct host *host, const struct frame *frame);

/* ---- its spool: hosts_spool.c ---- */

void host_take_output(struct host *host, const struct frame *frame);
/* Reads the rest of an OUTPUT that came in part; `arg` is the host. */
ssize_t host_take_rest(void *arg, const struct frame_output *output, int fd);
void host_take_event(struct host *host, const struct frame *frame);

/* ---- the backend: hosts.c ---- */

/* Starts looking after connections, unless that runs already. */
void hosts_tick(struct hosts *all);
/* Connects the next hosts when a slot for connecting is free. */
void hosts_connect_next(struct hosts *all);
/* Handles that one more host is settled. */
void hosts_settled(struct hosts *all);
void hosts_failed(struct hosts *all, struct host *host, const char *why);
void hosts_checked(struct hosts *all);
void hosts_ended(struct hosts *all);
/* To be called when nothing of the run is left, and all of its files are
 * here. */
void hosts_finished(struct hosts *all);
/* The host's first task at ordinal `from` or later; the number of tasks if
 * there is none. */
size_t host_task(const struct host *host, size_t from);
/* Whether it was greeted and is not gone since. */
bool host_is_there(const struct host *host);
void hosts_task_event(struct hosts *all, const struct frame *frame,
		      const struct frame_event *event);

/* ---- files: hosts_files.c ---- */

int ship_make(struct hosts *all, struct error *err);
/* Sends the next pieces, as many as make sense at once. */
int ship_send(struct host *host, struct error *err);
/* Receives the output files of a host. */
int fetch_add(struct host *host, const struct frame *frame, struct error *err);
void fetch_drop(struct host *host);
void hosts_begin_fetching(struct hosts *all);
/* Fetches files from hosts that were left, which may then forget the run. */
void hosts_fetch_left(struct hosts *all);
/* Handles that one host has sent everything, or is lost. */
void hosts_fetched(struct hosts *all);

#endif
