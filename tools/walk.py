"""Count the files of the package that a second call passes, and how often it changes file.

A file counts if a Python frame of its code runs. A change of file is a call of package code (a
generator that goes on included) in another file than the call before it. Compiled loops and other
packages count for nothing. A straight way of the data passes few files and changes seldom; the
first call is not counted, for it imports and compiles. Selectors are fitted on digits; `select_k`
has MDFS and 400 of its rows.

    python tools/walk.py             # MDFS, MRMR, ReliefF, GreedyMAUC, select_k
    python tools/walk.py ARCO FCBF   # any selectors; their files are named
"""

import sys
from collections import Counter
from pathlib import Path

from sklearn.datasets import load_digits

import mauc

PACKAGE = Path(mauc.__file__).parent
DEFAULT = ("MDFS", "MRMR", "ReliefF", "GreedyMAUC", "select_k")


def run(name):
    """Fit a selector on digits, or find the size for MDFS."""
    X, y = load_digits(return_X_y=True)
    if name == "select_k":
        mauc.select_k(mauc.MDFS(random_state=0), X[:400], y[:400])
    else:
        getattr(mauc, name)(20).fit(X, y)


def walk(name):
    """Return the calls by file of a second run, and the changes of file."""
    run(name)
    calls = []

    def note(frame, event, _):
        # Numba reports a compiled loop as a frame that nobody called.
        if event == "call" and frame.f_back is not None:
            calls.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        run(name)
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
