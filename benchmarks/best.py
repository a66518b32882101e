"""The race of `best_subset` against exhaustive search: the MAUC that it loses, and what it costs.

    MAUC_DATA=/path/to/npz/files python benchmarks/best.py FOLDER

Every combination of selector, size and classifier is measured on every fold of each data set, which
is thinned to at most 1,000 rows (600 where features times classes exceed 2,000); then the race runs
on the same folds. Both take one thread, and their processor seconds are compared. Where rows are
left over, up to 3,000 of them judge what either found. FOLDER keeps a file per data set, so that a
run that was stopped goes on; the table goes into docs/answers/best.md.
"""

import argparse
import json
import os
import textwrap
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from mauc import mauc_score
from mauc.best import Combination, _Grid, _problem, _Race, _response
from mauc.evaluation.panel import sample_rows
from mauc.files import write_atomic

PAGE = Path(__file__).parents[1] / "docs" / "answers" / "best.md"
MARK = "<!-- written by benchmarks/best.py -->\n"
MAX_ROWS, MAX_HELD_OUT = (1000, 600), 3000
BAR_GAP, BAR_TIME = 0.005, 0.2
HEAD = ("data", "rows", "features", "classes", "chosen", "MAUC", "best of all", "MAUC", "gap",
        "time", "on other rows: chosen", "best of all")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page-only", action="store_true", help="Measure nothing.")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ["MAUC_DATA"])
    paths = sorted([*data.glob("*.npz"), *data.glob("more/*.npz")], key=lambda path: path.stem)
    warnings.simplefilter("ignore")
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
    rows = sample_rows(codes, MAX_ROWS[X.shape[1] * len(classes) > 2000])
    others = np.setdiff1d(np.arange(len(y)), rows)
    others = others[sample_rows(codes[others], MAX_HELD_OUT)] if len(others) else None
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
    grid = _Grid(_problem(X, y, None), classifiers=classifiers)
    return _Race(grid, X, y, None, cv=cv, end=None)


def warm_up(X, y):
    """Compile what this type of values needs."""
    new_race(X[:, :20], y, 2, ["nb", "logistic", "c45", "1nn", "svm"]).run()


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
            scores = getattr(model, _response(model[-1]))(others[0])
            held_out.append(mauc_score(others[1], scores, labels=model.classes_))
    return {"seconds": seconds, "choice": choice, "held_out": held_out}


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
        path = next(
            path for path in (data / f"{name}.npz", data / "more" / f"{name}.npz") if path.exists()
        )
        X, y, _ = load(path)
        best, means = best_of(table)
        choice = Combination(*race["choice"])
        gaps.append(means[best] - means[choice])
        seconds += race["seconds"], table["seconds"]
        times.append(race["seconds"] / table["seconds"])
        held_out = race["held_out"] or []
        if held_out:
            losses.append(held_out[1] - held_out[0])
        rows.append((
            name, len(y), X.shape[1], len(np.unique(y)), shown(choice), f"{means[choice]:.4f}",
            shown(best), f"{means[best]:.4f}", f"{gaps[-1]:.4f}", f"{times[-1]:.1%}",
            *(f"{mauc:.4f}" for mauc in held_out),
        ))  # fmt: skip
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
    lines = [HEAD, ["---"] * len(HEAD), *rows]
    lines = [
        "| " + " | ".join(map(str, [*row, *[""] * (len(HEAD) - len(row))])) + " |" for row in lines
    ]
    page = PAGE.read_text()
    page = page[: page.index(MARK)] if MARK in page else page + "\n"
    PAGE.write_text(
        page + MARK + "\n" + textwrap.fill(text, 100) + "\n\n" + "\n".join(lines) + "\n"
    )


def shown(one):
    return f"{one.selector} {one.size}, {one.classifier}"


if __name__ == "__main__":
    main()
