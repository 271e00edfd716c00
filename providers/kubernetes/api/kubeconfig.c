/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/api/kubeconfig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/base64.h"
#include "core/base/beneath.h"
#include "core/base/file.h"
#include "core/base/json.h"

#define FILE_MAX (4u << 20)
#define FILES_MAX 32
/* The key for the folder that an entry's paths are relative to. */
#define FOLDER_KEY "jobrun-folder"

/* ---- files ------------------------------------------------------------- */

struct file_list {
	char *paths[FILES_MAX];
	size_t count;
	bool must; /* the only file, which must exist */
};

static void list_add(struct file_list *list, char *path)
{
	if (list->count < FILES_MAX)
		list->paths[list->count++] = path;
	else
		free(path);
}

static void list_files(const struct kubeconfig_choice *choice,
		       struct file_list *out)
{
	const char *all = getenv("KUBECONFIG"), *home = getenv("HOME");
	size_t n;

	*out = (struct file_list){ .must = choice->file };
	if (choice->file) {
		list_add(out, mem_strdup(choice->file));
	} else if (all && *all) {
		for (; *all; all += n + (all[n] == ':')) {
			n = strcspn(all, ":");
			if (n)
				list_add(out, mem_printf("%.*s", (int)n, all));
		}
	} else if (home && *home) {
		list_add(out, mem_printf("%s/.kube/config", home));
	}
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static void list_done(struct file_list *list)
{
	while (list->count)
		free(list->paths[--list->count]);
}

bool kubeconfig_is_users(const char *path)
{
	const struct kubeconfig_choice usual = { 0 };
	struct file_list list;
	bool found = false;
	size_t i;

	list_files(&usual, &list);
	for (i = 0; i < list.count && !found; i++)
		found = is_same_file(list.paths[i], path);
	list_done(&list);
	return found;
}

static bool any_file(const struct file_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (access(list->paths[i], F_OK) == 0)
			return true;
	return list->must;
}

static const char *service_account(const struct kubeconfig_choice *choice)
{
	return choice->service_account ? choice->service_account
				       : KUBE_SERVICE_ACCOUNT;
}

static bool in_cluster(const struct kubeconfig_choice *choice)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	char *path = path_join(service_account(choice), "token");
	bool there = host && *host && access(path, F_OK) == 0;

	free(path);
	return there;
}

bool kubeconfig_is_there(const struct kubeconfig_choice *choice)
{
	struct file_list list;
	bool there;

	list_files(choice, &list);
	there = any_file(&list) || in_cluster(choice);
	list_done(&list);
	return there;
}

/* ---- merging ----------------------------------------------------------- */

/* Adds the named entries that are not known yet. */
static void merge_entries(json_t *to, const json_t *from, const char *key,
			  const char *folder)
{
	json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(from, key), i, entry)
	{
		const char *name = json_get_text(entry, "name", NULL);
		json_t *mine = json_object_get(to, key);

		if (!name || json_object_get(mine, name))
			continue;
		json_object_set_new(entry, FOLDER_KEY, json_string(folder));
		json_object_set(mine, name, entry);
	}
}

static int merge_file(json_t *to, const char *path, const char *root,
		      kube_read_yaml *read_yaml, struct error *err)
{
	char *folder = path_folder(path);
	const char *context;
	json_t *from = NULL;
	size_t len;
	char *text = beneath_read(root, path, FILE_MAX, &len, err);

	if (text) {
		from = read_yaml(text, len, path, err);
		explicit_bzero(text, len);
		free(text);
	}
	if (!from) {
		free(folder);
		return -1;
	}
	merge_entries(to, from, "clusters", folder);
	merge_entries(to, from, "contexts", folder);
	merge_entries(to, from, "users", folder);
	context = json_get_text(from, "current-context", "");
	if (*context && !json_object_get(to, "current-context"))
		json_object_set_new(to, "current-context",
				    json_string(context));
	free(folder);
	json_decref(from);
	return 0;
}

static json_t *merge_files(const struct file_list *list, const char *root,
			   kube_read_yaml *read_yaml, struct error *err)
{
	json_t *out = json_pack("{s:{}, s:{}, s:{}}", "clusters", "contexts",
				"users");
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (!list->must && access(list->paths[i], F_OK) < 0)
			continue;
		if (merge_file(out, list->paths[i], root, read_yaml, err) < 0) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}

/* ---- entries ----------------------------------------------------------- */

