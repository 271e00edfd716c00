/* SPDX-License-Identifier: Apache-2.0 */
/* TPU slices that consist of cubes of 4x4x4 chips. */
#ifndef JOBRUN_CUBES_H
#define JOBRUN_CUBES_H

#include "core/job/catalogue.h"

/*
 * Adds to a generation's slices those of one to `cubes` cubes, one of each
 * size: the one with the shortest longest side.  No side is longer than 64
 * cubes.  Their names, counts and topologies have the form of the first listed
 * slice.
 */
void slices_of_cubes(struct tpu *tpu);

#endif
