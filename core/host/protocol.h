/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What jobrun and its agent on another machine say to each other, over one
 * ssh channel.  Both sides are built from this file, and the agent's file is
 * named by its digest, so that there is one version and no negotiation.
 *
 * A message is
 *
 *	u32 len		of what follows the header, at most MESSAGE_MAX
 *	u16 type	enum message_type
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
 *	PING, END, SIGNAL         ─►
 *	                          ◄─  PONG
 *	FETCH                     ─►  once all has ended
 *	                          ◄─  SHIP, SHIP, …  its output folder
 *	RELEASE                   ─►                forget the run
 *
 * The spool is a file of the agent: what it reports of the run, as messages,
 * from first to last.  It is given to every client from its start, so that a
 * client that comes back learns all; FOLLOW says how much output it has.
 * Every request may be made again: what has been done is not done twice.
 */
#ifndef JOBRUN_HOST_PROTOCOL_H
#define JOBRUN_HOST_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_HEADER 8
#define MESSAGE_MAX (4u << 20) /* a START with thousands of peers fits */
#define MESSAGE_PIECE (64u << 10) /* of output or of an archive */
#define MESSAGE_STREAMS 2	  /* standard output and error */
/* What may be asked of one host. */
#define MESSAGE_TASKS_MAX 4096
#define MESSAGE_PORTS_MAX (MESSAGE_TASKS_MAX + 1)

/* What the agent's first line of output begins with: before it stands what a
 * login shell's start-up files print. */
#define AGENT_MARK "jobrun-host:"

enum message_type {
	MESSAGE_HELLO = 1,
	MESSAGE_PREPARE,
	MESSAGE_SHIP, /* either way; an empty one is the last */
	MESSAGE_CHECK,
	MESSAGE_START,
	MESSAGE_FOLLOW,
	MESSAGE_SIGNAL,
	MESSAGE_END,
	MESSAGE_PING,
	MESSAGE_FETCH,
	MESSAGE_RELEASE,

	MESSAGE_WELCOME = 64,
	MESSAGE_WANT_SHIP,
	MESSAGE_READY,
	MESSAGE_CHECKED,
	MESSAGE_PONG,
	MESSAGE_RELEASED,
	MESSAGE_REFUSED, /* and the channel is closed */

	/* In the spool. */
	MESSAGE_OUTPUT = 128,
	MESSAGE_LOST, /* output, as the agent's disk was full */
	MESSAGE_PREPARE_FAILED,
	MESSAGE_TASK_STARTED,
	MESSAGE_TASK_FAILED, /* to start */
	MESSAGE_TASK_ENDED,
	MESSAGE_ALL_ENDED, /* no process of the run is left there */
};

/* ---- fields ---- */

struct wire_text {
	const char *data; /* not followed by a NUL */
	size_t len;
};

/* Reads fields off the front.  What is not there reads as 0 or empty and
 * sets `bad`, so that one look at the end is enough. */
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

/* A message in the making, or several.  Zeroed it is empty. */
struct wire_out {
	unsigned char *data;
	size_t len, size;
	size_t start; /* of the message in the making */
};

void wire_out_done(struct wire_out *out);
void wire_begin(struct wire_out *out, enum message_type type);
void wire_put_u32(struct wire_out *out, uint32_t value);
void wire_put_u64(struct wire_out *out, uint64_t value);
void wire_put_text(struct wire_out *out, const char *text);
void wire_put_bytes(struct wire_out *out, const void *data, size_t len);
void wire_put_list(struct wire_out *out, const char *const *list, size_t count);
/* False if it is too long to be sent: it was taken back then. */
bool wire_end(struct wire_out *out);

/* ---- messages ---- */

struct message {
	enum message_type type;
	const unsigned char *body;
	size_t len;
};

enum message_found {
	MESSAGE_NONE,	/* more bytes are needed */
	MESSAGE_WHOLE,
	MESSAGE_BROKEN, /* this is no such stream */
};

/* The message at the start of `data`, which it points into; `used` is its
 * length with the header. */
enum message_found message_find(const void *data, size_t len,
				struct message *out, size_t *used);
struct wire_in message_fields(const struct message *message);

/* Writes a header of MESSAGE_HEADER bytes by hand. */
void message_header(unsigned char *to, enum message_type type, size_t len);

/* HELLO: text run, text nonce.  A run's folder on a host is called `run`; the
 * nonce tells two runs of one name apart. */

/* WELCOME */
struct message_welcome {
	uint64_t time_ms;    /* its clock */
	uint64_t free_bytes; /* where the run's folder is */
	uint32_t flags;
	struct wire_text address; /* where ssh reached it, or "" */
	struct wire_text folder;  /* of the run, absolute */
	struct wire_text home;
};
#define WELCOME_STARTED 1u /* its tasks were */

bool message_get_welcome(const struct message *message,
			 struct message_welcome *out);

/* PREPARE: text ship (a digest, or "": nothing is shipped), u64 ship_bytes,
 * u32 ports (how many), u32 first_port, text directory, list setup (argv,
 * empty: none), list env, u32 setup_task (whose log its output is in). */

/* READY: u32 count, so many u32 ports.  CHECK: u32 count, so many of (text
 * address, u32 port, text name).  CHECKED: list of what failed.
 * SIGNAL: u32 signal.  END: u32 grace_ms.  FOLLOW: u32 count, so many of
 * (u32 task, u64 stdout, u64 stderr). */

/*
 * START: u32 grace_ms, u32 lease_s, u32 max_running_s (0: none), u32 count,
 * so many of (u32 task, text directory, list argv, list env, list after).
 * `after` is a command that runs when the task has ended, to take away what
 * it may have left: a container.
 */

/* OUTPUT */
struct message_output {
	uint32_t task;
	uint32_t stream;
	uint64_t time_ms; /* by the agent's clock */
	const char *data;
	size_t len;
};
#define OUTPUT_HEADER (MESSAGE_HEADER + 16)

bool message_get_output(const struct message *message,
			struct message_output *out);
void message_output_header(unsigned char to[OUTPUT_HEADER], uint32_t task,
			   uint32_t stream, uint64_t time_ms, size_t len);

/* What the other messages of the spool have: LOST (value: bytes), TASK_STARTED
 * (value: pid), TASK_ENDED (value: as waitpid() gives it), TASK_FAILED and
 * PREPARE_FAILED (text: why; value: a status if it was setup that failed,
 * else -1), ALL_ENDED. */
struct message_event {
	uint32_t task;
	uint32_t stream;
	uint64_t time_ms;
	int64_t value;
	struct wire_text text;
};

bool message_get_event(const struct message *message,
		       struct message_event *out);
void message_put_event(struct wire_out *out, enum message_type type,
		       const struct message_event *event);

#endif
