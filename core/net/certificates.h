/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the authorities that HTTPS trusts. */
#ifndef JOBRUN_CERTIFICATES_H
#define JOBRUN_CERTIFICATES_H

#include "core/base/error.h"

/*
 * The file of their certificates: what CURL_CA_BUNDLE or SSL_CERT_FILE name;
 * else libcurl's own, or that of another distribution, as an image may be of
 * another than the libcurl that was installed into it; and last what 'jobrun
 * launch --install' has put beside its libraries.  `*file` is new, or NULL if
 * there is none.  Fails without libcurl.
 */
int certificates_find(char **file, struct error *err);

#endif
