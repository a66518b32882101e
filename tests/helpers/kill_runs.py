"""Kill a run again and again at random moments, and see that its table ends up the same.

    python tests/helpers/kill_runs.py --kills 200 --plan reproduction/plans/smoke.toml

A reference run is done undisturbed. Then runs are started as real processes and killed with
SIGKILL, sometimes the driver alone, sometimes its whole process group, sometimes one worker, and
started again on the same folder. Every run that comes to its end is compared with the reference,
all columns but seconds and versions, byte for byte; then a new folder begins.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from mauc.experiments import read_plan, run_plan
from tests.helpers.run_tools import (
    assert_same_results,
    end_group,
    results,
    start_driver,
    workers_of,
)

SMOKE = Path(__file__).resolve().parents[2] / "reproduction" / "plans" / "smoke.toml"
TARGETS = ("driver", "group", "worker")
WEIGHTS = (4, 4, 2)
ORPHAN_SECONDS = 60.0  # a worker at its imports, or in a long kernel, cannot look sooner


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--plan", type=Path, default=SMOKE)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--patience", type=float, default=12.0,
        help="most seconds from a start to its kill; a run goes on, so all of it is reached",
    )  # fmt: skip
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kill_runs_") as work:
        return kill_runs(options, Path(work))


def kill_runs(options, work):
    chance = random.Random(options.seed)
    begin = time.monotonic()
    run_plan(options.plan, work / "reference", n_jobs=options.jobs, progress="lines")
    longest = time.monotonic() - begin
    reference = results(work / "reference")
    n_cells = len(read_plan(options.plan).cells())
    print(f"reference: {reference.num_rows} rows of {n_cells} cells, {longest:.0f} s", flush=True)
    kills, n_starts, completions, n_different = Counter(), 0, 0, 0
    folder = work / "run_000"
    while True:
        is_last, is_fresh = kills.total() >= options.kills, not folder.exists()
        begin, target = time.monotonic(), None
        driver = start_driver(options.plan, folder, n_jobs=options.jobs)
        n_starts += 1
        try:
            if not is_last:
                target = "worker"
                while target == "worker":  # the run goes on without it, to be disturbed again
                    target = disturb(driver, chance, min(longest, options.patience))
                    kills[target] += target is not None
            said = driver.communicate()[1]
            if driver.returncode not in (0, -signal.SIGKILL):
                print(f"a run ended with code {driver.returncode}:\n{said}", flush=True)
                return 1
            if not wait_until_gone(driver.pid):
                print(f"workers outlive their driver: {workers_of(driver.pid)}", flush=True)
                return 1
        finally:
            end_group(driver)
        if driver.returncode:
            continue
        if is_fresh and target is None:
            # The reference may have compiled what later runs find compiled.
            longest = min(longest, time.monotonic() - begin)
        completions += 1
        try:
            assert_same_results(results(folder), reference)
        except AssertionError as error:
            n_different += 1
            print(f"{folder.name} differs from the reference: {error}", flush=True)
        print(
            f"completion {completions} after {kills.total()} kills, {n_starts} starts", flush=True
        )
        shutil.rmtree(folder)
        folder = work / f"run_{completions:03d}"
        if is_last:
            break
    verdict = "all identical" if not n_different else f"{n_different} DIFFERENT"
    parts = ", ".join(f"{target} {kills[target]}" for target in TARGETS)
    print(f"{kills.total()} kills ({parts}), {completions} completions, {verdict}", flush=True)
    return int(n_different > 0)


def disturb(driver, chance, longest):
    """Kill a driver, its group or one of its workers after some time; return which, or None."""
    # Moments early in a start are as likely as late ones, and now and then a run gets through.
    patience = chance.choice((0.2, 1.0)) * longest * chance.random()
    try:
        driver.wait(patience)
    except subprocess.TimeoutExpired:
        pass
    else:
        return None
    (target,) = chance.choices(TARGETS, WEIGHTS)
    try:
        workers = workers_of(driver.pid)
        if target == "worker" and not workers:
            target = "driver"  # it is too early for workers
        if target == "worker":
            os.kill(chance.choice(workers), signal.SIGKILL)
        elif target == "group":
            os.killpg(driver.pid, signal.SIGKILL)
        else:
            driver.kill()
    except ProcessLookupError:
        return None
    return target


def wait_until_gone(group):
    """Whether all workers of a driver that is gone go by themselves."""
    end = time.monotonic() + ORPHAN_SECONDS
    while workers_of(group):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


if __name__ == "__main__":
    sys.exit(main())
