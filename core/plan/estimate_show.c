/* SPDX-License-Identifier: Apache-2.0 */
/* Writes estimates as text and as JSON.  In JSON, too, an amount of money is a
 * string: a number would be rounded. */
#include "core/base/units.h"
#include "core/plan/estimate.h"

#include <stdio.h>
#include <string.h>

#include "core/base/json.h"

#define MONEY_SIZE 48
#define UNPRICED_MAX 10 /* names in one sentence */

/* Writes an amount with two decimals, below 1 with four. */
static void money_format(double amount, char *out)
{
	snprintf(out, MONEY_SIZE, "%.*f", amount > 0 && amount < 1 ? 4 : 2,
		 amount);
}

static void add_count(struct buf *out, long count, const char *one,
		      const char *many)
{
	buf_printf(out, "%s%ld %s", out->len ? ", " : "", count,
		   count == 1 ? one : many);
}

static void add_counts(long machines, long accelerators, long cores,
		       bool uncounted, struct buf *out)
{
	if (machines)
		add_count(out, machines, "machine", "machines");
	if (accelerators)
		add_count(out, accelerators, "accelerator", "accelerators");
	if (cores)
		add_count(out, cores, uncounted ? "core or more" : "core",
			  uncounted ? "cores or more" : "cores");
}

void estimate_text(const struct estimate *estimate, struct buf *out)
{
	struct buf line = { 0 };
	char limit[32], amount[MONEY_SIZE];
	double cost;

	add_counts(estimate->machines, estimate->accelerators, estimate->cores,
		   estimate->uncounted, &line);
	if (estimate->limit_s) {
		duration_format(estimate->limit_s, limit, sizeof(limit));
		buf_printf(&line, ", at most %s", limit);
	} else {
		buf_puts(&line, ", no time limit");
	}
	if (estimate_cost(estimate, &cost)) {
		money_format(cost, amount);
		buf_printf(&line, ", at most %s %s", amount,
			   estimate->currency);
	} else if (estimate->currency && !estimate->unpriced_count) {
		money_format(estimate->per_hour, amount);
		buf_printf(&line, ", %s %s per hour", amount,
			   estimate->currency);
	}
	buf_puts(out, buf_text(&line));
	buf_done(&line);
}

void estimate_total_text(const struct estimate_total *total, struct buf *out)
{
	struct buf line = { 0 };
	char amount[MONEY_SIZE];

	add_counts(total->machines, total->accelerators, total->cores,
		   total->uncounted, &line);
	if (total->unlimited < total->jobs)
		buf_printf(&line, ", at most %.1f machine hours",
			   total->machine_hours);
	if (total->unlimited)
		buf_printf(&line, ", %zu %s without a time limit",
			   total->unlimited,
			   total->unlimited == 1 ? "run" : "runs");
	if (total->currency && total->unknown < total->jobs) {
		money_format(total->cost, amount);
		buf_printf(&line, ", at most %s %s", amount, total->currency);
		if (total->unknown)
			buf_printf(&line, " without %zu %s of unknown cost",
				   total->unknown,
				   total->unknown == 1 ? "run" : "runs");
	}
	buf_puts(out, buf_text(&line));
	buf_done(&line);
}

void estimate_unpriced_text(const struct estimate_total *total, struct buf *out)
{
	size_t i;

	if (!total->unpriced_count)
		return;
	buf_puts(out, "The price list has no price for ");
	for (i = 0; i < total->unpriced_count && i < UNPRICED_MAX; i++)
		buf_printf(out, "%s%s", i ? ", " : "", total->unpriced[i]);
	if (i < total->unpriced_count)
		buf_printf(out, " and %zu more", total->unpriced_count - i);
	buf_putc(out, '.');
}

static void put_money(json_t *out, const char *key, double amount)
{
	char text[MONEY_SIZE];

	money_format(amount, text);
	json_put_text(out, key, text);
}

static json_t *items_json(const struct estimate *estimate)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < estimate->item_count; i++) {
		const struct estimate_item *item = &estimate->items[i];
		json_t *one = json_object();

		if (item->machine_type) {
			json_put_text(one, "machineType", item->machine_type);
			json_put_int(one, "machines", item->machines);
		}
		if (item->accelerator_type) {
			json_put_text(one, "acceleratorType",
				      item->accelerator_type);
			json_put_int(one, "accelerators", item->accelerators);
		}
		json_array_append_new(out, one);
	}
	return out;
}

json_t *estimate_json(const struct estimate *estimate)
{
	json_t *out = json_object();
	double cost;

	json_put_int(out, "machines", estimate->machines);
	json_put_int(out, "accelerators", estimate->accelerators);
	json_put(out, "cores",
		 estimate->uncounted ? json_null()
				     : json_integer(estimate->cores));
	json_put(out, "maxRunningSeconds",
		 estimate->limit_s ? json_integer(estimate->limit_s)
				   : json_null());
	json_put(out, "items", items_json(estimate));
	if (!estimate->currency)
		return out;
	json_put_text(out, "currency", estimate->currency);
	if (!estimate->unpriced_count)
		put_money(out, "costPerHour", estimate->per_hour);
	if (estimate_cost(estimate, &cost))
		put_money(out, "maxCost", cost);
	json_put(out, "unpriced",
		 json_texts(estimate->unpriced, estimate->unpriced_count));
	return out;
}

json_t *estimate_total_json(const struct estimate_total *total)
{
	json_t *out = json_object();
	char hours[48];

	json_put_int(out, "runs", (long long)total->jobs);
	json_put_int(out, "machines", total->machines);
	json_put_int(out, "accelerators", total->accelerators);
	json_put(out, "cores",
		 total->uncounted ? json_null() : json_integer(total->cores));
	snprintf(hours, sizeof(hours), "%.2f", total->machine_hours);
	json_put_text(out, "maxMachineHours", hours);
	json_put_int(out, "runsWithoutLimit", (long long)total->unlimited);
	if (!total->currency)
		return out;
	json_put_text(out, "currency", total->currency);
	put_money(out, "maxCost", total->cost);
	json_put_int(out, "runsWithoutCost", (long long)total->unknown);
	json_put(out, "unpriced",
		 json_texts(total->unpriced, total->unpriced_count));
	return out;
}
