/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as input of an ssh channel, from either end: they are read to the
 * end or refused. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/ssh/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every type of field in turn, as its bytes decide. */
static void read_fields(const struct frame *frame)
{
	struct wire_in in = frame_fields(frame);
	struct wire_text text;
	size_t before = in.left + 1;

	while (!in.bad && in.left && in.left < before) {
		before = in.left;
		text = wire_get_text(&in);
		assert(text.len <= before);
		wire_list_free(wire_get_list(&in));
		free(wire_get_string(&in));
		wire_get_u64(&in);
	}
	assert(in.left <= frame->len);
}

/* The start of a frame says the same as the whole frame. */
static void read_part(const uint8_t *data, size_t used)
{
	struct frame_output output;
	size_t left;

	assert(frame_size(data, used) == used);
	if (!frame_get_output_part(data, used, &output, &left))
		return;
	assert(left == 0 && output.len + OUTPUT_HEADER == used);
	assert(frame_get_output_part(data, OUTPUT_HEADER, &output, &left));
	assert(output.len == 0 && left + OUTPUT_HEADER == used);
}

static void read_frames(const uint8_t *data, size_t size)
{
	struct frame_welcome welcome;
	struct frame_output output;
	struct frame_event event;
	struct frame frame;
	size_t at = 0, used;

	while (frame_find(data + at, size - at, &frame, &used) == FRAME_WHOLE) {
		assert(used == FRAME_HEADER + frame.len);
		assert(used <= size - at);
		if (frame_get_output(&frame, &output))
			assert(output.len + OUTPUT_HEADER == used);
		if (frame_get_event(&frame, &event))
			assert(event.text.len <= frame.len);
		if (frame_get_welcome(&frame, &welcome))
			assert(welcome.stage <= STAGE_ENDED);
		read_fields(&frame);
		read_part(data + at, used);
		at += used;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_frames(data, size);
	return 0;
}
