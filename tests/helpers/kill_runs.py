"""Kill a run again and again at random moments, and see that its table ends up the same.

    python tests/helpers/kill_runs.py --kills 20 --targets driver group interrupt terminate
    python tests/helpers/kill_runs.py --kills 20 --targets worker

A reference run is done undisturbed. Then runs are started as real processes and disturbed: the
driver alone, its whole process group or one worker is killed with SIGKILL, or the driver gets
SIGINT or SIGTERM. They are started again on the same folder. Every run that comes to its end is
compared with the reference, all columns but seconds and versions, byte for byte; then a new folder
begins.
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

from mauc.experiments import plan_to_toml, read_plan, run_plan
from tests.helpers.run_tools import (
    assert_same_results,
    crashing,
    end_group,
    make_plan,
    results,
    start_driver,
    wait_for,
    workers_of,
)

#: what is killed, and by which signal
TARGETS = {
    "driver": signal.SIGKILL,
    "group": signal.SIGKILL,
    "worker": signal.SIGKILL,
    "interrupt": signal.SIGINT,
    "terminate": signal.SIGTERM,
}
ENDS = (0, -signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGTERM)
ORPHAN_SECONDS = 60.0  # a worker at its imports, or in a long kernel, cannot look sooner


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--plan", type=Path, help="sixteen short cells by default")
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--patience",
        type=float,
        default=60.0,
        help="most seconds from a start to its kill; a run goes on, so all of it is reached",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kill_runs_") as work:
        return kill_runs(options, Path(work))


def kill_runs(options, work):
    chance = random.Random(options.seed)
    if options.plan is None:
        slow = crashing("SlowSelector", log=os.devnull, seconds=0.3)
        plan = make_plan(selectors=(slow, "mdfs"), classifiers=("nb",), repeats=2, folds=4)
        options.plan = work / "plan.toml"
        options.plan.write_text(plan_to_toml(plan))
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
                    patience = min(longest, options.patience)
                    target = disturb(driver, chance, patience, options.targets)
                    kills[target] += target is not None
            said = driver.communicate()[1]
            if driver.returncode not in ENDS:
                print(f"a run ended with code {driver.returncode}:\n{said}", flush=True)
                return 1
            # All workers of a driver that is gone go by themselves.
            wait_for(lambda pid=driver.pid: not workers_of(pid), ORPHAN_SECONDS)
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
    parts = ", ".join(f"{target} {kills[target]}" for target in options.targets)
    print(f"{kills.total()} kills ({parts}), {completions} completions, {verdict}", flush=True)
    return int(n_different > 0)


def disturb(driver, chance, longest, targets):
    """Disturb a driver, its group or one of its workers after some time; return which, or None."""
    # Moments early in a start are as likely as late ones, and now and then a run gets through.
    patience = chance.choice((0.2, 1.0)) * longest * chance.random()
    try:
        driver.wait(patience)
    except subprocess.TimeoutExpired:
        pass
    else:
        return None
    target = chance.choice(targets)
    try:
        if target == "worker":
            while not (workers := workers_of(driver.pid)):  # it is too early for workers
                if driver.poll() is not None:
                    return None
                time.sleep(0.05)
            os.kill(chance.choice(workers), signal.SIGKILL)
        elif target == "group":
            os.killpg(driver.pid, signal.SIGKILL)
        else:
            os.kill(driver.pid, TARGETS[target])
    except ProcessLookupError:
        return None
    return target


if __name__ == "__main__":
    sys.exit(main())
