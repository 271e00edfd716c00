#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans repositories that a stranger has made, with credentials around.

    hostile.py JOBRUN FOLDER [every=N | NAME...]

Each is validated and planned under strace as in CI.  Nothing but the
repository, the store, the system and the user's own configuration is opened,
no program runs, nothing is contacted but the providers' own services (stand-ins
on two ports of this machine, where nobody answers), no secret is in any output,
and each takes less than 10 s and 256 MiB.  Without names: all of them.
"""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time

SECONDS = 10
MEGABYTES = 256
SECRET = "SECRET-7f3a"  # begins everything that must not be seen
FOLDER = os.path.realpath(sys.argv[2])
RAN = FOLDER + "/ran"  # what programs that must not run leave
# Sanitizers need more of both, look at their own environment, and find no
# leaks under strace.
SLOWER = 4 if "/san/" in sys.argv[1] else 1

# What libraries and the system open, whatever the job file says.
SYSTEM = re.compile(
    r"^(/usr/|/lib/|/lib64/|/opt/|/dev/(null|urandom)$|/proc/self/|"
    r"/proc/sys/|/proc/(cpuinfo|meminfo|filesystems|mounts)$|/sys/|"
    r"/etc/(ld\.so\.|ssl/|pki/|nsswitch|passwd$|group$|host|resolv|gai|"
    r"localtime|locale|ca-certificates|services|protocols|machine-id))")
OPENS = re.compile(r'^\d+ +(?:\d+\.\d+ )?(open|openat|openat2|creat|execve|'
                   r'connect)\((.*)$')

JOB = """jobId: j
trainingInput: {scaleTier: BASIC}
jobrun: {command: [/bin/true], %s}
"""
KUBE = """jobId: j
trainingInput: {scaleTier: BASIC, masterConfig: {imageUri: busybox}}
jobrun: {provider: kubernetes, command: [/bin/true], %s}
"""
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://127.0.0.1:%s"%s}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {%s}}]
"""


class Repository:
    """The folder that a case fills in."""

    def __init__(self, world):
        self.world = world
        self.root = world.path("repo")
        os.makedirs(self.root + "/jobs")
        os.makedirs(self.root + "/.git")
        self.write(".git/HEAD", "ref: refs/heads/main\n")
        self.write(".git/config", '[remote "origin"]\n\turl = '
                   f"https://x:{SECRET}-git@example.org/a/b.git\n")

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = "wb" if isinstance(text, bytes) else "w"
        with open(path, mode) as file:
            file.write(text)

    def link(self, name, target):
        os.symlink(target, os.path.join(self.root, name))

    def fifo(self, name):
        os.mkfifo(os.path.join(self.root, name))

    def job(self, more):
        self.write("jobs/j.yaml", JOB % more)

    def kube(self, user, cluster="", more="kubernetes: {kubeconfig: ../kc.yaml}",
             name="kc.yaml"):
        if user is not None:
            self.write(name, KUBECONFIG % (
                self.world.stranger, ", " + cluster if cluster else "", user))
        self.write("jobs/j.yaml", KUBE % more)


def plugin(version="v1"):
    return ("exec: {apiVersion: client.authentication.k8s.io/%s, "
            "interactiveMode: Never, command: /bin/sh, "
            "args: [-c, 'touch %s; env']}" % (version, RAN))


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def cases(prefix, values, make):
    """One case for each of the values."""
    for name, value in values.items():
        def run(repo, value=value):
            make(repo, value)
        CASES[f"{prefix}_{name}"] = run


# ---- kubeconfigs ------------------------------------------------------------

cases("kubeconfig_user", {
    "exec": plugin(),
    "exec_beta": plugin("v1beta1"),
    "token_file": "tokenFile: /etc/shadow",
    "token_file_up": "tokenFile: ../out/secret",
    "key_outside": "client-key: ../out/secret, client-certificate: "
                   "../out/secret",
    "auth_provider": "auth-provider: {name: gcp, config: {cmd-path: /bin/sh}}",
    "token": "token: abc",
}, lambda repo, user: repo.kube(user))
cases("kubeconfig_cluster", {
    "proxy": "proxy-url: 'http://127.0.0.1:9'",
    "ca_outside": "certificate-authority: /etc/shadow",
    "insecure": "insecure-skip-tls-verify: true",
}, lambda repo, cluster: repo.kube("token: abc", cluster))
cases("kubeconfig_path", {
    "shadow": "/etc/shadow",
    "up": "../../out/kc.yaml",
    "endless": "/dev/zero",
    "git": "../.git/config",
    "key": "../../home/.ssh/id_ed25519",
    "environ": "/proc/self/environ",
}, lambda repo, path: repo.kube(None, more="kubernetes: {kubeconfig: "
                                           f"{path}}}"))
