/* SPDX-License-Identifier: Apache-2.0 */
/* The client at the other end of the ssh channel: reads frames, writes frames,
 * and sends the spool to a client that follows it. */
#include "cmd/jobrun-host/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"

#define BLOCK (256 << 10)
#define PIPE_SIZE (256 << 10)
/* About how many bytes of the spool are sent at once. */
#define RUN ((size_t)256 << 10)

/* How much of a task's output the client has. */
struct spool_position {
	uint32_t task;
	uint64_t have[FRAME_STREAMS];   /* of what is still left out */
	uint64_t passed[FRAME_STREAMS]; /* in the spool */
};

struct channel {
	struct agent *agent;
	int in, out;
	int hold; /* `connect` waits until it is closed */
	struct loop_event *in_event;
	struct loop_event *out_event; /* NULL: not waiting for room */
	struct buf received;
	/* What is to be sent: the queue, then the spool from `at` to `end`, and
	 * then what was added meanwhile. */
	struct wire_out queue;
	size_t queue_sent;
	uint64_t at, end;
	struct wire_out later;
	uint64_t sent, taken; /* total bytes: sent, acknowledged */
	/* When the client has taken `mark_sent` bytes, it has the spool up to
	 * `mark_at`. */
	uint64_t mark_sent, mark_at;
	bool marked;
	bool following;
	uint32_t before; /* output up to this round is left out */
	uint32_t round;  /* of the last frame of the spool */
	struct spool_position *positions; /* tasks with output to leave out */
	size_t position_count;
};

static void on_readable(void *arg, uint32_t events);

struct channel *channel_new(struct agent *agent, int in, int out, int hold)
{
	struct channel *channel = mem_alloc(sizeof(*channel));
	struct error err;

	channel->agent = agent;
	channel->in = in;
	channel->out = out;
	channel->hold = hold;
	fcntl(in, F_SETFL, O_NONBLOCK);
	fcntl(out, F_SETFL, O_NONBLOCK);
	/* sshd uses a pipe or a socket.  A larger pipe, where allowed, means
	 * fewer wake-ups. */
	fcntl(out, F_SETPIPE_SZ, PIPE_SIZE);
	channel->in_event = loop_add_fd(agent->loop, in, EPOLLIN, on_readable,
					channel, &err);
	if (!channel->in_event) {
		channel_free(channel);
		return NULL;
	}
	return channel;
}

void channel_free(struct channel *channel)
{
	if (!channel)
		return;
	loop_remove(channel->agent->loop, channel->in_event);
	loop_remove(channel->agent->loop, channel->out_event);
	close(channel->in);
	close(channel->out);
	close(channel->hold);
	buf_done(&channel->received);
	wire_out_done(&channel->queue);
	wire_out_done(&channel->later);
	free(channel->positions);
	free(channel);
}

size_t channel_queued(const struct channel *channel)
{
	return channel->queue.len - channel->queue_sent + channel->later.len;
}

static struct spool_position *find_position(struct channel *channel,
					    uint32_t task)
{
	size_t i;

	for (i = 0; i < channel->position_count; i++)
		if (channel->positions[i].task == task)
			return &channel->positions[i];
	return NULL;
}

/* Whether the current frame is of a round whose output the client does not
 * want. */
static bool is_early(const struct channel *channel)
{
	return channel->before && channel->round <= channel->before;
}

/* Sends an OUTPUT frame of the spool, of which the first bytes are here,
 * without the part that the client has. */
static void leave_out(struct channel *channel,
		      const struct frame_output *output, size_t len)
{
	struct spool_position *position = find_position(channel, output->task);
	uint64_t *have = position ? &position->have[output->stream] : NULL;
	unsigned char header[OUTPUT_HEADER];
	size_t skip;

	if (is_early(channel)) {
		channel->at += OUTPUT_HEADER + len;
		return;
	}
	if (!have || !*have)
		return;
	skip = *have < len ? (size_t)*have : len;
	*have -= skip;
	position->passed[output->stream] += len;
	channel->at += OUTPUT_HEADER + skip;
	if (skip == len)
		return;
	frame_output_header(header, output, len - skip);
	wire_put_bytes(&channel->queue, header, sizeof(header));
}

