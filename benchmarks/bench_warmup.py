"""Seconds of `mauc warmup` on all cores, with an empty and with a filled cache."""

import json
import os
import subprocess
import sys
import tempfile

from _common import print_header, print_row

COMMAND = "from mauc.cli import main; main()"


def warm_up(cache):
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "warmup", "--progress", "quiet", "--json"],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def main():
    print_header(f"Warm-up on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as cache:
        for name, bar in (("empty cache", "<= 60"), ("filled cache", "")):
            summary = warm_up(cache)
            counts = f"{summary['n_compiled']} compiled, {summary['n_found']} there"
            # The bar is in seconds, so the ratio is to one second.
            print_row(f"{name}: {counts}", summary["seconds"], "bar in seconds", 1.0, bar)


if __name__ == "__main__":
    main()
