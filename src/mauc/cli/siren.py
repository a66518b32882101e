"""`mauc siren`: which class pairs are hard, and which selectors neglect them."""

from pathlib import Path
from typing import Annotated

import typer

from mauc.cli.common import (
    DEFAULT_DATA,
    DataArgument,
    DebugOption,
    DropOption,
    EncodingOption,
    ForceOption,
    FormatOption,
    JobsOption,
    JsonOption,
    NominalOption,
    SeedOption,
    SeparatorOption,
    TargetOption,
    command,
    frame_records,
    print_json,
    say_files,
)
from mauc.cli.data import read_data, words_of
from mauc.experiments import SirenStudy, siren_study
from mauc.relevance import RELEVANCES


@command
def siren(
    data: DataArgument = DEFAULT_DATA,
    target: TargetOption = None,
    relevance: Annotated[str, typer.Option(help=f"One of {', '.join(RELEVANCES)}.")] = "chi2",
    k: Annotated[
        int | None, typer.Option("-k", help="How many of the best features to follow.")
    ] = None,
    methods: Annotated[
        str, typer.Option(help="Selectors to compare, separated by commas.")
    ] = "mdfs,maucd,chi,su,mrmr",
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation on each pair.")] = 5,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the study to this file (png, pdf, svg).")
    ] = None,
    data_format: FormatOption = None,
    nominal: NominalOption = "ordinal",
    drop: DropOption = None,
    separator: SeparatorOption = None,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Show which class pairs are hard, and which selectors neglect them.

    Example: mauc siren data.csv --target label --relevance su
    """
    dataset = read_data(data, target, data_format, nominal, drop, separator, encoding)
    study = siren_study(
        dataset.X, dataset.y, relevance=relevance, n_features=k, n_folds=folds,
        selectors=words_of(methods, "--methods"),
        random_state=seed, n_jobs=jobs,
    )  # fmt: skip
    if as_json:
        print_json(
            {
                "index": study.index,
                "pairs": frame_records(study.frame().reset_index()),
                "selectors": frame_records(study.comparison().reset_index()),
            }
        )
    else:
        typer.echo(f"{dataset.name}: {study}")
    if figure is not None:
        say_files([draw(study, figure, force=force)])


def draw(study: SirenStudy, path: Path, *, force: bool) -> Path:
    """Draw a study to a file."""
    import io

    from mauc.files import write_atomic
    from mauc.plotting import SirenDisplay

    buffer = io.BytesIO()
    display = SirenDisplay.from_study(study).plot()
    display.figure_.savefig(buffer, format=path.suffix.lstrip(".") or "png", dpi=200)
    return write_atomic(path, buffer.getvalue(), force=force)
