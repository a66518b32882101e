"""The command line: one file per command, each calls public functions of the library."""

import sys


def main() -> None:
    """Run the `mauc` command."""
    from mauc.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows its code, not an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="mauc")
