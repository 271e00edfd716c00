/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of this machine that a job's run takes: jobrun.local.devices. */
#ifndef JOBRUN_LOCAL_DEVICES_H
#define JOBRUN_LOCAL_DEVICES_H

#include "core/provider/provider.h"
#include "core/spec/spec.h"

/* For a plan: notes about the devices, from a quick look. */
int local_devices_note(const struct job *job, const struct provider_env *env,
		       struct run_spec *spec, struct resources *out,
		       struct error *err);

/* For a run: sets the devices that it may take.  `missing` as in
 * spec_from_job(). */
int local_devices_set(const struct job *job, const struct provider_env *env,
		      struct arena *mem, struct run_spec *spec,
		      const char **missing, struct error *err);

/* For `doctor`: adds how the devices of this machine, or of the job's hosts,
 * serve it; nothing if it needs none.  `group` is borrowed, `spec` is that of the
 * job. */
struct checks;
void local_devices_check(const struct job *job, const struct provider_env *env,
			 const char *group, struct run_spec *spec,
			 struct checks *all);

#endif
