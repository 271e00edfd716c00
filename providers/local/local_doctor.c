/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/local_doctor.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/container/container.h"
#include "core/job/boundary.h"
#include "core/process/subprocess.h"
#include "core/provider/checks.h"
#include "core/spec/spec.h"
#include "core/store/store.h"
#include "core/supervise/host_probe.h"
#include "core/supervise/hosts.h"
#include "providers/local/local_devices.h"

/* Replaced by the job's name. */
#define GROUP "job"
#define ANSWER_MAX ((size_t)1 << 20)
#define LIMIT_MS 30000
/* A host with less free is about to be full. */
#define DISK_LOW ((uint64_t)1 << 30)

/*
 * Arguments: the working directory, the path of modules, the script ("-m" and a
 * module, or a file).  Prints the version of Python and a line for each module
 * of others that the script imports: its version, "" if that is unknown, "-" if
 * the module is missing.  Imports in a `try` may fail, so they are left out.
 * Nothing of the job is run, so its folders are never in the path from which the
 * script itself imports; to find a module without a dot is only to look.
 */
#define MODULES                                                                \
	"import sys\n"                                                         \
	"sys.path = [p for p in sys.path if p]\n"                              \
	"import ast, os, platform\n"                                           \
	"from importlib import machinery, metadata, util\n"                    \
	"print('\\t' + platform.python_version())\n"                           \
	"folder, path, name = sys.argv[1:4]\n"                                 \
	"if name == '-m':\n"                                                   \
	"    name = os.path.join(*sys.argv[4].split('.'))\n"                   \
	"    name = [n for n in (name + '.py', name + '/__main__.py')\n"       \
	"            if os.path.exists(os.path.join(folder, n))]\n"            \
	"    name = name[0] if name else ''\n"                                 \
	"file = os.path.join(folder, name)\n"                                  \
	"own = [os.path.dirname(file), folder]\n"                              \
	"own += [os.path.join(folder, p) for p in path.split(':') if p]\n"     \
	"try:\n"                                                               \
	"    tree = ast.parse(open(file).read())\n"                            \
	"except (OSError, SyntaxError, ValueError):\n"                         \
	"    sys.exit(0)\n"                                                    \
	"guarded = {id(n) for t in ast.walk(tree) if isinstance(t, ast.Try)\n" \
	"           for s in t.body for n in ast.walk(s)}\n"                   \
	"wanted = set()\n"                                                     \
	"for n in ast.walk(tree):\n"                                           \
	"    if id(n) in guarded:\n"                                           \
	"        continue\n"                                                   \
	"    if isinstance(n, ast.Import):\n"                                  \
	"        wanted |= {a.name.split('.')[0] for a in n.names}\n"          \
	"    elif isinstance(n, ast.ImportFrom) and not n.level:\n"            \
	"        wanted.add(n.module.split('.')[0])\n"                         \
	"std = getattr(sys, 'stdlib_module_names', ())\n"                      \
	"for m in sorted(wanted):\n"                                           \
	"    if m in std or m in sys.builtin_module_names:\n"                  \
	"        continue\n"                                                   \
	"    found = machinery.PathFinder.find_spec(m, own)\n"                 \
	"    if found and found.origin:\n"                                     \
	"        continue\n"                                                   \
	"    spec = util.find_spec(m) or found\n"                              \
	"    try:\n"                                                           \
	"        version = metadata.version(m) if spec else '-'\n"             \
	"    except metadata.PackageNotFoundError:\n"                          \
	"        version = ''\n"                                               \
	"    print(m + '\\t' + version)\n"

/* ---- the program ---- */

static bool is_python(const char *program)
{
	return text_starts(path_base(program), "python");
}

/* Returns whether the command names a script or a module, and where. */
static bool find_script(const struct strings *command, size_t *out)
{
	size_t i;

	for (i = 1; i < command->count; i++) {
		const char *word = command->items[i];

		if (!strcmp(word, "-c"))
			return false;
		if (!strcmp(word, "-m") || *word != '-') {
			*out = i;
			return !strcmp(word, "-m") ? i + 1 < command->count
						   : text_ends(word, ".py");
		}
	}
	return false;
}

