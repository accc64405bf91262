"""Measures commands, servers and workers: processor time (user and system), wall time and memory.

Times are in seconds. A median is over the runs of one command or query. Processor time is that of the process and of
the children that it waited for; that of a server is read from the clock of its process before and after a request.
"""

import contextlib
import json
import os
import resource
import select
import signal
import statistics
import subprocess
import tempfile
import time


# Seconds of processor time of a short run.
SHORT = 0.02


class Failed(Exception):
    """A peer failed, or needed more than its time limit. The message is for the table."""


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def summary(runs, **more):
    """The medians of some runs, with all of them."""
    return {"cpu": median(runs, "cpu"), "wall": median(runs, "wall"), "rss": max(run.get("rss", 0) for run in runs),
            "runs": len(runs), "all": [{key: run[key] for key in ("cpu", "wall")} for run in runs], **more}


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].strip()[:200] if lines else "no message"


def run(command, stdin=None, limit=600, cwd=None, env=None):
    """Runs a command to its end: processor time, wall time, largest resident set in bytes, standard output."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source = open(stdin, "rb") if isinstance(stdin, os.PathLike) else None
        began = time.monotonic()
        process = subprocess.Popen([str(part) for part in command], stdin=source or (subprocess.PIPE if stdin else
                                   subprocess.DEVNULL), stdout=out, stderr=err, cwd=cwd, env=env, start_new_session=True)
        if source:
            source.close()
        elif stdin:
            process.stdin.write(stdin.encode())
            process.stdin.close()
        usage, status = wait(process, began + limit)
        wall = time.monotonic() - began
        if status is None:
            raise Failed(f"stopped after {limit} s")
        out.seek(0)
        err.seek(0)
        stdout, stderr = out.read().decode(errors="replace"), err.read().decode(errors="replace")
        if status != 0:
            raise Failed(f"exit status {status}: {last_line(stderr or stdout)}")
    return {"cpu": usage.ru_utime + usage.ru_stime, "wall": wall, "rss": usage.ru_maxrss * 1024, "out": stdout, "err": stderr}


def wait(process, deadline):
    """Waits for a process and ends its group at the deadline: its usage, and its exit status or None."""
    pause = 0.0005
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage, process.returncode
        if time.monotonic() > deadline:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = -9
            return usage, None
        time.sleep(pause)
        pause = min(pause * 1.1, 0.05)


def cpu_of(pid):
    """The processor time of a running process with all of its threads, in seconds: its clock has nanoseconds."""
    return time.clock_gettime((~pid << 3) | 2)


def tree_cpu(pid):
    """The processor time of a process, of its running children and of those it waited for, in ticks of 10 ms."""
    tick = os.sysconf("SC_CLK_TCK")

    def fields(of):
        with open(f"/proc/{of}/stat") as file:
            return file.read().rpartition(")")[2].split()

    total = sum(map(int, fields(pid)[11:15]))
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            if entry.isdigit() and fields(entry)[1] == str(pid):
                total += sum(map(int, fields(entry)[11:15]))
    return total / tick


def children(since=None):
    """The times of all children that have ended, or of those that ended after an earlier call."""
    usage, now = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    found = {"cpu": usage.ru_utime + usage.ru_stime, "wall": now}
    return {key: found[key] - since[key] for key in found} if since else found


class Worker:
    """A process that answers one JSON line for each JSON line: for libraries that run queries in a process of their own.

    A worker that takes more processor time than the limit, or ten times as long, is ended, and started again for the next
    query.
    """

    def __init__(self, command, limit=10, start_limit=300, env=None):
        self.command, self.limit, self.start_limit, self.env = [str(part) for part in command], limit, start_limit, env
        self.process = None

    def start(self):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        env=self.env)
        self.ready = self.read(self.start_limit)

    def read(self, limit):
        """One line; bytes are read unbuffered so that `select` sees all of them."""
        line, deadline, cpu = b"", time.monotonic() + 10 * limit, cpu_of(self.process.pid) + limit
        while not line.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], 0.5)[0]:
                if time.monotonic() > deadline or cpu_of(self.process.pid) > cpu:
                    self.stop()
                    raise Failed(f"over {limit:g} s")
                continue
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                self.errors.seek(0)
                message = last_line(self.errors.read().decode(errors="replace"))
                self.stop()
                raise Failed(f"ended: {message}")
            line += part
        return json.loads(line)

    def ask(self, **request):
        """The answer to a request with the processor time and wall time that it took."""
        if not self.process:
            self.start()
        pid = self.process.pid
        before, began = cpu_of(pid), time.monotonic()
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = self.read(self.limit)
        wall = time.monotonic() - began
        if "error" in answer:
            raise Failed(last_line(answer["error"]))
        return {"wall": wall, "cpu": cpu_of(pid) - before, **answer}

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def interleaved(askers, rounds, warm=1):
    """Calls each of the functions in turn, `rounds` times after `warm` rounds that are not counted.

    Returns for each name the summary of its runs, or `{"cannot": why}` if it failed. The runs of all are in the same
    moments, so that other load on the machine meets them alike. A short run counts when it follows one of the same program:
    after a longer one of another program, the processor's caches would be that one's.
    """
    results = {name: [] for name in askers}
    failed = {}
    for turn in range(rounds + warm):
        for name, ask in askers.items():
            if name in failed:
                continue
            try:
                answer = ask()
                if answer["cpu"] < SHORT and warm:
                    answer = ask()
                if turn >= warm:
                    results[name].append(answer)
            except Failed as error:
                failed[name] = {"cannot": str(error)}
    kept = ("count", "digest", "size")
    return {name: failed.get(name) or summary(runs, **{key: runs[-1][key] for key in kept if key in runs[-1]})
            for name, runs in results.items()}
