/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/pattern.h"
#include "core/base/text.h"
#include "core/base/units.h"

#define LABEL_MAX 63
#define DIGEST_HEX 64 /* of sha256 */
#define TAG_MAX 128

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

/* google.protobuf.Duration in its JSON form. */
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

/* All accepted bytes are ASCII: isalnum() uses the C locale. */
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
				 "is not the name of a variable: use letters, "
				 "digits and underscores, not a digit first");
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

static bool is_made_of(const char *text, size_t len, const char *more)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr(more, text[i]))
			return false;
	return len > 0;
}

/* Whether the text is "sha256:" and digits. */
static bool is_digest(const char *text)
{
	static const char prefix[] = "sha256:";

	if (!text_starts(text, prefix))
		return false;
	text += sizeof(prefix) - 1;
	return strlen(text) == DIGEST_HEX &&
	       strspn(text, "0123456789abcdef") == DIGEST_HEX;
}

/* Nonempty parts separated by slashes: "gcr.io/project/image". */
static bool is_image_path(const char *text, size_t len)
{
	const char *end = text + len, *part = text, *p;

	for (p = text; p <= end; p++) {
		if (p < end && *p != '/')
			continue;
		/* Only the first part may have a port. */
		if (!is_made_of(part, (size_t)(p - part),
				part == text && p < end ? "._-:" : "._-"))
			return false;
		if (*part == '-' || *part == '.')
			return false;
		part = p + 1;
	}
	return true;
}

int check_image(const char *value, struct error *err)
{
	const char *at = strchr(value, '@');
	const char *end = at ? at : value + strlen(value);
	const char *slash = memrchr(value, '/', (size_t)(end - value));
	const char *tag = memchr(slash ? slash : value, ':',
				 (size_t)(end - (slash ? slash : value)));

	if (strstr(value, "://"))
		return error_set(err, ERROR_INVALID,
				 "must be an image without a scheme, such as "
				 "gcr.io/project/image:tag");
	if (at && !is_digest(at + 1))
		return error_set(err, ERROR_INVALID,
				 "must have sha256: and 64 hexadecimal digits "
				 "after the @");
	if (tag && (!is_made_of(tag + 1, (size_t)(end - tag - 1), "._-") ||
		    end - tag - 1 > TAG_MAX))
		goto bad;
	if (is_image_path(value, (size_t)((tag ? tag : end) - value)))
		return 0;
bad:
	return error_set(err, ERROR_INVALID,
			 "must be a container image, such as "
			 "gcr.io/project/image:tag or "
			 "gcr.io/project/image@sha256:...");
}

static bool has_blank(const char *text)
{
	return text[strcspn(text, " \t\r\n")] != '\0';
}

/* Checks the start of a text up to a slash. */
static int check_bucket(const char *url, struct error *err)
{
	const char *value = url + strlen("gs://");
	size_t len = strcspn(value, "/");

	if (is_made_of(value, len, "._-"))
		return 0;
	while (len && is_made_of(value, 1, "._-")) {
		value++;
		len--;
	}
	if (len && *value >= ' ' && *value <= '~')
		return error_set(err, ERROR_INVALID,
				 "must not have \"%c\" in the name of the "
				 "bucket: %.5sbucket/path",
				 *value, url);
	return error_set(err, ERROR_INVALID,
			 "must name a bucket: %.5sbucket/path", url);
}

int check_url(const char *value, struct error *err)
{
	const char *colon = strstr(value, "://");

	if (text_starts(value, "gs://"))
		return check_bucket(value, err);
	if (colon || text_starts(value, "gs:") || !*value)
		return error_set(err, ERROR_INVALID,
				 "must be a gs:// URL, such as "
				 "gs://bucket/path");
	return 0;
}

int check_store(const char *value, struct error *err)
{
	if (text_starts(value, "gs://") || text_starts(value, "s3://"))
		return check_bucket(value, err);
	if (strstr(value, "://") || text_starts(value, "gs:") ||
	    text_starts(value, "s3:") || !*value)
		return error_set(err, ERROR_INVALID,
				 "must be a gs:// or s3:// URL, such as "
				 "gs://bucket/path");
	return 0;
}

