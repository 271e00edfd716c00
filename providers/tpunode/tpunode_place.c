/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpunode/tpunode_place.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/provider/placeholder.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/google_labels.h"
#include "providers/google/tpu/tpu_places.h"
#include "providers/tpunode/tpunode.h"

char *tpu_node_path(const struct resource *it,
		    const struct tpu_node_place *place)
{
	char *collection = tpu_node_collection(it->kind->name, place);
	char *path = mem_printf("%s/%s", collection, it->name);

	free(collection);
	return path;
}

json_t *tpu_node_shown(const struct resource *want)
{
	json_t *out = json_deep_copy(want->properties);

	return out ? out : json_object();
}

void tpu_node_set_found(struct resource *found, json_t *shown,
			const struct tpu_node_place *place,
			const char *first_zone)
{
	if (!found->outputs)
		found->outputs = json_object();
	json_put_text(found->outputs, "project", place->project);
	json_put_text(found->outputs, "zone", place->zone);
	json_put_text(found->outputs, "firstZone", first_zone);
	found->exists = shown;
	if (!shown)
		return;
	json_put_text(shown, "project", place->project);
	/* VMs that follow their TPU show the zone where they are. */
	json_put_text(shown, "zone",
		      placeholder_any(json_object_get(shown, "zone"))
			      ? place->zone
			      : first_zone);
	found->properties = shown;
}

void tpu_node_adapt(struct resource *want, const struct resource *found)
{
	struct tpu_node_place place;
	struct tpu_place_known at;
	bool node = want->kind == &kind_tpu_node;
	json_t *body = json_object_get(want->request, "body");
	struct buf url = { 0 };
	char *path;

	if (!want->request)
		return;
	tpu_place_known(want, found, &at);
	place = (struct tpu_node_place){ .project = at.project,
					 .zone = at.zone };
	path = tpu_node_collection(want->kind->name, &place);
	endpoint_add(node ? SERVICE_TPU : SERVICE_COMPUTE, NULL, &url);
	if (node)
		buf_printf(&url, "v1/%s?nodeId=%s", path, want->name);
	else
		buf_puts(&url, path);
	json_put_text(want->request, "url", url.data);
	buf_done(&url);
	free(path);
	if (want->kind == &kind_instance_group) {
		path = tpu_node_collection(kind_instance_template.name, &place);
		buf_printf(&url, "%s/%s", path, want->name);
		json_put_text(body, "instanceTemplate", url.data);
		buf_done(&url);
		free(path);
	}
	if (found->unseen)
		return;
	json_put_text(want->properties, "project", at.project);
	/* The plan shows the first zone wherever the node was found, as all of
	 * them are tried when it is created again. */
	if (!placeholder_any(json_object_get(want->properties, "zone")))
		json_put_text(want->properties, "zone", at.first_zone);
}

int tpu_node_pending(const struct resource *have, const char *made,
		     const char *what, struct error *err)
{
	const char *limit =
		json_get_text(have->properties, "readyTimeout", "30m");
	int64_t since_ms = time_parse(made);
	struct error ignored;
	long limit_s = 1800;

	duration_parse(limit, &limit_s, &ignored);
	if (since_ms > 0 && time_now_ms() - since_ms >= limit_s * 1000)
		return error_set_final(err, ERROR_TIMEOUT,
				       "not usable after %s (%s): it may take "
				       "longer with jobrun.tpu-node."
				       "readyTimeout",
				       limit, what);
	error_set(err, ERROR_TRY_AGAIN, "%s", what);
	return 0;
}

void tpu_node_list_one(struct listing *out, const struct kind *kind,
		       const char *name, const struct tpu_node_place *place,
		       const json_t *labels, const char *job_id,
		       const char *created, bool kept)
{
	struct labels own = google_labels_read(labels);
	char *where;

	if (!own.job_id)
		return;
	if (job_id)
		own.job_id = job_id;
	own.renewed = kept;
	where = mem_printf("projects/%s/locations/%s", place->project,
			   place->zone);
	listing_add(out, &(struct listed){
				 .kind = kind,
				 .name = name,
				 .place = where,
				 .labels = own,
				 .create_time_ms = time_parse(created),
			 });
	free(where);
}
