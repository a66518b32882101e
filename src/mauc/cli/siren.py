"""`mauc siren`: which class pairs are hard, and which selectors neglect them."""

from dataclasses import replace
from pathlib import Path

import click

from mauc.cli import common, show
from mauc.cli.fitting import check_size
from mauc.cli.outputs import Written, check_outputs, write_figure
from mauc.cli.reading import Reading, reads_data, say_columns, target_option


@common.command()
@common.data_argument
@target_option
@click.option(
    "--relevance", metavar="NAME", default="chi2",
    help="Relevance that ranks the features: chi2, su, auc, ...",
)  # fmt: skip
@click.option("-k", type=int, help="How many of the best features to follow.")
@click.option(
    "-m", "--methods", metavar="NAMES", default="greedy,mdfs,maucd,chi,su,mrmr",
    help="Selectors, comma-separated.",
)  # fmt: skip
@click.option("--folds", default=5, help="Folds of the cross-validation on each pair.")
@common.figure_option
@reads_data
@common.seed_option
@common.jobs_option
@common.force_option
def siren(
    data: str, relevance: str, k: int | None, methods: str, folds: int, figure: Path | None,
    reading: Reading, seed: int, jobs: int, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Show which class pairs are hard, and which selectors neglect them.

    Neglect is how far down a pair ranks the chosen features: 0 if they are its best, 1 if its
    worst. The siren index is how much more the hard pairs are neglected than the easy ones.

    DATA is a file, - for standard input, or the name of a data set (see mauc datasets list).

    Example: mauc siren data.csv --target label --relevance su
    """
    import numpy as np

    from mauc.checks import check_choice
    from mauc.datasets import coded_columns
    from mauc.difficulty import siren_study
    from mauc.registry import RELEVANCES, make_selector

    check_outputs(figure=figure, force=force)
    check_choice("relevance", relevance, RELEVANCES)
    names = common.words_of(methods, "--methods")
    for name in names:
        make_selector(name)  # a wrong name is refused before the data are read
    dataset = reading.load(data)
    say_columns(dataset, data)
    if k is not None:
        check_size(str(k), dataset.n_features)
    X, is_nominal = coded_columns(dataset)
    study = siren_study(
        X, dataset.y, relevance=relevance, n_features=k, cv=folds,
        groups=dataset.groups, selectors=names, random_state=seed, n_jobs=jobs, verbose=None,
        categorical_features=is_nominal,
    )  # fmt: skip
    study = replace(study, feature_names=np.array(dataset.feature_names))
    written = Written()
    if figure is not None:
        display = study.plot()
        written.add(lambda: write_figure(display.figure_, figure, force=force))
    if as_json:
        show.print_json(
            {
                "data": dataset.name,
                "columns": list(dataset.notes),
                "relevance": relevance,
                "judge": study.judge,
                "index": study.index,
                "pairs": study.to_frame(),
                "selectors": study.comparison(),
                "files": written.files,
            },
            "siren-1",
        )
    else:
        labels = np.array([show.short(label) for label in study.classes])
        show.print_text(f"{dataset.name}: {replace(study, classes=labels)}")
    written.finish()
