/* SPDX-License-Identifier: Apache-2.0 */
/* Reads scripts of sbatch: their #SBATCH lines and the srun line. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/message.h"
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
	HOW_GPUS,      /* "h100:8", "gpu:h100:8", of a node */
	HOW_GPUS_TASK, /* of a task */
	HOW_GPUS_ALL,  /* of the job */
	HOW_TASKS,     /* of the job */
	HOW_PER_NODE,  /* tasks of a node */
	HOW_IMAGE,
	HOW_YES,   /* a boolean field of the block */
	HOW_LOGS,  /* jobrun itself keeps logs */
	HOW_WORDS, /* another option, as it is */
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
	{ "", "gpus-per-node", HOW_GPUS, NULL },
	{ "", "gpus-per-task", HOW_GPUS_TASK, NULL },
	{ "-G", "gpus", HOW_GPUS_ALL, NULL },
	{ "-n", "ntasks", HOW_TASKS, NULL },
	{ "", "ntasks-per-node", HOW_PER_NODE, NULL },
	{ "", "container-image", HOW_IMAGE, NULL },
	{ "", "requeue", HOW_YES, "requeue" },
	{ "-o", "output", HOW_LOGS, NULL },
	{ "-e", "error", HOW_LOGS, NULL },
	{ "-w", "nodelist", HOW_WORDS, NULL },
	{ "-x", "exclude", HOW_WORDS, NULL },
	{ "-d", "dependency", HOW_WORDS, NULL },
	{ "-L", "licenses", HOW_WORDS, NULL },
};

/* Options of srun without a value, by letter and by name (srun(1), 2026). */
#define SRUN_SWITCHES "EHIKOQXZklsuv"
static const char *const srun_switches[] = {
	"contiguous", "disable-status", "exact",        "exclusive",
	"hold",       "label",          "no-kill",      "overcommit",
	"overlap",    "oversubscribe",  "preserve-env", "pty",
	"quiet",      "spread-job",     "unbuffered",   "use-min-nodes",
	"verbose",
};

struct sbatch_script {
	struct foreign *foreign;
	struct foreign_pool pool;
	struct buf body;      /* commands before the program */
	char *program;        /* the command after srun, or NULL */
	const char *step;     /* "srun" in its line, else "sbatch": the field of
			   * the block for its other options */
	long tasks, per_node; /* 0: not given */
	enum how gpus;        /* what the number of GPUs is of */
	long long line;
	bool named;
	bool begun;   /* a command came, after which #SBATCH is a comment */
	bool another; /* a hetjob line came: what follows is another job's */
};

static void lose_for(struct sbatch_script *script, const char *text,
		     const char *why)
{
	import_loss(script->foreign->import, "%s:%lld: %s: %s",
		    script->foreign->file, script->line, text, why);
}

static void lose(struct sbatch_script *script, const char *text)
{
	lose_for(script, text, "no field for it");
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
	long seconds, number;

	switch (options[row].how) {
	case HOW_NAME:
		foreign_name(foreign, json_text(value));
		script->named = true;
		return true;
	case HOW_NODES:
		number = strtol(value, NULL, 10);
		script->pool.count = number > 0 ? number : 1;
		return number > 0 && !strchr(value, '-');
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
	case HOW_GPUS_TASK:
	case HOW_GPUS_ALL:
		script->gpus = options[row].how;
		return take_gpus(script, value);
	case HOW_TASKS:
		script->tasks = strtol(value, NULL, 10);
		return script->tasks > 0;
	case HOW_PER_NODE:
		script->per_node = strtol(value, NULL, 10);
		return script->per_node > 0;
	case HOW_IMAGE:
		foreign_pool_set(foreign, 0, "Config.imageUri",
				 json_text(value));
		return *value;
	case HOW_YES:
		set_own(script, options[row].field, json_true());
		return !*value;
	case HOW_LOGS:
		import_note(foreign->import, "--%s=%s: 'jobrun logs' has it",
			    options[row].name, value);
		return true;
	case HOW_WORDS:
		return false;
	}
	return false;
}

