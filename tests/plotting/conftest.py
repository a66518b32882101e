"""Figures are drawn without a screen and closed after each test."""

import matplotlib
import pytest


@pytest.fixture(autouse=True)
def close_figures():
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")
