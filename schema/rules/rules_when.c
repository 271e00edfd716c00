/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/rules/rules_when.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/base/text.h"
#include "schema/rules/rules_check.h"
#include "schema/tables/tables.h"

/* The place of a field in the job. */
struct when_place {
	const struct field *field;
	const void *owner;  /* the message that has the member */
	const void *member; /* its value */
	bool given;         /* the file has it */
	bool unknown;       /* the file may have it, not understood */
	const struct node *value, *key; /* set if the file has it */
};

/* Goes to the block of a provider; returns whether there is one. */
static bool find_block(const struct job *job, const char *name,
		       const struct message **message, const void **data)
{
	size_t i;

	for (i = 0; i < job->jobrun.block_count; i++) {
		const struct job_block *block = &job->jobrun.blocks[i];

		if (strcmp(block->name, name) != 0)
			continue;
		*message = block->message;
		*data = block->data;
		return true;
	}
	return false;
}

static bool find(const struct check *check, const char *path,
		 struct when_place *out)
{
	const struct message *message = &message_job;
	const void *data = check->job;
	const struct field *field;
	char name[RULE_PATH_SIZE];

	*out = (struct when_place){ 0 };
	for (;; path += *path == '.') {
		const struct message_head *head = data;
		size_t len = strcspn(path, ".");

		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		path += len;
		if (message == &message_jobrun &&
		    find_block(check->job, name, &message, &data) && *path)
			continue;
		field = message_field(message, name);
		if (!field)
			return false;
		out->unknown |= head->strange ||
				message_refused(message, data, field->name);
		if (!*path)
			break;
		message = field->message;
		data = (const char *)data + field->offset;
	}
	out->field = field;
	out->owner = data;
	out->member = (const char *)data + field->offset;
	out->given = message_has(message, data, field->name);
	out->value = value_of(data, field->name);
	out->key = key_of(data, field->name);
	return true;
}

const struct node *when_node(const struct check *check, const char *path)
{
	struct when_place at;

	return find(check, path, &at) ? at.value : NULL;
}

static long number_of(const struct when_place *at)
{
	switch (at->field->type) {
	case FIELD_INT:
	case FIELD_DURATION:
		return *(const long *)at->member;
	case FIELD_STRINGS:
		return (long)((const struct strings *)at->member)->count;
	case FIELD_PAIRS:
		return (long)((const struct pairs *)at->member)->count;
	default:
		return 0;
	}
}

/* Returns the value as in the file; "" for none and for several values. */
static const char *text_of(const struct when_place *at,
			   char out[RULE_PATH_SIZE])
{
	const char *text;

	switch (at->field->type) {
	case FIELD_STRING:
		text = *(const char *const *)at->member;
		return text ? text : "";
	case FIELD_ENUM:
		return at->field->values[*(const int *)at->member];
	case FIELD_BOOL:
		return *(const bool *)at->member ? "true" : "false";
	case FIELD_INT:
	case FIELD_STRINGS:
	case FIELD_PAIRS:
		snprintf(out, RULE_PATH_SIZE, "%ld", number_of(at));
		return out;
	default:
		return "";
	}
}

/* Replaces {role} in a path or a message. */
static void put_role(struct buf *out, const char *text, const char *role)
{
	const char *mark;

	while ((mark = strstr(text, "{role}"))) {
		buf_add(out, text, (size_t)(mark - text));
		buf_puts(out, role);
		text = mark + strlen("{role}");
	}
	buf_puts(out, text);
}

const char *rule_path(const char *path, const char *role,
		      char out[RULE_PATH_SIZE])
{
	struct buf text = { 0 };

	put_role(&text, path, role);
	snprintf(out, RULE_PATH_SIZE, "%s", buf_text(&text));
	buf_done(&text);
	return out;
}

static bool text_has_end(const char *text, const char *const *ends)
{
	for (; *ends; ends++)
		if (text_ends(text, *ends))
			return true;
	return false;
}

/* Whether an item of the list ends like that; the place is then the item's. */
static bool item_ends(struct when_place *at, const char *const *ends)
{
	const struct strings *all = at->member;
	const struct node *list = at->value;
	const struct item *item =
		list && list->count == all->count ? list->items : NULL;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (text_has_end(all->items[i], ends)) {
			at->value = item ? item->value : list;
			return true;
		}
		item = item ? item->next : NULL;
	}
	return false;
}

static bool has_any(const char *text, const char *const *values,
		    bool (*is)(const char *, const char *))
{
	for (; *values; values++)
		if (is(text, *values))
			return true;
	return false;
}

static bool is_equal(const char *text, const char *value)
{
	return !strcmp(text, value);
}

