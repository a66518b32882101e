"""The command line: one file per command, each calls public functions of the library."""

import sys
from importlib.util import find_spec

_NEEDED = ("typer", "rich", "pandas", "pyarrow", "filelock")


def main() -> None:
    """Run the `mauc` command, or say what to install for it."""
    missing = [module for module in _NEEDED if find_spec(module) is None]
    if missing:
        print(
            f"mauc: the command line needs {', '.join(missing)}: pip install 'mauc[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    from mauc.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows its code, not an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="mauc")
