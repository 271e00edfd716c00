/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of hosts.h: the backend (hosts.c), one host of it
 * (hosts_host.c, hosts_spool.c), the test whether they reach each other (hosts_check.c), and
 * the files sent and fetched (hosts_files.c). */
#ifndef JOBRUN_HOSTS_INTERNAL_H
#define JOBRUN_HOSTS_INTERNAL_H

#include <stdbool.h>

#include "core/ssh/connection.h"
#include "core/supervise/hosts.h"

/* How long nothing may be heard of a host before its connection is given up,
 * and before the host is. */
#define HOST_SILENT_MS 6000
#define HOST_LOST_MS 12000
/* How long hosts may take to be reached at first, and those that take too many
 * at once or do not come to speak. */
#define HOST_REACH_MS 15000
#define HOST_BUSY_MS 60000
/* How long killed processes may take to be gone, and their output to come. */
#define HOST_END_MS 10000

struct hosts;

enum host_stage {
	HOST_AWAY, /* waits for its turn to connect */
	HOST_CONNECTING,
	HOST_GREETING,  /* HELLO was sent */
	HOST_PREPARING, /* PREPARE was */
	HOST_READY,     /* for START; or has started an earlier round */
	HOST_STARTED,   /* START was sent, or found */
	HOST_ENDED,     /* nothing runs there */
};

struct host {
	struct hosts *all;
	size_t index;
	struct ssh_target target;
	struct connection *connection; /* NULL: none */
	enum host_stage stage;
	bool connecting; /* counts among those that are */
	bool lost;       /* for good */
	bool had;        /* an attempt has begun there */
	bool met;        /* its agent has spoken to this process */
	bool held;       /* by another owner's run */
	/* Why it could not be reached, while it is; 0: it was. */
	enum error_code away;
	bool may_run; /* something of the run, as far as is known */
	bool left;    /* for the run to be reconciled with */
	bool settled; /* as far as it gets before the start */
	bool following;
	bool checked;
	bool fetched;
	unsigned tries;
	struct loop_event *retry;
	int64_t heard_ms; /* its agent, by the monotonic clock */
	int64_t spoke_ms; /* anything at the other end of the connection */
	int64_t left_heard_ms, left_until_ms; /* of a left one, by the clock */
	int64_t begun_ms; /* to reach it; 0: it had no turn yet */
	int64_t clock_ms; /* ours less its own */
	uint32_t agent_stage;
	uint32_t agent_round; /* that it said it has, or was told to begin */
	char *folder;
	char *home;
	char *address;
	uint64_t ship_at; /* so much was sent; UINT64_MAX: nothing to send */
	struct unpacking *unpacking; /* of what it sends */
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
	HOSTS_RECONCILING, /* with those that were left */
};

struct hosts {
	struct backend base;
	struct hosts_deps deps;
	char *config; /* of ssh */
	char *run;    /* its name on hosts, without the index */
	struct host *hosts;
	size_t count;
	size_t task_count;
	enum task_stage *tasks;
	enum hosts_stage stage;
	uint32_t round;  /* this one, or the last */
	uint32_t begun;  /* by this attempt; 0: it reaches its hosts yet */
	uint32_t before; /* the logs have none of the rounds up to this one */
	size_t ssh_running;
	size_t connecting; /* at this moment */
	size_t connecting_max;
	struct loop_event *tick;
	int64_t ticked_ms;
	struct loop_event *end_timer;
	int64_t patience_ms; /* to reconcile until then in any case */

	/* The archive to send: made when the first host wants it. */
	bool ship_made;
	char ship_digest[65]; /* "": nothing */
	int ship;             /* -1: none */
	uint64_t ship_len;
};

/* ---- hosts that are left: hosts_left.c ---- */

/* As an attempt has ended: what may still run somewhere is written down. */
void hosts_note_left(struct hosts *all);
/* Nothing of the run is there any more, and nothing missing. */
void host_reconciled(struct host *host);
void hosts_reconciled(struct hosts *all);

/* ---- one host: hosts_host.c ---- */

void host_init(struct host *host, struct hosts *all, size_t index);
void host_done(struct host *host);
void host_connect(struct host *host);
/* Gives it up: what it was to do is reported as failed or lost. */
void host_lose(struct host *host, const char *why);
/* It got that far, which is as far as it gets before the start. */
void host_settle(struct host *host, enum host_stage stage);
/* Drops its connection; the second makes it again. */
void host_drop(struct host *host);
void host_reconnect(struct host *host);

/* ---- what it is asked: hosts_ask.c ---- */

/* Takes the frame, if it is whole. */
void host_send(struct host *host, struct wire_out *out, bool whole);
void host_send_simple(struct host *host, enum frame_type type);
/* Fails if a secret of the environment can't be had. */
int host_send_prepare(struct host *host, struct error *err);
/* The same, and follows; nothing that it has begun is begun again. */
void host_begin(struct host *host);
/* Its spool, from where our logs end. */
void host_follow(struct host *host);
void host_send_signal(struct host *host, size_t ordinal, int number);
void host_send_end(struct host *host, uint32_t grace_ms);
/* Asks for the files that the tasks leave in JOBRUN_RUN_DIR. */
void host_send_fetch(struct host *host);

/* ---- whether they reach each other: hosts_check.c ---- */

/* Adds the ports that it holds for its peers besides its own, as PREPARE has
 * them. */
void host_put_fixed_ports(const struct host *host, struct wire_out *out);
void host_send_check(struct host *host);
/* Handles the host's answer. */
void host_take_checked(struct host *host, const struct frame *frame);

/* ---- its spool: hosts_spool.c ---- */

void host_take_output(struct host *host, const struct frame *frame);
/* The rest of one that came in part; `arg` is the host. */
ssize_t host_take_rest(void *arg, const struct frame_output *output, int fd);
void host_take_event(struct host *host, const struct frame *frame);

/* ---- the backend: hosts.c ---- */

/* From here on looks after connections, if it does not yet. */
void hosts_tick(struct hosts *all);
/* A place among those that connect has become free. */
void hosts_connect_next(struct hosts *all);
/* One more did. */
void hosts_settled(struct hosts *all);
void hosts_failed(struct hosts *all, struct host *host, const char *why);
void hosts_checked(struct hosts *all);
void hosts_ended(struct hosts *all);
/* Nothing of the run is left, and all of its files are here. */
void hosts_finished(struct hosts *all);
/* Its first task at ordinal `from` or behind; the number of tasks: none. */
size_t host_task(const struct host *host, size_t from);
/* Greeted, and not gone since. */
bool host_is_there(const struct host *host);
void hosts_task_event(struct hosts *all, const struct frame *frame,
		      const struct frame_event *event);

/* ---- files: hosts_files.c ---- */

int ship_make(struct hosts *all, struct error *err);
/* The next pieces, as much as is good at once. */
int ship_send(struct host *host, struct error *err);
/* Receives the output files of a host. */
int fetch_add(struct host *host, const struct frame *frame, struct error *err);
void fetch_drop(struct host *host);
void hosts_begin_fetching(struct hosts *all);
/* From those that were left; then they may forget the run. */
void hosts_fetch_left(struct hosts *all);
/* One has given all, or is lost. */
void hosts_fetched(struct hosts *all);

#endif