static bool contains(const char *text, const char *value)
{
	return strstr(text, value) != NULL;
}

static bool tier_has(const struct check *check, const char *tier,
		     const char *role)
{
	const struct tier *one = catalogue_tier(check->catalogue, tier);

	if (!strcmp(role, "master"))
		return true;
	if (!one)
		return false;
	return !strcmp(role, "worker") ? one->worker_count > 0
	       : !strcmp(role, "parameterServer")
		       ? one->parameter_server_count > 0
		       : false;
}

static bool holds(const struct check *check, const struct condition *one,
		  const char *role, struct when_place *at)
{
	char room[RULE_PATH_SIZE];
	const char *text = text_of(at, room);

	switch (one->op) {
	case RULE_GIVEN:
		return at->given;
	case RULE_ABSENT:
		return !at->given && !at->unknown;
	case RULE_IS:
		return has_any(text, one->values, is_equal);
	case RULE_NOT:
		return !has_any(text, one->values, is_equal);
	case RULE_NOT_STARTS:
		return !has_any(text, one->values, text_starts);
	case RULE_ENDS:
		return at->field->type == FIELD_STRINGS
			       ? item_ends(at, one->values)
			       : text_has_end(text, one->values);
	case RULE_LACKS:
		return at->given && !has_any(text, one->values, contains);
	case RULE_OVER:
		return number_of(at) > atol(one->values[0]);
	case RULE_UNDER:
		return !at->unknown && number_of(at) < atol(one->values[0]);
	case RULE_LEGACY:
		return category_of(check, text) == CATEGORY_LEGACY;
	case RULE_COMPUTE:
		return category_of(check, text) == CATEGORY_COMPUTE;
	case RULE_HAS:
		return tier_has(check, text, role);
	case RULE_HAS_NO:
		return !at->unknown && !tier_has(check, text, role);
	}
	return false;
}

/* Replaces {PATH} in a message by the value of the job. */
static void put_values(const struct check *check,
		       const struct when_place *found, const char *text,
		       struct buf *out)
{
	char path[RULE_PATH_SIZE], room[RULE_PATH_SIZE], shown[SHORT_SIZE];
	struct when_place at;
	const char *end;

	for (; *text; text++) {
		end = *text == '{' ? strchr(text, '}') : NULL;
		if (end) {
			snprintf(path, sizeof(path), "%.*s",
				 (int)(end - text - 1), text + 1);
			if (find(check, path, &at)) {
				bool item = at.value != found->value &&
					    at.member == found->member;

				buf_puts(out,
					 text_short(item ? found->value->text
							 : text_of(&at, room),
						    shown));
				text = end;
				continue;
			}
		}
		buf_putc(out, *text);
	}
}

static void put(const struct check *check, const struct when_place *found,
		const char *template, const char *role, struct buf *out)
{
	struct buf text = { 0 };

	buf_clear(out);
	put_role(&text, template, role);
	put_values(check, found, buf_text(&text), out);
	buf_done(&text);
}

/* Reports the rule at the place that the conditions have found. */
static void say(const struct check *check, const char *role,
		const struct when_place *found)
{
	const struct condition *one;
	struct buf text = { 0 };
	char path[RULE_PATH_SIZE];
	struct when_place at;

	put(check, found, check->rule->message, role, &text);
	broken(check, found->value, rule_path(check->rule->at, role, path),
	       "%s", buf_text(&text));
	for (one = check->rule->when; one->path; one++) {
		rule_path(one->path, role, path);
		if (one->label && find(check, path, &at) && at.value)
			problem_also(check->found, at.value, "%s", one->label);
	}
	if (check->rule->hint) {
		put(check, found, check->rule->hint, role, &text);
		problem_hint(check->found, "%s", buf_text(&text));
	}
	buf_done(&text);
}

static void check_role(const struct check *check, const char *role)
{
	const struct condition *one;
	struct when_place at, found = { 0 };
	char path[RULE_PATH_SIZE];

	for (one = check->rule->when; one->path; one++) {
		rule_path(one->path, role, path);
		if (!find(check, path, &at) || !holds(check, one, role, &at))
			return;
		if (!strcmp(one->path, check->rule->at) && !found.value)
			found = at;
	}
	if (found.value)
		say(check, role, &found);
}

const char *const *rule_roles(const struct rule *rule)
{
	static const char *const all[] = { "master", "worker",
					   "parameterServer", "evaluator",
					   NULL };
	static const char *const none[] = { "", NULL };

	if (!strstr(rule->at, "{role}"))
		return none;
	return rule->roles ? rule->roles : all;
}

void check_when(const struct check *check)
{
	const char *const *role = rule_roles(check->rule);

	for (; *role; role++)
		check_role(check, *role);
}
