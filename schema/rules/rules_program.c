/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what runs: containers, runtime versions, Python, packages. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "schema/rules/rules_check.h"

#define NUMBER_MAX 10000 /* no version has so large a number in it */

/* Finds the first image of the job, and its role. */
static const struct node *image_key(const struct training_input *in, int *role)
{
	for (*role = 0; *role < ROLE_COUNT; (*role)++)
		if (role_config(in, *role)->image_uri)
			return key_of(role_config(in, *role), "imageUri");
	return NULL;
}

void check_image_or_runtime(const struct check *check)
{
	const struct training_input *in = check->in;
	const char *name =
		in->runtime_version ? "runtimeVersion" : "pythonVersion";
	const struct node *image, *other;
	char path[96], line[LINE_SIZE], here[LINE_SIZE];
	int role;

	if (!in->runtime_version && !in->python_version)
		return;
	image = image_key(in, &role);
	other = key_of(in, name);
	if (!image || !other)
		return;
	snprintf(path, sizeof(path), "trainingInput.%s.imageUri",
		 roles[role].config);
	broken(check, image, path,
	       "\"%s.imageUri\" (%s) and \"%s\" (%s) exclude each other",
	       roles[role].config, line_of(check, image, image, NULL, here),
	       name,
	       line_of(check, other, image, "a container brings its own",
		       line));
	problem_hint(check->found, "remove one of the two");
}

void check_container_args(const struct check *check)
{
	static const char *const names[] = { "containerCommand",
					     "containerArgs" };
	const struct training_input *in = check->in;
	const struct node *args, *at;
	char path[96], line[LINE_SIZE];
	size_t j;
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		const struct replica_config *config = role_config(in, i);
		const size_t counts[] = { config->container_command.count,
					  config->container_args.count };

		for (j = 0; j < COUNT(names); j++) {
			at = counts[j] ? key_of(config, names[j]) : NULL;
			if (!at)
				continue;
			snprintf(path, sizeof(path), "trainingInput.%s.%s",
				 roles[i].config, names[j]);
			args = in->args.count ? key_of(in, "args") : NULL;
			if (args) {
				broken(check, at, path,
				       "\"%s\" and trainingInput.args (%s) "
				       "exclude each other",
				       names[j],
				       line_of(check, args, at,
					       "args are for a Python module",
					       line));
				return;
			}
			if (role_image(in, i) || config->head.strange ||
			    config_refused(config, "imageUri") ||
			    config_refused(&in->master_config, "imageUri"))
				continue;
			broken(check, at, path,
			       "\"%s\" needs \"imageUri\", the container that "
			       "it applies to",
			       names[j]);
			return;
		}
	}
}

/* Splits MAJOR.MINOR, whose form was checked. */
static void split(const char *version, long *major, long *minor)
{
	char *end = NULL;

	*major = strtol(version, &end, 10);
	*minor = *end ? strtol(end + 1, NULL, 10) : 0;
}

/* Returns the nearest version in the catalogue, or NULL if that is empty. */
static const char *near_version(const struct catalogue *all, long major,
				long minor)
{
	const char *near = NULL;
	long one, other, away, least = LONG_MAX;
	size_t i;

	major = major < NUMBER_MAX ? major : NUMBER_MAX;
	minor = minor < NUMBER_MAX ? minor : NUMBER_MAX;
	for (i = 0; i < all->runtime_count; i++) {
		split(all->runtimes[i].version, &one, &other);
		away = labs(major - one) * NUMBER_MAX + labs(minor - other);
		if (away < least) {
			least = away;
			near = all->runtimes[i].version;
		}
	}
	return near;
}

static void check_version_of(const struct check *check, const char *version,
			     const void *message, const char *path)
{
	const struct runtime *runtime =
		catalogue_runtime(check->catalogue, version);
	const char *name = strrchr(path, '.') + 1;
	const struct node *at;
	long major, minor;
	const char *near;

	if (runtime && !runtime->retired)
		return;
	at = value_of(message, name);
	if (!at)
		return;
	if (runtime) {
		dated(check, at, path,
		      "AI Platform stopped accepting \"%s\" %s on 2020-03-17",
		      name, version);
		return;
	}
	split(version, &major, &minor);
	if (check->elsewhere && (major > 1 || minor >= 6))
		return; /* what is new or odd is for its provider to say */
	if (major <= 1 && minor < 6) {
		dated(check, at, path,
		      "AI Platform stopped accepting \"%s\" %s on 2020-03-17",
		      name, version);
		return;
	}
	unknown(check, at, path, version, "runtime version");
	near = near_version(check->catalogue, major, minor);
	if (near)
		problem_hint(check->found, "the nearest known one is %s", near);
}

void check_runtime(const struct check *check)
{
	const struct training_input *in = check->in;

	if (in->runtime_version)
		check_version_of(check, in->runtime_version, in,
				 "trainingInput.runtimeVersion");
	if (in->worker_config.tpu_tf_version)
		check_version_of(check, in->worker_config.tpu_tf_version,
				 &in->worker_config,
				 "trainingInput.workerConfig.tpuTfVersion");
}

static void put_pythons(const struct runtime *runtime, struct buf *out)
{
	size_t i;

	for (i = 0; i < runtime->python_count; i++)
		buf_printf(out, "%s%s", i ? " or " : "", runtime->pythons[i]);
}

void check_python(const struct check *check)
{
	const struct training_input *in = check->in;
	const char *python = in->python_version;
	const struct node *at, *other;
	const struct runtime *runtime;
	struct buf list = { 0 };
	char line[LINE_SIZE];
	long major, minor;
	size_t i;

	if (!python || !in->runtime_version)
		return;
	runtime = catalogue_runtime(check->catalogue, in->runtime_version);
	if (!runtime)
		return;
	for (i = 0; i < runtime->python_count; i++)
		if (!strcmp(runtime->pythons[i], python))
			return;
	at = value_of(in, "pythonVersion");
	if (!at)
		return;
	split(python, &major, &minor);
	other = value_of(in, "runtimeVersion");
	put_pythons(runtime, &list);
	if (runtime->open && major == 3 && minor > 7)
		doubtful(
			check, at, "trainingInput.pythonVersion",
			"\"pythonVersion\" %s: runtime version %s (%s) is "
			"known to have %s",
			python, runtime->version,
			line_of(check, other, at, "this runtime version", line),
			buf_text(&list));
	else
		broken(check, at, "trainingInput.pythonVersion",
		       "\"pythonVersion\" %s does not go with runtimeVersion "
		       "%s (%s), which has %s",
		       python, runtime->version,
		       line_of(check, other, at, "this runtime version", line),
		       buf_text(&list));
	buf_done(&list);
}
