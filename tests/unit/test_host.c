/* SPDX-License-Identifier: Apache-2.0 */
/* Data exchanged with other machines: frames, archives, the output of ssh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/ssh/agent_archive.h"
#include "core/ssh/bootstrap.h"
#include "core/ssh/agent_program.h"
#include "core/ssh/protocol.h"
#include "core/ssh/ssh.h"

static void frames_come_out_as_they_went_in(void **state)
{
	static const char *const list[] = { "a", "", "c d" };
	struct wire_out out = { 0 };
	struct frame frame;
	struct wire_in in;
	size_t used, len;
	char **got, *text;

	(void)state;
	wire_begin(&out, FRAME_PREPARE);
	wire_put_u32(&out, 7);
	wire_put_u64(&out, UINT64_MAX - 1);
	wire_put_text(&out, "text");
	wire_put_list(&out, list, 3);
	assert_true(wire_end(&out));
	/* One byte less is not enough. */
	for (len = 0; len < out.len; len++)
		assert_int_equal(frame_find(out.data, len, &frame, &used),
				 FRAME_NONE);
	assert_int_equal(frame_find(out.data, out.len, &frame, &used),
			 FRAME_WHOLE);
	assert_int_equal(used, out.len);
	assert_int_equal(frame.type, FRAME_PREPARE);
	in = frame_fields(&frame);
	assert_int_equal(wire_get_u32(&in), 7);
	assert_true(wire_get_u64(&in) == UINT64_MAX - 1);
	text = wire_get_string(&in);
	assert_string_equal(text, "text");
	got = wire_get_list(&in);
	assert_string_equal(got[2], "c d");
	assert_null(got[3]);
	assert_true(wire_is_done(&in));
	free(text);
	wire_list_free(got);
	wire_out_done(&out);
}

static void a_peer_that_lies_is_found_out(void **state)
{
	/* Too long, without a type, of an unknown type. */
	static const unsigned char bad[][FRAME_HEADER] = {
		{ 1, 0, 64, 0, 1, 0, 0, 0 },
		{ 0, 0, 0, 0, 0, 0, 0, 0 },
		{ 0, 0, 0, 0, 255, 0, 0, 0 },
		{ 0, 0, 0, 0, 1, 0, 1, 0 },
	};
	/* A list of four billion strings, and a string of as many bytes. */
	static const unsigned char many[] = { 255, 255, 255, 255, 1, 0, 0, 0 };
	struct wire_in in = { many, sizeof(many), false };
	struct frame frame;
	size_t i, used;

	(void)state;
	for (i = 0; i < COUNT(bad); i++)
		assert_int_equal(
			frame_find(bad[i], sizeof(bad[i]), &frame, &used),
			FRAME_BROKEN);
	assert_null(wire_get_list(&in));
	assert_true(in.bad);
	in = (struct wire_in){ many, sizeof(many), false };
	assert_null(wire_get_string(&in));
	assert_int_equal(wire_get_u32(&in), 0);
	assert_false(wire_is_done(&in));
}

static void an_output_is_known_by_its_start(void **state)
{
	unsigned char bytes[OUTPUT_HEADER + 100] = { 0 };
	struct frame_output wrote = {
		.task = 3, .stream = 1, .round = 5, .time_ms = 77
	};
	struct frame_output output;
	size_t len, left = 0;

	(void)state;
	frame_output_header(bytes, &wrote, 100);
	for (len = 0; len < OUTPUT_HEADER; len++)
		assert_false(frame_get_output_part(bytes, len, &output, &left));
	for (; len <= sizeof(bytes); len++) {
		assert_int_equal(frame_size(bytes, len), sizeof(bytes));
		assert_true(frame_get_output_part(bytes, len, &output, &left));
		assert_int_equal(output.task, 3);
		assert_int_equal(output.stream, 1);
		assert_int_equal(output.round, 5);
		assert_int_equal(output.time_ms, 77);
		assert_ptr_equal(output.data, bytes + OUTPUT_HEADER);
		assert_int_equal(output.len, len - OUTPUT_HEADER);
		assert_int_equal(left, sizeof(bytes) - len);
	}
	/* The bytes after it belong to another frame. */
	frame_output_header(bytes, &wrote, 40);
	assert_true(
		frame_get_output_part(bytes, sizeof(bytes), &output, &left));
	assert_int_equal(output.len, 40);
	assert_int_equal(left, 0);
	/* A wrong type, a wrong stream, no length. */
	frame_header(bytes, FRAME_LOST, 50);
	assert_false(frame_get_output_part(bytes, 40, &output, &left));
	wrote.stream = 2;
	frame_output_header(bytes, &wrote, 40);
	assert_false(frame_get_output_part(bytes, 40, &output, &left));
	frame_header(bytes, FRAME_OUTPUT, 3);
	assert_false(frame_get_output_part(bytes, 40, &output, &left));
	assert_int_equal(frame_size(bytes, FRAME_HEADER - 1), 0);
	frame_header(bytes, FRAME_OUTPUT, FRAME_MAX + 1);
	assert_int_equal(frame_size(bytes, FRAME_HEADER), 0);
}

