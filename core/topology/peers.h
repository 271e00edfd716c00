/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits until all tasks of a run have started.  Frameworks give up on late
 * peers, each after a different time, and rarely say which peer was missing.
 *
 * Every task connects to the first one, at the rendezvous port, which is not in
 * use yet.  When all are there, the first one releases them.  Nothing stays
 * open: the framework finds the port free.
 */
#ifndef JOBRUN_PEERS_H
#define JOBRUN_PEERS_H

#include "core/topology/topology.h"

/*
 * Evaluators are not waited for: the others do not know of them.  ERROR_TIMEOUT
 * says who did not come (in the first task), or that the first task did not
 * answer.
 */
int peers_wait(const struct topology *all, size_t self, long timeout_s,
	       struct error *err);

#endif