/* The same for a LOST frame: the client has noted all of it or nothing. */
static void leave_out_lost(struct channel *channel,
			   const struct frame_event *event)
{
	struct spool_position *position = find_position(channel, event->task);
	uint64_t *have = position ? &position->have[event->stream] : NULL;

	if (is_early(channel)) {
		channel->at = channel->end;
		return;
	}
	if (!have || !*have || (uint64_t)event->value > *have)
		return;
	*have -= (uint64_t)event->value;
	position->passed[event->stream] += (uint64_t)event->value;
	channel->at = channel->end;
}

/* Leaves out freed output like other output; if the client does not have it,
 * the frame tells it that it is gone. */
static void leave_out_freed(struct channel *channel,
			    const struct frame_event *event)
{
	struct spool_position *position = find_position(channel, event->task);
	uint64_t *have, *passed, more;

	if (!position || is_early(channel))
		return;
	have = &position->have[event->stream];
	passed = &position->passed[event->stream];
	if ((uint64_t)event->value <= *passed)
		return;
	more = (uint64_t)event->value - *passed;
	*have -= more < *have ? more : *have;
	*passed = (uint64_t)event->value;
}

static void forget_positions(struct channel *channel)
{
	size_t i;

	for (i = 0; i < channel->position_count; i++)
		if (channel->positions[i].have[0] ||
		    channel->positions[i].have[1])
			return;
	channel->position_count = 0;
}

/* Sends one frame, while there is something to leave out. */
static void next_frame(struct channel *channel)
{
	const struct spool *spool = channel->agent->spool;
	char start[256]; /* longer than a LOST frame */
	size_t n = spool_read(spool, channel->at, start, sizeof(start));
	struct frame_output output;
	struct frame_event event;
	struct frame frame;
	size_t left, used;

	if (frame_get_output_part(start, n, &output, &left)) {
		channel->round = output.round;
		leave_out(channel, &output, output.len + left);
	} else if (frame_find(start, n, &frame, &used) == FRAME_WHOLE &&
		   frame_get_event(&frame, &event)) {
		channel->round = event.round;
		if (frame.type == FRAME_LOST)
			leave_out_lost(channel, &event);
		else if (frame.type == FRAME_FREED)
			leave_out_freed(channel, &event);
	} else if (frame_is_pad(start, n)) {
		channel->at = channel->end;
	}
	forget_positions(channel);
}

/* Goes on to the next frames of the spool; returns false if there are none, or
 * none may be sent yet. */
static bool next_run(struct channel *channel)
{
	const struct spool *spool = channel->agent->spool;
	bool whole = !channel->position_count && !is_early(channel);

	if (!channel->following || channel->at >= spool_len(spool) ||
	    channel->sent >= channel->taken + FRAME_WINDOW)
		return false;
	channel->end = spool_end(spool, channel->at, whole ? RUN : 1);
	if (channel->end == channel->at) /* it can't be read */
		return false;
	if (!whole)
		next_frame(channel);
	return true;
}

static ssize_t write_next(struct channel *channel)
{
	ssize_t n;

	if (channel->queue.len) {
		n = write(channel->out,
			  channel->queue.data + channel->queue_sent,
			  channel->queue.len - channel->queue_sent);
		channel->queue_sent += n > 0 ? (size_t)n : 0;
		if (channel->queue_sent == channel->queue.len)
			channel->queue.len = channel->queue_sent = 0;
	} else {
		n = spool_send(channel->agent->spool, channel->at,
			       (size_t)(channel->end - channel->at),
			       channel->out);
		channel->at += n > 0 ? (uint64_t)n : 0;
		/* Somebody has truncated the spool. */
		if (n == 0)
			errno = EIO;
	}
	return n > 0 ? n : -1;
}

/* Writes as much as there is room for.  Returns 1 if more is left, -1 if the
 * client is gone. */
