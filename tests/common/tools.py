"""Installs the programs that comparisons need, and ends a comparison without them.

TERRAPIN_CLIENTS is the folder for installed programs; the default is in ~/.cache.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path(os.environ.get("TERRAPIN_CLIENTS", Path.home() / ".cache" / "terrapin-clients"))


def skip(why):
    """Ends the program with exit status 77: a requirement is missing."""
    print(f"skipped: {Path(sys.argv[0]).resolve().parent.name}: {why}")
    sys.exit(77)


def once(name, key, make):
    """Returns a folder that `make` fills. It is kept and used again while `key` stays the same."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    folder = CACHE / f"{name}-{digest}"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        make(folder)
        (folder / "complete").touch()
    elif not (folder / "complete").exists():
        shutil.rmtree(folder)
        return once(name, key, make)
    return folder


def install(command, what, **more):
    """Runs a command that installs `what`. If it fails, skips the comparison."""
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        last = (done.stdout + done.stderr).strip().splitlines()[-3:]
        skip(f"{what} cannot be installed: " + " / ".join(last))


def programs(name, what, *arguments, requirements=None):
    """Returns the folder of programs of a virtual environment. `arguments` are pip's; `requirements` is a file."""
    wanted = [*arguments, *(["-r", requirements] if requirements else [])]
    key = " ".join(arguments) + (requirements.read_text() if requirements else "")

    def make(folder):
        install([sys.executable, "-m", "venv", folder], "a virtual environment")
        install([folder / "bin" / "pip", "install", "--quiet", *wanted], what)

    return once(name, sys.version + key, make) / "bin"
