"""Count the files of the package that a second ``fit`` passes, for some selectors.

A file counts if a Python frame of its code runs. A straight way of the data passes few files; the
first fit is not counted, for it imports and compiles.

    python tools/walk.py             # MDFS, GreedyMAUC, MRMR, ReliefF
    python tools/walk.py ARCO FCBF   # any selectors; their files are named
"""

import sys
from pathlib import Path

from sklearn.datasets import load_digits

import mauc

PACKAGE = Path(mauc.__file__).parent
DEFAULT = ("MDFS", "GreedyMAUC", "MRMR", "ReliefF")


def files_of_fit(name):
    """Return the files of the package that a second fit on digits passes, in order."""
    X, y = load_digits(return_X_y=True)
    selector = getattr(mauc, name)(20)
    selector.fit(X, y)
    seen = {}

    def note(frame, event, _):
        if event == "call":
            seen.setdefault(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        selector.fit(X, y)
    finally:
        sys.setprofile(None)
    paths = (Path(file) for file in seen)
    return [str(p.relative_to(PACKAGE)) for p in paths if p.is_relative_to(PACKAGE)]


if __name__ == "__main__":
    for name in sys.argv[1:] or DEFAULT:
        files = files_of_fit(name)
        print(f"{name}: {len(files)} files")
        for file in files:
            print(f"  {file}")
