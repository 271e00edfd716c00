/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between jobrun and its agent on another machine, over one ssh
 * channel.  Both sides are built from this file, and the agent's file is named
 * by its digest, so there is one version and no negotiation.
 *
 * A frame is
 *
 *	u32 len		of what follows the header, at most FRAME_MAX
 *	u16 type	enum frame_type
 *	u16 0
 *	fields		in the order in which the table below has them
 *
 * with little-endian integers; a text is a u32 length and so many bytes without
 * a NUL; a list is a u32 count and so many texts.
 *
 *	client                        agent
 *	HELLO   run, nonce, index ─►
 *	                          ◄─  WELCOME  its address, clock, free space
 *	LEASE   devices           ─►                if tasks need some there
 *	                          ◄─  LEASE_WAITS, LEASE_WAITS, …
 *	                          ◄─  LEASED   for as long as the agent lives
 *	PREPARE ship, ports, setup ─►
 *	                          ◄─  WANT_SHIP     unless it has it already
 *	SHIP, SHIP, …             ─►                an archive: archive.h
 *	                          ◄─  READY    ports, held open
 *	CHECK   peers             ─►
 *	                          ◄─  CHECKED  which cannot be reached
 *	START   tasks             ─►
 *	FOLLOW  positions         ─►                at any time after WELCOME
 *	                          ◄─  the spool: OUTPUT, TASK_STARTED, …
 *	TAKEN   bytes             ─►                or the spool comes no further
 *	PING, END, SIGNAL         ─►
 *	                          ◄─  PONG
 *	FETCH   folder            ─►  once all has ended
 *	                          ◄─  SHIP, SHIP, …  its output folder
 *	RELEASE                   ─►                forget the run
 *
 *	DEVICES                   ─►                instead of HELLO
 *	                          ◄─  DEVICES_ARE  those of the machine
 *
 * The spool is a file of the agent with all its reports of the run, as frames,
 * from first to last.  Every client gets it from its start, so a client that
 * comes back learns everything; FOLLOW says how much output the client already
 * has.  Space of output that a client has is released: a FREED frame replaces
 * it.  Every request may be repeated: the agent does nothing twice.
 */
#ifndef JOBRUN_PROTOCOL_H
#define JOBRUN_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER 8
#define FRAME_MAX (4u << 20)    /* enough for a START with thousands of peers */
#define FRAME_PIECE (64u << 10) /* of an archive */
#define FRAME_OUTPUT_MAX (128u << 10)
/* The most of a spool that may be in transit. ssh accepts more than can be
 * written at the other end, and copies all that it holds back whenever more
 * arrives; and answers wait behind all of that. */
#define FRAME_WINDOW (1u << 20)
#define FRAME_STREAMS 2 /* standard output and error */
/* The limits of a request to one host. */
#define FRAME_TASKS_MAX 4096
#define FRAME_PORTS_MAX (FRAME_TASKS_MAX + 1)
#define FRAME_FIXED_MAX 64
#define FRAME_CHECKS_MAX (1u << 16) /* a few for each of thousands of peers */

/* The start of the agent's first line of output; the login shell's start-up
 * files may print lines before it. */
#define AGENT_MARK "jobrun-host:"

enum frame_type {
	FRAME_HELLO = 1,
	FRAME_PREPARE,
	FRAME_SHIP, /* in either direction; an empty one is the last */
	FRAME_CHECK,
	FRAME_START,
	FRAME_FOLLOW,
	FRAME_SIGNAL,
	FRAME_END,
	FRAME_PING,
	FRAME_FETCH,
	FRAME_RELEASE,
	FRAME_TAKEN, /* u64: the total number of bytes since WELCOME */
	FRAME_LEASE,
	FRAME_DEVICES, /* instead of HELLO: no run is begun or found */

	FRAME_WELCOME = 64,
	FRAME_WANT_SHIP,
	FRAME_READY,
	FRAME_LEASE_WAITS, /* text for what */
	FRAME_LEASED,
	FRAME_NOT_LEASED, /* text why */
	FRAME_CHECKED,
	FRAME_PONG,
	FRAME_RELEASED,
	FRAME_REFUSED, /* text why; then the channel is closed */
	FRAME_HELD,    /* likewise; text who: another owner's run is there */
	FRAME_GONE,    /* likewise; there is no such run */
	FRAME_DEVICES_ARE, /* likewise; text as of devices_write() */

