/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ssh/ssh.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/units.h"

int ssh_target_parse(const char *text, struct ssh_target *out,
		     struct error *err)
{
	const char *at = strrchr(text, '@');
	const char *host = at ? at + 1 : text;
	const char *end = host[0] == '[' ? strchr(host, ']') : NULL;
	const char *colon = strchr(end ? end : host, ':');
	size_t len;
	long port = 0;

	/* Two colons without brackets: an IPv6 address without a port. */
	if (!end && colon && strchr(colon + 1, ':'))
		colon = NULL;
	if (colon && number_parse(colon + 1, 1, 65535, &port, err) < 0)
		return error_prefix(err, "the port of host '%s'", text);
	len = colon ? (size_t)(colon - host) : strlen(host);
	if (end) {
		host++;
		len = (size_t)(end - host);
	}
	if (!len || host[0] == '-' || text[0] == '-')
		return error_set(err, ERROR_INVALID,
				 "'%s' is not a host: use HOST, USER@HOST or "
				 "HOST:PORT",
				 text);
	out->name = mem_strdup(text);
	out->host = mem_printf("%.*s", (int)len, host);
	out->destination =
		at ? mem_printf("%.*s@%s", (int)(at - text), text, out->host)
		   : mem_strdup(out->host);
	out->port = port;
	return 0;
}

void ssh_target_done(struct ssh_target *target)
{
	free(target->name);
	free(target->host);
	free(target->destination);
	*target = (struct ssh_target){ 0 };
}

/* ssh finds the home folder in the password file, and so do we. */
static char *user_config(void)
{
	const char *own = getenv("JOBRUN_SSH_CONFIG");
	const struct passwd *user;

	if (own && *own)
		return path_absolute(own);
	user = getpwuid(geteuid());
	return mem_printf("%s/.ssh/config", user ? user->pw_dir : "");
}

/* Whether the CPU has instructions for AES. */
static bool has_aes(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("aes");
#elif defined(__aarch64__)
	return getauxval(AT_HWCAP) & (1 << 3); /* HWCAP_AES */
#else
	return false;
#endif
}

/*
 * Between two OpenSSHs the default is ChaCha20; on a CPU with AES instructions,
 * AES-GCM saves a third of all CPU time for output.  OpenSSH knows these names
 * since 6.5.  In FIPS mode a forbidden name is an error, and the default is
 * fast enough.
 */
static const char *ciphers(void)
{
	struct error ignored;
	size_t len;
	char *fips =
		file_read("/proc/sys/crypto/fips_enabled", 16, &len, &ignored);
	bool usual = !has_aes() || (fips && fips[0] == '1');

	free(fips);
	return usual ? ""
		     : "  Ciphers aes128-gcm@openssh.com,"
		       "aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,"
		       "aes128-ctr,aes192-ctr,aes256-ctr\n";
}

/* ssh uses the first value that it finds for an option, so ours, which come
 * last, are defaults.  It ignores missing files. */
void ssh_config_put(const char *known_hosts, const char *proxy, struct buf *out)
{
	char *user = user_config();

	buf_printf(out,
		   "Include \"%s\"\n"
		   "Include /etc/ssh/ssh_config\n"
		   "Host *\n"
		   "  StrictHostKeyChecking accept-new\n"
		   "  UserKnownHostsFile \"%s\" ~/.ssh/known_hosts "
		   "~/.ssh/known_hosts2\n"
		   "  LogLevel ERROR\n"
		   "%s",
		   user, known_hosts, ciphers());
	if (proxy)
		buf_printf(out, "  ProxyCommand %s\n", proxy);
	free(user);
}

int ssh_config_write(const char *path, const char *known_hosts,
		     const char *proxy, struct error *err)
{
	struct buf text = { 0 };
	int ret;

	ssh_config_put(known_hosts, proxy, &text);
	ret = file_write(path, text.data, text.len, err);
	buf_done(&text);
	return ret;
}

