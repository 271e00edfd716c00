/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job's provider can do, and what holds where it runs jobs.  A provider
 * lists its traits in its table; fields, rules and commands check traits, never
 * the name of a provider.
 */
#ifndef JOBRUN_TRAITS_H
#define JOBRUN_TRAITS_H

#include <stdbool.h>

enum trait {
	/* For jobrun's own tests: works, but is not offered to users. */
	TRAIT_HIDDEN = 1 << 0,

	/* A supervisor on this machine runs the tasks, here or over ssh. */
	TRAIT_SUPERVISED = 1 << 1,
	/* jobrun starts the program itself, in an environment that it sets up,
	 * rather than an image or a service doing so. */
	TRAIT_STARTS_PROGRAM = 1 << 2,
	/* jobrun runs beside each task: it streams data, saves checkpoints and
	 * restarts failed tasks. */
	TRAIT_BESIDE_TASKS = 1 << 3,
	/* The image named by `launcher` in the provider's block brings jobrun
	 * to the tasks. */
	TRAIT_LAUNCHER = 1 << 4,

	/* Tasks run on this machine, or on hosts named in the file, and their
	 * output stays within reach. */
	TRAIT_THIS_MACHINE = 1 << 5,
	/* The provider creates the machines that the tasks run on. */
	TRAIT_MAKES_MACHINES = 1 << 6,
	/* Jobs of several people wait for the same machines. */
	TRAIT_QUEUE = 1 << 7,

	/* The provider is on Google Cloud: regions, zones, service accounts. */
	TRAIT_GOOGLE_CLOUD = 1 << 8,
	/* The provider is a managed training service of Google's. */
	TRAIT_MANAGED = 1 << 9,
	/* The closed world of AI Platform Training: only its own lists of
	 * machine types, regions and versions are valid. */
	TRAIT_AI_PLATFORM_RULES = 1 << 10,

	/* Each machine runs several processes of the program if the job asks
	 * for that. */
	TRAIT_PROCESSES = 1 << 11,
	/* Jobs wait in an order that scheduling.priority affects. */
	TRAIT_PRIORITY = 1 << 12,
};

/* The traits of AI Platform Training.  They also apply if no provider was
 * given, as most files were written for it. */
#define TRAITS_AI_PLATFORM                                                     \
	(TRAIT_GOOGLE_CLOUD | TRAIT_MANAGED | TRAIT_QUEUE | TRAIT_PRIORITY |   \
	 TRAIT_AI_PLATFORM_RULES)

/* Whether all `needed` traits are present. */
static inline bool traits_have(unsigned traits, unsigned needed)
{
	return (traits & needed) == needed;
}

#endif
