"""Seed faults in the package and tell which of them its tests catch; run by hand.

A fault is one small change of a file of src/mauc: another comparison or operator, a number one
off, a condition turned round, a slice one longer or shorter, a statement left out. A sample of
them (the same for the same seed, as many of one kind as of another) is put one at a time into a
copy of the repository, and the tests of its room run there. Tests that leave take no power with
them where what was caught before is caught after:

    python tools/mutants.py io measure --out before.json
    python tools/mutants.py io measure --out after.json --against before.json

`--who` runs all tests on each fault and tells which tests catch nothing that others miss. A run
that is stopped goes on where it was. Caught by a time limit counts as caught; some faults change
nothing that can be seen, so no sample is caught whole.
"""

import argparse
import ast
import copy
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutants"
CAUGHT = ("killed", "timeout")
OTHER = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
# A condition of one such comparison is turned round by the other one.
EXACT = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)


class Fault(NamedTuple):
    """One change of a source: the bytes from `start` to `stop` become `text`."""

    kind: str
    scope: str  # the function or class that it is in
    line: int
    before: str
    after: str
    start: int
    stop: int
    text: str
    is_compiled: bool  # in a kernel, or in what a kernel may have as a constant

    def apply(self, source):
        """Return the source with the fault."""
        raw = source.encode()
        return (raw[: self.start] + self.text.encode() + raw[self.stop :]).decode()