/* Keeps why an option is refused: its `ctx` is of the type of that. */
static void refuse(void *ctx, const char *path, const char *text,
		   const char *hint)
{
	char **why = ctx;

	(void)path;
	free(*why);
	*why = mem_strdup(hint ? hint : text);
}

/* Takes any other option as it is, if its field of the block allows it. */
static void take_words(struct sbatch_script *script, const char *name,
		       const char *value, const char *text)
{
	const struct foreign *foreign = script->foreign;
	const struct field *field =
		foreign->fields ? message_field(foreign->fields, script->step)
				: NULL;
	json_t *item = *value ? json_text(value) : json_true();
	char *path, *why = NULL;
	json_t *tree;

	if (!field || !field->check_tree || !name[0] || !name[1] ||
	    strchr(value, '$')) {
		json_decref(item);
		lose(script, text);
		return;
	}
	tree = json_pack("{s:O}", name, item);
	field->check_tree(tree, refuse, &why);
	json_decref(tree);
	if (why) {
		json_decref(item);
		lose_for(script, text, why);
		free(why);
		return;
	}
	path = mem_printf("%s.%s", script->step, name);
	set_own(script, path, item);
	free(path);
}

/* Whether an option of srun says what the allocation says already. */
static bool is_said(const struct sbatch_script *script, enum how how,
		    const char *value)
{
	if (how != HOW_NODES && how != HOW_TASKS && how != HOW_PER_NODE &&
	    how != HOW_CPUS)
		return false;
	return text_starts(value, "$SLURM_") ||
	       text_starts(value, "${SLURM_") ||
	       (how == HOW_NODES &&
		strtol(value, NULL, 10) == script->pool.count);
}

static bool is_of_step(enum how how)
{
	return how == HOW_TASKS || how == HOW_PER_NODE || how == HOW_CPUS ||
	       how == HOW_IMAGE || how == HOW_LOGS;
}

static void take_row(struct sbatch_script *script, size_t row, const char *name,
		     const char *value, const char *text)
{
	bool known = row < COUNT(options), step = !strcmp(script->step, "srun");

	if (known && step && is_said(script, options[row].how, value))
		return;
	if (known && (!step || is_of_step(options[row].how)) &&
	    !strchr(value, '$') && take_value(script, row, value))
		return;
	take_words(script, known ? options[row].name : name, value, text);
}

static size_t row_of(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < COUNT(options); i++)
		if (len == 1 ? options[i].letter[0] == '-' &&
				       options[i].letter[1] == *name
			     : strlen(options[i].name) == len &&
				       !strncmp(options[i].name, name, len))
			break;
	return i;
}

/* Takes "--name=value", "--name value", "-N value" or "-Nvalue". */
static void take_option(struct sbatch_script *script, const char *word)
{
	bool is_long = text_starts(word, "--");
	const char *name = word + (is_long ? 2 : 1);
	size_t len = is_long ? strcspn(name, "= \t") : 1;
	const char *value = *name ? name + len : name;
	char *copy;

	value += strspn(value, is_long ? " \t" : "= \t");
	value += is_long && *value == '=';
	copy = mem_printf("%.*s", (int)len, name);
	take_row(script, row_of(copy, strlen(copy)), copy, value, word);
	free(copy);
}

