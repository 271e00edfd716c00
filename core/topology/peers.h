/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting until all tasks of a run have started.  Frameworks give up on peers
 * that come late, each after a time of its own, and say little of who it was.
 *
 * Every task connects to the first one, at the port of the rendezvous, which
 * is not in use yet.  When all are there it lets all go.  Nothing stays open:
 * the framework finds the port free.
 */
#ifndef JOBRUN_PEERS_H
#define JOBRUN_PEERS_H

#include "core/topology/topology.h"

/*
 * Evaluators are not waited for: the others do not know of them.
 * ERROR_TIMEOUT says who did not come (in the first task), or that the first
 * task did not answer.
 */
int peers_wait(const struct topology *all, size_t self, long timeout_s,
	       struct error *err);

#endif
