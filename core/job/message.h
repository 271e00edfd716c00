/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes what a job file may hold, as tables.  A message is a C struct whose
 * members are described by an array of `struct field`.  Each field of a job
 * file is declared once, as one such row; loading, validation, defaults, help,
 * the digest and every rendering walk the rows.
 *
 * The tables themselves are in schema/ and, for fields of one provider only, in
 * that provider's folder.
 *
 * The program's own files (the specification of a run, for instance) are read
 * and written by the same tables.  Their structs are plain: they need no head,
 * and every field is written.
 */
#ifndef JOBRUN_MESSAGE_H
#define JOBRUN_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct arena;
struct catalogue;
struct job;
struct message;
struct misfits;
struct node; /* a position in a job file: schema/yaml/node.h */

/*
 * The type of a member of the message's struct, by field type:
 *	FIELD_STRING			const char *	(NULL: not set)
 *	FIELD_INT, FIELD_DURATION	long		(a duration: seconds)
 *	FIELD_DOUBLE			double
 *	FIELD_BOOL			bool
 *	FIELD_ENUM			int, an index into `values`
 *	FIELD_STRINGS			struct strings
 *	FIELD_DOUBLES			struct doubles
 *	FIELD_PAIRS			struct pairs	(a map of strings)
 *	FIELD_MESSAGE			the struct of `message` itself
 *	FIELD_MESSAGES			struct messages	(a list)
 *	FIELD_TREE			const char *	(a map of anything, as
 *					JSON; NULL: not set)
 *	FIELD_NAMED			struct messages	(a map: the key is
 *					written to the struct's first member
 *					after the head, a const char *)
 *
 * In a plain struct, by `size`, an INT may be an int or unsigned, a BOOL an
 * enum of two values.
 */
enum field_type {
	FIELD_STRING,
	FIELD_INT,
	FIELD_DURATION,
	FIELD_DOUBLE,
	FIELD_BOOL,
	FIELD_ENUM,
	FIELD_STRINGS,
	FIELD_DOUBLES,
	FIELD_PAIRS,
	FIELD_TREE,
	FIELD_MESSAGE,
	FIELD_MESSAGES,
	FIELD_NAMED,
};

enum field_flag {
	/* set by the service; accepted, but has no effect */
	FIELD_OUTPUT = 1 << 0,
	FIELD_INT64 = 1 << 1, /* an int64: a string in the API's JSON */
	/* says where the job is, not what it does: left out of the digest */
	FIELD_POSITION = 1 << 2,
	FIELD_REQUIRED = 1 << 3,
	/* strings that look like numbers in YAML need no quotes; in a tree,
	 * everything but true and false is a string */
	FIELD_NUMBERS = 1 << 4,
	/* the path of a file or directory, unless it is a URL: relative to the
	 * file that says it */
	FIELD_PATH = 1 << 6,
	/* a list whose only item may be written without the list */
	FIELD_SINGLE = 1 << 5,
	/* The name of a provider; whoever loads the file knows all names and
	 * the default. */
	FIELD_PROVIDER = 1 << 7,
	/* In plain structs: left out if it is null, 0, false or empty; a
	 * message is left out if one of its required fields is. */
	FIELD_OPTIONAL = 1 << 8,
	/* A list stored as a pointer to the first item, followed by a
	 * size_t. */
	FIELD_ARRAY = 1 << 9,
	FIELD_JSON = 1 << 10, /* a string of JSON, written as JSON */
	/* A message whose presence means something: `render` writes its
	 * defaults only if the file has it. */
	FIELD_PRESENCE = 1 << 11,
	/* of MESSAGES: an item may be written as the value of its message's
	 * first field alone */
	FIELD_SHORT = 1 << 12,
};

/* Reports a problem in a tree: its path ("a.b[2]") and how to fix it, or
 * NULL. */
typedef void tree_tell(void *ctx, const char *path, const char *text,
		       const char *hint);

struct field {
	const char *name; /* camelCase, as in the API's JSON */
	enum field_type type;
	unsigned flags;
	size_t offset;
	const struct message *message; /* for the MESSAGE types and NAMED */
	/* The allowed values of an ENUM, or of a STRING with few values;
	 * NULL-terminated.  In an ENUM that begins with "false" and "true"
	 * these two are booleans. */
	const char *const *values;
	/* For a STRING in capitals: the API's word for "unspecified".  Other
	 * cases are accepted, with a warning. */
	const char *unspecified;
	const char *fallback; /* the default, as a file would write it */
	/*
	 * The default that the digests use whatever `fallback` becomes, as
	 * digests outlive releases.  `fallback_1` is for the fields that digest
	 * 1 knows; other rows have none.  `fallback_2` is the `fallback` before
	 * its first change, "" if it had none; only rows without `fallback_1`
	 * need one.  A new message of older rows also says "", as digest 1
	 * would hash their defaults.
	 */
	const char *fallback_1, *fallback_2;
	long min, max; /* for INT and DURATION; 0, 0: any >= 0 */
	/*
	 * Checks the form of a string (each string of a list, each value of a
	 * map; for FIELD_NAMED, each key).  Returns -1 with what was expected,
	 * for instance "must be a gs:// URL".
	 */
	int (*check)(const char *value, struct error *err);
	/* The same for each key of FIELD_PAIRS. */
	int (*check_key)(const char *key, struct error *err);
	/* Reports everything wrong in a FIELD_TREE. */
	void (*check_tree)(const json_t *tree, tree_tell *tell, void *ctx);
	/* Another field of the message; if it is given, this required field is
	 * optional. */
	const char *unless;
	const char *doc; /* one or more sentences; for explain and manual */
	const char *deprecated; /* what to write instead: "use spot"; or NULL */
	/* Only providers with all these traits (core/job/traits.h) honour the
	 * field.  0: every provider does, or the field means nothing there. */
	unsigned traits;
	size_t size; /* of the member of a plain struct */
	/* in a plain struct: an earlier field that must be written for this one
	 * to be */
	const char *with;
};

