"""Medians and ratios of commands that are run in turn, so that a change of the
machine's mood falls on all of them alike."""
import collections
import os
import statistics
import subprocess
import time


# Of a program with all that it has called.
Use = collections.namedtuple("Use", "seconds cpu peak_kb")


def use(argv):
    """Of one run, without what it prints."""
    null = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=null)
    _, status, used = os.wait4(pid, 0)
    taken = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise SystemExit("%s ended with %d" % (" ".join(argv), code))
    return Use(taken, used.ru_utime + used.ru_stime, used.ru_maxrss)


def seconds(argv):
    return use(argv).seconds


def peak_kb(argv, last):
    """The most memory that it took, of a program that reads standard input
    when it is done with all else; then it is given `last`."""
    child = subprocess.Popen(argv, stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL)
    folder = "/proc/%d/" % child.pid
    used = None
    while True:
        time.sleep(0.2)
        with open(folder + "stat") as file:
            now = file.read().rsplit(")", 1)[1].split()[11:13]
        if now == used:
            break
        used = now
    with open(folder + "status") as file:
        peak = [line for line in file if line.startswith("VmHWM:")][0]
    child.communicate(last)
    return int(peak.split()[1])


def measure_use(commands, rounds):
    """{name: argv} to {name: Use}, each of its values a median."""
    all = {name: [] for name in commands}
    for i in range(rounds + 1):
        for name, argv in commands.items():
            used = use(argv)
            if i:  # the first is to warm up
                all[name].append(used)
    return {name: Use(*map(statistics.median, zip(*found)))
            for name, found in all.items()}


def measure(commands, rounds):
    """{name: argv} to {name: median seconds}."""
    return {name: used.seconds
            for name, used in measure_use(commands, rounds).items()}


def row(what, value, target="", good=None):
    verdict = {True: "yes", False: "NO", None: ""}[good]
    print("  %-46s %12s  %-18s %s" % (what, value, target, verdict))


def ratio(what, mine, other, most=None, least=None):
    """mine/other <= most, or other/mine >= least."""
    if most is not None:
        row(what, "%.2f x" % (mine / other), "at most %.1f x" % most,
            mine / other <= most)
    else:
        row(what, "%.1f x" % (other / mine), "at least %.0f x" % least,
            other / mine >= least)
