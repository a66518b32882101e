"""Workers tell what they compile, and the process that started them shows it."""

import time
from types import SimpleNamespace

import pytest

from mauc.compilation import notice, relay_notices, report_to
from tests.helpers.pseudo_terminal import run_on_terminal

COMMAND = "from mauc.cli import main; main()"


@pytest.fixture
def at_terminal(monkeypatch):
    monkeypatch.setattr(notice, "is_at_terminal", lambda: True)
    yield
    report_to(None)


def test_each_line_is_shown_once(at_terminal, monkeypatch):
    monkeypatch.setattr("mauc.compilation.relay._EVERY", 0.01)
    shown = []
    with relay_notices(shown.append) as path:
        report_to(path)
        for line in ("compiling a", "compiling b", "compiling a"):
            notice._tell(line)
        for _ in range(500):
            if len(shown) == 2:
                break
            time.sleep(0.01)
        time.sleep(0.05)
    assert shown == ["compiling a", "compiling b"]
    notice._tell("too late")  # the file is gone: nothing happens


def test_nobody_looks_without_a_terminal(monkeypatch):
    monkeypatch.setattr(notice, "is_at_terminal", lambda: False)
    with relay_notices(print) as path:
        assert path is None
        report_to(path)
    assert notice._tell is None


def test_a_worker_hands_its_lines_on(at_terminal, monkeypatch, capsys):
    told = []
    notice.tell_by(told.append)
    notice._Notice()._say("mRMR")
    assert told == ["compiling the loops of mRMR, once (mauc warmup does this for all methods)"]
    monkeypatch.setattr(notice, "has_cache", lambda: False)
    notice._Notice()._say("mRMR")
    assert told[1].startswith("compiling the loops of mRMR, for this process only (NUMBA_CACHE_DIR")
    assert capsys.readouterr().err == ""


def test_a_worker_listens_while_its_own_terminal_is_silent(at_terminal, monkeypatch):
    monkeypatch.setattr(notice, "is_at_terminal", lambda: False)
    listener = notice._Notice()
    function = SimpleNamespace(__module__="mauc.engine")
    event = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})
    for tell, is_timed in ((None, False), (print, True)):
        notice.tell_by(tell)
        listener.on_start(event)
        assert (listener._timer is not None) is is_timed
        listener.on_end(event)


def test_a_run_with_workers_says_that_they_compile(tmp_path):
    code, output, _ = run_on_terminal(
        COMMAND, "compare", "iris", "-m", "fisher,chi", "-c", "nb", "--sizes", 2, "--repeats", 1,
        "--folds", 2, "-j", 2, NUMBA_CACHE_DIR=str(tmp_path), seconds=300,
    )  # fmt: skip
    assert code == 0, output
    assert output.count("mauc: compiling the loops of CHI, once") == 1
