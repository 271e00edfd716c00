/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs where NVML can't be opened: as nvidia-smi or the kernel reports
 * them. */
#include "core/device/device_internal.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/base/file.h"
#include "core/process/subprocess.h"

#define ANSWER_MAX (1 << 20)
#define ANSWER_MS 20000
#define FIELDS 8
#define NO_SUCH_FIELD 2
#define NO_DRIVER 9
#define NO_DEVICE 6
#define NO_LIBRARY 12

/* "[N/A]", "[Not Supported]" and the like are not numbers. */
static long number_of(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	return end == text || value < 0 ? -1 : value;
}

static char *trim(char *text)
{
	text += strspn(text, " ");
	text[strcspn(text, "\r")] = '\0';
	return text;
}

/* Takes a line of the query.  Notes of a GPU whether it is partitioned, which
 * only the last field tells. */
static void take_line(char *line, struct devices *out,
		      bool partitioned[DEVICES_MAX], struct arena *mem)
{
	char *fields[FIELDS], *rest = line;
	struct device *one;
	const char *mode;
	long errors;
	size_t n = 0;

	while (n < FIELDS && rest)
		fields[n++] = trim(strsep(&rest, ","));
	if (n < FIELDS || number_of(fields[0]) < 0)
		return;
	one = device_add(out, "nvidia", (int)number_of(fields[0]));
	if (!one)
		return;
	one->uuid = arena_strdup(mem, fields[1]);
	one->model = arena_strdup(mem, fields[2]);
	one->bus = device_bus(fields[3], mem);
	if (number_of(fields[4]) > 0) {
		one->memory_bytes = (uint64_t)number_of(fields[4]) << 20;
		one->memory_used_bytes =
			number_of(fields[5]) < 0
				? 0
				: (uint64_t)number_of(fields[5]) << 20;
	}
	one->use_percent = (int)number_of(fields[6]);
	one->temperature_c = (int)number_of(fields[7]);
	errors = rest ? number_of(trim(strsep(&rest, ","))) : -1;
	if (errors > 0)
		one->trouble = arena_printf(
			mem, "%ld uncorrected memory errors since it was reset",
			errors);
	mode = rest ? trim(rest) : "";
	if (one->index < DEVICES_MAX && !strcmp(mode, "Enabled"))
		partitioned[one->index] = true;
}

static int call(const char *first, const char *second,
		struct command_answer *out, struct error *err)
{
	const char *const argv[] = { "nvidia-smi", first, second, NULL };
	const struct command_call what = { .argv = argv,
					   .output_max = ANSWER_MAX,
					   .timeout_ms = ANSWER_MS };

	return command_run(&what, out, err);
}

static int ask(const char *query, struct command_answer *out, struct error *err)
{
	return call(query, "--format=csv,noheader,nounits", out, err);
}

static void take_holders(struct devices *out, struct arena *mem)
{
	struct command_answer answer = { 0 };
	struct error ignored;
	char *rest, *line, *uuid;
	size_t i;

	if (ask("--query-compute-apps=gpu_uuid,pid", &answer, &ignored) < 0)
		return;
	rest = command_status(&answer) == 0 ? (char *)buf_text(&answer.out)
					    : NULL;
	while ((line = strsep(&rest, "\n"))) {
		uuid = strsep(&line, ",");
		for (i = 0; line && i < out->count; i++)
			if (!strcmp(out->items[i].uuid, trim(uuid)))
				device_add_holder(&out->items[i],
						  (pid_t)number_of(trim(line)),
						  mem);
	}
	command_answer_done(&answer);
}

/* Adds a slice of a line "  MIG 1g.5gb     Device  0: (UUID: MIG-...)". */
static void add_slice(const char *line, const struct device *gpu,
		      struct devices *out, struct arena *mem)
{
	static const char key[] = "(UUID: ";
	const char *uuid = strstr(line, key), *profile = line + strlen("MIG ");
	struct device *one;

	if (!uuid)
		return;
	one = device_add(out, gpu->vendor, gpu->index);
	if (!one)
		return;
	uuid += strlen(key);
	one->slice = true;
	one->uuid = arena_strndup(mem, uuid, strcspn(uuid, ")"));
	one->model = arena_printf(mem, "%s MIG %.*s", gpu->model,
				  (int)strcspn(profile, " "), profile);
	one->bus = gpu->bus;
	one->trouble = gpu->trouble;
	one->temperature_c = gpu->temperature_c;
}

/* Adds the slices of one GPU, which `nvidia-smi -L` lists below it. */
static void add_slices(const char *list, const struct device *gpu,
		       struct devices *out, struct arena *mem)
{
	char *copy = arena_strdup(mem, list), *rest = copy, *line;
	bool inside = false;

