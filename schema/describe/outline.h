/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of job files as one tree: the tables of the messages, and below
 * `jobrun:` the blocks of the providers.  `explain`, the JSON Schema and the
 * manual page walk this tree.
 */
#ifndef JOBRUN_OUTLINE_H
#define JOBRUN_OUTLINE_H

#include "core/job/message.h"
#include "core/provider/provider.h"

#define OUTLINE_PATH_MAX 512
#define OUTLINE_FIELDS_MAX 96
#define OUTLINE_PROVIDERS_MAX 32

/* The providers on offer, NULL-terminated; the first is the default. */
struct outline {
	const struct provider *providers[OUTLINE_PROVIDERS_MAX];
	const char *provider_names[OUTLINE_PROVIDERS_MAX];
};

/* A field and its position. */
struct outlined {
	struct field field; /* its name is NULL: the job itself */
	const struct message *parent;
	char path[OUTLINE_PATH_MAX]; /* "trainingInput.masterConfig" */
};

/* Borrows the providers. */
void outline_init(struct outline *all, const struct provider *const *providers);

/*
 * The fields of a message as in a file, in the order of their rows; includes
 * the blocks of the providers, and their names as the values of `provider`.
 * Returns their number.
 */
size_t outline_fields(const struct outline *all, const struct message *message,
		      struct field out[OUTLINE_FIELDS_MAX]);

/*
 * Finds a field by its path, in either spelling.  Indexes of lists and keys of
 * maps are optional: params.type, params[0].type, secrets.TOKEN.env.  A path
 * may be a suffix if that is unambiguous: workerType, scheduling.priority.  An
 * error names the field that was probably meant.
 */
int outline_find(const struct outline *all, const char *path,
		 struct outlined *out, struct error *err);

/* "list of texts"; borrowed, or written into `out`. */
#define OUTLINE_TYPE_SIZE 96
const char *outline_type(const struct field *field,
			 char out[OUTLINE_TYPE_SIZE]);

/* "0 to 1000", "at least 1800s", or NULL if there is no relevant limit. */
const char *outline_range(const struct field *field,
			  char out[OUTLINE_TYPE_SIZE]);

/* Whether the value is the API's word for "unspecified", which is not
 * offered. */
bool outline_is_unspecified(const char *value);

/* The length of the first sentence of a text. */
size_t outline_sentence(const char *doc);

/* The message below the field, or NULL. */
const struct message *outline_below(const struct field *field);

/* The provider whose block is, or has, the path; NULL: none. */
const struct provider *outline_owner(const struct outline *all,
				     const char *path);

/* How a provider uses the field: NULL if the provider does not say, "" if it
 * ignores it. */
const char *outline_use(const struct outline *all,
			const struct provider *provider, const char *path);

#endif
