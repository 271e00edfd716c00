/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/fake/trouble.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/text.h"
#include "core/base/units.h"

static const char *const calls[FAKE_CALL_COUNT] = {
	[FAKE_READ] = "read",     [FAKE_CREATE] = "create",
	[FAKE_UPDATE] = "update", [FAKE_DELETE] = "delete",
	[FAKE_WAIT] = "wait",     [FAKE_CANCEL] = "cancel",
};

static const char *const hows[TROUBLE_COUNT] = {
	[TROUBLE_NONE] = "none",
	[TROUBLE_PERMANENT] = "permanent",
	[TROUBLE_DENIED] = "denied",
	[TROUBLE_TRY_AGAIN] = "try-again",
	[TROUBLE_UNREACHABLE] = "unreachable",
	[TROUBLE_QUOTA] = "quota",
	[TROUBLE_LOST] = "lost",
	[TROUBLE_TWICE] = "twice",
	[TROUBLE_KILL] = "kill",
	[TROUBLE_KILL_AFTER] = "kill-after",
};

const char *fake_call_name(enum fake_call call)
{
	return calls[call];
}

const char *trouble_name(enum trouble_how how)
{
	return hows[how];
}

static bool fake_name_is(const char *full, const char *name)
{
	size_t n = strlen(full), m = strlen(name);

	return text_ends(full, name) && (n == m || full[n - m - 1] == '-');
}

bool selector_takes(const struct selector *at,
		    const struct trouble_tally *tally)
{
	bool any = at->call < 0;
	long n;

	if (!any && at->call != (int)tally->call)
		return false;
	if (!at->name[0]) {
		n = any ? tally->of_any : tally->of_call;
	} else {
		if (!fake_name_is(tally->name, at->name))
			return false;
		n = any ? tally->of_any_here : tally->of_call_here;
	}
	return n >= at->first && n <= at->last;
}

/* Parses "3", "1-3" or "*". */
static int range_parse(char *text, struct selector *at, struct error *err)
{
	char *dash = strchr(text, '-');

	if (!strcmp(text, "*"))
		return 0;
	if (dash)
		*dash++ = '\0';
	if (number_parse(text, 1, LONG_MAX, &at->first, err) < 0)
		return -1;
	at->last = at->first;
	return dash ? number_parse(dash, at->first, LONG_MAX, &at->last, err)
		    : 0;
}

static int which_parse(char *text, struct selector *at, struct error *err)
{
	char *hash = strchr(text, '#');

	at->first = 1;
	at->last = LONG_MAX;
	if (!hash && (isdigit((unsigned char)text[0]) || text[0] == '*'))
		return range_parse(text, at, err);
	if (hash)
		*hash++ = '\0';
	if (!text[0] || strlen(text) >= sizeof(at->name))
		return error_set(err, ERROR_INVALID,
				 "'%.40s' is no name of a resource", text);
	strcpy(at->name, text);
	return hash ? range_parse(hash, at, err) : 0;
}

/* Parses "CALL:WHICH:", using `copy`; returns the text after it, or NULL. */
static char *selector_parse(const char *text, char *copy, size_t size,
			    struct selector *at, struct error *err)
{
	char *which, *rest;

	memset(at, 0, sizeof(*at));
	at->call = -1;
	if (strlen(text) >= size) {
		error_set(err, ERROR_INVALID, "is too long");
		return NULL;
	}
	strcpy(copy, text);
	which = strchr(copy, ':');
	rest = which ? strchr(which + 1, ':') : NULL;
	if (!rest) {
		error_set(err, ERROR_INVALID, "must be CALL:WHICH:WHAT");
		return NULL;
	}
	*which++ = '\0';
	*rest++ = '\0';
	if (strcmp(copy, "*") != 0) {
		for (at->call = 0; at->call < FAKE_CALL_COUNT; at->call++)
			if (!strcmp(copy, calls[at->call]))
				break;
		if (at->call == FAKE_CALL_COUNT) {
			error_set(err, ERROR_INVALID, "'%s' is no call", copy);
			return NULL;
		}
	}
	return which_parse(which, at, err) < 0 ? NULL : rest;
}

int trouble_parse(const char *text, struct trouble *out, struct error *err)
{
	char copy[512];
	char *how = selector_parse(text, copy, sizeof(copy), &out->at, err);
	int i;

	if (!how)
		return -1;
	for (i = TROUBLE_NONE + 1; i < TROUBLE_COUNT; i++) {
		if (!strcmp(how, hows[i])) {
			out->how = (enum trouble_how)i;
			return 0;
		}
	}
	return error_set(err, ERROR_INVALID,
			 "'%s' is no way to fail: permanent, denied, "
			 "try-again, unreachable, quota, lost, twice, kill or "
			 "kill-after",
			 how);
}

int meddling_parse(const char *text, struct meddling *out, struct error *err)
{
	char copy[512];
	char *what = selector_parse(text, copy, sizeof(copy), &out->at, err);
	char *value, *property;

	if (!what)
		return -1;
	value = strchr(what, '=');
	if (!value)
		return error_set(err, ERROR_INVALID,
				 "must end in NAME=gone or "
				 "NAME.PROPERTY=VALUE");
	*value++ = '\0';
	property = strchr(what, '.');
	if (property)
		*property++ = '\0';
	else if (strcmp(value, "gone") != 0)
		return error_set(err, ERROR_INVALID,
				 "'%s' must be 'gone', or the name must have "
				 "a property",
				 value);
	if (strlen(what) >= sizeof(out->name) ||
	    strlen(value) >= sizeof(out->value) ||
	    (property && strlen(property) >= sizeof(out->property)))
		return error_set(err, ERROR_INVALID, "is too long");
	strcpy(out->name, what);
	strcpy(out->property, property ? property : "");
	strcpy(out->value, value);
	return 0;
}
