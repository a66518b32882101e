"""Draw the figures of README.md with the library itself: `make figures`."""

from pathlib import Path

import matplotlib
import pandas as pd
from sklearn.datasets import load_digits

from mauc import MDFS
from mauc.plotting import PairMapDisplay

matplotlib.use("Agg")
HERE = Path(__file__).parent


def draw_pair_map(path):
    digits = load_digits()
    X = pd.DataFrame(digits.data, columns=digits.feature_names)
    selector = MDFS(n_features_to_select=20, random_state=0).fit(X, digits.target)
    display = PairMapDisplay.from_selector(selector)
    display.ax_.set_title(
        "MDFS on handwritten digits: what 20 of 64 pixels tell apart", fontsize=11
    )
    display.figure_.savefig(path, dpi=110)


if __name__ == "__main__":
    draw_pair_map(HERE / "pair_map_digits.png")
