"""Draw every display on small, large and awkward cases: `python tools/gallery.py FOLDER [WORD]`.

WORD keeps the cases whose name has it.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import matplotlib.pyplot as plt

from tests.helpers.plot_cases import cases


def main(folder, word=""):
    """Write one PNG per case."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in cases().items():
        if word in name:
            figure = draw().figure_
            width, height = figure.get_size_inches()
            figure.savefig(folder / f"{name}.png", dpi=80)
            plt.close(figure)
            print(f"{name}: {width:.1f} x {height:.1f} inches")


if __name__ == "__main__":
    main(*sys.argv[1:])
