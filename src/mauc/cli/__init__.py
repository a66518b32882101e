"""The command line: one file a command, each calls the library's public functions."""

import sys


def main() -> None:
    """Run the `mauc` command, or say what to install for it."""
    try:
        import pandas  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        sys.exit(f"mauc: the command line needs {error.name}: pip install 'mauc[cli]'")
    from mauc.cli.app import app

    app()
