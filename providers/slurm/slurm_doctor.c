/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/slurm_doctor.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/process/subprocess.h"
#include "core/provider/checks.h"

#define GROUP "slurm"
#define ANSWER_MAX ((size_t)1 << 20)
#define LIMIT_MS 10000
/* What Slurm says where it has no slurm.conf. */
#define UNCONFIGURED "configuration source"

/* Runs one of Slurm's commands; -1 says why it does not work. */
static int ask(const char *const *argv, struct command_answer *out,
	       struct error *err)
{
	const struct command_call call = { .argv = argv,
					   .output_max = ANSWER_MAX,
					   .timeout_ms = LIMIT_MS };
	char words[256];

	if (command_run(&call, out, err) < 0)
		return -1;
	if (!command_status(out))
		return 0;
	command_last_words(out, words, sizeof(words));
	error_set(err, ERROR_UNREACHABLE, "%s: %s", argv[0],
		  *words ? words : "failed without a word");
	command_answer_done(out);
	return -1;
}

/* Lists the partitions that are up, "gpu*, cpu"; the text is one a line. */
static const char *partitions(const char *text, struct arena *mem)
{
	struct buf out = { 0 };
	const char *result;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		buf_printf(&out, "%s%.*s", out.len ? ", " : "",
			   (int)strcspn(text, "\n"), text);
	result = arena_strdup(mem, buf_text(&out));
	buf_done(&out);
	return result;
}

/* Returns whether the controller answers. */
static bool look_for_partitions(struct checks *all)
{
	static const char *const argv[] = { "sinfo", "--noheader",
					    "--format=%P %a, %D nodes", NULL };
	struct command_answer answer = { 0 };
	struct error err;

	if (ask(argv, &answer, &err) < 0) {
		if (!strstr(err.text, UNCONFIGURED))
			checks_fail(all, GROUP, "controller", &err);
		else
			checks_add(all, GROUP, "controller", CHECK_MISSING,
				   NULL)
				->advice = "none is configured here: "
					   "SLURM_CONF names a cluster's file";
		return false;
	}
	checks_add(all, GROUP, "controller", CHECK_OK, "answers");
	if (answer.out.len)
		checks_add(all, GROUP, "partitions", CHECK_OK,
			   partitions(buf_text(&answer.out), all->mem));
	else
		checks_add(all, GROUP, "partitions", CHECK_MISSING, NULL)
			->advice = "you may use none: ask its administrator";
	command_answer_done(&answer);
	return true;
}

static void look_for_accounting(struct checks *all)
{
	static const char *const argv[] = { "scontrol", "show", "config",
					    NULL };
	static const char key[] = "AccountingStorageType";
	struct command_answer answer = { 0 };
	struct error err;
	const char *at;

	if (ask(argv, &answer, &err) < 0) {
		checks_fail(all, GROUP, "accounting", &err);
		return;
	}
	at = strstr(buf_text(&answer.out), key);
	at = at ? at + strcspn(at, "=\n") : "";
	at += *at == '=';
	at += strspn(at, " ");
	if (!*at || !strncmp(at, "(null)", 6) || strstr(at, "/none") == at ||
	    !strncmp(at, "accounting_storage/none", 23))
		checks_add(all, GROUP, "accounting", CHECK_MISSING, NULL)
			->advice = "off: 'jobrun status' shows no use of "
				   "CPU and memory";
	else
		checks_add(all, GROUP, "accounting", CHECK_OK,
			   arena_strndup(all->mem, at, strcspn(at, "\n")));
	command_answer_done(&answer);
}

void slurm_doctor(const struct provider_env *env, struct checks *all)
{
	char *sinfo = file_find_program(getenv("PATH"), "sinfo");

	(void)env;
	checks_program(all, "sbatch",
		       "needed for the provider slurm: install Slurm's client "
		       "commands");
	if (sinfo && look_for_partitions(all))
		look_for_accounting(all);
	free(sinfo);
}
