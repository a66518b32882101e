"""Run a Python program on a pseudo-terminal."""

import os
import select
import subprocess
import sys
import time

import pytest

from tests.helpers.run_tools import PATIENCE

# Ctrl-C reaches the program that the terminal controls. The program takes the terminal itself:
# code between fork and exec (preexec_fn, pty.fork) may deadlock where there are threads, as in
# the workers of pytest-xdist.
_OWN = """
import fcntl, signal, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)  # which tests in the background ignore
"""


# For programs that wait until something was shown, however busy the machine is.
RECORDED = """
import sys, time

class Recorded:
    def __init__(self, file):
        self.file, self.text = file, ""

    def write(self, text):
        self.text += text
        return self.file.write(text)

    def __getattr__(self, name):
        return getattr(self.file, name)

recorded = sys.stderr = Recorded(sys.stderr)

def wait_until_shown(text):
    while text not in recorded.text:
        time.sleep(0.01)

def wait_until_redrawn():
    before = recorded.text
    while recorded.text == before:
        time.sleep(0.01)
"""


def run_on_terminal(program, *words, columns=80, stop_at=None, seconds=PATIENCE, **environment):
    """Run a program, and press Ctrl-C when a text appears.

    Returns its exit code, all that it wrote, and the number of its session.
    """
    pty = pytest.importorskip("pty", reason="needs a Unix terminal")
    termios = pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (30, columns))
    # These would say the size of another terminal; pytest-xdist sets them in its workers.
    inherited = {key: os.environ[key] for key in os.environ if key not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-c", _OWN + program, *map(str, words)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env={**inherited, "TERM": "xterm-256color", **environment},
    )
    output, is_stopped, deadline = b"", False, time.monotonic() + seconds
    try:
        # Our copy of their end stays open, so that nothing written is lost when they close it.
        is_over = False
        while not is_over:
            is_over = process.poll() is not None or time.monotonic() > deadline
            while select.select([ours], [], [], 0.05)[0]:
                output += os.read(ours, 65536)
            if stop_at is not None and not is_stopped and stop_at in output:
                os.write(ours, b"\x03")
                is_stopped = True
        return process.poll(), output.decode(), process.pid
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)