/* The first initializers of a row for a plain struct. */
#define FIELD_PLAIN(of, key, kind, member)                                     \
	.name = (key), .type = (kind), .offset = offsetof(struct of, member),  \
	.size = sizeof(((struct of *)0)->member)

struct message {
	const char *name; /* "TrainingInput" */
	const char *doc;
	size_t size; /* of the struct */
	/* up to a row with no name; 64 rows at most */
	const struct field *fields;
	size_t key; /* the offset of the key in a plain struct of FIELD_NAMED */
	/* For the block of a provider: finds what does not fit in the job, if
	 * that is one of the provider's (core/job/misfit.h).  Or NULL. */
	void (*fit)(const struct job *job, const struct catalogue *catalogue,
		    struct misfits *out);
};

/* Every message struct begins with this. */
struct message_head {
	const struct node *node; /* its place in the file, or NULL */
	uint64_t set;            /* bit i: field i was given in the file */
	/* bit i: it was given but rejected, or a misspelt key stands for it */
	uint64_t refused;
	bool strange; /* it has a key that could not be recognized */
};

struct strings {
	size_t count;
	const char **items;
};

struct doubles {
	size_t count;
	double *items;
};

struct pair {
	const char *name;
	const char *value;
};

struct pairs {
	size_t count;
	struct pair *items; /* in the order of the file */
};

struct messages {
	size_t count;
	void *items; /* an array of the message's struct */
};

/* The row with this name in either spelling (scaleTier, scale_tier), or
 * NULL. */
const struct field *message_field(const struct message *message,
				  const char *name);
size_t message_field_count(const struct message *message);

/* Whether the field is an ENUM of false, true and more words. */
bool field_is_boolean(const struct field *field);

/* Whether the field was given in the file; the message must have the field. */
bool message_has(const struct message *message, const void *data,
		 const char *name);

/* Whether the file has the field but it was rejected: its value is unknown. */
bool message_refused(const struct message *message, const void *data,
		     const char *name);

/*
 * Visits every field that was given, as a path below `prefix`, such as
 * "jobrun.checkpoints", with whether a provider with these traits honours it.
 * The fields of a message are visited if `visit` returns true for it.
 */
void message_visit(const struct message *message, const void *data,
		   const char *prefix, unsigned traits,
		   bool (*visit)(void *ctx, const char *path, bool honoured),
		   void *ctx);

/* "masterConfig" gives "master_config"; `size` counts the NUL. */
void message_snake_name(const char *name, char *out, size_t size);

enum message_style {
	MESSAGE_DEFAULTS = 1 << 0, /* also unset fields that have a default */
	MESSAGE_SNAKE = 1 << 1,    /* snake_case keys */
	/* int64 and durations as in the API: "8", "3600s" */
	MESSAGE_WIRE = 1 << 2,
	MESSAGE_DIGEST = 1 << 3,   /* without fields marked FIELD_POSITION */
	MESSAGE_DIGEST_1 = 1 << 4, /* unset fields, as in digest 1 */
	/* without values that equal their default, as in digest 2 */
	MESSAGE_DIGEST_2 = 1 << 5,
	MESSAGE_PLAIN = 1 << 6, /* for a plain struct; cannot be combined */
};

/* Converts a default of the field, written as in a file, to JSON.  Returns
 * new. */
json_t *field_default_json(const struct field *field, const char *text);

/*
 * The message as JSON, with keys in the order of the rows.  Empty lists, maps
 * and messages are left out, and so are FIELD_OUTPUT fields.  Returns new.
 */
json_t *message_json(const struct message *message, const void *data,
		     unsigned style);

/*
 * Reads JSON that message_json() has written, possibly edited since, into a
 * plain struct that is zero before.  Unknown members are ignored; absent or
 * null ones get their fallback.  Allocations live in `mem`; numbers need none.
 * Errors name the member: "hosts.leaseS must be a whole number".
 */
int message_read(const struct message *message, const json_t *value,
		 struct arena *mem, void *out, struct error *err);

#endif
