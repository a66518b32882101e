"""Print the constraints for pip that install the oldest packages which pyproject.toml allows.

    python tools/constraints.py oldest > constraints.txt
    pip install --editable ".[all]" --group test --constraint constraints.txt

With ``newest`` nothing is constrained. pip has no option for this, and a file of pins would be a
second list of the lower bounds.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
_BOUND = re.compile(r"([A-Za-z0-9._-]+)(?:\[.*\])?>=(\d+)(?:\.(\d+))?")


def oldest():
    """Return ``name==major.minor.*`` for every lower bound of the package and of its tests."""
    table = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    wanted = [
        *table["project"]["dependencies"],
        *(text for extra in table["project"]["optional-dependencies"].values() for text in extra),
        *table["dependency-groups"]["test"],
    ]
    bounds = [found for text in wanted if (found := _BOUND.match(text))]
    return sorted({f"{found[1]}=={found[2]}.{found[3] or 0}.*" for found in bounds})


if __name__ == "__main__":
    if sys.argv[1:] == ["oldest"]:
        print(*oldest(), sep="\n")
    elif sys.argv[1:] != ["newest"]:
        sys.exit(f"oldest or newest is wanted, got {sys.argv[1:]}")
