/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/training_script.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/text.h"

#define DEPTH_MAX 3
#define FILES_MAX 2000
#define SCRIPT_MAX ((size_t)1 << 20)
/* A script that is about training in its name or by what it imports. */
#define SCORE_MIN 30

/* A framework that builds on others comes first. */
static const struct {
	const char *module;
	const char *name;
} frameworks[] = {
	{ "lightning", "Lightning" },
	{ "pytorch_lightning", "Lightning" },
	{ "transformers", "Hugging Face Transformers" },
	{ "torch_xla", "PyTorch/XLA" },
	{ "torch", "PyTorch" },
	{ "keras", "Keras" },
	{ "tensorflow", "TensorFlow" },
	{ "flax", "JAX" },
	{ "jax", "JAX" },
	{ "xgboost", "XGBoost" },
	{ "lightgbm", "LightGBM" },
	{ "sklearn", "scikit-learn" },
};

/* What programs of several processes have in them. */
static const char *const groups[] = {
	"init_process_group", "DistributedDataParallel",
	"torch.distributed",  "MultiWorkerMirroredStrategy",
	"jax.distributed",    "Accelerator(",
	"LOCAL_RANK",
};

static const char *const skipped[] = {
	"node_modules", "site-packages", "venv", "env",  "build",
	"dist",         "tests",         "test", "docs", "__pycache__",
};

struct script_search {
	const char *folder;
	struct arena *mem;
	struct training_script best;
	size_t files;
};

static const char *line_of(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

/* Whether the module at `at` is one that its line imports: the one after "from",
 * or any in the list after "import". */
static bool is_imported(const char *line, const char *at)
{
	const char *before = at;

	line += strspn(line, " \t");
	while (before > line && strchr(" \t", before[-1]))
		before--;
	/* The blank after the word stands, so that "import" is whole. */
	if (before == at)
		return before > line && before[-1] == ',' &&
		       text_starts(line, "import ");
	if (before == line + strlen("from"))
		return text_starts(line, "from");
	return text_starts(line, "import") &&
	       (before == line + strlen("import") ||
		(before[-1] == ',' && strchr(" \t", line[strlen("import")])));
}

/* Whether the text imports the module. */
static bool imports(const char *text, const char *module)
{
	size_t len = strlen(module);
	const char *at = text;

	while ((at = strstr(at, module))) {
		char next = at[len];

		if (!strchr("_-", next ? next : ' ') &&
		    !((next >= 'a' && next <= 'z') ||
		      (next >= '0' && next <= '9')) &&
		    is_imported(line_of(text, at), at))
			return true;
		at += len;
	}
	return false;
}

static int score_name(const char *path)
{
	const char *name = path_base(path);

	if (!strcmp(name, "train.py"))
		return 60;
	if (strstr(name, "train"))
		return 40;
	if (!strcmp(name, "main.py") || !strcmp(name, "run.py"))
		return 15;
	if (text_starts(name, "test_") || !strcmp(name, "setup.py") ||
	    !strcmp(name, "conftest.py"))
		return -200;
	return 0;
}

bool training_script_look(const char *folder, const char *path,
			  struct arena *mem, struct training_script *out)
{
	char *full = path_join(folder, path), *text = NULL;
	struct error ignored;
	struct stat st;
	size_t len, i;

	*out = (struct training_script){ .path = arena_strdup(mem, path),
					 .score = score_name(path) };
	if (stat(full, &st) == 0 && S_ISREG(st.st_mode))
		text = file_read(full, SCRIPT_MAX, &len, &ignored);
	free(full);
	if (!text)
		return false;
	for (i = 0; i < COUNT(frameworks) && !out->framework; i++)
		if (imports(text, frameworks[i].module))
			out->framework = frameworks[i].name;
	for (i = 0; i < COUNT(groups); i++)
		if (strstr(text, groups[i]))
			out->is_distributed = true;
	if (out->framework)
		out->score += 40;
	if (strstr(text, "__main__"))
		out->score += 20;
	if (strstr(text, ".backward(") || strstr(text, ".fit(") ||
	    strstr(text, ".train("))
		out->score += 20;
	/* A nearer one is likelier, and a tie is decided by the name. */
	for (; *path; path++)
		out->score -= *path == '/' ? 5 : 0;
	free(text);
	return true;
}

static bool is_skipped(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(skipped); i++)
		if (!strcmp(name, skipped[i]))
			return true;
	return name[0] == '.';
}

static void take(struct script_search *search, const char *path)
{
	struct training_script one;

	if (!text_ends(path, ".py") ||
	    !training_script_look(search->folder, path, search->mem, &one) ||
	    one.score < SCORE_MIN)
		return;
	if (!search->best.path || one.score > search->best.score ||
	    (one.score == search->best.score &&
	     strcmp(one.path, search->best.path) < 0))
		search->best = one;
}

static void walk(struct script_search *search, const char *below, int depth)
{
	char *full = path_join(search->folder, below);
	DIR *dir = opendir(*full ? full : ".");
	struct dirent *entry;

	free(full);
	while (dir && (entry = readdir(dir)) && search->files < FILES_MAX) {
		char *path = path_join(below, entry->d_name);

		search->files++;
		if (entry->d_type == DT_REG)
			take(search, path);
		else if (entry->d_type == DT_DIR && depth < DEPTH_MAX &&
			 !is_skipped(entry->d_name))
			walk(search, path, depth + 1);
		free(path);
	}
	if (dir)
		closedir(dir);
}

bool training_script_find(const char *folder, struct arena *mem,
			  struct training_script *out)
{
	struct script_search search = { .folder = folder, .mem = mem };

	walk(&search, "", 1);
	*out = search.best;
	return search.best.path != NULL;
}
