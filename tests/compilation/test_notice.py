"""A first call that compiles for long says so, once, to a user at a terminal."""

import threading
from types import SimpleNamespace

import pytest

from mauc import MRMR, SpreadFx
from mauc.compilation import notice, unannounced
from tests.helpers.pseudo_terminal import run_on_terminal

FIT = """
import sys
import numpy as np
from mauc import FisherScore
X, y = np.random.default_rng(0).random((40, 4)), np.arange(40) % 2
for _ in range(2):
    FisherScore(2).fit(X, y)
    FisherScore(2).fit(X.astype(np.float32), y)
print("done")
"""
LINE = "mauc: compiling the loops of Fisher score, once (mauc warmup does this for all methods)"


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.fixture
def terminal():
    return Terminal()


@pytest.fixture
def at_terminal(monkeypatch, terminal):
    """Sit at a terminal, from within a test: pytest sets standard error when it begins one."""

    def sit(process="MainProcess"):
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setattr(notice, "current_process", lambda: SimpleNamespace(name=process))

    return sit


def kernel_of(module):
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


def compile_for(listener, seconds, monkeypatch, module="mauc.engine"):
    """Let a kernel take so many seconds of a clock that is ours."""
    now = [100.0]
    monkeypatch.setattr(notice.time, "monotonic", lambda: now[0])
    timers = []

    class Timer:
        def __init__(self, delay, function, arguments):
            self.delay, self.say, self.is_over = delay, lambda: function(*arguments), False
            timers.append(self)

        def start(self):
            pass

        def cancel(self):
            self.is_over = True

    monkeypatch.setattr(notice.threading, "Timer", Timer)
    listener.on_start(kernel_of(module))
    listener.on_start(kernel_of("mauc.engine"))  # one that it calls
    listener.on_end(None)
    now[0] += seconds
    for timer in timers:
        if timer.delay <= seconds:
            timer.say()
    listener.on_end(None)
    return len(timers)


def test_it_is_said_when_a_second_is_over_and_not_again(terminal, at_terminal, monkeypatch):
    at_terminal()
    listener = notice._Notice()
    compile_for(listener, 0.6, monkeypatch)
    assert terminal.text == ""
    compile_for(listener, 0.3, monkeypatch)
    assert terminal.text == ""
    compile_for(listener, 0.2, monkeypatch)
    line = "mauc: compiling the loops, once (mauc warmup does this for all methods)\n"
    assert terminal.text == line
    assert compile_for(listener, 5.0, monkeypatch) == 0
    assert terminal.text == line


def test_other_kernels_other_processes_and_silence_say_nothing(at_terminal, monkeypatch):
    listener = notice._Notice()
    assert compile_for(listener, 5.0, monkeypatch) == 0  # no terminal
    at_terminal()
    assert compile_for(listener, 5.0, monkeypatch, module="other") == 0
    with unannounced():
        assert compile_for(listener, 5.0, monkeypatch) == 0
    at_terminal(process="SpawnProcess-1")
    assert compile_for(listener, 5.0, monkeypatch) == 0


def test_a_bar_of_tqdm_is_not_torn(terminal, at_terminal, monkeypatch):
    at_terminal()
    said = []
    bars = SimpleNamespace(
        _instances=["a bar"], write=lambda line, file: said.append((line, file))
    )  # fmt: skip
    monkeypatch.setitem(notice.sys.modules, "tqdm", SimpleNamespace(tqdm=bars))
    compile_for(notice._Notice(), 2.0, monkeypatch)
    assert [file for _, file in said] == [terminal]
    assert terminal.text == ""


def test_the_method_is_the_one_at_work_also_from_its_threads():
    found = []

    class Probe(MRMR):
        def look(self):
            found.append(notice._method_under_way())
            thread = threading.Thread(target=lambda: found.append(notice._method_under_way()))
            thread.start()
            thread.join()

    # Frames of other modules do not count: this one is taken for a module of the library.
    Probe.look.__globals__["__name__"], kept = "mauc.probe", __name__
    try:
        Probe().look()
    finally:
        Probe.look.__globals__["__name__"] = kept
    assert found == ["mRMR", "mRMR"]
    assert notice._method_under_way() == "its"


def test_two_short_names_of_a_class_are_both_told():
    frame = SimpleNamespace(f_globals={"__name__": "mauc.x"}, f_locals={"self": SpreadFx()})
    assert notice._label_of(frame) == "SCHI and SSU"


def test_a_user_at_a_terminal_reads_one_line(tmp_path):
    code, said, _ = run_on_terminal(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert code == 0, said
    assert said.count("compiling") == 1
    assert LINE in said
    code, said, _ = run_on_terminal(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert said.strip() == "done"
