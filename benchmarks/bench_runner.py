"""Seconds of a whole run on 1 and 2 workers and on a Dask cluster, and the share of each part.

USPS once tenfold, nine selectors, Naive Bayes, C4.5 and 1NN, if MAUC_DATA has it; digits else.
Every run starts its workers anew, so their start is part of the figure. A single worker uses all
cores by threads where it can; beside that, one worker is timed on one core alone, and Dask with
one worker, whose tasks have one thread.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from mauc.experiments import DatasetSpec, MethodSpec, Plan, load_run, run_plan
from mauc.selectors import PAPER_SELECTORS

ENGINES = (("one core", 1), ("processes", 1), ("processes", 2), ("dask", 1), ("dask", 2))


def make_plan(folds):
    try:
        load_dataset("usps")
        name = "usps"
    except MaucError:
        name = "digits"
    selectors = [
        MethodSpec(method, options={"n_iterations": "log"} if method == "relieff" else {})
        for method in PAPER_SELECTORS
    ]
    return Plan(
        name="bench",
        datasets=(DatasetSpec(name),),
        selectors=tuple(selectors),
        classifiers=tuple(MethodSpec(method) for method in ("nb", "c45", "1nn")),
        repeats=1,
        folds=folds,
    )


def run_once(plan, folder, engine, n_jobs):
    """Return the seconds of a run; "one core" keeps a worker of the engine "processes" on one."""
    cores = os.sched_getaffinity(0)
    if engine == "one core":
        os.sched_setaffinity(0, {min(cores)})
        engine = "processes"
    try:
        start = time.perf_counter()
        run_plan(plan, folder, engine=engine, n_jobs=n_jobs, progress="quiet")
        return time.perf_counter() - start
    finally:
        os.sched_setaffinity(0, cores)


def shares(rows):
    """Return the seconds of the parts of a run."""
    selecting = rows.drop_duplicates(["fold", "selector"])["select_seconds"].sum()
    parts = {"selecting": selecting, **rows.groupby("classifier")["fit_seconds"].sum().to_dict()}
    parts["MAUC"] = rows["score_seconds"].sum()
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10)
    plan = make_plan(parser.parse_args().folds)
    seconds, tables = {}, []
    for engine, n_jobs in ENGINES:
        with tempfile.TemporaryDirectory() as folder:
            seconds[engine, n_jobs] = run_once(plan, Path(folder) / "run", engine, n_jobs)
            rows = load_run(Path(folder) / "run")
        tables.append(rows.drop(columns=[name for name in rows if name.endswith("_seconds")]))
        parts = shares(rows)
        total = sum(parts.values())
        shown = ", ".join(f"{name} {value / total:.0%}" for name, value in parts.items())
        print(
            f"{plan.datasets[0].name}, {engine}, {n_jobs} workers: "
            f"{seconds[engine, n_jobs]:.1f} s wall; {total:.1f} s in workers: {shown}"
        )
    for other in tables[1:]:
        assert tables[0].astype(str).equals(other.astype(str)), "engines differ"
    print("all engines gave the same rows")
    for name, other, base, bar in (
        ("2 workers", ("processes", 2), ("one core", 1), " (bar: 1.7)"),
        ("2 workers", ("processes", 2), ("processes", 1), ""),
        ("Dask with 2", ("dask", 2), ("dask", 1), " (bar: 1.6)"),
        ("Dask with 2", ("dask", 2), ("one core", 1), ""),
    ):
        ratio = seconds[base] / seconds[other]
        print(f"{name} against {base[1]} worker ({base[0]}): {ratio:.2f} x as fast{bar}")


if __name__ == "__main__":
    main()
