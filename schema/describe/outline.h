/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of job files as one tree: the tables of the messages, and below
 * `jobrun:` the blocks of the providers.  What `explain`, the JSON Schema and
 * the manual page say about fields, they say by walking it.
 */
#ifndef JOBRUN_OUTLINE_H
#define JOBRUN_OUTLINE_H

#include "core/job/message.h"
#include "core/provider/provider.h"

#define OUTLINE_PATH_MAX 512
#define OUTLINE_FIELDS_MAX 96
#define OUTLINE_PROVIDERS_MAX 32

/* The providers on offer, up to NULL; the first is the default. */
struct outline {
	const struct provider *providers[OUTLINE_PROVIDERS_MAX];
	const char *provider_names[OUTLINE_PROVIDERS_MAX];
};

/* A field and where it stands. */
struct outlined {
	struct field field; /* its name is NULL: the job itself */
	const struct message *parent;
	char path[OUTLINE_PATH_MAX]; /* "trainingInput.masterConfig" */
};

/* Borrows the providers. */
void outline_init(struct outline *all, const struct provider *const *providers);

/*
 * The fields of a message as a file has them, in the order of their rows:
 * the blocks of the providers, and their names as the values of `provider`,
 * are there too.  Returns their number.
 */
size_t outline_fields(const struct outline *all, const struct message *message,
		      struct field out[OUTLINE_FIELDS_MAX]);

/*
 * Finds a field by its path, in either spelling.  Items of lists and keys of
 * maps may be there or not: params.type, params[0].type, secrets.TOKEN.env.
 * A path may start anywhere where it is the only one of its kind: workerType,
 * scheduling.priority.  An error says which was meant.
 */
int outline_find(const struct outline *all, const char *path,
		 struct outlined *out, struct error *err);

/* "list of texts"; borrowed, or written into `out`. */
#define OUTLINE_TYPE_SIZE 96
const char *outline_type(const struct field *field,
			 char out[OUTLINE_TYPE_SIZE]);

/* "0 to 1000", "at least 1800s", or NULL if there is no limit to speak of. */
const char *outline_range(const struct field *field,
			  char out[OUTLINE_TYPE_SIZE]);

/* Whether it is the API's name for no value: it is not offered. */
bool outline_is_unspecified(const char *value);

/* The first sentence of a text; its length. */
size_t outline_sentence(const char *doc);

/* What is below the field, or NULL. */
const struct message *outline_below(const struct field *field);

/* What becomes of the field at a provider: NULL if the provider does not
 * say, "" if it does nothing with it. */
const char *outline_use(const struct outline *all,
			const struct provider *provider, const char *path);

#endif
