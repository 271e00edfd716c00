/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent: what jobrun puts on another machine to run its tasks there.
 * One static program of its own, with nothing that a machine may lack.
 *
 *	sshd ── sh ── jobrun-host connect	for as long as ssh lasts
 *	                    ┊ (the channel, by SCM_RIGHTS)
 *	              jobrun-host		the daemon of one run, in a
 *	                ├── setup               session of its own; outlives
 *	                ├── task, task …        any connection
 *
 * `connect` (connect.c) finds the daemon of a run, or starts it, and hands it
 * the two ends of the ssh channel: bytes are not copied twice.  A later
 * client takes the place of an earlier one.  The daemon (agent.c) does what
 * core/ssh/protocol.h says, and keeps in the run's folder
 *
 *	~/.local/state/jobrun/hosts/JOB.STORE.INDEX/	or DIRECTORY/hosts/…
 *	  nonce		which run this is
 *	  owner		who drives it, its digest, and since when
 *	  heard		as old as the last word of that one
 *	  socket	where `connect` finds the daemon
 *	  spool		all that it reports: see protocol.h
 *	  source/ …	what was shipped
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

/* How long the daemon stays with nobody to talk to and nothing to run. */
#define AGENT_IDLE_MS 120000
/* The same before anything was asked of it. */
#define AGENT_NEW_MS 3000

/* In the run's folder: its time is when the owner was heard last. */
#define AGENT_HEARD "heard"

struct agent;
struct channel;
struct spool;

/* `jobrun-host connect [DIRECTORY]`, with the ssh channel as standard input and
 * output; what it keeps is below the directory, or in the user's home (NULL).
 * Returns the exit status. */
int connect_main(const char *directory);

/* The daemon of the run in `folder`, which it changes to; `listener` is the
 * socket there.  Returns its exit status. */
int agent_main(const char *directory, const char *folder, int listener);

/* ---- the run: agent.c ---- */

enum agent_state {
	AGENT_NEW,
	AGENT_SHIPPING,  /* an archive is awaited */
	AGENT_PREPARING, /* it is unpacked, setup runs */
	AGENT_READY,
	AGENT_STARTED,
	AGENT_ENDING, /* waits for processes to be gone */
	AGENT_ENDED,
};

/* A process with its output: setup, or a task. */
struct child {
	struct agent *agent;
	uint32_t ordinal; /* of the task, or of the one whose setup it is */
	struct task task;
	/* Bytes that are not in the spool, nor said to be lost. */
	uint64_t lost[TASK_STREAMS];
	char **after; /* argv, or NULL */
};

struct prepare;

struct agent {
	struct task_parent parent;
	struct loop *loop; /* the parent's */
	char *folder;      /* of the run, absolute */
	char *cache;       /* of what was shipped, for later runs */
	enum agent_state state;
	uint32_t round; /* of the last start */
	struct spool *spool;
	struct channel *channel; /* NULL: nobody is there */
	int listener;
	int64_t heard_ms;   /* by the monotonic clock */
	int64_t touched_ms; /* AGENT_HEARD, likewise */
	long lease_s;       /* 0: not started */
	struct loop_event *watch_timer;
	struct loop_event *kill_timer;
	struct loop_event *limit_timer;
	struct rlimit no_files; /* what tasks get; ours is raised */

	struct prepare *prepare; /* NULL: not asked yet */
	struct child setup;
	struct child *tasks;
	size_t task_count;
	size_t alive;
	char why[200]; /* it ended the tasks by itself */
	bool evicted;  /* another run waits for our end */
};

/* Puts an event into the spool. */
void agent_report(struct agent *agent, enum frame_type type, uint32_t task,
		  int64_t value, const char *text);
/* Where ssh reached this host, and its peers do, too: "CLIENT PORT SERVER
 * PORT" is what sshd says of it; "" if it does not. */
void agent_address(char *out, size_t size);
/* To the client, if there is one. */
void agent_send(struct agent *agent, struct wire_out *out);
/* One frame of the client; -1 if it makes no sense, and the channel is to
 * be closed. */
int agent_receive(struct agent *agent, const struct frame *frame);
void agent_channel_lost(struct agent *agent);
void agent_heard(struct agent *agent);
/* Ends all that runs: SIGTERM, and SIGKILL after the grace. */
void agent_end(struct agent *agent, long grace_ms);
/* Nothing is to be run any more, or ever was: once the processes are gone,
 * says so. */