/* The folder that the paths of an entry are relative to. */
struct entry_home {
	const char *folder;
	bool untrusted; /* its paths must not leave the folder */
};

/* Finds, for example, the `cluster` of "clusters"; sets `home` to where it is
 * from. */
static const json_t *find_entry(const json_t *all, const char *list,
				const char *key, const char *name,
				struct entry_home *home, struct error *err)
{
	const json_t *entry = json_object_get(json_object_get(all, list), name);
	const json_t *value = json_object_get(entry, key);

	if (!json_is_object(value)) {
		error_set(err, ERROR_INVALID, "the kubeconfig has no %s '%s'",
			  key, name);
		return NULL;
	}
	home->folder = json_get_text(entry, FOLDER_KEY, ".");
	return value;
}

/* Reads a file that an entry names. */
static char *read_named(const struct entry_home *home, const char *name,
			struct error *err)
{
	char *path = path_join(home->folder, name);
	char *root = home->untrusted ? realpath(home->folder, NULL) : NULL;
	char *text = NULL;
	size_t len;

	if (home->untrusted && !root)
		error_errno(err, "cannot open '%s'", home->folder);
	else
		text = beneath_read(root, path, FILE_MAX, &len, err);
	free(root);
	free(path);
	return text;
}

/* Reads KEY-data, in base 64, or the file that KEY names.  Without either `out`
 * stays unchanged. */
static int read_part(const json_t *entry, const struct entry_home *home,
		     const char *key, char **out, struct error *err)
{
	char *data_key = mem_printf("%s-data", key);
	const char *data = json_get_text(entry, data_key, "");
	const char *name = json_get_text(entry, key, "");
	struct buf text = { 0 };
	int ret = 0;

	if (*data) {
		buf_reserve(&text, strlen(data));
		if (base64_decode(&text, data, strlen(data)))
			*out = buf_take(&text);
		else
			ret = error_set(err, ERROR_INVALID,
					"%s of the kubeconfig is not base 64",
					data_key);
	} else if (*name) {
		*out = read_named(home, name, err);
		ret = *out ? 0 : -1;
	}
	if (text.data)
		explicit_bzero(text.data, text.size);
	buf_done(&text);
	free(data_key);
	return ret;
}

static char *copy_text(const json_t *entry, const char *key)
{
	const char *text = json_get_text(entry, key, "");

	return *text ? mem_strdup(text) : NULL;
}

static int read_cluster(const json_t *entry, const char *name,
			const struct entry_home *home, struct kubeconfig *out,
			struct error *err)
{
	const char *insecure =
		json_get_text(entry, "insecure-skip-tls-verify", "false");
	size_t len;

	if (!strcmp(insecure, "true"))
		return error_set(
			err, ERROR_INVALID,
			"cluster '%s' has insecure-skip-tls-verify, but jobrun "
			"always verifies: put the cluster's certificate into "
			"certificate-authority-data",
			name);
	out->tls_name = copy_text(entry, "tls-server-name");
	out->server = copy_text(entry, "server");
	len = out->server ? strlen(out->server) : 0;
	while (len && out->server[len - 1] == '/')
		out->server[--len] = '\0';
	if (!len)
		return error_set(err, ERROR_INVALID,
				 "cluster '%s' of the kubeconfig has no server",
				 name);
	out->proxy = copy_text(entry, "proxy-url");
	out->cluster = json_deep_copy(entry);
	return read_part(entry, home, "certificate-authority", &out->ca, err);
}

static int refuse_user(const json_t *entry, const char *name, struct error *err)
{
	static const struct {
		const char *key, *why;
	} refused[] = {
		{ "username", "Kubernetes has no passwords since 1.19: use a "
			      "certificate, a token or an exec plugin" },
		{ "password", "Kubernetes has no passwords since 1.19: use a "
			      "certificate, a token or an exec plugin" },
		{ "auth-provider", "kubectl has none of them since 1.26: use "
				   "the exec plugin of your cloud, for "
				   "instance gke-gcloud-auth-plugin" },
	};
	size_t i;

	for (i = 0; i < COUNT(refused); i++)
		if (json_object_get(entry, refused[i].key))
			return error_set(
				err, ERROR_INVALID,
				"user '%s' of the kubeconfig has '%s': "
				"%s",
				name, refused[i].key, refused[i].why);
	return 0;
}

