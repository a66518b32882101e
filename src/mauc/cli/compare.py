"""`mauc compare`: selectors side by side on the user's own data, by cross-validation."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from mauc.cli.common import (
    DEFAULT_DATA,
    FAILED,
    DataArgument,
    DebugOption,
    DropOption,
    EncodingOption,
    ForceOption,
    FormatOption,
    JsonOption,
    NominalOption,
    SeedOption,
    SeparatorOption,
    TargetOption,
    command,
    frame_records,
    make_console,
    print_json,
    say_files,
)
from mauc.cli.data import read_data, sizes_from, words_of
from mauc.exceptions import MaucError, unknown_word
from mauc.experiments import DatasetSpec, MethodSpec, Plan, load_run, run_plan
from mauc.experiments.progress import KINDS
from mauc.files import write_atomic
from mauc.report import mauc_table
from mauc.stats import compare_to, mean_mauc, win_draw_loss

_BAR = 30  # characters of the longest bar


@command
def compare(
    data: DataArgument = DEFAULT_DATA,
    target: TargetOption = None,
    methods: Annotated[
        str, typer.Option("--methods", "-m", help="Selectors, separated by commas.")
    ] = "mdfs,maucd,mrmr,chi,su",
    classifiers: Annotated[
        str, typer.Option("--classifiers", "-c", help="Classifiers, separated by commas.")
    ] = "nb,1nn",
    sizes: Annotated[
        str | None, typer.Option(help="Numbers of features, separated by commas.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="How often the data are split.")] = 2,
    folds: Annotated[int, typer.Option(help="Into how many parts.")] = 5,
    reference: Annotated[
        str | None, typer.Option(help="Whom the others are compared with; the first method.")
    ] = None,
    test: Annotated[str, typer.Option(help="corrected_t (honest) or wilcoxon.")] = "corrected_t",
    alpha: Annotated[float, typer.Option(help="Level of the test.")] = 0.05,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Keep the run in this folder; it can go on there."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw MAUC over size to this file (png, pdf, svg).")
    ] = None,
    data_format: FormatOption = None,
    nominal: NominalOption = "ordinal",
    drop: DropOption = None,
    separator: SeparatorOption = None,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Workers; -1 for all cores.")] = -1,
    progress: Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.")] = "auto",
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Compare selectors on your data by cross-validation, with significance and a picture.

    Example: mauc compare data.csv --target label --methods mdfs,mrmr,su --sizes 5,10,20
    """
    if figure is not None and figure.exists() and not force:
        raise MaucError(f"{figure} exists already; --force replaces it.")
    dataset = read_data(data, target, data_format, nominal, drop, separator, encoding)
    if dataset.nominal_features:
        raise MaucError("classifiers need numbers: say --nominal ordinal, onehot or drop.")
    names = words_of(methods, "--methods")
    given = {"format": data_format, "nominal": nominal, "drop": drop, "separator": separator,
             "encoding": encoding}  # fmt: skip
    source = str(Path(data).resolve()) if Path(data).is_file() else data
    plan = Plan(
        name=f"compare {dataset.name}",
        datasets=(
            DatasetSpec(
                dataset.name, source, target,
                {key: value for key, value in given.items() if value not in (None, [])},
            ),
        ),
        selectors=tuple(MethodSpec(name) for name in names),
        classifiers=tuple(MethodSpec(name) for name in words_of(classifiers, "--classifiers")),
        sizes=sizes_from(sizes, dataset.n_features), repeats=repeats, folds=folds, seed=seed,
    )  # fmt: skip
    reference = reference or names[0]
    if reference not in names:
        raise unknown_word("--reference", reference, names)
    with tempfile.TemporaryDirectory() as scratch:
        folder = output or Path(scratch) / "run"
        summary = run_plan(plan, folder, n_jobs=jobs, progress=progress)
        rows = load_run(folder)
    options: dict[str, Any] = {"reference": reference, "test": test, "alpha": alpha}
    if as_json:
        print_json(
            {
                "data": dataset.name,
                "means": frame_records(mean_mauc(rows)),
                "comparison": frame_records(compare_to(rows, **options)),
                "failures": summary.failures,
            }
        )
    else:
        typer.echo(mauc_table(rows, dataset.name, **options).to_text())
        make_console().print(overview(rows, options))
    if figure is not None:
        say_files([draw_curves(rows, figure, force=force)])
    if summary.n_failed:
        typer.echo(str(summary), err=True)
        raise typer.Exit(FAILED)


def overview(rows: Any, options: dict[str, Any]) -> Table:
    """Return the mean MAUC of each selector as a bar, with wins and losses of the reference."""
    means = rows[rows["status"] == "ok"].groupby("selector", sort=False)["mauc"].mean()
    lowest, highest = means.min(), means.max()
    counts = win_draw_loss(compare_to(rows, **options), by=()).set_index("selector")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("selector")
    table.add_column("mean MAUC", justify="right")
    table.add_column("")
    table.add_column(f"{options['reference']} wins / draws / loses")
    for selector, mean in means.sort_values(ascending=False).items():
        share = (mean - lowest) / (highest - lowest) if highest > lowest else 1.0
        verdict = "-"
        if selector in counts.index:
            row = counts.loc[selector]
            verdict = f"{row['win']} / {row['draw']} / {row['loss']}"
        bar = "█" * (1 + round(share * (_BAR - 1)))
        table.add_row(Text(str(selector)), f"{mean:.4f}", bar, verdict)
    return table


def draw_curves(rows: Any, path: Path, *, force: bool) -> Path:
    """Draw MAUC over size to a file."""
    import io

    from mauc.plotting import CurvesDisplay

    buffer = io.BytesIO()
    display = CurvesDisplay.from_run(rows).plot()
    display.figure_.savefig(buffer, format=path.suffix.lstrip(".") or "png", dpi=200)
    return write_atomic(path, buffer.getvalue(), force=force)
