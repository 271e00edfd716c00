/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/rules/rules_check.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/text.h"
#include "core/job/traits.h"
#include "schema/tables/tables.h"
#include "schema/yaml/scalar.h"

#define COMPUTE_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789"

const struct role_fields roles[ROLE_COUNT] = {
	[ROLE_MASTER] = {
		.title = "master",
		.type = "masterType",
		.config = "masterConfig",
	},
	[ROLE_WORKER] = {
		.title = "worker",
		.type = "workerType",
		.count = "workerCount",
		.config = "workerConfig",
	},
	[ROLE_PARAMETER_SERVER] = {
		.title = "parameter server",
		.type = "parameterServerType",
		.count = "parameterServerCount",
		.config = "parameterServerConfig",
	},
	[ROLE_EVALUATOR] = {
		.title = "evaluator",
		.type = "evaluatorType",
		.count = "evaluatorCount",
		.config = "evaluatorConfig",
	},
};

static const struct item *item_of(const void *message, const char *name)
{
	const struct message_head *head = message;
	const struct item *item;
	char snake[64];

	if (!head->node)
		return NULL;
	item = node_item(head->node, name);
	if (!item) {
		message_snake_name(name, snake, sizeof(snake));
		item = node_item(head->node, snake);
	}
	/* null means that the field is not given. */
	return item && !scalar_is_null(item->value) ? item : NULL;
}

const struct node *value_of(const void *message, const char *name)
{
	const struct item *item = item_of(message, name);

	return item ? item->value : NULL;
}

const struct node *key_of(const void *message, const char *name)
{
	const struct item *item = item_of(message, name);

	return item ? item->key : NULL;
}

bool input_refused(const struct check *check, const char *name)
{
	return message_refused(&message_training_input, check->in, name);
}

bool config_refused(const struct replica_config *config, const char *name)
{
	return message_refused(&message_replica_config, config, name);
}

const char *line_of(const struct check *check, const struct node *node,
		    const struct node *here, const char *label,
		    char out[LINE_SIZE])
{
	struct others *others = check->others;

	if (label && others->count < PROBLEM_LABELS_MAX) {
		others->nodes[others->count] = node;
		others->labels[others->count++] = label;
	}
	if (node->origin == here->origin)
		snprintf(out, LINE_SIZE, "line %u", node->line);
	else
		snprintf(out, LINE_SIZE, "%s:%u", node->origin->name,
			 node->line);
	return out;
}

__attribute__((format(printf, 5, 0))) static void
add(const struct check *check, enum severity severity, const struct node *at,
    const char *name, const char *format, va_list args)
{
	const struct path path = { .name = name };
	struct buf text = { 0 };
	size_t i;

	if (check->elsewhere || (check->rule->note && !check->asked))
		severity = SEVERITY_NOTE;
	if (check->elsewhere)
		buf_puts(&text, "on AI Platform: ");
	buf_vprintf(&text, format, args);
	problem_add(check->found, severity, at, &path, check->rule->id, "%s",
		    buf_text(&text));
	buf_done(&text);
	for (i = 0; i < check->others->count; i++)
		problem_also(check->found, check->others->nodes[i], "%s",
			     check->others->labels[i]);
	check->others->count = 0;
}

void broken(const struct check *check, const struct node *at, const char *path,
	    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(check, check->rule->severity, at, path, format, args);
	va_end(args);
}

void doubtful(const struct check *check, const struct node *at,
	      const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(check, SEVERITY_WARNING, at, path, format, args);
	va_end(args);
}

void mark_also(const struct check *check, const struct node *at,
	       const char *label)
{
	if (at)
		problem_also(check->found, at, "%s", label);
}

bool is_closed(const struct check *check)
{
	return check->asked && check->traits & TRAIT_AI_PLATFORM_RULES;
}

__attribute__((format(printf, 5, 6))) static void
put(const struct check *check, enum severity severity, const struct node *at,
    const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(check, severity, at, path, format, args);
	va_end(args);
}

void unknown(const struct check *check, const struct node *at, const char *path,
	     const char *value, const char *what)
{
	const char *name = strrchr(path, '.') + 1, *date;
	char shown[SHORT_SIZE];

	text_short(value, shown);
	date = check->catalogue->date;
	if (is_closed(check))
		put(check, SEVERITY_ERROR, at, path,
		    "\"%s\" \"%s\" is not a valid %s", name, shown, what);
	else
		put(check, SEVERITY_WARNING, at, path,
		    "\"%s\" \"%s\" is not a known %s: the catalogue is of %s",
		    name, shown, what, date ? date : "an unknown date");
}

bool looks_like_compute(const char *type)
{
	const char *p = type;

	while (islower((unsigned char)*p))
		p++;
	if (p == type || !isdigit((unsigned char)*p))
		return false;
	p += strspn(p, COMPUTE_LETTERS);
	return *p == '-' && p[1] && !p[strspn(p, COMPUTE_LETTERS "-")];
}

enum category category_of(const struct check *check, const char *type)
{
	const struct machine_family *family;

	if (catalogue_machine(check->catalogue, type, &family))
		return family->legacy ? CATEGORY_LEGACY : CATEGORY_COMPUTE;
	return looks_like_compute(type) ? CATEGORY_COMPUTE : CATEGORY_UNKNOWN;
}

void dated(const struct check *check, const struct node *at, const char *path,
	   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(check, check->asked ? SEVERITY_WARNING : SEVERITY_NOTE, at, path,
	    format, args);
	va_end(args);
}

bool is_cloud_tpu(const char *type)
{
	return type && !strcmp(type, "cloud_tpu");
}

bool is_tpu(const char *accelerator)
{
	return accelerator && text_starts(accelerator, "TPU_");
}

bool uses_tpu(const struct check *check)
{
	return check->in->scale_tier == SCALE_TIER_BASIC_TPU ||
	       is_cloud_tpu(check->in->worker_type);
}
