"""The race of `best_subset` against exhaustive search, and what it chooses in a short time.

    MAUC_DATA=/path/to/npz/files python benchmarks/best.py FOLDER
    MAUC_DATA=/path/to/npz/files python benchmarks/best.py FOLDER --short 20s

Every combination of selector, size and classifier is measured on every fold of each data set, which
is thinned to at most 1,000 rows (600 where features times classes exceed 2,000); then the race runs
on the same folds. Both take one thread, and their processor seconds are compared. Where rows are
left over, up to 3,000 of them judge what either found.

With --short, `best_subset` gets so much time for a half of each of 15 tables, which is thinned to
at most 5,000 rows, and the other half judges its pipeline, and all features with logistic
regression and with gradient boosting; then the halves change places. The result depends on the
machine and on what else it does.

With --only, the data sets of some names are measured, and the page has a table of those.

FOLDER keeps a file per data set, so that a run that was stopped goes on; the tables go into
docs/answers/best.md.
"""

import argparse
import json
import os
import textwrap
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from mauc import best_subset, mauc_score
from mauc.data.door import FitOptions, make_problem
from mauc.evaluation.fold import response_of
from mauc.evaluation.judges import stratified_rows
from mauc.evaluation.race import ACCEPTS, ALL, Combination, Grid, Race
from mauc.files import write_atomic

PAGE = Path(__file__).parents[1] / "docs" / "answers" / "best.md"
MARK = "<!-- written by benchmarks/best.py -->\n"
SHORT_MARK = "<!-- written by benchmarks/best.py --short -->\n"
MAX_ROWS, MAX_HELD_OUT = (1000, 600), 3000
BAR_GAP, BAR_TIME = 0.005, 0.2
HEAD = (
    "data",
    "rows",
    "features",
    "classes",
    "chosen",
    "MAUC",
    "best of all",
    "MAUC",
    "gap",
    "time",
    "on other rows: chosen",
    "best of all",
)
SHORT = (
    "car",
    "cells",
    "credit_g",
    "hypothyroid",
    "italypower",
    "kr_vs_kp",
    "marketing",
    "mice",
    "satimage",
    "segment",
    "splice",
    "supermarket",
    "vehicle",
    "washington_sub_forest",
    "waveform",
)
SHORT_HEAD = (
    "data",
    "rows",
    "features",
    "classes",
    "chosen from a half",
    "from the other",
    "MAUC",
    "all, logistic",
    "all, boosting",
    "loss",
    "MAUC as printed",
    "outer folds",
    "seconds",
    "of the processor",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page-only", action="store_true", help="Measure nothing.")
    parser.add_argument("--only", metavar="NAME", nargs="+", help="Of these data sets alone.")
    parser.add_argument("--short", metavar="TIME", help="Judge best_subset(time=TIME) instead.")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ["MAUC_DATA"])
    paths = sorted([*data.glob("*.npz"), *data.glob("more/*.npz")], key=lambda path: path.stem)
    paths = [path for path in paths if options.only is None or path.stem in options.only]
    warnings.simplefilter("ignore")
    if options.short:
        found = {name: find_path(data, name) for name in options.only or SHORT}
        if not options.page_only:
            for name, path in found.items():
                file = options.folder / f"{name}.short.json"
                print(name, kept(file, lambda path=path: measure_short(path, options.short)))
        write_short(found, options.folder, options.short)
        return
    if not options.page_only:
        with threadpool_limits(1):
            for path in sorted(paths, key=n_values):
                measure(path, options.folder)
    write_page([path.stem for path in paths], options.folder)


def n_values(path):
    """Return about how much work a data set is."""
    X, y, _ = load(path)
    return len(y) * min(X.shape[1], 1000) * len(np.unique(y))


def load(path):
    """Return a data set thinned by class, and other rows of it as a second one, or None."""
    with np.load(path) as data:
        X, y = data["X"], data["y"]
    classes, codes = np.unique(y, return_inverse=True)
    rows = stratified_rows(codes, MAX_ROWS[X.shape[1] * len(classes) > 2000])
    others = np.setdiff1d(np.arange(len(y)), rows)
    others = others[stratified_rows(codes[others], MAX_HELD_OUT)] if len(others) else None
    return X[rows], y[rows], None if others is None else (X[others], y[others])