	while ((line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "GPU ", strlen("GPU ")))
			inside = number_of(line + strlen("GPU ")) == gpu->index;
		line = trim(line);
		if (inside && !strncmp(line, "MIG ", strlen("MIG ")))
			add_slice(line, gpu, out, mem);
	}
}

/* Puts slices in the places of the GPUs that are partitioned: one that has no
 * slice yet can't be used. */
static void take_slices(struct devices *out,
			const bool partitioned[DEVICES_MAX], struct arena *mem)
{
	struct command_answer answer = { 0 };
	struct devices *gpus;
	struct error ignored;
	size_t i;

	if (!memchr(partitioned, true, DEVICES_MAX) ||
	    call("-L", NULL, &answer, &ignored) < 0)
		return;
	gpus = arena_alloc(mem, sizeof(*gpus));
	*gpus = *out;
	out->count = 0;
	for (i = 0; i < gpus->count; i++) {
		const struct device *gpu = &gpus->items[i];

		if (gpu->index < DEVICES_MAX && partitioned[gpu->index])
			add_slices(buf_text(&answer.out), gpu, out, mem);
		else if (out->count < DEVICES_MAX)
			out->items[out->count++] = *gpu;
	}
	command_answer_done(&answer);
}

#define QUERY                                                                  \
	"--query-gpu=index,uuid,name,pci.bus_id,memory.total,memory.used,"     \
	"utilization.gpu,temperature.gpu,ecc.errors.uncorrected.volatile."     \
	"total"

/* Asks for all of what is known of GPUs.  A driver of before partitions refuses
 * the whole question for that field. */
static int ask_all(struct command_answer *out, struct error *err)
{
	int ret = ask(QUERY ",mig.mode.current", out, err);

	if (ret < 0 || command_status(out) != NO_SUCH_FIELD)
		return ret;
	command_answer_done(out);
	*out = (struct command_answer){ 0 };
	return ask(QUERY, out, err);
}

int device_nvidia_smi(struct devices *out, struct arena *mem, struct error *err)
{
	bool partitioned[DEVICES_MAX] = { false };
	struct command_answer answer = { 0 };
	char *rest, *line, words[200];
	struct error ignored;
	int ret = 0, status;

	if (ask_all(&answer, &ignored) < 0)
		return ignored.code == ERROR_TIMEOUT
			       ? error_set(err, ERROR_TIMEOUT,
					   "nvidia-smi does not answer: the "
					   "driver hangs")
			       : 0;
	status = command_status(&answer);
	if (status == 0) {
		rest = (char *)buf_text(&answer.out);
		while ((line = strsep(&rest, "\n")))
			take_line(line, out, partitioned, mem);
		ret = 1;
	} else if (status != NO_DRIVER && status != NO_DEVICE &&
		   status != NO_LIBRARY && status != 127) {
		command_last_words(&answer, words, sizeof(words));
		ret = error_set(err, ERROR_FAILED,
				"nvidia-smi exited with %d: %s", status, words);
	}
	command_answer_done(&answer);
	if (out->count) {
		out->source = "nvidia-smi";
		take_slices(out, partitioned, mem);
		take_holders(out, mem);
	}
	return ret;
}

/* Finds the value in "Model: \t\t NVIDIA H100 80GB HBM3". */
static const char *find_line(const char *text, const char *key,
			     struct arena *mem)
{
	const char *at = strstr(text, key);

	if (!at)
		return NULL;
	at += strlen(key);
	at += strspn(at, " \t");
	return arena_strndup(mem, at, strcspn(at, "\n"));
}

int device_proc_nvidia(const char *root, struct devices *out, struct arena *mem)
{
	char *pattern =
		mem_printf("%s/proc/driver/nvidia/gpus/*/information", root);
	struct error ignored;
	glob_t found;
	size_t i, len;

	if (glob(pattern, 0, NULL, &found) != 0) {
		free(pattern);
		return 0;
	}
	/* Sorted by their places on the bus, as CUDA_DEVICE_ORDER=PCI_BUS_ID
   * counts them. */
	for (i = 0; i < found.gl_pathc; i++) {
		char *text =
			file_read(found.gl_pathv[i], 1 << 16, &len, &ignored);
		struct device *one =
			text ? device_add(out, "nvidia", (int)i) : NULL;

		if (one) {
			one->model = find_line(text, "Model:", mem);
			one->uuid = find_line(text, "GPU UUID:", mem);
			one->bus = find_line(text, "Bus Location:", mem);
		}
		free(text);
	}
	globfree(&found);
	free(pattern);
	if (out->count)
		out->source = "/proc/driver/nvidia";
	return out->count > 0;
}
