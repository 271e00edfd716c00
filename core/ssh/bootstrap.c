/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ssh/bootstrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/text.h"
#include "core/ssh/agent_program.h"

/* output of start-up files before the agent speaks */
#define NOISE_MAX (64 << 10)

/*
 * The first command on the host, run by whatever login shell it has, hence no
 * newline, no quote but those around it, no '!' and no backslash.  It reports
 * whether the agent exists, else reads its name and size, and then exactly so
 * many bytes: the rest is for the agent.
 */
#define COMMAND                                                                \
	"exec /bin/sh -c '"                                                    \
	"umask 077; m=$(uname -m); %s"                                         \
	"f=\"$d/host-%s\"; "                                                   \
	"if [ \"$m\" = %s ] && [ -x \"$f\" ]; then :; else "                   \
	"echo \"" AGENT_MARK " need $m\"; read -r g n || exit 1; "             \
	"f=\"$d/host-$g\"; "                                                   \
	"[ -x \"$f\" ] || { "                                                  \
	"echo \"" AGENT_MARK " send\"; "                                       \
	"mkdir -p \"$d\" && head -c \"$n\" >\"$f.$$\" && "                     \
	"[ \"$(wc -c <\"$f.$$\")\" -eq \"$n\" ] && chmod 700 \"$f.$$\" && "    \
	"mv -f \"$f.$$\" \"$f\" || { rm -f \"$f.$$\"; exit 1; }; }; fi; "      \
	"echo \"" AGENT_MARK " have\"; exec \"$f\" connect%s'"

#define AT_HOME "d=\"${XDG_CACHE_HOME:-$HOME/.cache}/jobrun\"; "
/* The directory may be shared: programs that we run from there are in a folder
 * of the user's that others cannot write to. */
#define ELSEWHERE                                                              \
	"d=\"%s/jobrun-$(id -u)\"; mkdir -p \"$d\" || exit 1; "                \
	"[ -h \"$d\" ] && { echo \"$d is a link\" >&2; exit 1; }; "            \
	"[ -O \"$d\" ] && chmod 700 \"$d\" || { "                              \
	"echo \"$d is of another user\" >&2; exit 1; }; "

static char *place_new(const char *directory)
{
	return directory ? mem_printf(ELSEWHERE, directory)
			 : mem_strdup(AT_HOME);
}

char *bootstrap_command(const char *directory)
{
	struct agent_program own;
	char *place = place_new(directory);
	char *out;

	agent_program_own(&own);
	out = mem_printf(COMMAND, place, own.digest,
			 agent_program_architecture(),
			 directory ? " \"$d\"" : "");
	free(place);
	return out;
}

/* An agent runs there, so its file is there: the newest, as an older jobrun may
 * have left another one. */
char *bootstrap_enter_command(const char *directory)
{
	char *place = place_new(directory);
	char *out = mem_printf("exec /bin/sh -c '%s"
			       "f=$(ls -t \"$d\"/host-* | head -n 1); "
			       "exec \"$f\" enter \"$@\"' sh",
			       place);

	free(place);
	return out;
}

/* Adds the agent for a machine that has none: its name and size, or the file
 * itself. */
static int put_program(const char *architecture, bool whole,
		       struct wire_out *answer, struct error *err)
{
	struct agent_program program;
	char line[96];

	if (agent_program_find(architecture, &program, err) < 0)
		return -1;
	if (whole) {
		wire_put_bytes(answer, program.data, program.size);
	} else {
		snprintf(line, sizeof(line), "%s %zu\n", program.digest,
			 program.size);
		wire_put_bytes(answer, line, strlen(line));
	}
	agent_program_done(&program);
	return 0;
}

/* Returns like bootstrap_take(). */
static int take_line(struct bootstrap *bootstrap, const char *line,
		     struct wire_out *answer, struct error *err)
{
	const char *mark = strstr(line, AGENT_MARK " ");
	const char *word;

	if (!mark)
		return 0; /* output of some start-up file */
	word = mark + strlen(AGENT_MARK " ");
	if (!strcmp(word, "have"))
		return 1;
	if (text_starts(word, "need ")) {
		free(bootstrap->architecture);
		bootstrap->architecture = mem_strdup(word + strlen("need "));
		return put_program(bootstrap->architecture, false, answer, err);
	}
	if (!strcmp(word, "send") && bootstrap->architecture)
		return put_program(bootstrap->architecture, true, answer, err);
	return 0;
}

int bootstrap_take(struct bootstrap *bootstrap, struct buf *received,
		   struct wire_out *answer, struct error *err)
{
	int ret = 0;

	while (!ret) {
		char *line = received->data;
		char *end = received->len ? memchr(line, '\n', received->len)
					  : NULL;

		if (!end)
			break;
		*end = '\0';
		if (end > line && end[-1] == '\r')
			end[-1] = '\0';
		ret = take_line(bootstrap, line, answer, err);
		buf_drop(received, (size_t)(end + 1 - line));
	}
	if (!ret && received->len > NOISE_MAX)
		return error_set(err, ERROR_FAILED,
				 "its login shell prints unexpected output");
	return ret;
}

void bootstrap_done(struct bootstrap *bootstrap)
{
	free(bootstrap->architecture);
	*bootstrap = (struct bootstrap){ 0 };
}
