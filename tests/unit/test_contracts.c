/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every reader with every writer.  Each file in tests/unit/topology/ has the
 * surroundings of a process at one place, from the public document named in its
 * first line, and what each contract makes of them:
 *
 *	# comment
 *	reader NAME		the one that must detect the place
 *	host NAME		this machine's name
 *	env NAME=VALUE
 *	metadata PATH=VALUE	"\n" is a newline
 *	tpu SLICE IP:PORT ...	what the TPU API says of the node
 *	> CONTRACT		followed by its variables, sorted, one a line
 *	= CONTRACT		the same, of one that is written by itself, too
 *	> hostfile		followed by the file
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/topology/contract.h"
#include "core/topology/topology_read.h"
#include "core/topology/tpu_wait.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"

#define FOLDER "tests/unit/topology"
#define LINES_MAX 400

struct sample {
	char name[80];
	char *text;
	char *lines[LINES_MAX];
	size_t count;
	char *env[LINES_MAX];
	const char *reader, *host, *tpu;
	size_t self;
	struct arena *mem;
	struct topology all;
};

static bool has_metadata(void *arg)
{
	const struct sample *sample = arg;
	size_t i;

	for (i = 0; i < sample->count; i++)
		if (text_starts(sample->lines[i], "metadata "))
			return true;
	return false;
}

static int metadata(void *arg, const char *path, struct arena *mem,
		    const char **out, struct error *err)
{
	const struct sample *sample = arg;
	char *value, *newline;
	size_t i, len = strlen(path);

	(void)err;
	*out = NULL;
	for (i = 0; i < sample->count; i++) {
		const char *line = sample->lines[i];

		if (!text_starts(line, "metadata ") ||
		    strncmp(line + 9, path, len) != 0 || line[9 + len] != '=')
			continue;
		value = arena_strdup(mem, line + 9 + len + 1);
		while ((newline = strstr(value, "\\n"))) {
			*newline = '\n';
			memmove(newline + 1, newline + 2,
				strlen(newline + 2) + 1);
		}
		*out = value;
	}
	return 0;
}

static int look(void *arg, const struct topology *all, struct arena *mem,
		struct tpu_view *out, struct error *err)
{
	const struct sample *sample = arg;
	struct tpu_place *hosts = arena_alloc(mem, 16 * sizeof(*hosts));
	char *text = arena_strdup(mem, sample->tpu);
	char *word, *save = NULL;

	(void)all;
	(void)err;
	out->slice = strtok_r(text, " ", &save);
	while ((word = strtok_r(NULL, " ", &save))) {
		char *colon = strchr(word, ':');

		assert_non_null(colon);
		*colon = '\0';
		hosts[out->host_count].ip = word;
		hosts[out->host_count++].port = atoi(colon + 1);
	}
	out->hosts = hosts;
	out->sight = TPU_SEEN_READY;
	return 0;
}

static void never(void *arg, long seconds)
{
	(void)arg;
	(void)seconds;
	fail();
}

static void sample_read(struct sample *sample, const char *name)
{
	struct error err;
	char path[400];
	size_t len, envs = 0;
	char *line, *save = NULL;

	memset(sample, 0, sizeof(*sample));
	snprintf(sample->name, sizeof(sample->name), "%s", name);
	snprintf(path, sizeof(path), FOLDER "/%s", name);
	sample->text = file_read(path, 1 << 20, &len, &err);
	assert_non_null(sample->text);
	for (line = strtok_r(sample->text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == '#')
			continue;
		assert_true(sample->count < LINES_MAX);
		sample->lines[sample->count++] = line;
		if (text_starts(line, "env "))
			sample->env[envs++] = line + 4;
		else if (text_starts(line, "reader "))
			sample->reader = line + 7;
		else if (text_starts(line, "host "))
			sample->host = line + 5;
		else if (text_starts(line, "tpu "))
			sample->tpu = line + 4;
	}
	sample->mem = arena_new();
}

/* Whether the sample's reader is built in; it belongs to its provider. */
static bool sample_has_reader(const struct sample *sample)
{
	const struct provider *provider = provider_find(sample->reader);

	return provider && provider->reader;
}

/* Finds the place, reads it, and asks the TPU if it has one. */
static void sample_resolve(struct sample *sample)
{
	struct error err;
	struct surroundings at = { .env = sample->env,
				   .host = sample->host,
				   .catalogue = catalogue_get(&err),
				   .has_metadata = has_metadata,
				   .metadata = metadata,
				   .arg = sample };
	struct tpu_wait how = {
		.tries = 1, .look = look, .pause = never, .arg = sample
	};
	const struct topology_reader *reader;
	struct topology_readers readers;

	provider_readers(providers, &readers);
	reader = topology_reader_detect(&readers, &at, &err);
	assert_string_equal(reader->name, sample->reader);
	if (reader->read(&at, sample->mem, &sample->all, &sample->self, &err) <
	    0)
		fail_msg("%s: %s", sample->name, err.text);
	assert_int_equal(tpu_is_awaited(&sample->all), sample->tpu != NULL);
	if (sample->tpu)
		assert_int_equal(tpu_wait(&sample->all, at.catalogue, &how,
					  sample->mem, &err),
				 0);
}

