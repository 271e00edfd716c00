/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/cluster.h"

#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/ssh/ssh.h"
#include "providers/slurm/slurm_block.h"

/* squeue alone takes 18 s to notice that there is no controller. */
#define CALL_MS 60000
#define ANSWER_MAX ((size_t)256 << 20)
#define SSH_FAILED 255
#define NOT_FOUND 127
/*
 * The script that runs our command on a login host.  The exit status may come
 * before the last of the output, and the connection may break between the two,
 * so the answer ends with a mark.
 */
#define TO_THE_END "\"$@\"; s=$?; printf \"\\nended %d\" \"$s\"; exit \"$s\""
/*
 * The beginning of that script if the directory is absolute, and may be shared
 * by several users.  The user's own folder is then written as OWN_FOLDER, and
 * replaced in the arguments where the user's name is known.  Earlier versions
 * gave the directory itself to the user who came first.
 */
#define OWN_FOLDER "%u"
#define FIND_OWN                                                               \
	"own=${0%/*}; if [ ! -O \"$own/runs\" ]; then\n"                       \
	"u=$(id -un 2>/dev/null) || u=$(id -u); own=$own/$u; fi\n"             \
	"for a; do shift; case $a in\n"                                        \
	"\"$0\" | \"$0\"/*) a=$own${a#\"$0\"} ;; esac\n"                       \
	"set -- \"$@\" \"$a\"; done\n"
#define END_MARK "\nended "

struct cluster {
	char *place;
	char *folder; /* the user's; on a login host an absolute one
		       * ends with OWN_FOLDER */
	char *home;   /* home folder of the local user */
	char *known_hosts;
	struct ssh_target target;
	bool remote;
	atomic_bool away;
	int config;           /* memory file for ssh; -1: none */
	char config_path[64]; /* its path for ssh */
};

static char *home_folder(void)
{
	const char *home = getenv("HOME");
	const struct passwd *user;

	if (home && *home == '/')
		return mem_strdup(home);
	user = getpwuid(geteuid());
	return mem_strdup(user ? user->pw_dir : "/");
}

/* Returns the user's folder in a directory shared by several users. */
static char *own_folder(const char *directory, bool remote)
{
	const struct passwd *user = getpwuid(geteuid());
	char *runs;
	struct stat st;
	bool is_old;

	if (*directory != '/')
		return mem_strdup(directory);
	if (remote)
		return path_join(directory, OWN_FOLDER);
	runs = path_join(directory, "runs");
	is_old = stat(runs, &st) == 0 && st.st_uid == geteuid();
	free(runs);
	if (is_old)
		return mem_strdup(directory);
	return user ? mem_printf("%s/%s", directory, user->pw_name)
		    : mem_printf("%s/%ld", directory, (long)geteuid());
}

/*
 * Writes ssh's configuration.  The first call makes the connection, which lasts
 * until a minute after the last call: other processes can use it, too, and
 * nobody has to end it.
 */
static int make_config(struct cluster *cluster, const char *known_hosts,
		       struct error *err)
{
	/* ssh looks up the home folder in the password file. */
	const struct passwd *user = getpwuid(geteuid());
	char *folder = path_join(user ? user->pw_dir : "/", ".ssh");
	struct buf text = { 0 };
	int ret;

	ssh_config_put(known_hosts, NULL, &text);
	buf_puts(&text, "  ControlMaster auto\n"
			"  ControlPath ~/.ssh/jobrun-%C\n"
			"  ControlPersist 60\n");
	ret = folder_make(folder, err);
	cluster->config = memfd_create("ssh_config", MFD_CLOEXEC);
	if (ret == 0 && (cluster->config < 0 ||
			 fd_write(cluster->config, text.data, text.len) < 0))
		ret = error_errno(err, "cannot create a configuration for ssh");
	snprintf(cluster->config_path, sizeof(cluster->config_path),
		 "/proc/%ld/fd/%d", (long)getpid(), cluster->config);
	buf_done(&text);
	free(folder);
	return ret;
}

struct cluster *cluster_open(const char *place, const char *known_hosts,
			     struct error *err)
{
	struct cluster *cluster = mem_alloc(sizeof(*cluster));
	const char *whole = place ? place : SLURM_USUAL_PLACE;
	const char *colon = strrchr(whole, ':');
	char *host =
		mem_printf("%.*s", colon ? (int)(colon - whole) : 0, whole);
	int ret = 0;

	cluster->config = -1;
	cluster->place = mem_strdup(whole);
	cluster->home = home_folder();
	cluster->known_hosts = mem_strdup(known_hosts);
	cluster->remote = *host;
	cluster->folder =
		own_folder(colon ? colon + 1 : whole, cluster->remote);
	if (cluster->remote)
		ret = ssh_target_parse(host, &cluster->target, err);
	if (ret == 0 && cluster->remote)
		ret = make_config(cluster, known_hosts, err);
	free(host);
	if (ret == 0)
		return cluster;
	cluster_close(cluster);
	return NULL;
}

