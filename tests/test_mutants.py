"""tools/mutants.py: the faults of a small module, their sample and their names, counted by hand."""

import ast
from collections import Counter

import mutants

SOURCE = '''"""A module of every kind of fault, but in texts, types and decorators."""
LIMIT = 7

@njit(cache=True)
def clip(values: list[int] = 2 * [0], *, name: str = f"a{1}") -> "1 + 1":
    if not values or len(values) < LIMIT:
        raise ValueError(f"{1 + 1} values")
    values[0] = 5
    values.sort()
    return [v for v in values[1:] if v.ready and (v -
        1)]
'''


def changes(kind, source=SOURCE):
    return [
        (fault.line, fault.before, fault.after)
        for fault in mutants.find_faults(source)
        if fault.kind == kind
    ]


def test_every_kind_where_it_is_and_nowhere_else():
    assert changes("comparison") == [(6, "len(values) < LIMIT", "len(values) <= LIMIT")]
    assert changes("operator") == [(5, "2 * [0]", "2 / [0]"), (10, "v - 1", "v + 1")]
    assert [before for _, before, _ in changes("number")] == [*"77220000551111"]
    assert changes("boolean") == [
        (6, "not values", "(values)"),
        (6, "not values or len(values) < LIMIT", "not values and len(values) < LIMIT"),
        (10, "v.ready and (v - 1)", "v.ready or v - 1"),
    ]
    assert [after for _, _, after in changes("branch")] == [
        "not (not values or len(values) < LIMIT)",
        "not (v.ready and v - 1)",
    ]
    assert changes("slice") == [(10, "1:", "1 + 1:"), (10, "1:", "1:-1")]
    assert [line for line, _, _ in changes("statement")] == [7, 8, 9]


def test_a_fault_changes_its_place_alone_and_keeps_the_lines():
    original = ast.dump(ast.parse(SOURCE))
    for fault in mutants.find_faults(SOURCE):
        faulty = fault.apply(SOURCE)
        assert ast.dump(ast.parse(faulty)) != original
        assert faulty.count("\n") == SOURCE.count("\n")
        raw = SOURCE.encode()
        assert faulty.startswith(raw[: fault.start].decode())
        assert faulty.endswith(raw[fault.stop :].decode())
        assert fault.is_compiled
    assert not any(fault.is_compiled for fault in mutants.find_faults("def f():\n    return 1\n"))


def test_a_sample_is_of_all_kinds_and_stays_where_other_lines_change():
    names = mutants.name_faults("m.py", SOURCE)
    assert len(names) == len(mutants.find_faults(SOURCE))
    drawn = mutants.draw(names, 0, 7)
    assert Counter(names[name].kind for name in drawn) == Counter(
        ["boolean", "branch", "comparison", "number", "operator", "slice", "statement"]
    )
    assert drawn == mutants.draw(names, 0, 14)[:7] != mutants.draw(names, 1, 7)
    moved = mutants.name_faults("m.py", SOURCE.replace("LIMIT = 7", "LIMIT = 7\nOTHER = None"))
    assert mutants.draw(moved, 0, 7) == drawn


def test_kernels_that_call_a_changed_one_are_compiled_anew(tmp_path):
    sources = {
        "a": "from numba import njit",
        "b": "from .a import loop\nfrom numba import njit",
        "c": "from mauc.room import b\nfrom numba import njit",
        "d": "from .a import loop",
        "e": "from numba import njit",
    }
    room = tmp_path / "src" / "mauc" / "room"
    room.mkdir(parents=True)
    for name, source in sources.items():
        (room / f"{name}.py").write_text(source)
    reached = mutants.kernel_users(tmp_path, "src/mauc/room/a.py")
    assert {path.stem for path in reached} == {"a", "b", "c"}


def test_what_was_caught_and_is_not_is_lost():
    def results(**ends):
        return {"rooms": {"io": {"faults": {name: {"result": end} for name, end in ends.items()}}}}

    earlier = results(a="killed", b="timeout", c="passed", d="killed")
    assert mutants.lost(results(a="passed", b="passed", c="passed", d="timeout"), earlier) == [
        "a",
        "b",
    ]


def test_the_tests_that_are_needed(capsys):
    faults = {
        name: {"file": "m.py", "line": 1, "kind": "number", "before": "1", "after": "2"} | end
        for name, end in {
            "1": {"result": "killed", "by": ["a", "b"]},
            "2": {"result": "killed", "by": ["b", "c"]},
            "3": {"result": "passed", "by": []},
            "4": {"result": "timeout", "by": []},
        }.items()
    }
    rooms = {"io": {"faults": faults, "tests": {"a": 1.0, "b": 0.5, "c": 2.0, "d": 0.25}}}
    mutants.print_report({"rooms": rooms}, who=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["io", "4", "2", "1", "1", "75%"]
    assert lines[2] == "survived m.py:1 number: 1 -> 2"
    assert lines[3] == "io: 1 of 4 tests catch all; 3.2 s are in the others:"
    assert [line.rpartition(" ")[2] for line in lines[4:]] == ["c", "a", "d"]
