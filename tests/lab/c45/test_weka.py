"""C4.5 against the outputs of WEKA 3.6.14's J48."""

import re

import numpy as np
import pytest
from scipy.special import ndtri

from mauc.lab.c45.estimator import C45, tree_to_text
from mauc.lab.c45.grow import grow
from mauc.lab.c45.prune import collapse, prune_tree
from mauc.lab.c45.tree import compact
from tests.helpers.c45_oracle import all_columns, fractions, sort_all
from tests.helpers.weka import GOLDEN, load_reference, reference_names

OPTIONS = {
    "default": {},
    "unpruned": {"prune": False},
    "no_raising": {"raising": False},
    "strict": {"confidence": 0.1, "min_leaf": 5.0},
}


def fit_as_j48(
    X, y, n_classes, n_values, weight, confidence=0.25, min_leaf=2.0, prune=True, raising=True
):
    """Fit a tree that counts rows where J48 does, in two places, whatever their weight."""
    data, row_counts = sort_all(X, y, n_classes, n_values), np.ones(len(y))
    tree, n_nodes = grow(data, all_columns(X), weight, row_counts, min_leaf)
    collapse(tree, n_nodes)
    if prune:
        z = float(ndtri(1.0 - confidence))
        prune_tree(tree, n_nodes, data.XT, y, weight, confidence, z, raising)
    return compact(tree)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.TinyUnitsWarning")  # the edges are tiny
@pytest.mark.parametrize("name", reference_names())
def test_every_test_row_has_j48s_class_fractions(name):
    reference, X, y, X_test, _ = load_reference(name)
    pruned = C45().fit(X, y)
    assert pruned.n_leaves_ == reference["j48_leaves"]
    assert pruned.tree_size_ == reference["j48_size"]
    np.testing.assert_allclose(
        pruned.predict_proba(X_test), reference["proba_j48"], atol=1e-9, rtol=0
    )
    unpruned = C45(prune=False).fit(X, y)
    np.testing.assert_allclose(
        unpruned.predict_proba(X_test), reference["proba_j48_unpruned"], atol=1e-9, rtol=0
    )


@pytest.mark.parametrize("seed", range(28))
@pytest.mark.parametrize("option", OPTIONS)
def test_nominal_missing_and_weighted_rows_give_j48s_tree(seed, option):
    golden = np.load(GOLDEN / "j48" / "j48_mixed.npz")
    X, y, weight, n_values = (golden[f"{seed}_{k}"] for k in ("X", "y", "weight", "n_values"))
    n_classes = int(golden[f"{seed}_n_classes"])
    n_train = 2 * len(y) // 3
    train = X[:n_train], y[:n_train].astype(np.int32)
    tree = fit_as_j48(*train, n_classes, n_values, weight[:n_train], **OPTIONS[option])
    np.testing.assert_allclose(
        fractions(tree, X[n_train:]),
        golden[f"{seed}_{option}_proba"],
        atol=1e-9,
        rtol=0,
    )
    text = tree_to_text(
        tree,
        [f"a{j}" for j in range(len(n_values))],
        [f"c{c}" for c in range(n_classes)],
        {j: np.arange(v) for j, v in enumerate(n_values) if v},
    )
    printed = str(golden[f"{seed}_{option}_text"]).split("------------------\n")[1]
    printed = printed.replace(" = v", " = ").replace(": \t", ": ")
    weights = re.compile(r"\(([\d.]+)(?:/([\d.]+))?\)")
    assert weights.sub("", text).split() == weights.sub("", printed).split()
    # printed with two decimals: the last may differ where the weights are summed in another order
    ours, theirs = ([float(w or 0) for m in weights.findall(t) for w in m] for t in (text, printed))
    np.testing.assert_allclose(ours, theirs, atol=0.0101, rtol=0)
