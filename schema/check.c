/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/tables.h"

#include <ctype.h>
#include <string.h>

#define LABEL_MAX 63

static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char digits[] = "0123456789";

static bool is_letter(char c)
{
	return c && strchr(letters, c);
}

int check_job_id(const char *value, struct error *err)
{
	size_t i, len = strlen(value);

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)value[i]) && value[i] != '_')
			break;
	if (i < len || !is_letter(value[0]))
		return error_set(err, ERROR_INVALID,
				 "may contain only letters, digits and "
				 "underscores and must start with a letter");
	if (len > JOB_ID_MAX)
		return error_set(err, ERROR_INVALID,
				 "is longer than %d characters", JOB_ID_MAX);
	return 0;
}

/* google.protobuf.Duration, as JSON has it. */
int check_seconds(const char *value, struct error *err)
{
	size_t n = strspn(value, digits), fraction;

	if (!n)
		goto bad;
	value += n;
	if (*value == '.') {
		fraction = strspn(++value, digits);
		if (!fraction || fraction > 9)
			goto bad;
		value += fraction;
	}
	if (!strcmp(value, "s"))
		return 0;
bad:
	return error_set(err, ERROR_INVALID,
			 "must be a duration in seconds that ends in s, such "
			 "as \"3600s\"");
}

/* All of these bytes are ASCII: isalnum() is that of the C locale. */
static bool is_label(const char *value)
{
	for (; *value; value++)
		if (!strchr(lower, *value) && !strchr(digits, *value) &&
		    *value != '_' && *value != '-')
			return false;
	return true;
}

int check_label(const char *value, struct error *err)
{
	if (!is_label(value))
		return error_set(err, ERROR_INVALID,
				 "may contain only lower-case letters, "
				 "digits, _ and -");
	if (strlen(value) > LABEL_MAX)
		return error_set(err, ERROR_INVALID,
				 "is longer than %d characters", LABEL_MAX);
	return 0;
}

int check_label_key(const char *key, struct error *err)
{
	if (!is_label(key) || !*key || !strchr(lower, *key))
		return error_set(err, ERROR_INVALID,
				 "may contain only lower-case letters, "
				 "digits, _ and -, and must start with a "
				 "letter");
	return check_label(key, err);
}

int check_variable(const char *name, struct error *err)
{
	const char *p;

	for (p = name; is_letter(*p) || *p == '_' ||
		       (p > name && isdigit((unsigned char)*p));
	     p++)
		;
	if (*p || p == name)
		return error_set(err, ERROR_INVALID,
				 "is no name of a variable: letters, digits "
				 "and underscores, not a digit first");
	return 0;
}

int check_email(const char *value, struct error *err)
{
	const char *at = strchr(value, '@');

	if (!at || at == value || !at[1] || strpbrk(value, " \t\n/"))
		return error_set(err, ERROR_INVALID,
				 "must be an e-mail address, such as "
				 "name@project.iam.gserviceaccount.com");
	return 0;
}
