"""The page of a selection in the words of the command line: what was typed, what to type next."""

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mauc.selectors.base import RankingSelector

# Options of `mauc select` and `mauc compare` that do not say how the data are read.
_VALUED = {
    "-k", "--method", "-m", "--methods", "--set", "--output", "-o", "--report", "--figure",
    "--classifiers", "-c", "--sizes", "--repeats", "--folds", "--reference", "--test", "--alpha",
    "--jobs", "-j", "--progress",
}  # fmt: skip
_FLAGS = {"--force", "--json", "--debug"}


def page_words(selector: "RankingSelector", n_features: int) -> dict[str, Any]:
    """Return the options `command` and `steps` of `selection_report`, made of what was typed."""
    words = sys.argv[1:]
    steps = (
        next_steps(selector, n_features, words) if words[:1] in (["select"], ["compare"]) else None
    )
    return {"command": shlex.join(["mauc", *words]), "steps": steps}


def next_steps(
    selector: "RankingSelector", n_features: int, words: Sequence[str]
) -> dict[str, str] | None:
    """Return the command of each next step, after the words of `mauc select` or `mauc compare`.

    None for a selector without a short name. A table of the chosen features is not written twice.
    """
    from mauc.report.html.recipe import rivals_of, short_name

    name, size = short_name(selector), len(selector.ranking_)
    if name is None:
        return None
    reading = reading_words(words)
    select = ["mauc", "select", *reading, "--method"]
    same = [*select, name, *_set_words(words), "-k"]
    steps = {
        "greedy": [*select, "greedy", "-k", str(size)],
        "auto": [*same, "auto"],
        "more": [*same, str(min(2 * size, n_features))],
        "compare": [
            "mauc", "compare", *reading, "--methods", ",".join(rivals_of(selector)),
            "--sizes", str(size),
        ],
        "use": [*same, str(size), "--output", "reduced.csv"],
    }  # fmt: skip
    options = {word.partition("=")[0] for word in words}
    if words[0] == "select" and {"--output", "-o"} & options:
        del steps["use"]
    return {step: shlex.join(words) for step, words in steps.items()}


def reading_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command that say which data are read, and how.

    >>> reading_words("select my.csv --target label -k 20 --report=page.html --drop id".split())
    ['my.csv', '--target', 'label', '--drop', 'id']
    """
    left, kept = list(words[1:]), []
    while left:
        word = left.pop(0)
        option, equals, _ = word.partition("=")
        if option in _VALUED:
            if not equals and left:
                left.pop(0)
        elif word[:2] in _VALUED and not word.startswith("--") and len(word) > 2:
            continue  # such as -k20
        elif word not in _FLAGS:
            kept.append(word)
    return kept


def _set_words(words: Sequence[str]) -> list[str]:
    """Return the ``--set`` options of a command: they belong to its method."""
    found = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "--set":
            found += [word, following]
        elif word.startswith("--set="):
            found.append(word)
    return found
