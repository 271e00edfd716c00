/* SPDX-License-Identifier: Apache-2.0 */
/* gcloud [alpha|beta] ai-platform jobs submit training, formerly ml-engine. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "schema/import/import.h"

/* Takes the folder of the package, which gcloud packed and jobrun ships. */
static int package_path(struct import *import, const char *value,
			struct error *err)
{
	size_t len = strlen(value);
	const char *slash;
	char *folder;

	(void)err;
	while (len > 1 && value[len - 1] == '/')
		len--;
	slash = memrchr(value, '/', len);
	if (len == 1 && *value == '.')
		folder = mem_strdup("..");
	else if (!slash)
		folder = mem_strdup(".");
	else
		folder = mem_printf("%.*s",
				    slash == value ? 1 : (int)(slash - value),
				    value);
	import_set(import->job, "jobrun.source", json_text(folder));
	free(folder);
	return 0;
}

/* Takes a bucket's name with or without gs://. */
static int staging_bucket(struct import *import, const char *value,
			  struct error *err)
{
	char *url = mem_printf(
		"%s%s", text_starts(value, "gs://") ? "" : "gs://", value);

	(void)err;
	import_set(import->job, "jobrun.staging", json_text(url));
	free(url);
	return 0;
}

#define IN "trainingInput."

static const struct flag flags[] = {
	{ "async", FLAG_NOTE_SWITCH, NULL, "jobrun apply --detach", NULL },
	{ "config", FLAG_CALL, NULL, NULL, import_config },
	{ "enable-web-access", FLAG_SWITCH, IN "enableWebAccess", NULL, NULL },
	{ "job-dir", FLAG_TEXT, IN "jobDir", NULL, NULL },
	{ "kms-key", FLAG_CALL, NULL, NULL, import_kms_key },
	{ "kms-keyring", FLAG_CALL, NULL, NULL, import_kms_keyring },
	{ "kms-location", FLAG_CALL, NULL, NULL, import_kms_location },
	{ "kms-project", FLAG_CALL, NULL, NULL, import_kms_project },
	{ "labels", FLAG_MAP, "labels", NULL, NULL },
	{ "master-accelerator", FLAG_ACCELERATOR,
	  IN "masterConfig.acceleratorConfig", NULL, NULL },
	{ "master-image-uri", FLAG_TEXT, IN "masterConfig.imageUri", NULL,
	  NULL },
	{ "master-machine-type", FLAG_TEXT, IN "masterType", NULL, NULL },
	{ "module-name", FLAG_TEXT, IN "pythonModule", NULL, NULL },
	{ "network", FLAG_TEXT, IN "network", NULL, NULL },
	{ "package-path", FLAG_CALL, NULL, NULL, package_path },
	{ "packages", FLAG_LIST, IN "packageUris", NULL, NULL },
	{ "parameter-server-accelerator", FLAG_ACCELERATOR,
	  IN "parameterServerConfig.acceleratorConfig", NULL, NULL },
	{ "parameter-server-count", FLAG_NUMBER, IN "parameterServerCount",
	  NULL, NULL },
	{ "parameter-server-image-uri", FLAG_TEXT,
	  IN "parameterServerConfig.imageUri", NULL, NULL },
	{ "parameter-server-machine-type", FLAG_TEXT, IN "parameterServerType",
	  NULL, NULL },
	{ "python-version", FLAG_TEXT, IN "pythonVersion", NULL, NULL },
	{ "region", FLAG_TEXT, IN "region", NULL, NULL },
	{ "runtime-version", FLAG_TEXT, IN "runtimeVersion", NULL, NULL },
	{ "scale-tier", FLAG_ENUM, IN "scaleTier", NULL, NULL },
	{ "service-account", FLAG_TEXT, IN "serviceAccount", NULL, NULL },
	{ "staging-bucket", FLAG_CALL, NULL, NULL, staging_bucket },
	{ "stream-logs", FLAG_NOTE_SWITCH, NULL,
	  "jobrun apply follows the run unless it has --detach", NULL },
	{ "tpu-tf-version", FLAG_TEXT, IN "workerConfig.tpuTfVersion", NULL,
	  NULL },
	{ "use-chief-in-tf-config", FLAG_BOOL, IN "useChiefInTfConfig", NULL,
	  NULL },
	{ "worker-accelerator", FLAG_ACCELERATOR,
	  IN "workerConfig.acceleratorConfig", NULL, NULL },
	{ "worker-count", FLAG_NUMBER, IN "workerCount", NULL, NULL },
	{ "worker-image-uri", FLAG_TEXT, IN "workerConfig.imageUri", NULL,
	  NULL },
	{ "worker-machine-type", FLAG_TEXT, IN "workerType", NULL, NULL },
	{ NULL, FLAG_TEXT, NULL, NULL, NULL },
};

/* Combines the file and the flags as gcloud did: flags override the file, the
 * name is that of the command line, and labels and arguments come entirely from
 * one of the two. */
static int finish(struct import *import, struct error *err)
{
	json_t *job;

	(void)err;
	job = import->config ? import_typed(import->config) : json_object();
	if (json_array_size(import->user_args))
		import_set(import->job, "trainingInput.args",
			   json_incref(import->user_args));
	if (json_object_get(import->job, "labels"))
		json_object_del(job, "labels");
	import_merge(job, import->job);
	json_object_set_new(job, "jobId", json_text(import->name));
	if (!json_object_get(job, "trainingInput"))
		json_object_set_new(job, "trainingInput", json_object());
	json_decref(import->job);
	import->job = job;
	return 0;
}

const struct import_command import_training = {
	.words = "ai-platform jobs submit training",
	.flags = flags,
	.name_word = "the name of the job",
	.user_args = true,
	.finish = finish,
};

const struct import_command import_training_old = {
	.words = "ml-engine jobs submit training",
	.flags = flags,
	.name_word = "the name of the job",
	.user_args = true,
	.finish = finish,
};
