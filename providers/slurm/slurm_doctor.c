/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/slurm_doctor.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/units.h"
#include "core/process/subprocess.h"
#include "core/provider/checks.h"
#include "core/store/store.h"
#include "providers/slurm/cluster.h"
#include "providers/slurm/desire.h"
#include "providers/slurm/script.h"
#include "providers/slurm/slurm_internal.h"

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

/* ---- a job ---- */

/* Whether the list, a name a line, has the name; the default one has a '*'. */
static bool has_line(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; *list; list += strcspn(list, "\n"), list += *list == '\n')
		if (!strncmp(list, name, len) &&
		    strchr("*\n", list[len] ? list[len] : '\n'))
			return true;
	return false;
}

/* Returns whether the controller answers. */
static bool check_partition(struct cluster *cluster, const char *wanted,
			    struct checks *all)
{
	static const char *const argv[] = { "sinfo", "--noheader",
					    "--format=%P", NULL };
	struct command_answer answer = { 0 };
	struct error err;
	const char *list;

	if (cluster_slurm(cluster, argv, &answer, &err) < 0) {
		checks_fail(all, GROUP, "controller", &err);
		return false;
	}
	list = buf_text(&answer.out);
	checks_add(all, GROUP, "controller", CHECK_OK, "answers");
	if (wanted && !strchr(wanted, ',') && !has_line(list, wanted))
		checks_bad(all, GROUP, "partition", ERROR_FAILED,
			   arena_printf(all->mem,
					"there is no '%s' for you, but %s: "
					"change jobrun.slurm.partition",
					wanted, partitions(list, all->mem)));
	else if (wanted)
		checks_add(all, GROUP, "partition", CHECK_OK, wanted);
	command_answer_done(&answer);
	return !all->worst;
}

/* Has sbatch judge the request, without submitting it.  It can't for one of
 * several components. */
static void check_request(struct cluster *cluster, const struct job *job,
			  const struct slurm_request *request,
			  struct checks *all)
{
	static const char *const argv[] = { "sbatch", "--test-only", NULL };
	struct command_answer answer = { 0 };
	struct cluster_input input = { 0 };
	struct buf script = { 0 };
	char words[256];
	struct error err;
	const char *said;

	if (request->count > 1)
		return;
	slurm_script_begin(request->block, &script);
	slurm_script_options(job, request, NULL, &script);
	buf_puts(&script, "exit 0\n");
	input.data = script.data;
	input.len = script.len;
	if (cluster_call(cluster, argv, &input, &answer, &err) < 0) {
		checks_fail(all, GROUP, "request", &err);
	} else if (command_status(&answer) != 0) {
		cluster_slurm_failed("sbatch", &answer, &err);
		checks_fail(all, GROUP, "request", &err);
	} else {
		command_last_words(&answer, words, sizeof(words));
		said = strstr(words, "to start at");
		checks_add(
			all, GROUP, "request", CHECK_OK,
			said ? arena_printf(all->mem, "sbatch has it %s", said)
			     : "sbatch accepts it");
	}
	command_answer_done(&answer);
	buf_done(&script);
}

/* $1: the directory.  Prints the KiB that are free. */
#define DIRECTORY                                                              \
	"d=$1; " SH_NEAREST_FOLDER "[ -w \"$d\" ] || "                         \
	"{ echo \"'$d' cannot be written\" >&2; exit 1; }; " SH_FREE_KIB

static void check_directory(struct cluster *cluster, struct checks *all)
{
	const char *const args[] = { cluster_folder(cluster), NULL };
	struct command_answer answer = { 0 };
	char size[32];
	struct error err;

	if (cluster_sh(cluster, "cannot use jobrun.slurm.directory", DIRECTORY,
		       args, NULL, &answer, &err) < 0) {
		checks_fail(all, GROUP, "directory", &err);
		return;
	}
	size_format(strtoull(buf_text(&answer.out), NULL, 10) << 10, size,
		    sizeof(size));
	checks_add(all, GROUP, "directory", CHECK_OK,
		   arena_printf(all->mem, "%s, %s free", args[0], size));
	command_answer_done(&answer);
}

void slurm_doctor_job(const struct job *job, const struct provider_env *env,
		      struct checks *all)
{
	char *known = path_join(store_folder(env->store), LOGIN_HOSTS);
	struct slurm_job what;
	struct cluster *cluster;
	struct error err;

	cluster = cluster_open(slurm_place(job, all->mem), known, &err);
	free(known);
	if (!cluster) {
		checks_fail(all, GROUP, "login host", &err);
		return;
	}
	if (slurm_job_make(job, env->catalogue, all->mem, &what, &err) < 0) {
		checks_fail(all, GROUP, "settings", &err);
	} else if (check_partition(cluster, what.request.block->partition,
				   all)) {
		check_request(cluster, job, &what.request, all);
		check_directory(cluster, all);
	}
	cluster_close(cluster);
}
