/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings a run to a cluster.  Each step finds what an earlier, killed try has
 * done: files get their names when they are complete, and a run's folder exists
 * before its job.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/data/archive.h"
#include "core/data/archive_writer.h"
#include "core/data/tree.h"
#include "core/job/source.h"
#include "core/job/secret.h"
#include "core/trial/trial_spec.h"
#include "core/task/task_secrets.h"
#include "providers/slurm/slurm_internal.h"
#include "providers/slurm/script.h"

#define SOURCE_DIGITS 16

/*
 * Checks that files can be put into the user's folder ($3) and that it belongs
 * to the user, before Slurm gets a job; creates the directory shared by users
 * ($4).  Then lists the parts that exist: "program", "source".
 */
#define LOOK                                                                   \
	"if [ \"$4\" ]; then (umask 022; mkdir -p -m 1777 \"$4\") || exit; "   \
	"fi\n"                                                                 \
	"umask 077; mkdir -p \"$3\" || exit\n"                                 \
	"[ ! \"$4\" ] || [ -O \"$3\" ] || { echo \"'$3' is another user's\" "  \
	">&2; exit 1; }\n"                                                     \
	"t=$(mktemp \"$3/.new.XXXXXXXX\") && chmod 700 \"$t\" && "             \
	"echo x >\"$t\"; s=$?\n"                                               \
	"if [ $s = 0 ] && [ ! \"$5\" ] && [ ! -x \"$t\" ]; then s=1\n"         \
	"  echo \"'$3' is mounted noexec: put jobrun elsewhere, and set "      \
	"jobrun.slurm.program\" >&2\n"                                         \
	"fi\n"                                                                 \
	"rm -f \"$t\"; [ $s = 0 ] || exit $s\n"                                \
	"[ -x \"$1\" ] && echo program\n"                                      \
	"[ -d \"$2\" ] && echo source\n"                                       \
	":"
#define PUT_PROGRAM                                                            \
	"umask 077; mkdir -p \"${1%/*}\" && cat >\"$1.$$\" && "                \
	"chmod 700 \"$1.$$\" && mv -f \"$1.$$\" \"$1\""
/*
 * Unpacks a folder.  It first removes old folders that killed tries have left,
 * but none that may be in use.  If another client was faster, it prints "taken"
 * and keeps the first folder.
 */
#define PUT_FOLDER                                                             \
	"umask 077; up=${1%/*}; mkdir -p \"$up\" || exit\n"                    \
	"find \"$up\" -maxdepth 1 -name '.new.*' -mmin +1440 "                 \
	"-exec rm -rf {} +\n"                                                  \
	"new=$(mktemp -d \"$up/.new.XXXXXXXX\") &&\n"                          \
	"tar --no-same-owner --no-same-permissions -xf - -C \"$new\" || "      \
	"{ rm -rf \"$new\"; exit 1; }\n"                                       \
	"mv -T \"$new\" \"$1\" 2>/dev/null && exit\n"                          \
	"[ -d \"$1\" ] || mv -T \"$new\" \"$1\" || exit\n"                     \
	"rm -rf \"$new\"; echo taken"
#define FORGET "rm -rf \"$1\""
/*
 * Submits the job.  Only the named variables are passed to sbatch and the job:
 * others would make runs depend on the caller, and may be secret.  With
 * "expedite" as $3 an sbatch of 25.11 or later, which alone takes a value
 * there, is told so; its option goes before that of the script.
 */
#define SUBMIT                                                                 \
	"keep=\" HOME USER LOGNAME PATH LANG SLURM_CONF $2 \"\n"               \
	"for n in $(env | sed -n "                                             \
	"'s/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p')\n"                        \
	"do case $keep in *\" $n \"*) ;; *) unset \"$n\" ;; esac; done\n"      \
	"how=\n"                                                               \
	"if [ \"$3\" = expedite ]; then\n"                                     \
	"  v=$(sbatch --version 2>/dev/null | sed -n "                         \
	"'s/^slurm[-a-z]* \\([0-9][0-9]\\)\\.\\([0-9][0-9]\\).*/\\1\\2/p')\n"  \
	"  [ \"${v:-0}\" -lt 2511 ] || how=--requeue=expedite\n"               \
	"fi\n"                                                                 \
	"exec sbatch --parsable $how --output=\"${1%/*}/slurm.out\" \"$1\"\n"

