/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `requestId` of a call: a service that gets one of them twice, because the
 * first answer was lost, begins nothing new, and answers as it has answered.
 */
#ifndef JOBRUN_REQUEST_ID_H
#define JOBRUN_REQUEST_ID_H

#define REQUEST_ID_MAX 37 /* with its NUL */

/* A random UUID, RFC 9562, version 4. */
void request_id(char out[REQUEST_ID_MAX]);

#endif
