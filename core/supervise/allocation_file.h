/* SPDX-License-Identifier: Apache-2.0 */
/* The stored form of an allocation during its run. */
#ifndef JOBRUN_ALLOCATION_FILE_H
#define JOBRUN_ALLOCATION_FILE_H

#include <jansson.h>
#include <stdint.h>

struct error;

struct allocation_file {
	const struct provider *provider;
	struct job *job; /* its known parts: id, digest, limits, cleanup */
	struct resources *resources; /* each after its needs */
	int64_t interval_ms;         /* between two checks */
};

/* Reads the result of allocation_text(). */
int allocation_read(const json_t *kept, const struct provider *const *providers,
		    struct allocation_file *out, struct error *err);
void allocation_file_done(struct allocation_file *kept);

#endif