int check_module(const char *value, struct error *err)
{
	const char *part = value;

	if (strchr(value, '/') || text_ends(value, ".py"))
		return error_set(err, ERROR_INVALID,
				 "must be the name of a module, such as "
				 "trainer.task, not of a file");
	for (;; part++) {
		size_t len = strcspn(part, ".");

		if (!is_made_of(part, len, "_-") ||
		    isdigit((unsigned char)*part))
			return error_set(err, ERROR_INVALID,
					 "must be the name of a Python "
					 "module, such as trainer.task");
		part += len;
		if (!*part)
			return 0;
	}
}

int check_version(const char *value, struct error *err)
{
	size_t n = strspn(value, digits);
	size_t m = n && value[n] == '.' ? strspn(value + n + 1, digits) : 0;

	if (m && !value[n + 1 + m])
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be two numbers with a dot between them, such as "
			 "\"2.11\"");
}

int check_peered(const char *value, struct error *err)
{
	static const char middle[] = "/global/networks/";
	const char *project = value + sizeof("projects/") - 1;
	const char *name;

	if (!text_starts(value, "projects/") ||
	    !(name = strstr(project, middle)) || name == project ||
	    memchr(project, '/', (size_t)(name - project)) ||
	    !is_made_of(name + sizeof(middle) - 1,
			strlen(name + sizeof(middle) - 1), "-"))
		return error_set(err, ERROR_INVALID,
				 "must have the form "
				 "projects/NUMBER/global/networks/NAME");
	if (strspn(project, digits) != (size_t)(name - project))
		return error_set(err, ERROR_INVALID,
				 "must name the project by its number: "
				 "projects/NUMBER/global/networks/NAME");
	return 0;
}

int check_kms_key(const char *value, struct error *err)
{
	static const char *const parts[] = { "projects/", "/locations/",
					     "/keyRings/", "/cryptoKeys/" };
	const char *p = value;
	size_t i, len;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!text_starts(p, parts[i]))
			goto bad;
		p += strlen(parts[i]);
		len = strcspn(p, "/");
		if (!is_made_of(p, len, "_-.:"))
			goto bad;
		p += len;
	}
	if (!*p)
		return 0;
bad:
	return error_set(err, ERROR_INVALID,
			 "must have the form projects/PROJECT/locations/"
			 "REGION/keyRings/RING/cryptoKeys/KEY");
}

int check_project(const char *value, struct error *err)
{
	size_t len = strlen(value);

	if (strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-.:") == len &&
	    len && *value != '-')
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be the id of a project: lower-case letters, "
			 "digits and -");
}

int check_network(const char *value, struct error *err)
{
	static const char middle[] = "/global/networks/";
	const char *project = value + sizeof("projects/") - 1;
	const char *name = value;
	bool good = true;

	if (text_starts(value, "projects/")) {
		name = strstr(project, middle);
		good = name &&
		       is_made_of(project, (size_t)(name - project), "-.:");
		name = good ? name + sizeof(middle) - 1 : value;
	}
	if (good && *name != '-' && is_made_of(name, strlen(name), "-"))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be the name of a network, or "
			 "projects/PROJECT/global/networks/NAME");
}

int check_compute(const char *value, struct error *err)
{
	size_t len = strlen(value);

	if (*value >= 'a' && *value <= 'z' && len < 64 &&
	    strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-") == len)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be at most 63 lower-case letters, digits and "
			 "-, a letter first");
}

/* Ensures that the host can't be taken for an option of ssh. */
int check_host(const char *value, struct error *err)
{
	const char *at = strchr(value, '@');
	const char *host = at ? at + 1 : value;

	if (*value != '-' && *host != '-' && at != value &&
	    is_made_of(host, strlen(host), "._-:[]") && !has_blank(value))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be a host: HOST, USER@HOST or HOST:PORT");
}

