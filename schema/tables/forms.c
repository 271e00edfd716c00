/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/tables/forms.h"

#include <stddef.h>

#include "core/base/alloc.h"
#include "core/job/check.h"

static const struct form forms[] = {
	{ .check = check_job_id,
	  .pattern = "^[A-Za-z][A-Za-z0-9_]{0,127}$",
	  .example = "resnet_v3",
	  .boolean = true },
	{ .check = check_seconds,
	  .pattern = "^[0-9]+(\\.[0-9]{1,9})?s$",
	  .example = "7200s" },
	{ .check = check_label,
	  .pattern = "^[a-z0-9_-]{0,63}$",
	  .example = "vision",
	  .number = "integer",
	  .boolean = true },
	{ .check = check_label_key,
	  .pattern = "^[a-z][a-z0-9_-]{0,62}$",
	  .example = "owner" },
	{ .check = check_variable,
	  .pattern = "^[A-Za-z_][A-Za-z0-9_]*$",
	  .example = "API_TOKEN",
	  .boolean = true },
	{ .check = check_email,
	  .pattern = "^[^@ \\t\\n/]+@[^ \\t\\n/]+$",
	  .example = "trainer@project.iam.gserviceaccount.com" },
	{ .check = check_image,
	  .pattern = "^([A-Za-z0-9_][A-Za-z0-9._:-]*/)?"
		     "([A-Za-z0-9_][A-Za-z0-9._-]*/)*"
		     "[A-Za-z0-9_][A-Za-z0-9._-]*(:[A-Za-z0-9._-]{1,128})?"
		     "(@sha256:[0-9a-f]{64})?$",
	  .example = "gcr.io/project/image:tag",
	  .number = "number",
	  .boolean = true },
	{ .check = check_url,
	  .pattern = "^(gs://[A-Za-z0-9._-]+(/[\\s\\S]*)?|"
		     "(?!gs:)(?![\\s\\S]*://)[\\s\\S]+)$",
	  .example = "gs://bucket/path",
	  .number = "number",
	  .boolean = true },
	{ .check = check_store,
	  .pattern = "^((gs|s3)://[A-Za-z0-9._-]+(/[\\s\\S]*)?|"
		     "(?!gs:|s3:)(?![\\s\\S]*://)[\\s\\S]+)$",
	  .example = "gs://bucket/path",
	  .number = "number",
	  .boolean = true },
	{ .check = check_module,
	  .pattern = "^(?!.*\\.py$)[A-Za-z_-][A-Za-z0-9_-]*"
		     "(\\.[A-Za-z_-][A-Za-z0-9_-]*)*$",
	  .example = "trainer.task",
	  .number = "integer",
	  .boolean = true },
	{ .check = check_version,
	  .pattern = "^[0-9]+\\.[0-9]+$",
	  .example = "2.11",
	  .number = "number" },
	{ .check = check_peered,
	  .pattern = "^projects/[0-9]+/global/networks/[A-Za-z0-9-]+$",
	  .example = "projects/12345/global/networks/default" },
	{ .check = check_kms_key,
	  .pattern = "^projects/[A-Za-z0-9_.:-]+/locations/[A-Za-z0-9_.:-]+/"
		     "keyRings/[A-Za-z0-9_.:-]+/cryptoKeys/"
		     "[A-Za-z0-9_.:-]+$",
	  .example = "projects/p/locations/us-central1/keyRings/r/"
		     "cryptoKeys/k" },
	{ .check = check_project,
	  .pattern = "^[a-z0-9.:][a-z0-9.:-]*$",
	  .example = "my-project",
	  .number = "number",
	  .boolean = true },
	{ .check = check_compute,
	  .pattern = "^[a-z][a-z0-9-]{0,62}$",
	  .example = "torch-xla" },
	{ .check = check_network,
	  .pattern = "^(projects/[A-Za-z0-9.:-]+/global/networks/)?"
		     "[A-Za-z0-9][A-Za-z0-9-]*$",
	  .example = "projects/my-project/global/networks/training",
	  .number = "number",
	  .boolean = true },
	{ .check = check_host,
	  .pattern = "^(?!-)([^@\\s]+@)?"
		     "[A-Za-z0-9._:\\[\\]][A-Za-z0-9._:\\[\\]-]*$",
	  .example = "trainer@10.0.0.2",
	  .number = "number",
	  .boolean = true },
	{ .check = check_processes,
	  .pattern = "^(device|[1-9][0-9]{0,2}|10[01][0-9]|102[0-4])$",
	  .example = "device",
	  .number = "number" },
	{ .check = check_host_directory,
	  .pattern = "^/[A-Za-z0-9/_.,+@:-]{0,199}$",
	  .example = "/scratch/jobrun" },
	{ .check = check_login,
	  .pattern = "^[A-Za-z0-9._][A-Za-z0-9._-]*$",
	  .example = "trainer",
	  .number = "number",
	  .boolean = true },
	{ .check = check_option,
	  .pattern = "^(?!-)[!$-&(-\\[\\]-~]+$",
	  .example = "gpu",
	  .number = "number",
	  .boolean = true },
	{ .check = check_shared_folder,
	  .pattern = "^(?!-)[!$&(-\\[\\]-~]+$",
	  .example = "/scratch/me/jobrun",
	  .number = "number",
	  .boolean = true },
	{ .check = check_folder,
	  .pattern = "^/[\\s\\S]*$",
	  .example = "/scratch/me" },
	{ .check = check_mount,
	  .pattern = "^/[^\\n]*$",
	  .example = "/data:/data:ro" },
	{ .check = check_size,
	  .pattern = "^[0-9]+(\\.[0-9]+)?([kMGTP]?B?|[KMGTP]iB?)$",
	  .example = "200GiB",
	  .number = "number" },
	{ .check = check_pattern,
	  .pattern = "^(?![\\s\\S]*\\\\d)[\\s\\S]*\\([\\s\\S]*\\)",
	  .example = "loss=([0-9.]+)" },
	{ .check = check_exit_codes,
	  .pattern = "^[0-9]+(-[0-9]+)?$",
	  .example = "64-127",
	  .number = "integer" },
	{ .check = check_signal,
	  .pattern = "^SIG[A-Z0-9]+$",
	  .example = "SIGSEGV" },
	{ .check = check_time,
	  .pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
		     "(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$",
	  .example = "2026-12-01T08:00:00Z" },
};

const struct form *form_of(int (*check)(const char *value, struct error *err))
{
	size_t i;

	for (i = 0; check && i < COUNT(forms); i++)
		if (forms[i].check == check)
			return &forms[i];
	return NULL;
}
