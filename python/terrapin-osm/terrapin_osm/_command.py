"""The command `terrapin`, as the package installs it: the program's command line, run by the compiled module."""

import signal
import sys

from ._native import run_command_line


def main() -> int:
    """Runs the command line of this process and returns its exit status."""
    # Python's own handlers would let a command run on after Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command_line(["terrapin", *sys.argv[1:]])