static int write_some(struct channel *channel)
{
	struct wire_out queue;

	for (;;) {
		ssize_t n;

		if (!channel->queue.len && channel->at == channel->end) {
			if (channel->following && !channel->marked) {
				channel->mark_sent = channel->sent;
				channel->mark_at = channel->at;
				channel->marked = true;
			}
			queue = channel->queue;
			channel->queue = channel->later;
			channel->later = queue;
			if (!channel->queue.len)
				return 0;
		}
		n = write_next(channel);
		if (n < 0 && errno == EAGAIN)
			return 1;
		if (n < 0 && errno != EINTR)
			return -1;
		channel->sent += n > 0 ? (uint64_t)n : 0;
	}
}

static void on_writable(void *arg, uint32_t events)
{
	struct channel *channel = arg;

	(void)events;
	channel_pump(channel);
}

void channel_pump(struct channel *channel)
{
	struct agent *agent = channel->agent;
	struct error err;
	int more;

	do {
		more = write_some(channel);
	} while (!more && next_run(channel));
	if (more < 0) {
		agent_channel_lost(agent);
	} else if (!more) {
		loop_remove(agent->loop, channel->out_event);
		channel->out_event = NULL;
	} else if (!channel->out_event) {
		channel->out_event =
			loop_add_fd(agent->loop, channel->out, EPOLLOUT,
				    on_writable, channel, &err);
		if (!channel->out_event)
			agent_channel_lost(agent);
	}
}

void channel_send(struct channel *channel, struct wire_out *out)
{
	wire_put_bytes(channel->at < channel->end ? &channel->later
						  : &channel->queue,
		       out->data, out->len);
	channel_pump(channel);
}

void channel_flush(struct channel *channel)
{
	struct pollfd room = { .fd = channel->out, .events = POLLOUT };

	while (write_some(channel) > 0 && poll(&room, 1, -1) >= 0)
		;
}

int channel_taken(struct channel *channel, struct wire_in *in)
{
	channel->taken = wire_get_u64(in);
	if (!wire_is_done(in))
		return -1;
	if (channel->marked && channel->taken >= channel->mark_sent) {
		channel->marked = false;
		spool_release(channel->agent->spool, channel->mark_at);
	}
	channel_pump(channel);
	return 0;
}

int channel_follow(struct channel *channel, struct wire_in *in)
{
	uint32_t before = wire_get_u32(in);
	uint32_t count = wire_get_count(in, FRAME_TASKS_MAX, 20);
	uint32_t i;

	if (channel->following)
		return -1;
	channel->before = before;
	channel->positions = mem_alloc(count * sizeof(*channel->positions));
	channel->position_count = count;
	for (i = 0; i < count; i++) {
		channel->positions[i].task = wire_get_u32(in);
		channel->positions[i].have[0] = wire_get_u64(in);
		channel->positions[i].have[1] = wire_get_u64(in);
	}
	if (!wire_is_done(in))
		return -1;
	channel->following = true;
	channel->at = channel->end = spool_start(channel->agent->spool);
	forget_positions(channel);
	channel_pump(channel);
	return 0;
}

/* Handles the requests; returns false if the channel is closed. */
static bool receive_all(struct channel *channel)
{
	struct agent *agent = channel->agent;
	struct frame frame;
	size_t at = 0, used;

	for (;;) {
		enum frame_found found =
			frame_find(buf_text(&channel->received) + at,
				   channel->received.len - at, &frame, &used);

		if (found == FRAME_NONE)
			break;
		if (found == FRAME_BROKEN || agent_receive(agent, &frame) < 0) {
			agent_channel_lost(agent);
			return false;
		}
		if (agent->channel != channel)
			return false;
		at += used;
	}
	/* The frames may have held secrets. */
	explicit_bzero(channel->received.data, at);
	buf_drop(&channel->received, at);
	return true;
}

static void on_readable(void *arg, uint32_t events)
{
	struct channel *channel = arg;
	struct agent *agent = channel->agent;
	ssize_t n;

	(void)events;
	n = read(channel->in, buf_reserve(&channel->received, BLOCK), BLOCK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		agent_channel_lost(agent);
		return;
	}
	agent_heard(agent);
	channel->received.len += (size_t)n;
	receive_all(channel);
}
