"""`mauc best`: a small set of features and a classifier for it, as a fitted pipeline."""

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mauc.checks import unknown_choice
from mauc.cli import common, show
from mauc.cli.outputs import Written, check_outputs, write_page
from mauc.cli.reading import Reading, reads_data, say_columns, target_option
from mauc.extras import optional_import
from mauc.files import write_atomic

if TYPE_CHECKING:
    from mauc.datasets import Dataset

_MODELS = (".skops", ".joblib")


@common.command()
@common.data_argument
@target_option
@click.option(
    "--time",
    metavar="TIME",
    default="5m",
    help="Time of the races, such as 90s, 5m or 1h; with none no race is cut short.",
)
@click.option(
    "-m",
    "--methods",
    metavar="NAMES",
    default="greedy,mdfs,mrmr,maucd",
    help="Selectors, comma-separated.",
)
@click.option(
    "-c",
    "--classifiers",
    metavar="NAMES",
    default="nb,logistic,knn,svc,forest,boosting",
    help="Classifiers, comma-separated, the simplest first.",
)
@common.path_option("-o", "--output", help="Write the fitted pipeline: model.skops, model.joblib.")
@common.path_option("--report", help="Write an HTML page about the features.")
@reads_data
@common.seed_option
@common.jobs_option
@common.force_option
def best(
    data: str,
    time: str,
    methods: str,
    classifiers: str,
    output: Path | None,
    report: Path | None,
    reading: Reading,
    seed: int,
    jobs: int,
    force: bool,
    as_json: bool,
) -> None:
    """Race selectors, numbers of features and classifiers, and keep the simplest good one.

    The MAUC with its interval is that of the whole choice, on rows that it did not see.

    DATA is a file, - for standard input, or the name of a data set (see mauc datasets list).

    Example: mauc best data.csv --target label --time 5m --output model.skops
    """
    check_outputs(output=output, report=report, force=force)
    if output is not None and output.suffix.lower() not in _MODELS:
        raise unknown_choice("the extension of --output", output.suffix, _MODELS)
    if output is not None and output.suffix.lower() == ".skops":
        optional_import("skops.io", ".skops files")
    from mauc.evaluation.best import best_subset

    dataset = _with_names(reading.load(data))
    say_columns(dataset, data)
    found = show.watched(best_subset, "races")(
        dataset.X,
        dataset.y,
        groups=dataset.groups,
        time=None if time == "none" else time,
        selectors=common.words_of(methods, "--methods"),
        classifiers=common.words_of(classifiers, "--classifiers"),
        random_state=seed,
        n_jobs=jobs,
    )
    written = Written()
    if output is not None:
        written.add(lambda: write_atomic(output, _dumped(found.pipeline, output), force=force))
    if report is not None:
        words = [*reading.words(data), *(["--seed", str(seed)] if seed else [])]
        selector, options = found.report_arguments(dataset.X, dataset.y)
        written.add(lambda: write_page(report, selector, dataset, words, force=force, **options))
    if as_json:
        interval = found.interval
        assert interval is not None  # the command always has outer folds
        facts = {
            "data": dataset.name,
            "columns": list(dataset.notes),
            **found.choice._asdict(),
            "features": found.features,
            "measure": found.measure,
            "mauc": interval.mauc,
            "interval": [interval.lower, interval.upper],
            "outer": [one._asdict() for one in found.outer_choices],
            "n_compared": found.n_compared,
            "n_folds": found.n_folds,
            "is_finished": found.is_finished,
            "race": found.to_frame(),
            "files": written.files,
        }
        show.print_json(facts, "best-1")
    else:
        show.print_text(f"{dataset.name}: {found}")
    written.finish()


def _with_names(dataset: "Dataset") -> "Dataset":
    """Return the data as a frame, so that the pipeline knows the columns by name."""
    import numpy as np
    import pandas as pd

    if isinstance(dataset.X, np.ndarray):
        return replace(dataset, X=pd.DataFrame(dataset.X, columns=dataset.feature_names))
    return dataset


def _dumped(pipeline: Any, path: Path) -> bytes:
    """Return a fitted pipeline as the content of a file."""
    if path.suffix.lower() == ".skops":
        return bytes(optional_import("skops.io", ".skops files").dumps(pipeline))
    import joblib

    buffer = io.BytesIO()
    joblib.dump(pipeline, buffer)
    return buffer.getvalue()
