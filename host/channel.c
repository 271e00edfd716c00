/* SPDX-License-Identifier: Apache-2.0 */
/* The client at the other end of the ssh channel: frames in, frames out,
 * and the spool for one who follows it. */
#include "host/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/text.h"

#define BLOCK (256 << 10)

/* How much of a task's output the client has. */
struct position {
	uint32_t task;
	uint64_t have[FRAME_STREAMS];
};

struct channel {
	struct agent *agent;
	int in, out;
	int hold; /* `connect` waits for this one to be closed */
	struct loop_event *in_event;
	struct loop_event *out_event; /* NULL: there is room */
	struct buf received;
	struct wire_out queue;
	size_t sent; /* of the queue */
	bool following;
	uint64_t spool_at;
	struct position *positions; /* with something to leave out */
	size_t position_count;
	char *block;
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
	channel->block = mem_alloc(BLOCK);
	fcntl(in, F_SETFL, O_NONBLOCK);
	fcntl(out, F_SETFL, O_NONBLOCK);
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
	free(channel->positions);
	free(channel->block);
	free(channel);
}

size_t channel_queued(const struct channel *channel)
{
	return channel->queue.len - channel->sent;
}

static struct position *find_position(struct channel *channel, uint32_t task)
{
	size_t i;

	for (i = 0; i < channel->position_count; i++)
		if (channel->positions[i].task == task)
			return &channel->positions[i];
	return NULL;
}

/* Queues a frame of the spool without what the client has of it. */
static void queue_rest(struct channel *channel, const struct frame *frame,
		       const char *bytes, size_t len)
{
	unsigned char header[OUTPUT_HEADER];
	struct frame_output output;
	struct frame_event event;
	struct position *position = NULL;
	uint64_t *have = NULL;
	size_t skip;

	if (frame->type == FRAME_OUTPUT && frame_get_output(frame, &output))
		position = find_position(channel, output.task);
	if (position)
		have = &position->have[output.stream];
	if (frame->type == FRAME_LOST && frame_get_event(frame, &event))
		position = find_position(channel, event.task);
	if (frame->type == FRAME_LOST && position) {
		have = &position->have[event.stream];
		/* It has noted all of it, or nothing. */
		if (*have && (uint64_t)event.value <= *have) {
			*have -= (uint64_t)event.value;
			return;
		}
		have = NULL;
	}
	if (!have || !*have) {
		wire_put_bytes(&channel->queue, bytes, len);
		return;
	}
	skip = *have < output.len ? (size_t)*have : output.len;
	*have -= skip;
	if (skip == output.len)
		return;
	frame_output_header(header, output.task, output.stream, output.time_ms,
			    output.len - skip);
	wire_put_bytes(&channel->queue, header, sizeof(header));
	wire_put_bytes(&channel->queue, output.data + skip, output.len - skip);
}

/* Puts the next part of the spool into an empty queue. */
static void take_from_spool(struct channel *channel)
{
	size_t len = spool_read(channel->agent->spool, channel->spool_at,
				channel->block, BLOCK);
	struct frame frame;
	size_t at, used;

	channel->spool_at += len;
	if (!channel->position_count) {
		wire_put_bytes(&channel->queue, channel->block, len);
		return;
	}
	for (at = 0; at < len; at += used) {
		frame_find(channel->block + at, len - at, &frame, &used);
		queue_rest(channel, &frame, channel->block + at, used);
	}
}

/* Writes as much as there is room for; false once the client is gone. */
static bool write_some(struct channel *channel)
{
	while (channel_queued(channel)) {
		ssize_t n =
			write(channel->out, channel->queue.data + channel->sent,
			      channel_queued(channel));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		channel->sent += (size_t)n;
	}
	channel->queue.len = 0;
	channel->sent = 0;
	return true;
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
	bool waits;
	struct error err;

	for (;;) {
		if (!write_some(channel)) {
			agent_channel_lost(agent);
			return;
		}
		waits = channel_queued(channel) > 0;
		if (waits || !channel->following ||
		    channel->spool_at >= spool_len(agent->spool))
			break;
		take_from_spool(channel);
	}
	if (!waits) {
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
	wire_put_bytes(&channel->queue, out->data, out->len);
	channel_pump(channel);
}

void channel_flush(struct channel *channel)
{
	fcntl(channel->out, F_SETFL, 0);
	write_some(channel);
}

int channel_follow(struct channel *channel, struct wire_in *in)
{
	uint32_t count = wire_get_count(in, FRAME_TASKS_MAX, 20);
	uint32_t i;

	free(channel->positions);
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
	channel->spool_at = 0;
	channel_pump(channel);
	return 0;
}

/* Does what was asked; false if the channel is no more. */
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
	/* It may have held secrets. */
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
	agent->heard_ms = time_monotonic_ms();
	channel->received.len += (size_t)n;
	receive_all(channel);
}
