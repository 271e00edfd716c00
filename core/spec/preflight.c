/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/preflight.h"

#include <limits.h>

#include "core/base/units.h"

/* By how much clocks may differ if the job does not say. */
#define CLOCK_SKEW_S 5

/* Its arguments: KiB that must be free here, GPUs that must be there and well
 * ("-": that is not tested), how many words its command has, these, and those
 * of `setup`.  The words are turned as in wrap.c.  XIDs are those by which
 * NVIDIA's guide tells that a GPU is to be reset or exchanged, not those that
 * a program causes. */
#define SCRIPT                                                                 \
	"fail() { echo \"preflight: $1\" >&2; exit 69; }; "                    \
	"disk=$1 devices=$2 n=$3; shift 3; "                                   \
	"if [ \"$disk\" != 0 ]; then "                                         \
	"free=$(df -Pk . | { read -r x; read -r a b c d e; echo \"$d\"; }); "  \
	"[ \"${free:-0}\" -ge \"$disk\" ] || fail \"$((free / 1024)) MiB are " \
	"free in $(pwd), $((disk / 1024)) MiB must be (jobrun.preflight."      \
	"disk)\"; fi; "                                                        \
	"if [ \"$devices\" != - ]; then "                                      \
	"if command -v nvidia-smi >/dev/null; then "                           \
	"told=$(nvidia-smi --query-gpu=index,ecc.errors.uncorrected.volatile"  \
	".total --format=csv,noheader,nounits 2>&1) || "                       \
	"fail \"nvidia-smi: $(echo \"$told\" | tail -n 1)\"; "                 \
	"have=$(echo \"$told\" | grep -c '^[0-9]'); "                          \
	"slices=$(nvidia-smi -L 2>/dev/null | grep -c '^ *MIG '); "            \
	"[ \"$slices\" -le \"$have\" ] || have=$slices; "                      \
	"sick=$(echo \"$told\" | grep '^[0-9]*, *[1-9]' | head -n 1); "        \
	"[ -z \"$sick\" ] || fail \"GPU ${sick%%,*} has ${sick##*[, ]} "       \
	"uncorrected memory errors\"; "                                        \
	"for word in event throttle; do sick=$(nvidia-smi --query-gpu=index,"  \
	"clocks_${word}_reasons.hw_slowdown --format=csv,noheader "            \
	"2>/dev/null) && break; done; "                                        \
	"sick=$(echo \"$sick\" | grep ', *Active' | head -n 1); "              \
	"[ -z \"$sick\" ] || fail \"GPU ${sick%%,*} is slowed down by its "    \
	"hardware, for heat or power\"; "                                      \
	"sick=$(dmesg 2>/dev/null | grep -E 'NVRM: Xid .*: "                   \
	"(48|62|64|74|79|92|95|119|120),' | tail -n 1); "                      \
	"[ -z \"$sick\" ] || fail \"the kernel tells of a faulty GPU: $sick\"" \
	"; else have=$(ls -d /sys/class/drm/card*/device/mem_info_vram_total " \
	"2>/dev/null | grep -c .); fi; "                                       \
	"[ \"$have\" -ge \"$devices\" ] || "                                   \
	"fail \"$have of $devices GPUs are there\"; fi; "                      \
	"if [ $n != 0 ]; then "                                                \
	"(i=0; while [ $i -lt $n ]; do set -- \"$@\" \"$1\"; shift; "          \
	"i=$((i + 1)); done; shift $(($# - n)); exec \"$@\"); status=$?; "     \
	"[ $status = 0 ] || fail \"$1 exited with $status\"; shift $n; fi; "   \
	"[ $# = 0 ] || exec \"$@\""

static void add(struct strings *list, const char *text)
{
	list->items[list->count++] = text;
}

static int read_kib(const char *text, long *out, struct error *err)
{
	uint64_t bytes = 0;

	if (text && size_parse(text, &bytes, err) < 0)
		return -1;
	bytes >>= 10;
	*out = bytes > LONG_MAX ? LONG_MAX : (long)bytes;
	return 0;
}

int preflight_from_job(const struct job *job, struct run_spec *out,
		       struct error *err)
{
	const struct preflight *from = &job->jobrun.preflight;
	long bandwidth_kib = 0, disk_kib = 0;

	if (read_kib(from->disk, &disk_kib, err) < 0 ||
	    read_kib(from->bandwidth, &bandwidth_kib, err) < 0)
		return -1;
	out->preflight = (struct run_preflight){
		.devices = from->devices,
		.device_count = (long)out->topology.accelerators,
		.command = from->command,
		.disk_kib = disk_kib,
		.bandwidth_kib = bandwidth_kib,
		.clock_skew_s = from->clock_skew_s ? from->clock_skew_s
				: from->peers      ? CLOCK_SKEW_S
						   : 0,
	};
	return 0;
}

bool preflight_is_any(const struct run_spec *spec)
{
	const struct run_preflight *test = &spec->preflight;

	return test->disk_kib || test->devices || test->command.count;
}

struct strings preflight_wrap(const struct run_spec *spec,
			      const struct strings *setup, struct arena *mem)
{
	const struct run_preflight *test = &spec->preflight;
	struct strings out = { 0 };
	size_t i;

	if (!preflight_is_any(spec))
		return *setup;
	out.items = arena_alloc(mem, (setup->count + test->command.count + 8) *
					     sizeof(char *));
	add(&out, "/bin/sh");
	add(&out, "-c");
	add(&out, SCRIPT);
	add(&out, "preflight");
	add(&out, arena_printf(mem, "%ld", test->disk_kib));
	add(&out,
	    test->devices ? arena_printf(mem, "%ld", test->device_count) : "-");
	add(&out, arena_printf(mem, "%zu", test->command.count));
	for (i = 0; i < test->command.count; i++)
		add(&out, test->command.items[i]);
	for (i = 0; i < setup->count; i++)
		add(&out, setup->items[i]);
	return out;
}
