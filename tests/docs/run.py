#!/usr/bin/env python3
"""Runs the console blocks of README.md and of the pages in docs/, and compares their output.

    tests/docs/run.py                 all pages
    tests/docs/run.py guides/scoring  pages with this text in their path
    tests/docs/run.py --write ...     replaces different outputs in the pages; review the result

A console block has lines `$ command`, each followed by its output. The blocks of a page run in order, in one bash and
in a folder of the page. The folder has `malta.terrapin` and `malta-latest.osm.pbf` of `make demo`, copies of the files in
`tests/docs/files`, and links to `demo`, `scripts`, `snapshots` and `tests` of the checkout. Rules:

- A command without output in the page may print anything. A command has to end with status 0, unless its output in the
  page has a line that begins with `error:`, or the page says `; echo $?`.
- Lines of progress on standard error (`sorting nodes   0.4 s`) are not compared.
- `…` in an output stands for any text within a line, a line `…` for any lines.
- A server (`terrapin serve`) runs until the end of the page, or until the next one. The port 8080 of the page is
  replaced by a free one.
- `<!-- not run: reason -->` before a block: the block is not run. The reasons are counted and printed.
- `<!-- run: command -->`, on one or more lines: a command that the reader does not see, such as one that writes a file.

TERRAPIN is the program, SNAPSHOT the demo's snapshot. Blocks in other languages are not run.
"""

import argparse
import concurrent.futures
import difflib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
SECONDS = 300
MARK = "\x01status "
PROGRESS = re.compile(r"^[a-z][a-z. ]* +[0-9.]+ s\n", re.M)
ITEM = re.compile(
    r"^ *<!-- run: ?(?P<hidden>.*?) ?-->$"
    r"|^ *<!-- not run: (?P<reason>[^\n]*?) -->$"
    r"|^(?P<indent> *)```(?P<language>console|sh|bash|shell)\n(?P<text>.*?)^ *```$",
    re.M | re.S,
)


class Failure(Exception):
    """A command that does not do what the page says. Its text is for the reader."""


def incomplete(command):
    """Returns whether a command goes on in the next line."""
    if command.endswith("\\"):
        return True
    here = re.search(r"<<-?\s*'?(\w+)'?", command)
    if here and not re.search(rf"^{here[1]}$", command, re.M):
        return True
    return subprocess.run(["bash", "-n"], input=command, text=True, stderr=subprocess.DEVNULL).returncode != 0


def commands(text):
    """Returns the commands of a block, each with its output and the index of the output's first line."""
    lines, out, at = text.split("\n")[:-1], [], 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            raise Failure(f"the block does not begin with a command: {lines[at]!r}")
        command = lines[at][2:]
        at += 1
        while incomplete(command) and at < len(lines):
            command += "\n" + lines[at]
            at += 1
        first = at
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        out.append((command, lines[first:at], first))
    return out


def pattern(lines):
    """Returns a regular expression for the lines of an output."""
    parts = []
    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append("[^\n]*?".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ \t]*\n")
    return re.compile("".join(parts))


def free_port():
    with socket.socket() as socket_:
        socket_.bind(("127.0.0.1", 0))
        return socket_.getsockname()[1]


