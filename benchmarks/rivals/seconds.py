"""Processor seconds of selectors, one fit each on the first fold of every data set of plans.

The seconds of a run are those of a clock, and depend on what else the machine does.
"""

import csv
import time
import warnings

from threadpoolctl import threadpool_limits

from mauc.experiments.cell import seed_of, sizes_of, split_cell
from mauc.experiments.data import load_data
from mauc.experiments.plan import Cell, build_selector

HEAD = ("dataset", "selector", "seconds", "error")


def measure_seconds(plans, path):
    """Write the seconds of all selectors of plans on all their data sets, those not yet there.

    Parameters
    ----------
    plans : list of Plan
        With the same data sets.
    path : Path
        A CSV file with columns dataset, selector, seconds and error; a fit that failed has no
        seconds.
    """
    known = set()
    if path.is_file():
        with open(path, newline="") as file:
            known = {(row["dataset"], row["selector"]) for row in csv.DictReader(file)}
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(HEAD) + "\n")
    data = load_data(plans[0], {}, lambda line: None)
    for name in sorted(data, key=lambda name: data[name].X.size):
        for plan in plans:
            split = split_cell(plan, Cell(name, 0, 0), data[name])
            size = max(sizes_of(plan, data[name].n_features))
            for spec in plan.selectors:
                if (name, spec.name) not in known:
                    seed = seed_of(plan.seed, name, 0, 0, spec.name)
                    row = (name, spec.name, *time_fit(spec, split, size, seed))
                    with open(path, "a", newline="") as file:
                        csv.writer(file).writerow(row)


def time_fit(spec, split, size, seed):
    """Return the processor seconds of the second fit and no error, or none and the error.

    The first one compiles; a long one counts itself.
    """
    selector = build_selector(spec, size)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=seed)
    if "n_jobs" in selector.get_params():
        selector.set_params(n_jobs=1)
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            for _ in range(2):
                start = time.process_time()
                selector.fit(split.X_train, split.y_train)
                seconds = time.process_time() - start
                if spec.is_imported and seconds > 2:  # nothing of theirs is compiled
                    break
    except Exception as error:  # of another package
        return "", f"{type(error).__name__}: {error}"
    return f"{seconds:.6f}", ""
