/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/forms.h"

#include <stddef.h>

#include "core/base/alloc.h"
#include "schema/tables.h"

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
};

const struct form *form_of(int (*check)(const char *value, struct error *err))
{
	size_t i;

	for (i = 0; check && i < COUNT(forms); i++)
		if (forms[i].check == check)
			return &forms[i];
	return NULL;
}
