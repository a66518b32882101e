"""Published and reproduced values side by side."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mauc.exceptions import MaucError
from mauc.report import FrameTable, Group, Layout, Value, mauc_table
from mauc.stats import shown_name
from reproduction import published as reproduction
from reproduction.published import (
    compare_published,
    load_published,
    load_published_runtime,
    runtime_beside,
    write_published,
)
from tests.helpers.report_rows import LADDER, make_rows

matplotlib.use("Agg")

# Lines of the paper's source, Tables 2 (ISOLET), 3 (MNIST) and 8 (Synthetic); indented ones go on.
PAPER_LINES = {
    "isolet": r"""
& mRMR & $\textbf{0.962}^{\ddag}$ & $0.973^{\dag}$ & $0.977^{\dag}$ & $0.979^{\dag}$ &
  $0.981^{\dag}$ & $0.982^{\dag}$ & $0.983^{\dag}$ & $0.984^{\dag}$ & $0.984^{\dag}$ &
  $0.985^{\dag}$\\
& SCHI & $0.961^{\ddag}$ & $0.976$ & $0.978^{\dag}$ & $0.978^{\dag}$ & $0.978^{\dag}$ &
  $0.978^{\dag}$ & $0.978^{\dag}$ & $0.978^{\dag}$ & $0.978^{\dag}$ & $0.979^{\dag}$\\
""",
    "mnist": r"""
& & \multicolumn{10}{c}{Feature Subset Size}\\
\cmidrule(r){3-12}
& & 10 & 20 & 30 & 40 & 50 & 60 & 70 & 80 & 90 & 100\\
\multirow{9}{*}{Naive Bayes}
& MDFS & \textbf{0.889} & \textbf{0.929} & \textbf{0.944} & \textbf{0.952} & \textbf{0.956} &
  \textbf{0.961} & \textbf{0.963} & \textbf{0.965} & \textbf{0.967} & \textbf{0.968}\\
& MAUCD & $0.828^{\dag}$ & $0.889^{\dag}$ & $0.922^{\dag}$ & $0.936^{\dag}$ & $0.944^{\dag}$ &
  $0.950^{\dag}$ & $0.955^{\dag}$ & $0.957^{\dag}$ & $0.958^{\dag}$ & $0.960^{\dag}$\\
& MDFS & \textbf{0.786} & \textbf{0.878} & \textbf{0.914} & \textbf{0.930} & \textbf{0.939} &
  \textbf{0.945} & \textbf{0.948} & \textbf{0.951} & 0.952 & 0.953\\
& mRMR & $0.778^{\dag}$ & $0.868^{\dag}$ & $0.904^{\dag}$ & $0.924^{\dag}$ & $0.936^{\dag}$ &
  $0.944$ & $\textbf{0.948}$ & $\textbf{0.951}$ & $\textbf{0.953}$ &
  $\textbf{0.955}^{\ddag}$\\
""",
    "synthetic": r"""
\cmidrule(r){3-8}
& & 10 & 20 & 30 & 40 & 50 & 60\\
& CHI & $0.933^{\dag}$ & $0.910^{\dag}$ & $0.937^{\dag}$ & $0.966$ &
  $\textbf{0.972}^{\ddag}$ & $\textbf{0.966}$\\
& ReliefF & $0.968^{\dag}$ & $0.970^{\dag}$ & $0.981^{\dag}$ & $0.993^{\dag}$ &
  $0.997^{\dag}$ & $\textbf{0.998}$\\
