/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the spec.json of a run: an error with a message, or a
 * specification that stays the same when it is written and read. */
#include <assert.h>
#include <stdint.h>

#include "core/base/json.h"
#include "core/spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_read(const struct run_spec *spec, struct arena *mem)
{
	json_t *one = spec_json(spec), *two;
	struct run_spec back;
	struct error err;

	assert(spec->job_id && spec->folder && spec->home && spec->output &&
	       spec->directory && spec->command.count);
	assert(spec->topology.count && spec->args_end <= spec->command.count);
	assert(spec_from_json(one, mem, &back, &err) == 0);
	two = spec_json(&back);
	assert(json_equal(one, two));
	json_decref(one);
	json_decref(two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *mem = arena_new();
	struct error err = { 0 };
	struct run_spec spec;
	json_t *value = json_read((const char *)data, size, "spec.json", &err);

	if (value && spec_from_json(value, mem, &spec, &err) == 0)
		write_and_read(&spec, mem);
	else
		assert(*err.text);
	json_decref(value);
	arena_free(mem);
	return 0;
}
