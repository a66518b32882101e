"""What `diagnose` returns."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from mauc.layout import Layout, plain_layout
from mauc.results import Result, rows_to_columns, short_name


class Finding(NamedTuple):
    """One diagnosis."""

    code: str  #: of its kind, such as "MD01"; docs/answers/doctor.md lists them
    kind: str
    severity: str
    classes: tuple[Any, ...]
    features: tuple[str, ...]
    rows: tuple[int, ...]  #: numbers of rows, from 0
    evidence: str
    next: str  #: what to do, in Python


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """What `diagnose` found; iterating gives a `Finding` each, the most consequential first.

    Parameters
    ----------
    findings : tuple of Finding
    checked : str
        What was looked at, in a sentence.
    n_classes : int
    """

    findings: tuple[Finding, ...]
    checked: str
    n_classes: int

    def frame_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`: one row per finding."""
        return rows_to_columns(self.findings, Finding._fields)

    def printed_parts(self) -> list[str | Layout]:
        """Return a table of the findings and what to do, or that nothing was found."""
        if not self.findings:
            return [f"Nothing was found. {self.checked}"]
        rows = [
            [str(at), one.code, one.kind, one.severity, one.evidence]
            for at, one in enumerate(self.findings, 1)
        ]
        steps = [f"{at}. {short_name(one.next, 200)}" for at, one in enumerate(self.findings, 1)]
        heads = ["", "code", "diagnosis", "severity", "evidence"]
        return [plain_layout(heads, rows), "Next:", *steps, self.checked]
