/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/metric_names.h"

#include <ctype.h>
#include <string.h>

#include "core/base/alloc.h"

static const struct metric_name names[] = {
	{ "epoch", METRIC_KIND_EPOCH, METRIC_NEUTRAL, false },
	{ "step", METRIC_KIND_STEP, METRIC_NEUTRAL, false },
	{ "global_step", METRIC_KIND_STEP, METRIC_NEUTRAL, false },
	{ "loss", METRIC_KIND_VALUE, METRIC_LOWER, false },
	{ "nll", METRIC_KIND_VALUE, METRIC_LOWER, false },
	{ "perplexity", METRIC_KIND_VALUE, METRIC_LOWER, false },
	{ "ppl", METRIC_KIND_VALUE, METRIC_LOWER, false },
	{ "mae", METRIC_KIND_VALUE, METRIC_LOWER, false },
	{ "mse", METRIC_KIND_VALUE, METRIC_LOWER, false },
	{ "rmse", METRIC_KIND_VALUE, METRIC_LOWER, false },
	{ "wer", METRIC_KIND_VALUE, METRIC_LOWER, false },
	{ "accuracy", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "acc", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "sparse_categorical_accuracy", METRIC_KIND_VALUE, METRIC_HIGHER,
	  false },
	{ "categorical_accuracy", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "binary_accuracy", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "auc", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "recall", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "f1", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "bleu", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "miou", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "reward", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "lr", METRIC_KIND_VALUE, METRIC_NEUTRAL, false },
	{ "learning_rate", METRIC_KIND_VALUE, METRIC_NEUTRAL, false },
	{ "grad_norm", METRIC_KIND_VALUE, METRIC_NEUTRAL, false },
	/* PyTorch/XLA's samples per second of one process, for this interval
	 * and since the start. */
	{ "rate", METRIC_KIND_VALUE, METRIC_HIGHER, true },
	{ "globalrate", METRIC_KIND_VALUE, METRIC_HIGHER, true },
	/* Hugging Face's, for the whole job. */
	{ "samples_per_second", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "steps_per_second", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	/* TensorFlow's and tqdm's, equal for tasks that train in step. */
	{ "global_step_sec", METRIC_KIND_VALUE, METRIC_HIGHER, false },
	{ "examples_sec", METRIC_KIND_VALUE, METRIC_HIGHER, true },
	{ "it_s", METRIC_KIND_VALUE, METRIC_HIGHER, false },
};

static const char *const phases[] = {
	"train_",      "training_", "val_",  "valid_",
	"validation_", "test_",     "eval_",
};

static const char *const endings[] = { "_step", "_epoch" };

static const struct metric_name *find(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i].name[0] == name[0] &&
		    !strncmp(names[i].name, name, len) && !names[i].name[len])
			return &names[i];
	return NULL;
}

const struct metric_name *metric_name_find(const char *name)
{
	const struct metric_name *found;
	char plain[METRIC_NAME_SIZE];
	const char *start = plain;
	size_t len;

	for (len = 0; name[len]; len++) {
		if (len + 1 == sizeof(plain))
			return NULL;
		plain[len] = isalnum((unsigned char)name[len])
				     ? (char)tolower((unsigned char)name[len])
				     : '_';
	}
	plain[len] = '\0';
	found = find(start, len);
	for (size_t i = 0; !found && i < COUNT(phases); i++) {
		size_t n = strlen(phases[i]);

		if (len > n && !memcmp(plain, phases[i], n)) {
			start = plain + n;
			len -= n;
			found = find(start, len);
			break;
		}
	}
	for (size_t i = 0; !found && i < COUNT(endings); i++) {
		size_t n = strlen(endings[i]);

		if (len > n && !memcmp(start + len - n, endings[i], n))
			found = find(start, len - n);
	}
	/* "val_step" is not a step of the training. */
	return found && found->kind != METRIC_KIND_VALUE && start != plain
		       ? NULL
		       : found;
}
