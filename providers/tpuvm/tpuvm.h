/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cloud TPU VMs: a job's node is made, its tasks run on the node's VMs over ssh
 * as on any other hosts, and it is deleted after the run.
 */
#ifndef JOBRUN_TPUVM_H
#define JOBRUN_TPUVM_H

#include "core/provider/provider.h"

extern const struct provider provider_tpu_vm;
extern const struct kind kind_tpu_vm;
extern const struct field_use tpu_vm_uses[];
extern const struct topology_reader reader_tpu_vm;

#endif
