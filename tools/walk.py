"""Count the files of the package that a second ``fit`` passes, and how often it changes file.

A file counts if a Python frame of its code runs. A change of file is a call of package code (a
generator that goes on included) in another file than the call before it. Compiled loops and other
packages count for nothing. A straight way of the data passes few files and changes seldom; the
first fit is not counted, for it imports and compiles.

    python tools/walk.py             # MDFS, MRMR, ReliefF, GreedyMAUC
    python tools/walk.py ARCO FCBF   # any selectors; their files are named
"""

import sys
from collections import Counter
from pathlib import Path

from sklearn.datasets import load_digits

import mauc

PACKAGE = Path(mauc.__file__).parent
DEFAULT = ("MDFS", "MRMR", "ReliefF", "GreedyMAUC")


def walk(name):
    """Return the calls by file of a second fit on digits, and the changes of file."""
    X, y = load_digits(return_X_y=True)
    selector = getattr(mauc, name)(20)
    selector.fit(X, y)
    calls = []

    def note(frame, event, _):
        # Numba reports a compiled loop as a frame that nobody called.
        if event == "call" and frame.f_back is not None:
            calls.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        selector.fit(X, y)
    finally:
        sys.setprofile(None)
    own = [file for file in calls if Path(file).is_relative_to(PACKAGE)]
    n_changes = sum(file != before for file, before in zip(own, [None, *own], strict=False))
    return Counter(str(Path(file).relative_to(PACKAGE)) for file in own), n_changes


if __name__ == "__main__":
    for name in sys.argv[1:] or DEFAULT:
        files, n_changes = walk(name)
        print(f"{name}: {len(files)} files, {n_changes} changes of file")
        for file, n_calls in files.items():
            print(f"  {file} {n_calls}")
