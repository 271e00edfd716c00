/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a job's objects, and the labels that find them. */
#ifndef JOBRUN_KUBE_NAMES_H
#define JOBRUN_KUBE_NAMES_H

#include <jansson.h>

#include "core/job/job.h"

/* Longer names leave no room for the suffixes of controllers: a pod's name is
 * its host's name, which has at most 63 characters. */
#define KUBE_NAME_MAX 40
#define KUBE_LABEL_MAX 63

#define KUBE_LABEL_JOB "jobrun-job"
#define KUBE_LABEL_DIGEST "jobrun-digest"
#define KUBE_LABEL_ATTEMPT "jobrun-attempt"
#define KUBE_LABEL_CLEANUP "jobrun-cleanup"
/* Annotations, for values that are too long for a label. */
#define KUBE_NOTE_JOB "jobrun-job"
#define KUBE_NOTE_DIGEST "jobrun-digest"
#define KUBE_NOTE_DIGEST_2 "jobrun-digest-2"
#define KUBE_NOTE_SET "jobrun-applyset"
#define KUBE_NOTE_ORIGIN "jobrun-origin"
#define KUBE_NOTE_EXPIRES "jobrun-expires"
#define KUBE_NOTE_PROPERTIES "jobrun-properties"

/*
 * "resnet_Pod" gives "resnet-pod-1a2b3c4d": lower-case letters, digits and '-'.
 * A name that was changed or cut gets a checksum, so that two jobs hardly ever
 * share a name; an annotation names the owner of an object.  In `mem`.
 */
const char *kube_name(const char *job_id, struct arena *mem);

/* The metadata of an object of the job: name, labels and any further
 * annotations.  Returns new. */
json_t *kube_metadata(const struct job *job, const char *name);

#endif
