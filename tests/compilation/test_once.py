"""Of several processes that begin with an empty cache, one compiles a kernel."""

import json
import os
import subprocess
import sys

# Compiles or loads the kernel of a fit and tells which; each process waits for the other's start.
PROGRAM = """
import json, sys, time
from pathlib import Path
import numpy as np
from numba.core import event
from mauc.compilation import compile_once
from mauc.compilation.once import called_kernels, kernel_key
from mauc.metrics import mauc_score

class Recorder(event.Listener):
    compiled = []
    def on_start(self, event):
        pass
    def on_end(self, event):
        self.compiled.append(kernel_key(event.data["dispatcher"], event.data["args"]))

compile_once()
event.register("numba:compile", Recorder())
here, number = Path(sys.argv[1]), sys.argv[2]
(here / number).touch()
while len(list(here.iterdir())) < 2:
    time.sleep(0.01)
y = np.arange(30) % 3
mauc_score(y, np.random.default_rng(0).random((30, 3)) / 3, labels=[0, 1, 2])
own = [key for key in Recorder.compiled if key.startswith("mauc.")]
print(json.dumps([own, sorted(called_kernels())]))
"""


def test_a_kernel_is_compiled_by_one_process_and_loaded_by_the_other(tmp_path):
    meet, cache = tmp_path / "meet", tmp_path / "cache"
    meet.mkdir()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(meet), str(number)],
            env={**os.environ, "NUMBA_CACHE_DIR": str(cache)}, stdout=subprocess.PIPE, text=True,
        )
        for number in range(2)
    ]  # fmt: skip
    answers = [json.loads(process.communicate(timeout=100)[0]) for process in processes]
    compiled = [key for own, _ in answers for key in own]
    assert len(compiled) == len(set(compiled)) > 0
    first, second = (called for _, called in answers)
    assert first == second
    assert set(first) <= set(compiled)
