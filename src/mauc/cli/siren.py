"""`mauc siren`: which class pairs are hard, and which selectors neglect them."""

from dataclasses import replace
from typing import Annotated

import typer

from mauc.cli.common import (
    DEFAULT_DATA,
    DataArgument,
    DebugOption,
    FigureOption,
    ForceOption,
    JobsOption,
    JsonOption,
    SeedOption,
    TargetOption,
    command,
)
from mauc.cli.data import check_size, say_columns, words_of
from mauc.cli.outputs import Written, check_figure, write_figure
from mauc.cli.reading import DEFAULT_READING, Reading, reads_data
from mauc.cli.show import frame_records, print_json, print_text, short


@command
@reads_data
def siren(
    data: DataArgument = DEFAULT_DATA,
    target: TargetOption = None,
    relevance: Annotated[
        str,
        typer.Option(metavar="NAME", help="Relevance that ranks the features: chi2, su, auc, ..."),
    ] = "chi2",
    k: Annotated[
        int | None,
        typer.Option("-k", metavar="INT", help="How many of the best features to follow."),
    ] = None,
    methods: Annotated[
        str, typer.Option("--methods", "-m", metavar="NAMES", help="Selectors, comma-separated.")
    ] = "mdfs,maucd,chi,su,mrmr",
    folds: Annotated[
        int, typer.Option(metavar="INT", help="Folds of the cross-validation on each pair.")
    ] = 5,
    figure: FigureOption = None,
    reading: Reading = DEFAULT_READING,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Show which class pairs are hard, and which selectors neglect them.

    Neglect is how far down a pair ranks the chosen features: 0 if they are its best, 1 if its
    worst. The siren index is how much more the hard pairs are neglected than the easy ones.

    Example: mauc siren data.csv --target label --relevance su
    """
    import numpy as np

    from mauc.checks import check_choice
    from mauc.datasets import coded_columns
    from mauc.difficulty import siren_study
    from mauc.registry import RELEVANCES, make_selector

    check_figure(figure, force=force)
    check_choice("relevance", relevance, RELEVANCES)
    names = words_of(methods, "--methods")
    for name in names:
        make_selector(name)  # a wrong name is refused before the data are read
    dataset = reading.load(data, target)
    say_columns(dataset, data)
    if k is not None:
        check_size(str(k), dataset.n_features)
    X, is_nominal = coded_columns(dataset)
    study = siren_study(
        X, dataset.y, relevance=relevance, n_features=k, n_folds=folds,
        selectors=names, random_state=seed, n_jobs=jobs, verbose=None,
        categorical_features=is_nominal,
    )  # fmt: skip
    study = replace(study, feature_names=np.array(dataset.feature_names))
    written = Written()
    if figure is not None:
        from mauc.plotting import SirenDisplay

        display = SirenDisplay.from_study(study).plot()
        written.add(lambda: write_figure(display.figure_, figure, force=force))
    if as_json:
        print_json(
            {
                "data": dataset.name,
                "columns": list(dataset.notes),
                "relevance": relevance,
                "index": study.index,
                "pairs": frame_records(study.to_frame().reset_index()),
                "selectors": frame_records(study.comparison().reset_index()),
                "files": written.files,
            }
        )
    else:
        labels = np.array([short(label) for label in study.classes])
        print_text(f"{dataset.name}: {replace(study, classes=labels)}")
    written.finish()
