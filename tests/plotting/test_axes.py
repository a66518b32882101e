"""Styles keep selectors apart and stay theirs from plot to plot."""

from itertools import combinations

import pytest

from mauc.plotting.axes import selector_styles
from mauc.registry import PAPER_SELECTORS, SELECTORS

OWN = [f"my own {place}" for place in range(40)]


def looks(styles, *parts):
    return [tuple(style[part] for part in parts) for style in styles.values()]


@pytest.mark.parametrize("selectors", [list(SELECTORS), OWN[:18], [*SELECTORS, *OWN]])
def test_no_two_share_colour_and_marker(selectors):
    styles = selector_styles(selectors)
    assert list(styles) == selectors
    assert len(set(looks(styles, "color", "marker"))) == len(selectors)


@pytest.mark.parametrize("selectors", [list(SELECTORS), OWN[:18]])
def test_those_of_the_library_differ_in_colour_and_line_too(selectors):
    styles = selector_styles(selectors)
    assert len(set(looks(styles, "color", "linestyle"))) == len(selectors)
    # Of one colour no two have the same filling: hollow marks are told from full ones at a glance.
    for one, two in combinations(styles.values(), 2):
        if one["color"] == two["color"]:
            lines = {one["linestyle"], two["linestyle"]}
            is_hollow = {style["markerfacecolor"] == "white" for style in (one, two)}
            assert len(is_hollow) == 2 or "-" in lines


def test_styles_of_the_library_do_not_depend_on_the_others():
    whole = selector_styles(list(SELECTORS))
    for name in SELECTORS:
        assert selector_styles([name, "x"])[name] == whole[name]
        assert selector_styles(["x", "y", "mdfs", name])[name] == whole[name]


def test_styles_of_the_paper_are_these():
    styles = selector_styles(PAPER_SELECTORS)
    assert looks(styles, "color", "marker") == [
        ("#000000", "o"),
        ("#D55E00", "s"),
        ("#0072B2", "^"),
        ("#009E73", "D"),
        ("#CC79A7", "v"),
        ("#E69F00", "P"),
        ("#56B4E9", "X"),
        ("#000000", "<"),
        ("#D55E00", ">"),
    ]


def test_another_spelling_is_the_same_selector_unless_both_are_there():
    assert selector_styles(["MDFS"])["MDFS"] == selector_styles(["mdfs"])["mdfs"]
    assert len(set(looks(selector_styles(["MDFS", "mdfs", "Mdfs"]), "color", "marker"))) == 3
