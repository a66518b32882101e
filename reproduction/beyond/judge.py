"""Judge selectors on tables of all kinds: rankings, and the MAUC of classifiers on them.

    python -m reproduction.beyond.judge RUN                         # all selectors, what is missing
    python -m reproduction.beyond.judge RUN --only greedy,fcbf --seed 7 --folds 2
    python -m reproduction.beyond.judge RUN --only greedy --label half   # a variant in the making

The tables are those of `MAUC_DATA`: the 22 sets of the paper and of ``more``, and the 59 of
``tables``, about 1,000 rows of each at most. A selector ranks on the training part of a fold; the
classifiers are judged on the rest with the first 5, 10, 20 and 50 of its columns, nominal ones as
one indicator per category. Each fold of a table is a file of the folder RUN, so a run goes on where
it ended, and a set of columns is judged once, whoever chose it.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import parallel_config
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from mauc import mauc_score
from reproduction.beyond.rivals import LightGBM, some_rows
from reproduction.beyond.selectors import SELECTORS

SIZES = (5, 10, 20, 50)
N_FOLDS = 3
MAX_ROWS = 1000
FOLDERS = ("", "more", "tables")  # of MAUC_DATA
CLASSIFIERS: dict[str, Any] = {
    "nb": GaussianNB(),
    "5nn": KNeighborsClassifier(5, algorithm="brute"),
    "logistic": LogisticRegression(max_iter=40, tol=1e-2),
    "svm": SVC(cache_size=100),
    "trees": ExtraTreesClassifier(30, random_state=0, n_jobs=1),
    "boosting": LightGBM(n_estimators=15),
}


@dataclass(frozen=True)
class Table:
    """A table of numbers and codes of words."""

    name: str
    folder: str
    X: np.ndarray  #: (n_rows, n_columns)
    y: np.ndarray  #: (n_rows,), codes from 0 on
    nominal: np.ndarray  #: (n_columns,), bool

    @property
    def facts(self) -> dict[str, Any]:
        """Return what tables are grouped by."""
        sizes = np.bincount(self.y)
        return {
            "table": self.name,
            "folder": self.folder,
            "rows": len(self.y),
            "columns": self.X.shape[1],
            "classes": len(sizes),
            "nominal": bool(self.nominal.any()),
            "imbalance": float(sizes.max() / sizes.min()),
        }


def read_tables(data: Path) -> Iterator[Table]:
    """Yield the tables of a folder, with about 1,000 rows at most."""
    for folder in FOLDERS:
        for path in sorted((data / folder).glob("*.npz")):
            with np.load(path) as parts:
                X, y = parts["X"].astype(float), parts["y"].astype(np.int64)
                nominal = parts["nominal"] if "nominal" in parts else np.zeros(X.shape[1], bool)
            rows = some_rows(y, MAX_ROWS + 5, 0)  # tables that were thinned before stay as they are
            codes = np.unique(y[rows], return_inverse=True)[1]
            yield Table(path.stem, folder or "paper", X[rows], codes, nominal.astype(bool))


class Fold:
    """One fold of a table, with what is known of it."""

    def __init__(self, table: Table, seed: int, fold: int, path: Path) -> None:
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
        self.train, self.test = list(folds.split(table.X, table.y))[fold]
        self.table, self.path = table, path
        self.known: dict[str, Any] = {"facts": table.facts, "selectors": {}, "scores": {}}
        if path.exists():
            self.known = json.loads(path.read_text())
        self._columns = list(self._encoded())

    def _encoded(self) -> Iterator[np.ndarray]:
        """Yield each column as classifiers get it: standardised, or indicators of categories."""
        table = self.table
        for values, is_nominal in zip(table.X.T, table.nominal, strict=True):
            seen = values[self.train]
            if is_nominal:
                yield (values[:, np.newaxis] == np.unique(seen)).astype(float)
            else:
                deviation = seen.std() or 1.0
                yield np.clip((values - seen.mean()) / deviation, -10.0, 10.0)[:, np.newaxis]

    def run(self, names: list[str], label: str | None, classifiers: list[str]) -> None:
        """Rank by the selectors that are missing, judge their sets, and write the file."""
        for name in names:
            saved = label or name
            if saved not in self.known["selectors"]:
                self.known["selectors"][saved] = self._rank(name)
            if "ranking" in self.known["selectors"][saved]:
                self._judge(self.known["selectors"][saved]["ranking"], classifiers)
            text = json.dumps(self.known)
            partial = self.path.with_suffix(f".{os.getpid()}")
            partial.write_text(text)
            partial.replace(self.path)

    def _rank(self, name: str) -> dict[str, Any]:
        table = self.table
        n_wanted = min(max(SIZES), table.X.shape[1])
        start = time.process_time()
        try:
            ranking = SELECTORS[name](
                table.X[self.train], table.y[self.train], table.nominal, n_wanted
            )
        except ImportError:  # a package that is missing did not fail
            raise
        except Exception as error:  # of many packages
            return {"error": f"{type(error).__name__}: {error}"[:200]}
        seconds = time.process_time() - start
        return {"ranking": [int(j) for j in ranking[:n_wanted]], "seconds": seconds}

    def _judge(self, ranking: list[int], classifiers: list[str]) -> None:
        y = self.table.y
        for k in (k for k in SIZES if k < self.table.X.shape[1]):
            columns = sorted(set(ranking[:k]))
            scores = self.known["scores"].setdefault(",".join(map(str, columns)), {})
            if not (missing := [name for name in classifiers if name not in scores]):
                continue
            X = np.hstack([self._columns[j] for j in columns])
            for name in missing:
                model = CLASSIFIERS[name].fit(X[self.train], y[self.train])
                decide = getattr(model, "predict_proba", None) or model.decision_function
                found = decide(X[self.test])
                scores[name] = float(mauc_score(y[self.test], found, labels=model.classes_))


def read_run(run: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return facts of the tables, the fits of the selectors, and MAUCs in long format."""
    facts, fits, rows = {}, [], []
    for path in sorted(run.glob("*.json")):
        known = json.loads(path.read_text())
        table = known["facts"]["table"]
        facts[table] = known["facts"]
        for name, found in known["selectors"].items():
            ranking = found.get("ranking")
            seconds, error = found.get("seconds"), found.get("error")
            fits.append((table, path.stem, name, seconds, error, ranking))
            for k in (k for k in SIZES if ranking and k < known["facts"]["columns"]):
                key = ",".join(map(str, sorted(set(ranking[:k]))))
                for classifier, mauc in known["scores"][key].items():
                    rows.append((table, path.stem, name, k, classifier, mauc))
    columns = ["table", "fold", "selector"]
    return (
        pd.DataFrame(facts.values()).set_index("table"),
        pd.DataFrame(fits, columns=[*columns, "seconds", "error", "ranking"]),
        pd.DataFrame(rows, columns=[*columns, "k", "classifier", "mauc"]),
    )