class Shell:
    """A bash in the folder of a page."""

    def __init__(self, folder, environment):
        self.folder, self.server, self.port = folder, None, free_port()
        self.environment = environment
        self.bash = subprocess.Popen(
            ["bash", "--norc"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        # A program that waits for input would wait forever.
        self.bash.stdin.write("set -o pipefail\n")

    def run(self, command):
        """Returns the output and the status of a command."""
        command = re.sub(r"\b8080\b", str(self.port), command)
        if re.match(r"(\w+=\S+ )*terrapin serve (?!.*(--check-config|--help))", command):
            return self.serve(command.split("#")[0].strip().rstrip("&"))
        file = self.folder / ".command"
        file.write_text(command + "\n")
        try:
            self.bash.stdin.write(f". ./.command </dev/null; printf '{MARK}%s\\n' $?\n")
            self.bash.stdin.flush()
        except BrokenPipeError:
            raise Failure("the shell has ended") from None
        timer = concurrent.futures.ThreadPoolExecutor(1)
        lines = timer.submit(self.lines)
        try:
            output, status = lines.result(SECONDS)
        except concurrent.futures.TimeoutError:
            os.killpg(self.bash.pid, signal.SIGKILL)
            raise Failure(f"no end within {SECONDS} seconds") from None
        finally:
            timer.shutdown(wait=False)
        return re.sub(rf"\b{self.port}\b", "8080", output), status

    def lines(self):
        out = []
        for line in self.bash.stdout:
            head, found, status = line.partition(MARK)
            if found:
                return "".join(out) + (head + "\n" if head else ""), int(status)
            out.append(line)
        raise Failure("the shell ended: " + "".join(out))

    def serve(self, command):
        self.stop()
        if "--bind" not in command:
            command += f" --bind 127.0.0.1:{self.port}"
        log = self.folder / ".server"
        with log.open("w") as file:
            self.server = subprocess.Popen(
                ["bash", "-c", "exec " + command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=file, stderr=file, start_new_session=True,
            )  # fmt: skip
        for _ in range(150):
            if self.server.poll() is not None:
                return log.read_text(), self.server.returncode
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/services", timeout=5)
                return re.sub(rf"\b{self.port}\b", "8080", log.read_text()), 0
            except urllib.error.HTTPError:
                return log.read_text(), 0
            except OSError:
                time.sleep(0.1)
        raise Failure("the server does not answer: " + log.read_text())

    def stop(self):
        if self.server and self.server.poll() is None:
            self.server.kill()
            self.server.wait()

    def close(self):
        self.stop()
        try:
            os.killpg(self.bash.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.bash.wait()


def check(output, status, lines):
    """Compares what a command printed with what the page shows."""
    output = PROGRESS.sub("", output)
    fails = any(line.startswith("error:") for line in lines)
    if status and not fails:
        raise Failure(f"status {status}:\n{output}")
    if lines and not pattern(lines).fullmatch(output if output.endswith("\n") or not output else output + "\n"):
        difference = difflib.unified_diff(lines, output.rstrip("\n").split("\n"), "page", "printed", lineterm="")
        raise Failure("\n".join(difference))


def run(page, program, snapshot, extract, write):
    """Runs a page. Returns the numbers of commands and blocks, the reasons of blocks that were not run, and the failures."""
    text = page.read_text(encoding="utf-8")
    count, reasons, failures, changes = [0, 0], [], [], []
    items = list(ITEM.finditer(text))
    if not any(item["language"] for item in items):
        return count, reasons, failures
    with tempfile.TemporaryDirectory(prefix="terrapin-docs-") as temporary:
        folder = Path(temporary)
        shutil.copy(snapshot, folder / "malta.terrapin")
        shutil.copy(extract, folder / "malta-latest.osm.pbf")
        for file in (HERE / "files").iterdir():
            shutil.copy(file, folder)
        for name in ("demo", "scripts", "snapshots", "tests"):
            (folder / name).symlink_to(TOP / name)
        (folder / ".bin").mkdir()
        (folder / ".bin" / "terrapin").symlink_to(program)
        # A page shows what a server answers with success; curl's meter is not of interest.
        curl = folder / ".bin" / "curl"
        curl.write_text(f'#!/bin/sh\nexec {shutil.which("curl")} --fail-with-body -sS "$@"\n')
        curl.chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TERRAPIN")}
        environment |= {"PATH": f"{folder}/.bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        shell = Shell(folder, environment)
        try:
            skipped = None
            for item in items:
                line = text.count("\n", 0, item.start()) + 1
                if item["reason"]:
                    skipped = item["reason"]
                    continue
                if skipped is not None and item["language"]:
                    reasons.append(skipped)
                    skipped = None
                    continue
                if item["hidden"] is not None:
                    output, status = shell.run(item["hidden"].strip("\n"))
                    if status:
                        raise Failure(f"{page.relative_to(TOP)}:{line}: hidden command: status {status}:\n{output}")
                    continue
                if item["language"] != "console":
                    failures.append(f"{page.relative_to(TOP)}:{line}: write `console` and `$ ` before each command")
                    continue
                indent = item["indent"]
                count[1] += 1
                block = "".join(one.removeprefix(indent) + "\n" for one in item["text"].split("\n")[:-1])
                body = block.split("\n")[:-1]
                for command, lines, first in nonempty(commands(block)):
                    count[0] += 1
                    where = f"{page.relative_to(TOP)}:{line + 1 + first}: $ {command}"
                    try:
                        output, status = shell.run(command)
                        check(output, status, lines)
                    except Failure as failure:
                        failures.append(f"{where}\n{failure}")
                        if shell.bash.poll() is not None:
                            raise
                        if write and lines:
                            changes.append((item, body, first, lines, PROGRESS.sub("", output)))
        except Failure as failure:
            if not failures or str(failure) not in failures[-1]:
                failures.append(str(failure))
        finally:
            shell.close()
    if changes:
        rewrite(page, text, changes)
    return count, reasons, failures


def nonempty(found):
    """Returns the commands in their order. A block without any is a mistake."""
    if not found:
        raise Failure("a block without a command")
    return found


def rewrite(page, text, changes):
    """Writes the printed outputs into a page, from its end to its beginning."""
    for item, body, first, lines, output in reversed(changes):
        start = item.start("text") + sum(len(item["indent"]) + len(line) + 1 for line in body[:first])
        end = start + sum(len(item["indent"]) + len(line) + 1 for line in lines)
        new = "".join(item["indent"] + line.rstrip() + "\n" for line in output.rstrip("\n").split("\n"))
        text = text[:start] + new + text[end:]
    page.write_text(text, encoding="utf-8")


def demo():
    """Returns the program, the demo's snapshot and its extract; makes the last two if they are missing."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
    program = Path(os.environ.get("TERRAPIN", target / "release" / "terrapin"))
    if not program.exists():
        sys.exit(f"docs: {program} is missing: run `make build`, or set TERRAPIN")
    folder = TOP / "target" / "demo"
    snapshot, extract = Path(os.environ.get("SNAPSHOT", folder / "malta.terrapin")), folder / "malta-latest.osm.pbf"
    if not extract.exists():
        subprocess.run([TOP / "scripts" / "extract", folder], check=True, stdout=subprocess.DEVNULL)
    if not snapshot.exists():
        subprocess.run([program, "load", "--osm", extract, "--out", snapshot], check=True, stdout=subprocess.DEVNULL)
    return program.resolve(), snapshot, extract


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", help="parts of the paths of pages; default: all pages")
    parser.add_argument("--write", action="store_true", help="replace different outputs in the pages")
    arguments = parser.parse_args()
    pages = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
    if arguments.pages:
        pages = [page for page in pages if any(part in str(page.relative_to(TOP)) for part in arguments.pages)]
    found = demo()
    began, count, blocks, reasons, failed = time.monotonic(), 0, 0, [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for page, result in zip(pages, pool.map(lambda page: run(page, *found, arguments.write), pages)):
            commands_, reasons_, failures = result
            count += commands_[0]
            blocks += commands_[1]
            reasons += [(reason, page) for reason in reasons_]
            failed += len(failures)
            for failure in failures:
                print(failure, end="\n\n")
    for reason in sorted({reason for reason, _ in reasons}):
        places = [page.stem for other, page in reasons if other == reason]
        print(f"not run: {len(places)} blocks: {reason} ({', '.join(sorted(set(places)))})")
    print(f"docs: {count} commands in {blocks} blocks, {failed} failed, {len(reasons)} blocks not run, {time.monotonic() - began:.0f} s")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