/* Takes the options of a line, which may have several. */
static void take_options(struct sbatch_script *script, char *line)
{
	char *next;

	line += strspn(line, " \t");
	while (*line && *line != '#') {
		if (*line != '-') {
			lose_for(script, line, "an option starts with -");
			return;
		}
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

/* Whether the next word is the value of this option of srun. */
static bool wants_value(const char *word, size_t len)
{
	size_t i;

	if (!text_starts(word, "--"))
		return len == 2 && !strchr(SRUN_SWITCHES, word[1]);
	if (memchr(word, '=', len))
		return false;
	for (i = 0; i < COUNT(srun_switches); i++)
		if (strlen(srun_switches[i]) == len - 2 &&
		    !strncmp(srun_switches[i], word + 2, len - 2))
			return false;
	return true;
}

/* Takes srun's options, and the program after them. */
static void take_srun(struct sbatch_script *script, char *line)
{
	if (script->program) {
		lose(script, line);
		return;
	}
	script->step = "srun";
	line += strlen("srun");
	line += strspn(line, " \t");
	while (*line == '-') {
		size_t n = strcspn(line, " \t");
		char *option;

		if (wants_value(line, n)) {
			n += strspn(line + n, " \t");
			n += strcspn(line + n, " \t");
		}
		option = mem_printf("%.*s", (int)n, line);
		take_option(script, option);
		free(option);
		line += n;
		line += strspn(line, " \t");
	}
	script->step = "sbatch";
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

/* Takes an #SBATCH line as sbatch does: one after the first command, or with
 * blanks before it, is a comment. */
static void take_directive(struct sbatch_script *script, char *line,
			   bool indented)
{
	char *text = line + strlen("#SBATCH");

	text += strspn(text, " \t");
	if (script->begun || indented) {
		import_note(script->foreign->import,
			    "line %lld, %s: sbatch ignores it %s", script->line,
			    line,
			    script->begun ? "after the first command"
					  : "with blanks before it");
		return;
	}
	if (!strcmp(text, "hetjob") || !strcmp(text, "packjob"))
		script->another = true;
	if (script->another)
		lose_for(script, line, "a job here has one component");
	else
		take_options(script, text);
}

static void take_line(struct sbatch_script *script, char *line, bool indented)
{
	script->begun = script->begun || (*line && *line != '#');
	if (text_starts(line, "#SBATCH"))
		take_directive(script, line, indented);
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
	bool indented = false;
	long long n = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		size_t len;

		bool blank = *line == ' ' || *line == '\t';

		n++;
		line += strspn(line, " \t");
		len = strlen(line);
		while (len && strchr(" \t\r", line[len - 1]))
			line[--len] = '\0';
		if (!whole.len) {
			script->line = n;
			indented = blank;
		}
		if (len && *line != '#' && line[len - 1] == '\\') {
			line[len - 1] = '\0';
			buf_puts(&whole, line);
			continue;
		}
		buf_puts(&whole, line);
		line = mem_strdup(buf_text(&whole));
		buf_done(&whole);
		whole = (struct buf){ 0 };
		take_line(script, line, indented);
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

/* Works out what one node has of what was said of tasks or of the job. */
static void put_processes(struct sbatch_script *script)
{
	struct import *import = script->foreign->import;
	struct foreign_pool *pool = &script->pool;
	long per_node = script->per_node;

	if (!per_node && script->tasks && script->tasks % pool->count)
		import_loss(import,
			    "%s: %ld tasks on %ld nodes: not as many "
			    "on each",
			    script->foreign->file, script->tasks, pool->count);
	else if (!per_node)
		per_node = script->tasks / pool->count;
	if (per_node > 1) {
		import_set(import->job, "jobrun.processesPerHost",
			   json_integer(per_node));
		pool->cpus *= (double)per_node;
		if (script->gpus == HOW_GPUS_TASK)
			pool->accelerators *= per_node;
	}
	if (script->gpus != HOW_GPUS_ALL)
		return;
	if (pool->accelerators % pool->count)
		import_loss(import,
			    "%s: %ld GPUs on %ld nodes: not as many on "
			    "each",
			    script->foreign->file, pool->accelerators,
			    pool->count);
	pool->accelerators /= pool->count;
}

static int take(struct foreign *foreign, struct error *err)
{
	struct sbatch_script script = { .foreign = foreign,
					.step = "sbatch",
					.pool = { .count = 1 } };
	json_t *text = foreign_take_key(foreign->value, "#text");
	char *copy = mem_strdup(json_string_value(text));
	struct foreign_pool workers;

	(void)err;
	take_lines(&script, copy);
	if (!script.named)
		foreign_name(foreign, json_text("job"));
	put_program(&script);
	put_processes(&script);
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
