/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent, which jobrun installs on another machine to run its tasks there:
 * one static program without dependencies on the machine.
 *
 *	sshd ── sh ── jobrun-host connect	for as long as ssh lasts
 *	                    ┊ (the channel, by SCM_RIGHTS)
 *	              jobrun-host		the daemon of one run, in a
 *	                ├── setup               session of its own; outlives
 *	                ├── task, task …        any connection
 *
 * `connect` (connect.c) finds the daemon of a run, or starts it, and passes it
 * the two ends of the ssh channel, so that bytes are not copied twice.  A later
 * client replaces an earlier one.  The daemon (agent.c) implements
 * core/ssh/protocol.h, and stores in the run's folder
 *
 *	~/.local/state/jobrun/hosts/JOB.STORE.INDEX/	or DIRECTORY/hosts/…
 *	  nonce		which run this is
 *	  owner		who drives it, its digest, and since when
 *	  heard		its time is when the owner was last heard
 *	  socket	where `connect` finds the daemon
 *	  spool		all reports: see protocol.h
 *	  source/ …	the shipped files
 *	  output/	JOBRUN_RUN_DIR of the tasks
 *
 * Secrets are in the daemon's memory and in the tasks' environment only.
 */
#ifndef JOBRUN_AGENT_H
#define JOBRUN_AGENT_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/process/task.h"
#include "core/ssh/protocol.h"

/* How long the daemon stays without a client and with nothing to run. */
#define AGENT_IDLE_MS 120000
/* The same before the first request. */
#define AGENT_NEW_MS 3000

/* In the run's folder: its modification time is when the owner was last
 * heard. */
#define AGENT_HEARD "heard"

struct agent;
struct channel;
struct spool;

/* `jobrun-host connect [DIRECTORY]`, with the ssh channel as standard input and
 * output; stores its files below the directory, or in the user's home (NULL).
 * Returns the exit status. */
int connect_main(const char *directory);

/* The daemon of the run in `folder`, which becomes its working directory;
 * `listener` is the socket there.  Returns its exit status. */
int agent_main(const char *directory, const char *folder, int listener);

/* ---- the run: agent.c ---- */

enum agent_state {
	AGENT_NEW,
	AGENT_SHIPPING,  /* waits for an archive */
	AGENT_PREPARING, /* unpacked, setup runs */
	AGENT_READY,
	AGENT_STARTED,
	AGENT_ENDING, /* waits for processes to end */
	AGENT_ENDED,
};

/* A process with its output: setup, or a task. */
struct child {
	struct agent *agent;
	uint32_t ordinal; /* of the task, or for setup the task with its log */
	struct task task;
	/* Lost bytes that are not yet recorded as lost in the spool. */
	uint64_t lost[TASK_STREAMS];
	char **after; /* argv, or NULL */
};

struct agent_lease;
struct prepare;

struct agent {
	struct task_parent parent;
	struct loop *loop; /* the parent's */
	char *folder;      /* of the run, absolute */
	char *cache;       /* for shipped files, which later runs reuse */
	enum agent_state state;
	uint32_t round; /* of the last start */
	struct spool *spool;
	struct channel *channel; /* NULL: no client */
	int listener;
	int64_t heard_ms;   /* monotonic */
	int64_t touched_ms; /* AGENT_HEARD, likewise */
	long lease_s;       /* 0: not started */
	struct loop_event *watch_timer;
	struct loop_event *kill_timer;
	struct loop_event *limit_timer;
	struct rlimit no_files; /* the limits for tasks; ours is raised */

	struct agent_lease *lease; /* NULL: no request yet */
	struct prepare *prepare;   /* NULL: no request yet */
	bool prepared;             /* once for all rounds */
	struct child setup;
	struct child *tasks;
	size_t task_count;
	size_t alive;
	char why[200]; /* why it ended the tasks by itself */
	bool evicted;  /* another run waits for this one's end */
};

/* Puts an event into the spool. */
void agent_report(struct agent *agent, enum frame_type type, uint32_t task,
		  int64_t value, const char *text);
/* The address at which ssh, and so its peers, reach this host: from "CLIENT
 * PORT SERVER PORT", which sshd sets; "" if it does not. */
void agent_address(char *out, size_t size);
/* Sends to the client, if there is one. */
void agent_send(struct agent *agent, struct wire_out *out);
/* Handles one frame from the client; -1 if it is invalid, and the channel must
 * be closed. */
int agent_receive(struct agent *agent, const struct frame *frame);
void agent_channel_lost(struct agent *agent);
void agent_heard(struct agent *agent);
/* Ends all processes: SIGTERM, and SIGKILL after the grace period. */
void agent_end(struct agent *agent, long grace_ms);
/* If nothing is to be run any more, or ever was, reports that once the
 * processes are gone. */
void agent_end_if_done(struct agent *agent);
/* The timer for the tasks' longest running time. */
void agent_out_of_time(void *arg, uint32_t events);
/* To be called when the time it may hear nothing has changed. */
void agent_rearm_watch(struct agent *agent);