static void what_is_too_long_is_not_sent(void **state)
{
	struct wire_out out = { 0 };
	char *block = mem_alloc(FRAME_MAX);

	(void)state;
	wire_begin(&out, FRAME_PING);
	assert_true(wire_end(&out));
	wire_begin(&out, FRAME_SHIP);
	wire_put_u32(&out, 0);
	wire_put_bytes(&out, block, FRAME_MAX);
	assert_false(wire_end(&out));
	assert_int_equal(out.len, FRAME_HEADER);
	wire_out_done(&out);
	free(block);
}

/* ---- archives ---- */

static char *make_folder(void)
{
	char *folder = mem_strdup("/tmp/jobrun-test-XXXXXX");

	assert_non_null(mkdtemp(folder));
	return folder;
}

static void remove_folder(char *folder)
{
	struct error err;

	assert_int_equal(folder_remove(folder, &err), 0);
	free(folder);
}

struct entry {
	enum archive_kind kind;
	const char *path;
	const char *contents;
};

/* Unpacks entries, `step` bytes at a time. */
static int unpack(const char *folder, const struct entry *entries, size_t count,
		  size_t step, struct error *err)
{
	int root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct unpacking *unpacking = unpacking_new(root, 1000, 20);
	unsigned char header[ARCHIVE_HEADER_MAX];
	struct buf bytes = { 0 };
	size_t i, at;
	int ret = 0;

	for (i = 0; i < count; i++) {
		size_t len = strlen(entries[i].contents);

		at = archive_header(header, entries[i].kind, entries[i].path,
				    len);
		buf_add(&bytes, header, at);
		buf_add(&bytes, entries[i].contents, len);
	}
	for (at = 0; ret == 0 && at < bytes.len; at += step)
		ret = unpacking_add(
			unpacking, bytes.data + at,
			bytes.len - at < step ? bytes.len - at : step, err);
	if (ret == 0 && !unpacking_is_done(unpacking))
		ret = 1;
	unpacking_free(unpacking);
	close(root);
	buf_done(&bytes);
	return ret;
}

static void folders_go_there_and_come_back(void **state)
{
	static const struct entry entries[] = {
		{ ARCHIVE_FILE, "a/b/c", "hello" },
		{ ARCHIVE_PROGRAM, "a/run", "#!" },
		{ ARCHIVE_FILE, "empty", "" },
		{ ARCHIVE_LINK, "a/link", "b/c" },
		{ ARCHIVE_FOLDER, "d", "" },
		{ ARCHIVE_END, "", "" },
	};
	size_t step;

	(void)state;
	for (step = 1; step < 80; step += 13) {
		char *folder = make_folder(), *again = make_folder();
		char *packed = path_join(again, "packed");
		int to = open(packed, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		struct unpacking *unpacking;
		struct error err;
		struct stat st;
		char *text;
		size_t len;
		int root;

		assert_int_equal(
			unpack(folder, entries, COUNT(entries), step, &err), 0);
		assert_int_equal(archive_pack(folder, to, &err), 0);
		close(to);
		text = file_read(packed, 10000, &len, &err);
		assert_non_null(text);
		root = open(again, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		unpacking = unpacking_new(root, 1000, 20);
		assert_int_equal(unpacking_add(unpacking, text, len, &err), 0);
		assert_true(unpacking_is_done(unpacking));
		unpacking_free(unpacking);
		free(text);
		assert_int_equal(fstatat(root, "a/run", &st, 0), 0);
		assert_int_equal(st.st_mode & 0777, 0700);
		assert_int_equal(fstatat(root, "a/link", &st, 0), 0);
		assert_int_equal(st.st_size, 5);
		assert_int_equal(fstatat(root, "d", &st, 0), 0);
		close(root);
		free(packed);
		remove_folder(folder);
		remove_folder(again);
	}
}

static void nothing_is_unpacked_outside(void **state)
{
	static const struct {
		struct entry entries[3];
		const char *why;
	} cases[] = {
		{ { { ARCHIVE_FILE, "../out", "x" } }, "is no path" },
		{ { { ARCHIVE_FILE, "/tmp/out", "x" } }, "is no path" },
		{ { { ARCHIVE_FILE, "a/../../out", "x" } }, "is no path" },
		{ { { ARCHIVE_FILE, "a//b", "x" } }, "is no path" },
		{ { { ARCHIVE_FILE, "", "x" } }, "is no path" },
		{ { { ARCHIVE_LINK, "l", "/tmp" },
		    { ARCHIVE_FILE, "l/out", "x" } },
		  "cannot create the folder" },
		{ { { ARCHIVE_LINK, "l", "/tmp/out" },
		    { ARCHIVE_FILE, "l", "x" } },
		  "cannot create 'l'" },
		{ { { ARCHIVE_FILE, "f", "x" }, { ARCHIVE_FILE, "f", "y" } },
		  "cannot create 'f'" },
		{ { { (enum archive_kind)'?', "f", "x" } }, "not an archive" },
		{ { { ARCHIVE_FOLDER, "f", "x" } }, "impossible size" },
		{ { { ARCHIVE_END, "", "" }, { ARCHIVE_FILE, "f", "x" } },
		  "after its end" },
	};
	size_t i, count;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *folder = make_folder();
		struct error err = { 0 };

		count = 1 + (cases[i].entries[1].kind != 0);
		assert_int_equal(
			unpack(folder, cases[i].entries, count, 1000, &err),
			-1);
		assert_non_null(strstr(err.text, cases[i].why));
		assert_int_equal(access("/tmp/out", F_OK), -1);
		remove_folder(folder);
	}
}

static void archives_have_limits(void **state)
{
	static const char ten[] = "xxxxxxxxxx";
	struct entry entries[30];
	char *folder = make_folder();
	char names[30][8], big[1002];
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(entries); i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		entries[i] = (struct entry){ ARCHIVE_FILE, names[i], ten };
	}
	assert_int_equal(unpack(folder, entries, 30, 100, &err), -1);
	assert_string_equal(err.text, "too many files in the archive");
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	entries[0] = (struct entry){ ARCHIVE_FILE, "big", big };
	assert_int_equal(unpack(folder, entries, 1, 100, &err), -1);
	assert_string_equal(err.text, "there is too much in the archive");
	remove_folder(folder);
}

