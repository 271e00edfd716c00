/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/certificates.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/library.h"
#include "core/base/start.h"
#include "core/net/curl.h"

/* The certificates installed beside libcurl, or beside a static program: see
 * core/base/start.h. */
static char *installed(const struct curl_api *curl)
{
	Dl_info info = { 0 };
	char *folder, *out;
	char self[4096];
	void *symbol;
	ssize_t len;

	memcpy(&symbol, &curl->easy_init, sizeof(symbol));
	if (library_is_static()) {
		len = readlink("/proc/self/exe", self, sizeof(self) - 1);
		self[len > 0 ? len : 0] = '\0';
		info.dli_fname = self;
	} else if (!dladdr(symbol, &info) || !info.dli_fname) {
		return NULL;
	}
	folder = path_folder(info.dli_fname);
	out = path_join(folder, START_CERTIFICATES);
	free(folder);
	return out;
}

int certificates_find(char **file, struct error *err)
{
	/* As in the curl command; libcurl alone ignores both variables. */
	static const char *const variables[] = { "CURL_CA_BUNDLE",
						 "SSL_CERT_FILE" };
	const struct curl_api *curl = curl_open(err);
	const char *const places[] = {
		curl ? curl->version_info(CURLVERSION_NOW)->cainfo : NULL,
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Alpine */
		"/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, Red Hat */
		"/etc/ssl/ca-bundle.pem",             /* SUSE */
		"/etc/ssl/cert.pem",                  /* others */
	};

	if (!curl)
		return -1;
	for (size_t i = 0; i < COUNT(variables); i++) {
		const char *given = getenv(variables[i]);

		if (given && *given) {
			*file = mem_strdup(given);
			return 0;
		}
	}
	for (size_t i = 0; i < COUNT(places); i++)
		if (places[i] && access(places[i], R_OK) == 0) {
			*file = mem_strdup(places[i]);
			return 0;
		}
	*file = installed(curl);
	if (*file && access(*file, R_OK) < 0) {
		free(*file);
		*file = NULL;
	}
	return 0;
}