static void add_module(const struct run_spec *spec, const char *name,
		       const char *version, struct checks *all)
{
	const char *check = arena_printf(all->mem, "module %s", name);

	if (strcmp(version, "-") != 0) {
		checks_add(all, GROUP, check, CHECK_OK,
			   *version ? arena_strdup(all->mem, version)
				    : "installed");
	} else if (spec->setup.count || spec->packages.count) {
		checks_add(all, GROUP, check, CHECK_MISSING, NULL)->advice =
			"not installed here; jobrun.setup or a package may "
			"bring it";
	} else {
		checks_bad(all, GROUP, check, ERROR_FAILED,
			   arena_printf(all->mem,
					"the script imports it, and this "
					"Python has none: pip install it, or "
					"set jobrun.setup"));
	}
}

static void add_python(const struct job *job, const char *program,
		       const char *version, struct checks *all)
{
	const char *wanted = job->training_input.python_version;
	size_t len = wanted ? strlen(wanted) : 0;

	if (!len || (!strncmp(version, wanted, len) &&
		     (version[len] == '.' || !version[len])))
		checks_add(
			all, GROUP, "python", CHECK_OK,
			arena_printf(all->mem, "%s is %s", program, version));
	else
		checks_add(all, GROUP, "python", CHECK_MISSING, NULL)->advice =
			arena_printf(all->mem,
				     "%s is %s, and the job's pythonVersion is "
				     "%s: that has no effect here",
				     program, version, wanted);
}

/* Reads what MODULES prints. */
static void read_modules(const struct job *job, const struct run_spec *spec,
			 char *text, struct checks *all)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *version = line;
		const char *name = strsep(&version, "\t");

		if (!version)
			continue;
		if (*name)
			add_module(spec, name, version, all);
		else
			add_python(job, spec->command.items[0], version, all);
	}
}

static const char *python_path(const struct run_spec *spec)
{
	const char *own = getenv("PYTHONPATH");
	size_t i;

	for (i = 0; i < spec->env.count; i++)
		if (!strcmp(spec->env.items[i].name, "PYTHONPATH"))
			return spec->env.items[i].value;
	return own ? own : "";
}

static void check_modules(const struct job *job, const struct run_spec *spec,
			  struct checks *all)
{
	const struct strings *command = &spec->command;
	size_t at = 0;
	bool found = find_script(command, &at);
	const char *const argv[] = {
		command->items[0],
		"-E",
		"-c",
		MODULES,
		spec->directory,
		python_path(spec),
		found ? command->items[at] : "",
		found && at + 1 < command->count ? command->items[at + 1] : "",
		NULL,
	};
	const struct command_call call = { .argv = argv,
					   .directory = spec->directory,
					   .output_max = ANSWER_MAX,
					   .timeout_ms = LIMIT_MS };
	struct command_answer answer = { 0 };
	char words[256];
	struct error err;

	if (command_run(&call, &answer, &err) < 0) {
		checks_fail(all, GROUP, "python", &err);
		return;
	}
	command_last_words(&answer, words, sizeof(words));
	if (command_status(&answer) == 0)
		read_modules(job, spec, (char *)buf_text(&answer.out), all);
	else
		checks_bad(all, GROUP, "python", ERROR_FAILED,
			   arena_printf(all->mem, "%s does not work: %s",
					argv[0], words));
	command_answer_done(&answer);
}

/* Checks that a program of this machine is there. */
static void check_program(const char *name, const char *advice,
			  struct checks *all)
{
	char *path = strchr(name, '/')
			     ? mem_strdup(name)
			     : file_find_program(getenv("PATH"), name);

	if (path)
		checks_add(all, GROUP, name, CHECK_OK,
			   arena_strdup(all->mem, path));
	else
		checks_bad(all, GROUP, name, ERROR_FAILED, advice);
	free(path);
}

static void check_container(const struct run_spec *spec, struct checks *all)
{
	struct error err;
	const char *program = container_program(spec->container.runtime, &err);

	if (program)
		checks_add(all, GROUP, "container", CHECK_OK, program);
	else
		checks_fail(all, GROUP, "container", &err);
}

/* An interpreter by its path may be a program of the repository. */
static void check_python(const struct job *job, const struct run_spec *spec,
			 struct checks *all)
{
	const char *program = spec->command.items[0];

