/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a checked job as a job file: the effective job with its defaults
 * filled in, which has the same digest when it is read. */
#ifndef JOBRUN_RENDER_YAML_H
#define JOBRUN_RENDER_YAML_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/job/job.h"

int render_yaml(const struct job *job, struct buf *out, struct error *err);

#endif
