/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few things that we do with jansson in more than one place.  All JSON
 * that is read or written goes through jansson.
 */
#ifndef JOBRUN_JSON_H
#define JOBRUN_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* The key of an object that stands for a value which is secret, or known only
 * after apply.  No API has a name like it, and job files may not use it. */
#define JSON_PLACEHOLDER_KEY "$jobrun"

struct arena;

/* Once, before all else: values end the process where memory is out. */
void json_init(void);

/* Keys sorted, no white space: equal values are equal bytes.  Returns new. */
char *json_canonical(const json_t *value);

/* Indented by two, keys in the order of their making, newline at the end. */
void json_print(const json_t *value, struct buf *out);

/* Returns new, or NULL; `name` is what the text is called in the error. */
json_t *json_read(const char *text, size_t len, const char *name,
		  struct error *err);

/* A file's, of at most `max` bytes: `out` is new.  Returns 1 if there is no
 * file. */
int json_file_read(const char *path, size_t max, json_t **out,
		   struct error *err);
/* In canonical form, beside the old one and then renamed. */
int json_file_write(const char *path, const json_t *value, struct error *err);

/* Makes and sets, in one step; the key must be new to keep the order. */
void json_put(json_t *object, const char *key, json_t *value); /* takes */
/* NULL gives a JSON null; bytes that are no UTF-8 are replaced by U+FFFD. */
void json_put_text(json_t *object, const char *key, const char *text);
void json_put_int(json_t *object, const char *key, long long value);
json_t *json_text(const char *text); /* as json_put_text; returns new */
/* An array of texts; returns new. */
json_t *json_texts(const char *const *texts, size_t count);

/* Borrowed, or `fallback` if there is none or it has another type. */
const char *json_get_text(const json_t *object, const char *key,
			  const char *fallback);
/* The same in `mem`, or NULL. */
const char *json_copy_text(const json_t *object, const char *key,
			   struct arena *mem);
long long json_get_int(const json_t *object, const char *key,
		       long long fallback);

#endif