cases("place", {
    "context": "kubernetes: {context: 'c in ../repo/kc.yaml'}",
    "context_relative": "kubernetes: {context: 'c in kc.yaml'}",
    "context_within": "kubernetes: {context: 'c within kc.yaml'}",
    "namespace": "kubernetes: {namespace: 'a@c in kc.yaml'}",
    "namespace_path": "kubernetes: {namespace: '../../../api'}",
}, lambda repo, more: repo.kube(plugin(), more=more))


@case
def kubeconfig_fifo(repo):
    repo.kube(None)
    repo.fifo("kc.yaml")


@case
def kubeconfig_link(repo):
    repo.kube(None)
    repo.link("kc.yaml", "../out/kc.yaml")


@case
def kubeconfig_large(repo):
    repo.kube(None)
    repo.write("kc.yaml", "a: " + "x" * (5 << 20))


@case
def kubeconfig_secret_of_environment(repo):
    repo.write("jobs/j.yaml", KUBE % (
        "secrets: {A: {env: AWS_SECRET_ACCESS_KEY}, "
        "B: {file: ../../out/secret}, C: {file: ../s}}"))
    repo.write("s", "x")


# ---- what is merged, shipped, read ------------------------------------------

cases("extends", {
    "shadow": "/etc/shadow",
    "up": "../../out/secret.yaml",
    "git": "../.git/config",
    "environ": "/proc/self/environ",
    "standard_input": "/dev/stdin",
    "endless": "/dev/zero",
    "fifo": "../fifo",
    "link": "../link",
    "linked_folder": "../folder/secret.yaml",
    "self": "j.yaml",
    "dotenv": "../.env",
    "gone_and_up": "../gone/../../out/secret.yaml",
    "folder": "..",
}, lambda repo, path: (repo.fifo("fifo"), repo.link("link", "../out/secret"),
                       repo.link("folder", "../out"),
                       repo.write(".env", f"KEY: {SECRET}-dotenv\n- x\n"),
                       repo.job(f"extends: {path}")))
cases("source", {
    "root": "/",
    "up": "../..",
    "git": "../.git",
    "link": "../folder",
    "fifo": "../fifo",
    "proc": "/proc/self",
    "home": "../../home",
}, lambda repo, path: (repo.link("folder", "../out"), repo.fifo("fifo"),
                       repo.job(f"source: {path}")))
cases("reads", {
    "packages": "packageUris: [/etc/shadow, ../../out/secret, /dev/zero]",
    "job_dir": "jobDir: /etc",
}, lambda repo, more: repo.write(
    "jobs/j.yaml", JOB.replace("scaleTier: BASIC", "scaleTier: BASIC, " +
                               more) % "env: {A: b}"))
cases("field", {
    "secret_file": "secrets: {A: {file: /etc/shadow}}",
    "secret_fifo": "secrets: {A: {file: ../fifo}}",
    "secret_env": "secrets: {A: {env: AWS_SECRET_ACCESS_KEY}}",
    "index_fifo": "data: {t: {urls: [a], index: ../fifo}}",
    "index_up": "data: {t: {urls: [a], index: ../../out/secret}}",
    "index_link": "data: {t: {urls: [a], index: ../link}}",
    "urls_up": "data: {t: {urls: ['../../out/{a,b}', '/etc/{passwd,shadow}']}}",
    "urls_braces": "data: {t: {urls: ['{a,../../out}/{0..9}']}}",
    "kept_outside": "checkpoints: {to: /etc/x}",
    "logs_outside": "logs: {to: ../../out}",
    "hosts_option": "hosts: ['-oProxyCommand=touch " + RAN + "']",
    "hosts_stranger": "hosts: ['u@127.0.0.1:%(stranger)s']",
    "login_host": "provider: slurm, slurm: {loginHost: "
                  "'u@127.0.0.1:%(stranger)s'}",
    "login_host_option": "provider: slurm, slurm: {loginHost: "
                         "'-oProxyCommand=touch " + RAN + "'}",
    "slurm_directory": "provider: slurm, slurm: {directory: /etc}",
    "ssh_key": "provider: tpu-vm, zone: us-central1-b, project: p-1, "
               "tpu-vm: {sshKey: /etc/shadow}",
    "ssh_user": "provider: tpu-vm, zone: us-central1-b, project: p-1, "
                "tpu-vm: {sshUser: \"root:x\\nevil\"}",
    "zone_is_a_host": "provider: vertex-ai, project: p-1, "
                      "zone: '127.0.0.1:%(stranger)s/x-a'",
    "project_is_a_path": "provider: tpu-vm, zone: us-central1-b, "
                         "project: '../../x'",
    "pattern": "metrics: {patterns: {a: '(a*)*(a*)*(a*)*b([0-9]+)'}}",
    "image": "docker: {image: 'a', runFlags: ['-v/:/x']}, hosts: [h]",
}, lambda repo, more: (repo.fifo("fifo"), repo.link("link", "../out/secret"),
                       repo.job(more % {"stranger": repo.world.stranger}
                                if "%(" in more else more)))


