/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of jobrun and its agent on another machine, over one ssh
 * channel.  Both sides are built from this file, and the agent's file is named
 * by its digest, so that there is one version and no negotiation.
 *
 * A frame is
 *
 *	u32 len		of what follows the header, at most FRAME_MAX
 *	u16 type	enum frame_type
 *	u16 0
 *	fields		in the order in which the table below has them
 *
 * with little-endian integers; a text is a u32 length and so many bytes
 * without a NUL; a list is a u32 count and so many texts.
 *
 *	client                        agent
 *	HELLO   run, nonce, index ─►
 *	                          ◄─  WELCOME  its address, clock, free space
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
 * The spool is a file of the agent: all its reports of the run, as frames, from
 * first to last.  It is given to every client from its start, so that a client
 * that comes back learns all; FOLLOW says how much output it has.  Output that
 * a client has had is freed: FREED stands for it.  Every
 * request may be repeated: the agent does nothing twice.
 */
#ifndef JOBRUN_PROTOCOL_H
#define JOBRUN_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER 8
#define FRAME_MAX (4u << 20)    /* a START with thousands of peers fits */
#define FRAME_PIECE (64u << 10) /* of an archive */
#define FRAME_OUTPUT_MAX (128u << 10)
/* The most of a spool that may be on its way.  ssh takes more than can be
 * written at the other end, and copies all that it holds back whenever there is
 * more of it; and an answer waits behind all that. */
#define FRAME_WINDOW (1u << 20)
#define FRAME_STREAMS 2 /* standard output and error */
/* The limits of a request to one host. */
#define FRAME_TASKS_MAX 4096
#define FRAME_PORTS_MAX (FRAME_TASKS_MAX + 1)
#define FRAME_FIXED_MAX 64
#define FRAME_CHECKS_MAX (1u << 16) /* a few of each of thousands */

/* The start of the agent's first line of output; the login shell's start-up
 * files may print lines before it. */
#define AGENT_MARK "jobrun-host:"

enum frame_type {
	FRAME_HELLO = 1,
	FRAME_PREPARE,
	FRAME_SHIP, /* either way; an empty one is the last */
	FRAME_CHECK,
	FRAME_START,
	FRAME_FOLLOW,
	FRAME_SIGNAL,
	FRAME_END,
	FRAME_PING,
	FRAME_FETCH,
	FRAME_RELEASE,
	FRAME_TAKEN, /* u64: so many bytes in all, from WELCOME on */

	FRAME_WELCOME = 64,
	FRAME_WANT_SHIP,
	FRAME_READY,
	FRAME_CHECKED,
	FRAME_PONG,
	FRAME_RELEASED,
	FRAME_REFUSED, /* and the channel is closed */
	FRAME_HELD,    /* likewise, as another owner's run is there: text who */
	FRAME_GONE,    /* there is no such run: likewise */

	/* In the spool. */
	FRAME_OUTPUT = 128,
	FRAME_ROUND, /* it begins: written before anything of it is done */
	FRAME_LOST,  /* output, as the agent's disk was full */
	FRAME_FREED, /* output that a client has had: see below */
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
 * `bad`, so that one check at the end is enough. */
struct wire_in {
	const unsigned char *at;
	size_t left;
	bool bad;
};

uint32_t wire_get_u32(struct wire_in *in);
uint64_t wire_get_u64(struct wire_in *in);
struct wire_text wire_get_text(struct wire_in *in);
/* A text that C can take: one with a NUL in it is bad.  Returns new; NULL if
 * bad. */
char *wire_get_string(struct wire_in *in);
/* The count of a list of things of at least `size` bytes each. */
uint32_t wire_get_count(struct wire_in *in, uint32_t max, size_t size);
/* NULL-terminated, returns new: free it with wire_list_free(). */
char **wire_get_list(struct wire_in *in);
void wire_list_free(char **list);
/* All read, and nothing of it bad. */
bool wire_is_done(const struct wire_in *in);

/* One frame or several, being built.  Zeroed it is empty. */
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
/* False if it is too long to be sent: it was taken back then. */
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
	FRAME_BROKEN, /* this is no such stream */
};

/* The frame at the start of `data`, which it points into; `used` is its
 * length with the header. */
enum frame_found frame_find(const void *data, size_t len, struct frame *out,
			    size_t *used);
