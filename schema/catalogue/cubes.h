/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of TPUs that consist of cubes of 4x4x4 chips. */
#ifndef JOBRUN_CUBES_H
#define JOBRUN_CUBES_H

#include "core/job/catalogue.h"

/*
 * Adds to the slices of a generation those of one cube to `cubes`, one of each
 * size: that with the shortest longest side.  No side is longer than 64 cubes.
 * Their names, counts and the form of their topologies follow the first slice
 * that is listed.
 */
void slices_of_cubes(struct tpu *tpu);

#endif
