/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/checkpoint_news.h"

#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/checkpoint/checkpoint_scan.h"

static void add(struct checkpoint_news *news, const struct inotify_event *event)
{
	if (!event->len || checkpoint_scan_is_part(event->name))
		return;
	news->items =
		mem_grow(news->items, news->count + 1, sizeof(*news->items));
	news->items[news->count++] =
		(struct checkpoint_event){ .name = mem_strdup(event->name),
					   .what = event->mask };
}

void checkpoint_news_take(struct checkpoint_news *news, int inotify)
{
	_Alignas(struct inotify_event) char data[16384];
	const struct inotify_event *event;
	ssize_t len, at;

	while (inotify >= 0 && (len = read(inotify, data, sizeof(data))) > 0)
		for (at = 0; at < len;
		     at += (ssize_t)(sizeof(*event) + event->len)) {
			event = (const void *)(data + at);
			add(news, event);
		}
}

bool checkpoint_news_has(const struct checkpoint_news *news, uint32_t what,
			 const char *name)
{
	for (size_t i = 0; i < news->count; i++)
		if (news->items[i].what & what &&
		    !strcmp(news->items[i].name, name))
			return true;
	return false;
}

void checkpoint_news_forget(struct checkpoint_news *news)
{
	for (size_t i = 0; i < news->count; i++)
		free(news->items[i].name);
	free(news->items);
	*news = (struct checkpoint_news){ 0 };
}
