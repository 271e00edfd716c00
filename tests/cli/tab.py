"""Types into a shell on a terminal and looks at what the shell makes of it:

    tab.py SHELL [ARGUMENT...] -- TEXT EXPECTED

Sets the shell's completion up, types TEXT (which ends in a tab), and waits
until the line on the screen ends in EXPECTED."""
import os
import pty
import re
import select
import sys
import time

SETUP = {
    "bash": "PS1='%% '; bind 'set bell-style none'\neval \"$(jobrun completion bash)\"\n",
    "zsh": "PS1='%% '; autoload -Uz compinit; compinit -u -D; unsetopt beep\n"
           "(( $+_comps[jobrun] )) || eval \"$(jobrun completion zsh)\"\n",
    "fish": "function fish_prompt; echo '%% '; end; "
            "set -g fish_autosuggestion_enabled 0\n"
            "jobrun completion fish | source\n",
}


def read_until(fd, pattern, seconds):
    seen = ""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                seen += os.read(fd, 65536).decode("utf-8", "replace")
            except OSError:
                break
        plain = re.sub(r"\x1b(\[[0-9;?=>]*[A-Za-z]|\][^\a]*\a|[=>(]B?)|\r|\a|\x0f", "", seen)
        if re.search(pattern, plain):
            return True
    print(repr(seen))
    return False


def main():
    split = sys.argv.index("--")
    shell, (text, expected) = sys.argv[1:split], sys.argv[split + 1:]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", LC_ALL="C.UTF-8")
        os.execvp(shell[0], shell)
    try:
        os.write(fd, SETUP[shell[0]].encode() + b"echo rea''dy\n")
        if not read_until(fd, r"ready\n", 20):
            return "the shell did not start"
        os.write(fd, text.encode())
        if not read_until(fd, expected, 10):
            return f"{text!r} did not become {expected!r}"
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    sys.exit(main())
