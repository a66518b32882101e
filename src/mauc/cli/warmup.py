"""`mauc warmup`: compile the loops of all methods, so that no first call has to."""

from dataclasses import asdict
from typing import Annotated

import typer

from mauc.cli.common import DebugOption, JsonOption, ProgressOption, WorkersOption, command
from mauc.cli.data import words_of
from mauc.cli.show import print_json, print_text


@command
def warmup(
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            "-m",
            metavar="NAMES",
            help="Selectors and classifiers, comma-separated; all by default.",
        ),
    ] = None,
    jobs: WorkersOption = -1,
    progress: ProgressOption = "auto",
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Compile the loops of all methods now, in parallel, and tell where they are kept.

    Without it each method compiles its loops when it is first called, which takes seconds.

    Example: mauc warmup
    """
    from mauc.compile import find_cache

    find_cache()  # if there is none, one error says so, before a warning does
    from mauc.precompile import warmup

    names = None if methods is None else words_of(methods, "--methods")
    summary = warmup(names, n_jobs=jobs, progress=progress)
    if as_json:
        print_json(asdict(summary))
    else:
        print_text(str(summary))
