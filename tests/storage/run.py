#!/usr/bin/env python3
"""Sends a snapshot to a server that speaks S3 and fetches it again: whole, after a kill, past a damaged byte.

    tests/storage/run.py SNAPSHOT

TERRAPIN is the program (else the release build). Exit status 77: what is needed is not here; the last line says what.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
from tools import programs  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = os.environ.get("TERRAPIN", str(TARGET / "release" / "terrapin"))


# The server is on this machine: no proxy between.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"


def python():
    return programs("storage", "the server", requirements=HERE / "requirements.txt")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(address):
    for _ in range(200):
        try:
            return urllib.request.urlopen(address, timeout=5).read()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"no answer from {address}")


def main():
    snapshot = Path(sys.argv[1])
    port = free_port()
    server = f"http://127.0.0.1:{port}"
    log = tempfile.TemporaryFile()
    process = subprocess.Popen([python() / "moto_server", "-p", str(port)], stdout=log, stderr=log)
    try:
        wait_for(f"{server}/moto-api/")
        urllib.request.urlopen(urllib.request.Request(f"{server}/bench", method="PUT"))
        with tempfile.TemporaryDirectory() as folder:
            check(snapshot, server, Path(folder))
    finally:
        process.terminate()
        process.wait()


def terrapin(*args):
    env = dict(os.environ, AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="us-east-1")
    return subprocess.Popen([PROGRAM, *map(str, args), "--json"], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process, status=0):
    out, err = process.communicate()
    assert process.returncode == status, (process.returncode, out, err)
    return json.loads(out or err)


def check(snapshot, server, folder):
    whole = snapshot.read_bytes()
    place = ["s3://bench/snapshots"]
    settings = ["--set", f"aws_endpoint={server}", "--set", "aws_allow_http=true"]
    begin = time.time()
    pushed = ended(terrapin("push", snapshot, *place, *settings))
    assert not pushed["was_there"] and pushed["bytes"] == len(whole)
    print(f"sent {len(whole) / 1e6:.0f} MB in {time.time() - begin:.1f} s")
    assert ended(terrapin("push", snapshot, *place, *settings))["was_there"]

    digest, out = pushed["digest"], folder / "out.terrapin"
    begin = time.time()
    pulled = ended(terrapin("pull", *place, digest, "--out", out, *settings))
    assert pulled["received"] == len(whole) and out.read_bytes() == whole
    print(f"received and checked in {time.time() - begin:.1f} s")

    # Killed while it receives, it goes on; whenever that is.
    part, kept = folder / f".again.terrapin.{digest}.pull", []
    for sign in [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGINT]:
        child = terrapin("pull", *place, digest, "--out", folder / "again.terrapin", *settings)
        at_least = (kept[-1] if kept else 0) + (8 << 20)
        while child.poll() is None and (not part.exists() or part.stat().st_size < at_least):
            time.sleep(0.001)
        child.send_signal(sign)
        child.communicate()
        if not part.exists():
            break
        kept.append(part.stat().st_size)
    again = ended(terrapin("pull", *place, digest, "--out", folder / "again.terrapin", *settings))
    assert (folder / "again.terrapin").read_bytes() == whole
    print(f"killed with {[f'{size / 1e6:.0f} MB' for size in kept]}: received {again['received'] / 1e6:.0f} MB more")

    # The same over HTTP alone, from where anybody may read.
    plain = ended(terrapin("pull", f"{server}/bench/snapshots/{digest}.terrapin", "--out", folder / "plain.terrapin", "--set", "allow_http=true"))
    assert plain["digest"] == digest and (folder / "plain.terrapin").read_bytes() == whole

    # A byte that was changed in the storage.
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    address, headers = f"{server}/bench/snapshots/{digest}.terrapin", {"Content-Type": "application/octet-stream"}
    request = urllib.request.Request(address, data=bytes(damaged), headers=headers, method="PUT")
    urllib.request.urlopen(request)
    error = ended(terrapin("pull", *place, digest, "--out", folder / "damaged.terrapin", *settings), status=1)
    assert error["error"]["code"] == "snapshot-damaged", error
    assert not (folder / "damaged.terrapin").exists()

    error = ended(terrapin("pull", *place, "0" * 64, "--out", folder / "absent.terrapin", *settings), status=3)
    assert error["error"]["code"] == "storage", error
    print("ok")


main()