	/* Frames in the spool: */
	FRAME_OUTPUT = 128,
	FRAME_ROUND, /* a round begins: written before anything else of it */
	FRAME_LOST,  /* lost output, as the agent's disk was full */
	FRAME_FREED, /* output that a client already has: see below */
	FRAME_PAD,   /* nothing */
	FRAME_PREPARE_FAILED,
	FRAME_TASK_STARTED,
	FRAME_TASK_FAILED, /* to start */
	FRAME_TASK_ENDED,
	FRAME_ALL_ENDED, /* no process of the run is left there */
};

/* ---- fields ---- */

struct wire_text {
	const char *data; /* not followed by a NUL */
	size_t len;
};

/* Reads fields off the front.  A missing field reads as 0 or empty and sets
 * `bad`, so a single check at the end is enough. */
struct wire_in {
	const unsigned char *at;
	size_t left;
	bool bad;
};

uint32_t wire_get_u32(struct wire_in *in);
uint64_t wire_get_u64(struct wire_in *in);
struct wire_text wire_get_text(struct wire_in *in);
/* Reads a text as a C string; a text with a NUL is bad.  Returns new; NULL if
 * bad. */
char *wire_get_string(struct wire_in *in);
/* Reads the count of a list whose items have at least `size` bytes each. */
uint32_t wire_get_count(struct wire_in *in, uint32_t max, size_t size);
/* NULL-terminated; returns new, to be freed with wire_list_free(). */
char **wire_get_list(struct wire_in *in);
void wire_list_free(char **list);
/* Whether everything was read and nothing was bad. */
bool wire_is_done(const struct wire_in *in);

/* One or more frames being built.  A zeroed one is empty. */
struct wire_out {
	unsigned char *data;
	size_t len, size;
	size_t start; /* of the frame being built */
};

void wire_out_done(struct wire_out *out);
void wire_begin(struct wire_out *out, enum frame_type type);
void wire_put_u32(struct wire_out *out, uint32_t value);
void wire_put_u64(struct wire_out *out, uint64_t value);
void wire_put_text(struct wire_out *out, const char *text);
void wire_put_bytes(struct wire_out *out, const void *data, size_t len);
void wire_put_list(struct wire_out *out, const char *const *list, size_t count);
/* Returns false if the frame is too long to send; then it is removed. */
bool wire_end(struct wire_out *out);

/* ---- frames ---- */

struct frame {
	enum frame_type type;
	const unsigned char *body;
	size_t len;
};

enum frame_found {
	FRAME_NONE, /* more bytes are needed */
	FRAME_WHOLE,
	FRAME_BROKEN, /* not a stream of this protocol */
};

/* Finds the frame at the start of `data`, and points into it; `used` is its
 * length with the header. */
enum frame_found frame_find(const void *data, size_t len, struct frame *out,
			    size_t *used);
struct wire_in frame_fields(const struct frame *frame);

/* The length of the frame that starts here, including its header, which must be
 * complete; 0 if it is not a frame, or incomplete. */
size_t frame_size(const void *data, size_t len);

/* Whether a PAD starts here; only its header is examined. */
bool frame_is_pad(const void *data, size_t len);

/* Writes a header, FRAME_HEADER bytes. */
void frame_header(unsigned char *to, enum frame_type type, size_t len);

/*
 * HELLO: text run, text nonce, u32 enum hello_kind, text owner, text digest,
 * text origin.  `run` names a run's folder on a host: JOB, a dot, and a part
 * for its origin; the nonce distinguishes two runs of one name.  The first word
 * of the owner says who drives the run.  A client of another owner is refused,
 * unless the owner was silent for OWNER_LEASE_S: then the run is picked up if
 * the digest is the same, and ended if not.
 */
#define OWNER_LEASE_S 60