int check_processes(const char *value, struct error *err)
{
	long count;
	struct error ignored;

	if (!strcmp(value, "device") ||
	    (*value != '0' &&
	     number_parse(value, 1, PROCESSES_MAX, &count, &ignored) == 0))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be a number from 1 to %d, or device",
			 PROCESSES_MAX);
}

int check_host_directory(const char *value, struct error *err)
{
	size_t len = strlen(value);

	if (*value == '/' && len <= 200 && is_made_of(value, len, "/_-.,+@:"))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be an absolute path of at most 200 letters, "
			 "digits and /_-.,+@:");
}

/* The name becomes part of "NAME:KEY" lines and of commands. */
int check_login(const char *value, struct error *err)
{
	if (*value != '-' && is_made_of(value, strlen(value), "._-"))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be the name of a user: letters, digits, '.', "
			 "'_' and '-'");
}

/* Whether a batch script's option needs no quotes; sbatch treats '#' as the
 * start of a comment. */
static bool is_option(const char *value, const char *without)
{
	const char *p;

	for (p = value; *p; p++)
		if (*p <= ' ' || *p == 127 || (unsigned char)*p > 127 ||
		    strchr("\"'\\#", *p) || strchr(without, *p))
			return false;
	return *value && *value != '-';
}

int check_option(const char *value, struct error *err)
{
	if (is_option(value, ""))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be one word without quotes, '\\' and '#'");
}

int check_shared_folder(const char *value, struct error *err)
{
	/* Slurm treats '%' in file names as the start of a placeholder. */
	if (is_option(value, "%"))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be a directory without spaces, quotes, '\\', "
			 "'#' and '%%'");
}

int check_folder(const char *value, struct error *err)
{
	return *value == '/' ? 0
			     : error_set(err, ERROR_INVALID,
					 "must be an absolute path, such as "
					 "/scratch/me");
}

int check_size(const char *value, struct error *err)
{
	uint64_t bytes;

	return size_parse(value, &bytes, &(struct error){ 0 }) == 0
		       ? 0
		       : error_set(err, ERROR_INVALID,
				   "must be a size such as 500MB or 64GiB");
}

int check_pattern(const char *value, struct error *err)
{
	regex_t regex;
	size_t groups;

	if (pattern_compile(value, 0, &regex, err) < 0)
		return -1;
	groups = regex.re_nsub;
	regfree(&regex);
	if (!groups)
		return error_set(err, ERROR_INVALID,
				 "must have a group around the value, such as "
				 "loss=([0-9.]+)");
	if (strstr(value, "\\d"))
		return error_set(err, ERROR_INVALID,
				 "must say [0-9] instead of \\d");
	return 0;
}

int check_exit_codes(const char *value, struct error *err)
{
	struct error ignored;
	char *end = NULL;
	long first = strtol(value, &end, 10), last = first;

	if (isdigit((unsigned char)*value) &&
	    (!*end || (*end == '-' &&
		       number_parse(end + 1, 1, 255, &last, &ignored) == 0)) &&
	    first >= 1 && first <= last && last <= 255)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be an exit code from 1 to 255, or a range of "
			 "them such as 64-127");
}

int check_signal(const char *value, struct error *err)
{
	char name[32];
	int i;

	for (i = 1; i < 32; i++) {
		signal_format(i, name, sizeof(name));
		if (!strcmp(name, value))
			return 0;
	}
	return error_set(err, ERROR_INVALID,
			 "must be the name of a signal, such as SIGSEGV");
}

int check_time(const char *value, struct error *err)
{
	if (time_parse(value) >= 0)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be a time such as 2026-12-01T08:00:00Z");
}

/* Accepts "DIR", "DIR:THERE" or "DIR:THERE:ro". */
int check_mount(const char *value, struct error *err)
{
	if (*value == '/' && !strchr(value, '\n'))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "must be DIR, DIR:THERE or DIR:THERE:ro, absolute");
}
