"""`mauc rank`: the scores of all features, and their AUCs on all class pairs as a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.cli.common import (
    DEFAULT_DATA,
    DEFAULT_METHOD,
    ColumnsArgument,
    DebugOption,
    ForceOption,
    JobsOption,
    JsonOption,
    MethodOption,
    SchedulerOption,
    SeedOption,
    SetOption,
    TargetOption,
    command,
)
from mauc.cli.data import (
    check_size,
    named_selector,
    score_head,
    size_curve_dict,
    suited,
)
from mauc.cli.engine import EngineOption, check_engine, started
from mauc.cli.fitting import error_dict, fit_on, load_and_fit, say_error
from mauc.cli.interactions import interactions_dict, say_interactions
from mauc.cli.outputs import Written, check_extension, check_outputs
from mauc.cli.reading import DEFAULT_READING, Reading, reads_data
from mauc.cli.show import add_row, make_table, print_json, print_table, print_text, short
from mauc.cli.sketching import SketchOption, check_sketch
from mauc.cli.streaming import MemoryOption, check_streamed, plan_reading
from mauc.files import write_atomic

if TYPE_CHECKING:
    from mauc.datasets import Dataset


@command
@reads_data
def rank(
    data: ColumnsArgument = DEFAULT_DATA,
    target: TargetOption = None,
    method: MethodOption = None,
    k: Annotated[
        str | None,
        typer.Option(
            "-k",
            metavar="SIZE",
            help="How many features to show: a number, all (by default), auto (as few as "
            "cross-validation finds enough) or predicted (as few as greedy's model finds enough).",
        ),
    ] = None,
    options: SetOption = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the AUC of every feature on every class pair (csv, parquet).",
        ),
    ] = None,
    reading: Reading = DEFAULT_READING,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    memory: MemoryOption = None,
    sketch: SketchOption = False,
    engine: EngineOption = "local",
    scheduler: SchedulerOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Rank all features by a method and show their scores.

    Example: mauc rank data.csv --target label --method su --pairs auc.csv

    Larger than memory: mauc rank big.parquet --target label --method mdfs --memory 1GB
    """
    check_outputs(pairs, force=force)
    check_extension("--pairs", pairs, (".csv", ".parquet"))
    name = method or DEFAULT_METHOD
    selector = named_selector(name, options, seed, jobs)
    if k is not None and not k.lstrip("-").isdigit():
        check_size(k, 1, selector)  # a wrong word is refused before the file is read
    check_engine(engine, scheduler, jobs)
    check_sketch(sketch, selector, engine)
    plan = plan_reading(data, target, reading, memory, engine=engine, sketch=sketch)
    check_streamed(plan, k)
    written = Written()
    with started(engine, scheduler, jobs) as client:
        loaded, dataset = load_and_fit(selector, plan, method, k or "all", client)
        if pairs is not None:
            kept = getattr(selector, "sketch_", None)
            of = loaded if kept is None else dataset
            written.add(
                lambda: write_pairs(of, pairs, jobs, force=force, client=client, sketch=kept)
            )
    ranked = [
        {
            "rank": place + 1,
            "feature": dataset.feature_names[column],
            "column": int(column),
            "score": float(selector.scores_[column]),
        }
        for place, column in enumerate(selector.ranking_)
    ]
    if as_json:
        print_json(
            {
                "data": dataset.name,
                "columns": list(dataset.notes),
                "method": name,
                **size_curve_dict(selector),
                **error_dict(selector),
                **interactions_dict(selector, dataset),
                "features": ranked,
                "files": written.files,
            }
        )
    else:
        if hasattr(selector, "size_curve_"):
            print_text(str(selector.size_curve_))
        head = score_head(selector)
        table = make_table("#", "feature", head, right=("#", head))
        for row in ranked:
            add_row(table, row["rank"], short(row["feature"]), f"{row['score']:.4g}")
        print_table(table)
        say_error(selector)
        say_interactions(selector, dataset)
    written.finish()


def write_pairs(
    dataset: "Dataset", path: Path, jobs: int, *, force: bool, client: Any = None,
    sketch: Any = None,
) -> Path:  # fmt: skip
    """Write the folded AUC of every feature (row) on every class pair (column).

    Those of a sketch, where there is one.
    """
    import io

    import numpy as np
    import pandas as pd

    from mauc.data.decomposition import Decomposition
    from mauc.selectors import MAUCD

    selector: Any = MAUCD("all", n_jobs=jobs)
    if sketch is None:
        dataset = suited(selector, dataset, "--pairs")
        fit_on(selector, dataset, client, what="AUCs of all features")
    else:
        selector.fit_sketch(sketch)
    auc: Any = np.empty_like(selector.pair_auc_)
    auc[selector.ranking_] = selector.pair_auc_
    names = Decomposition("one-vs-one", len(selector.classes_)).names(selector.classes_)
    frame = pd.DataFrame(auc, columns=names)
    frame.insert(0, "feature", dataset.feature_names)
    buffer = io.BytesIO()
    if path.suffix.lower() == ".csv":
        frame.to_csv(buffer, index=False)
    else:
        frame.to_parquet(buffer, index=False)
    return write_atomic(path, buffer.getvalue(), force=force)
