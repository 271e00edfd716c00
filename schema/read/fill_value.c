/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a value to the type of its field; numbers, durations and
 * booleans. */
#include "schema/read/fill_value.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/text.h"
#include "core/base/units.h"
#include "schema/read/fill_part.h"
#include "schema/yaml/node.h"
#include "schema/yaml/scalar.h"

static bool in_range(struct fill *fill, const struct spot *at, long value,
		     long shown_unit)
{
	const struct field *field = at->field;
	long max = field->max || field->min ? field->max : LONG_MAX;
	char name[SHORT_SIZE];
	const char *unit = shown_unit ? "s" : "";

	if (value >= field->min && value <= max)
		return true;
	spot_name(at, name);
	if (value < 0)
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "range", "%s must not be negative", name);
	else if (value < field->min)
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "range", "%s must be at least %ld%s, not %ld%s",
			    name, field->min, unit, value, unit);
	else
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "range", "%s must be at most %ld%s, not %ld%s",
			    name, max, unit, value, unit);
	return false;
}

/* A size with its unit, where the unit is in the name of the field. */
static void hint_gigabytes(struct fill *fill, const struct spot *at)
{
	char unit[8];
	long value;
	int end = 0;

	if (!text_ends(at->field->name, "Gb") ||
	    at->value->kind != NODE_SCALAR ||
	    sscanf(at->value->text, "%6ld %4[A-Za-z]%n", &value, unit, &end) !=
		    2 ||
	    at->value->text[end])
		return;
	if (!strcasecmp(unit, "t") || !strcasecmp(unit, "tb"))
		value *= 1000;
	else if (strcasecmp(unit, "g") != 0 && strcasecmp(unit, "gb") != 0 &&
		 strcasecmp(unit, "gi") != 0 && strcasecmp(unit, "gib") != 0)
		return;
	if (value < at->field->min || value > at->field->max)
		return;
	problem_hint(fill->found, "write %ld: it is in GB", value);
	problem_fix(fill->found, at->value, "%ld", value);
}

static bool fill_int(struct fill *fill, const struct spot *at, long *out)
{
	char name[SHORT_SIZE], shown[SHORT_SIZE], wanted[SHORT_SIZE];
	bool odd = false;
	long value;

	if (!scalar_int(at->value, &value, &odd)) {
		if (at->field->max)
			snprintf(wanted, sizeof(wanted),
				 "an integer from %ld to %ld", at->field->min,
				 at->field->max);
		else
			snprintf(wanted, sizeof(wanted), "an integer%s",
				 scalar_kind(at->value) == SCALAR_INT
					 ? " of at most 18 digits"
					 : "");
		spot_wrong_type(fill, at, wanted);
		hint_gigabytes(fill, at);
		return false;
	}
	if (!in_range(fill, at, value, 0))
		return false;
	if (odd) {
		problem_add(fill->found, SEVERITY_WARNING, at->value, at->path,
			    "number-form", "%s %s is read as the number %ld",
			    spot_name(at, name),
			    text_short(at->value->text, shown), value);
		problem_hint(fill->found, "write %ld", value);
		problem_fix(fill->found, at->value, "%ld", value);
	}
	*out = value;
	return true;
}

bool fill_parse_duration(const char *text, long *out, struct error *err)
{
	const char *point = strchr(text, '.');
	char whole[32];
	size_t len;

	/* Only the API's own form has fractions: "3600.5s". */
	if (!point || strcmp(point + 1 + strspn(point + 1, "0123456789"), "s"))
		return duration_parse(text, out, err) == 0;
	len = (size_t)(point - text);
	if (len >= sizeof(whole)) {
		error_set(err, ERROR_INVALID, "is too long");
		return false;
	}
	memcpy(whole, text, len);
	whole[len] = '\0';
	if (duration_parse(whole, out, err) < 0)
		return false;
	if (point[1 + strspn(point + 1, "0")] != 's')
		(*out)++;
	return true;
}

/* "1-12:00:00" and "1:30:00", as Slurm has them. */
static bool parse_clock(const char *text, long *out)
{
	unsigned days = 0, hours, minutes, seconds;
	int end = 0;

	if (strchr(text, '-')) {
		if (sscanf(text, "%4u-%2u:%2u:%2u%n", &days, &hours, &minutes,
			   &seconds, &end) != 4)
			return false;
	} else if (sscanf(text, "%4u:%2u:%2u%n", &hours, &minutes, &seconds,
			  &end) != 3) {
		return false;
	}
	if (text[end] || minutes > 59 || seconds > 59)
		return false;
	*out = ((days * 24L + hours) * 60 + minutes) * 60 + seconds;
	return true;
}