enum hello_kind {
	HELLO_BEGIN, /* begin a run that does not exist, replacing others */
	HELLO_FIND,  /* begin and change nothing */
	/* Like HELLO_BEGIN, and also replaces another origin's JOB. */
	HELLO_TAKE_OVER,
};

enum welcome_stage {
	STAGE_NEW,
	STAGE_PREPARING,
	STAGE_READY,
	STAGE_STARTED,
	STAGE_ENDED,
};

/* WELCOME */
struct frame_welcome {
	uint64_t time_ms;         /* its clock */
	uint64_t free_bytes;      /* on the disk with the run's folder */
	uint32_t stage;           /* enum welcome_stage */
	uint32_t round;           /* of the last START; 0: none yet */
	struct wire_text address; /* where ssh reached the host, or "" */
	struct wire_text folder;  /* the run's folder, absolute */
	struct wire_text home;
	/* the same for all clients that share its leases of devices */
	struct wire_text machine;
};

bool frame_get_welcome(const struct frame *frame, struct frame_welcome *out);

/* PREPARE: text ship (a digest, or "": nothing to ship), u32 ports (how many),
 * u32 first_port, u32 count, so many u32 ports (also to be held, for CHECK),
 * text directory, list setup (argv, empty: none), list env, u32 setup_task
 * (whose log gets its output). */

/* LEASE: text run ("job.1"), u64 when it was created, in ms, u64 its priority,
 * signed, u32 share, u32 strict, text type, text model, u32 need: see
 * core/device/choice.h.  LEASED: text vendor, list of ids; none: the machine
 * has no devices. */

/* READY: u32 count, so many u32 ports.  CHECK: u64 floor (the bytes that must be
 * sent in a second; 0: none are sent), u32 count, so many of (text address, u32
 * port, u32 sends: whether they are sent there).  CHECKED: u32 count, so many of
 * (u32 index into CHECK, u32 slow: it was reached, text why it failed, or the
 * rate).  SIGNAL: u32 task, u32 signal.  END: u32 grace_ms.
 * FOLLOW: u32 before (no output of rounds up to this one is wanted), u32 count,
 * so many of (u32 task, u64 stdout, u64 stderr).  FETCH: text folder, as in
 * START. */

/*
 * START: u32 round (1, 2 …: a round not above the last one started is ignored),
 * u32 lease_s, u32 max_running_s (0: no limit), text folder (made if missing;
 * below the run's, "output" or in it), u32 count, so many of (u32 task, text
 * directory, list argv, list env, list after).  `after` is a command that runs
 * when the task has ended, to remove what it may have left: a container.
 */

/* OUTPUT */
struct frame_output {
	uint32_t task;
	uint32_t stream;
	uint32_t round;   /* as in an event */
	uint64_t time_ms; /* by the agent's clock */
	const char *data;
	size_t len;
};
#define OUTPUT_HEADER (FRAME_HEADER + 20)

bool frame_get_output(const struct frame *frame, struct frame_output *out);
/* The same for an OUTPUT that has arrived in part, with everything before its
 * bytes: sets the number of bytes present, and `left` to how many more belong
 * to it. */
bool frame_get_output_part(const void *data, size_t len,
			   struct frame_output *out, size_t *left);
/* Writes the header for that many bytes; the data of `output` is not used. */
void frame_output_header(unsigned char to[OUTPUT_HEADER],
			 const struct frame_output *output, size_t len);

/*
 * The payload of the other spool frames: LOST (value: bytes), FREED (value: the
 * bytes of a stream up to here in this round; for the first round, also before
 * it), TASK_STARTED (value: pid), TASK_ENDED (value: a status of waitpid()),
 * TASK_FAILED and PREPARE_FAILED (text: why; value: a status if setup failed,
 * else -1), ALL_ENDED.
 */
struct frame_event {
	uint32_t task;
	uint32_t stream;
	/* the round that it belongs to; 0: before the first START */
	uint32_t round;
	uint64_t time_ms;
	int64_t value;
	struct wire_text text;
};

bool frame_get_event(const struct frame *frame, struct frame_event *out);
void frame_put_event(struct wire_out *out, enum frame_type type,
		     const struct frame_event *event);

#endif
