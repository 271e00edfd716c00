/* SPDX-License-Identifier: Apache-2.0 */
/* What has happened to the names in a watched directory, in the order of
 * events. */
#ifndef JOBRUN_CHECKPOINT_NEWS_H
#define JOBRUN_CHECKPOINT_NEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checkpoint_event {
	char *name;
	uint32_t what; /* events of inotify */
};

struct checkpoint_news {
	struct checkpoint_event *items;
	size_t count;
};

/* Takes the events of an inotify descriptor; -1: there are none.  If some are
 * lost in an overflow, the quiet period decides. */
void checkpoint_news_take(struct checkpoint_news *news, int inotify);
bool checkpoint_news_has(const struct checkpoint_news *news, uint32_t what,
			 const char *name);
void checkpoint_news_forget(struct checkpoint_news *news);

#endif
