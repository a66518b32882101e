"""What the tests of runs share: small plans, runs in real processes, and tables to the bit."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from mauc.experiments import DatasetSpec, MethodSpec, Plan, load_run, plan_to_toml, run_plan
from mauc.experiments.store import table_digest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 600  # seconds after which a wait is a hang, on the busiest machine
NOT_RESULTS = ["select_seconds", "fit_seconds", "score_seconds", "versions"]

DRIVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which tests in the background ignore
from mauc.experiments import run_plan
plan, folder, engine, n_jobs = sys.argv[1:]
run_plan(plan, folder, engine=engine, n_jobs=int(n_jobs), progress="lines")
"""


def make_plan(**changes):
    """A plan of a second: six cells of wine and iris."""
    parts = {
        "name": "small",
        "datasets": ("wine", "iris"),
        "selectors": ("mdfs", "chi", "maucd"),
        "classifiers": ("nb", "1nn"),
        "sizes": (2, 4),
        "repeats": 1,
        "folds": 3,
        **changes,
    }
    for part, make in (
        ("datasets", DatasetSpec),
        ("selectors", MethodSpec),
        ("classifiers", MethodSpec),
    ):
        parts[part] = tuple(make(spec) if isinstance(spec, str) else spec for spec in parts[part])
    return Plan(**parts)


def run_quietly(plan, folder=None, **options):
    """Run a plan in this process, without a word."""
    return run_plan(plan, folder, engine="serial", n_jobs=1, progress="quiet", **options)


def crashing(name, **options):
    """A method of tests.helpers.crashing_methods."""
    return MethodSpec(name, f"tests.helpers.crashing_methods.{name}", options)


def results(folder):
    """All columns of a run that must not depend on how it ran."""
    return load_run(folder, frame="arrow").drop_columns(NOT_RESULTS)


def assert_same_results(got, expected):
    """Compare tables to the bit, NaN included."""
    assert got.schema.equals(expected.schema)
    assert got.num_rows == expected.num_rows
    for name in expected.column_names:
        assert table_digest(got.select([name])) == table_digest(expected.select([name])), name


def start_driver(plan, folder, *, engine="processes", n_jobs=2):
    """Start a run as a process of its own, the leader of a process group."""
    folder = Path(folder)
    path = plan
    if isinstance(plan, Plan):
        path = folder.with_name(f"{folder.name}.toml")
        path.write_text(plan_to_toml(plan), encoding="utf-8")
    return start_python("-c", DRIVER, str(path), str(folder), engine, str(n_jobs))


def start_python(*arguments):
    """Start Python in a process group of its own; what it says is kept for `communicate`."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def group_members(group):
    """The living processes of a group, as (process id, command line)."""
    listing = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,pgid=,stat=,args="],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    members = [line.split(None, 3) for line in listing.splitlines()]
    return [
        (int(fields[0]), fields[-1])
        for fields in members
        if int(fields[1]) == group and not fields[2].startswith("Z")
    ]


def workers_of(group):
    """The process ids of the workers of a driver."""
    return [pid for pid, command in group_members(group) if "popen_loky" in command]


def wait_for(condition, seconds=PATIENCE):
    """Wait until a condition holds; return what it gave. A limit of time is for hangs alone."""
    end = time.monotonic() + seconds
    while not (got := condition()):
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.05)
    return got


def end_group(process):
    """Kill what may be left of a driver and its workers."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