/* "90 minutes": what people write who have not read how. */
static bool parse_words(const char *text, long *out)
{
	static const struct {
		const char *names;
		long seconds;
	} units[] = {
		{ " s sec secs second seconds ", 1 },
		{ " m min mins minute minutes ", 60 },
		{ " h hr hrs hour hours ", 3600 },
		{ " d day days ", 86400 },
	};
	char word[16], *found;
	unsigned count;
	int end = 0;
	size_t i;

	word[0] = ' ';
	if (sscanf(text, "%6u %8[a-z]%n", &count, word + 1, &end) != 2 ||
	    text[end])
		return false;
	strcat(word, " ");
	for (i = 0; i < COUNT(units); i++) {
		found = strstr(units[i].names, word);
		if (found) {
			*out = count * units[i].seconds;
			return true;
		}
	}
	return false;
}

/* In words of other tools. */
static void hint_duration(struct fill *fill, const char *text)
{
	long value;

	if (parse_clock(text, &value) || parse_words(text, &value))
		problem_hint(fill->found, "write \"%lds\"", value);
}

static bool fill_duration(struct fill *fill, const struct spot *at, long *out)
{
	char name[SHORT_SIZE], shown[SHORT_SIZE];
	const char *text = fill_text(fill, at);
	struct error err = { 0 };
	long value;

	if (!text)
		return false;
	spot_name(at, name);
	text_short(text, shown);
	if (at->field->check && at->field->check(text, &err) < 0) {
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "duration", "%s %s, found \"%s\"", name, err.text,
			    shown);
		if (duration_parse(text, &value, &err) == 0) {
			snprintf(shown, sizeof(shown), "%lds", value);
			problem_hint(fill->found, "write \"%s\"", shown);
			problem_respell(fill->found, at->value, shown);
		} else {
			hint_duration(fill, text);
		}
		return false;
	}
	if (!fill_parse_duration(text, &value, &err)) {
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "duration", "%s: %s", name, err.text);
		hint_duration(fill, text);
		return false;
	}
	if (!in_range(fill, at, value, 1))
		return false;
	*out = value;
	return true;
}

static bool fill_bool(struct fill *fill, const struct spot *at, bool *out)
{
	const struct node *value = at->value;
	char name[SHORT_SIZE];

	if (!scalar_bool(value, out)) {
		spot_wrong_type(fill, at, "true or false");
		return false;
	}
	if (!value->plain) {
		problem_add(fill->found, SEVERITY_WARNING, value, at->path,
			    "quoted", "%s is a boolean, but this is a string",
			    spot_name(at, name));
		problem_hint(fill->found, "write %s without quotes",
			     *out ? "true" : "false");
		problem_fix(fill->found, value, *out ? "true" : "false");
	}
	return true;
}

bool fill_field(struct fill *fill, const struct spot *at, void *member)
{
	int i;

	switch (at->field->type) {
	case FIELD_STRING:
		return fill_string(fill, at, member);
	case FIELD_INT:
		return fill_int(fill, at, member);
	case FIELD_DURATION:
		return fill_duration(fill, at, member);
	case FIELD_DOUBLE:
		if (scalar_double(at->value, member))
			return true;
		spot_wrong_type(fill, at, "a number");
		return false;
	case FIELD_BOOL:
		return fill_bool(fill, at, member);
	case FIELD_ENUM:
		i = fill_enum(fill, at);
		if (i >= 0)
			*(int *)member = i;
		return i >= 0;
	case FIELD_STRINGS:
		return fill_strings(fill, at, member);
	case FIELD_DOUBLES:
		return fill_doubles(fill, at, member);
	case FIELD_PAIRS:
		return fill_pairs(fill, at, member);
	case FIELD_TREE:
		return fill_tree(fill, at, member);
	case FIELD_MESSAGES:
	case FIELD_NAMED:
		return fill_messages(fill, at, member);
	case FIELD_MESSAGE:
		if (!fill_is_map(fill, at))
			return false;
		/* fill_keys() has set the members of the surrounding
		 * message. */
		fill_keys(fill, at->field->message, at, member);
		return true;
	}
	return false;
}
