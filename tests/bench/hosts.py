"""Tasks on 64 ssh hosts, each an sshd with its default limits, against the
tools that run a command on many hosts: time to a first `true`, ten commands
in a row, memory while all hosts are held, time from the first failure to the
last process gone, and the output of eight hosts (MEGABYTES=200 makes it a
lasting one)."""
import ctypes
import glob
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import table

HOSTS = 64
WRITERS = 8
MEGABYTES = int(os.environ.get("MEGABYTES", "20"))
# It starts ssh, and does nothing with what that says: the floor, not a tool
# to be compared with.
FLOOR = "xargs"
# Of what ssh alone moves to /dev/null in the same run, from 389 MB/s.
SHARE = 0.64
JOB = """\
jobId: {0}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  workerType: n1-standard-4
  workerCount: {1}
jobrun:
  hosts: [{2}]
{4}  command: {3}
"""
# HOME, so that what the user's shell does as it starts is not measured.
SSHD = """\
ListenAddress {address}:{port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/id.pub
PidFile {folder}/h{i}.pid
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
PrintMotd no
SetEnv HOME={folder} XDG_STATE_HOME={folder}/h{i}/state XDG_CACHE_HOME={folder}/cache
"""


def find(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


class Hosts:
    def __init__(self, folder, count=HOSTS):
        self.folder = folder
        self.port = random.randrange(20000, 28000)
        self.net = "127.%d" % random.randrange(1, 250), random.randrange(240)
        self.names = ["h%d" % i for i in range(1, count + 1)]
        self.config = folder + "/config"
        for key in "host_key", "id":
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                            "-f", "%s/%s" % (folder, key)], check=True)
        self.write_config()
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        for i in range(1, count + 1):
            self.start(i)
        time.sleep(1)

    def address(self, i):
        first, second = self.net
        return "%s.%d.%d" % (first, second + i // 250, 1 + i % 250)

    def write_config(self):
        key = open(self.folder + "/host_key.pub").read().split()[:2]
        with open(self.config, "w") as config, \
                open(self.folder + "/known", "w") as known, \
                open(self.folder + "/names", "w") as names:
            for i, name in enumerate(self.names, 1):
                config.write("Host %s\n HostName %s\n HostKeyAlias %s\n"
                             % (name, self.address(i), name))
                known.write("%s %s\n" % (name, " ".join(key)))
                names.write(name + "\n")
            config.write("Host *\n Port %d\n IdentityFile %s/id\n"
                         " IdentitiesOnly yes\n BatchMode yes\n"
                         " UserKnownHostsFile %s/known\n"
                         # As ssh reads it without -F, and jobrun always.
                         "Include /etc/ssh/ssh_config\n"
                         % (self.port, self.folder, self.folder))

    def start(self, i):
        path = "%s/h%d.conf" % (self.folder, i)
        with open(path, "w") as file:
            file.write(SSHD.format(address=self.address(i), i=i,
                                   port=self.port, folder=self.folder))
        subprocess.run([find("sshd"), "-f", path, "-E",
                        self.folder + "/sshd.log"], check=True)

    def stop(self):
        for path in glob.glob(self.folder + "/h*.pid"):
            os.kill(int(open(path).read()), signal.SIGTERM)


def tools(hosts, command, count=HOSTS):
    names = hosts.names[:count]
    config = hosts.config
    with open(hosts.folder + "/some", "w") as file:
        file.write("".join(name + "\n" for name in names))
    os.environ["PDSH_SSH_ARGS_APPEND"] = "-F " + config
    some = hosts.folder + "/some"
    known = {
        "pdsh": ["-R", "ssh", "-f", "64", "-w", ",".join(names), command],
        "clush": ["-f", "64", "-o", "-F " + config, "-w", ",".join(names),
                  command],
        "parallel-ssh": ["-p", "64", "-x", "-F " + config, "-h", some, "-i",
                         command],
        "parallel": ["--will-cite", "-j", "64", "--line-buffer", "--tag",
                     "-a", some, "ssh", "-F", config, "{}", command],
        "xargs": ["-a", some, "-P", "64", "-n", "1", "sh", "-c",
                  'exec ssh -F %s "$0" "%s"' % (config, command)],
    }
    return {name: [find(name)] + args for name, args in known.items()
            if find(name)}


def tree(root):
    """All processes below one, and itself."""
    below = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(path).read()
        except OSError:
            continue
        pid = int(path.split("/")[2])
        below.setdefault(int(text.rsplit(")", 1)[1].split()[1]),
                         []).append(pid)
    todo, found = [root], []
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += below.get(pid, [])
    return found


def pss_kb(pids):
    total = 0
    for pid in pids:
        try:
            with open("/proc/%d/smaps_rollup" % pid) as file:
                total += sum(int(line.split()[1]) for line in file
                             if line.startswith("Pss:"))
        except OSError:
            pass
    return total


def held_mb(argv, roots, nap):
    """The memory of a command with all its processes while it holds every
    host, shared pages counted once."""
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    held = 0
    while held < HOSTS and child.poll() is None:
        time.sleep(0.1)
        held = len(subprocess.run(["pgrep", "-f", "^sleep " + nap],
                                  stdout=subprocess.PIPE).stdout.split())
    time.sleep(0.5)
    pids = set(tree(child.pid))
    for root in roots():
        pids.update(tree(root))
    used = pss_kb(pids)
    if child.poll() is not None:
        raise SystemExit("%s did not hold all hosts" % argv[0])
    child.wait()
    return used / 1024


def supervisors(hosts):
    """Those of our store: they left their parents."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if b"\0supervise\0" in open(path, "rb").read() and \
                    hosts.folder.encode() in open(
                        path.replace("cmdline", "environ"), "rb").read():
                found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found


def write_job(hosts, name, command, count=HOSTS, more=""):
    path = "%s/%s.yaml" % (hosts.folder, name)
    with open(path, "w") as file:
        file.write(JOB.format(name, count - 1, ", ".join(hosts.names[:count]),
                              command, more))
    return path


def client_cpu_s(argv):
    """CPU seconds of a command and of all it starts, the hosts left out: these
    are on the same machine only here."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    try:
        while True:  # what has left its parent, as a supervisor does
            os.wait()
    except ChildProcessError:
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime -
            before.ru_utime - before.ru_stime)


