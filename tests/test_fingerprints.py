"""Selectors, classifiers, curves and texts are to the bit what they were, on bundled data sets."""

import json
import platform

import fingerprint
import pytest

from mauc.datasets import load_bundled

GOLDEN = json.loads(fingerprint.GOLDEN.read_text(encoding="utf-8"))


def assert_golden(found, wanted):
    # A new method has no golden bits until `python tools/fingerprint.py --write` gives it some.
    differ = sorted(key for key in wanted if wanted[key] != found.get(key))
    is_golden = platform.system() == "Linux" and platform.machine() == "x86_64"
    if differ and not is_golden:
        pytest.xfail(f"the golden bits are those of Linux on x86-64; here: {', '.join(differ)}")
    assert differ == []


def golden_of(name):
    wanted = {key: value for key, value in GOLDEN.items() if key.startswith(f"{name}: ")}
    assert wanted
    return wanted


@pytest.mark.parametrize("name", fingerprint.SETS)
def test_a_bundled_set(name):
    dataset = load_bundled(name)
    assert_golden(fingerprint.set_prints(name, dataset.X, dataset.y), golden_of(name))


@pytest.mark.parametrize("name", fingerprint.CASES)
def test_a_case(name):
    assert_golden(fingerprint.case_prints(name), golden_of(name))


def test_a_run():
    assert_golden({"run": fingerprint.run_print()}, {"run": GOLDEN["run"]})


def test_the_golden_file_has_nothing_else():
    assert {key.split(": ")[0] for key in GOLDEN} == {*fingerprint.SETS, *fingerprint.CASES, "run"}
