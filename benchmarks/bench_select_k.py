"""n_features_to_select="auto" against fits of 100 features: how many fits it takes."""

import warnings
from functools import partial

import numpy as np

from _common import load, print_header, print_row, time_in_turns
from mauc.selectors import SELECTORS, make_selector

N_SELECTED = 100
MOST_FITS = 15


def main():
    X, y, source = load("usps", np.float64)
    print_header(f'"auto" on usps ({source}), seconds beside {MOST_FITS} fits of {N_SELECTED}')
    for method in SELECTORS:
        fixed, auto = (make_selector(method, size) for size in (N_SELECTED, "auto"))
        # Those that take long need fewer turns.
        n_repeats = 1 if method == "relieff" else 3
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen, fit = time_in_turns(
                partial(auto.fit, X, y), partial(fixed.fit, X, y), n_repeats=n_repeats
            )
        print_row(f"{method}: auto", chosen, f"{MOST_FITS} fits", MOST_FITS * fit, "<= 1")


if __name__ == "__main__":
    main()
