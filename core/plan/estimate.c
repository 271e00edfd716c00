/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/estimate.h"

#include <stdlib.h>
#include <string.h>

#include "core/job/machines.h"

/* ---- what a job uses ------------------------------------------------- */

static void add_group(struct estimate *out, const struct machine_group *group,
		      long at_once)
{
	struct estimate_item *item = &out->items[out->item_count];
	long count = group->count * at_once;

	if (!count || !(group->type || group->tpu))
		return;
	out->item_count++;
	*item = (struct estimate_item){
		/* On AI Platform a TPU worker is the TPU itself, without a
		 * machine. */
		.machine_type = group->tpu ? NULL : group->type,
		.machines = group->tpu ? 0 : count,
		.accelerator_type = group->accelerator_type,
		.accelerators = count * group->accelerator_count,
		.built_in = group->machine && group->machine->accelerator_type,
	};
	out->machines += item->machines;
	out->accelerators += item->accelerators;
	if (group->machine)
		out->cores += count * (long)group->machine->vcpus;
	else if (!group->tpu)
		out->uncounted = true;
}

/* ---- money ----------------------------------------------------------- */

static bool is_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Finds the price in the region, or else the price for all regions. */
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

static void pay_all(struct estimate *out, const struct price_list *list)
{
	size_t i;

	out->currency = list->currency;
	for (i = 0; i < out->item_count; i++) {
		const struct estimate_item *item = &out->items[i];

		if (item->machine_type)
			pay(out, list, item->machine_type, NULL,
			    item->machines);
		/* The price of a machine includes its built-in accelerators. */
		if (!item->built_in)
			pay(out, list, NULL, item->accelerator_type,
			    item->accelerators);
	}
}

int estimate_job(const struct job *job, const struct catalogue *catalogue,
		 const struct price_list *prices, long slices,
		 struct estimate *out)
{
	const struct training_input *in = &job->training_input;
	const struct hyperparameter_spec *tuned = &in->hyperparameters;
	struct machine_groups groups;
	struct error ignored;
	long at_once = 1;
	size_t i;

	*out = (struct estimate){ .limit_s = in->scheduling.max_running_time_s,
				  .region = in->region };
	if (machines_of(job, catalogue, &groups, &ignored) < 0)
		return -1;
	/* Each trial has machines of its own. */
	if (tuned->params.count && tuned->max_parallel_trials > 1)
		at_once = tuned->max_parallel_trials;
	for (i = 0; i < groups.count; i++)
		add_group(out, &groups.items[i],
			  groups.items[i].tpu ? at_once * slices : at_once);
	if (prices)
		pay_all(out, prices);
	return out->item_count ? 0 : -1;
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
