/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the CA certificates that HTTPS trusts. */
#ifndef JOBRUN_CERTIFICATES_H
#define JOBRUN_CERTIFICATES_H

#include "core/base/error.h"

/*
 * The certificate file: the one that CURL_CA_BUNDLE or SSL_CERT_FILE names;
 * else libcurl's own, or another distribution's, as the libcurl installed into
 * an image may come from another distribution; and last the one that 'jobrun
 * launch --install' puts beside its libraries.  `*file` is new, or NULL if
 * there is none.  Fails without libcurl.
 */
int certificates_find(char **file, struct error *err);

#endif
