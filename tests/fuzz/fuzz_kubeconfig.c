/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a kubeconfig: they give access to a cluster, or an error that
 * says what is missing.  No program is run and no server is contacted. */
#include <assert.h>
#include <stdint.h>

#include "providers/kubernetes/api/kubeconfig.h"
#include "schema/read/yaml_read.h"
#include "tests/support/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kubeconfig_choice choice = {
		.file = scratch_file("config", data, size),
		.service_account = scratch_folder(),
	};
	struct kubeconfig config = { 0 };
	struct error err = { 0 };

	assert(kubeconfig_is_there(&choice));
	if (kubeconfig_read(&choice, yaml_read, &config, &err) < 0) {
		assert(err.text[0]);
		return 0;
	}
	assert(!err.text[0] && config.context && config.name_space);
	assert(*config.server &&
	       config.server[strlen(config.server) - 1] != '/');
	assert(!!config.token + !!config.token_file + !!config.exec <= 1);
	kubeconfig_done(&config);
	return 0;
}
