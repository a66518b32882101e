"""Peak extra memory of MDFS(50).fit: growth of the resident set in a fresh process.

Each case runs in its own process. A fit on small data of the same type, classes and K comes
first, so that the compiler's memory is not counted. Then X is made, which takes the resident
set to its peak, and whatever the fit adds to that peak is its extra memory.
"""

import resource
import sys

from _common import print_header, print_row, random_data, run_in_fresh_process
from mauc import MDFS

N_SELECTED = 50
N_CLASSES = 20
MEGABYTE = 1e6


def peak_bytes():
    """Return the largest resident set of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def extra_bytes(n_samples, n_features):
    """Return the peak extra memory of a fit and the size of its X."""
    selector = MDFS(N_SELECTED, random_state=0)
    selector.fit(*random_data(n_samples // 10, 100, N_CLASSES))
    X, y = random_data(n_samples, n_features, N_CLASSES)
    before = peak_bytes()
    selector.fit(X, y)
    return peak_bytes() - before, X.nbytes


def main():
    print_header(f"peak extra memory of MDFS({N_SELECTED}).fit, float32, {N_CLASSES} classes")
    for n_samples, n_features, bar in ((20_000, 5_000, "<= 0.15"), (500, 100_000, "")):
        extra, size = run_in_fresh_process(extra_bytes, n_samples, n_features)
        measure = f"{n_samples} x {n_features}, Fortran order"
        print_row(measure, extra / MEGABYTE, "size of X", size / MEGABYTE, bar, "MB")


if __name__ == "__main__":
    main()
