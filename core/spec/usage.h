/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resources that a run has used, if the place where it ran records that: a
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
	int64_t cpu_ms;           /* of all processors; 0: unknown */
	int64_t allocated_cpu_ms; /* reserved for the run; 0: unknown */
	uint64_t memory_bytes;    /* the most of any task; 0: unknown */
};

bool usage_is_known(const struct usage *usage);

int usage_write(const char *folder, const struct usage *usage,
		struct error *err);
/* Returns 1 if there is no file. */
int usage_read(const char *folder, struct usage *out, struct error *err);

#endif
