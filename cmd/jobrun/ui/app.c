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

/* Whether the terminal knows more than text. */
static bool is_clever(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0;
}

/* https://no-color.org; a terminal that says it is dumb has none either. */
static bool wants_color(int fd)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(fd) && !(no_color && *no_color) && is_clever();
}

static void find_size(struct app *app)
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
	find_size(app);
}

void app_set_color(struct app *app, const char *color)
{
	if (strcmp(color, "auto") != 0)
		app->out_color = app->err_color = !strcmp(color, "always");
}

void app_write(struct app *app, const void *data, size_t len)
{
	if (app->out_closed || app->out_errno || !len)
		return;
	app_stand(app, "");
	if (fd_write(STDOUT_FILENO, data, len) == 0)
		return;
	/* A terminal that has hung up answers EIO. */
	if (errno == EPIPE || (errno == EIO && app->out_terminal))
		app->out_closed = true;
	else
		app->out_errno = errno;
}

void app_print(struct app *app, const struct buf *text)
{
	app_write(app, text->data, text->len);
}

/* Adds what takes away the lines that stand. */
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

void app_stand(struct app *app, const char *lines)
{
	struct buf text = { 0 };

	if (!app->live || (!app->standing && !*lines))
		return;
	put_erase(app, &text);
	buf_puts(&text, lines);
	fd_write(STDOUT_FILENO, text.data, text.len);
	buf_done(&text);
	free(app->standing);
	app->standing = *lines ? mem_strdup(lines) : NULL;
}

/* In one write, so that lines of several processes do not mix. */
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

/* The text may hold a server's words or a file's name: it stays one line, and
 * moves no cursor. */
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
	return (int)err->code;
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