/* ---- ssh ---- */

static void hosts_are_taken_apart(void **state)
{
	static const struct {
		const char *text, *destination, *host;
		long port;
	} cases[] = {
		{ "node1", "node1", "node1", 0 },
		{ "me@node1", "me@node1", "node1", 0 },
		{ "node1:2222", "node1", "node1", 2222 },
		{ "me@node1:22", "me@node1", "node1", 22 },
		{ "[fd00::1]:22", "fd00::1", "fd00::1", 22 },
		{ "fd00::1", "fd00::1", "fd00::1", 0 },
		{ "a@b@node1", "a@b@node1", "node1", 0 },
	};
	static const char *const bad[] = {
		"", "me@", "node:0", "node:x", "-oProxyCommand=x", "a@-b", ":22"
	};
	struct ssh_target target;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		assert_int_equal(ssh_target_parse(cases[i].text, &target, &err),
				 0);
		assert_string_equal(target.destination, cases[i].destination);
		assert_string_equal(target.host, cases[i].host);
		assert_int_equal(target.port, cases[i].port);
		ssh_target_done(&target);
	}
	for (i = 0; i < COUNT(bad); i++)
		assert_int_equal(ssh_target_parse(bad[i], &target, &err), -1);
}

static void a_host_is_no_option_of_ssh(void **state)
{
	struct ssh_target target;
	struct ssh_command *command;
	struct error err;
	size_t i = 0;

	(void)state;
	assert_int_equal(ssh_target_parse("me@node1:2222", &target, &err), 0);
	command = ssh_command_new(&target, "/config", "true");
	while (strcmp(command->argv[i], "--") != 0)
		i++;
	assert_string_equal(command->argv[i - 1], "2222");
	assert_string_equal(command->argv[i + 1], "me@node1");
	assert_string_equal(command->argv[i + 2], "true");
	assert_null(command->argv[i + 3]);
	free(command);
	ssh_target_done(&target);
}

