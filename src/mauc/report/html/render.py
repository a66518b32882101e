"""A summary in, one self-contained HTML document out."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mauc.exceptions import printable
from mauc.layout import layout_of, render_html
from mauc.report.html.svg import place_panel, place_ranges
from mauc.report.html.values import N_BINS, shown_auc
from mauc.results import number, plural

_FOLDER = Path(__file__).parent / "templates"
# In the order in which each needs the ones before.
_SCRIPTS = (
    "base.js",
    "table.js",
    "chosen.js",
    "values.js",
    "map_views.js",
    "map_drawing.js",
    "scatter.js",
    "map.js",
    "pairs.js",
    "explain.js",
    "greedy.js",
    "predict.js",
    "what_if.js",
    "page.js",
)
_NO_AUC = 65535  # code where a class has no held-out sample
_FRAME_HEIGHT = 720
#: of two classes there is one AUC, no mean over pairs: what the sources of the page say of it
_FOR_TWO = {
    "is the mean AUC over all pairs of classes, and over the parts": "is the mean over the parts",
    "AUC of every feature on every pair of classes": "AUC of every feature",
    "Over all pairs of classes": "Of the feature alone",
    "opens a pair or shows": "shows",
    "first and last pair": "first and last feature",
    "Show the pairs of a class": "Show a class",
    "mean AUC": "AUC",
    "MAUC": "AUC",
}

Array = np.ndarray[Any, Any]


def render_page(summary: dict[str, Any]) -> str:
    """Return the summary of a `Report` as a page."""
    from markupsafe import Markup

    n_classes = len(summary["data"]["classes"])
    style, script = _read("page.css"), _script(n_classes == 2)
    comparison = summary["comparison"] or {"curves": [], "tables": []}
    page: str = (
        _environment(n_classes == 2)
        .get_template("page.html")
        .render(
            summary=summary,
            payload=pack(summary),
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
            panels=[place_panel(panel) for panel in comparison["curves"]],
            sizes=None if summary["sizes"] is None else place_panel(summary["sizes"]),
            ranges=place_ranges(summary["conclusion"]),
            tables=[
                Markup(render_html(layout_of(table), f"table-{at}"))
                for at, table in enumerate(comparison["tables"], 1)
            ],
        )
    )
    return page


def render_frame(page: str, title: str) -> str:
    """Return a page as a frame for notebooks, of which its script sees nothing."""
    from markupsafe import escape

    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(printable(title))}" '
        'sandbox="allow-scripts allow-downloads allow-modals" '
        f'style="width: 100%; height: {_FRAME_HEIGHT}px; border: 0"></iframe>'
    )


def pack(summary: dict[str, Any]) -> dict[str, Any]:
    """Return what the script of the page reads: columns, and large arrays as base64.

    AUCs are 16-bit numbers a, AUC = 1/2 + a / 131068, with 65535 where cross-validation has none.
    Shares of a class in a bin are 8-bit numbers relative to the largest of the feature, ``top``;
    one that is not zero is at least 1, so that a rare value stays visible.
    """
    features, selection = summary["features"], summary["selection"]
    set_auc, hardest = summary["pairs"]["set_auc"], summary["pairs"]["hardest"]
    is_paired, shown = selection["decomposition"] == "one-vs-one", summary["significant"]
    return {
        "classes": [one["name"] for one in summary["data"]["classes"]],
        "counts": [one["count"] for one in summary["data"]["classes"]],
        "n_features": summary["data"]["n_features"],
        "decomposition": selection["decomposition"],
        "measure": selection["measure"],
        "is_drawn": selection["schedule"] is not None,
        # the page makes the names of the pairs of the names of the classes
        "subproblems": None if is_paired else selection["subproblems"],
        "features": {key: [one[key] for one in features] for key in features[0]},
        "n_folds": summary["conclusion"].get("n_folds"),
        "judge": (summary["conclusion"]["chosen"] or {}).get("judge"),
        "best_feature": summary["pairs"]["best_feature"],
        "second_feature": summary["pairs"]["second_feature"],
        "best": _base64(_quantise(summary["pairs"]["best_auc"])),
        "set": None if set_auc is None else _base64(_quantise(set_auc)),
        "n_mapped": selection["n_mapped"],
        "map": _base64(_quantise(summary["pair_auc"])),
        # a bit per cell; without any, the map marks nothing
        "weak": _base64(np.packbits(~np.array(shown))) if shown else None,
        "hardest": {key: [row[key] for row in hardest] for key in hardest[0]},
        "n_binned": selection["n_binned"],
        "bins": _pack_bins(summary["distributions"]),
        "explanations": [
            [one["name"], " ".join(one["sentences"])] for one in summary["explanations"]
        ],
        "what_if": None if summary["what_if"]["reason"] else summary["what_if"],
        "n_drawn": [len(rows) for rows in summary["drawn_rows"]],
    }


def _quantise(pair_auc: Any) -> Array:
    auc = np.array(pair_auc, dtype=np.float64)  # None becomes NaN
    auc = np.maximum(auc, 0.5)  # on held-out samples an AUC may be below chance
    codes = np.rint((auc - 0.5) * (2 * (_NO_AUC - 1)))
    return np.where(np.isnan(codes), _NO_AUC, codes).astype("<u2")


def _pack_bins(distributions: list[dict[str, Any]]) -> dict[str, Any]:
    shares, tops = [], []
    for one in distributions:
        counts = np.array(one["counts"], dtype=np.float64)
        totals = counts.sum(axis=1, keepdims=True)
        share = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
        tops.append(round(float(share.max()), 4))
        # upwards, so that a rare value stays visible; rounding may pass 255
        scaled = np.minimum(np.ceil(255 * share / max(share.max(), 1e-300)), 255).astype(np.uint8)
        whole = np.zeros((len(scaled), N_BINS), np.uint8)
        whole[:, : scaled.shape[1]] = scaled
        shares.append(whole)
    return {
        "n_bins": N_BINS,
        "shares": _base64(np.array(shares)),
        "top": tops,
        "is_nominal": [int(one.get("is_nominal", False)) for one in distributions],
        "levels": [one["levels"] for one in distributions],
        "low": [one.get("low") for one in distributions],
        "high": [one.get("high") for one in distributions],
        "is_cut": [int(one.get("is_cut", False)) for one in distributions],
        "points": [_pack_points(one) for one in distributions],
        "missing": [one["missing"] if any(one["missing"]) else None for one in distributions],
    }


def _pack_points(one: dict[str, Any]) -> str | None:
    """Return the drawn rows as 16-bit numbers: levels or parts of the range; 65535 is missing."""
    if "points" not in one:
        return None
    points = np.array(one["points"], dtype=np.float64)  # None becomes NaN
    codes = np.rint((_NO_AUC - 1) * points if one["levels"] is None else points)
    return _base64(np.where(np.isnan(codes), _NO_AUC, codes).astype("<u2"))


def _base64(array: Array) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def _hash(content: str) -> str:
    # The page runs and shows only what has this hash; see README.md.
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


@cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _source(name: str, is_binary: bool) -> str:
    """Return a source of the page in the words for its classes, before any name is in it."""
    text = _read(name)
    if not is_binary:
        return text
    wanted = "|".join(map(re.escape, _FOR_TWO))
    return re.sub(rf"(?<!\w)({wanted})(?!\w)", lambda found: _FOR_TWO[found[0]], text)


def _script(is_binary: bool) -> str:
    parts = "\n".join(_source(name, is_binary) for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


@cache
def _environment(is_binary: bool) -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _source(name, is_binary)),
        autoescape=True,
        finalize=lambda one: printable(one, "\n") if type(one) is str else one,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plural"] = plural
    environment.filters["number"] = number
    environment.filters["auc"] = shown_auc
    return environment
