/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job file may hold, as tables.  A message is a C struct whose members
 * are described by an array of `struct field`; each field of a job file is
 * declared once, as one such row, and loading, validation, defaults, help,
 * the digest and every rendering walk the rows.
 *
 * The tables themselves are in schema/ and, for what only one provider has,
 * in that provider's folder.
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
struct message;
struct node; /* where something stood in a job file: schema/yaml/node.h */

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
	FIELD_OUTPUT = 1 << 0,   /* set by the service; accepted, no effect */
	FIELD_INT64 = 1 << 1,    /* a string in the API's JSON */
	FIELD_POSITION = 1 << 2, /* says where the job is, not what it is:
				  * left out of the digest */
	FIELD_REQUIRED = 1 << 3,
	FIELD_NUMBERS = 1 << 4, /* strings that look like numbers to YAML:
				 * no quotes are asked for; in a tree, all
				 * but true and false are strings */
	FIELD_PATH = 1 << 6,    /* of a file or directory, unless it is a URL:
				* relative to the file that says it */
	FIELD_SINGLE = 1 << 5,  /* a list whose only item may stand alone */
	/* The name of a provider: who loads knows them all, and the default. */
	FIELD_PROVIDER = 1 << 7,
	/* In plain structs: left out where it is null, 0, false or empty; a
	 * message, where one of its required fields is. */
	FIELD_OPTIONAL = 1 << 8,
	/* A list that is a pointer to the first and, behind it, a size_t. */
	FIELD_ARRAY = 1 << 9,
	FIELD_JSON = 1 << 10, /* a string that holds JSON, and is written so */
	/* A message that means something by being there: `render` writes its
	 * defaults only where the file has it. */
	FIELD_PRESENCE = 1 << 11,
};

/* Is told what is wrong in a tree, where ("a.b[2]") and what to do about it,
 * or NULL. */
typedef void tree_tell(void *ctx, const char *path, const char *text,
		       const char *hint);

struct field {
	const char *name; /* camelCase, as the API's JSON has it */
	enum field_type type;
	unsigned flags;
	size_t offset;
	const struct message *message; /* of the MESSAGE types and NAMED */
	/* What an ENUM, or a STRING of few values, can be; up to NULL. */
	const char *const *values;
	/* For a STRING in capitals: what the API calls none.  Other cases are
	 * read, with a warning. */
	const char *unspecified;
	const char *fallback; /* the default, as a file would say it */
	/*
	 * What the digests take for the default, whatever `fallback` becomes:
	 * they outlive releases.  `fallback_1` is that of the fields which
	 * digest 1 knows, and is in no other row.  `fallback_2` is what
	 * `fallback` was before it was first changed, "" if there was none;
	 * only a row without `fallback_1` needs one.  A message that is made
	 * of older rows says "" too, as digest 1 would hash their defaults.
	 */
	const char *fallback_1, *fallback_2;
	long min, max; /* of INT and DURATION; 0, 0: any >= 0 */
	/*
	 * A check of the form of a string (each string of a list, each value
	 * of a map; for FIELD_NAMED, each key).  Returns -1 with what was
	 * expected, for instance "must be a gs:// URL".
	 */
	int (*check)(const char *value, struct error *err);
	/* The same of each key of FIELD_PAIRS. */
	int (*check_key)(const char *key, struct error *err);
	/* Tells all that is wrong in a FIELD_TREE. */
	void (*check_tree)(const json_t *tree, tree_tell *tell, void *ctx);
	/* Another field of the message that makes a required one optional. */
	const char *unless;
	const char *doc; /* one or more sentences; for explain and manual */
	/* Providers with all these traits (core/job/traits.h) honour it.
	 * 0: every provider does, or it means nothing there. */
	unsigned traits;
	size_t size;      /* of the member of a plain struct */
	const char *with; /* in one: a field before it that must be written */
};

/* The first values of a row for a plain struct. */
#define FIELD_PLAIN(of, key, kind, member)                                     \
	.name = (key), .type = (kind), .offset = offsetof(struct of, member),  \
	.size = sizeof(((struct of *)0)->member)

struct message {
	const char *name; /* "TrainingInput" */
	const char *doc;
	size_t size;                /* of the struct */
	const struct field *fields; /* up to a row with no name; at most 64 */
	size_t key; /* of a plain one of FIELD_NAMED: the offset of its key */
};

/* Every message struct begins with this. */
struct message_head {
	const struct node *node; /* its place in the file, or NULL */
	uint64_t set;            /* bit i: field i was given in the file */
	uint64_t refused;        /* bit i: it was given too, but not taken, or
				  * a misspelt key stands for it */
	bool strange; /* it has a key of which nobody knows what it meant */
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

/* The row of a name in either spelling (scaleTier, scale_tier), or NULL. */
const struct field *message_field(const struct message *message,
				  const char *name);
size_t message_field_count(const struct message *message);

/* Whether the field was given in the file; the name must be one of its. */
bool message_has(const struct message *message, const void *data,
		 const char *name);

/* Whether it was tried to give it: its value is not known then. */
bool message_refused(const struct message *message, const void *data,
		     const char *name);

/*
 * Names every field that was given and that a provider of these traits does
 * not honour, as a path below `prefix`: "jobrun.checkpoints".  A message
 * that it does not honour is named as a whole.
 */
void message_unused(const struct message *message, const void *data,
		    const char *prefix, unsigned traits,
		    void (*tell)(void *ctx, const char *path), void *ctx);

/* "masterConfig" gives "master_config"; `size` counts the NUL. */
void message_snake_name(const char *name, char *out, size_t size);

enum message_style {
	MESSAGE_DEFAULTS = 1 << 0, /* unset fields with a default too */
	MESSAGE_SNAKE = 1 << 1,    /* snake_case keys */
	MESSAGE_WIRE = 1 << 2,     /* int64 and durations as the API has them:
				    * "8", "3600s" */
	MESSAGE_DIGEST = 1 << 3,   /* without what FIELD_POSITION marks */
	MESSAGE_DIGEST_1 = 1 << 4, /* unset fields, as digest 1 has them */
	MESSAGE_DIGEST_2 = 1 << 5, /* without what equals its default, as
				    * digest 2 has that */
	MESSAGE_PLAIN = 1 << 6,    /* of a plain struct; combines with none */
};

/* A default of the field, given as a file would say it.  Returns new. */
json_t *field_default_json(const struct field *field, const char *text);

/*
 * As JSON, keys in the order of the rows; empty lists, maps and messages are
 * left out, and so is FIELD_OUTPUT.  Returns new.
 */
json_t *message_json(const struct message *message, const void *data,
		     unsigned style);

/*
 * Reads into a plain struct, which is zero before, what message_json() has
 * written or anybody has changed since: unknown members are passed over, and
 * those that are absent or null have their fallback.  What it allocates lives
 * in `mem`; numbers alone need none.  The error names the member:
 * "hosts.leaseS must be a whole number".
 */
int message_read(const struct message *message, const json_t *value,
		 struct arena *mem, void *out, struct error *err);

#endif
