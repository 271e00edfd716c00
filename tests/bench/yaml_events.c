/* SPDX-License-Identifier: Apache-2.0 */
/* What reading YAML costs at least: every file of a folder through libyaml's
 * parser, in one thread, its events thrown away. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#define FILE_MAX ((size_t)8 << 20)

static unsigned long parse(const unsigned char *text, size_t len)
{
	unsigned long events = 0;
	yaml_parser_t parser;
	yaml_event_t event;
	int last = 0;

	if (!yaml_parser_initialize(&parser))
		return 0;
	yaml_parser_set_input_string(&parser, text, len);
	while (!last && yaml_parser_parse(&parser, &event)) {
		last = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
		events++;
	}
	yaml_parser_delete(&parser);
	return events;
}

int main(int argc, char **argv)
{
	unsigned char *text = malloc(FILE_MAX);
	unsigned long events = 0;
	struct dirent **entries;
	int n, i;

	if (argc != 2 || !text || chdir(argv[1]) < 0)
		return 64;
	n = scandir(".", &entries, NULL, alphasort);
	for (i = 0; i < n; i++) {
		ssize_t len;
		int fd = -1;

		if (entries[i]->d_name[0] != '.')
			fd = open(entries[i]->d_name, O_RDONLY | O_CLOEXEC);
		len = fd < 0 ? -1 : read(fd, text, FILE_MAX);
		if (len > 0)
			events += parse(text, (size_t)len);
		if (fd >= 0)
			close(fd);
		free(entries[i]);
	}
	free(entries);
	free(text);
	printf("%lu events\n", events);
	return n < 0;
}
