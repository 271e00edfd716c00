/* SPDX-License-Identifier: Apache-2.0 */
/* What a daemon takes up when it starts: the run of an earlier daemon, and
 * files that nobody has used for long. */
#include "cmd/jobrun-host/agent.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/text.h"
#include "core/process/process.h"

#define CACHE_DAYS 30

/* Ends what an earlier daemon has begun, which was killed, or the host went
 * down. */
void agent_take_up(struct agent *agent)
{
	static const char why[] = "the agent was killed, or the host restarted";
	/* More than any frame has, except OUTPUT. */
	char start[8192];
	enum frame_type last = FRAME_OUTPUT;
	struct frame_event event;
	struct frame frame;
	uint64_t at = spool_start(agent->spool), end = at;
	size_t used;
	char *mark;

	for (; (end = spool_end(agent->spool, at, 1)) > at; at = end) {
		size_t n = spool_read(agent->spool, at, start, sizeof(start));

		if (frame_is_pad(start, n))
			continue;
		if (frame_find(start, n, &frame, &used) != FRAME_WHOLE)
			frame.type = FRAME_OUTPUT;
		if (frame.type != FRAME_FREED)
			last = frame.type;
		if (frame.type == FRAME_ROUND &&
		    frame_get_event(&frame, &event))
			agent->round = event.round;
	}
	if (last != FRAME_ALL_ENDED) {
		mark = mem_printf("JOBRUN_RUN_DIR=%s/output", agent->folder);
		process_end_marked(mark);
		free(mark);
		agent_report(agent, FRAME_ALL_ENDED, 0, 0, why);
	}
	agent->state = AGENT_ENDED;
	/* How far it got is not known: what killed it may do so again. */
	agent->prepared = true;
}

/* Removes shipped files and agents that nobody has used for long; each use
 * updates their time. */
void agent_tidy_cache(const struct agent *agent)
{
	time_t oldest = time(NULL) - CACHE_DAYS * 24 * 3600;
	DIR *dir = opendir(agent->cache);
	struct dirent *entry;
	struct stat st;

	/* This agent is in use. */
	utimensat(AT_FDCWD, "/proc/self/exe", NULL, 0);
	while (dir && (entry = readdir(dir))) {
		if (!text_starts(entry->d_name, "ship-") &&
		    !text_starts(entry->d_name, "host-"))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_mtime < oldest)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}
