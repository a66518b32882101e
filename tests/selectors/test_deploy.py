"""Fitted selectors travel: as skops files, and as ONNX models."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mauc import MAUCD, GreedyMAUC
from mauc.exceptions import MaucError
from mauc.extras import MissingExtraError
from mauc.onnx import register_converters
from tests.helpers.selector_cases import SELECTORS, assert_same_fit, integer_table


@pytest.fixture(scope="module")
def table():
    X, y = integer_table(0)
    return X.astype(float), y


@pytest.mark.parametrize("name", SELECTORS)
def test_skops_brings_every_selector_back(name, table):
    skops = pytest.importorskip("skops.io")
    X, y = table
    X = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    selector = clone(SELECTORS[name]).fit(X, y)
    data = skops.dumps(selector)
    types = skops.get_untrusted_types(data=data)
    assert all(one.startswith(("mauc.", "numpy.")) for one in types), types
    again = skops.loads(data, trusted=types)
    assert_same_fit(again, selector)
    assert np.array_equal(again.transform(X), selector.transform(X))
    assert str(again.trace_) == str(selector.trace_)


class TestONNX:
    @pytest.fixture(autouse=True)
    def converters(self):
        pytest.importorskip("skl2onnx")
        register_converters()

    @staticmethod
    def run(model, X, **options):
        """Convert a model and return what ONNX Runtime makes of X."""
        import onnxruntime
        import skl2onnx

        data = skl2onnx.to_onnx(model, X[:1], **options).SerializeToString()
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        return session.run(None, {session.get_inputs()[0].name: X})

    def test_a_selector_gathers_its_columns(self):
        # Only the first column tells the classes apart; it is number 0.
        X, y = np.array([[0.0, 1], [1, 1], [2, 1], [3, 1]]), [0, 0, 1, 1]
        (out,) = self.run(MAUCD(1).fit(X, y), X)
        assert out.tolist() == [[0], [1], [2], [3]]

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
    def test_values_keep_their_type_and_bits(self, dtype, table):
        X, y = table
        selector = GreedyMAUC(4).fit(X, y)
        X = (X - 9).astype(dtype)
        (out,) = self.run(selector, X)
        assert out.dtype == dtype
        assert np.array_equal(out, selector.transform(X))

    @pytest.mark.parametrize("name", SELECTORS)
    def test_every_selector_converts(self, name, table):
        selector = clone(SELECTORS[name]).fit(*table)
        (out,) = self.run(selector, table[0])
        assert np.array_equal(out, selector.transform(table[0]))

    @pytest.mark.parametrize(("dtype", "most"), [(np.float32, 1e-5), (np.float64, 1e-12)])
    def test_a_pipeline_predicts_the_same_probabilities(self, dtype, most, table):
        X, y = table[0].astype(dtype), table[1]
        model = make_pipeline(StandardScaler(), GreedyMAUC(3), LogisticRegression()).fit(X, y)
        labels, probabilities = self.run(model, X, options={"zipmap": False})
        assert np.abs(probabilities - model.predict_proba(X)).max() < most
        assert np.array_equal(labels, model.predict(X))

    def test_columns_as_separate_inputs_are_refused(self, table):
        import skl2onnx

        kinds = [(f"f{j}", skl2onnx.common.data_types.FloatTensorType([None, 1])) for j in (0, 1)]
        selector = MAUCD(1).fit(table[0][:, :2], table[1])
        with pytest.raises(MaucError, match=r"of MAUCD must be one input .* got 2 inputs"):
            skl2onnx.to_onnx(selector, initial_types=kinds)


def test_without_skl2onnx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(MissingExtraError, match=r"ONNX models need the package .*mauc\[onnx\]"):
        register_converters()
