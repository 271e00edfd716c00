/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue/prices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "schema/catalogue/shipped.h"

#define FILE_MAX (16 << 20)
/* The most that an hour costs: sums stay far from the end of a double. */
#define PRICE_MAX 1e9

static const cyaml_schema_field_t price_fields[] = {
	CYAML_FIELD_STRING_PTR("machineType",
			       CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
			       struct price, machine_type, 1, SHIPPED_NAME_MAX),
	CYAML_FIELD_STRING_PTR(
		"acceleratorType", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
		struct price, accelerator_type, 1, SHIPPED_NAME_MAX),
	CYAML_FIELD_STRING_PTR("region",
			       CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
			       struct price, region, 1, SHIPPED_NAME_MAX),
	CYAML_FIELD_FLOAT("perHour", CYAML_FLAG_DEFAULT, struct price,
			  per_hour),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t price_item = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct price, price_fields),
};

static const cyaml_schema_field_t list_fields[] = {
	CYAML_FIELD_STRING_PTR("currency", CYAML_FLAG_POINTER,
			       struct price_list, currency, 1, 8),
	CYAML_FIELD_SEQUENCE_COUNT("prices", CYAML_FLAG_POINTER,
				   struct price_list, prices, price_count,
				   &price_item, 1, CYAML_UNLIMITED),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t list_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct price_list, list_fields),
};

static const char *name_of(const struct price *price)
{
	return price->machine_type ? price->machine_type
				   : price->accelerator_type;
}

static int by_what(const void *a, const void *b)
{
	const struct price *const *x = a, *const *y = b;
	const char *here = (*x)->region, *there = (*y)->region;
	int cmp = strcmp(name_of(*x), name_of(*y));

	return cmp ? cmp : strcmp(here ? here : "", there ? there : "");
}

/* Two prices for the same thing are an error. */
static int check_twins(const struct price_list *list, struct error *err)
{
	const struct price **all =
		mem_alloc((list->price_count + 1) * sizeof(*all));
	size_t i;
	int ret = 0;

	for (i = 0; i < list->price_count; i++)
		all[i] = &list->prices[i];
	qsort(all, list->price_count, sizeof(*all), by_what);
	for (i = 1; i < list->price_count && ret == 0; i++)
		if (!by_what(&all[i - 1], &all[i]))
			ret = error_set(
				err, ERROR_INVALID, "'%s' has two prices%s%s%s",
				name_of(all[i]), all[i]->region ? " in '" : "",
				all[i]->region ? all[i]->region : "",
				all[i]->region ? "'" : "");
	free(all);
	return ret;
}

int prices_check(const struct price_list *list, struct error *err)
{
	size_t i;

	for (i = 0; i < list->price_count; i++) {
		const struct price *one = &list->prices[i];

		if (!one->machine_type == !one->accelerator_type)
			return error_set(err, ERROR_INVALID,
					 "prices[%zu] must have a machineType "
					 "or an acceleratorType, and not both",
					 i);
		if (!(one->per_hour >= 0) || one->per_hour > PRICE_MAX)
			return error_set(err, ERROR_INVALID,
					 "perHour of '%s' must be 0 to %g, not "
					 "%g",
					 name_of(one), PRICE_MAX,
					 one->per_hour);
	}
	return check_twins(list, err);
}

struct price_list *prices_read(const char *path, struct error *err)
{
	struct price_list *list = NULL;
	size_t len;
	char *text = file_read_argument(path, FILE_MAX, &len, err);

	if (!text) {
		error_prefix(err, "price list");
		return NULL;
	}
	list = shipped_read(text, len, &list_schema, err);
	if (!list || prices_check(list, err) < 0) {
		shipped_place(err, path, text);
		error_prefix(err, "price list '%s'", path);
		prices_free(list);
		list = NULL;
	}
	free(text);
	return list;
}

void prices_free(struct price_list *list)
{
	shipped_free(list, &list_schema);
}