static int add_header(struct kubeconfig *out, const char *name,
		      const char *value, struct error *err)
{
	/* To leave it out would be to ask with the user's own rights. */
	if (strpbrk(value, "\r\n"))
		return error_set(err, ERROR_INVALID, "'%s' has a line break",
				 name);
	if (out->as_count < KUBE_AS_MAX && *value)
		out->as[out->as_count++] = mem_printf("%s: %s", name, value);
	return 0;
}

/* Reads whom the user acts as, in the form of the headers for the server. */
static int read_impersonation(const json_t *entry, struct kubeconfig *out,
			      struct error *err)
{
	const json_t *groups = json_object_get(entry, "as-groups"), *one;
	const char *as = json_get_text(entry, "as", "");
	size_t i;

	if (json_object_get(entry, "as-user-extra"))
		return error_set(err, ERROR_INVALID,
				 "'as-user-extra' is not known here");
	if (!*as && (json_object_get(entry, "as-uid") || groups))
		return error_set(err, ERROR_INVALID,
				 "'as-groups' and 'as-uid' need 'as'");
	if (json_array_size(groups) > KUBE_AS_MAX - 2)
		return error_set(err, ERROR_INVALID,
				 "'as-groups' has more than %d groups",
				 KUBE_AS_MAX - 2);
	if (groups && !json_is_array(groups))
		return error_set(err, ERROR_INVALID, "'as-groups' is no list");
	if (add_header(out, "Impersonate-User", as, err) < 0 ||
	    add_header(out, "Impersonate-Uid",
		       json_get_text(entry, "as-uid", ""), err) < 0)
		return -1;
	json_array_foreach(groups, i, one)
	{
		if (!json_is_string(one))
			return error_set(err, ERROR_INVALID,
					 "'as-groups' holds what is no string");
		if (add_header(out, "Impersonate-Group", json_string_value(one),
			       err) < 0)
			return -1;
	}
	return 0;
}

/* Reads a user's credentials like kubectl: a certificate is used together with
 * a token, a token is preferred to a token file, and both to a plugin. */
static int read_user(const json_t *entry, const char *name,
		     const struct entry_home *home, struct kubeconfig *out,
		     struct error *err)
{
	const char *file = json_get_text(entry, "tokenFile", "");
	json_t *exec = json_object_get(entry, "exec");

	if (refuse_user(entry, name, err) < 0)
		return -1;
	if (read_impersonation(entry, out, err) < 0 ||
	    read_part(entry, home, "client-certificate", &out->certificate,
		      err) < 0 ||
	    read_part(entry, home, "client-key", &out->key, err) < 0)
		return error_prefix(err, "user '%s'", name);
	if (!out->certificate != !out->key)
		return error_set(err, ERROR_INVALID,
				 "user '%s' of the kubeconfig has %s without "
				 "the other",
				 name,
				 out->key ? "a client key"
					  : "a client certificate");
	out->token = copy_text(entry, "token");
	if (*file)
		out->token_file = path_join(home->folder, file);
	if (out->token_file && out->token) {
		free(out->token_file);
		out->token_file = NULL;
	}
	if (exec && !out->token && !out->token_file) {
		out->exec = json_incref(exec);
		out->exec_folder = mem_strdup(home->folder);
	}
	return 0;
}

/* Whether a file that the entry names is in the kubeconfig's folder or
 * below. */
static bool is_beside(const char *folder, const char *name)
{
	char *path = path_join(folder, name);
	char *base = realpath(folder, NULL), *real = realpath(path, NULL);
	size_t n = base ? strlen(base) : 0;
	bool beside = base && real && !strncmp(real, base, n) && real[n] == '/';

	free(real);
	free(base);
	free(path);
	return beside;
}

/* Refuses entries that a file which nobody has reviewed must not have. */
static int refuse_untrusted(const json_t *entry, const char *what,
			    const char *name, const char *folder,
			    struct error *err)
{
	static const char *const refused[] = { "exec", "tokenFile",
					       "auth-provider", "proxy-url" };
	static const char *const files[] = { "certificate-authority",
					     "client-certificate",
					     "client-key" };
	size_t i;

	for (i = 0; i < COUNT(files); i++) {
		const char *file = json_get_text(entry, files[i], "");

		if (*file && !is_beside(folder, file))
			return error_set_final(
				err, ERROR_INVALID,
				"%s '%s' of the kubeconfig names a '%s' that "
				"does not lie beside it",
				what, name, files[i]);
	}

