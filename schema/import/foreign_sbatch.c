/* SPDX-License-Identifier: Apache-2.0 */
/* Reads scripts of sbatch: their #SBATCH lines and the srun line. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/traits.h"
#include "schema/import/foreign.h"

/* How the value of an option is taken. */
enum how {
	HOW_NAME,
	HOW_NODES,
	HOW_OWN,   /* a field of the block */
	HOW_WHOLE, /* the same with a whole number */
	HOW_TIME,
	HOW_CPUS,
	HOW_MEMORY,
	HOW_GPUS, /* "h100:8", "gpu:h100:8" */
	HOW_ONE,  /* 1 is the default */
	HOW_YES,  /* a boolean field of the block */
	HOW_LOGS, /* jobrun itself keeps logs */
};

static const struct {
	const char *letter; /* "-J", or "" */
	const char *name;
	enum how how;
	const char *field;
} options[] = {
	{ "-J", "job-name", HOW_NAME, NULL },
	{ "-N", "nodes", HOW_NODES, NULL },
	{ "-p", "partition", HOW_OWN, "partition" },
	{ "-A", "account", HOW_OWN, "account" },
	{ "-q", "qos", HOW_OWN, "qos" },
	{ "-C", "constraint", HOW_OWN, "constraint" },
	{ "", "reservation", HOW_OWN, "reservation" },
	{ "", "nice", HOW_WHOLE, "nice" },
	{ "-t", "time", HOW_TIME, NULL },
	{ "-c", "cpus-per-task", HOW_CPUS, NULL },
	{ "", "mem", HOW_MEMORY, NULL },
	{ "", "gres", HOW_GPUS, NULL },
	{ "-G", "gpus-per-node", HOW_GPUS, NULL },
	{ "", "gpus-per-task", HOW_GPUS, NULL },
	{ "", "ntasks-per-node", HOW_ONE, NULL },
	{ "", "requeue", HOW_YES, "requeue" },
	{ "-o", "output", HOW_LOGS, NULL },
	{ "-e", "error", HOW_LOGS, NULL },
};

struct sbatch_script {
	struct foreign *foreign;
	struct foreign_pool pool;
	struct buf body; /* commands before the program */
	char *program;   /* the command after srun, or NULL */
	long long line;
	bool named, many;
};

static void lose(struct sbatch_script *script, const char *text)
{
	import_loss(script->foreign->import, "%s:%lld: %s: no field for it",
		    script->foreign->file, script->line, text);
}

static void set_own(struct sbatch_script *script, const char *field,
		    json_t *value)
{
	char *path = mem_printf("jobrun.%s.%s", script->foreign->block, field);

	import_set(script->foreign->import->job, path, value);
	free(path);
}

/* Reads "1-02:03:04", "02:03:04" or minutes as in "90"; returns 0 if
 * invalid. */
static long seconds_of(const char *text)
{
	const char *dash = strchr(text, '-');
	long days = dash ? strtol(text, NULL, 10) : 0, parts[3] = { 0 };
	const char *at = dash ? dash + 1 : text;
	size_t n = 0;
	char *end;

	while (n < 3) {
		parts[n++] = strtol(at, &end, 10);
		if (*end != ':')
			break;
		at = end + 1;
	}
	if (dash)
		return days * 86400 + parts[0] * 3600 + parts[1] * 60 +
		       parts[2];
	if (n == 3)
		return parts[0] * 3600 + parts[1] * 60 + parts[2];
	return parts[0] * 60 + parts[1];
}

/* Takes GPUs if their type is known, as jobs name accelerators. */
static bool take_gpus(struct sbatch_script *script, const char *value)
{
	const char *type, *colon;
	char *name;

	if (text_starts(value, "gpu:"))
		value += 4;
	colon = strrchr(value, ':');
	if (!colon || strchr(value, ','))
		return false;
	name = mem_printf("%.*s", (int)(colon - value), value);
	type = foreign_accelerator(script->foreign, name);
	free(name);
	script->pool.accelerator = type;
	script->pool.accelerators = strtol(colon + 1, NULL, 10);
	return type && script->pool.accelerators > 0;
}