""",
}


def run_of(**maucs):
    """Return a run on MNIST and another set: Naive Bayes, 10 features, a value per selector."""
    spread = LADDER - 0.925
    values = {("mnist", "nb", name, 10): mauc + spread for name, mauc in maucs.items()}
    return make_rows({**values, ("wine", "nb", "mdfs", 10): LADDER})


def cells_of(comparison):
    frame = comparison.to_frame()
    return frame[frame["n"] > 0].set_index("selector")


def test_published_files():
    published = load_published()
    assert len(published) == 7 * 360 + 216  # Synthetic has six sizes
    assert published["dataset"].nunique() == 8
    assert set(published["mark"]) == {"", "none", "worse", "better"}
    assert len(load_published_runtime()) == 72


def test_a_cell_by_hand():
    # the paper: MDFS 0.889, MAUCD 0.828 worse, mRMR 0.877 worse
    comparison = compare_published(run_of(MDFS=0.890, maucd=0.838, mrmr=0.900))
    cells = cells_of(comparison)
    assert cells.loc["MDFS", "method"] == "mdfs"
    assert cells.loc["maucd", "published"] == 0.828
    assert cells.loc["maucd", "difference"] == pytest.approx(0.010)
    marks = ["published_mark", "reproduced_mark", "agreement"]
    assert cells.loc["MDFS", marks].tolist() == ["", "", None]
    assert cells.loc["maucd", marks].tolist() == ["worse", "worse", True]
    assert cells.loc["mrmr", marks].tolist() == ["worse", "better", False]


def test_summary_by_hand():
    comparison = compare_published(run_of(mdfs=0.890, maucd=0.838, mrmr=0.900))
    (overall,) = comparison.summary().to_dict("records")
    assert (overall["cells"], overall["missing"]) == (3, 357)
    assert overall["mean_absolute"] == pytest.approx((0.001 + 0.010 + 0.023) / 3)
    assert overall["max_absolute"] == pytest.approx(0.023)
    assert (overall["n_marks"], overall["agreement"], overall["n_opposite"]) == (2, 0.5, 1)
    by = comparison.summary("dataset", "classifier").set_index(["dataset", "classifier"])
    assert by.loc[("mnist", "nb"), "cells"] == 3
    assert np.isnan(by.loc[("mnist", "svm"), "mean_absolute"])
    counts = comparison.mark_counts()
    assert counts.loc["worse"].tolist() == [1, 0, 1]
    assert counts.to_numpy().sum() == 2


def test_agreement_with_and_without_draws():
    # MNIST SVM at 60 features: mRMR has no mark, MAUCD is worse; here both are draws
    wave = np.array([1, -1, 2, -2, 3, -3]) / 1000
    rows = make_rows(
        {
            ("mnist", "svm", "mdfs", 60): LADDER,
            ("mnist", "svm", "mrmr", 60): LADDER + wave,
            ("mnist", "svm", "maucd", 60): LADDER + wave,
        }
    )
    (overall,) = compare_published(rows).summary().to_dict("records")
    assert (overall["n_marks"], overall["agreement"]) == (2, 0.5)
    assert (overall["n_significant"], overall["significant_agreement"]) == (1, 0.0)


def test_published_values_agree_with_themselves():
    published = load_published()
    here = published[(published["dataset"] == "synthetic") & (published["classifier"] == "nb")]
    values = {
        ("synthetic", "nb", row.selector, row.size): [row.mauc, row.mauc]
        for row in here.itertuples()
    }
    comparison = compare_published(make_rows(values, n_features=60))
    summary = comparison.summary("classifier").set_index("classifier")
    assert (summary.loc["nb", "cells"], summary.loc["nb", "max_absolute"]) == (54, 0.0)


def test_a_variant_stands_beside_the_method_it_varies():
    rows = run_of(mdfs=0.889, fsdd=0.6, const=0.5)
    cells = cells_of(compare_published(rows, methods={"const": "FSDD"}))
    assert cells.loc["fsdd", "published"] == cells.loc["const", "published"] == 0.5
    assert cells.loc["const", "difference"] == pytest.approx(0.0)
    plain = compare_published(rows)
    assert plain.other_selectors == ("const",)
    assert "Selectors of the run without published values: const." in plain.to_text()


def test_what_only_one_side_has_is_listed():
    comparison = compare_published(run_of(mdfs=0.889))
    assert comparison.other_datasets == ("wine",)
    assert comparison.absent_datasets == (
        "isolet",
        "usps",
        "phoneme",
        "washington",
        "indiana",
        "synthetic",
        "thyroid",
    )
    with pytest.raises(MaucError, match="data set with published values"):
        compare_published(make_rows({("wine", "nb", "mdfs", 10): LADDER}))


def test_formats():
    comparison = compare_published(run_of(mdfs=0.890, maucd=0.838))
    assert r"mean \textbar{}diff\textbar{}" in comparison.to_latex()
    assert "published-mnist" not in comparison.to_latex()
    assert comparison.to_csv().count("\n") == 361
    assert isinstance(comparison.to_frame(), pd.DataFrame)


def test_a_table_of_the_paper_with_the_run_below_it():
    # MNIST, Naive Bayes, 10 features: MDFS 0.889 is bold in the paper, MAUCD 0.828 is worse; in
    # the run MAUCD is better, so the marks and the bold value change places.
    comparison = compare_published(run_of(mdfs=0.800, maucd=0.838))
    layout = comparison.layouts()[-1]
    assert layout.columns == tuple(str(size) for size in range(10, 101, 10))
    assert [group.name for group in layout.groups] == ["Naive Bayes", "C4.5", "1NN", "SVM"]
    lines = layout.groups[0].rows
    assert len(lines) == 3 * 9
    assert [label for label, _ in lines[:4]] == [
        "MDFS, published",
        "reproduced",
        "difference",
        "MAUCD, published",
    ]
    shown = [(v.text, v.is_bold, v.marks) for v in (values[0] for _, values in lines[:6])]
    assert shown == [
        ("0.889", True, ""),
        ("0.800", False, ""),
        ("-0.0890", False, ""),
        ("0.828", False, "†"),
        ("0.838", True, "‡"),
        ("+0.0100", False, ""),
    ]
    # What the run lacks is a gap, and never the best of its size.
    assert {value.text for value in lines[1][1][1:]} == {"—"}
    assert not any(value.is_bold for value in lines[1][1])


def test_a_mean_over_fewer_splits_is_not_bold():
    rows = make_rows(
        {("mnist", "nb", "mdfs", 10): LADDER, ("mnist", "nb", "chi", 10): LADDER[:2] + 0.05}
    )
    layout = compare_published(rows).layouts()[-1]
    lines = [values[0] for label, values in layout.groups[0].rows if label == "reproduced"]
    shown = {value.text: (value.is_bold, value.marks) for value in lines}
    # MDFS 0.925 over six splits, CHI 0.955 over two of them.
    assert shown == {"0.925": (True, ""), "0.955": (False, "§"), "—": (False, "")}
    assert layout.caption.endswith("§: mean over some of the splits.")


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"nobody": "fsdd"}, "selector in methods"),
        ({"mdfs": "fsd"}, "method of mdfs must be one of mdfs, .* got 'fsd'"),
    ],
)
def test_wrong_methods(methods, message):
    with pytest.raises(MaucError, match=message):
        compare_published(run_of(mdfs=0.889), methods=methods)


@pytest.mark.parametrize("dataset", PAPER_LINES)
def test_latex_of_published_values_is_the_source_of_the_paper(dataset):
    published = load_published()
    here = published[published["dataset"] == dataset]
    groups = []
    for classifier, part in here.groupby("classifier", sort=False):
        lines = [
            (
                shown_name("selector", name),
                tuple(
                    Value(
                        f"{row.mauc:.3f}",
                        row.is_best,
                        reproduction.SIGNS.get(row.mark, ""),
                        is_math=name != "mdfs",
                    )
                    for row in line.itertuples()
                ),
            )
            for name, line in part.groupby("selector", sort=False)
        ]
        groups.append(Group(shown_name("classifier", classifier), tuple(lines)))
    sizes = tuple(str(size) for size in here["size"].unique())
    layout = Layout("mauc", "", sizes, tuple(groups), "Feature Subset Size")
    latex = FrameTable(here, (layout,)).to_latex().splitlines()
    for line in PAPER_LINES[dataset].strip().replace("\n  ", " ").splitlines():
        assert line in latex


@pytest.mark.parametrize("dataset", load_published()["dataset"].unique())
def test_bold_values_are_those_of_the_paper(dataset):
    published = load_published()
    here = published[published["dataset"] == dataset]
    keys = here[["dataset", "classifier", "selector", "size"]].itertuples(index=False, name=None)
    rows = make_rows({key: [mauc] * 2 for key, mauc in zip(keys, here["mauc"], strict=True)})
    keys = ["classifier", "selector", "size"]
    table = mauc_table(rows, dataset).to_frame().set_index(keys)
    assert table.loc[here.set_index(keys).index, "is_best"].tolist() == here["is_best"].tolist()


def test_published_seconds_stand_below_those_of_a_run():
    rows = make_rows({("MNIST", "nb", "mdfs", 5): LADDER, ("MNIST", "nb", "mine", 5): LADDER})
    table = runtime_beside(rows)
    np.testing.assert_array_equal(table.to_frame()["published_seconds"], [18.765, np.nan])
    assert "published  MDFS" in table.to_text()
    assert r"& MDFS & 18.765\\" in table.to_latex()
    alone = runtime_beside(make_rows({("wine", "nb", "mdfs", 5): LADDER}))
    assert alone.to_frame()["published_seconds"].isna().all()
    assert "published" not in alone.to_text().lower()


def test_comparison_and_figures_are_written(tmp_path):
    rows = make_rows(
        {
            (dataset, "nb", selector, 10): LADDER - 0.01 * place
            for dataset in ("mnist", "usps")
            for place, selector in enumerate(("mdfs", "chi"))
        }
    )
    files = write_published(rows, tmp_path, dpi=50)
    assert [path.name for path in files] == [
        "published.txt",
        "published.md",
        "published.tex",
        "published.csv",
        "curves_mnist.png",
        "curves_usps.png",
        "stability.png",
        "win_draw_loss.png",
    ]
    with pytest.raises(MaucError, match="already has"):
        write_published(rows, tmp_path)


def test_the_command_prints_and_writes(tmp_path, monkeypatch, capsys):
    rows = run_of(mdfs=0.889, own=0.5)
    monkeypatch.setattr(reproduction, "load_run", lambda folder: rows)
    reproduction.main(["run", "--as", "own=fsdd"])
    assert "Published and reproduced MAUC by selector." in capsys.readouterr().out
    with pytest.raises(SystemExit, match="error: the method of own must be one of mdfs"):
        reproduction.main(["run", "--as", "own=fsd"])
    reproduction.main(["run", "--output", str(tmp_path / "tables")])
    assert str(tmp_path / "tables" / "published.md") in capsys.readouterr().out