const char *slurm_program_path(const struct cluster *cluster,
			       const struct slurm_job *what, struct arena *mem)
{
	if (what->request.block->program)
		return what->program;
	return arena_printf(mem, "%s/%s", cluster_folder(cluster),
			    what->program);
}

/* ---- archives ---------------------------------------------------------- */

/* Opens a file without a name for a tar archive. */
int slurm_open_scratch(struct error *err)
{
	const char *folder = getenv("TMPDIR");
	char *path = mem_printf("%s/jobrun.XXXXXX",
				folder && *folder ? folder : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		error_errno(err, "cannot create a file like '%s'", path);
	else
		unlink(path);
	free(path);
	return fd;
}

static int add_tree(struct archive_writer *writer, const char *prefix,
		    const struct tree *tree, struct error *err)
{
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < tree->count; i++)
		ret = archive_writer_add_entry(writer, prefix, tree->folder,
					       &tree->entries[i], err);
	return ret;
}

static int add_unpacked(struct archive_writer *writer, const char *folder,
			const char *prefix, struct error *err)
{
	static const struct source_options whole = {
		.version = SOURCE_VERSION_1,
	};
	struct arena *mem = arena_new();
	struct tree tree;
	int ret = tree_read(folder, &whole, mem, &tree, err);

	if (ret == 0)
		ret = add_tree(writer, prefix, &tree, err);
	arena_free(mem);
	return ret;
}

/* Packs the source, which is named after the digest in the plan. */
int slurm_pack_source(struct archive_writer *writer, const struct job *job,
		      const char *prefix, struct error *err)
{
	const char *folder = job_path(job, job->jobrun.source);
	struct arena *mem = arena_new();
	struct tree tree;
	int ret = source_read_job(job, SOURCE_NOW, mem, &tree, err);

	if (ret == 0 && strcmp(tree.digest.hex, job->source_digest.hex) != 0)
		ret = error_set(err, ERROR_TRY_AGAIN,
				"'%s' has changed since the plan: plan again",
				folder);
	if (ret == 0)
		ret = add_tree(writer, prefix, &tree, err);
	arena_free(mem);
	return ret;
}

static int add_json(struct archive_writer *writer, const char *name,
		    const json_t *value, struct error *err)
{
	char *text = json_canonical(value);
	int ret = archive_writer_add(writer, name, text, strlen(text), err);

	explicit_bzero(text, strlen(text));
	free(text);
	return ret;
}

/* Packs a package, unpacked, as nodes may have no libarchive. */
int slurm_pack_package(struct archive_writer *writer, const struct job *job,
		       const char *package, size_t number, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	char *folder =
		mem_printf("%s/jobrun.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	char *unpacked = NULL;
	char *prefix = mem_printf("packages/%zu", number);
	struct error ignored;
	int ret = -1;

	if (!mkdtemp(folder)) {
		error_errno(err, "cannot create a folder like '%s'", folder);
		goto out;
	}
	unpacked = path_join(folder, "package");
	if (archive_unpack(package, job_package_root(job, number), unpacked,
			   NULL, err) == 0)
		ret = add_unpacked(writer, unpacked, prefix, err);
	folder_remove(folder, &ignored);
out:
	free(unpacked);
	free(prefix);
	free(folder);
	return ret;
}

static int add_secrets(struct archive_writer *writer,
		       const struct run_spec *spec, struct error *err)
{
	json_t *values = json_object();
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < spec->secret_count; i++) {
		char *value = secret_value(&spec->secrets[i], err);

		if (!value) {
			ret = -1;
			break;
		}
		json_put_text(values, spec->secrets[i].name, value);
		explicit_bzero(value, strlen(value));
		free(value);
	}
	if (ret == 0)
		ret = add_json(writer, TASK_SECRETS_FILE, values, err);
	json_decref(values);
	return ret;
}

/* Returns the specification for the tasks, with paths relative to the run's
 * folder. */
static json_t *spec_there(const struct job *job, const struct slurm_job *what,
			  const struct slurm_run *run, struct arena *mem)
{
	struct run_spec spec = what->spec;

	spec.attempt = run->number;
	spec_set_folder(&spec, ".", mem);
	spec.output = "output";
	spec.directory =
		job->jobrun.source
			? arena_printf(mem, "../.source-%.*s", SOURCE_DIGITS,
				       job->source_digest.hex)
			: "~";
	spec.secrets = NULL;
	spec.secret_count = 0;
	spec.hosts = (struct run_hosts){ 0 };
	return spec_json(&spec);
}