def _run_fold(job: tuple[Any, ...]) -> str:
    table, seed, fold, path, *what = job
    warnings.simplefilter("ignore")
    with threadpool_limits(1), parallel_config(n_jobs=1):
        start = time.process_time()
        Fold(table, seed, fold, path).run(*what)
    return f"{path.stem} {table.X.shape} {time.process_time() - start:.1f} CPU s"


def main(arguments: list[str] | None = None) -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--only", default=",".join(SELECTORS))
    parser.add_argument("--label", help="save the rankings under another name")
    parser.add_argument("--classifiers", default=",".join(CLASSIFIERS))
    parser.add_argument("--tables", default="", help="names, or folders: paper, more, tables")
    parser.add_argument("--data", type=Path, default=os.environ.get("MAUC_DATA"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args(arguments)
    for given, known in ((options.only, SELECTORS), (options.classifiers, CLASSIFIERS)):
        if unknown := set(given.split(",")) - set(known):
            parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(known)}")
    if options.data is None:
        parser.error("say where the tables are: --data, or the environment variable MAUC_DATA")
    options.run.mkdir(parents=True, exist_ok=True)
    wanted = set(filter(None, options.tables.split(",")))
    jobs = [
        (
            table,
            options.seed,
            fold,
            options.run / f"{table.name}-{options.seed}-{fold}.json",
            options.only.split(","),
            options.label,
            options.classifiers.split(","),
        )
        for table in read_tables(options.data)
        if not wanted or {table.name, table.folder} & wanted
        for fold in range(options.folds)
    ]
    jobs.sort(key=lambda job: -job[0].X.size * len(np.unique(job[0].y)))
    with ProcessPoolExecutor(options.jobs) as pool:
        for line in pool.map(_run_fold, jobs):
            print(line, flush=True)


if __name__ == "__main__":
    main()
