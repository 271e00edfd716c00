/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "core/base/alloc.h"

#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define REST_OF_LINE "\033[K"
#define REST_OF_SCREEN "\033[J"
#define REVERSE "\033[7m"
#define PLAIN "\033[0m"

struct screen {
	struct app *app;
	struct loop *loop;
	loop_call *redraw, *quit;
	void *arg;
	struct loop_event *keys, *signals;
	int signal_fd;
	sigset_t before;
	struct termios terminal; /* its original settings */
	bool has_keys;
	bool entered;
	struct buf text; /* the text shown */
	size_t top;      /* first line shown */
};

bool screen_is_possible(const struct app *app)
{
	return app->live;
}

bool screen_is_utf8(void)
{
	const char *name;

	if (setlocale(LC_CTYPE, "") &&
	    !strcasecmp(nl_langinfo(CODESET), "UTF-8"))
		return true;
	/* The locale may be named but not installed. */
	name = getenv("LC_ALL");
	if (!name || !*name)
		name = getenv("LC_CTYPE");
	if (!name || !*name)
		name = getenv("LANG");
	return name &&
	       (strcasestr(name, "utf-8") || strcasestr(name, "utf8")) &&
	       setlocale(LC_CTYPE, "C.UTF-8");
}

/* ---- text -------------------------------------------------------------- */

/* Returns the columns of the character at `p`, and sets its bytes. */
static int measure(const char *p, size_t left, size_t *bytes)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t n = mbrtowc(&c, p, left, &state);
	int columns;

	*bytes = 1;
	if (n == 0 || n > left)
		return 1;
	*bytes = n;
	columns = wcwidth(c);
	return columns < 0 ? 1 : columns;
}

/* Returns the length of a colour sequence at `p`, or 0. */
static size_t color_len(const char *p, size_t left)
{
	size_t n = 2;

	if (left < 3 || p[0] != '\033' || p[1] != '[')
		return 0;
	while (n < left && (p[n] == ';' || (p[n] >= '0' && p[n] <= '9')))
		n++;
	return n < left && p[n] == 'm' ? n + 1 : 0;
}

void screen_cut(const char *line, size_t len, int width, struct buf *out)
{
	bool colored = false;
	int used = 0;

	for (size_t i = 0, n; i < len; i += n) {
		int columns = 0;

		n = color_len(line + i, len - i);
		if (n)
			colored = true;
		else
			columns = measure(line + i, len - i, &n);
		if (used + columns > width)
			break;
		buf_add(out, line + i, n);
		used += columns;
	}
	if (colored)
		buf_puts(out, PLAIN);
}

void screen_ascii(struct buf *text)
{
	struct buf out = { 0 };
	const char *p = buf_text(text);

	while (*p) {
		const unsigned char *c = (const unsigned char *)p;
		size_t n = 1;

		if (*c < 0x80) {
			buf_putc(&out, *p);
		} else if (c[0] == 0xe2 && c[1] == 0x96 && c[2] >= 0x81 &&
			   c[2] <= 0x88) { /* U+2581 to U+2588 */
			buf_putc(&out, "_.,-=+*#"[c[2] - 0x81]);
			n = 3;
		} else {
			buf_putc(&out, '?');
			while ((c[n] & 0xc0) == 0x80)
				n++;
		}
		p += n;
	}
	buf_done(text);
	*text = out;
}

/* ---- drawing ----------------------------------------------------------- */

static size_t count_lines(const struct buf *text)
{
	size_t n = 0;

	for (const char *p = buf_text(text); *p; p++)
		n += *p == '\n';
	return n;
}

/* Returns how many lines fit; one row is for the foot if not all do. */
static size_t page_of(const struct screen *screen, size_t lines)
{
	size_t height = (size_t)screen->app->height;

	return lines <= height ? height : height - 1;
}

static void put_foot(const struct screen *screen, size_t lines, size_t page,
		     struct buf *out)
{
	size_t last = screen->top + page < lines ? screen->top + page : lines;
	char *text = mem_printf("lines %zu-%zu of %zu: arrows, PgUp, PgDn; q "
				"quits",
				screen->top + 1, last, lines);

	buf_puts(out, REVERSE);
	screen_cut(text, strlen(text), screen->app->width - 1, out);
	buf_puts(out, PLAIN REST_OF_LINE);
	free(text);
}

static void draw(struct screen *screen)
{
	size_t lines = count_lines(&screen->text);
	size_t page = page_of(screen, lines);
	const char *p = buf_text(&screen->text);
	struct buf out = { 0 };

	if (!screen->entered)
		return;
	if (screen->top + page > lines)
		screen->top = lines > page ? lines - page : 0;
	buf_puts(&out, HOME);
	for (size_t i = 0; *p && i < screen->top + page; i++) {
		size_t len = strcspn(p, "\n");

		if (i >= screen->top) {
			screen_cut(p, len, screen->app->width, &out);
			buf_puts(&out, REST_OF_LINE);
			if (i + 1 < screen->top + page)
				buf_puts(&out, "\r\n");
		}
		p += len + (p[len] == '\n');
	}
	if (lines > page)
		buf_puts(&out, "\r\n");
	else
		buf_puts(&out, REST_OF_SCREEN);
	if (lines > page)
		put_foot(screen, lines, page, &out);
	app_print(screen->app, &out);
	buf_done(&out);
}

