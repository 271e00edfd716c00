/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what comes through an ssh channel, each way: they are read to
 * the end or refused, and nothing is unpacked outside of its folder. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/ssh/agent_archive.h"
#include "core/ssh/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every field that any frame can have, in turn, as its bytes decide. */
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

/* Its start says the same as all of it. */
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

static void unpack(const uint8_t *data, size_t size)
{
	char above[] = "/tmp/jobrun-fuzz-XXXXXX";
	struct unpacking *unpacking;
	struct error err;
	struct stat st;
	int outer, root;

	if (!mkdtemp(above))
		abort();
	outer = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mkdirat(outer, "in", 0700) < 0)
		abort();
	root = openat(outer, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unpacking = unpacking_new(root, 1 << 20, 100);
	unpacking_add(unpacking, data, size, &err);
	unpacking_free(unpacking);
	/* A folder has a link more for each folder in it. */
	if (fstat(outer, &st) < 0)
		abort();
	assert(st.st_nlink <= 3);
	close(root);
	close(outer);
	if (folder_remove(above, &err) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_frames(data, size);
	unpack(data, size);
	return 0;
}
