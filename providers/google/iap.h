/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP to a port of a VM without an external address, through Google's
 * Identity-Aware Proxy, like `gcloud compute start-iap-tunnel`.
 *
 * The relay's protocol is published as code only: Google Cloud SDK,
 * googlecloudsdk/api_lib/compute/iap_tunnel_websocket.py and
 * iap_tunnel_websocket_utils.py; the VM is selected by name, project and zone,
 * as `gcloud compute ssh` and `gcloud alpha compute tpus tpu-vm ssh
 * --tunnel-through-iap` do (command_lib/compute/tpus/tpu_vm/ util.py).
 * wss://tunnel.cloudproxy.app/v4/connect?project=&zone=&instance=
 * &interface=nic0&port=&newWebsocket=True speaks relay.tunnel.cloudproxy.app:
 * binary messages, each a big-endian u16 tag followed by
 *
 *	1 CONNECT_SUCCESS_SID	u32 length, bytes: the id for reconnecting
 *	2 RECONNECT_SUCCESS_ACK	u64: the bytes that the relay has from us
 *	4 DATA			u32 length, at most 16384 bytes
 *	7 ACK			u64: the bytes that the other side has in all
 *
 * A broken connection is resumed at /v4/reconnect?sid=&ack=&newWebsocket=
 * True&zone=, and unacknowledged data is sent again.
 */
#ifndef JOBRUN_IAP_H
#define JOBRUN_IAP_H

#include "core/base/alloc.h"
#include "providers/google/google.h"

/* The jobrun command that ssh connects through (core/spec/spec.h). */
#define IAP_COMMAND "iap-tunnel"

struct iap_target {
	const char *project;
	const char *zone;
	const char *instance;
	long port;
};

/* The name of such a VM where ssh expects a host:
 * "INSTANCE.ZONE.PROJECT.iap.jobrun".  Returns new. */
char *iap_host(const struct iap_target *target);
/* The reverse, except for the port; lives in `mem`. */
int iap_host_parse(const char *host, struct arena *mem, struct iap_target *out,
		   struct error *err);

/*
 * Relays between two descriptors and the port, until one side ends: `in` at its
 * end, or the VM.  ERROR_DENIED: the relay refuses us; ERROR_UNREACHABLE: the
 * relay or the VM's port can't be reached.
 */
int iap_tunnel(struct google *google, const struct iap_target *target, int in,
	       int out, struct error *err);

#endif