struct wire_in frame_fields(const struct frame *frame);

/* The length of the frame that starts here, with its header, which must be
 * complete; 0 if this is no frame, or not all of it is there. */
size_t frame_size(const void *data, size_t len);

/* Whether a PAD starts here, of which only the header is looked at. */
bool frame_is_pad(const void *data, size_t len);

/* Writes a header of FRAME_HEADER bytes by hand. */
void frame_header(unsigned char *to, enum frame_type type, size_t len);

/*
 * HELLO: text run, text nonce, u32 enum hello_kind, text owner, text digest, text
 * origin.  A run's folder on a host is called `run`: JOB, a dot, and what is its
 * origin's; the nonce tells two runs of one name apart.  The owner's first word says who drives it: the run of another one is
 * refused; if nothing was heard of that for OWNER_LEASE_S, it is picked up where
 * the digest is the same, and ended where not.
 */
#define OWNER_LEASE_S 60

enum hello_kind {
	HELLO_BEGIN, /* a run that is not there begins, in the place of others */
	HELLO_FIND,  /* nothing begins, and nothing is changed */
	/* As HELLO_BEGIN, also in the place of another origin's JOB. */
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
	uint64_t free_bytes;      /* where the run's folder is */
	uint32_t stage;           /* enum welcome_stage */
	uint32_t round;           /* of the last START, 0: none yet */
	struct wire_text address; /* where ssh reached it, or "" */
	struct wire_text folder;  /* of the run, absolute */
	struct wire_text home;
};

bool frame_get_welcome(const struct frame *frame, struct frame_welcome *out);

/* PREPARE: text ship (a digest, or "": nothing is shipped), u32 ports (how
 * many), u32 first_port, u32 count, so many u32 ports (to be held besides, for
 * CHECK), text directory, list setup (argv, empty: none), list env, u32
 * setup_task (whose log its output is in). */

/* READY: u32 count, so many u32 ports.  CHECK: u32 count, so many of (text
 * address, u32 port).  CHECKED: u32 count, so many of (u32 which of these, text
 * why it failed).  SIGNAL: u32 task, u32 signal.  END: u32 grace_ms.  FOLLOW:
 * u32 before (of the output of rounds up to this one none is wanted), u32 count,
 * so many of (u32 task, u64 stdout, u64 stderr).  FETCH: text folder, as START
 * has it. */

/*
 * START: u32 round (1, 2 …: of one that has been started already, or is not
 * above, nothing is done), u32 lease_s, u32 max_running_s (0: none), text folder
 * (made if it is not there; below the run's, "output" or in it), u32 count, so
 * many of (u32 task, text directory, list argv, list env, list after).  `after`
 * is a command that runs when the task has ended, to take away what
 * it may have left: a container.
 */

/* OUTPUT */
struct frame_output {
	uint32_t task;
	uint32_t stream;
	uint32_t round;   /* as of an event */
	uint64_t time_ms; /* by the agent's clock */
	const char *data;
	size_t len;
};
#define OUTPUT_HEADER (FRAME_HEADER + 20)

bool frame_get_output(const struct frame *frame, struct frame_output *out);
/* The same for one that is here in part, but with all before its bytes: how
 * many there are of them, and `left`, how many more belong to it. */
bool frame_get_output_part(const void *data, size_t len,
			   struct frame_output *out, size_t *left);
/* For that many bytes; those of `output` are not looked at. */
void frame_output_header(unsigned char to[OUTPUT_HEADER],
			 const struct frame_output *output, size_t len);

/*
 * The payload of the other spool frames: LOST (value: bytes), FREED (value: the
 * bytes of a stream in this round, or in the first and before it, up to here), TASK_STARTED
 * (value: pid), TASK_ENDED (value: as waitpid() gives it), TASK_FAILED and
 * PREPARE_FAILED (text: why; value: a status if setup failed, else -1),
 * ALL_ENDED.
 */
struct frame_event {
	uint32_t task;
	uint32_t stream;
	uint32_t round; /* that it is of; 0: before the first START */
	uint64_t time_ms;
	int64_t value;
	struct wire_text text;
};

bool frame_get_event(const struct frame *frame, struct frame_event *out);
void frame_put_event(struct wire_out *out, enum frame_type type,
		     const struct frame_event *event);

#endif
