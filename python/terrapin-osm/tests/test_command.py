"""The command `terrapin` of the package: the program's command line, with its exit statuses."""

import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "terrapin_osm", *arguments], capture_output=True, text=True, timeout=60)


def test_version_names_target_and_features() -> None:
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("terrapin ")
    assert "\ntarget " in done.stdout and "\nfeatures " in done.stdout


def test_exit_statuses_are_the_programs(tmp_path: Path) -> None:
    assert run("quary").returncode == 2
    missing = run("info", str(tmp_path / "missing.terrapin"))
    assert missing.returncode == 3
    assert "missing.terrapin" in missing.stderr


def test_the_script_is_installed() -> None:
    script = Path(sys.executable).with_name("terrapin")
    if not script.exists():
        pytest.skip("the package is copied, not installed")
    assert "Usage: terrapin" in subprocess.run([str(script), "--help"], capture_output=True, text=True, timeout=60).stdout
