/* SPDX-License-Identifier: Apache-2.0 */
/* tests/stand-ins/SERVICE/server.py, for the length of a test. */
#ifndef JOBRUN_STAND_IN_H
#define JOBRUN_STAND_IN_H

#include <jansson.h>
#include <sys/types.h>

struct stand_in {
	pid_t pid;
	int input; /* it ends when this is closed */
	int port;
	char base[64];   /* "http://127.0.0.1:PORT" */
	char folder[64]; /* of this test; credential files are in it */
};

/* Asserts that it works.  With `tls`, a key and a self-signed certificate for
 * 127.0.0.1 are made: cert.pem in the folder. */
void stand_in_start(struct stand_in *one, int tls);
/* The same of "kubernetes"; the other is that of "google". */
void stand_in_start_service(struct stand_in *one, const char *service, int tls);
void stand_in_stop(struct stand_in *one);

/* Talk to /_/WHAT, see there.  `json` is written with ' for ". */
void stand_in_tell(const struct stand_in *one, const char *what,
		   const char *json);
json_t *stand_in_ask(const struct stand_in *one, const char *what);
/* How many requests it has had whose path begins with `path`. */
size_t stand_in_count(const struct stand_in *one, const char *path);
/* FOLDER/NAME; in a buffer of its own, until the next call. */
const char *stand_in_file(const struct stand_in *one, const char *name);

#endif
