/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the saver's process. */
#ifndef JOBRUN_SAVER_INTERNAL_H
#define JOBRUN_SAVER_INTERNAL_H

#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/checkpoint/checkpoint_store.h"
#include "core/checkpoint/checkpoint_watch.h"
#include "core/spec/saver_config.h"
#include "core/spec/upload_event.h"
#include "core/checkpoint/saver_metric.h"

struct keeping {
	struct object_store *objects;
	struct arena *mem;
	struct saver_config config;
	struct checkpoint_order order;
	struct checkpoint_store *store; /* NULL: not stored anywhere else */
	/* the contents of the store are known */
	bool is_read;
	struct checkpoint_watch *watch;
	struct saver_metric *metric; /* NULL: not opened yet */
	struct buf input;
	bool is_ending;
	struct saver_end end; /* valid then */

	const struct checkpoint_known *copying; /* or NULL */
	int64_t failing_since_ms;               /* 0: the store works */
	char failing_text[512];
	int64_t retry_ms, retry_at_ms;
};

void saver_say(struct keeping *k, enum upload_event_kind kind,
	       const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reports a skipped checkpoint; for checkpoint_store_read(). */
void saver_skipped(void *keeping, const char *what, const char *why);

/* Names a folder that nothing says is complete. */
void saver_say_unconfirmed(struct keeping *k, struct checkpoint_known *known);

/* Finds the checkpoint to resume from and brings it to this machine: `path` is
 * new, or NULL. */
int saver_choose(struct keeping *k, char **path, struct error *err);

#endif
