/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ssh/agent_program.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/file.h"

#define PROGRAM_MAX (64 << 20)

/* The Makefile builds the agent, and supplies its path and digest here. */
__asm__(".section .rodata\n"
	".balign 16\n"
	"agent_file:\n"
	".incbin \"" AGENT_FILE "\"\n"
	"agent_file_end:\n"
	".previous\n");
extern const char agent_file[] __attribute__((visibility("hidden")));
extern const char agent_file_end[] __attribute__((visibility("hidden")));

static const char architecture[] = AGENT_ARCHITECTURE;

const char *agent_program_architecture(void)
{
	return architecture;
}

void agent_program_own(struct agent_program *out)
{
	*out = (struct agent_program){
		.data = agent_file,
		/* These are two symbols of the assembler, not the ends of one
		 * array. */
		.size = (size_t)((uintptr_t)agent_file_end -
				 (uintptr_t)agent_file),
		.digest = AGENT_DIGEST,
	};
}

static char *beside(const char *folder, const char *arch)
{
	return mem_printf("%s/jobrun-host-%s", folder, arch);
}

int agent_program_find(const char *arch, struct agent_program *out,
		       struct error *err)
{
	static const char *const places[] = { "../libexec/jobrun", "." };
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct digest digest;
	struct error ignored;
	char *folder, *own;
	size_t i;

	if (!strcmp(arch, architecture)) {
		agent_program_own(out);
		return 0;
	}
	/* The name becomes part of a path. */
	if (strspn(arch, "abcdefghijklmnopqrstuvwxyz0123456789_") !=
	    strlen(arch))
		return error_set(err, ERROR_FAILED,
				 "it has an unknown architecture");
	*out = (struct agent_program){ 0 };
	self[len > 0 ? len : 0] = '\0';
	own = path_folder(self);
	for (i = 0; i < COUNT(places) && !out->owned; i++) {
		char *path;

		folder = path_join(own, places[i]);
		path = beside(folder, arch);
		out->owned = file_read(path, PROGRAM_MAX, &out->size, &ignored);
		free(path);
		free(folder);
	}
	free(own);
	if (!out->owned)
		return error_set(err, ERROR_FAILED,
				 "it has another architecture (%s, but jobrun "
				 "here is %s): put the agent that 'make agent "
				 "MACHINE=%s' builds here as "
				 "libexec/jobrun/jobrun-host-%s",
				 arch, architecture, arch, arch);
	out->data = out->owned;
	digest_bytes(out->data, out->size, &digest);
	memcpy(out->digest, digest.hex, sizeof(out->digest) - 1);
	return 0;
}

void agent_program_done(struct agent_program *program)
{
	free(program->owned);
	*program = (struct agent_program){ 0 };
}
