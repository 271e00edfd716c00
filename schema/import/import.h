/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes job files from the gcloud command lines that they replace.  The command
 * line becomes a job file's JSON; a flag without a counterpart becomes a note.
 *
 * To add a command: a table of its flags, and a row in import.c.
 */
#ifndef JOBRUN_IMPORT_H
#define JOBRUN_IMPORT_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/base/error.h"

struct message;
struct problems;

enum flag_type {
	FLAG_TEXT,
	FLAG_NUMBER,
	FLAG_BOOL,        /* a value: true or false */
	FLAG_SWITCH,      /* no value; also --no-NAME */
	FLAG_LIST,        /* a,b or ^:^a:b */
	FLAG_MAP,         /* k=v,k=v */
	FLAG_ENUM,        /* basic-tpu is BASIC_TPU */
	FLAG_ACCELERATOR, /* type=nvidia-tesla-t4,count=1 */
	FLAG_NOTE,        /* a value without a counterpart */
	FLAG_NOTE_SWITCH, /* neither a value nor a counterpart */
	FLAG_LOSS,        /* a value whose loss changes the job */
	FLAG_CALL,        /* a value, for `call` */
};

struct import;

struct flag {
	const char *name; /* "master-image-uri" */
	enum flag_type type;
	const char *path; /* the field of the job that gets its value */
	const char *note; /* for FLAG_NOTE: what to do about it, or NULL */
	int (*call)(struct import *import, const char *value,
		    struct error *err);
};

struct import_command {
	const char *words; /* "ai-platform jobs submit training" */
	/* where such jobs run; NULL: nowhere any more */
	const char *provider;
	const struct flag *flags; /* up to a row with no name */
	/* the name of its argument, or NULL: it has none */
	const char *name_word;
	bool user_args; /* arguments after "--" are the program's */
	/* Completes the job from flags and arguments. */
	int (*finish)(struct import *import, struct error *err);
};

extern const struct import_command import_training;
extern const struct import_command import_training_old; /* ml-engine */
extern const struct import_command import_custom_job;
extern const struct import_command import_tuning_job;

struct import {
	const struct import_command *command;
	json_t *job;    /* from the flags: an object */
	json_t *config; /* from the file of --config, or NULL */
	json_t *pools;  /* of custom jobs: a list */
	json_t *notes;  /* a list of strings */
	size_t lost;    /* how many notes are about lost values */
	const char *name;
	json_t *user_args; /* a list */
	/* The parts of --kms-key and the related flags. */
	const char *kms_key, *kms_keyring, *kms_location, *kms_project;
	const char *const *provider_names; /* NULL-terminated */
	struct problems *found;            /* for the file of --config */
};

/*
 * `words` is the command line from "gcloud" on.  Adds a job file with notes as
 * comments to `out`.  Returns how many settings are lost, or -1, with `found`
 * filled if the file of --config is at fault.
 */
int import_gcloud(char *const *words, size_t count,
		  const char *const *provider_names, struct problems *found,
		  struct buf *out, struct error *err);

/* A provider that a file can be for. */
struct import_place {
	const char *name;
	unsigned traits;
	const struct message *block; /* its fields, or NULL */
};

struct catalogue;

/*
 * The same for a file of another program: a manifest of Kubernetes, a script of
 * sbatch, a task of SkyPilot or dstack.  `places` ends with one without a name.
 * The job file will stand in `folder`, an absolute path; NULL: beside the file.
 */
int import_foreign(const char *path, const char *folder,
		   const struct import_place *places,
		   const struct catalogue *catalogue, struct problems *found,
		   struct buf *out, struct error *err);

/* For the tables of flags.  The same note or loss comes once. */
void import_note(struct import *import, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same for a setting whose loss changes the job. */
void import_loss(struct import *import, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Sets a value, which it takes, at "trainingInput.masterType". */
void import_set(json_t *job, const char *path, json_t *value);
/* Borrowed, or NULL. */
json_t *import_get(const json_t *job, const char *path);
/* Parse lists and maps in gcloud's syntax.  Return new, or NULL. */
json_t *import_list(const char *value);
json_t *import_map(const char *value, struct error *err);
/* "nvidia-tesla-t4" gives "NVIDIA_TESLA_T4".  Returns new. */
json_t *import_enum(const char *value);
/* Reads the file of --config. */
int import_config(struct import *import, const char *value, struct error *err);
/* The same, with the types that YAML gives. */
int import_typed_config(struct import *import, const char *value,
			struct error *err);
int import_kms_key(struct import *import, const char *value, struct error *err);
int import_kms_keyring(struct import *import, const char *value,
		       struct error *err);
int import_kms_location(struct import *import, const char *value,
			struct error *err);
int import_kms_project(struct import *import, const char *value,
		       struct error *err);

/* Reads a YAML file as JSON: all scalars become strings, null is left out.
 * Returns new. */
json_t *import_read(const char *path, struct problems *found,
		    struct error *err);

/* Reads each document of a file that is a map, as {value, lines}: values have
 * the types that YAML gives, lines are by paths, "spec.tasks.0".  Takes `data`.
 * Returns new. */
json_t *import_documents(const char *path, char *data, size_t len,
			 struct problems *found, struct error *err);
/* Moves what hyperparameters can express out of a HyperparameterTuningJob. */
void import_study(struct import *import, json_t *config);

/* The same job with the keys and types of the tables, in their order.  Returns
 * new. */
json_t *import_typed(const json_t *job);

/* Merges maps recursively; lists and everything else are replaced. */
void import_merge(json_t *under, const json_t *over);

#endif
