/* SPDX-License-Identifier: Apache-2.0 */
/* Which machines Vertex AI has in which way, and for how long. */
#ifndef JOBRUN_VERTEXAI_FIT_H
#define JOBRUN_VERTEXAI_FIT_H

struct catalogue;
struct job;
struct misfits;

/* The names of all ways, NULL-terminated: the values of the field. */
extern const char *const vertex_strategy_names[];

/* Finds what the job asks for in its block that the service does not have. */
void vertex_ai_fit(const struct job *job, const struct catalogue *catalogue,
		   struct misfits *out);

#endif