@case
def region_is_a_host(repo):
    repo.write("jobs/j.yaml", "jobId: j\ntrainingInput: {scaleTier: BASIC, "
               f"region: '127.0.0.1:{repo.world.stranger}/x'}}\n"
               "jobrun: {provider: vertex-ai, project: p-1}\n")


@case
def source_with_links(repo):
    repo.write("src/train.py", "x")
    for i, target in enumerate(("/etc/shadow", "../../out", "../../home",
                                "/proc/self/environ", "loop")):
        repo.link(f"src/l{i}", target)
    repo.link("src/loop", "loop")
    repo.fifo("src/fifo")
    repo.job("source: ../src")


@case
def source_ignores_by_a_link(repo):
    repo.write("src/train.py", "x")
    repo.link("src/.jobrunignore", "/etc/shadow")
    repo.job("source: ../src")


@case
def source_is_deep(repo):
    repo.write("src/" + "d/" * 100 + "f", "x")
    repo.job("source: ../src")


@case
def source_has_many_files(repo):
    for i in range(5000):
        repo.write(f"src/{i % 50}/{i}", "x")
    repo.job("source: ../src")


# ---- files of the directory -------------------------------------------------

@case
def file_is_a_link(repo):
    repo.link("jobs/j.yaml", "../../out/secret.yaml")
    repo.link("jobs/k.yaml", "/etc/shadow")


@case
def file_is_a_fifo(repo):
    repo.fifo("jobs/j.yaml")
    repo.write("jobs/k.yaml", JOB % "env: {A: b}")


@case
def set_is_a_link(repo):
    repo.link("jobs/.jobrun-applyset", "../../out/secret")
    repo.job("env: {A: b}")


@case
def git_is_elsewhere(repo):
    shutil.rmtree(repo.root + "/.git")
    repo.write(".git", "gitdir: ../out\n")
    repo.job("source: ../../out")


@case
def git_has_a_fifo(repo):
    os.unlink(repo.root + "/.git/config")
    repo.fifo(".git/config")
    repo.job("env: {A: b}")


@case
def git_has_links(repo):
    os.unlink(repo.root + "/.git/config")
    repo.link(".git/config", "../../out/secret")
    repo.link(".git/commondir", "/etc/shadow")
    repo.job("env: {A: b}")


@case
def names_of_terminals(repo):
    repo.write("jobs/a\x1b[2J\n::stop-commands::x.yaml", JOB % "env: {A: b}")