static void the_words_of_ssh_are_understood(void **state)
{
	/* Messages of OpenSSH 9.2. */
	static const struct {
		const char *text;
		enum ssh_trouble trouble;
		const char *why;
	} cases[] = {
		{ "kex_exchange_identification: read: Connection reset by "
		  "peer\r\nConnection reset by 10.0.0.1 port 22\r\n",
		  SSH_BUSY, "Connection reset by 10.0.0.1 port 22" },
		{ "ssh: connect to host h port 22: Connection refused\r\n",
		  SSH_UNREACHABLE,
		  "ssh: connect to host h port 22: Connection refused" },
		{ "me@h: Permission denied (publickey).\r\n", SSH_REFUSED,
		  "ssh is refused (me@h: Permission denied (publickey).): the "
		  "login must work without a password, by a key or an agent" },
		{ "Timeout, server h not responding.\r\n", SSH_UNREACHABLE,
		  "Timeout, server h not responding." },
		{ "jobrun: error: Identity-Aware Proxy is away\n"
		  "kex_exchange_identification: Connection closed by remote "
		  "host\r\nConnection closed by UNKNOWN port 65535\r\n",
		  SSH_UNREACHABLE, "Identity-Aware Proxy is away" },
		{ "", SSH_UNREACHABLE, "ssh ended without a message" },
		{ "Bad packet length 1397966893.\r\n", SSH_UNREACHABLE,
		  "Bad packet length 1397966893." },
		{ "\033[31mred\n", SSH_UNKNOWN, "?[31mred" },
	};
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		assert_int_equal(ssh_explain(cases[i].text, &err),
				 cases[i].trouble);
		assert_string_equal(err.text, cases[i].why);
	}
}

/* Feeds what a host says, at once or byte by byte, and collects the answer. */
static int bootstrap_hear(const char *said, size_t step, struct buf *received,
			  struct wire_out *answer, struct error *err)
{
	struct bootstrap bootstrap = { 0 };
	size_t len = strlen(said), at = 0;
	int ret = 0;

	while (!ret && at < len) {
		size_t n = len - at < step ? len - at : step;

		buf_add(received, said + at, n);
		at += n;
		ret = bootstrap_take(&bootstrap, received, answer, err);
	}
	bootstrap_done(&bootstrap);
	return ret;
}

static void an_agent_is_sent_if_it_is_asked_for(void **state)
{
	const char *own = agent_program_architecture();
	struct agent_program program;
	char *said = mem_printf("Welcome\n\njobrun-host: need %s\r\n"
				"jobrun-host: send\njobrun-host: have\n",
				own);
	char *first;
	size_t step;

	(void)state;
	agent_program_own(&program);
	first = mem_printf("%s %zu\n", program.digest, program.size);
	for (step = 1; step < 200; step += 99) {
		struct wire_out answer = { 0 };
		struct buf received = { 0 };
		struct error err;

		assert_int_equal(
			bootstrap_hear(said, step, &received, &answer, &err),
			1);
		assert_int_equal(received.len, 0);
		assert_int_equal(answer.len, strlen(first) + program.size);
		assert_memory_equal(answer.data, first, strlen(first));
		assert_memory_equal((const char *)answer.data + strlen(first),
				    program.data, program.size);
		wire_out_done(&answer);
		buf_done(&received);
	}
	free(first);
	free(said);
}

static void what_the_agent_says_is_left_to_others(void **state)
{
	struct wire_out answer = { 0 };
	struct buf received = { 0 };
	struct error err;

	(void)state;
	assert_int_equal(bootstrap_hear("jobrun-host: have\nframes", 99,
					&received, &answer, &err),
			 1);
	assert_int_equal(received.len, strlen("frames"));
	assert_int_equal(answer.len, 0);
	buf_done(&received);
}

static void a_host_that_cannot_have_an_agent_is_given_up(void **state)
{
	char *noise = mem_alloc((100 << 10) + 1);
	struct wire_out answer = { 0 };
	struct buf received = { 0 };
	struct error err;

	(void)state;
	assert_int_equal(bootstrap_hear("jobrun-host: need pdp11\n", 99,
					&received, &answer, &err),
			 -1);
	assert_non_null(strstr(err.text, "pdp11"));
	/* A shell that never ends its line is given up. */
	memset(noise, '~', 100 << 10);
	assert_int_equal(bootstrap_hear(noise, 4096, &received, &answer, &err),
			 -1);
	assert_int_equal(answer.len, 0);
	assert_true(received.len < 70 << 10);
	buf_done(&received);
	free(noise);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_out_as_they_went_in),
		cmocka_unit_test(a_peer_that_lies_is_found_out),
		cmocka_unit_test(an_output_is_known_by_its_start),
		cmocka_unit_test(what_is_too_long_is_not_sent),
		cmocka_unit_test(folders_go_there_and_come_back),
		cmocka_unit_test(nothing_is_unpacked_outside),
		cmocka_unit_test(archives_have_limits),
		cmocka_unit_test(hosts_are_taken_apart),
		cmocka_unit_test(a_host_is_no_option_of_ssh),
		cmocka_unit_test(the_words_of_ssh_are_understood),
		cmocka_unit_test(an_agent_is_sent_if_it_is_asked_for),
		cmocka_unit_test(what_the_agent_says_is_left_to_others),
		cmocka_unit_test(a_host_that_cannot_have_an_agent_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