void agent_end_if_done(struct agent *agent);
/* The timer of the longest time that tasks may run. */
void agent_out_of_time(void *arg, uint32_t events);
/* How long it may hear nothing has changed. */
void agent_rearm_watch(struct agent *agent);

/* ---- the start: start.c ---- */

int agent_start(struct agent *agent, struct wire_in in, struct error *err);
void agent_forget_tasks(struct agent *agent);

/* ---- what is there as it starts: take_up.c ---- */

/* The run of an earlier daemon, which was killed, or whose host went down. */
void agent_take_up(struct agent *agent);
/* Removes what was shipped, and agents, that nobody has used for long. */
void agent_tidy_cache(const struct agent *agent);

/* ---- processes: child.c ---- */

/* Zeroed but for its ordinal; it must stay where it is. */
void child_init(struct child *child, struct agent *agent, bool is_setup);
/* Starts argv with exactly the given environment (and what sshd gave us). */
int child_start(struct child *child, char *const *argv, char *const *env,
		const char *directory, struct error *err);
/* Reads what is left in its pipes, if nobody can write any more. */
void child_drain(struct child *child);

/* ---- before the start: prepare.c ---- */

int prepare_begin(struct agent *agent, struct wire_in *in, struct error *err);
int prepare_ship(struct agent *agent, const struct frame *frame,
		 struct error *err);
void prepare_setup_ended(struct agent *agent, int status);
pid_t prepare_pid(const struct agent *agent);
/* What is shipped in part is forgotten. */
void prepare_interrupted(struct agent *agent);
void prepare_close_ports(struct agent *agent);
void prepare_free(struct prepare *prepare);

/* ---- whether its peers can be reached: check.c ---- */

int check_peers(struct agent *agent, struct wire_in *in, struct error *err);

/* ---- its output: fetch.c ---- */

/* Begins to send the folder that a FETCH names. */
int fetch_begin(struct agent *agent, struct wire_in *in, struct error *err);

/* ---- what it reports: spool.c ---- */

/* Opens or makes it, and `path`.start beside it.  What a killed daemon has
 * written in part is cut off. */
struct spool *spool_open(const char *path, struct error *err);
void spool_close(struct spool *spool);
/* Adds whole frames; false if the disk does not take them.  There is some room
 * put by for them, which output does not get. */
bool spool_add(struct spool *spool, const void *data, size_t len);
/* Whether output has room. */
bool spool_has_room(struct spool *spool);
/* A client has had all up to here, where a frame ends: if that is worth it, its
 * output is freed, and the start moves there. */
void spool_release(struct spool *spool, uint64_t until);
uint64_t spool_start(const struct spool *spool);
/* Adds what is in a pipe as one OUTPUT, whose bytes `output` does not have.
 * Returns as read() does: how many, 0 at the end, -1 with errno EAGAIN if
 * there are none now.  `kept` is false if the disk did not take them. */
ssize_t spool_take(struct spool *spool, int pipe,
		   const struct frame_output *output, bool *kept);
/* Writes bytes of it, at most `len`, to a descriptor that does not block;
 * returns as write() does. */
ssize_t spool_send(const struct spool *spool, uint64_t at, size_t len, int out);
/* Reads what is there, at most `size` bytes, whole frames or not. */
size_t spool_read(const struct spool *spool, uint64_t at, void *to,
		  size_t size);
/* Where the first frame ends that is at least `len` bytes behind `at`, which
 * is where one starts; or where the spool does. */
uint64_t spool_end(const struct spool *spool, uint64_t at, size_t len);
uint64_t spool_len(const struct spool *spool);

/* ---- the client: channel.c ---- */

/* Takes the descriptors. */
struct channel *channel_new(struct agent *agent, int in, int out, int hold);
void channel_free(struct channel *channel);
void channel_send(struct channel *channel, struct wire_out *out);
/* Begins to give the spool, but for the output that the client has. */
int channel_follow(struct channel *channel, struct wire_in *in);
/* The client has so many bytes of all that it was sent. */
int channel_taken(struct channel *channel, struct wire_in *in);
/* There is more in the spool, or room again. */
void channel_pump(struct channel *channel);
/* Bytes that wait to be sent. */
size_t channel_queued(const struct channel *channel);
/* Sends what is queued before anything else is done. */
void channel_flush(struct channel *channel);

#endif
