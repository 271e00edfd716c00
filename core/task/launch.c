/* SPDX-License-Identifier: Apache-2.0 */
#include "core/task/launch.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/data/archive.h"
#include "core/data/package.h"
#include "core/job/message.h"
#include "core/process/process.h"
#include "core/topology/contract.h"
#include "core/topology/topology.h"

static int write_named(const struct topology *all, size_t self,
		       const char *name, struct environment *out,
		       struct error *err)
{
	const struct contract *contract = contract_find(name, err);
	size_t before = out->count;

	if (!contract)
		return -1;
	contract->write(all, self, out);
	if (out->count == before)
		return error_set(err, ERROR_INVALID,
				 "the contract '%s' does not apply to %s %d of "
				 "this run",
				 name, task_type_name(all->tasks[self].type),
				 all->tasks[self].index);
	return 0;
}

int launch_environment(const struct topology *all, size_t self,
		       const struct strings *names, char *const *inherited,
		       struct environment *out, struct error *err)
{
	struct environment written = { 0 };
	int ret = 0;
	size_t i;

	if (!names->count)
		contract_write(all, self, &written);
	for (i = 0; i < names->count && ret == 0; i++)
		ret = write_named(all, self, names->items[i], &written, err);
	if (ret == 0) {
		environment_inherit(out, inherited);
		if (written.count)
			environment_inherit(out, written.items);
	}
	environment_done(&written);
	return ret;
}

static int unpack_source(const char *source, const char *folder,
			 char **directory, struct error *err)
{
	char *to = path_join(folder, "source");

	if (archive_unpack(source, NULL, to, NULL, err) < 0) {
		free(to);
		return -1;
	}
	*directory = to;
	return 0;
}

static int unpack_package(const char *package, size_t number,
			  const char *folder, struct buf *path,
			  struct error *err)
{
	char *name = mem_printf("packages/%zu", number);
	char *to = path_join(folder, name);
	char *root = NULL;

	if (archive_unpack(package, NULL, to, NULL, err) == 0)
		root = package_root(to, err);
	if (root)
		buf_printf(path, "%s%s", path->len ? ":" : "", root);
	free(to);
	free(name);
	if (!root)
		return -1;
	free(root);
	return 0;
}

int launch_unpack(const char *source, const struct strings *packages,
		  const char *folder, struct environment *env, char **directory,
		  struct error *err)
{
	const char *tmp = environment_get(env, "TMPDIR");
	const char *old = environment_get(env, "PYTHONPATH");
	struct buf path = { 0 };
	char *found = NULL;
	char *base;
	int ret = -1;
	size_t i;

	*directory = NULL;
	if (!source && !packages->count)
		return 0;
	if (folder) {
		base = path_absolute(folder);
	} else {
		base = mem_printf("%s/jobrun.XXXXXX",
				  tmp && *tmp ? tmp : "/tmp");
		if (!mkdtemp(base)) {
			error_errno(err, "cannot create the folder '%s'", base);
			goto out;
		}
	}
	if (source && unpack_source(source, base, &found, err) < 0)
		goto out;
	for (i = 0; i < packages->count; i++)
		if (unpack_package(packages->items[i], i, base, &path, err) < 0)
			goto out;
	if (path.len) {
		if (old && *old)
			buf_printf(&path, ":%s", old);
		environment_set(env, "PYTHONPATH", path.data);
	}
	*directory = found;
	found = NULL;
	ret = 0;
out:
	free(found);
	buf_done(&path);
	free(base);
	return ret;
}

char *launch_host_name(bool qualified)
{
	struct addrinfo hints = { .ai_flags = AI_CANONNAME,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char name[256] = "";
	char *out;

	if (gethostname(name, sizeof(name) - 1) < 0 || !name[0])
		return mem_strdup("localhost");
	if (qualified && !strchr(name, '.') &&
	    getaddrinfo(name, NULL, &hints, &found) == 0 &&
	    found->ai_canonname && strchr(found->ai_canonname, '.'))
		out = mem_strdup(found->ai_canonname);
	else
		out = mem_strdup(name);
	if (found)
		freeaddrinfo(found);
	return out;
}

int launch_exec(const struct launch_program *program, struct error *err)
{
	signal(SIGPIPE, program->sigpipe);
	process_restore_core();
	execve(program->path, program->argv, program->envp);
	process_without_core();
	if (errno == ENOEXEC)
		return error_set(err, ERROR_FAILED,
				 "'%s' is not a program: name its interpreter "
				 "first",
				 program->path);
	return error_errno(err, "cannot run '%s'", program->path);
}
