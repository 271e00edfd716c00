/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates AI Platform's message to Vertex AI's: a CustomJob, or with
 * hyperparameters a HyperparameterTuningJob.
 *
 * Facts: the discovery document of aiplatform v1, and the docs "Migrate custom
 * training jobs", "Configure compute resources", "Training with TPU
 * accelerators" of Vertex AI.
 */
#ifndef JOBRUN_VERTEXAI_TRANSLATE_H
#define JOBRUN_VERTEXAI_TRANSLATE_H

#include <jansson.h>

#include "core/job/catalogue.h"
#include "core/job/job.h"

/* A field without a counterpart there. */
struct left_out {
	const char *path; /* "trainingInput.scheduling.maxWaitTime" */
	const char *why;  /* includes what to do instead */
	bool needed;      /* the job can't run without it */
};

struct vertex_job {
	json_t *body;           /* owned; see vertex_job_done() */
	const char *collection; /* "customJobs" */
	const char *location;   /* its region; NULL: the file has none */
	/* What runtimeVersion stands for: "IMAGE, IMAGE"; NULL: nothing. */
	const char *prebuilt;
	struct left_out *left; /* in the order of the job's fields */
	size_t left_count;
};

/*
 * `packages` are the gs:// URLs that replace packageUris; NULL keeps those of
 * the file.  `labels` are added to the job's own.  Strings live in `mem`.
 * Fails only if the job itself is wrong.
 */
int vertex_translate(const struct job *job, const struct catalogue *catalogue,
		     const struct strings *packages, const struct pairs *labels,
		     struct arena *mem, struct vertex_job *out,
		     struct error *err);
void vertex_job_done(struct vertex_job *translated);

#endif