	if (!strchr(program, '/'))
		check_modules(job, spec, all);
	else
		checks_add(all, GROUP, "python", CHECK_MISSING, NULL)->advice =
			arena_printf(all->mem,
				     "%s is not run, as only the job file "
				     "names it: its modules are not known",
				     program);
}

static void check_program_here(const struct job *job,
			       const struct run_spec *spec, struct checks *all)
{
	const char *program = spec->command.items[0];

	if (spec->container.runtime)
		check_container(spec, all);
	else if (spec->docker_image)
		check_program("docker",
			      "jobrun.docker needs it: install Docker", all);
	else if (spec->conda_env)
		check_program("conda", "jobrun.conda needs it: install conda",
			      all);
	else if (is_python(program))
		check_python(job, spec, all);
	else if (!strchr(program, '/'))
		check_program(program,
			      "jobrun.command starts it, and PATH has none",
			      all);
}

/* ---- hosts ---- */

static void add_host(const struct run_spec *spec, const struct host_probe *one,
		     struct checks *all)
{
	const char *host = arena_strdup(all->mem, one->host);
	const char *disk = arena_printf(all->mem, "%s disk", host);
	char size[32];

	if (one->why.code) {
		checks_fail(all, GROUP, host, &one->why);
		return;
	}
	checks_add(all, GROUP, host, CHECK_OK,
		   arena_printf(all->mem, "ssh logs in, %s",
				one->architecture ? one->architecture : "?"));
	size_format(one->free_bytes, size, sizeof(size));
	if (!one->is_writable)
		checks_bad(all, GROUP, disk, ERROR_DENIED,
			   arena_printf(all->mem,
					"'%s' cannot be written there: set "
					"jobrun.hostDirectory",
					one->folder));
	else if (one->free_bytes < DISK_LOW)
		checks_bad(all, GROUP, disk, ERROR_FAILED,
			   arena_printf(all->mem, "only %s free in '%s'", size,
					one->folder));
	else
		checks_add(all, GROUP, disk, CHECK_OK,
			   arena_printf(all->mem, "%s free in %s", size,
					one->folder));
	if (!spec->container.runtime && is_python(spec->command.items[0])) {
		const char *name = arena_printf(all->mem, "%s python3", host);

		if (one->python)
			checks_add(all, GROUP, name, CHECK_OK, one->python);
		else
			checks_bad(all, GROUP, name, ERROR_FAILED,
				   "the program needs it: install Python 3 "
				   "there, or set jobrun.container");
	}
	if (spec->container.runtime && !one->container)
		checks_bad(all, GROUP,
			   arena_printf(all->mem, "%s container", host),
			   ERROR_FAILED,
			   "no podman, docker, apptainer or ch-run there");
}

static void check_hosts(const struct job *job, const struct provider_env *env,
			struct run_spec *spec, struct checks *all)
{
	char *known = hosts_known_path(store_folder(env->store), job->job_id);
	const struct host_probe_call call = {
		.hosts = spec->hosts.names.items,
		.count = spec->hosts.names.count,
		.known = known,
		.directory = spec->hosts.directory,
	};
	const struct host_probe *found;
	struct error err;
	size_t i;

	found = host_probe(&call, all->mem, &err);
	free(known);
	if (!found) {
		checks_fail(all, GROUP, "hosts", &err);
		return;
	}
	for (i = 0; i < call.count; i++)
		add_host(spec, &found[i], all);
	if (!all->worst)
		local_devices_check(job, env, GROUP, spec, all);
}

void local_doctor_job(const struct job *job, const struct provider_env *env,
		      struct checks *all)
{
	struct run_spec spec;
	const char *missing;
	struct error err;

	if (spec_from_job(job, env->catalogue, IMAGES_IF_ASKED, all->mem, &spec,
			  &missing, &err) < 0) {
		checks_fail(all, GROUP, "settings", &err);
		return;
	}
	/* The plan says what is missing. */
	if (missing)
		return;
	if (!spec.hosts.names.count) {
		check_program_here(job, &spec, all);
		local_devices_check(job, env, GROUP, &spec, all);
	} else if (env->boundary && !env->boundary->connect) {
		checks_add(all, GROUP, "hosts", CHECK_MISSING, NULL)->advice =
			"not contacted, as only the job file names them: pass "
			"--allow-connect";
	} else {
		check_hosts(job, env, &spec, all);
	}
}