/* Takes a value; returns false if a job cannot express it. */
static bool take_value(struct sbatch_script *script, size_t row,
		       const char *value)
{
	struct foreign *foreign = script->foreign;
	long seconds;

	switch (options[row].how) {
	case HOW_NAME:
		foreign_name(foreign, json_text(value));
		script->named = true;
		return true;
	case HOW_NODES:
		script->pool.count = strtol(value, NULL, 10);
		return script->pool.count > 0 && !strchr(value, '-');
	case HOW_OWN:
		set_own(script, options[row].field, json_text(value));
		return true;
	case HOW_WHOLE:
		set_own(script, options[row].field,
			json_integer(strtol(value, NULL, 10)));
		return true;
	case HOW_TIME:
		seconds = seconds_of(value);
		import_set(foreign->import->job,
			   FOREIGN_IN "scheduling.maxRunningTime",
			   json_sprintf("%lds", seconds));
		return seconds > 0;
	case HOW_CPUS:
		script->pool.cpus = atof(value);
		return script->pool.cpus > 0;
	case HOW_MEMORY:
		script->pool.memory_gb = foreign_gb(value, 1e-3);
		return script->pool.memory_gb > 0;
	case HOW_GPUS:
		return take_gpus(script, value);
	case HOW_ONE:
		return !strcmp(value, "1");
	case HOW_YES:
		set_own(script, options[row].field, json_true());
		return !*value;
	case HOW_LOGS:
		import_note(foreign->import, "--%s=%s: 'jobrun logs' has it",
			    options[row].name, value);
		return true;
	}
	return false;
}

/* Takes "--name=value", "--name value", "-N value" or "-Nvalue". */
static void take_option(struct sbatch_script *script, const char *word)
{
	size_t i, n = strcspn(word, "= \t");
	const char *value = word + n + (word[n] != '\0');
	bool taken = false;

	value += strspn(value, " \t");
	for (i = 0; i < COUNT(options); i++) {
		if (text_starts(word, "--")
			    ? strlen(options[i].name) == n - 2 &&
				      !strncmp(options[i].name, word + 2, n - 2)
			    : *options[i].letter &&
				      text_starts(word, options[i].letter))
			break;
	}
	if (i < COUNT(options) && !text_starts(word, "--")) {
		value = word + 2;
		value += strspn(value, " =\t");
	}
	taken = i < COUNT(options) && take_value(script, i, value);
	if (!taken)
		lose(script, word);
}

/* Takes the options of a line, which may have several. */
static void take_options(struct sbatch_script *script, char *line)
{
	char *next;

	line += strspn(line, " \t");
	while (*line && *line != '#') {
		for (next = line; (next = strpbrk(next, " \t")); next++) {
			size_t blank = strspn(next, " \t");

			if (next[blank] == '-' || next[blank] == '#')
				break;
		}
		if (next) {
			*next++ = '\0';
			next += strspn(next, " \t");
		}
		take_option(script, line);
		if (!next)
			break;
		line = next;
	}
}

/* Takes the program after srun; the options of srun are lost. */
static void take_srun(struct sbatch_script *script, char *line)
{
	if (script->program) {
		lose(script, line);
		return;
	}
	line += strlen("srun");
	line += strspn(line, " \t");
	while (*line == '-') {
		size_t n = strcspn(line, " \t");
		char *option = mem_printf("srun %.*s", (int)n, line);

		lose(script, option);
		free(option);
		line += n;
		line += strspn(line, " \t");
	}
	script->program = mem_strdup(line);
}

/* Takes "export A=b" if it is one word that a shell would not expand. */
static bool take_export(struct sbatch_script *script, const char *line)
{
	const char *equals = strchr(line, '=');
	char *path;

	if (!text_starts(line, "export ") || !equals ||
	    strpbrk(line + 7, " \t$`\"'\\"))
		return false;
	path = mem_printf("jobrun.env.%.*s", (int)(equals - line - 7),
			  line + 7);
	import_set(script->foreign->import->job, path, json_text(equals + 1));
	free(path);
	return true;
}

