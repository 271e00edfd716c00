/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows shared by the tables of `jobrun: tpu-node:` and `jobrun: tpu-vm:`, in
 * the order in which the help lists them.  `block` is the provider's struct,
 * which must have members of these names.
 */
#ifndef JOBRUN_TPU_FIELDS_H
#define JOBRUN_TPU_FIELDS_H

#include "core/job/check.h"
#include "core/job/message.h"

/* clang-format off */

/* How long to retry when TPUs are out of stock. */
#define TPU_FIELD_WAIT(block) \
	{ .name = "waitForCapacity", \
	  .type = FIELD_DURATION, \
	  .fallback = "0s", \
	  .fallback_1 = "0s", \
	  .offset = offsetof(block, wait_for_capacity_s), \
	  .doc = "How long to keep trying when none of the zones has any." }

/* The network through which the VMs are reached. */
#define TPU_FIELDS_REACH(block) \
	{ .name = "externalIps", \
	  .type = FIELD_BOOL, \
	  .fallback = "true", \
	  .fallback_1 = "true", \
	  .offset = offsetof(block, external_ips), \
	  .doc = "Whether the VMs have external addresses." }, \
	{ .name = "iap", \
	  .type = FIELD_BOOL, \
	  .flags = FIELD_POSITION, \
	  .offset = offsetof(block, iap), \
	  .doc = "Whether jobrun reaches the VMs through Identity-Aware " \
		 "Proxy, with its own credentials; they then need no " \
		 "external addresses." }, \
	{ .name = "subnetwork", \
	  .type = FIELD_STRING, \
	  .offset = offsetof(block, subnetwork), \
	  .doc = "The subnetwork of the VMs." }

/* What the network and the service account allow the VMs to do. */
#define TPU_FIELDS_RIGHTS(block) \
	{ .name = "tags", \
	  .type = FIELD_STRINGS, \
	  .offset = offsetof(block, tags), \
	  .doc = "Network tags of the VMs, for firewall rules." }, \
	{ .name = "scopes", \
	  .type = FIELD_STRINGS, \
	  .offset = offsetof(block, scopes), \
	  .doc = "The access scopes of the VMs' service account; by default " \
		 "all of Google Cloud." }

/* What the VMs find when they start. */
#define TPU_FIELDS_BOOT(block) \
	{ .name = "metadata", \
	  .type = FIELD_PAIRS, \
	  .offset = offsetof(block, metadata), \
	  .doc = "Metadata of the VMs." }, \
	{ .name = "startupScript", \
	  .type = FIELD_STRING, \
	  .offset = offsetof(block, startup_script), \
	  .doc = "A script that runs as root when a VM starts, for instance " \
		 "to install packages; jobrun does not wait for it." }

/* How jobrun logs in to the VMs, and how long that may take. */
#define TPU_FIELDS_SSH(block) \
	{ .name = "sshUser", \
	  .type = FIELD_STRING, \
	  .flags = FIELD_POSITION, \
	  .check = check_login, \
	  .offset = offsetof(block, ssh_user), \
	  .doc = "The user to log in to the VMs as; by default the one who " \
		 "runs jobrun." }, \
	{ .name = "sshKey", \
	  .type = FIELD_STRING, \
	  .flags = FIELD_POSITION | FIELD_PATH, \
	  .offset = offsetof(block, ssh_key), \
	  .doc = "The file with the public key to install on the VMs; by " \
		 "default ~/.ssh/google_compute_engine.pub, id_ed25519.pub " \
		 "or id_rsa.pub." }, \
	{ .name = "readyTimeout", \
	  .type = FIELD_DURATION, \
	  .fallback = "30m", \
	  .flags = FIELD_POSITION, \
	  .offset = offsetof(block, ready_timeout_s), \
	  .doc = "How long the TPU may take to become usable, once the " \
		 "service creates it." }, \
	{ .name = "sshTimeout", \
	  .type = FIELD_DURATION, \
	  .fallback = "2m", \
	  .flags = FIELD_POSITION, \
	  .offset = offsetof(block, ssh_timeout_s), \
	  .doc = "How long its VMs may take to accept jobrun's login, once " \
		 "it is usable; after that the run fails." }

/* How often jobrun checks the TPU. */
#define TPU_FIELD_LOOK(block) \
	{ .name = "lookEvery", \
	  .type = FIELD_DURATION, \
	  .fallback = "30s", \
	  .flags = FIELD_POSITION, \
	  .offset = offsetof(block, look_every_s), \
	  .doc = "How often to ask for its state while the job runs." }

/* clang-format on */

#endif
