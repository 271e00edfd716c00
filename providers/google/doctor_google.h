/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `doctor` about Google Cloud: credentials, project, region, zone,
 * and whether the services answer. */
#ifndef JOBRUN_DOCTOR_GOOGLE_H
#define JOBRUN_DOCTOR_GOOGLE_H

struct checks;
struct provider_env;

void doctor_google(const struct provider_env *env, struct checks *all);

#endif
