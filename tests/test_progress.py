"""Long operations show progress, and nothing else does."""

import re
import threading

import numpy as np
import pytest

import mauc.progress as module
from mauc import MAUCD, MRMR, GreedyMAUC, ReliefF
from mauc.data.source import ColumnSource
from mauc.progress import progress, track
from tests.helpers.pseudo_terminal import RECORDED, run_on_terminal
from tests.helpers.run_tools import wait_for


@pytest.fixture
def impatient(monkeypatch):
    """Have everything said at once, and again soon."""
    monkeypatch.setattr(module, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(module, "_LINE_EVERY", 0.01)


def wait_for_line(text, capsys):
    """Wait until a line with a text was written to standard error."""
    written = []

    def is_written():
        written.append(capsys.readouterr().err)
        return text in "".join(written)

    wait_for(is_written)
    return "".join(written)


def test_lines_name_what_is_done_and_count(impatient, capsys):
    with progress("reading big.csv", verbose=True):
        for at in track(range(3), "blocks"):
            if at == 2:
                line = wait_for_line("2/3 blocks", capsys)
    assert re.search(r"^mauc: reading big\.csv 0:0\d:\d\d, 2/3 blocks$", line, re.M)


def test_parts_and_nested_loops_are_told_from_the_outside_in(impatient, capsys):
    with progress("study", verbose=True), progress("Naive Bayes", verbose=True):
        for _ in track(iter("ab"), "folds", 2):
            for _ in track([1, 2], "blocks"):
                pass
            next(track([1, 2], "lists"))  # is left before its end
            line = wait_for_line("folds", capsys)
            break
    assert "study: Naive Bayes 0:00:0" in line
    assert "0/2 folds" in line


def test_the_share_of_nested_loops():
    with progress("a", verbose=True):
        display = module.current
        for at in track(range(4), "outer"):
            for inner in track(range(2), "inner"):
                assert display.share() == (at + inner / 2) / 4
    assert module.current is None


def test_bytes_and_time_left_are_told(impatient, capsys, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    with progress("MDFS", verbose=True):
        display = module.current
        texts = []
        sizes = [10**9, *[500_000_000] * 18]
        for _ in track(range(19), "blocks of columns", n_bytes=sizes):
            texts.append(display.text())
            clock[0] += 30.0 if len(texts) == 1 else 1.0
    assert texts[0] == "MDFS 0:00:00, 0.0/10.0 GB, 0/19 blocks of columns"
    assert texts[1] == "MDFS 0:00:30, 1.0/10.0 GB, 1/19 blocks of columns"
    # 17 more blocks at one second each: that the first took half a minute does not count.
    assert texts[2] == "MDFS 0:00:31, 1.5/10.0 GB, 2/19 blocks of columns, 0:00:17 left"
    assert texts[18] == "MDFS 0:00:47, 9.5/10.0 GB, 18/19 blocks of columns, 0:00:01 left"


def test_time_left_of_nested_loops_is_that_of_the_outer_one(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    left = []
    with progress("a", verbose=True):
        for _ in track(range(4), "folds"):
            for _ in track(range(5), "blocks"):
                left.append(module.current.seconds_left())
                clock[0] += 2.0
        assert module.current.seconds_left() is None
    assert left[:2] == [None, None]
    assert left[2:] == pytest.approx([2.0 * (20 - done) for done in range(2, 20)])


def test_time_left_begins_anew_with_the_next_loop(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    with progress("a", verbose=True):
        for _ in track(range(3), "folds"):
            clock[0] += 50.0
        for at in track(range(3), "blocks"):
            assert (module.current.seconds_left() is None) == (at < 2)
            clock[0] += 2.0


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [
        (0, 999, "0/999 bytes"),
        (250, 1000, "0.2/1.0 kB"),
        (10**6, 25 * 10**8, "0.0/2.5 GB"),
        (10**13, 2 * 10**13, "10.0/20.0 TB"),
    ],
)
def test_bytes_are_told_in_the_unit_of_all(done, total, text):
    assert module.bytes_text(done, total) == text


class ArraySource(ColumnSource):
    def __init__(self, X, memory):
        super().__init__("an array", len(X), [X.dtype] * X.shape[1], memory=memory)
        self.X = X

    def read(self, places):
        return list(np.ascontiguousarray(self.X[:, places].T))


def test_a_pass_over_a_source_counts_bytes(rng, monkeypatch):
    levels = []

    class KeptLevel(module._Level):
        def __init__(self, *args):
            super().__init__(*args)
            levels.append(self)

    monkeypatch.setattr(module, "_Level", KeptLevel)
    X, y = rng.normal(size=(500, 9)).astype(np.float32), rng.integers(0, 3, 500)
    MAUCD(2, verbose=True).fit(ArraySource(X, memory=100_000), y)
    (level,) = [level for level in levels if level.unit == "blocks of columns"]
    assert level.bytes_done == level.all_bytes == X.nbytes
    assert level.n_done == level.total > 1


def test_quick_work_shows_nothing(capsys):
    with progress("a quick thing", verbose=True):
        pass
    assert capsys.readouterr().err == ""


def test_without_a_terminal_only_verbose_shows(impatient, capsys):
    for verbose in (None, False):
        with progress("a", verbose=verbose):
            assert module.current is None
            assert list(track(iter([1, 2]), "blocks", 2)) == [1, 2]
    assert capsys.readouterr().err == ""


def test_loops_of_other_threads_are_not_counted():
    with progress("a", verbose=True):
        display = module.current
        levels = []

        def loop():
            for _ in track([1, 2], "blocks"):
                levels.extend(display.levels)

        thread = threading.Thread(target=loop)
        thread.start()
        thread.join()
    assert levels == []


def test_an_error_takes_the_display_away(capsys):
    def fail():
        with progress("a", verbose=True):
            for _ in track([1], "blocks"):
                raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        fail()
    assert module.current is None


@pytest.mark.parametrize(
    ("selector", "unit"),
    [
        (MAUCD(4), "blocks"),
        (MRMR(4), "features"),
        (GreedyMAUC(4), "features"),
        (ReliefF(4), "blocks of samples"),
        (MAUCD("auto"), "folds"),
    ],
)
def test_fits_with_verbose_count_their_steps(selector, unit, rng, monkeypatch):
    seen = set()

    class Levels(list):
        def append(self, level):
            seen.add(level.unit)
            super().append(level)

    made = module.Display.__init__

    def init(self, what, has_bar):
        made(self, what, has_bar)
        seen.add(what)
        self.levels = Levels()

    monkeypatch.setattr(module.Display, "__init__", init)
    X, y = rng.normal(size=(60, 6)), rng.integers(0, 3, 60)
    selector.set_params(verbose=False).fit(X, y)
    assert seen == set()
    selector.set_params(verbose=True).fit(X, y)
    assert {type(selector).__name__, unit} <= seen


PROGRAM = (
    RECORDED
    + """
import mauc.progress as module
from mauc.progress import progress, track
module.DELAY_SECONDS = 0.1
with progress("reading big.csv"):
    for at in track(range(2), "blocks"):
        wait_until_shown(f"{at}/2 blocks")
        print("a line of another", file=sys.stderr)
print("done")
"""
)


def test_a_terminal_shows_a_bar_below_other_lines_and_removes_it():
    code, output, _ = run_on_terminal(PROGRAM)
    assert code == 0, output
    assert "━" in output
    assert re.search(r"50% .*reading big\.csv 0:0\d:\d\d, 1/2 blocks", output)
    last = output.replace("\x1b[2K", "\n").splitlines()
    assert "a line of another" in output
    assert last[-1].endswith("done")
