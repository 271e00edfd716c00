/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What amd-smi knows of AMD GPUs that the kernel's files do not tell: their
 * partitions, names, processes and memory errors
 * (rocm.docs.amd.com/projects/amdsmi, "AMD SMI CLI tool usage").  Its tables
 * are read by the names of their columns, which are more in later versions.
 */
#include "core/device/device_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/process/subprocess.h"

#define ANSWER_MAX (1 << 20)
#define ANSWER_MS 9000
#define COLUMNS_MAX 64

/* A line of a table, cut into its fields. */
struct smi_row {
	char *fields[COLUMNS_MAX];
	size_t count;
};

/* Cuts off the first field of a line, whose quotes it takes away. */
static char *take_field(char **rest)
{
	char *from = *rest, *start = from, *to = from;
	bool quoted = false;

	for (; *from && (quoted || *from != ','); from++) {
		if (*from == '"' && quoted && from[1] == '"')
			*to++ = *from++;
		else if (*from == '"')
			quoted = !quoted;
		else if (*from != '\r')
			*to++ = *from;
	}
	*rest = *from ? from + 1 : NULL;
	*to = '\0';
	return start;
}

static void cut(char *line, struct smi_row *out)
{
	out->count = 0;
	while (line && out->count < COLUMNS_MAX)
		out->fields[out->count++] = take_field(&line);
}

/* The field below the column of this name; NULL: there is none. */
static const char *field(const struct smi_row *head, const struct smi_row *row,
			 const char *name)
{
	size_t i;

	for (i = 0; i < head->count && i < row->count; i++)
		if (!strcmp(head->fields[i], name))
			return row->fields[i];
	return NULL;
}

/* "N/A" and the like are not numbers: -1. */
static long long number(const struct smi_row *head, const struct smi_row *row,
			const char *name)
{
	const char *text = field(head, row, name);
	char *end;
	long long out = text ? strtoll(text, &end, 10) : -1;

	return !text || end == text || out < 0 ? -1 : out;
}

struct smi_table {
	struct devices *out;
	struct device *gpus[DEVICES_MAX]; /* as amd-smi counts them */
	struct arena *mem;
};

/* Asks for a table, and calls back for each of its rows.  Returns 1, 0 if it
 * can't be had, and -1 if amd-smi does not answer. */
static int ask(const char *const argv[], struct smi_table *table,
	       void (*take)(struct smi_table *table, const struct smi_row *head,
			    const struct smi_row *row),
	       struct error *err)
{
	const struct command_call call = { .argv = argv,
					   .output_max = ANSWER_MAX,
					   .timeout_ms = ANSWER_MS };
	struct command_answer answer = { 0 };
	struct smi_row head = { 0 }, row;
	struct error why;
	char *rest, *line;

	if (command_run(&call, &answer, &why) < 0)
		return why.code == ERROR_TIMEOUT
			       ? error_set(err, ERROR_TIMEOUT,
					   "amd-smi does not answer: the "
					   "driver hangs")
			       : 0;
	if (command_status(&answer) != 0) {
		command_answer_done(&answer);
		return 0;
	}
	/* Warnings may stand before the table. */
	rest = (char *)buf_text(&answer.out);
	while ((line = strsep(&rest, "\n"))) {
		cut(line, &row);
		if (!head.count && !strcmp(row.fields[0], "gpu"))
			head = row;
		else if (head.count && number(&head, &row, "gpu") >= 0)
			take(table, &head, &row);
	}
	command_answer_done(&answer);
	return head.count > 0;
}

static struct device *gpu_of(const struct smi_table *table,
			     const struct smi_row *head,
			     const struct smi_row *row)
{
	long long gpu = number(head, row, "gpu");

	return gpu < DEVICES_MAX ? table->gpus[gpu] : NULL;
}

/* The device at a place on the bus; NULL: none that amd-smi has not listed
 * before. */
static struct device *find(const struct smi_table *table, const char *bus)
{
	size_t i, j;

