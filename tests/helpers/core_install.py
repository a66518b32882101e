"""A program that calls everything public on a core install: optional packages cannot be imported.

It prints one JSON object: for each call None if it worked, else the error.
"""

import importlib
import json
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

OPTIONAL = {
    "dask", "distributed", "filelock", "fsspec", "h5py", "jinja2", "matplotlib", "openpyxl",
    "pandas", "polars", "pooch", "pyarrow", "requests", "rich", "tomli_w", "typer", "zarr",
}  # fmt: skip
PACKAGES = (
    "mauc", "mauc.plotting", "mauc.report", "mauc.stats", "mauc.datasets", "mauc.experiments",
    "mauc.evaluation", "mauc.classifiers", "mauc.difficulty", "mauc.metrics", "mauc.sources",
)  # fmt: skip


class Refusal:
    """A finder of modules that does not find the optional packages."""

    def __init__(self, finder):
        self._finder = finder

    def find_spec(self, name, path=None, target=None):
        """Return what the finder finds, None for an optional package."""
        if name.split(".")[0] in OPTIONAL:
            return None
        return self._finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self._finder, name)


def calls(folder):
    """Return the calls by name: all that a core install has to refuse, and much that it can do."""
    import numpy as np
    from sklearn.datasets import load_iris

    import mauc
    from mauc import classifiers, datasets, evaluation, experiments, plotting, report, stats

    X, y = load_iris(return_X_y=True)
    selector = mauc.MAUCD("auto").fit(X, y)
    study = mauc.siren_study(X, y, n_features=2, selectors=["maucd"])
    tree = classifiers.C45().fit(X, y)
    scores = classifiers.NormalNaiveBayes().fit(X, y).predict_proba(X)
    pairs = mauc.pair_auc_scores(y, scores)
    rows = SimpleNamespace(to_pandas=None)  # a user without pandas has no data frame
    run = folder / "run"
    comparison = stats.Comparison("mdfs")
    plan = experiments.Plan(
        "p", (experiments.DatasetSpec("iris"),), (experiments.MethodSpec("maucd"),),
        (experiments.MethodSpec("nb"),), sizes=(1,), repeats=1, folds=2,
    )  # fmt: skip
    iris = datasets.load_bundled("iris")
    (folder / "table.csv").write_text("a,label\n1,u\n2,v\n3,u\n4,v\n")
    (folder / "table.parquet").write_bytes(b"PAR1")
    (folder / "table.feather").write_bytes(b"ARROW1")
    header = "@relation r\n@attribute a real\n@attribute c {u,v}\n"
    (folder / "table.arff").write_text(f"{header}@data\n1,u\n2,v\n")
    pair_map = plotting.PairMapDisplay.from_selector(selector)
    size_curve = plotting.SizeCurveDisplay.from_selector(selector)
    results = (selector.trace_, selector.size_curve_, study, pairs)
    quiet = {"engine": "serial", "progress": "quiet"}
    ranks = plotting.CriticalDifferenceDisplay
    found = {
        "plotting.PairMapDisplay.plot": pair_map.plot,
        "plotting.PairMapDisplay.to_frame": pair_map.to_frame,
        "plotting.TraceDisplay": lambda: plotting.TraceDisplay.from_selector(selector).plot(),
        "plotting.SizeCurveDisplay": size_curve.plot,
        "plotting.SirenDisplay": lambda: plotting.SirenDisplay.from_study(study).plot(),
        "plotting.TreeDisplay": lambda: plotting.TreeDisplay.from_estimator(tree).plot(),
        "plotting.CurvesDisplay": lambda: plotting.CurvesDisplay.from_run(run).plot(),
        "plotting.StabilityDisplay": lambda: plotting.StabilityDisplay.from_run(run).plot(),
        "plotting.WinDrawLossDisplay": lambda: plotting.WinDrawLossDisplay.from_run(run).plot(),
        "plotting.CriticalDifferenceDisplay": lambda: ranks.from_run(run).plot(),
        "trace.to_frame": selector.trace_.to_frame,
        "size_curve.to_frame": selector.size_curve_.to_frame,
        "size_curve.plot": selector.size_curve_.plot,
        "study.to_frame": study.to_frame,
        "study.comparison": study.comparison,
        "pairs.to_frame": pairs.to_frame,
        "print": lambda: [str(one) for one in results],
        "verbose": lambda: mauc.MDFS(2, random_state=0, verbose=True).fit(X, y),
        "mauc_interval": lambda: str(mauc.mauc_interval(y, scores)),
        "select_k": lambda: mauc.select_k(selector, X, y),
        "evaluate_ranking": lambda: evaluation.evaluate_ranking(
            [0, 1], [1, 2], classifiers.NormalNaiveBayes(), X, y, X, y),
        "warmup": lambda: mauc.warmup(["fisher"]),
        "load_run": lambda: mauc.load_run(folder / "run"),
        "run_plan": lambda: experiments.run_plan(plan, engine="serial", progress="quiet"),
        "run_plan.folder": lambda: experiments.run_plan(plan, run, **quiet),
        "run_plan.bar": lambda: experiments.run_plan(plan, engine="serial", progress="bar"),
        "plan_to_toml": lambda: experiments.plan_to_toml(plan),
        "plan_schema": experiments.plan_schema,
        "report.selection_report": lambda: report.selection_report(selector, X, y)._repr_html_(),
        "report.mauc_table": lambda: report.mauc_table(run, "iris", comparison),
        "report.ranks_table": lambda: report.ranks_table(run),
        "report.runtime_table": lambda: report.runtime_table(run),
        "report.stability_table": lambda: report.stability_table(run),
        "report.summary_table": lambda: report.summary_table(run),
        "report.win_draw_loss_table": lambda: report.win_draw_loss_table(run),
        "report.run_tables": lambda: report.run_tables(run),
        "report.compare_published": lambda: report.compare_published(run),
        "report.load_published": report.load_published,
        "report.load_published_runtime": report.load_published_runtime,
        "report.write_tables": lambda: report.write_tables(run, folder / "t"),
        "report.write_figures": lambda: report.write_figures(run, folder / "f"),
        "report.write_published": lambda: report.write_published(run, folder / "p"),
        "report.write_with_published": lambda: report.write_with_published(run, folder / "b"),
        "stats.compare_to": lambda: stats.compare_to(rows, comparison),
        "stats.mean_mauc": lambda: stats.mean_mauc(rows),
        "stats.marked_means": lambda: stats.marked_means(rows, comparison),
        "stats.selector_stability": lambda: stats.selector_stability(rows),
        "stats.problem_scores": lambda: stats.problem_scores(rows),
        "stats.holm_test": lambda: stats.holm_test([[0.9, 0.8]] * 4, ["a", "b"]),
        "stats.friedman_test": lambda: stats.friedman_test([[0.9, 0.8, 0.7]] * 4),
        "stats.wilcoxon_test": lambda: stats.wilcoxon_test([1.0, 2.0, 3.0], [0.5, 1.0, 1.0]),
        "datasets.list_datasets": datasets.list_datasets,
        "datasets.read_csv": lambda: datasets.read_csv(folder / "table.csv", "label"),
        "datasets.load_dataset.csv": lambda: datasets.load_dataset(folder / "table.csv", "label"),
        "datasets.load_dataset.arff": lambda: datasets.load_dataset(folder / "table.arff"),
        "datasets.parquet": lambda: datasets.load_dataset(folder / "table.parquet", "label"),
        "datasets.feather": lambda: datasets.load_dataset(folder / "table.feather", "label"),
        "datasets.fetch": lambda: datasets.fetch("isolet"),
        "datasets.write_table.npz": lambda: datasets.write_table(iris, folder / "iris.npz"),
        "datasets.write_table.csv": lambda: datasets.write_table(iris, folder / "iris.csv"),
        "datasets.write_table.parquet": lambda: datasets.write_table(iris, folder / "iris.parquet"),
        "datasets.write_table.feather": lambda: datasets.write_table(iris, folder / "iris.feather"),
    }  # fmt: skip
    assert np.isfinite(pairs.mauc)
    return found


def main():
    """Print what became of every import and call."""
    sys.meta_path[:] = [Refusal(finder) for finder in sys.meta_path]
    warnings.simplefilter("ignore")
    results = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            getattr(module, name)
        results[f"import {package}"] = None
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls(Path(folder)).items():
            try:
                call()
                results[name] = None
            except Exception as error:
                results[name] = [type(error).__name__, str(error)]
    print(json.dumps(results))


if __name__ == "__main__":
    main()