static int pack_run(int fd, const struct job *job, const struct slurm_job *what,
		    const struct slurm_run *run, struct error *err)
{
	struct arena *mem = arena_new();
	struct archive_writer *writer =
		archive_writer_new(fd, run->name, ARCHIVE_PLAIN, err);
	json_t *spec = spec_there(job, what, run, mem);
	json_t *description = run_json(run);
	json_t *values = trial_values_json(&what->spec);
	struct buf script = { 0 };
	int ret = -1;
	size_t i;

	slurm_script_write(job, &what->request, run->name, what->program,
			   &script);
	if (!writer ||
	    archive_writer_add(writer, "job.sh", script.data, script.len, err) <
		    0 ||
	    add_json(writer, "spec.json", spec, err) < 0 ||
	    add_json(writer, "run.json", description, err) < 0 ||
	    (what->request.trials &&
	     add_json(writer, TRIAL_VALUES_FILE, values, err) < 0) ||
	    add_secrets(writer, &what->spec, err) < 0)
		goto out;
	for (i = 0; i < what->spec.packages.count; i++)
		if (slurm_pack_package(writer, job,
				       what->spec.packages.items[i], i,
				       err) < 0)
			goto out;
	ret = archive_writer_finish(writer, err);
	writer = NULL;
out:
	archive_writer_free(writer);
	json_decref(values);
	json_decref(description);
	json_decref(spec);
	buf_done(&script);
	arena_free(mem);
	return ret;
}

/* ---- shipping ---------------------------------------------------------- */

/* Puts a folder; returns 1 if another client's is there already. */
static int put_folder(struct cluster *cluster, int fd, const char *to,
		      const char *what, struct error *err)
{
	const char *args[] = { to, NULL };
	const struct cluster_input input = { .fd = fd };
	struct command_answer answer;
	int ret;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_errno(err, "cannot read what is shipped");
	if (cluster_sh(cluster, what, PUT_FOLDER, args, &input, &answer, err) <
	    0)
		return -1;
	ret = strstr(buf_text(&answer.out), "taken") != NULL;
	command_answer_done(&answer);
	return ret;
}

static int ship_source(struct cluster *cluster, const struct job *job,
		       const char *to, struct error *err)
{
	struct archive_writer *writer;
	int fd = slurm_open_scratch(err);
	int ret = -1;

	if (fd < 0)
		return -1;
	writer = archive_writer_new(fd, "the source", ARCHIVE_PLAIN, err);
	if (writer && slurm_pack_source(writer, job, ".", err) == 0) {
		ret = archive_writer_finish(writer, err);
		writer = NULL;
	}
	archive_writer_free(writer);
	if (ret == 0)
		ret = put_folder(cluster, fd, to, "cannot ship the source",
				 err);
	close(fd);
	return ret < 0 ? -1 : 0;
}

static int ship_program(struct cluster *cluster, const char *to,
			struct error *err)
{
	const char *args[] = { to, NULL };
	struct cluster_input input = { 0 };
	int ret;

	input.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (input.fd < 0)
		return error_errno(err, "cannot read this program");
	ret = cluster_sh(cluster, "cannot put jobrun there", PUT_PROGRAM, args,
			 &input, NULL, err);
	close(input.fd);
	return ret;
}

static int ship(struct cluster *cluster, const struct job *job,
		const struct slurm_job *what, struct arena *mem,
		struct error *err)
{
	const struct slurm_block *block = what->request.block;
	const char *to = slurm_program_path(cluster, what, mem);
	const char *source = cluster_run_folder(
		cluster, job->job_id,
		arena_printf(mem, ".source-%.*s", SOURCE_DIGITS,
			     job->source_digest.hex),
		mem);
	const char *args[] = {
		to,
		source,
		cluster_folder(cluster),
		*block->directory == '/' ? block->directory : "",
		block->program,
		NULL,
	};
	struct command_answer answer;
	bool program, sources;

	if (cluster_sh(cluster, "cannot use jobrun.slurm.directory", LOOK, args,
		       NULL, &answer, err) < 0)
		return -1;
	program = strstr(buf_text(&answer.out), "program");
	sources = strstr(buf_text(&answer.out), "source");
	command_answer_done(&answer);
	if (!program && block->program)
		return error_set(err, ERROR_INVALID,
				 "there is no program '%s' "
				 "(jobrun.slurm.program)",
				 block->program);
	if (!program && ship_program(cluster, to, err) < 0)
		return -1;
	if (!sources && job->jobrun.source)
		return ship_source(cluster, job, source, err);
	return 0;
}

