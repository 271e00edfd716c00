/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/shape.h"

#include <string.h>

#include "schema/schema.h"
#include "schema/tables/tables.h"

struct shape shape_root(const struct schema_options *options)
{
	return (struct shape){ .options = options, .keys = &message_job };
}

static const struct message *block_of(const struct shape *shape,
				      const char *key)
{
	const struct schema_options *options = shape->options;
	size_t i;

	if (shape->keys != &message_jobrun)
		return NULL;
	for (i = 0; i < options->provider_count; i++)
		if (!strcmp(options->providers[i].name, key))
			return options->providers[i].block;
	return NULL;
}

struct shape shape_under(const struct shape *shape, const char *key)
{
	struct shape under = { .options = shape->options };
	const struct field *field;

	if (!shape->keys) {
		under.keys = shape->items;
		return under;
	}
	field = message_field(shape->keys, key);
	if (!field)
		under.keys = block_of(shape, key);
	else if (field->type == FIELD_MESSAGE)
		under.keys = field->message;
	else
		under.items = field->message;
	return under;
}

struct shape shape_item(const struct shape *shape)
{
	return (struct shape){ .options = shape->options,
			       .keys = shape->items };
}

const char *shape_name(const struct shape *shape, const char *key)
{
	const struct field *field =
		shape->keys ? message_field(shape->keys, key) : NULL;

	return field ? field->name : key;
}