def measure(path, folder):
    """Measure all combinations of a data set, then the race, unless that was done before."""
    X, y, others = load(path)
    warm_up(X, y)
    table = kept(folder / f"{path.stem}.json", lambda: measure_all(X, y))
    race = kept(folder / f"{path.stem}.race.json", lambda: run_race(X, y, others, table))
    print(path.stem, round(table["seconds"], 1), race, flush=True)


def kept(path, compute):
    """Return what a file keeps, computed now if it is not there."""
    if not path.exists():
        write_atomic(path, json.dumps(compute()))
    return json.loads(path.read_text())


def new_race(X, y, cv=5, classifiers=None):
    problem = make_problem(X, y, FitOptions(ACCEPTS))
    return Race(Grid(problem, classifiers=classifiers), problem, cv=cv)


def warm_up(X, y):
    """Compile what this type of values needs."""
    new_race(X[:, :20], y, 2, ["nb", "logistic"]).run()


def measure_all(X, y):
    """Return the MAUC of all combinations on all folds, and the processor seconds they took."""
    start = process_time()
    race = new_race(X, y)
    for fold in range(5):
        race.measure(fold, race._grid.combinations())
    seconds = process_time() - start
    measured = [(*one, mauc) for one, found in race.mauc.items() for mauc in found]
    return {"seconds": seconds, "measured": measured}


def run_race(X, y, others, table):
    """Return what the race chose, its processor seconds, and the MAUC of both on other rows."""
    start = process_time()
    race = new_race(X, y)
    race.run()
    choice = race.choose()
    seconds, held_out = process_time() - start, None
    if others is not None:
        held_out = []
        for one in (choice, best_of(table)[0]):
            model = race._grid.pipeline(one).fit(X, y)
            scores = getattr(model, response_of(model[-1]))(others[0])
            held_out.append(mauc_score(others[1], scores, labels=model.classes_))
    return {"seconds": seconds, "choice": choice, "held_out": held_out}


def find_path(data, name):
    """Return the file of a data set in any of the folders."""
    paths = [data / folder / f"{name}.npz" for folder in ("", "more", "tables")]
    return next(path for path in paths if path.exists())


def load_frame(path):
    """Return a data set, thinned to at most 5,000 rows, with its nominal columns."""
    with np.load(path) as data:
        X, y = data["X"], data["y"]
        nominal = np.flatnonzero(data["nominal"]) if "nominal" in data else []
    rows = stratified_rows(np.unique(y, return_inverse=True)[1], 5000)
    frame = pd.DataFrame(X[rows], columns=[f"x{column}" for column in range(X.shape[1])])
    return frame.astype({f"x{column}": "category" for column in nominal}), y[rows]


def measure_short(path, time):
    """Return what is chosen from each half of a data set, and how the other half judges it."""
    X, y = load_frame(path)
    best_subset(X[::5], y[::5], classifiers=["nb", "logistic"], time=None, outer=None)  # compiles
    halves = []
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        start, cpu = perf_counter(), process_time()
        best = best_subset(X.iloc[train], y[train], time=time)
        seconds, cpu = perf_counter() - start, process_time() - cpu
        models = [best.pipeline]
        for name in ("logistic", "boosting"):
            model = best.grid.pipeline(Combination(ALL, X.shape[1], name))
            models.append(model.fit(X.iloc[train], y[train]))
        mauc = []
        for model in models:
            scores = getattr(model, response_of(model[-1]))(X.iloc[test])
            mauc.append(mauc_score(y[test], scores, labels=model.classes_))
        halves.append(
            {
                "choice": best.choice,
                "mauc": mauc,
                "printed": best.interval.mauc,
                "outer": len(best.outer_choices),
                "folds": best.n_folds,
                "compared": best.n_compared,
                "is_finished": best.is_finished,
                "seconds": seconds,
                "cpu": cpu,
            }
        )
    size = (len(y), X.shape[1], len(np.unique(y)))
    return {"size": size, "halves": halves}