@case
def bomb_of_aliases(repo):
    lines = ["x-a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for old, new in zip("abcdefgh", "bcdefghi"):
        lines.append(f"x-{new}: &{new} [" + ", ".join([f"*{old}"] * 10) + "]")
    repo.write("jobs/j.yaml", "\n".join(lines) + "\n" + JOB % "env: {A: b}")


@case
def eight_megabytes_of_text(repo):
    repo.write("jobs/j.yaml", JOB % "env: {A: b}" + "#" * ((8 << 20) - 200))


@case
def eight_megabytes_of_problems(repo):
    for i in range(200):
        repo.write(f"jobs/{i}.yaml", f"jobId: j{i}\ntrainingInput:\n" +
                   "  strange: 1\n" * 3000)


@case
def binary(repo):
    repo.write("jobs/j.yaml", b"jobId: j\x00\xff\xfe trainingInput:" * 1000)


@case
def half_a_million_trials(repo):
    for i in range(60):
        repo.write(f"jobs/{i}.yaml", f"jobId: j{i}\ntrainingInput:\n"
                   "  scaleTier: BASIC\n"
                   "  masterConfig: {imageUri: busybox}\n  hyperparameters: {"
                   "goal: MAXIMIZE, hyperparameterMetricTag: m, maxTrials: "
                   "10000, algorithm: RANDOM_SEARCH, params: [{parameterName: "
                   "x, type: INTEGER, minValue: 0, maxValue: 9999}]}\n"
                   "jobrun: {provider: kubernetes, command: [a], "
                   "kubernetes: {launcher: l}}\n")


@case
def trials_without_end(repo):
    repo.write("jobs/j.yaml", "jobId: j\ntrainingInput:\n"
               "  scaleTier: BASIC\n"
               "  hyperparameters: {goal: MAXIMIZE, maxTrials: 2000000000, "
               "params: [{parameterName: x, type: DOUBLE, minValue: 0, "
               "maxValue: 1}]}\njobrun: {command: [a]}\n")


@case
def braces_by_the_hundred(repo):
    urls = ", ".join(f"d{i}: {{urls: ['gs://b/{{000000..999998}}.tar']}}"
                     for i in range(300))
    repo.job(f"data: {{{urls}}}")


@case
def braces_without_end(repo):
    urls = ", ".join(f"d{i}: {{urls: ['gs://b/{{1..999}}{'{' * 3000}']}}"
                     for i in range(300))
    repo.job(f"data: {{{urls}}}")


@case
def eight_megabytes_of_jobs(repo):
    for i in range(400):
        repo.write(f"jobs/{i}.yaml", "---\n".join(
            f"jobId: j{i}_{n}\ntrainingInput: {{}}\n" for n in range(600)))


@case
def thousand_jobs_of_one_source(repo):
    repo.write("src/blob", os.urandom(6 << 20))
    for i in range(1000):
        repo.write(f"jobs/{i}.yaml", JOB.replace("jobId: j", f"jobId: j{i}") %
                   "source: ../src")


# ---- running them -----------------------------------------------------------

class World:
    """What lies beside the repository, and who must not be asked."""

    def __init__(self, folder):
        self.folder = folder
        # Nobody answers there: a connection is refused, and seen.
        self.sockets = [socket.socket() for _ in range(2)]
        for one in self.sockets:
            one.bind(("127.0.0.1", 0))
        self.own, self.stranger = (str(one.getsockname()[1])
                                   for one in self.sockets)

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def fill(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.path("plans"))
        self.put("out/secret", f"{SECRET}-file\nssh-rsa {SECRET}\n")
        self.put("out/secret.yaml", f"jobrun: {{env: {{A: {SECRET}-yaml}}}}\n"
                 f"{SECRET}: {SECRET}\n")
        self.put("out/HEAD", "ref: refs/heads/main\n")
        self.put("out/config", f'[remote "origin"]\n\turl = {SECRET}\n')
        self.put("out/kc.yaml", KUBECONFIG % (self.stranger, "", plugin()))
        self.put("home/.ssh/id_ed25519", f"{SECRET}-ssh\n")
        self.put("home/.kube/config",
                 KUBECONFIG % (self.own, "", f"token: {SECRET}-kube"))
        self.put("key.json", '{"type": "authorized_user", "client_id": "c", '
                 f'"client_secret": "{SECRET}-google", "refresh_token": '
                 f'"{SECRET}-refresh"}}')

    def environment(self):
        google = f"http://127.0.0.1:{self.own}"
        out = {
            "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
            "HOME": self.path("home"), "CI": "true",
            "JOBRUN_STATE_DIR": self.path("state"),
            "GOOGLE_APPLICATION_CREDENTIALS": self.path("key.json"),
            "GOOGLE_OAUTH_ACCESS_TOKEN": f"{SECRET}-token",
            "ASAN_OPTIONS": "detect_leaks=0",
            "NO_GCE_CHECK": "true", "STORAGE_EMULATOR_HOST": google,
        }
        for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "HF_TOKEN",
                     "JOBRUN_GITLAB_TOKEN", "CI_JOB_TOKEN"):
            out[name] = f"{SECRET}-{name}"
        for name in ("ML", "AIPLATFORM", "COMPUTE", "TPU", "LOGGING",
                     "SERVICEUSAGE", "CLOUDRESOURCEMANAGER"):
            out[f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{name}"] = google + "/"
        return out


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(world, argv, output, seconds):
    """Returns seconds and megabytes; ends it after a while.  They are those of
    its own work, as others may keep the machine busy, but for one that hangs.
    """
    began = time.monotonic()
    with open(output, "wb") as file:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            env=world.environment(), cwd=world.path("repo"),
            start_new_session=True, preexec_fn=limit)
        while True:
            pid, _, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > seconds:
                os.killpg(process.pid, signal.SIGKILL)
                _, _, usage = os.wait4(process.pid, 0)
                return seconds, usage.ru_maxrss / 1024
            time.sleep(0.005)
        process.returncode = 0  # it was waited for
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def unquote(text):
    return text.encode().decode("unicode_escape")