struct ssh_command *ssh_command_new(const struct ssh_target *target,
				    const char *config, const char *command)
{
	/* Forwardings in the user's configuration are for people. */
	static const char *const options[] = {
		"-T", /* see ssh_command_with_terminal() */
		"-a", "-x",
		"-o", "BatchMode=yes",
		"-o", "ClearAllForwardings=yes",
		"-o", "PermitLocalCommand=no",
		"-o", "EscapeChar=none",
		"-o", "ConnectTimeout=10",
		"-o", "ServerAliveInterval=5",
		"-o", "ServerAliveCountMax=2",
		"-F",
	};
	struct ssh_command *out = mem_alloc(sizeof(*out));
	size_t n = 0, i;

	out->argv[n++] = (char *)"ssh";
	for (i = 0; i < COUNT(options); i++)
		out->argv[n++] = (char *)options[i];
	out->argv[n++] = (char *)config;
	if (target->port) {
		snprintf(out->port, sizeof(out->port), "%ld", target->port);
		out->argv[n++] = (char *)"-p";
		out->argv[n++] = out->port;
	}
	out->argv[n++] = (char *)"--";
	out->argv[n++] = target->destination;
	out->argv[n++] = (char *)command;
	return out;
}

void ssh_command_with_terminal(char *const *argv)
{
	((char **)argv)[1] = (char *)"-tt";
}

enum ssh_trouble ssh_explain(const char *text, struct error *err)
{
	/* Messages about sshd's MaxStartups, and of proxies before it. */
	static const char *const busy[] = {
		"kex_exchange_identification", "banner exchange",
		"Connection reset by",         "Exceeded MaxStartups",
		"ssh_exchange_identification", "Session open refused by peer",
	};
	static const char *const away[] = {
		"Connection refused",
		"Connection timed out",
		"Operation timed out",
		"No route to host",
		"Network is unreachable",
		"Could not resolve hostname",
		"not responding",
		"Connection closed",
		"Broken pipe",
		"closed by remote host",
		/* A network failure during a connection. */
		"Software caused connection abort",
		"Bad packet length",
		"message authentication code incorrect",
		"Corrupted MAC",
		"Host is down",
	};
	const char *proxy = strstr(text, SSH_PROXY_MARK);
	char line[256];
	bool denied;
	size_t i;

	/* With a proxy, ssh only reports that the connection was cut off. */
	if (proxy) {
		proxy += strlen(SSH_PROXY_MARK);
		denied = text_starts(proxy, SSH_PROXY_DENIED);
		error_set(err, denied ? ERROR_DENIED : ERROR_UNREACHABLE,
			  "%.*s", (int)strcspn(proxy, "\r\n"), proxy);
		return denied ? SSH_REFUSED : SSH_UNREACHABLE;
	}
	text_last_words(text, strlen(text), line, sizeof(line));
	if (strstr(text, "REMOTE HOST IDENTIFICATION HAS CHANGED")) {
		error_set(err, ERROR_DENIED,
			  "its host key has changed: if that is expected, "
			  "remove the old one with 'ssh-keygen -R', or 'jobrun "
			  "delete' the job that learned it");
		return SSH_OTHER_KEY;
	}
	if (strstr(text, "Host key verification failed")) {
		error_set(err, ERROR_DENIED,
			  "its host key is unknown, and ssh is configured to "
			  "refuse unknown keys: connect once by hand");
		return SSH_REFUSED;
	}
	if (strstr(text, "Permission denied")) {
		error_set(err, ERROR_DENIED,
			  "ssh is refused (%s): the login must work without a "
			  "password, by a key or an agent",
			  line);
		return SSH_REFUSED;
	}
	for (i = 0; i < COUNT(busy); i++) {
		if (strstr(text, busy[i])) {
			error_set(err, ERROR_UNREACHABLE, "%s", line);
			return SSH_BUSY;
		}
	}
	for (i = 0; i < COUNT(away); i++) {
		if (strstr(text, away[i])) {
			error_set(err, ERROR_UNREACHABLE, "%s", line);
			return SSH_UNREACHABLE;
		}
	}
	/* At this log level, ssh says nothing about a server that stops
	 * answering. */
	if (!*line) {
		error_set(err, ERROR_UNREACHABLE,
			  "ssh ended without a "
			  "message");
		return SSH_UNREACHABLE;
	}
	error_set(err, ERROR_FAILED, "%s", line);
	return SSH_UNKNOWN;
}
