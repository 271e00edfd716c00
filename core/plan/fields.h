/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a job's file that no property of its resources shows.  A
 * reviewer must see everything that decides what runs, so fields that a
 * provider does not describe are listed as in the file, and none is hidden,
 * however new.
 */
#ifndef JOBRUN_FIELDS_H
#define JOBRUN_FIELDS_H

#include "core/plan/plan.h"

struct arena;

/* Fills in `fields` of the planned job; `keep` will own their values. */
void fields_find(struct plan_job *job, struct arena *mem, json_t *keep);

#endif