def first_command(hosts, jobrun):
    job = write_job(hosts, "first", '["true"]')
    mine = [jobrun, "apply", "--rerun", job]
    commands = dict(jobrun=mine, **tools(hosts, "true"))
    found = table.measure(commands, 3)
    print("hosts, %d of them, %d cores: a first `true`:"
          % (HOSTS, len(os.sched_getaffinity(0))))
    for name, taken in found.items():
        table.row(name, "%.2f s" % taken)
    others = {name: taken for name, taken in found.items()
              if name not in ("jobrun", FLOOR)}
    if not others:
        return
    best = min(others, key=others.get)
    table.ratio("jobrun / " + best, found["jobrun"], others[best], most=1.0)
    cpu = {name: client_cpu_s(commands[name]) for name in ("jobrun", best)}
    for name, used in cpu.items():
        table.row("CPU of %s and its ssh" % name, "%.2f s" % used)
    table.ratio("jobrun / %s, without the hosts' part" % best, cpu["jobrun"],
                cpu[best], most=1.0)
    # Its setup and its command are two; shipping, the check of ports, the
    # start of all at once, and the way back of what they left are more.
    table.ratio("ten commands in a row, jobrun's as one job",
                ten_steps(hosts, jobrun), 10 * others[best], least=5)


def memory(hosts, jobrun):
    nap = "8.%d" % os.getpid()
    job = write_job(hosts, "nap", '[sleep, "%s"]' % nap)
    mine = [jobrun, "apply", "--rerun", job]
    commands = dict(jobrun=mine, **tools(hosts, "sleep " + nap))
    print("memory while %d hosts are held, with all ssh processes:" % HOSTS)
    used = {}
    for name, argv in commands.items():
        used[name] = held_mb(argv, lambda: supervisors(hosts), nap)
        table.row(name, "%.1f MB" % used[name])
    others = [name for name in used if name not in ("jobrun", FLOOR)]
    if others:
        least = min(others, key=used.get)
        table.ratio("jobrun / " + least, used["jobrun"], used[least],
                    most=1.0)


