"""ReliefF with all samples and 10 neighbours, against fast-select and skrebate."""

from functools import partial

from _common import print_header, print_row
from _peers import import_peer, load_shapes, print_rows, time_wall_and_cpu, version
from mauc import ReliefF

N_NEIGHBORS = 10
N_SELECTED = 10
N_THREADS = 2


def bench_fast_select(fast_select, name, X, y):
    """Compare with fast-select's compiled ReliefF, warm; return our seconds."""
    ours = ReliefF(N_SELECTED, n_neighbors=N_NEIGHBORS, n_jobs=N_THREADS)
    contestants = [partial(ours.fit, X, y)]
    if fast_select is not None:
        theirs = fast_select.ReliefF(
            N_SELECTED, n_neighbors=N_NEIGHBORS, backend="cpu", n_jobs=N_THREADS
        )
        contestants.append(partial(theirs.fit, X, y))
    seconds, *peer = time_wall_and_cpu(*contestants)
    if peer:
        print_rows(name, seconds, version("fast-select"), peer[0], ">= 1.5")
    else:
        print_row(f"{name}, wall", seconds[0])
    return seconds


def bench_skrebate(skrebate, name, X, y, ours):
    """Compare with skrebate, which takes the better part of a minute: one run."""
    theirs = skrebate.ReliefF(n_features_to_select=N_SELECTED, n_neighbors=N_NEIGHBORS)
    try:
        (seconds,) = time_wall_and_cpu(partial(theirs.fit, X, y), n_repeats=1, n_warm=0)
    except Exception as error:  # skrebate does not follow every scikit-learn
        print(f"  skrebate skipped: its fit failed with {type(error).__name__}: {error}")
        return
    print_rows(name, ours, f"{version('skrebate')}, 1 thread", seconds, ">= 100")


def main():
    print_header(f"ReliefF, all samples, {N_NEIGHBORS} neighbours, {N_THREADS} threads, whole fit")
    fast_select = import_peer("fast_select", "fast-select")
    skrebate = import_peer("skrebate", "skrebate")
    for name, (X, y) in load_shapes().items():
        ours = bench_fast_select(fast_select, name, X, y)
        if skrebate is not None and name.startswith("random 2000"):
            bench_skrebate(skrebate, name, X, y, ours)


if __name__ == "__main__":
    main()