def look_at(world, trace, started):
    """What the trace has that must not be there."""
    wrong = []
    allowed = [world.path(name) for name in ("repo", "state", "key.json",
                                             "home/.kube", "home/.config",
                                             "home/.cache/jobrun/digests",
                                             "plans")]
    with open(trace, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = OPENS.match(line)
            if not match:
                continue
            call, rest = match.groups()
            if call == "connect":
                port = re.search(r"sin6?_port=htons\((\d+)\)", rest)
                if port and port[1] not in (world.own, "53"):
                    wrong.append(f"connects: {rest.strip()[:120]}")
                continue
            name = re.search(r'"((?:[^"\\]|\\.)*)"', rest)
            path = unquote(name[1]) if name else ""
            if call == "execve":
                if path != started:
                    wrong.append(f"runs {path}")
                continue
            at = re.match(r"(?:AT_FDCWD|\d+)<([^>]*)>", rest)
            where = os.path.join(unquote(at[1]) if at else
                                 world.path("repo"), path)
            # The kernel follows links; what was opened is behind "= ".
            real = re.search(r"= \d+<(.*)>\s*$", rest)
            where = unquote(real[1]) if real else os.path.normpath(where)
            if SYSTEM.match(where) or where.startswith("/proc/"
               ) and (SLOWER > 1 or "environ" not in where):
                continue
            if any(where == one or where.startswith(one + "/")
                   for one in allowed):
                continue
            if "O_PATH" in rest or where == "/" and "O_DIRECTORY" in rest:
                continue
            wrong.append(f"opens {where}")
    return wrong


def check(world, jobrun, name):
    world.fill()
    CASES[name](Repository(world))
    wrong = []
    output, trace = world.path("output"), world.path("trace")
    strace = ["strace", "-f", "-y", "-qq", "-s", "4096", "-o", trace, "-e",
              "trace=open,openat,openat2,creat,execve,connect"]
    worst = (0, 0)
    for traced, command in (
            (True, ["validate", "jobs"]),
            (True, ["plan", "--out", world.path("plans/saved"), "jobs"]),
            (False, ["plan", "jobs"]),
            (False, ["plan", "--format", "markdown", "jobs"])):
        if traced:
            run(world, [*strace, jobrun, *command], output,
                6 * SECONDS * SLOWER)
            wrong += look_at(world, trace, jobrun)
        else:
            took, size = run(world, [jobrun, *command], output,
                             6 * SECONDS * SLOWER)
            worst = max(worst[0], took), max(worst[1], size)
        with open(output, "rb") as file:
            text = file.read()
        if SECRET.encode() in text:
            at = text.index(SECRET.encode())
            wrong.append(f"shows {text[max(0, at - 60):at + 40]!r}")
        if b"Sanitizer" in text or b"root:" in text and b"$" in text:
            wrong.append(f"says {text[:300]!r}")
    if os.path.exists(world.path("plans/saved")):
        with open(world.path("plans/saved"), "rb") as file:
            if SECRET.encode() in file.read():
                wrong.append("the saved plan holds a secret")
    if os.path.exists(RAN):
        wrong.append("ran a program")
    if worst[0] > SECONDS * SLOWER:
        wrong.append(f"takes {worst[0]:.1f} s")
    if worst[1] > MEGABYTES * SLOWER:
        wrong.append(f"takes {worst[1]:.0f} MiB")
    print(f"{'WRONG' if wrong else 'ok':5} {name:36} {worst[0]:6.2f} s "
          f"{worst[1]:5.0f} MiB", flush=True)
    for line in sorted(set(wrong)):
        print(f"      {line}", flush=True)
    return not wrong


def main():
    jobrun = os.path.abspath(sys.argv[1])
    names = sys.argv[3:] or list(CASES)
    if names[0].startswith("every="):
        names = list(CASES)[::int(names[0][6:])]
    world = World(FOLDER)
    good = sum(check(world, jobrun, name) for name in names)
    shutil.rmtree(world.folder, ignore_errors=True)
    print(f"{good} of {len(names)} repositories did no harm")
    return good != len(names)


if __name__ == "__main__":
    sys.exit(main())