/* ---- sbatch ------------------------------------------------------------ */

/* Returns the id from "12" or "12;cluster" on the last line, as sites print
 * banners before it; NULL if it is neither. */
static const char *read_id(const struct command_answer *answer,
			   struct arena *mem)
{
	const char *text = buf_text(&answer->out);
	size_t end = answer->out.len, start, digits;

	while (end && isspace((unsigned char)text[end - 1]))
		end--;
	for (start = end; start && text[start - 1] != '\n'; start--)
		;
	digits = strspn(text + start, "0123456789");
	if (!digits || (start + digits != end && text[start + digits] != ';'))
		return NULL;
	return arena_strndup(mem, text + start, digits);
}

int slurm_submit_again(struct cluster *cluster, const struct slurm_job *what,
		       struct slurm_run *run, struct arena *mem,
		       struct error *err)
{
	const struct slurm_block *block = what->request.block;
	const char *const *variables = slurm_variables(&what->request, mem);
	struct buf keep = { 0 };
	const char *argv[] = {
		"sh",
		"-c",
		SUBMIT,
		"jobrun",
		arena_printf(mem, "%s/job.sh",
			     cluster_run_folder(cluster, run->job_id, run->name,
						mem)),
		NULL,
		what->request.requeue == SLURM_REQUEUE_EXPEDITE ? "expedite"
								: "",
		NULL,
	};
	struct command_answer answer;
	size_t i;
	int ret;

	for (i = 0; i < block->exports.count; i++)
		buf_printf(&keep, "%s ", block->exports.items[i]);
	for (i = 0; variables[i]; i++)
		buf_printf(&keep, "%s ", variables[i]);
	argv[5] = buf_text(&keep);
	ret = cluster_call(cluster, argv, NULL, &answer, err);
	/* Slurm may have received it nevertheless, which the next try will
	 * see. */
	if (ret < 0 && err->code == ERROR_TIMEOUT)
		err->code = ERROR_UNREACHABLE;
	if (ret == 0 && command_status(&answer) != 0)
		ret = cluster_slurm_failed("sbatch", &answer, err);
	else if (ret == 0 && !(run->id = read_id(&answer, mem)))
		ret = error_set(err, ERROR_UNREACHABLE,
				"sbatch has printed no number of a job");
	command_answer_done(&answer);
	buf_done(&keep);
	return ret;
}

int slurm_forget(struct cluster *cluster, const char *job_id, const char *name,
		 struct error *err)
{
	char *folder = mem_printf("%s/runs/%s%s%s", cluster_folder(cluster),
				  job_id, name ? "/" : "", name ? name : "");
	const char *args[] = { folder, NULL };
	int ret = cluster_sh(cluster, "cannot remove the run", FORGET, args,
			     NULL, NULL, err);

	free(folder);
	return ret;
}

int slurm_submit(struct cluster *cluster, const struct job *job,
		 const struct slurm_job *what, struct slurm_run *run,
		 struct arena *mem, struct error *err)
{
	struct error ignored;
	int fd = -1;
	int ret = -1;

	if (ship(cluster, job, what, mem, err) < 0)
		goto out;
	/* The archive has the secrets, so it must not be on a disk of this
	 * machine. */
	fd = memfd_create("run", MFD_CLOEXEC);
	if (fd < 0) {
		error_errno(err, "cannot pack the run");
		goto out;
	}
	if (pack_run(fd, job, what, run, err) < 0)
		goto out;
	ret = put_folder(
		cluster, fd,
		cluster_run_folder(cluster, run->job_id, run->name, mem),
		"cannot create the run's folder", err);
	if (ret == 1)
		ret = error_set(err, ERROR_TRY_AGAIN,
				"it is being started elsewhere");
	if (ret < 0)
		goto out;
	ret = slurm_submit_again(cluster, what, run, mem, err);
	/* The job was refused, so the folder is of no use. */
	if (ret < 0 && err->code == ERROR_FAILED)
		slurm_forget(cluster, run->job_id, run->name, &ignored);
out:
	if (fd >= 0)
		close(fd);
	return ret;
}