void cluster_close(struct cluster *cluster)
{
	if (!cluster)
		return;
	ssh_target_done(&cluster->target);
	if (cluster->config >= 0)
		close(cluster->config);
	free(cluster->place);
	free(cluster->folder);
	free(cluster->home);
	free(cluster->known_hosts);
	free(cluster);
}

const char *cluster_place(const struct cluster *cluster)
{
	return cluster->place;
}

const char *cluster_folder(const struct cluster *cluster)
{
	return cluster->folder;
}

const char *cluster_run_folder(const struct cluster *cluster,
			       const char *job_id, const char *name,
			       struct arena *mem)
{
	return arena_printf(mem, "%s/runs/%s/%s", cluster->folder, job_id,
			    name);
}

bool cluster_is_remote(const struct cluster *cluster)
{
	return cluster->remote;
}

bool cluster_is_away(const struct cluster *cluster)
{
	return atomic_load(&cluster->away);
}

char *cluster_path(const struct cluster *cluster, const char *path)
{
	return path_join(cluster->home, path);
}

/* Returns the command line as the login shell there reads it; `script` is what
 * becomes of the words. */
static char *command_line(const struct cluster *cluster, const char *script,
			  const char *const *argv)
{
	bool is_shared = *cluster->folder == '/';
	struct buf out = { 0 }, whole = { 0 };

	buf_printf(&whole, "%s%s", is_shared ? FIND_OWN : "", script);
	buf_puts(&out, "sh -c ");
	command_quote(buf_text(&whole), &out);
	buf_done(&whole);
	buf_putc(&out, ' ');
	command_quote(is_shared ? cluster->folder : "sh", &out);
	for (; *argv; argv++) {
		buf_putc(&out, ' ');
		command_quote(*argv, &out);
	}
	return buf_take(&out);
}

/* Removes the mark from the end of an answer; returns false if it is missing,
 * and the answer incomplete. */
static bool cut_mark(struct command_answer *answer)
{
	struct buf *out = &answer->out;
	char mark[32];
	size_t len = (size_t)snprintf(mark, sizeof(mark), END_MARK "%d",
				      command_status(answer));

	if (out->len < len || memcmp(out->data + out->len - len, mark, len))
		return false;
	out->len -= len;
	out->data[out->len] = '\0';
	return true;
}

/* Explains an incomplete answer: the host was not reached, the connection
 * broke, or the host runs no commands. */
static int explain_break(const struct command_answer *answer, struct error *err)
{
	int status = command_status(answer);
	char words[256];

	command_last_words(answer, words, sizeof(words));
	if (status == SSH_FAILED && *words)
		ssh_explain(buf_text(&answer->words), err);
	else if (status == 0 || status == SSH_FAILED ||
		 WIFSIGNALED(answer->status))
		/* The process that holds the shared connection has ended, which
		 * ssh does not report. */
		error_set(err, ERROR_UNREACHABLE, "the connection was cut");
	else
		error_set(err, ERROR_FAILED, "it runs no commands: %s",
			  *words ? words : "its shell ends at once");
	return -1;
}

static int call_remote(struct cluster *cluster, struct command_call *call,
		       struct command_answer *answer, struct error *err)
{
	char *line = command_line(cluster, TO_THE_END, call->argv);
	struct ssh_command *ssh =
		ssh_command_new(&cluster->target, cluster->config_path, line);
	int ret;

	call->argv = (const char *const *)ssh->argv;
	ret = command_run(call, answer, err);
	if (ret == 0 && !cut_mark(answer)) {
		explain_break(answer, err);
		ret = error_prefix(err, "login host '%s'",
				   cluster->target.name);
		command_answer_done(answer);
	} else if (ret < 0 && err->code == ERROR_TIMEOUT) {
		err->code = ERROR_UNREACHABLE;
	}
	atomic_store(&cluster->away, ret < 0 && err->code == ERROR_UNREACHABLE);
	free(ssh);
	free(line);
	return ret;
}

