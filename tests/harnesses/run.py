#!/usr/bin/env python3
"""The package terrapin-tasks, and the environment for the Environments Hub, in each harness that it is for: `run.py`, or `run.py HARNESS...`.

Each harness has an environment of its own in ~/.cache/terrapin-harnesses (XDG_CACHE_HOME), of PyPI's packages; TRL's takes some
gigabytes. In it its test runs a scripted model end to end, and holds the harness's numbers against those of `terrapin eval`.

WHEEL is the wheel of terrapin-osm, else the newest of `scripts/wheel`; TERRAPIN is the program, else the release build.
TERRAPIN_MALTA is a snapshot of malta-2016.osm.pbf, made where there is none. Exit status 77: something is not here.
"""

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
PACKAGE = TOP / "python" / "terrapin-tasks"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "terrapin-harnesses"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))

ENVIRONMENT = TOP / "python" / "environments" / "terrapin_query"

# What each needs besides pytest, and its test.
HARNESSES = {
    "core": ([], "test_core.py"),
    "evaluate": (["evaluate>=0.4.6"], "test_evaluate.py"),
    "dspy": (["dspy>=3"], "test_dspy.py"),
    "inspect": (["inspect-ai>=0.3.200"], "test_inspect.py"),
    "lm-eval": (["lm-eval>=0.4.9"], "test_lm_eval.py"),
    "trl": (["trl>=1"], "test_trl.py"),
    "verifiers": (["verifiers>=0.4", "uv"], "test_verifiers.py"),
    "ray": (["ray>=2.40"], "test_ray.py"),
    # The environment with both generations of verifiers.
    "environment": (["verifiers>=0.4", "hatchling"], "test_environment.py"),
    "environment-0.1": (["verifiers==0.1.14", "hatchling"], "test_environment.py"),
}


def skip(why):
    print(f"skipped: harnesses: {why}")
    sys.exit(77)


def environment(name, needs):
    """A Python with what a harness needs, kept for the next time; nothing where it cannot be had."""
    folder = CACHE / name
    wanted = "\n".join([sys.version, "pytest", *needs])
    note = folder / "installed.txt"
    if not note.exists() or note.read_text() != wanted:
        for command in (
            [sys.executable, "-m", "venv", folder],
            [folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "pytest>=8", *needs],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                print(f"{name}: cannot be installed: " + " / ".join(done.stderr.strip().splitlines()[-2:]))
                return None
        note.write_text(wanted)
    return folder / "bin"


def main():
    wheels = sorted((TARGET / "wheels").glob("terrapin_osm-*.whl"))
    wheel = os.environ.get("WHEEL") or (wheels and wheels[-1])
    if not wheel:
        skip("no wheel: `scripts/wheel build`, or set WHEEL")
    program = Path(os.environ.get("TERRAPIN", TARGET / "release" / "terrapin"))
    if not program.exists():
        skip(f"{program} is not there: `make build`, or set TERRAPIN")
    shared = os.environ.get("TERRAPIN_SHARED", TOP.parent / "shared")
    asked = sys.argv[1:] or list(HARNESSES)
    unknown = [name for name in asked if name not in HARNESSES]
    if unknown:
        sys.exit(f"no such harness: {', '.join(unknown)}; there are {', '.join(HARNESSES)}")
    wrong, missing = [], []
    for name in asked:
        needs, test = HARNESSES[name]
        found = environment(name, needs)
        if found is None:
            missing.append(name)
            continue
        install = [found / "pip", "install", "-q", "--disable-pip-version-check", "--force-reinstall", "--no-deps"]
        folder = ENVIRONMENT if test == "test_environment.py" else PACKAGE
        subprocess.run([*install, wheel, PACKAGE, *([folder] if folder != PACKAGE else [])], check=True)
        print(f"== {name}", flush=True)
        settings = {"TERRAPIN": program, "TERRAPIN_SHARED": shared, "PATH": f"{found}:{os.environ['PATH']}"}
        # Nothing is fetched and nothing is told to anybody.
        settings |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "RAY_USAGE_STATS_ENABLED": "0"}
        command = [found / "python", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", f"tests/{test}"]
        done = subprocess.run(command, cwd=folder, env={**os.environ, **{k: str(v) for k, v in settings.items()}})
        if done.returncode != 0:
            wrong.append(name)
    if wrong:
        sys.exit(f"harnesses: wrong: {', '.join(wrong)}")
    if missing:
        skip(", ".join(missing))


if __name__ == "__main__":
    main()
