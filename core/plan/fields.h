/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a job's file that no property of its resources shows.  A
 * reviewer must see all that decides what runs: what a provider does not
 * describe is listed as the file has it, so that no field, however new, is
 * hidden.
 */
#ifndef JOBRUN_FIELDS_H
#define JOBRUN_FIELDS_H

#include "core/plan/plan.h"

struct arena;

/* Fills in `fields` of the planned job; `keep` will own their values. */
void fields_find(struct plan_job *job, struct arena *mem, json_t *keep);

#endif
