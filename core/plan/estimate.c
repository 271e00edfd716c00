/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/estimate.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a job uses ------------------------------------------------- */

static const struct tier *tier_of(const struct job *job,
				  const struct catalogue *catalogue)
{
	static const char *const names[] = {
		[SCALE_TIER_UNSPECIFIED] = "BASIC",
		[SCALE_TIER_BASIC] = "BASIC",
		[SCALE_TIER_STANDARD_1] = "STANDARD_1",
		[SCALE_TIER_PREMIUM_1] = "PREMIUM_1",
		[SCALE_TIER_BASIC_GPU] = "BASIC_GPU",
		[SCALE_TIER_BASIC_TPU] = "BASIC_TPU",
		[SCALE_TIER_CUSTOM] = NULL,
	};
	const char *name = names[job->training_input.scale_tier];

	return name ? catalogue_tier(catalogue, name) : NULL;
}

static void add(struct estimate *out, const char *machine_type, long machines,
		const char *accelerator_type, long each)
{
	struct estimate_item *item = &out->items[out->item_count];

	if (machines <= 0 || !(machine_type || accelerator_type))
		return;
	*item = (struct estimate_item){
		.machine_type = machine_type,
		.machines = machines,
		.accelerator_type = each > 0 ? accelerator_type : NULL,
		.accelerators =
			accelerator_type && each > 0 ? machines * each : 0,
	};
	/* What AI Platform calls a TPU worker is the TPU itself. */
	if (machine_type && !strcmp(machine_type, "cloud_tpu"))
		item->machine_type = NULL;
	out->item_count++;
}

static void add_tier(struct estimate *out, const struct tier *tier)
{
	bool tpu = tier->worker_type && tier->accelerator_type;

	add(out, tier->master_type, 1, tpu ? NULL : tier->accelerator_type,
	    tpu ? 0 : (long)tier->accelerator_count);
	add(out, tier->worker_type, (long)tier->worker_count,
	    tpu ? tier->accelerator_type : NULL,
	    tpu ? (long)tier->accelerator_count : 0);
	add(out, tier->parameter_server_type,
	    (long)tier->parameter_server_count, NULL, 0);
}

static void add_replica(struct estimate *out, const char *machine_type,
			long count, const struct replica_config *config)
{
	const struct accelerator_config *accelerator =
		&config->accelerator_config;

	add(out, machine_type, count, accelerator->type, accelerator->count);
}

static void add_custom(struct estimate *out, const struct training_input *in)
{
	add_replica(out, in->master_type, 1, &in->master_config);
	add_replica(out, in->worker_type, in->worker_count, &in->worker_config);
	add_replica(out, in->parameter_server_type, in->parameter_server_count,
		    &in->parameter_server_config);
	add_replica(out, in->evaluator_type, in->evaluator_count,
		    &in->evaluator_config);
}

static void count_item(struct estimate *out, struct estimate_item *item,
		       const struct catalogue *catalogue)
{
	const struct machine *machine =
		item->machine_type
			? catalogue_machine(catalogue, item->machine_type, NULL)
			: NULL;

	/* Some machine types come with accelerators in them. */
	if (machine && machine->accelerator_type && !item->accelerator_type) {
		item->accelerator_type = machine->accelerator_type;
		item->accelerators =
			item->machines * (long)machine->accelerator_count;
	}
	out->accelerators += item->accelerators;
	if (!item->machine_type)
		return;
	out->machines += item->machines;
	if (machine)
		out->cores += item->machines * (long)machine->vcpus;
	else
		out->uncounted = true;
}

/* ---- money ----------------------------------------------------------- */

static bool is_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* That of the region, else the one for all. */
static const struct price *find_price(const struct price_list *list,
				      const char *machine_type,
				      const char *accelerator_type,
				      const char *region)
{
	const struct price *everywhere = NULL;
	size_t i;

	for (i = 0; i < list->price_count; i++) {
		const struct price *one = &list->prices[i];

		if (!(machine_type ? is_text(one->machine_type, machine_type)
				   : is_text(one->accelerator_type,
					     accelerator_type)))
			continue;
		if (is_text(one->region, region))
			return one;
		if (!one->region)
			everywhere = one;
	}
	return everywhere;
}