/* ---- the start: start.c ---- */

int agent_start(struct agent *agent, struct wire_in in, struct error *err);
void agent_forget_tasks(struct agent *agent);

/* ---- its devices: lease.c ---- */

/* Names this machine, as WELCOME does.  Returns new. */
char *lease_machine(void);
int lease_begin(struct agent *agent, struct wire_in *in, struct error *err);
/* Has another process hold the leases, too, before tasks are started. */
int lease_keep(struct agent *agent, struct error *err);
/* Lets go of devices that nobody needs any more. */
void lease_check(struct agent *agent);
void lease_drop(struct agent *agent);

/* ---- what is there as it starts: take_up.c ---- */

/* Resumes the run of an earlier daemon that was killed, or whose host went
 * down. */
void agent_take_up(struct agent *agent);
/* The folder for shipped files, of a run in that directory (NULL: the default).
 * Returns new. */
char *agent_cache(const char *directory);
/* Removes shipped files and agents that were not used for long. */
void agent_tidy_cache(const struct agent *agent);

/* ---- processes: child.c ---- */

/* Zeroed except for its ordinal; its address must not change. */
void child_init(struct child *child, struct agent *agent, bool is_setup);
/* Starts argv with exactly the given environment (and what sshd gave us). */
int child_start(struct child *child, char *const *argv, char *const *env,
		const char *directory, struct error *err);
/* Reads the rest from its pipes when nobody can write any more. */
void child_drain(struct child *child);

/* ---- before the start: prepare.c ---- */

int prepare_begin(struct agent *agent, struct wire_in *in, struct error *err);
int prepare_ship(struct agent *agent, const struct frame *frame,
		 struct error *err);
void prepare_setup_ended(struct agent *agent, int status);
pid_t prepare_pid(const struct agent *agent);
/* Discards an archive that has arrived in part. */
void prepare_interrupted(struct agent *agent);
/* Reads what the host before this one sends to its first port. */
int prepare_receive(struct agent *agent, struct error *err);
void prepare_close_ports(struct agent *agent);
void prepare_free(struct prepare *prepare);

/* ---- whether its peers can be reached: check.c ---- */

int check_peers(struct agent *agent, struct wire_in *in, struct error *err);

/* ---- its output: fetch.c ---- */

/* Begins to send the folder that a FETCH names. */
int fetch_begin(struct agent *agent, struct wire_in *in, struct error *err);

/* ---- what it reports: spool.c ---- */

/* Opens or creates it, and `path`.start beside it.  Cuts off a partial frame
 * that a killed daemon has written. */
struct spool *spool_open(const char *path, struct error *err);
void spool_close(struct spool *spool);
/* Adds whole frames; false if the disk is full.  Some space is reserved for
 * them, which output can't use. */
bool spool_add(struct spool *spool, const void *data, size_t len);
/* Whether there is space for output. */
bool spool_has_room(struct spool *spool);
/* To be called when a client has everything up to `until`, the end of a frame:
 * if worthwhile, frees the output before, and moves the start there. */
void spool_release(struct spool *spool, uint64_t until);
uint64_t spool_start(const struct spool *spool);
/* Adds what is in a pipe as one OUTPUT; `output` lacks the bytes.  Returns as
 * read() does: the number of bytes, 0 at the end, -1 with errno EAGAIN if none
 * are available.  `kept` is false if the disk was full. */
ssize_t spool_take(struct spool *spool, int pipe,
		   const struct frame_output *output, bool *kept);
/* Writes at most `len` bytes of the spool to a nonblocking descriptor; returns
 * as write() does. */
ssize_t spool_send(const struct spool *spool, uint64_t at, size_t len, int out);
/* Reads at most `size` bytes, whole frames or not. */
size_t spool_read(const struct spool *spool, uint64_t at, void *to,
		  size_t size);
/* The end of the first frame at least `len` bytes after `at`, which is the
 * start of a frame; or the end of the spool. */
uint64_t spool_end(const struct spool *spool, uint64_t at, size_t len);
uint64_t spool_len(const struct spool *spool);

/* ---- the client: channel.c ---- */

/* Takes the descriptors. */
struct channel *channel_new(struct agent *agent, int in, int out, int hold);
void channel_free(struct channel *channel);
void channel_send(struct channel *channel, struct wire_out *out);
/* Starts sending the spool, except for output that the client has. */
int channel_follow(struct channel *channel, struct wire_in *in);
/* Handles that the client has so many bytes of all that was sent. */
int channel_taken(struct channel *channel, struct wire_in *in);
/* Sends more, when the spool has grown or there is room again. */
void channel_pump(struct channel *channel);
/* The number of bytes waiting to be sent. */
size_t channel_queued(const struct channel *channel);
/* Sends what is queued before anything else is done. */
void channel_flush(struct channel *channel);

#endif
