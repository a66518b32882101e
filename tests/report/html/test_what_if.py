"""The prediction of the page, run by Node where there is one, against that of GreedyMAUC."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.naive_bayes import GaussianNB

from mauc import GreedyMAUC
from mauc.report.html import render, selection_report

TEMPLATES = Path(render.__file__).parent / "templates"
SCRIPT = """
const packed = JSON.parse(require("fs").readFileSync(0, "utf8"));
const model = readModel(packed, (text) => new Uint8Array(Buffer.from(text, "base64")));
const wishes = { keep: [], exclude: [], prices: null, budget: null, byCost: false, only: null,
  shares: packed.shares ?? Array(model.nPairs).fill(1), folded: new Set(packed.used_folded) };
const predictor = new Predictor(model);
console.log(JSON.stringify(packed.ranking.map((_, at) => {
  const search = new GreedySearch(model, wishes);
  search.extend(at + 1);
  const aucs = predictor.pairAucs(search);
  return aucs.reduce((sum, auc) => sum + auc, 0) / aucs.length;
})));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize("is_weighted", [False, True])
def test_nominal_features_are_predicted_as_in_python(is_weighted):
    # Categories of five classes in a circle: each nominal feature has further axes.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 400)
    X = (y[:, np.newaxis] + rng.integers(0, [2, 3, 4], (400, 3))) % 5
    X = np.column_stack([X, y + rng.normal(size=400), rng.integers(0, 9, 400)])
    weights = rng.integers(1, 4, 400) / 2 if is_weighted else None
    selector = GreedyMAUC("all", categorical_features=[0, 1, 2, 4])
    selector.fit(X, y, sample_weight=weights)
    report = selection_report(selector, X, y, sample_weight=weights, classifier=GaussianNB(), cv=2)
    model = report.to_dict()["what_if"]
    assert len(model["samples"]["axes"]) >= 3
    scripts = [(TEMPLATES / name).read_text() for name in ("greedy.js", "predict.js")]
    found = subprocess.run(
        ["node", "-e", "\n".join([*scripts, SCRIPT])],
        input=json.dumps(model),
        capture_output=True,
        text=True,
        check=True,
    )
    assert_allclose(json.loads(found.stdout), selector.predicted_mauc_, rtol=1e-9)
