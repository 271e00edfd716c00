/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/reaper.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "core/base/alloc.h"

#define SLOTS_FIRST 64 /* a power of two */

struct watched {
	pid_t pid; /* 0: free */
	reaper_call *call;
	void *arg;
};

/* A hash table with linear probing, as thousands of tasks may end at once. */
struct reaper {
	struct watched *slots;
	size_t size;
	size_t count;
};

struct reaper *reaper_new(void)
{
	struct reaper *reaper = mem_alloc(sizeof(*reaper));

	reaper->size = SLOTS_FIRST;
	reaper->slots = mem_alloc(reaper->size * sizeof(*reaper->slots));
	return reaper;
}

void reaper_free(struct reaper *reaper)
{
	if (!reaper)
		return;
	free(reaper->slots);
	free(reaper);
}

size_t reaper_count(const struct reaper *reaper)
{
	return reaper->count;
}

/* Pids are assigned in sequence, so they spread by themselves. */
static size_t home(const struct reaper *reaper, pid_t pid)
{
	return (size_t)pid & (reaper->size - 1);
}

/* The pid's slot, or the free slot where it would go. */
static struct watched *find(const struct reaper *reaper, pid_t pid)
{
	size_t i = home(reaper, pid);

	while (reaper->slots[i].pid && reaper->slots[i].pid != pid)
		i = (i + 1) & (reaper->size - 1);
	return &reaper->slots[i];
}

static void grow(struct reaper *reaper)
{
	struct watched *old = reaper->slots;
	size_t old_size = reaper->size;

	reaper->size *= 2;
	reaper->slots = mem_alloc(reaper->size * sizeof(*reaper->slots));
	for (size_t i = 0; i < old_size; i++)
		if (old[i].pid)
			*find(reaper, old[i].pid) = old[i];
	free(old);
}

void reaper_watch(struct reaper *reaper, pid_t pid, reaper_call *call,
		  void *arg)
{
	if (reaper->count * 2 >= reaper->size)
		grow(reaper);
	*find(reaper, pid) =
		(struct watched){ .pid = pid, .call = call, .arg = arg };
	reaper->count++;
}

/* Frees the slot, and moves up the entries that it displaced. */
static void forget(struct reaper *reaper, struct watched *slot)
{
	size_t mask = reaper->size - 1;
	size_t hole = (size_t)(slot - reaper->slots);
	size_t i = hole;

	for (;;) {
		struct watched *next;

		i = (i + 1) & mask;
		next = &reaper->slots[i];
		if (!next->pid)
			break;
		if (((i - home(reaper, next->pid)) & mask) >=
		    ((i - hole) & mask)) {
			reaper->slots[hole] = *next;
			hole = i;
		}
	}
	reaper->slots[hole] = (struct watched){ 0 };
	reaper->count--;
}

void reaper_forget(struct reaper *reaper, pid_t pid)
{
	struct watched *slot = find(reaper, pid);

	if (slot->pid)
		forget(reaper, slot);
}

bool reaper_run(struct reaper *reaper)
{
	struct watched *slot, ended;
	siginfo_t info;
	int status;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return false;
		if (!info.si_pid)
			return true;
		slot = find(reaper, info.si_pid);
		/* The group's id cannot be reused until its leader is
		 * reaped. */
		if (slot->pid)
			kill(-info.si_pid, SIGKILL);
		if (waitpid(info.si_pid, &status, WNOHANG) <= 0)
			return true;
		if (!slot->pid)
			continue;
		ended = *slot;
		forget(reaper, slot);
		ended.call(ended.arg, status);
	}
}
