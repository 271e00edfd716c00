/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the provider of a job can do, and what holds where it runs jobs.  A
 * provider lists its traits in its table; fields, rules and commands ask for
 * traits, and none of them knows a provider by its name.
 */
#ifndef JOBRUN_TRAITS_H
#define JOBRUN_TRAITS_H

#include <stdbool.h>

enum trait {
	/* It is for tests of jobrun itself: it works, and is not offered. */
	TRAIT_HIDDEN = 1 << 0,

	/* A supervisor on this machine runs the tasks, here or over ssh. */
	TRAIT_SUPERVISED = 1 << 1,
	/* jobrun starts the program itself, in an environment that it makes:
	 * neither an image nor a service does. */
	TRAIT_STARTS_PROGRAM = 1 << 2,
	/* jobrun runs beside each task: it streams data, keeps checkpoints and
	 * restarts what failed. */
	TRAIT_BESIDE_TASKS = 1 << 3,
	/* jobrun gets beside the tasks by the image that `launcher` names in
	 * the provider's block. */
	TRAIT_LAUNCHER = 1 << 4,

	/* Tasks run on this machine, or on hosts that the file names, and what
	 * they write stays in reach. */
	TRAIT_THIS_MACHINE = 1 << 5,
	/* It makes the machines that the tasks run on. */
	TRAIT_MAKES_MACHINES = 1 << 6,
	/* Jobs of several people wait for the same machines. */
	TRAIT_QUEUE = 1 << 7,

	/* It is on Google Cloud: regions, zones, service accounts. */
	TRAIT_GOOGLE_CLOUD = 1 << 8,
	/* It is a managed training service of Google's. */
	TRAIT_MANAGED = 1 << 9,
	/* The closed world of AI Platform Training: its own lists of machine
	 * types, regions and versions hold, and nothing newer. */
	TRAIT_AI_PLATFORM_RULES = 1 << 10,

	/* Several processes of the program run on each of its machines, if the
	 * job asks for that. */
	TRAIT_PROCESSES = 1 << 11,
	/* Its jobs wait in an order that scheduling.priority has a say in. */
	TRAIT_PRIORITY = 1 << 12,
};

/* AI Platform Training's: they hold too where no provider was given, as most
 * files were written for it. */
#define TRAITS_AI_PLATFORM                                                     \
	(TRAIT_GOOGLE_CLOUD | TRAIT_MANAGED | TRAIT_QUEUE | TRAIT_PRIORITY |   \
	 TRAIT_AI_PLATFORM_RULES)

/* Whether all the needed ones are there. */
static inline bool traits_have(unsigned traits, unsigned needed)
{
	return (traits & needed) == needed;
}

#endif