static void take_line(struct sbatch_script *script, char *line)
{
	if (text_starts(line, "#SBATCH"))
		take_options(script, line + strlen("#SBATCH"));
	else if (text_starts(line, "srun ") || !strcmp(line, "srun"))
		take_srun(script, line);
	else if (*line && *line != '#' && !take_export(script, line)) {
		if (script->program)
			lose(script, line);
		else
			buf_printf(&script->body, "%s\n", line);
	}
}

/* Takes the lines, after joining those that end with "\" with the next. */
static void take_lines(struct sbatch_script *script, char *text)
{
	struct buf whole = { 0 };
	long long n = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		size_t len;

		n++;
		line += strspn(line, " \t");
		len = strlen(line);
		while (len && strchr(" \t\r", line[len - 1]))
			line[--len] = '\0';
		if (!whole.len)
			script->line = n;
		if (len && line[len - 1] == '\\') {
			line[len - 1] = '\0';
			buf_puts(&whole, line);
			continue;
		}
		buf_puts(&whole, line);
		line = mem_strdup(buf_text(&whole));
		buf_done(&whole);
		whole = (struct buf){ 0 };
		take_line(script, line);
		free(line);
	}
	buf_done(&whole);
}

/* Sets the program.  Commands before srun ran once and their effect was
 * inherited; here each task runs them. */
static void put_program(struct sbatch_script *script)
{
	struct import *import = script->foreign->import;
	const char *words = " \t$`\"'\\|&;<>(){}*?~!#";
	json_t *list;
	char *word, *rest, *text;

	if (!script->body.len && script->program &&
	    !strpbrk(script->program, words + 2)) {
		list = json_array();
		rest = script->program;
		while ((word = strsep(&rest, " \t")))
			if (*word)
				json_array_append_new(list, json_text(word));
		import_set(import->job, "jobrun.command", list);
		return;
	}
	text = mem_printf("%s%s%s",
			  script->body.len ? buf_text(&script->body) : "",
			  script->program ? "exec " : "",
			  script->program ? script->program : "");
	import_set(import->job, "jobrun.command", foreign_shell(text));
	free(text);
	if (script->body.len && script->pool.count > 1 && script->program)
		import_note(import, "the lines before srun run in each task");
	if (script->pool.count > 1 && !script->program)
		import_loss(import,
			    "%s: without srun it ran on the first node only",
			    script->foreign->file);
}

static int take(struct foreign *foreign, struct error *err)
{
	struct sbatch_script script = { .foreign = foreign,
					.pool = { .count = 1 } };
	json_t *text = foreign_take_key(foreign->value, "#text");
	char *copy = mem_strdup(json_string_value(text));
	struct foreign_pool workers;

	(void)err;
	take_lines(&script, copy);
	if (!script.named)
		foreign_name(foreign, json_text("job"));
	put_program(&script);
	workers = script.pool;
	foreign_pool_put(foreign, &script.pool);
	if (workers.count > 1) {
		workers.role = 1;
		workers.count--;
		workers.cpus = script.pool.cpus;
		foreign_pool_put(foreign, &workers);
	}
	buf_done(&script.body);
	free(script.program);
	free(copy);
	json_decref(text);
	return 0;
}

static bool is_script(const json_t *value)
{
	return strstr(json_get_text(value, "#text", ""), "\n#SBATCH") != NULL;
}

const struct foreign_form foreign_sbatch = {
	.name = "an sbatch script",
	.traits = TRAIT_QUEUE | TRAIT_STARTS_PROGRAM,
	.unless = TRAIT_GOOGLE_CLOUD | TRAIT_MAKES_MACHINES,
	.text = true,
	.at_home = true,
	.is = is_script,
	.take = take,
};