class _Finder(ast.NodeVisitor):
    """Collects the faults of one source."""

    def __init__(self, source):
        self.source = source
        lines = source.encode().splitlines(keepends=True)
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))
        self.scope = []
        self.is_kernel = []
        self.faults = []

    def add(self, kind, node, text):
        """Note that the text of the node could be another; lines keep their numbers."""
        start = self.starts[node.lineno - 1] + node.col_offset
        stop = self.starts[node.end_lineno - 1] + node.end_col_offset
        n_lines = node.end_lineno - node.lineno
        before = " ".join(self.source.encode()[start:stop].decode().split())
        after = text
        if n_lines:
            is_open = isinstance(node, ast.expr) and not isinstance(node, ast.Slice)
            text = f"({text}" + "\n" * n_lines + ")" if is_open else text + "\n" * n_lines
        is_compiled = any(self.is_kernel) or not self.scope
        scope = ".".join(self.scope)
        fault = Fault(kind, scope, node.lineno, before, after, start, stop, text, is_compiled)
        try:
            ast.parse(fault.apply(self.source))
        except SyntaxError:
            return
        self.faults.append(fault)

    def change(self, kind, node, **fields):
        """Note the node with other fields as a fault."""
        changed = copy.copy(node)
        for name, value in fields.items():
            setattr(changed, name, value)
        self.add(kind, node, ast.unparse(changed))

    def turn(self, test):
        """Note a condition turned round."""
        is_exact = isinstance(test, ast.Compare) and isinstance(test.ops[0], EXACT)
        if not is_exact and not isinstance(test, ast.UnaryOp):
            self.add("branch", test, f"not ({ast.unparse(test)})")

    def visit_FunctionDef(self, node):
        """Pass the body; decorators and annotations are no code that a test could catch."""
        names = [ast.unparse(decorator) for decorator in node.decorator_list]
        self.scope.append(node.name)
        self.is_kernel.append(any("njit" in name for name in names))
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(part)
        self.scope.pop()
        self.is_kernel.pop()

    def visit_ClassDef(self, node):
        """Pass the body."""
        self.scope.append(node.name)
        for part in node.body:
            self.visit(part)
        self.scope.pop()

    def visit_AnnAssign(self, node):
        """Pass the value alone."""
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node):
        """Pass no text."""

    def visit_Raise(self, node):
        """Leave out the statement, and pass no message."""
        self.add("statement", node, "pass")

    visit_Continue = visit_Break = visit_Raise

    def visit_Expr(self, node):
        """Leave out a call."""
        if isinstance(node.value, ast.Call):
            self.add("statement", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node):
        """Leave out what is written to an element or an attribute."""
        if all(isinstance(target, ast.Subscript | ast.Attribute) for target in node.targets):
            self.add("statement", node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        """Leave it out, or take another operator."""
        self.add("statement", node, "pass")
        if type(node.op) in OTHER:
            self.change("operator", node, op=OTHER[type(node.op)]())
        self.generic_visit(node)

    def visit_keyword(self, node):
        """Pass all but what tells where a warning comes from."""
        if node.arg != "stacklevel":
            self.generic_visit(node)

    def visit_Compare(self, node):
        """Take another comparison."""
        for number, op in enumerate(node.ops):
            ops = [*node.ops[:number], OTHER[type(op)](), *node.ops[number + 1 :]]
            self.change("comparison", node, ops=ops)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        """Take another operator, but between texts and in types."""
        is_text = any(
            isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", 0), str)
            for side in (node.left, node.right)
        )
        is_type = isinstance(node.op, ast.BitOr) and not self.scope
        if type(node.op) in OTHER and not is_text and not is_type:
            self.change("operator", node, op=OTHER[type(node.op)]())
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        """Take `or` for `and`."""
        self.change("boolean", node, op=OTHER[type(node.op)]())
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        """Leave out `not`."""
        if isinstance(node.op, ast.Not):
            self.add("boolean", node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_If(self, node):
        """Turn the condition round."""
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.turn(node.test)
            self.generic_visit(node)

    def visit_IfExp(self, node):
        """Turn the condition round."""
        self.turn(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node):
        """Turn the conditions round."""
        for test in node.ifs:
            self.turn(test)
        self.generic_visit(node)

    def visit_Slice(self, node):
        """Begin and end one later or earlier."""
        one = ast.Constant(1)
        if node.lower is None:
            self.change("slice", node, lower=one)
        else:
            self.change("slice", node, lower=ast.BinOp(node.lower, ast.Add(), one))
        if node.upper is None:
            self.change("slice", node, upper=ast.Constant(-1))
        else:
            self.change("slice", node, upper=ast.BinOp(node.upper, ast.Sub(), one))
        self.generic_visit(node)

    def visit_Constant(self, node):
        """Take the number beside it."""
        if type(node.value) in (int, float):
            self.add("number", node, repr(node.value + 1))
            self.add("number", node, f"({node.value - 1!r})")


def find_faults(source):
    """Return all faults that can be put into a source, in its order."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return sorted(finder.faults, key=lambda fault: (fault.start, fault.stop))


def name_faults(file, source):
    """Return name -> fault; a name stays when other parts of the file change."""
    named = {}
    seen = Counter()
    for fault in find_faults(source):
        name = f"{file} {fault.scope} {fault.kind}: {fault.before} -> {fault.after}"
        seen[name] += 1
        named[f"{name} #{seen[name]}"] = fault
    return named


def draw(named, seed, n):
    """Draw n names, in turn of each kind."""
    kinds = defaultdict(list)
    for name in sorted(named, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest()):
        kinds[named[name].kind].append(name)
    in_turn = chain.from_iterable(zip_longest(*(kinds[kind] for kind in sorted(kinds))))
    return [name for name in in_turn if name is not None][:n]


# --- the copy of the repository and the compiled kernels ------------------------------------------


def make_copy(work):
    """Copy the repository as it stands; return the copy and a digest of its sources and tests."""
    target = work / "copy"
    shutil.rmtree(target, ignore_errors=True)
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    digest = hashlib.sha256()
    for name in sorted(listed.splitlines()):
        if not (ROOT / name).is_file():
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)
        if name.startswith(("src/", "tests/")):
            digest.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    return target, digest.hexdigest()[:16]


def hash_kernels(copy_of):
    """Return a hash of the files with kernels."""
    texts = (path.read_bytes() for path in sorted((copy_of / "src").rglob("*.py")))
    return hashlib.sha256(b"\0".join(text for text in texts if b"njit" in text)).hexdigest()[:16]


def kernel_users(copy_of, file):
    """Return the files with kernels that a change of a kernel in this file reaches."""
    source = copy_of / "src"
    kernels = {path for path in source.rglob("*.py") if "njit" in path.read_text("utf-8")}
    uses = {}
    for path in kernels:
        package = path.relative_to(source).parent.parts
        uses[path] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else ()
                module = source.joinpath(*above, *(node.module or "").split("."))
                uses[path] |= {module.with_suffix(".py")}
                uses[path] |= {module / f"{alias.name}.py" for alias in node.names}
    reached = {copy_of / file}
    while more := {path for path in kernels if uses[path] & reached} - reached:
        reached |= more
    return reached


def forget_kernels(cache, files):
    """Remove the compiled kernels of some files from a cache of Numba."""
    for path in files:
        folder = f"{path.parent.name}_{hashlib.sha1(str(path.parent).encode()).hexdigest()}"
        for compiled in (cache / folder).glob(f"{path.stem}.*"):
            compiled.unlink()


# --- runs of the tests, each in a process that has the other packages already ---------------------


class _Recorder:
    """A plugin of pytest: which tests fail, and how long each takes."""

    def __init__(self):
        self.failed = []
        self.seconds = Counter()

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.partition("[")[0]
        self.seconds[name] += report.duration
        if report.failed:
            self.failed.append(name)

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)


def _child(copy_of, cache, files, options, is_faulty, result):
    """Run the tests of some files and write what failed."""
    import resource  # not on Windows

    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))  # a fault may ask for any memory
    import numba
    import pytest
    from numba.core.caching import _SourceFileBackedLocatorMixin

    # What of the cache is out of date was removed; a file that changed elsewhere keeps its kernels.
    _SourceFileBackedLocatorMixin.get_source_stamp = lambda self: b""
    numba.config.CACHE_DIR = str(cache)
    sys.dont_write_bytecode = is_faulty
    with result.with_suffix(".log").open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.chdir(copy_of)
    sys.path[:0] = [str(copy_of / "src"), str(copy_of)]
    recorder = _Recorder()
    options = ["-q", "-p", "no:cacheprovider", "--tb=line", *options]
    code = pytest.main([*options, *map(str, files)], plugins=[recorder])
    found = {"code": int(code), "failed": recorder.failed, "seconds": recorder.seconds}
    result.write_text(json.dumps(found), "utf-8")
    os._exit(0)


def run_tests(copy_of, cache, files, options, is_faulty=False, limit=None):
    """Return how the tests ended (passed, killed, timeout), what failed, and the seconds."""
    result = copy_of.parent / "result.json"
    result.unlink(missing_ok=True)
    args = (copy_of, cache, files, options, is_faulty, result)
    process = multiprocessing.get_context("fork").Process(target=_child, args=args)
    began = time.monotonic()
    process.start()
    try:
        process.join(limit)
    finally:  # also of a run that is stopped
        is_late = process.is_alive()
        if is_late:
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
    seconds = time.monotonic() - began
    if is_late:
        return "timeout", [], {}, seconds
    if not result.exists():
        return "killed", [f"the process ended with {process.exitcode}"], {}, seconds
    found = json.loads(result.read_text("utf-8"))
    failed = sorted(set(found["failed"]))
    if found["code"] == 0:
        return "passed", [], found["seconds"], seconds
    return "killed", failed or [f"pytest ended with {found['code']}"], found["seconds"], seconds


def list_tests(copy_of, places):
    """Return the test files in some places, relative to the copy."""
    found = []
    for place in places:
        path = copy_of / place
        found += [path] if path.is_file() else sorted(path.rglob("test_*.py"))
    return [path.relative_to(copy_of) for path in found]


def run_fault(copy_of, cache, file, fault, tests, options, limit):
    """Put a fault into the copy, run the tests, take it out again."""
    path = copy_of / file
    source, times = path.read_text("utf-8"), path.stat()
    own = cache
    if fault.is_compiled:
        own = copy_of.parent / "faulty"
        shutil.rmtree(own, ignore_errors=True)
        shutil.copytree(cache, own, copy_function=os.link)
        forget_kernels(own, kernel_users(copy_of, file))
    path.write_text(fault.apply(source), "utf-8")
    os.utime(path, (times.st_atime, times.st_mtime + 1000))  # Python compares seconds and size
    try:
        # The tests of the file itself first: they are likely to catch it.
        order = sorted(tests, key=lambda test: test.stem != f"test_{path.stem}")
        return run_tests(copy_of, own, order, options, True, limit)
    finally:
        path.write_text(source, "utf-8")
        os.utime(path, (times.st_atime, times.st_mtime))


# --- the report -----------------------------------------------------------------------------------


def print_report(results, who):
    """Print the share of faults caught by room, those that were not, and who caught the others."""
    print(f"{'room':<14}{'faults':>7}{'killed':>8}{'timeout':>8}{'survived':>9}{'caught':>8}")
    for room, found in results["rooms"].items():
        counts = Counter(fault["result"] for fault in found["faults"].values())
        n, caught = counts.total(), sum(counts[result] for result in CAUGHT)
        row = f"{room:<14}{n:>7}{counts['killed']:>8}{counts['timeout']:>8}{counts['passed']:>9}"
        print(f"{row}{caught / max(n, 1):>8.0%}")
    for found in results["rooms"].values():
        for fault in found["faults"].values():
            if fault["result"] == "passed":
                change = f"{fault['before']} -> {fault['after']}"
                print(f"survived {fault['file']}:{fault['line']} {fault['kind']}: {change}")
    for room, found in results["rooms"].items() if who else ():
        print_who(room, found)


def print_who(room, found):
    """Print the slowest of the tests without which as much is caught."""
    kills = [set(fault["by"]) for fault in found["faults"].values() if fault["by"]]
    needed, left = set(), kills
    while left:  # the test that catches most of what is left
        counts = Counter(chain.from_iterable(left))
        best = min(counts, key=lambda name: (-counts[name], found["tests"].get(name, 0), name))
        needed.add(best)
        left = [names for names in left if best not in names]
    spare = sorted(set(found["tests"]) - needed, key=found["tests"].get, reverse=True)
    n, seconds = len(found["tests"]), sum(found["tests"][name] for name in spare)
    print(f"{room}: {n - len(spare)} of {n} tests catch all; {seconds:.1f} s are in the others:")
    for name in spare[:40]:
        n_caught = sum(name in names for names in kills)
        print(f"  {found['tests'][name]:6.2f} s, caught {n_caught}, none alone: {name}")


def lost(results, earlier):
    """Return the names of faults that were caught in the earlier run and are not now."""
    return [
        name
        for room, found in results["rooms"].items()
        for name, fault in found["faults"].items()
        if fault["result"] == "passed"
        and earlier["rooms"].get(room, {}).get("faults", {}).get(name, {}).get("result") in CAUGHT
    ]


def main():
    """Run the faults of some rooms."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rooms", nargs="+", help="folders of src/mauc")
    parser.add_argument("--sample", type=int, default=40, help="faults per room (40)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=WORK / "mutants.json")
    parser.add_argument("--against", type=Path, help="an earlier result: its faults, what is lost")
    parser.add_argument("--tests", nargs="+", help="files and folders, not tests/<room>")
    parser.add_argument("--also", nargs="+", default=[], help="more of them, beside tests/<room>")
    parser.add_argument("--who", action="store_true", help="run all tests on each fault")
    parser.add_argument("--full", action="store_true", help="the tests without --fast")
    parser.add_argument(
        "--limit", type=float, help="seconds per fault (20 + 4 times those without)"
    )
    parser.add_argument(
        "--work", type=Path, default=WORK, help="folder of the copy and the kernels"
    )
    args = parser.parse_args()

    options = [] if args.full else ["--fast"]
    copy_of, digest = make_copy(args.work.resolve())
    told = {"digest": digest, "who": args.who, "options": [args.tests, args.also, options]}
    results = {**told, "seed": args.seed, "rooms": {}}
    if args.out.exists():
        results = json.loads(args.out.read_text("utf-8"))
        if any(results[key] != value for key, value in told.items()):
            parser.error(f"{args.out} is of other sources, tests or options; name another --out.")
    earlier = json.loads(args.against.read_text("utf-8")) if args.against else None

    # Before these packages are loaded, once for all runs; the package itself is loaded in each.
    os.environ["SCIPY_ARRAY_API"] = "1"
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    for name in ("numba", "pandas", "scipy.stats", "sklearn.ensemble", "sklearn.pipeline"):
        __import__(name)
    cache = args.work.resolve() / f"kernels-{hash_kernels(copy_of)}"
    cache.mkdir(exist_ok=True)

    for room in args.rooms:
        run_room(room, copy_of, cache, args, options, results, earlier)
    print_report(results, args.who)
    if earlier:
        names = lost(results, earlier)
        print(f"{len(names)} faults that were caught are not caught now")
        print("\n".join(f"lost {name}" for name in names))
        sys.exit(bool(names))


def run_room(room, copy_of, cache, args, options, results, earlier):
    """Run the tests of a room without a fault and with each; the result is kept after each."""
    named, files = {}, {}
    for path in sorted((copy_of / "src" / "mauc" / room).rglob("*.py")):
        file = path.relative_to(copy_of).as_posix()
        found = name_faults(file, path.read_text("utf-8"))
        named.update(found)
        files.update(dict.fromkeys(found, file))
    if earlier:
        chosen = [name for name in earlier["rooms"][room]["faults"] if name in named]
    else:
        chosen = draw(named, args.seed, args.sample)
    tests = list_tests(copy_of, [*(args.tests or [f"tests/{room}"]), *args.also])
    mine = results["rooms"].setdefault(room, {"faults": {}})
    if "tests" not in mine:
        for _ in range(2):  # the first run compiles
            end, failed, mine["tests"], mine["seconds"] = run_tests(copy_of, cache, tests, options)
            if end != "passed":
                sys.exit(f"tests of {room} fail without a fault: {', '.join(failed)}")
    limit = args.limit or 20 + 4 * mine["seconds"]
    options = options if args.who else [*options, "-x"]
    for number, name in enumerate(chosen, 1):
        if name in mine["faults"]:
            continue
        fault = named[name]
        end, by, _, seconds = run_fault(copy_of, cache, files[name], fault, tests, options, limit)
        kept = {key: getattr(fault, key) for key in ("kind", "line", "before", "after")}
        kept |= {"file": files[name], "result": end, "by": by, "seconds": round(seconds, 1)}
        mine["faults"][name] = kept
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(results, indent=1), "utf-8")
        print(f"{room} {number}/{len(chosen)} {end} {seconds:.0f} s {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
