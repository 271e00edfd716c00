/* SPDX-License-Identifier: Apache-2.0 */
#include "core/container/container.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/text.h"

#define WORDS_MORE 32
/* A runtime on a busy machine takes long to end what is deaf to SIGTERM. */
#define REMOVE_S 60
#define HELP_S 10

/* The words of a command line under construction. */
struct container_line {
	struct arena *mem;
	const char **words;
	size_t count;
};

struct container_words {
	const char *runtime;
	const char *image;
	const char *name;
	const char *workdir;
	const char *remove; /* name of the container to remove */
	char *const *first; /* all words, for options given repeatedly */
	int count;          /* number of words up to "--" */
	char *const *command;
	int command_count;
	bool own_entry; /* the command is the arguments of the image's own */
};

/* The command line options of one runtime. */
struct container_runtime {
	const char *name;
	const char *program;
	const char *head[8]; /* ends with NULL */
	/* The first option in place of head's, to run an image's own entry
	 * point.  NULL: it runs none.  Images of Charliecloud do not have any,
	 * and Pyxis runs them only around a shell of its own, which stops: a
	 * program in its place would never start the task. */
	const char *own_entry;
	const char *as_user[2];  /* options unless run by root, or NULL */
	const char *name_option; /* NULL: containers have no names */
	const char *mount;
	const char *workdir;
	/* For the first word of a command, which the image's own entry point
	 * would take as its argument.  NULL: it is not run. */
	const char *entrypoint;
	const char *variable; /* NULL: all variables are inherited */
	const char *nvidia;
	const char *amd[2];
	const char *image; /* prefix of an image without a scheme, or NULL */
	const char *end;   /* between image and command, or NULL */
	/* The option for the image, which enroot names in its own way; mounts
	 * and variables are then one option each, a list.  NULL: the image is a
	 * word before the command. */
	const char *image_option;
	/* Text of its help if the program can run containers; NULL: it can. */
	const char *help;
	/* The variable that is set where it runs them at once: elsewhere it
	 * would ask for machines.  NULL: it does everywhere. */
	const char *within;
};

/* The runtimes in the order they are tried, rootless ones first. */
static const struct container_runtime runtimes[] = {
	{ .name = "podman",
	  .program = "podman",
	  /* jobrun keeps the log.  With the host's pids the program is not
	   * process 1, which would ignore signals it has no handler for.  It
	   * has had its grace when the container is removed by force. */
	  .head = { "run", "--rm", "--network=host", "--pid=host", "--ipc=host",
		    "--log-driver=none", "--security-opt=label=disable",
		    "--stop-timeout=0" },
	  .own_entry = "run",
	  .as_user = { "--userns=keep-id" },
	  .name_option = "--name=",
	  .mount = "--volume=",
	  .workdir = "--workdir=",
	  .entrypoint = "--entrypoint=",
	  .variable = "--env=",
	  .nvidia = "--device=nvidia.com/gpu=all",
	  .amd = { "--device=/dev/kfd", "--device=/dev/dri" } },
	{ .name = "docker",
	  .program = "docker",
	  .head = { "run", "--rm", "--init", "--network=host", "--ipc=host",
		    "--log-driver=none" },
	  .own_entry = "run",
	  .as_user = { "--user=" },
	  .name_option = "--name=",
	  .mount = "--volume=",
	  .workdir = "--workdir=",
	  .entrypoint = "--entrypoint=",
	  .variable = "--env=",
	  .nvidia = "--gpus=all",
	  .amd = { "--device=/dev/kfd", "--device=/dev/dri" } },
	{ .name = "apptainer",
	  .program = "apptainer",
	  .head = { "exec" },
	  .own_entry = "run",
	  .mount = "--bind=",
	  .workdir = "--pwd=",
	  .nvidia = "--nv",
	  .amd = { "--rocm" },
	  .image = "docker://" },
	{ .name = "charliecloud",
	  .program = "ch-run",
	  /* The folders to mount on are created in the image. */
	  .head = { "--write" },
	  .mount = "--bind=",
	  .workdir = "--cd=",
	  .end = "--" },
	/* A step beside the one that it is called from, on the same node; it
	 * passes signals on, and its exit status is the program's. */
	{ .name = "pyxis",
	  .program = "srun",
	  .head = { "--overlap", "--nodes=1", "--ntasks=1", "--input=none",
		    "--cpu-bind=none", "--export=ALL" },
	  .mount = "--container-mounts=",
	  .workdir = "--container-workdir=",
	  .variable = "--container-env=",
	  .image_option = "--container-image=",
	  .help = "--container-image",
	  .within = "SLURM_JOB_ID" },
};

