/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices as lines of fields between tabs, an empty one for what is not known:
 *
 *	devices	SOURCE
 *	note	WHY
 *	gpu	VENDOR	INDEX	SLICE	MODEL	UUID	BUS	TROUBLE	...
 *	process	PID	USER	PROGRAM
 *	lease	RUN	USER	SINCE
 *
 * Processes and leases are of the device before them.
 */
#include "core/device/device_internal.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 12

/* ---- writing ---- */

static void put_text(struct buf *out, const char *text)
{
	buf_putc(out, '\t');
	for (; text && *text; text++)
		buf_putc(out, *text == '\t' || *text == '\n' ? ' ' : *text);
}

static void put_number(struct buf *out, long long value)
{
	buf_printf(out, "\t%lld", value);
}

static void write_device(const struct device *one, struct buf *out)
{
	buf_puts(out, "gpu");
	put_text(out, one->vendor);
	put_number(out, one->index);
	put_number(out, one->slice);
	put_text(out, one->model);
	put_text(out, one->uuid);
	put_text(out, one->bus);
	put_text(out, one->trouble);
	put_number(out, (long long)one->memory_bytes);
	put_number(out, (long long)one->memory_used_bytes);
	put_number(out, one->use_percent);
	put_number(out, one->temperature_c);
	buf_putc(out, '\n');
}

void devices_write(const struct devices *all, struct buf *out)
{
	size_t i, j;

	buf_puts(out, "devices");
	put_text(out, all->source);
	buf_putc(out, '\n');
	if (all->note) {
		buf_puts(out, "note");
		put_text(out, all->note);
		buf_putc(out, '\n');
	}
	for (i = 0; i < all->count; i++) {
		const struct device *one = &all->items[i];

		write_device(one, out);
		for (j = 0; j < one->holder_count; j++) {
			buf_puts(out, "process");
			put_number(out, one->holders[j].pid);
			put_text(out, one->holders[j].user);
			put_text(out, one->holders[j].program);
			buf_putc(out, '\n');
		}
		if (!one->run)
			continue;
		buf_puts(out, "lease");
		put_text(out, one->run);
		put_text(out, one->run_user);
		put_number(out, one->run_since_ms);
		buf_putc(out, '\n');
	}
}

/* ---- reading ---- */

/* Splits a line; fields that are missing are "". */
static void split(char *line, char *fields[FIELDS_MAX])
{
	size_t i;

	for (i = 0; i < FIELDS_MAX; i++)
		fields[i] = line ? strsep(&line, "\t") : (char *)"";
}

static const char *copy(const char *text, struct arena *mem)
{
	return *text ? arena_strdup(mem, text) : NULL;
}

static void read_device(char *fields[FIELDS_MAX], struct devices *out,
			struct arena *mem)
{
	struct device *one =
		device_add(out, arena_strdup(mem, fields[1]), atoi(fields[2]));

	if (!one)
		return;
	one->slice = atoi(fields[3]) != 0;
	one->model = copy(fields[4], mem);
	one->uuid = copy(fields[5], mem);
	one->bus = copy(fields[6], mem);
	one->trouble = copy(fields[7], mem);
	one->memory_bytes = strtoull(fields[8], NULL, 10);
	one->memory_used_bytes = strtoull(fields[9], NULL, 10);
	one->use_percent = atoi(fields[10]);
	one->temperature_c = atoi(fields[11]);
}

static void read_process(char *fields[FIELDS_MAX], struct device *one,
			 struct arena *mem)
{
	if (one->holder_count == DEVICE_HOLDERS_MAX)
		return;
	one->holders[one->holder_count++] = (struct device_holder){
		.pid = (pid_t)atol(fields[1]),
		.user = copy(fields[2], mem),
		.program = copy(fields[3], mem),
	};
}

struct devices *devices_read(const char *text, struct arena *mem)
{
	char *rest = arena_strdup(mem, text), *line, *fields[FIELDS_MAX];
	struct devices *out = NULL;

	while ((line = strsep(&rest, "\n"))) {
		struct device *last =
			out && out->count ? &out->items[out->count - 1] : NULL;

		split(line, fields);
		if (!out && strcmp(fields[0], "devices") != 0)
			return NULL;
		if (!out) {
			out = arena_alloc(mem, sizeof(*out));
			out->source = copy(fields[1], mem);
		} else if (!strcmp(fields[0], "note")) {
			out->note = copy(fields[1], mem);
		} else if (!strcmp(fields[0], "gpu") && *fields[1]) {
			read_device(fields, out, mem);
		} else if (!strcmp(fields[0], "process") && last) {
			read_process(fields, last, mem);
		} else if (!strcmp(fields[0], "lease") && last) {
			last->run = copy(fields[1], mem);
			last->run_user = copy(fields[2], mem);
			last->run_since_ms = strtoll(fields[3], NULL, 10);
		}
	}
	return out;
}
