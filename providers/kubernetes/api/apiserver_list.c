/* SPDX-License-Identifier: Apache-2.0 */
/* Lists objects page by page. */
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "providers/kubernetes/api/apiserver.h"

#define PAGE_SIZE "500"
#define PAGES_MAX 10000
#define LIST_TRIES 3
#define QUERY_MAX 16

/* Lists once; returns 1 if the list must begin again. */
static int
list_once(struct apiserver *api, const char *path, const char *const *query,
	  int (*each)(void *arg, const json_t *page, struct error *err),
	  void *arg, struct error *err)
{
	const char *all[QUERY_MAX + 5] = { "limit", PAGE_SIZE, NULL };
	struct apiserver_request request = { .method = "GET",
					     .path = path,
					     .query = all };
	struct apiserver_answer answer = { 0 };
	char *next = NULL;
	size_t n = 2, i;
	int pages = 0, ret;

	for (i = 0; query && query[i] && i < QUERY_MAX; i++)
		all[n++] = query[i];
	do {
		all[n] = next ? "continue" : NULL;
		all[n + 1] = next;
		ret = apiserver_call(api, &request, &answer, err);
		if (ret < 0 && answer.status == 410 && next)
			ret = 1;
		if (ret == 0)
			ret = each(arg, answer.body, err);
		free(next);
		next = NULL;
		if (ret == 0)
			next = mem_strdup(json_get_text(
				json_object_get(answer.body, "metadata"),
				"continue", ""));
	} while (ret == 0 && *next && ++pages < PAGES_MAX);
	free(next);
	apiserver_answer_done(&answer);
	return ret;
}

int apiserver_list(struct apiserver *api, const char *path,
		   const char *const *query,
		   int (*each)(void *arg, const json_t *page,
			       struct error *err),
		   void *arg, struct error *err)
{
	int tries = 0, ret;

	for (;;) {
		ret = list_once(api, path, query, each, arg, err);
		if (ret != 1)
			return ret;
		if (++tries == LIST_TRIES)
			return error_set(err, ERROR_TRY_AGAIN,
					 "the list of '%s' changes too fast",
					 path);
		ret = each(arg, NULL, err);
		if (ret < 0)
			return ret;
	}
}