/* ---- which one --------------------------------------------------------- */

static bool is_here(const char *program)
{
	const char *path = getenv("PATH");
	char *file = file_find_program(path ? path : "/usr/bin:/bin", program);
	bool found = file;

	free(file);
	return found;
}

/* Runs a program without input and output for a few seconds at most; returns
 * whether it exits with 0. */
static bool run_quietly(const char *const *argv, char *const *env,
			unsigned timeout_s)
{
	int null, status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		alarm(timeout_s);
		execvpe(argv[0], (char *const *)argv, env ? env : environ);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Whether it is installed, with what it needs. */
static bool is_usable(const struct container_runtime *one)
{
	const char *const argv[] = {
		"sh", "-c",         "\"$1\" --help 2>&1 | grep -q -e \"$2\"",
		"sh", one->program, one->help,
		NULL,
	};

	return is_here(one->program) && (!one->within || getenv(one->within)) &&
	       (!one->help || run_quietly(argv, NULL, HELP_S));
}

static const struct container_runtime *find_runtime(const char *name,
						    struct error *err)
{
	size_t i;

	for (i = 0; i < COUNT(runtimes); i++) {
		const struct container_runtime *one = &runtimes[i];
		bool is_meant = !strcmp(name, one->name);

		if ((is_meant || !strcmp(name, "auto")) && is_usable(one))
			return one;
		if (is_meant)
			return error_set(err, ERROR_INVALID,
					 "'%s' %s here, but "
					 "jobrun.container.runtime is %s; "
					 "'none' runs without a container",
					 one->program,
					 is_here(one->program)
						 ? "runs no containers"
						 : "is not installed",
					 name),
			       NULL;
	}
	error_set(err, ERROR_INVALID,
		  "no container runtime here (podman, docker, apptainer, "
		  "ch-run, Pyxis), but the job has an image; "
		  "jobrun.container: {runtime: none} runs it without one");
	return NULL;
}

const char *container_program(const char *runtime, struct error *err)
{
	const struct container_runtime *found = find_runtime(runtime, err);

	return found ? found->program : NULL;
}

const char *container_entry_fault(const char *runtime, struct arena *mem)
{
	size_t i;

	for (i = 0; i < COUNT(runtimes); i++)
		if (!strcmp(runtimes[i].name, runtime) &&
		    !runtimes[i].own_entry)
			return arena_printf(
				mem,
				"%s does not run an image's own entry point: "
				"set jobrun.command, or containerCommand "
				"beside the image",
				runtime);
	return NULL;
}

/* ---- its command line -------------------------------------------------- */

static void add(struct container_line *line, const char *option,
		const char *value)
{
	line->words[line->count++] =
		arena_printf(line->mem, "%s%s", option, value);
}

static void add_if(struct container_line *line, const char *option,
		   const char *value)
{
	if (option && value)
		add(line, option, value);
}

static void add_user(struct container_line *line,
		     const struct container_runtime *runtime)
{
	const char *option = runtime->as_user[0];

	if (!option || geteuid() == 0)
		return;
	if (text_ends(option, "="))
		add(line, option,
		    arena_printf(line->mem, "%u:%u", (unsigned)geteuid(),
				 (unsigned)getegid()));
	else
		add(line, option, "");
}

static void add_devices(struct container_line *line,
			const struct container_runtime *runtime)
{
	size_t i;

	if (access("/dev/nvidiactl", F_OK) == 0)
		add_if(line, runtime->nvidia, "");
	for (i = 0; i < COUNT(runtime->amd); i++)
		if (access("/dev/kfd", F_OK) == 0)
			add_if(line, runtime->amd[i], "");
}

/* Whether an image is a path or a URL, which is passed unchanged. */
static bool has_scheme(const char *image)
{
	return strstr(image, "://") || *image == '/' || *image == '.';
}

/* Returns "NAME#REST" for an image of a registry "NAME/REST", as enroot has it:
 * the name of a registry is that of a host. */
static const char *enroot_image(const char *image, struct arena *mem)
{
	size_t len = strcspn(image, "/");

	if (has_scheme(image) || strchr(image, '#') || !image[len] ||
	    strcspn(image, ".:") >= len)
		return image;
	return arena_printf(mem, "%.*s#%s", (int)len, image, image + len + 1);
}

/* Adds what is said several times as one option with a list. */
static void add_list(struct container_line *line, const char *option,
		     const char *key, const struct container_words *all)
{
	const char *list = NULL;
	int i;

	for (i = 0; i < all->count; i++) {
		const char *value = strchr(all->first[i], '=');

		if (!value++ || !text_starts(all->first[i], key) ||
		    value != all->first[i] + strlen(key))
			continue;
		if (!strcmp(key, "mount=") && !strchr(value, ':'))
			value = arena_printf(line->mem, "%s:%s", value, value);
		list = list ? arena_printf(line->mem, "%s,%s", list, value)
			    : value;
	}
	add_if(line, option, list);
}

/* Adds a mount: "DIR" keeps its path, "DIR:THERE" and "DIR:THERE:ro" are passed
 * unchanged. */
static void add_mount(struct container_line *line,
		      const struct container_runtime *runtime, const char *what)
{
	add(line, runtime->mount,
	    strchr(what, ':') ? what
			      : arena_printf(line->mem, "%s:%s", what, what));
}

static void add_often(struct container_line *line,
		      const struct container_runtime *runtime,
		      const struct container_words *all)
{
	int i;

	for (i = 0; i < all->count; i++) {
		const char *word = all->first[i];

		if (runtime->image_option && !text_starts(word, "option="))
			continue;
		if (text_starts(word, "mount="))
			add_mount(line, runtime, strchr(word, '=') + 1);
		else if (text_starts(word, "variable="))
			add_if(line, runtime->variable, strchr(word, '=') + 1);
		else if (text_starts(word, "option="))
			add(line, strchr(word, '=') + 1, "");
	}
}

static void make_line(struct container_line *line,
		      const struct container_runtime *runtime,
		      const struct container_words *all)
{
	size_t i;
	int n = 0;

	add(line, runtime->program, "");
	for (i = 0; i < COUNT(runtime->head) && runtime->head[i]; i++)
		add(line,
		    i == 0 && all->own_entry ? runtime->own_entry
					     : runtime->head[i],
		    "");
	add_user(line, runtime);
	add_devices(line, runtime);
	add_if(line, runtime->name_option, all->name);
	add_if(line, runtime->workdir, all->workdir);
	if (runtime->image_option) {
		add(line, runtime->image_option,
		    enroot_image(all->image, line->mem));
		add_list(line, runtime->mount, "mount=", all);
		add_list(line, runtime->variable, "variable=", all);
		add_if(line, "--nodelist=", getenv("SLURMD_NODENAME"));
	}
	add_often(line, runtime, all);
	if (runtime->entrypoint && !all->own_entry)
		add(line, runtime->entrypoint, all->command[n++]);
	if (!runtime->image_option)
		add(line,
		    runtime->image && !has_scheme(all->image) ? runtime->image
							      : "",
		    all->image);
	add_if(line, runtime->end, "");
	for (; n < all->command_count; n++)
		add(line, all->command[n], "");
}

static int read_words(int count, char *const *words,
		      struct container_words *out, struct error *err)
{
	int i;

	*out = (struct container_words){ .runtime = "auto", .first = words };
	for (i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
		const char *value = strchr(words[i], '=');

		value = value ? value + 1 : "";
		if (text_starts(words[i], "runtime="))
			out->runtime = value;
		else if (text_starts(words[i], "image="))
			out->image = value;
		else if (text_starts(words[i], "name="))
			out->name = value;
		else if (text_starts(words[i], "workdir="))
			out->workdir = value;
		else if (text_starts(words[i], "remove="))
			out->remove = value;
		else if (!strcmp(words[i], CONTAINER_OWN_ENTRY))
			out->own_entry = true;
	}
	out->count = i;
	out->command = words + i + 1;
	out->command_count = count - i - 1;
	if (!out->remove &&
	    (!out->image || out->command_count < (out->own_entry ? 0 : 1)))
		return error_set(err, ERROR_USAGE,
				 "an image and a command must be given");
	return 0;
}

int container_exec(int count, char *const *words, struct error *err)
{
	struct container_line line = { .mem = arena_new() };
	const struct container_runtime *runtime;
	struct container_words all;
	const char *fault;
	int ret = -1;

	if (read_words(count, words, &all, err) < 0)
		goto out;
	if (all.remove) {
		container_remove(all.runtime, all.remove, NULL);
		_exit(0);
	}
	runtime = find_runtime(all.runtime, err);
	if (!runtime)
		goto out;
	fault = all.own_entry ? container_entry_fault(runtime->name, line.mem)
			      : NULL;
	if (fault) {
		ret = error_set(err, ERROR_INVALID, "%s", fault);
		goto out;
	}
	line.words = arena_alloc(line.mem, ((size_t)count + WORDS_MORE) *
						   sizeof(*line.words));
	make_line(&line, runtime, &all);
	/* Charliecloud mounts TMPDIR at /tmp, which may hold the run's folder,
	 * and needs USER, which a step of Slurm may lack. */
	if (!strcmp(runtime->name, "charliecloud")) {
		setenv("TMPDIR", "/tmp", 1);
		setenv("USER",
		       arena_printf(line.mem, "%u", (unsigned)geteuid()), 0);
	}
	execvp(line.words[0], (char *const *)line.words);
	ret = error_errno(err, "cannot start '%s'", line.words[0]);
out:
	arena_free(line.mem);
	return ret;
}

int container_enter(const char *name_of_runtime, const char *name,
		    const char *variable, char *const *command,
		    struct arena *mem, char *const **out, struct error *err)
{
	const struct container_runtime *runtime =
		find_runtime(name_of_runtime, err);
	struct container_line line = { .mem = mem };
	size_t count = 0;

	if (!runtime)
		return -1;
	*out = NULL;
	if (!runtime->name_option)
		return 0;
	while (command[count])
		count++;
	line.words =
		arena_alloc(mem, (count + WORDS_MORE) * sizeof(*line.words));
	add(&line, runtime->program, "");
	add(&line, "exec", "");
	add(&line, "-i", "");
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		add(&line, "-t", "");
	add(&line, runtime->variable, variable);
	add(&line, name, "");
	memcpy(line.words + line.count, command,
	       (count + 1) * sizeof(*line.words));
	*out = (char *const *)line.words;
	return 0;
}

bool container_is_there(const char *name_of_runtime, const char *name)
{
	struct error ignored;
	const struct container_runtime *runtime =
		find_runtime(name_of_runtime, &ignored);
	const char *const argv[] = { runtime ? runtime->program : "",
				     "container", "inspect", name, NULL };

	return runtime && run_quietly(argv, NULL, REMOVE_S);
}

void container_remove(const char *name_of_runtime, const char *name,
		      char *const *env)
{
	size_t i;

	/* A runtime that must be asked whether it runs containers keeps none,
	 * and comes last. */
	for (i = 0; i < COUNT(runtimes); i++) {
		const struct container_runtime *one = &runtimes[i];
		const char *const argv[] = { one->program, "rm", "-f", name,
					     NULL };

		if ((strcmp(name_of_runtime, one->name) != 0 &&
		     strcmp(name_of_runtime, "auto") != 0) ||
		    !is_here(one->program))
			continue;
		if (one->name_option)
			run_quietly(argv, env, REMOVE_S);
		return;
	}
}
