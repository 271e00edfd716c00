/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run has used, where the place that it ran at keeps account of that: a
 * file in the run's folder,
 *
 *	usage.json	{"cpuMs", "allocatedCpuMs", "memoryBytes"}
 */
#ifndef JOBRUN_USAGE_H
#define JOBRUN_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

struct usage {
	int64_t cpu_ms;           /* of all processors; 0: not known */
	int64_t allocated_cpu_ms; /* that it had for itself; 0: not known */
	uint64_t memory_bytes;    /* at most, in one task; 0: not known */
};

bool usage_is_known(const struct usage *usage);

int usage_write(const char *folder, const struct usage *usage,
		struct error *err);
/* 1: there is none. */
int usage_read(const char *folder, struct usage *out, struct error *err);

#endif
