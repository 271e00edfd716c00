/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP ports of this machine for the tasks of a run.  A port that can be bound
 * now is not yet safe: a trainer may take seconds until it binds its own.  So a
 * lease is also a name in the abstract namespace of unix(7) sockets, one per
 * port: every jobrun on the machine sees it, whatever its user and store, and
 * it disappears with the process that holds it.
 */
#ifndef JOBRUN_PORTS_H
#define JOBRUN_PORTS_H

#include <stddef.h>

#include "core/base/error.h"

/*
 * Chooses `count` ports on the loopback address: the lowest, from `first` up,
 * that nobody has leased and that can be bound now.  The leases hold until
 * ports_return(), or the end of the process.  Returns new, or NULL.
 */
struct port_leases *ports_lease(int first, size_t count, int *ports,
				struct error *err);
void ports_return(struct port_leases *leases); /* accepts NULL */

#endif