int cluster_words(const struct cluster *cluster, const char *const *argv,
		  bool terminal, const char *folder, struct arena *mem,
		  char *const **out, struct error *err)
{
	const char *config = arena_printf(mem, "%s/ssh_config", folder);
	struct ssh_command *ssh;
	size_t count = 0, i;
	char *line, **words;

	*out = (char *const *)argv;
	if (!cluster->remote)
		return 0;
	if (ssh_config_write(config, cluster->known_hosts, NULL, err) < 0)
		return -1;
	line = command_line(cluster, "exec \"$@\"", argv);
	ssh = ssh_command_new(&cluster->target, config, line);
	if (terminal)
		ssh_command_with_terminal(ssh->argv);
	while (ssh->argv[count])
		count++;
	/* They outlive the cluster. */
	words = arena_alloc(mem, (count + 1) * sizeof(*words));
	for (i = 0; i < count; i++)
		words[i] = arena_strdup(mem, ssh->argv[i]);
	*out = words;
	free(ssh);
	free(line);
	return 0;
}

int cluster_call(struct cluster *cluster, const char *const *argv,
		 const struct cluster_input *input,
		 struct command_answer *answer, struct error *err)
{
	struct command_call call = { .argv = argv,
				     .directory = cluster->home,
				     .output_max = ANSWER_MAX,
				     .timeout_ms = CALL_MS };

	if (input) {
		call.input = input->data;
		call.input_len = input->len;
		call.input_fd = input->fd;
	}
	if (cluster->remote)
		return call_remote(cluster, &call, answer, err);
	return command_run(&call, answer, err);
}

int cluster_sh(struct cluster *cluster, const char *what, const char *script,
	       const char *const *args, const struct cluster_input *input,
	       struct command_answer *answer, struct error *err)
{
	const char *argv[4 + CLUSTER_ARGS + 1] = { "sh", "-c", script,
						   "jobrun" };
	struct command_answer own = { 0 };
	struct command_answer *to = answer ? answer : &own;
	char words[256];
	size_t i;
	int ret;

	for (i = 0; args && args[i] && i < CLUSTER_ARGS; i++)
		argv[4 + i] = args[i];
	ret = cluster_call(cluster, argv, input, to, err);
	if (ret == 0 && command_status(to) != 0) {
		command_last_words(to, words, sizeof(words));
		ret = error_set(err, ERROR_FAILED, "%s", words);
		command_answer_done(to);
	}
	if (ret < 0)
		error_prefix(err, "%s%s%s", what, cluster->remote ? " on " : "",
			     cluster->remote ? cluster->target.name : "");
	command_answer_done(&own);
	return ret;
}

/* Whether the message is one that Slurm's commands print if the controller is
 * down or starting (slurm_errno.c). */
static bool is_away(const char *words)
{
	static const char *const away[] = {
		"Unable to contact slurm controller",
		"Connection refused",
		"Connection timed out",
		"Socket timed out",
		"Transport endpoint",
		"Zero Bytes were transmitted",
		"Slurm temporarily unable to accept job",
		"Slurm backup controller in standby mode",
		"controller is in standby",
		"Resource temporarily unavailable",
		"Unable to establish",
		"Could not establish a configuration source",
	};
	size_t i;

	for (i = 0; i < COUNT(away); i++)
		if (strstr(words, away[i]))
			return true;
	return false;
}

int cluster_slurm_failed(const char *command,
			 const struct command_answer *answer, struct error *err)
{
	char words[256];
	const char *line;

	command_last_words(answer, words, sizeof(words));
	/* The message is after the prefix: "sbatch: error: Batch job submission
	 * failed: …". */
	line = strstr(words, "error: ");
	line = line ? line + strlen("error: ") : words;
	if (is_away(buf_text(&answer->words)))
		return error_set(err, ERROR_UNREACHABLE,
				 "Slurm does not answer: %s", line);
	if (command_status(answer) == NOT_FOUND)
		return error_set_final(
			err, ERROR_UNREACHABLE,
			"no %s here: run jobrun where Slurm's commands are, or "
			"set jobrun.slurm.loginHost to such a host",
			command);
	return error_set(err, ERROR_FAILED, "%s: %s", command,
			 *line ? line : "it failed without a message");
}

int cluster_slurm(struct cluster *cluster, const char *const *argv,
		  struct command_answer *answer, struct error *err)
{
	/* The command may be preceded by variables: "env NAME=VALUE squeue". */
	const char *name = strcmp(argv[0], "env") != 0 ? argv[0] : argv[2];
	int ret = cluster_call(cluster, argv, NULL, answer, err);

	if (ret < 0 && err->code == ERROR_TIMEOUT)
		err->code = ERROR_UNREACHABLE;
	if (ret == 0 && command_status(answer) != 0) {
		ret = cluster_slurm_failed(name, answer, err);
		command_answer_done(answer);
	}
	return ret;
}

int cluster_cancel(struct cluster *cluster, const char *id, struct error *err)
{
	const char *const argv[] = { "scancel", id, NULL };
	struct command_answer answer;

	if (cluster_slurm(cluster, argv, &answer, err) < 0)
		return -1;
	command_answer_done(&answer);
	return 0;
}