static void pay(struct estimate *out, const struct price_list *list,
		const char *machine_type, const char *accelerator_type,
		long count)
{
	const char *name = machine_type ? machine_type : accelerator_type;
	const struct price *price;
	size_t i;

	if (!name || !count)
		return;
	price = find_price(list, machine_type, accelerator_type, out->region);
	if (price) {
		out->per_hour += price->per_hour * (double)count;
		return;
	}
	for (i = 0; i < out->unpriced_count; i++)
		if (!strcmp(out->unpriced[i], name))
			return;
	out->unpriced[out->unpriced_count++] = name;
}

static void pay_all(struct estimate *out, const struct price_list *list,
		    const struct catalogue *catalogue)
{
	size_t i;

	out->currency = list->currency;
	for (i = 0; i < out->item_count; i++) {
		const struct estimate_item *item = &out->items[i];
		const struct machine *machine =
			item->machine_type
				? catalogue_machine(catalogue,
						    item->machine_type, NULL)
				: NULL;

		pay(out, list, item->machine_type, NULL, item->machines);
		/* What is built in is in the price of the machine. */
		if (!machine || !machine->accelerator_type)
			pay(out, list, NULL, item->accelerator_type,
			    item->accelerators);
	}
}

void estimate_job(const struct job *job, const struct catalogue *catalogue,
		  const struct price_list *prices, struct estimate *out)
{
	const struct training_input *in = &job->training_input;
	const struct tier *tier = tier_of(job, catalogue);
	long at_once = in->hyperparameters.max_parallel_trials;
	size_t i;

	*out = (struct estimate){ .limit_s = in->scheduling.max_running_time_s,
				  .region = in->region };
	if (in->scale_tier == SCALE_TIER_CUSTOM)
		add_custom(out, in);
	else if (tier)
		add_tier(out, tier);
	for (i = 0; i < out->item_count; i++) {
		/* Each trial has machines of its own. */
		if (in->hyperparameters.params.count && at_once > 1) {
			out->items[i].machines *= at_once;
			out->items[i].accelerators *= at_once;
		}
		count_item(out, &out->items[i], catalogue);
	}
	if (prices)
		pay_all(out, prices, catalogue);
}

bool estimate_cost(const struct estimate *estimate, double *out)
{
	if (!estimate->currency || estimate->unpriced_count ||
	    !estimate->limit_s)
		return false;
	*out = estimate->per_hour * (double)estimate->limit_s / 3600;
	return true;
}

/* ---- of several jobs ------------------------------------------------- */

static void name_unpriced(struct estimate_total *total, const char *name)
{
	size_t i;

	for (i = 0; i < total->unpriced_count; i++)
		if (!strcmp(total->unpriced[i], name))
			return;
	if (!(i & (i - 1)))
		total->unpriced = mem_grow(total->unpriced, i ? 2 * i : 1,
					   sizeof(*total->unpriced));
	total->unpriced[total->unpriced_count++] = name;
}

void estimate_add(struct estimate_total *total, const struct estimate *one)
{
	double cost;
	size_t i;

	total->jobs++;
	total->machines += one->machines;
	total->accelerators += one->accelerators;
	total->cores += one->cores;
	total->uncounted |= one->uncounted;
	total->machine_hours +=
		(double)one->machines * (double)one->limit_s / 3600;
	total->unlimited += !one->limit_s;
	if (one->currency)
		total->currency = one->currency;
	if (estimate_cost(one, &cost))
		total->cost += cost;
	else
		total->unknown++;
	for (i = 0; i < one->unpriced_count; i++)
		name_unpriced(total, one->unpriced[i]);
}

void estimate_total_done(struct estimate_total *total)
{
	free(total->unpriced);
}
