"""What to do next: the conclusion of a page in, a reason and a command or Python call out."""

import shlex
from typing import Any

from mauc.report.html.conclude import SAME, UNSTABLE
from mauc.report.html.recipe import call_of, import_line, short_name
from mauc.selectors.base import RankingSelector

_POOR = 0.6  # MAUC of features that tell next to nothing
_RIVALS = ("greedy", "mdfs", "mrmr")  # methods to compare with
_RIVAL_CALLS = {
    "greedy": "GreedyMAUC()", "mdfs": "MDFS(random_state=0)", "mrmr": "MRMR()",
}  # fmt: skip
# Options of `mauc select` and `mauc compare` that do not say how the data are read.
_VALUED = {
    "-k", "--method", "-m", "--methods", "--set", "--output", "-o", "--report", "--figure",
    "--classifiers", "-c", "--sizes", "--repeats", "--folds", "--reference", "--test", "--alpha",
    "--jobs", "-j", "--progress",
}  # fmt: skip
_FLAGS = {"--force", "--json", "--debug"}


def suggest(
    selector: RankingSelector, conclusion: dict[str, Any], command: str | None, n_features: int
) -> dict[str, Any]:
    """Return the step that the conclusion suggests.

    Parameters
    ----------
    selector : RankingSelector
        Fitted.
    conclusion : dict
        Made by `mauc.report.html.conclude`.
    command : str or None
        What was typed to make the page.
    n_features : int
        Of the data.

    Returns
    -------
    step : dict
        ``why``, and ``command`` or ``code``, what to type.
    """
    step, why = _choose(selector, conclusion, n_features)
    if step == "use" and command is not None and _writes_table(command):
        step, why = "compare", "Nothing speaks against this choice. Compare it with others:"
    name = short_name(selector)
    size = len(selector.ranking_)
    more = min(2 * size, n_features)
    rivals = list(dict.fromkeys([name, *_RIVALS] if name else _RIVALS))[:3]
    if command is not None and name is not None and _is_ours(command):
        reading = ["mauc", "select", *reading_words(command)]
        same = [*reading, "--method", name, *_option_words(command)]
        words = {
            "greedy": [*reading, "--method", "greedy", "-k", str(size)],
            "auto": [*same, "-k", "auto"],
            "more": [*same, "-k", str(more)],
            "compare": [
                "mauc", "compare", *reading_words(command), "--methods", ",".join(rivals),
                "--sizes", str(size),
            ],
            "use": [*same, "-k", str(size), "--output", "reduced.csv"],
        }  # fmt: skip
        return {"kind": step, "why": why, "command": shlex.join(words[step]), "code": None}
    calls = ", ".join(
        call_of(selector) if rival == name else _RIVAL_CALLS[rival] for rival in rivals
    )
    code = {
        "greedy": f"from mauc import GreedyMAUC\n\nselector = GreedyMAUC({size}).fit(X, y)",
        "auto": _fit_again(selector, n_features_to_select="auto"),
        "more": _fit_again(selector, n_features_to_select=more),
        "compare": (
            f"from mauc import {_imports(selector, rivals, name)}, select_k\n\n"
            f"for rival in ({calls}):\n    print(rival, select_k(rival, X, y, sizes=[{size}]))"
        ),
        "use": "X_chosen = selector.transform(X)",
    }
    return {"kind": step, "why": why, "command": None, "code": code[step]}


def _choose(
    selector: RankingSelector, conclusion: dict[str, Any], n_features: int
) -> tuple[str, str]:
    kinds = {pair["kind"] for pair in conclusion["hard"]}
    is_greedy = type(selector).__name__ == "GreedyMAUC"
    is_fixed = not isinstance(selector.n_features_to_select, str)
    can_grow = len(selector.ranking_) < n_features
    chosen, every = conclusion["chosen"], conclusion["every"]
    if "left_out" in kinds and not is_greedy:
        return "greedy", (
            "The choice leaves better features out. GreedyMAUC looks at all class pairs at once "
            "and at what the chosen features already separate:"
        )
    is_short = bool(chosen and every and every["mauc"] - chosen["mauc"] > SAME)
    if can_grow and (is_short or "left_out" in kinds):
        if is_fixed:
            return "auto", (
                "More features would do better. Let cross-validation say how many are enough:"
            )
        if "left_out" in kinds:
            return "more", "The choice leaves better features out. Try more of them:"
        return "compare", (
            "All features together do a little better than the number that cross-validation "
            "chose. See whether another method does:"
        )
    stable = conclusion["stability"]
    if stable and stable["value"] < UNSTABLE:
        return "compare", (
            "Other samples would lead to another choice. See whether another method does better:"
        )
    if chosen is None and kinds & {"none", "few"}:
        return "compare", (
            "Too little is known about the pairs above: more samples, or other measurements, are "
            "needed before a choice can be trusted. See whether another method does better:"
        )
    if chosen is None:
        return "use", "Go on with the chosen features; more samples would tell how good they are:"
    if chosen["mauc"] < _POOR or kinds <= {"none", "few"}:
        return "compare", (
            "The chosen features hardly tell the pairs above apart, and no other feature does: "
            "more samples or other measurements are needed. See whether another method does better:"
        )
    if "more" in kinds:
        return "use", (
            "Over all pairs the choice does as well as all features. Go on with it, or choose more "
            "features if the pairs above matter:"
        )
    return "use", "Nothing speaks against this choice. Go on with the chosen features:"


def reading_words(command: str) -> list[str]:
    """Return the words of a command that say which data are read, and how.

    Examples
    --------
    >>> from mauc.report.html.next_step import reading_words
    >>> reading_words("mauc select my.csv --target label -k 20 --report=page.html --drop id")
    ['my.csv', '--target', 'label', '--drop', 'id']
    """
    words = shlex.split(command)[2:]
    kept = []
    while words:
        word = words.pop(0)
        option, equals, _ = word.partition("=")
        if option in _VALUED:
            if not equals and words:
                words.pop(0)
        elif word[:2] in _VALUED and not word.startswith("--") and len(word) > 2:
            continue  # such as -k20
        elif word not in _FLAGS:
            kept.append(word)
    return kept


def _option_words(command: str) -> list[str]:
    """Return the ``--set`` options of a command: they belong to its method."""
    words = shlex.split(command)
    found = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "--set":
            found += [word, following]
        elif word.startswith("--set="):
            found.append(word)
    return found


def _writes_table(command: str) -> bool:
    """Whether a command has written the chosen features already."""
    words = [word.partition("=")[0] for word in command.split()]
    return "select" in words and bool({"--output", "-o"} & set(words))


def _is_ours(command: str) -> bool:
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return len(words) > 1 and words[0] == "mauc" and words[1] in ("select", "compare", "rank")


def _fit_again(selector: RankingSelector, **changes: Any) -> str:
    return f"{import_line(selector)}\n\nselector = {call_of(selector, **changes)}.fit(X, y)"


def _imports(selector: RankingSelector, rivals: list[str], name: str | None) -> str:
    classes = {
        type(selector).__name__ if rival == name else _RIVAL_CALLS[rival].partition("(")[0]
        for rival in rivals
    }
    return ", ".join(sorted(classes))
