/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This machine: a job's tasks as processes, with the topology, the ports and
 * the environment that they would have elsewhere.  Its one kind is the run;
 * core/supervise implements it.
 */
#ifndef JOBRUN_LOCAL_H
#define JOBRUN_LOCAL_H

#include "core/provider/provider.h"

extern const struct provider provider_local;
extern const struct field_use local_uses[]; /* uses.c */
extern const struct topology_reader reader_local;

#endif
