"""Runs a command on a terminal of its own, and says what it drew.

    terminal.py COLUMNSxROWS WORD... -- STEP...

A step is wait:TEXT (until the screen shows it), keys:TEXT, size:COLUMNSxROWS,
stop (Ctrl-Z, and on again when it has stopped), or end (until it ends).  Prints
for each wait and for the end the screen, lines with their blanks cut off; the
last line is "exit N", and "alternate" if it did not leave its own screen.
"""
import codecs, fcntl, os, pty, re, select, signal, struct, sys, termios, time, unicodedata

LIMIT_S = 120


class Screen:
    """As much of a terminal as jobrun uses."""

    def __init__(self, columns, rows):
        self.saved = None
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines, self.x, self.y = [{} for _ in range(rows)], 0, 0

    def put(self, c):
        width = 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if self.x + width > self.columns:
            self.x = 0
            self.down()
        self.lines[self.y][self.x] = c
        self.x += width

    def down(self):
        if self.y + 1 < self.rows:
            self.y += 1
        else:
            self.lines = self.lines[1:] + [{}]

    def control(self, text):
        if text == "?1049h":
            self.saved = (self.lines, self.x, self.y)
            self.lines, self.x, self.y = [{} for _ in range(self.rows)], 0, 0
        elif text == "?1049l" and self.saved:
            (self.lines, self.x, self.y), self.saved = self.saved, None
            # The size may be another one since.
            self.lines = (self.lines + [{} for _ in range(self.rows)])[:self.rows]
            self.y = min(self.y, self.rows - 1)
        elif text == "H":
            self.x = self.y = 0
        elif text in ("K", "J"):
            self.lines[self.y] = {x: c for x, c in self.lines[self.y].items() if x < self.x}
            if text == "J":
                self.lines[self.y + 1:] = [{} for _ in self.lines[self.y + 1:]]

    def feed(self, text):
        for m in re.finditer(r"\033\[([?0-9;]*[A-Za-z])|\r|\n|[^\033\r\n]", text):
            if m[1]:
                self.control(m[1])
            elif m[0] == "\r":
                self.x = 0
            elif m[0] == "\n":
                self.down()
            else:
                self.put(m[0])

    def text(self):
        return "\n".join("".join(line.get(x, " ") for x in range(max(line, default=-1) + 1)
                                 ).rstrip() for line in self.lines).rstrip("\n")


def size(text):
    return tuple(int(n) for n in text.split("x"))


def main():
    at = sys.argv.index("--")
    words, steps = sys.argv[2:at], sys.argv[at + 1:]
    columns, rows = size(sys.argv[1])
    screen, decode = Screen(columns, rows), codecs.getincrementaldecoder("utf-8")("replace")
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvp(words[0], words)
    until = time.monotonic() + LIMIT_S

    def read():
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
            sys.exit("too long; the screen was\n" + screen.text())
        if select.select([fd], [], [], 0.1)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                data = b""
            screen.feed(decode.decode(data))
            return bool(data)
        return True

    for step in steps:
        what, _, value = step.partition(":")
        if what == "wait":
            while value not in screen.text():
                if not read():
                    sys.exit("it ended; the screen was\n" + screen.text())
            print(screen.text())
        elif what == "keys":
            os.write(fd, value.encode().decode("unicode_escape").encode())
        elif what == "size":
            columns, rows = size(value)
            screen.resize(columns, rows)
            fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        elif what == "stop":
            os.write(fd, b"\x1a")
            while not os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED | os.WNOHANG)[1] or 0):
                read()
            while select.select([fd], [], [], 0)[0]:
                read()
            print("stopped:" + ("alternate" if screen.saved else "left"))
            os.kill(pid, signal.SIGCONT)
        elif what == "end":
            while read():
                pass
            print(screen.text())
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print("exit", status)
    if screen.saved:
        print("alternate")


main()