	for (i = 0; i < table->out->count; i++) {
		struct device *one = &table->out->items[i];

		if (strcmp(one->vendor, "amd") != 0 || !one->bus ||
		    strcmp(one->bus, bus) != 0)
			continue;
		for (j = 0; j < DEVICES_MAX && table->gpus[j] != one; j++)
			;
		return j == DEVICES_MAX ? one : NULL;
	}
	return NULL;
}

/* The partitions of a GPU may all have its place on the bus. */
static const char *place_of(const struct smi_table *table, const char *bus,
			    struct arena *mem)
{
	size_t i, n = 0, len = strlen(bus);

	for (i = 0; i < table->out->count; i++) {
		const char *other = table->out->items[i].bus;

		n += other && !strncmp(other, bus, len) &&
		     (!other[len] || other[len] == '/');
	}
	return n ? arena_printf(mem, "%s/%zu", bus, n) : bus;
}

static void take_gpu(struct smi_table *table, const struct smi_row *head,
		     const struct smi_row *row)
{
	const char *id = field(head, row, "gpu_bdf");
	const char *uuid = field(head, row, "gpu_uuid");
	long long gpu = number(head, row, "gpu");
	const char *bus = id ? device_bus(id, table->mem) : NULL;
	struct device *one;

	if (!bus || gpu >= DEVICES_MAX || table->gpus[gpu])
		return;
	one = find(table, bus);
	if (!one) {
		bus = place_of(table, bus, table->mem);
		one = device_add(table->out, "amd", 0);
		if (!one)
			return;
		one->bus = bus;
	}
	if (!one->uuid && uuid)
		one->uuid = arena_strdup(table->mem, uuid);
	table->gpus[gpu] = one;
}

/* A process that has no memory on a GPU does not use it, though it is
 * listed. */
static void take_process(struct smi_table *table, const struct smi_row *head,
			 const struct smi_row *row)
{
	struct device *one = gpu_of(table, head, row);
	long long pid = number(head, row, "pid");

	if (one && pid > 0 && number(head, row, "vram_mem") != 0)
		device_add_holder(one, (pid_t)pid, table->mem);
}

static void take_errors(struct smi_table *table, const struct smi_row *head,
			const struct smi_row *row)
{
	long long errors = number(head, row, "total_uncorrectable_count");
	struct device *one = gpu_of(table, head, row);

	if (one && errors > 0)
		one->trouble = arena_printf(
			table->mem,
			"%lld uncorrected memory errors since its driver was "
			"loaded",
			errors);
}

/* Without a name the kernel has the number of the model, "0x74a1". */
static bool has_name(const struct device *one)
{
	return one->model && strncmp(one->model, "0x", 2) != 0;
}

static void take_name(struct smi_table *table, const struct smi_row *head,
		      const struct smi_row *row)
{
	struct device *one = gpu_of(table, head, row);
	const char *name = field(head, row, "market_name");

	if (one && !has_name(one) && name && strcmp(name, "N/A") != 0)
		one->model = arena_strdup(table->mem, name);
}

static bool all_have_names(const struct smi_table *table)
{
	size_t i;

	for (i = 0; i < DEVICES_MAX; i++)
		if (table->gpus[i] && !has_name(table->gpus[i]))
			return false;
	return true;
}

int device_amd_smi(struct devices *out, struct arena *mem, struct error *err)
{
	static const char *const list[] = { "amd-smi", "list", "--csv", NULL };
	static const char *const processes[] = { "amd-smi", "process", "--csv",
						 NULL };
	static const char *const errors[] = { "amd-smi", "metric", "--ecc",
					      "--csv", NULL };
	static const char *const names[] = { "amd-smi", "static", "--asic",
					     "--csv", NULL };
	struct smi_table table = { .out = out, .mem = mem };
	int ret = ask(list, &table, take_gpu, err);

	if (ret > 0)
		ret = ask(processes, &table, take_process, err);
	if (ret > 0 && ask(errors, &table, take_errors, err) < 0)
		ret = -1;
	if (ret > 0 && !all_have_names(&table) &&
	    ask(names, &table, take_name, err) < 0)
		ret = -1;
	return ret;
}
