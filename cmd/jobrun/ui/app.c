/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/app.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/show.h"

#define RED "\033[1;31m"
#define PLAIN "\033[0m"
#define ERASE "\r\033[K"

/* Whether the terminal can do more than print text. */
static bool is_clever(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0;
}

/* Whether to use colours: see https://no-color.org; a dumb terminal has none
 * either. */
static bool wants_color(int fd)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(fd) && !(no_color && *no_color) && is_clever();
}

void app_find_size(struct app *app)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	int width;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	width = size.ws_col;
	if (!width && columns)
		width = atoi(columns);
	app->width = width >= 20 && width <= 1000 ? width : 80;
	app->height = size.ws_row >= 3 ? size.ws_row : 24;
}

void app_init(struct app *app)
{
	*app = (struct app){ 0 };
	app->out_terminal = isatty(STDOUT_FILENO);
	app->err_terminal = isatty(STDERR_FILENO);
	app->out_color = wants_color(STDOUT_FILENO);
	app->err_color = wants_color(STDERR_FILENO);
	app->live = app->out_terminal && app->err_terminal && is_clever();
	app_find_size(app);
}

void app_set_color(struct app *app, const char *color)
{
	if (strcmp(color, "auto") != 0)
		app->out_color = app->err_color = !strcmp(color, "always");
}

/* Adds what erases the lines that stand below the output. */
static void put_erase(const struct app *app, struct buf *out)
{
	int rows = 0;

	if (!app->standing)
		return;
	for (const char *p = app->standing; (p = strchr(p, '\n')); p++)
		rows++;
	if (rows)
		buf_printf(out, "\r\033[%dA\033[J", rows);
	else
		buf_puts(out, ERASE);
}

void app_write(struct app *app, const void *data, size_t len)
{
	struct buf text = { 0 };
	int ret;

	if (app->out_closed || app->out_errno || !len)
		return;
	if (app->standing) { /* in one write, to avoid flicker */
		put_erase(app, &text);
		buf_add(&text, data, len);
		buf_puts(&text, app->standing);
		data = text.data;
		len = text.len;
	}
	ret = fd_write(STDOUT_FILENO, data, len);
	/* Writing to a terminal that has hung up gives EIO. */
	if (ret < 0 && (errno == EPIPE || (errno == EIO && app->out_terminal)))
		app->out_closed = true;
	else if (ret < 0)
		app->out_errno = errno;
	buf_done(&text);
}

void app_print(struct app *app, const struct buf *text)
{
	app_write(app, text->data, text->len);
}

static void set_block(struct app *app, const void *owner, const char *lines)
{
	struct app_block *block;
	size_t i = 0;

	while (i < app->block_count && app->blocks[i].owner != owner)
		i++;
	if (i == app->block_count) {
		if (!*lines)
			return;
		app->blocks = mem_grow(app->blocks, ++app->block_count,
				       sizeof(*app->blocks));
		app->blocks[i] = (struct app_block){ .owner = owner };
	}
	block = &app->blocks[i];
	free(block->lines);
	if (*lines) {
		block->lines = mem_strdup(lines);
		return;
	}
	memmove(block, block + 1, (--app->block_count - i) * sizeof(*block));
	if (!app->block_count) {
		free(app->blocks);
		app->blocks = NULL;
	}
}

/* Returns the last lines that leave one row for the output. */
static const char *last_rows(const char *text, int height)
{
	const char *p = text + strlen(text);

	while (p > text && (p[-1] != '\n' || --height > 1))
		p--;
	return p;
}

void app_stand(struct app *app, const void *owner, const char *lines)
{
	struct buf all = { 0 };
	struct buf text = { 0 };
	const char *shown;

	if (!app->live)
		return;
	set_block(app, owner, lines);
	app_find_size(app);
	for (size_t i = 0; i < app->block_count; i++)
		buf_printf(&all, "%s%s", i ? "\n" : "", app->blocks[i].lines);
	shown = last_rows(buf_text(&all), app->height);
	if (*shown || app->standing) {
		put_erase(app, &text);
		buf_puts(&text, shown);
		fd_write(STDOUT_FILENO, text.data, text.len);
	}
	free(app->standing);
	app->standing = *shown ? mem_strdup(shown) : NULL;
	buf_done(&text);
	buf_done(&all);
}

/* Everything is written at once, so that lines of several processes do not
 * mix. */
void app_put_messages(const struct app *app, const struct buf *lines)
{
	struct buf text = { 0 };

	put_erase(app, &text);
	show_disarmed(&text, buf_text(lines));
	if (app->standing)
		buf_puts(&text, app->standing);
	fd_write(STDERR_FILENO, text.data, text.len);
	buf_done(&text);
}

/* Prints a message as one line.  It may contain a server's text or the name of
 * a file, which must not move the cursor. */
static void say(const struct app *app, const char *head, const char *text)
{
	struct buf line = { 0 };

	buf_puts(&line, head);
	show_text(&line, text);
	buf_putc(&line, '\n');
	app_put_messages(app, &line);
	buf_done(&line);
}

void app_say(const struct app *app, const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) >= 0)
		say(app, "jobrun: ", text);
	va_end(args);
	free(text);
}

int app_fail(const struct app *app, const struct error *err)
{
	struct buf head = { 0 };

	buf_printf(&head, "jobrun: %serror:%s ", app->err_color ? RED : "",
		   app->err_color ? PLAIN : "");
	if (err->where[0]) {
		show_text(&head, err->where);
		buf_puts(&head, ": ");
	}
	say(app, head.data, err->text);
	buf_done(&head);
	return error_status(err);
}

char *app_ask(const struct app *app, const char *question, const char *fallback)
{
	char answer[1024];

	if (isatty(STDIN_FILENO) && app->err_terminal) {
		fprintf(stderr, "%s [%s] ", question, fallback);
		fflush(stderr);
		if (fgets(answer, sizeof(answer), stdin)) {
			answer[strcspn(answer, "\r\n")] = '\0';
			if (*answer)
				return mem_strdup(answer);
		}
	}
	return mem_strdup(fallback);
}

bool app_confirm(const struct app *app, const char *question)
{
	char answer[16];

	if (!isatty(STDIN_FILENO) || !app->err_terminal)
		return false;
	fprintf(stderr, "%s [y/N] ", question);
	fflush(stderr);
	if (!fgets(answer, sizeof(answer), stdin))
		return false;
	return answer[0] == 'y' || answer[0] == 'Y';
}