def write_short(names, folder, time):
    """Write the table of the short times into the page."""
    rows, losses, flattery, seconds, finished = [], [], [], [], 0
    for name in names:
        if not (folder / f"{name}.short.json").exists():
            continue
        found = json.loads((folder / f"{name}.short.json").read_text())
        halves = found["halves"]
        mauc = np.mean([half["mauc"] for half in halves], axis=0)
        printed = np.mean([half["printed"] for half in halves])
        losses.append(max(mauc[1:]) - mauc[0])
        flattery += [half["printed"] - half["mauc"][0] for half in halves]
        seconds.append(np.mean([(half["seconds"], half["cpu"]) for half in halves], axis=0))
        finished += sum(half["is_finished"] for half in halves)
        rows.append(
            (
                name,
                *found["size"],
                *(shown(Combination(*half["choice"])) for half in halves),
                *(f"{one:.4f}" for one in (*mauc, losses[-1], printed)),
                "+".join(str(half["outer"]) for half in halves),
                *(f"{one:.0f}" for one in seconds[-1]),
            )
        )
    n_far = sum(np.array(losses) > BAR_GAP)
    error = np.std(flattery, ddof=1) / np.sqrt(len(flattery))
    text = (
        f"On {len(rows)} tables, with `time={time}`, the pipeline is below the better of all "
        f"features with logistic regression and with boosting by more than {BAR_GAP} on {n_far} "
        f"(by {max(losses):.4f} at most, {np.mean(losses):.4f} on average); {finished} of "
        f"{2 * len(rows)} races ended before the time did. The MAUC that is printed less that on "
        f"the other half is {np.mean(flattery):.4f} on average (standard error {error:.4f})."
    )
    put_table(SHORT_MARK, text, SHORT_HEAD, rows)


def put_table(mark, text, head, rows):
    """Replace a text and its table in the page, up to the next heading."""
    lines = [head, ["---"] * len(head), *rows]
    lines = [
        "| " + " | ".join(map(str, [*row, *[""] * (len(head) - len(row))])) + " |" for row in lines
    ]
    before, _, after = PAGE.read_text().partition(mark)
    after = "".join(after.partition("\n## ")[1:])
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{mark}\n{textwrap.fill(text, 100)}\n\n{table}\n{after}")


def best_of(table):
    """Return the combination of the highest mean, and the means of all."""
    found = {}
    for *one, mauc in table["measured"]:
        found.setdefault(Combination(*one), []).append(mauc)
    means = {one: float(np.mean(mauc)) for one, mauc in found.items()}
    return max(means, key=means.get), means


def write_page(names, folder):
    """Write the table of the data sets that were measured into the page."""
    rows, gaps, times, seconds, losses = [], [], [], np.zeros(2), []
    data = Path(os.environ["MAUC_DATA"])
    for name in names:
        if not (folder / f"{name}.race.json").exists():
            continue
        table, race = (
            json.loads((folder / f"{name}{end}.json").read_text()) for end in ("", ".race")
        )
        X, y, _ = load(find_path(data, name))
        best, means = best_of(table)
        choice = Combination(*race["choice"])
        gaps.append(means[best] - means[choice])
        seconds += race["seconds"], table["seconds"]
        times.append(race["seconds"] / table["seconds"])
        held_out = race["held_out"] or []
        if held_out:
            losses.append(held_out[1] - held_out[0])
        rows.append(
            (
                name,
                len(y),
                X.shape[1],
                len(np.unique(y)),
                shown(choice),
                f"{means[choice]:.4f}",
                shown(best),
                f"{means[best]:.4f}",
                f"{gaps[-1]:.4f}",
                f"{times[-1]:.1%}",
                *(f"{mauc:.4f}" for mauc in held_out),
            )
        )
    n_rows, near, cheap = (
        len(rows),
        sum(np.array(gaps) <= BAR_GAP),
        sum(np.array(times) <= BAR_TIME),
    )
    text = (
        f"On {n_rows} data sets, fivefold, the choice is within {BAR_GAP} of the best combination "
        f"of an exhaustive search on {near}, and takes at most {BAR_TIME:.0%} of its processor "
        f"time on {cheap}, {seconds[0] / seconds[1]:.1%} over all ({seconds[0]:.0f} s of "
        f"{seconds[1]:.0f} s). "
    )
    if losses:
        text += (
            f"On rows that neither saw the best of the search is ahead by {np.mean(losses):.4f} on "
            f"average over {len(losses)} data sets."
        )
    put_table(MARK, text, HEAD, rows)


def shown(one):
    return f"{one.selector} {one.size}, {one.classifier}"


if __name__ == "__main__":
    main()
