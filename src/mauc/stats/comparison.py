"""How selectors are compared: the baseline, the test and its level, as one value."""

from dataclasses import dataclass

from mauc.checks import check_choice, check_level

#: paired tests by name, with how tables and pages call them
TESTS = {
    "wilcoxon": "Wilcoxon signed-rank test",
    "corrected_t": "corrected resampled t-test",
}


@dataclass(frozen=True)
class Comparison:
    """What a comparison of selectors asks for; tables, figures, pages and commands all take it.

    Parameters
    ----------
    reference : str or None, default="mdfs"
        Baseline selector, with which the others are compared. None: no baseline, so no marks.
    test : {"wilcoxon", "corrected_t"}, default="wilcoxon"
        `wilcoxon_test`, as in the paper, or `corrected_t_test`, which allows for overlapping
        training parts.
    alpha : float, default=0.05
        Level of significance: a mark is given for p-values below it.

    Examples
    --------
    >>> from mauc.stats import Comparison
    >>> print(Comparison("su", test="corrected_t"))
    corrected resampled t-test at 5 %
    """

    reference: str | None = "mdfs"
    test: str = "wilcoxon"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        """Refuse a test or level that does not exist."""
        check_choice("test", self.test, TESTS)
        check_level("alpha", self.alpha)

    def __str__(self) -> str:
        """Return the test and its level in words."""
        return f"{TESTS[self.test]} at {self.level}"

    @property
    def level(self) -> str:
        """The level in percent, such as "5 %"."""
        return f"{100 * self.alpha:g} %"


#: the baseline, test and level of Wang and Tang's tables
PAPER_COMPARISON = Comparison()