static void sample_done(struct sample *sample)
{
	arena_free(sample->mem);
	free(sample->text);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void write_one(const struct sample *sample, const char *name,
		      struct buf *out)
{
	struct environment env = { 0 };
	struct error err;
	size_t i;

	if (!strcmp(name, "hostfile")) {
		contract_hostfile(&sample->all, out);
		return;
	}
	contract_find(name, &err)->write(&sample->all, sample->self, &env);
	if (env.count)
		qsort(env.items, env.count, sizeof(*env.items), compare);
	for (i = 0; i < env.count; i++)
		buf_printf(out, "%s\n", env.items[i]);
	environment_done(&env);
}

/* Reads the lines of a section; returns -1 if there is none. */
static int section(const struct sample *sample, const char *name,
		   struct buf *out, bool *suits)
{
	bool inside = false, found = false;
	size_t i;

	for (i = 0; i < sample->count; i++) {
		const char *line = sample->lines[i];

		if (text_starts(line, "> ") || text_starts(line, "= ")) {
			inside = !strcmp(line + 2, name);
			if (inside)
				*suits = line[0] == '=';
			found |= inside;
		} else if (inside) {
			buf_printf(out, "%s\n", line);
		}
	}
	return found ? 0 : -1;
}

/* Checks one pair; the state is "FILE CONTRACT". */
static void pair_agrees(void **state)
{
	const char *contract = strchr(*state, ' ') + 1;
	char file[80];
	struct buf got = { 0 }, expected = { 0 };
	bool suits, expected_suits = false;
	struct sample sample;
	struct error err;

	snprintf(file, sizeof(file), "%.*s", (int)strcspn(*state, " "),
		 (char *)*state);
	sample_read(&sample, file);
	if (!sample_has_reader(&sample)) {
		sample_done(&sample);
		skip();
	}
	sample_resolve(&sample);
	if (section(&sample, contract, &expected, &expected_suits) < 0)
		fail_msg("no section for %s", contract);
	write_one(&sample, contract, &got);
	assert_string_equal(buf_text(&got), buf_text(&expected));
	if (strcmp(contract, "hostfile") != 0) {
		suits = contract_suits(contract_find(contract, &err),
				       &sample.all, sample.self);
		assert_int_equal(suits, expected_suits);
	}
	buf_done(&got);
	buf_done(&expected);
	sample_done(&sample);
}

static void every_reader_has_a_sample_with_its_source(void **state)
{
	struct dirent **files;
	int count = scandir(FOLDER, &files, NULL, alphasort);
	struct topology_readers readers;
	unsigned seen = 0;
	size_t i;
	int j;

	(void)state;
	provider_readers(providers, &readers);
	for (j = 0; j < count; j++) {
		struct sample sample;

		if (text_ends(files[j]->d_name, ".txt")) {
			sample_read(&sample, files[j]->d_name);
			assert_true(text_starts(sample.text, "# https://"));
			for (i = 0; i < readers.count; i++)
				if (!strcmp(readers.items[i]->name,
					    sample.reader))
					seen |= 1u << i;
			sample_done(&sample);
		}
		free(files[j]);
	}
	free(files);
	for (i = 0; i < readers.count; i++)
		assert_true(seen & 1u << i);
}

static void peers_of_a_pod_expect_a_host_at_fixed_ports(void **state)
{
	static const struct {
		const char *sample;
		int ports[3];
	} rows[] = {
		{ "ai-platform-tpu-pod.txt", { 8470, 8477 } },
		{ "ai-platform-tpu.txt", { 0 } },
		{ "tpu-vm-v4-16.txt", { 8476 } },
		{ "tpu-vm-v3-8.txt", { 0 } },
		{ "slurm.txt", { 0 } },
	};
	size_t i, j, n;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		int ports[CONTRACT_PORTS_MAX];
		struct sample sample;

		sample_read(&sample, rows[i].sample);
		if (!sample_has_reader(&sample)) {
			sample_done(&sample);
			continue;
		}
		sample_resolve(&sample);
		n = contract_ports(&sample.all, sample.self, ports);
		for (j = 0; j < n; j++)
			assert_int_equal(ports[j], rows[i].ports[j]);
		assert_int_equal(rows[i].ports[n], 0);
		sample_done(&sample);
	}
}

static struct CMUnitTest pair(const char *file, const char *contract)
{
	struct CMUnitTest test = { .test_func = pair_agrees };
	char *name = mem_printf("%s %s", file, contract);

	test.name = name;
	test.initial_state = name;
	return test;
}

/* Prints the sections as they would be, for checking against the document. */
static int show(const char *name)
{
	struct sample sample;
	struct buf text = { 0 };
	size_t i;

	sample_read(&sample, name);
	sample_resolve(&sample);
	for (i = 0; contracts[i]; i++) {
		bool suits =
			contract_suits(contracts[i], &sample.all, sample.self);

		buf_printf(&text, "%c %s\n", suits ? '=' : '>',
			   contracts[i]->name);
		write_one(&sample, contracts[i]->name, &text);
	}
	buf_puts(&text, "> hostfile\n");
	write_one(&sample, "hostfile", &text);
	fputs(buf_text(&text), stdout);
	buf_done(&text);
	sample_done(&sample);
	return 0;
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[512] = {
		cmocka_unit_test(every_reader_has_a_sample_with_its_source),
		cmocka_unit_test(peers_of_a_pod_expect_a_host_at_fixed_ports),
	};
	struct dirent **files;
	size_t own = 2, n = own, i;
	int count, failed, j;

	if (argc == 3 && !strcmp(argv[1], "--show"))
		return show(argv[2]);
	count = scandir(FOLDER, &files, NULL, alphasort);
	for (j = 0; j < count; j++) {
		if (!text_ends(files[j]->d_name, ".txt")) {
			free(files[j]);
			continue;
		}
		for (i = 0; contracts[i]; i++)
			tests[n++] = pair(files[j]->d_name, contracts[i]->name);
		tests[n++] = pair(files[j]->d_name, "hostfile");
		free(files[j]);
	}
	free(files);
	failed = _cmocka_run_group_tests("contracts", tests, n, NULL, NULL);
	for (i = own; i < n; i++)
		free((char *)tests[i].name);
	return failed;
}
