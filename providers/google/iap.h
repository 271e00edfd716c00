/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP to a port of a VM that has no address outside, through Google's
 * Identity-Aware Proxy: what `gcloud compute start-iap-tunnel` does.
 *
 * The relay's protocol is published as code only: Google Cloud SDK,
 * googlecloudsdk/api_lib/compute/iap_tunnel_websocket.py and
 * iap_tunnel_websocket_utils.py; who asks gets the VM that is called so in a
 * project and a zone, as `gcloud compute ssh` and `gcloud alpha compute tpus
 * tpu-vm ssh --tunnel-through-iap` do (command_lib/compute/tpus/tpu_vm/
 * util.py).  wss://tunnel.cloudproxy.app/v4/connect?project=&zone=&instance=
 * &interface=nic0&port=&newWebsocket=True speaks relay.tunnel.cloudproxy.app:
 * binary messages, each a big-endian u16 tag and, by that,
 *
 *	1 CONNECT_SUCCESS_SID	u32 length, bytes: what to reconnect with
 *	2 RECONNECT_SUCCESS_ACK	u64: so much the relay has of us
 *	4 DATA			u32 length, at most 16384 bytes
 *	7 ACK			u64: so much the other side has in all
 *
 * A connection that breaks goes on at /v4/reconnect?sid=&ack=&newWebsocket=
 * True&zone=, with what was not acknowledged sent again.
 */
#ifndef JOBRUN_IAP_H
#define JOBRUN_IAP_H

#include "core/base/alloc.h"
#include "providers/google/google.h"

/* The command of jobrun that ssh is told to connect by (core/spec/spec.h). */
#define IAP_COMMAND "iap-tunnel"

struct iap_target {
	const char *project;
	const char *zone;
	const char *instance;
	long port;
};

/* How such a VM is called where ssh wants a host:
 * "INSTANCE.ZONE.PROJECT.iap.jobrun".  Returns new. */
char *iap_host(const struct iap_target *target);
/* The opposite, but for the port; lives in `mem`. */
int iap_host_parse(const char *host, struct arena *mem, struct iap_target *out,
		   struct error *err);

/*
 * Joins two descriptors with the port, until one side ends: `in` at its end, or
 * the VM.  ERROR_DENIED: the relay does not let us through; ERROR_UNREACHABLE:
 * it, or the VM's port, can't be reached.
 */
int iap_tunnel(struct google *google, const struct iap_target *target, int in,
	       int out, struct error *err);

#endif
