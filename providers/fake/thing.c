/* SPDX-License-Identifier: Apache-2.0 */
/* Things: they either exist or not, and have a color and a size. */
#include "core/base/clock.h"
#include "providers/fake/call.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/json.h"

int fake_get(struct fake_task *task, const struct resource *it, json_t **out,
	     struct error *err)
{
	return world_get(task->world, it->kind->name, it->name, out, err);
}

static int thing_put(struct fake_task *task, const struct resource *it,
		     const char *result, struct error *err)
{
	json_t *value = json_object();
	int ret;

	fake_label(value, it);
	json_put_int(value, "createTimeMs", time_now_ms());
	/* Store only the request, not other properties we know. */
	json_put(value, "properties",
		 json_deep_copy(json_object_get(it->request, "body")));
	ret = fake_log_request(task, it, err);
	if (ret == 0)
		ret = world_put(task->world, it->kind->name, it->name, value,
				err);
	json_decref(value);
	task->result = result;
	return ret;
}

/* Returns an address that depends on the name, and changes when the thing is
 * replaced by one of another size. */
static json_t *outputs_of(const struct resource *it, const json_t *value)
{
	long long size =
		json_get_int(json_object_get(value, "properties"), "size", 0);
	json_t *out = json_object();
	char *address = mem_printf("%s.%lld.fake", it->name, size);

	json_put_text(out, "address", address);
	free(address);
	return out;
}

int fake_log_request(struct fake_task *task, const struct resource *it,
		     struct error *err)
{
	json_t *line = json_object();
	int ret;

	json_put_text(line, "job", fake_job_name(it));
	json_put_text(line, "kind", it->kind->name);
	json_put_text(line, "name", it->name);
	json_put(line, "request", json_incref(it->request));
	ret = world_log_request(task->world, line, err);
	json_decref(line);
	return ret;
}

int fake_read_effect(struct fake_task *task, const struct resource *it,
		     struct error *err)
{
	json_t *value;

	if (fake_get(task, it, &value, err) < 0)
		return -1;
	task->result = value ? "found" : "absent";
	/* If two calls answered, the second answer counts. */
	json_decref(task->found->properties);
	json_decref(task->found->outputs);
	task->found->exists = value;
	task->found->outputs = value ? outputs_of(it, value) : NULL;
	task->found->properties =
		json_deep_copy(json_object_get(value, "properties"));
	json_decref(value);
	return 0;
}

static int create_effect(struct fake_task *task, const struct resource *it,
			 struct error *err)
{
	json_t *value;
	bool same;

	if (fake_get(task, it, &value, err) < 0)
		return -1;
	if (!value)
		return thing_put(task, it, "made", err);
	same = json_equal(json_object_get(value, "properties"), it->properties);
	json_decref(value);
	task->result = "adopted";
	return same ? 0
		    : error_set(err, ERROR_FAILED,
				"it exists with other properties");
}

static int update_effect(struct fake_task *task, const struct resource *it,
			 struct error *err)
{
	json_t *value;

	if (fake_get(task, it, &value, err) < 0)
		return -1;
	if (!value)
		return error_set(err, ERROR_FAILED, "it does not exist");
	json_decref(value);
	return thing_put(task, it, "changed", err);
}

int fake_delete_effect(struct fake_task *task, const struct resource *it,
		       struct error *err)
{
	json_t *value;

	if (fake_get(task, it, &value, err) < 0)
		return -1;
	task->result = value ? "deleted" : "absent";
	json_decref(value);
	return world_remove(task->world, it->kind->name, it->name, err);
}

static int wait_effect(struct fake_task *task, const struct resource *it,
		       struct error *err)
{
	json_t *value;

	if (fake_get(task, it, &value, err) < 0)
		return -1;
	if (!value)
		return error_set(err, ERROR_FAILED, "it is gone");
	*task->state = time_now_ms() < json_get_int(value, "createTimeMs", 0) +
					       task->block->ready_time
			       ? WAIT_PENDING
			       : WAIT_DONE;
	task->result = *task->state == WAIT_DONE ? "ready" : "pending";
	json_decref(value);
	return 0;
}

static int thing_read(void *ctx, const struct resource *want,
		      struct resource *found, struct error *err)
{
	struct fake_task task = { .found = found };

	return fake_perform(ctx, FAKE_READ, want, fake_read_effect, &task, err);
}

static int thing_create(void *ctx, const struct resource *want,
			struct error *err)
{
	struct fake_task task = { 0 };

	return fake_perform(ctx, FAKE_CREATE, want, create_effect, &task, err);
}

static int thing_update(void *ctx, const struct resource *want,
			struct error *err)
{
	struct fake_task task = { 0 };

	return fake_perform(ctx, FAKE_UPDATE, want, update_effect, &task, err);
}

static int thing_delete(void *ctx, const struct resource *have,
			struct error *err)
{
	struct fake_task task = { 0 };

	return fake_perform(ctx, FAKE_DELETE, have, fake_delete_effect, &task,
			    err);
}

static int thing_wait(void *ctx, const struct resource *have,
		      enum wait_state *state, struct error *err)
{
	struct fake_task task = { .state = state };

	return fake_perform(ctx, FAKE_WAIT, have, wait_effect, &task, err);
}

static int thing_list(void *ctx, const char *place, struct listing *out,
		      struct error *err)
{
	return fake_list(ctx, &fake_kind_thing, place, NULL, out, err);
}

static const char *const thing_replace_on[] = { "size", NULL };
static const char *const thing_sensitive[] = { "password", NULL };

const struct kind fake_kind_thing = {
	.name = "thing",
	.flags = KIND_BILLED,
	.replace_on = thing_replace_on,
	.sensitive = thing_sensitive,
	.poll_ms = FAKE_POLL_MS,
	.read = thing_read,
	.create = thing_create,
	.update = thing_update,
	.delete = thing_delete,
	.wait = thing_wait,
	.list = thing_list,
};
