"""Runs a command on a terminal that hangs up once the command has written:

    hangup.py COMMAND [ARGUMENT...]

SIGHUP is ignored, as under nohup or in a service.  Prints the exit status of
the command."""
import os
import pty
import signal
import sys

os.environ["TERM"] = "xterm"  # else nothing is drawn before the end
signal.signal(signal.SIGHUP, signal.SIG_IGN)
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
os.read(fd, 1)
os.close(fd)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
