/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jansson helpers that several places need.  All JSON is read and written
 * through jansson.
 */
#ifndef JOBRUN_JSON_H
#define JOBRUN_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* The key of an object that stands for a value that is secret or known only
 * after apply.  No API uses this name, and job files may not. */
#define JSON_PLACEHOLDER_KEY "$jobrun"

struct arena;

/* To be called once, before anything else: makes jansson end the process when
 * memory is out. */
void json_init(void);

/* Keys sorted, no white space: equal values give equal bytes.  Returns new. */
char *json_canonical(const json_t *value);

/* Indents by two, keeps the keys in their order of insertion, ends with a
 * newline. */
void json_print(const json_t *value, struct buf *out);
/* Adds it in one line without the newline. */
void json_print_short(const json_t *value, struct buf *out);

/* Returns new, or NULL; errors call the input `name`. */
json_t *json_read(const char *text, size_t len, const char *name,
		  struct error *err);

/* Reads a file of at most `max` bytes; `out` is new.  Returns 1 if there is no
 * file. */
int json_file_read(const char *path, size_t max, json_t **out,
		   struct error *err);
/* Writes the canonical form to a new file, then renames it over the old one. */
int json_file_write(const char *path, const json_t *value, struct error *err);

/* Takes `value`.  The key must be new, to keep the order. */
void json_put(json_t *object, const char *key, json_t *value); /* takes */
/* NULL becomes a JSON null; bytes that are not UTF-8 become U+FFFD. */
void json_put_text(json_t *object, const char *key, const char *text);
void json_put_int(json_t *object, const char *key, long long value);
json_t *json_text(const char *text); /* as json_put_text; returns new */
/* An array of strings; returns new. */
json_t *json_texts(const char *const *texts, size_t count);

/* Borrowed; `fallback` if the key is missing or not a string. */
const char *json_get_text(const json_t *object, const char *key,
			  const char *fallback);
/* The same, copied into `mem`; or NULL. */
const char *json_copy_text(const json_t *object, const char *key,
			   struct arena *mem);
long long json_get_int(const json_t *object, const char *key,
		       long long fallback);

#endif