	for (i = 0; i < COUNT(refused); i++)
		if (json_object_get(entry, refused[i]))
			return error_set_final(
				err, ERROR_INVALID,
				"%s '%s' of the kubeconfig has '%s', which one "
				"that is in the repository may not: put it "
				"into $KUBECONFIG or ~/.kube/config, and "
				"leave out jobrun.kubernetes.kubeconfig",
				what, name, refused[i]);
	return 0;
}

static int resolve(const json_t *all, const struct kubeconfig_choice *choice,
		   struct kubeconfig *out, struct error *err)
{
	const char *name = choice->context
				   ? choice->context
				   : json_get_text(all, "current-context", "");
	const json_t *context, *cluster, *user;
	struct entry_home home = { .untrusted = choice->untrusted };
	const char *cluster_name, *user_name;

	if (!*name)
		return error_set(err, ERROR_INVALID,
				 "the kubeconfig has no current context: set "
				 "jobrun.kubernetes.context, or 'kubectl "
				 "config use-context'");
	context = find_entry(all, "contexts", "context", name, &home, err);
	if (!context)
		return -1;
	out->context = mem_strdup(name);
	out->name_space = copy_text(context, "namespace");
	cluster_name = json_get_text(context, "cluster", "");
	user_name = json_get_text(context, "user", "");
	cluster = find_entry(all, "clusters", "cluster", cluster_name, &home,
			     err);
	if (!cluster ||
	    (choice->untrusted &&
	     refuse_untrusted(cluster, "cluster", cluster_name, home.folder,
			      err) < 0) ||
	    read_cluster(cluster, cluster_name, &home, out, err) < 0)
		return -1;
	if (!*user_name)
		return 0;
	out->user = mem_strdup(user_name);
	user = find_entry(all, "users", "user", user_name, &home, err);
	if (!user ||
	    (choice->untrusted &&
	     refuse_untrusted(user, "user", user_name, home.folder, err) < 0))
		return -1;
	return read_user(user, user_name, &home, out, err);
}

/* ---- within a pod ------------------------------------------------------ */

static char *read_account(const struct kubeconfig_choice *choice,
			  const char *name, struct error *err)
{
	char *path = path_join(service_account(choice), name);
	size_t len;
	char *text = file_read(path, FILE_MAX, &len, err);

	free(path);
	return text;
}

static int read_in_cluster(const struct kubeconfig_choice *choice,
			   struct kubeconfig *out, struct error *err)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *port = getenv("KUBERNETES_SERVICE_PORT");
	bool wide = strchr(host, ':');
	struct error ignored;

	out->ca = read_account(choice, "ca.crt", err);
	if (!out->ca)
		return -1;
	out->context = mem_strdup("in-cluster");
	out->server = mem_printf("https://%s%s%s:%s", wide ? "[" : "", host,
				 wide ? "]" : "", port && *port ? port : "443");
	out->token_file = path_join(service_account(choice), "token");
	out->name_space = read_account(choice, "namespace", &ignored);
	return 0;
}

int kubeconfig_read(const struct kubeconfig_choice *choice,
		    kube_read_yaml *read_yaml, struct kubeconfig *out,
		    struct error *err)
{
	struct kubeconfig found = { 0 };
	struct file_list list;
	json_t *all = NULL;
	int ret = -1;

	list_files(choice, &list);
	if (any_file(&list)) {
		all = merge_files(&list, choice->root, read_yaml, err);
		if (all)
			ret = resolve(all, choice, &found, err);
	} else if (in_cluster(choice)) {
		ret = read_in_cluster(choice, &found, err);
	} else {
		error_set(err, ERROR_NO_CLUSTER,
			  "no cluster is configured: there is no $KUBECONFIG "
			  "and no ~/.kube/config; 'kubectl config view' shows "
			  "what kubectl knows");
		err->final = true;
	}
	if (ret == 0 && (!found.name_space || !*found.name_space)) {
		free(found.name_space);
		found.name_space = mem_strdup("default");
	}
	if (ret == 0)
		*out = found;
	else
		kubeconfig_done(&found);
	json_decref(all);
	list_done(&list);
	return ret;
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void kubeconfig_done(struct kubeconfig *config)
{
	while (config->as_count)
		free(config->as[--config->as_count]);
	free(config->context);
	free(config->user);
	free(config->server);
	free(config->name_space);
	free(config->proxy);
	free(config->tls_name);
	free(config->ca);
	free(config->certificate);
	wipe(config->key);
	wipe(config->token);
	free(config->token_file);
	json_decref(config->exec);
	free(config->exec_folder);
	json_decref(config->cluster);
	*config = (struct kubeconfig){ 0 };
}
