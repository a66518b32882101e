"""What all estimators share: scikit-learn's callbacks, and where their documentation is."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from sklearn.base import BaseEstimator

from mauc.progress import fits

_Method = TypeVar("_Method")
_Item = TypeVar("_Item")

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # before scikit-learn 1.9 there are none
    CallbackSupportMixin = type("CallbackSupportMixin", (), {})

if TYPE_CHECKING or not hasattr(CallbackSupportMixin, "set_callbacks"):

    def with_callbacks(method: _Method) -> _Method:
        """Return the method, which closes its callbacks where there are any."""
        return method
else:
    from sklearn.callback import with_callbacks as with_callbacks  # which has no types


class Estimator(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators; their ``fit``, decorated by `with_callbacks`, runs in `_reported`."""

    _doc_link_module = "mauc"
    _doc_link_template = (
        "https://mauc-learn.github.io/mauc/reference/generated/mauc.{estimator_name}.html"
    )

    @contextmanager
    def _reported(self, X: object, y: object, sample_weight: object) -> Iterator[None]:
        """Report a fit, its loops and their items as tasks to the callbacks.

        A fit within it is a part of it. A loop within a loop is not reported: scikit-learn's
        progress bar would draw a line for each.
        """
        if not hasattr(self, "_skl_callbacks") or getattr(fits, "report", None) is not None:
            yield
            return
        given = {"estimator": self, "X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        root = self._init_callback_context(max_subtasks=None).call_on_fit_task_begin(**given)
        in_loop = False

        def report(items: Iterable[_Item], unit: str, total: int) -> Iterator[_Item]:
            """Report the items of a loop that is in no other loop."""
            nonlocal in_loop
            if in_loop:
                yield from items
                return
            in_loop = True
            try:
                loop = root.subcontext(task_name=unit, max_subtasks=total)
                loop.call_on_fit_task_begin(estimator=self)
                for item in items:
                    step = loop.subcontext(task_name=unit).call_on_fit_task_begin(estimator=self)
                    yield item
                    step.call_on_fit_task_end(estimator=self)
                loop.call_on_fit_task_end(estimator=self)
            finally:
                in_loop = False

        fits.report = report
        try:
            yield
        finally:
            fits.report = None
        root.call_on_fit_task_end(**given, reconstruction_attributes={})


class Ranker(Estimator):
    """Base of the selectors, by which what is below them knows that an estimator ranks features."""
