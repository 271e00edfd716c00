/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `doctor` about Google Cloud: credentials, project, region, zone,
 * and whether the services answer. */
#ifndef JOBRUN_DOCTOR_GOOGLE_H
#define JOBRUN_DOCTOR_GOOGLE_H

struct checks;

/* `trace_http`: the file that records requests, or NULL. */
void doctor_google(const char *trace_http, struct checks *all);

#endif