void screen_show(struct screen *screen, const struct buf *text)
{
	buf_clear(&screen->text);
	buf_puts(&screen->text, buf_text(text));
	if (!screen_is_utf8())
		screen_ascii(&screen->text);
	draw(screen);
}

/* ---- the terminal ------------------------------------------------------ */

static void say(struct screen *screen, const char *text)
{
	app_write(screen->app, text, strlen(text));
}

/* Enters the screen; a process in the background leaves the terminal to
 * others. */
static void enter(struct screen *screen)
{
	struct termios raw;

	if (screen->entered || tcgetpgrp(STDOUT_FILENO) != getpgrp())
		return;
	if (screen->has_keys &&
	    tcgetattr(STDIN_FILENO, &screen->terminal) == 0) {
		raw = screen->terminal;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	}
	say(screen, ENTER);
	screen->entered = true;
}

static void leave(struct screen *screen)
{
	if (!screen->entered)
		return;
	say(screen, LEAVE);
	if (screen->has_keys)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->terminal);
	screen->entered = false;
}

static void on_signal(void *arg, uint32_t events)
{
	struct screen *screen = arg;
	struct signalfd_siginfo info;

	(void)events;
	if (read(screen->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGTSTP) {
		leave(screen);
		kill(getpid(), SIGSTOP);
	}
	enter(screen);
	app_find_size(screen->app);
	screen->redraw(screen->arg, 0);
}

static void scroll(struct screen *screen, long by)
{
	long top = (long)screen->top + by;

	screen->top = top > 0 ? (size_t)top : 0;
	draw(screen);
}

/* Handles a key that sends an escape sequence, by its end: "[A", "[5~". */
static void on_sequence(struct screen *screen, const char *text)
{
	long page = screen->app->height - 2;

	if (!strncmp(text, "[A", 2) || !strncmp(text, "OA", 2))
		scroll(screen, -1);
	else if (!strncmp(text, "[B", 2) || !strncmp(text, "OB", 2))
		scroll(screen, 1);
	else if (!strncmp(text, "[5~", 3))
		scroll(screen, -page);
	else if (!strncmp(text, "[6~", 3))
		scroll(screen, page);
	else if (!strncmp(text, "[H", 2) || !strncmp(text, "[1~", 3))
		scroll(screen, -(1L << 30));
	else if (!strncmp(text, "[F", 2) || !strncmp(text, "[4~", 3))
		scroll(screen, 1L << 30);
}

static void on_letter(struct screen *screen, char key)
{
	long page = screen->app->height - 2;

	if (key == 'q')
		screen->quit(screen->arg, 0);
	else if (key == 'k')
		scroll(screen, -1);
	else if (key == 'j' || key == '\n')
		scroll(screen, 1);
	else if (key == 'b')
		scroll(screen, -page);
	else if (key == ' ')
		scroll(screen, page);
	else if (key == 'g')
		scroll(screen, -(1L << 30));
	else if (key == 'G')
		scroll(screen, 1L << 30);
}

static void on_key(void *arg, uint32_t events)
{
	struct screen *screen = arg;
	char keys[64];
	ssize_t n;

	(void)events;
	n = read(STDIN_FILENO, keys, sizeof(keys) - 1);
	if (n <= 0) { /* the terminal has hung up */
		loop_remove(screen->loop, screen->keys);
		screen->keys = NULL;
		screen->quit(screen->arg, 0);
		return;
	}
	keys[n] = '\0';
	if (keys[0] == '\033')
		on_sequence(screen, keys + 1);
	else
		on_letter(screen, keys[0]);
}

struct screen *screen_open(struct app *app, struct loop *loop,
			   loop_call *redraw, loop_call *quit, void *arg,
			   struct error *err)
{
	struct screen *screen = mem_alloc(sizeof(*screen));
	sigset_t signals;

	screen->app = app;
	screen->loop = loop;
	screen->redraw = redraw;
	screen->quit = quit;
	screen->arg = arg;
	screen->has_keys = isatty(STDIN_FILENO);
	sigemptyset(&signals);
	sigaddset(&signals, SIGWINCH);
	sigaddset(&signals, SIGTSTP);
	sigaddset(&signals, SIGCONT);
	pthread_sigmask(SIG_BLOCK, &signals, &screen->before);
	screen->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (screen->signal_fd < 0) {
		error_errno(err, "cannot receive signals");
		goto fail;
	}
	screen->signals = loop_add_fd(loop, screen->signal_fd, EPOLLIN,
				      on_signal, screen, err);
	if (!screen->signals)
		goto fail;
	if (screen->has_keys) {
		screen->keys = loop_add_fd(loop, STDIN_FILENO, EPOLLIN, on_key,
					   screen, err);
		if (!screen->keys)
			goto fail;
	}
	enter(screen);
	/* The terminal may have hung up before the watch began. */
	if (!isatty(STDOUT_FILENO))
		loop_add_timer(loop, 0, quit, arg);
	return screen;
fail:
	screen_close(screen, false);
	return NULL;
}

void screen_close(struct screen *screen, bool leave_text)
{
	if (!screen)
		return;
	leave(screen);
	if (leave_text)
		app_print(screen->app, &screen->text);
	loop_remove(screen->loop, screen->keys);
	loop_remove(screen->loop, screen->signals);
	if (screen->signal_fd >= 0)
		close(screen->signal_fd);
	pthread_sigmask(SIG_SETMASK, &screen->before, NULL);
	buf_done(&screen->text);
	free(screen);
}
