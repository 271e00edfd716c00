/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpuvm/tpuvm_fit.h"

#include "core/job/job.h"
#include "core/job/machines.h"
#include "core/job/misfit.h"
#include "providers/google/tpu/tpu.h"
#include "providers/tpuvm/tpuvm_block.h"

#define PATH "jobrun.tpu-vm.topology"

void tpu_vm_fit(const struct job *job, const struct catalogue *catalogue,
		struct misfits *out)
{
	const struct tpu_vm_block *block = job_block(job, "tpu-vm");
	const struct machine_group *tpu;
	struct machine_groups machines;
	struct error ignored;

	if (!block || !block->topology ||
	    machines_of(job, catalogue, &machines, &ignored) < 0)
		return;
	tpu = machines_find(&machines, ROLE_WORKER);
	if (!tpu || !tpu->slice)
		return;
	if (tpu_topology_chips(block->topology) != tpu->slice->chips)
		misfit_add(out, true, PATH, NULL,
			   "jobrun.tpu-vm.topology is %s: a %s has %u chips",
			   block->topology, tpu->slice->name,
			   tpu->slice->chips);
	else if (!tpu_has_topology(tpu->tpu, block->topology))
		misfit_add(out, true, PATH,
			   tpu->tpu->cubes ? "take whole cubes of 4x4x4 chips, "
					     "sides in ascending order"
					   : NULL,
			   "jobrun.tpu-vm.topology is %s: no %s has that shape",
			   block->topology, tpu->slice->name);
}
