/* SPDX-License-Identifier: Apache-2.0 */
/* What a host is tested for before `setup` runs there. */
#ifndef JOBRUN_PREFLIGHT_H
#define JOBRUN_PREFLIGHT_H

#include "core/spec/spec.h"

int preflight_from_job(const struct job *job, struct run_spec *out,
		       struct error *err);

bool preflight_is_any(const struct run_spec *spec);

/* `setup` with the test before it: what fails is the last line on standard
 * error, "preflight: ...".  `setup` itself if nothing is tested.  Lives in
 * `mem`. */
struct strings preflight_wrap(const struct run_spec *spec,
			      const struct strings *setup, struct arena *mem);

#endif
