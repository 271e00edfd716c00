/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu_startup.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"

#define END_OF_SWITCH ") </dev/null >/dev/null 2>&1 &\n"

/*
 * Deletes a TPU without a lease.  The script asks once a minute, and assumes
 * after five failed answers in a row that there is no lease, or none it may
 * read.  The token goes to curl through a pipe, as everybody on the machine can
 * see arguments.  Only the first VM deletes the node; each VM turns itself off
 * if the node is still there five minutes later.
 */
static const char switch_script[] =
	"#!/bin/bash\n"
	"# jobrun: this TPU goes when nothing has been heard of jobrun for "
	"long.\n"
	"(\n"
	"get() {\n"
	"  curl -sf -H Metadata-Flavor:Google \"http://"
	"${GCE_METADATA_HOST:-metadata.google.internal}"
	"/computeMetadata/v1/instance/$1\"\n"
	"}\n"
	"api() {\n"
	"  get service-accounts/default/token |\n"
	"    sed -n 's/.*\"access_token\": *\"\\([^\"]*\\)\".*/"
	"header = \"Authorization: Bearer \\1\"/p' |\n"
	"    curl -sf -K - -X \"$1\" \"$url\"\n"
	"}\n"
	"url=$(get attributes/jobrun-node)\n"
	"case $url in */)\n"
	"  url=$url$(get attributes/tpu-env |\n"
	"    sed -n \"s/^NODE_ID: *['\\\"]*\\([^'\\\"]*\\).*/\\1/p\")\n"
	"esac\n"
	"limit=$(get attributes/jobrun-limit)\n"
	"worker=$(get attributes/agent-worker-number)\n"
	"start=$(date +%s)\n"
	"misses=0\n"
	"while sleep \"${JOBRUN_SWITCH_S:-60}\"; do\n"
	"  now=$(date +%s)\n"
	"  said=$(api GET | tr -d '\\n' |\n"
	"    sed -n 's/.*\"jobrun-expires\": *\"\\([0-9]*\\)\".*/\\1/p')\n"
	"  if [ -n \"$said\" ]; then\n"
	"    expires=$said\n"
	"    misses=0\n"
	"  else\n"
	"    misses=$((misses + 1))\n"
	"    [ \"$misses\" -ge 5 ] || continue\n"
	"  fi\n"
	"  [ \"$now\" -ge \"${expires:-$((start + limit))}\" ] || continue\n"
	"  logger -t jobrun 'nothing was heard of jobrun: this TPU is "
	"deleted'\n"
	"  until [ \"${worker:-0}\" != 0 ] || api DELETE; do\n"
	"    sleep \"${JOBRUN_SWITCH_S:-60}\"\n"
	"  done\n"
	"  sleep \"$((5 * ${JOBRUN_SWITCH_S:-60}))\"\n"
	"  poweroff\n"
	"done\n" END_OF_SWITCH;

/*
 * The label of the TPU says when it goes, if it was heard just now; and the
 * agent, which ends with its tasks or its own lease, must have been here.
 */
static const char beside_script[] =
	"#!/bin/bash\n"
	"# jobrun: this VM and its TPU go when nothing has been heard of "
	"jobrun "
	"for long.\n"
	"(\n"
	"get() {\n"
	"  curl -sf -H Metadata-Flavor:Google \"http://"
	"${GCE_METADATA_HOST:-metadata.google.internal}"
	"/computeMetadata/v1/instance/$1\"\n"
	"}\n"
	"api() {\n"
	"  get service-accounts/default/token |\n"
	"    sed -n 's/.*\"access_token\": *\"\\([^\"]*\\)\".*/"
	"header = \"Authorization: Bearer \\1\"/p' |\n"
	"    curl -s -K - -X \"$@\"\n"
	"}\n"
	"expires() {\n"
	"  for url in $(get attributes/jobrun-remove); do\n"
	"    case $url in */nodes/*) api GET \"$url\" ;; esac\n"
	"  done | tr -d '\\n' |\n"
	"    sed -n 's/.*\"jobrun-expires\": *\"\\([0-9]*\\)\".*/\\1/p'\n"
	"}\n"
	"remove() {\n"
	"  case $(api DELETE -o /dev/null -w '%{http_code}' \"$1\") in\n"
	"    2* | 403 | 404) ;;\n"
	"    *) return 1 ;;\n"
	"  esac\n"
	"}\n"
	"lease=$(get attributes/jobrun-lease)\n"
	"seen=$(date +%s)\n"
	"while sleep \"${JOBRUN_SWITCH_S:-60}\"; do\n"
	"  now=$(date +%s)\n"
	"  ! pgrep -x jobrun-host >/dev/null || seen=$now\n"
	"  said=$(expires)\n"
	"  [ \"${said:-$now}\" -lt \"$now\" ] ||\n"
	"    [ $((now - seen)) -ge \"${lease:-3600}\" ] || continue\n"
	"  logger -t jobrun 'nothing was heard of jobrun: this VM and its TPU "
	"are deleted'\n"
	"  for try in $(seq 60); do\n"
	"    left=\n"
	"    for url in $(get attributes/jobrun-remove); do\n"
	"      remove \"$url\" || left=1\n"
	"    done\n"
	"    [ -n \"$left\" ] || break\n"
	"    sleep \"${JOBRUN_SWITCH_S:-60}\"\n"
	"  done\n"
	"  sleep \"$((5 * ${JOBRUN_SWITCH_S:-60}))\"\n"
	"  poweroff\n"
	"done\n" END_OF_SWITCH;

const char *tpu_startup_own(const char *text)
{
	const char *end = strstr(text, END_OF_SWITCH);

	return end ? end + strlen(END_OF_SWITCH) : text;
}

static char *join(const char *first, const char *script)
{
	struct buf out = { 0 };

	buf_puts(&out, first);
	/* The user's script may exit, or be in another language, so it runs as
	 * a file. */
	if (script)
		buf_printf(&out,
			   "script=$(mktemp)\n"
			   "cat >\"$script\" <<'END_OF_JOBRUN_STARTUP'\n"
			   "%s%s\n"
			   "END_OF_JOBRUN_STARTUP\n"
			   "chmod 700 \"$script\"\n"
			   "exec \"$script\"\n",
			   script[0] == '#' && script[1] == '!'
				   ? ""
				   : "#!/bin/bash\n",
			   script);
	return buf_take(&out);
}

char *tpu_startup(const char *script)
{
	return join(switch_script, script);
}

char *tpu_startup_beside(const char *script)
{
	return join(beside_script, script);
}