def ten_steps(hosts, jobrun):
    steps = "; ".join(["true"] * 8)
    os.makedirs(hosts.folder + "/source", exist_ok=True)
    with open(hosts.folder + "/source/a", "w") as file:
        file.write("a\n" * 1000)
    job = write_job(hosts, "ten", '[sh, -c, "%s"]' % steps,
                    more="  source: source\n  setup: [\"true\"]\n")
    return table.seconds([jobrun, "apply", "--rerun", job])


def first_failure(hosts, jobrun):
    """From the end of the one that fails to the end of the last process on
    any host; one machine, so one clock."""
    nap = "1234.%d" % os.getpid()
    job = write_job(hosts, "fail",
                    '[sh, -c, "[ $RANK != 40 ] || { sleep 2; date +%%s.%%N >'
                    '%s/failed; exit 3; }; exec sleep %s"]'
                    % (hosts.folder, nap))
    child = subprocess.Popen([jobrun, "apply", job],
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    while not os.path.exists(hosts.folder + "/failed"):
        time.sleep(0.01)
    pattern = ["pgrep", "-f", "^sleep " + nap]
    while subprocess.run(pattern, stdout=subprocess.DEVNULL).returncode == 0:
        time.sleep(0.005)
    gone = time.time()
    taken = gone - float(open(hosts.folder + "/failed").read())
    child.wait()
    print("from the first failure to the last process gone, %d hosts:"
          % HOSTS)
    table.row("jobrun", "%.2f s" % taken, "under 1 s", taken < 1)


def output(hosts, jobrun):
    line = "x" * 99
    command = "yes %s | head -c %d" % (line, MEGABYTES * 1000000)
    job = write_job(hosts, "write",
                    '[sh, -c, "sleep 1; date +%%s.%%N >&2; %s"]' % command,
                    WRITERS)
    subprocess.run([jobrun, "apply", "--rerun", job], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    logs = sorted(glob.glob(os.environ["JOBRUN_STATE_DIR"] +
                            "/runs/write.*/logs"))[-1]
    begin = min(float(open(path).read())
                for path in glob.glob(logs + "/*.stderr"))
    raw = glob.glob(logs + "/*.stdout")
    end = max(os.stat(path).st_mtime for path in raw)
    wanted = ((line + "\n") * (MEGABYTES * 10000)).encode()
    whole = all(open(path, "rb").read() == wanted for path in raw)
    rate = WRITERS * MEGABYTES / (end - begin)
    bare = bare_rate(hosts, command)
    print("%d hosts write %d MB each:" % (WRITERS, MEGABYTES))
    table.row("jobrun", "%.0f MB/s" % rate, "at least 250 MB/s", rate >= 250)
    table.row("every line whole, in the raw logs", str(len(raw)),
              "%d" % WRITERS, whole and len(raw) == WRITERS)
    table.row("bare ssh to /dev/null", "%.0f MB/s" % bare)
    table.row("jobrun / bare ssh", "%.0f %%" % (100 * rate / bare),
              "at least %.0f %%" % (100 * SHARE), rate >= SHARE * bare)


def bare_rate(hosts, command):
    """As ssh alone does it, its handshakes left out as those of jobrun are."""
    begun = []
    children = [subprocess.Popen(
        ["ssh", "-F", hosts.config, name,
         "sleep 1; date +%s.%N >&2; " + command], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE) for name in hosts.names[:WRITERS]]
    for child in children:
        begun.append(float(child.stderr.read()))
        child.wait()
    return WRITERS * MEGABYTES / (time.time() - min(begun))


def main():
    if not find("sshd") or not find("ssh"):
        print("hosts: left out, there is no sshd")
        return
    folder = tempfile.mkdtemp()
    os.environ["JOBRUN_STATE_DIR"] = folder + "/state"
    os.environ["JOBRUN_SSH_CONFIG"] = folder + "/config"
    hosts = Hosts(folder)
    parts = dict(first=first_command, memory=memory, failure=first_failure,
                 output=output)
    try:
        for name, part in parts.items():
            if len(sys.argv) < 2 or name in sys.argv[1:]:
                part(hosts, os.environ["JOBRUN"])
    finally:
        hosts.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
