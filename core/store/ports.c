/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP ports of this machine, leased to runs.  That a port can be bound now is
 * not enough: a task may take seconds until it binds its own.
 */
#include "core/store/store.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/store/db.h"

#define PORT_MAX 65535

/* Returns 1 if it can be bound, 0 if not (errno says why), -1 for an error. */
static int can_bind(int port, struct error *err)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;
	int ret, saved;

	if (fd < 0)
		return error_errno(err, "cannot make a socket");
	/* Not held up by what is left in TIME_WAIT: trainers set it, too. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	ret = bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
	saved = errno;
	close(fd);
	errno = saved;
	return ret;
}

/* Marks what live runs have leased. */
static int read_leases(struct store *store, bool *leased, struct error *err)
{
	sqlite3_stmt *stmt = store_query(store, QUERY_PORT_LIST,
					 "SELECT port FROM port JOIN run"
					 " ON run.id = port.run"
					 " WHERE NOT " STORE_IS_FINAL,
					 err);
	int row;

	if (!stmt)
		return -1;
	while ((row = store_step(store, stmt, err)) > 0) {
		int port = sqlite3_column_int(stmt, 0);

		if (port >= 0 && port <= PORT_MAX)
			leased[port] = true;
	}
	return row;
}

static int add_lease(struct store *store, int port, int64_t run,
		     struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_PORT_ADD,
		"INSERT OR REPLACE INTO port (port, run) VALUES (?1, ?2)", err);

	if (!stmt)
		return -1;
	sqlite3_bind_int(stmt, 1, port);
	sqlite3_bind_int64(stmt, 2, run);
	return store_do(store, stmt, err);
}

static int choose(const bool *leased, int first, size_t count, int *ports,
		  struct error *err)
{
	size_t found = 0;
	int why = EADDRINUSE;
	int port, ok;

	for (port = first; found < count && port <= PORT_MAX; port++) {
		if (leased[port])
			continue;
		ok = can_bind(port, err);
		if (ok < 0)
			return -1;
		if (ok)
			ports[found++] = port;
		else
			why = errno;
	}
	if (found == count)
		return 0;
	return error_set(err, ERROR_TRY_AGAIN,
			 "%zu free ports from %d up on 127.0.0.1 are needed, "
			 "and there are %zu: %s",
			 count, first, found, strerror(why));
}

static int lease(struct store *store, const struct run_record *run, int first,
		 size_t count, int *ports, struct error *err)
{
	bool *leased = mem_alloc((PORT_MAX + 1) * sizeof(*leased));
	int64_t id = 0;
	int ret = -1;
	size_t i;

	if (run && store_run_id(store, run->job_id, run->attempt, &id, err) < 0)
		goto out;
	if (read_leases(store, leased, err) < 0 ||
	    choose(leased, first, count, ports, err) < 0)
		goto out;
	for (i = 0; run && i < count; i++)
		if (add_lease(store, ports[i], id, err) < 0)
			goto out;
	ret = 0;
out:
	free(leased);
	return ret;
}

int store_ports_lease(struct store *store, const struct run_record *run,
		      int first, size_t count, int *ports, struct error *err)
{
	int *chosen;
	int ret;

	if (first < 1 || first > PORT_MAX || count > PORT_MAX)
		return error_set(err, ERROR_USAGE,
				 "%zu ports from %d up do not exist", count,
				 first);
	if (!run)
		store_lock(store);
	else if (store_begin(store, err) < 0)
		return -1;
	chosen = mem_alloc(count * sizeof(*chosen));
	ret = store_end(store, lease(store, run, first, count, chosen, err),
			err);
	if (ret == 0)
		memcpy(ports, chosen, count * sizeof(*chosen));
	free(chosen);
	return ret;
}

int store_ports_free(struct store *store, int64_t run, struct error *err)
{
	return store_do_id(store, QUERY_PORTS_FREE,
			   "DELETE FROM port WHERE run = ?1", run, err);
}
