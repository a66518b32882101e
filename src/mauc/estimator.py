"""What all estimators share: scikit-learn's callbacks, and where their documentation is."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import BaseEstimator

from mauc.progress import fits

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9 there are none

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for the class of scikit-learn 1.9."""

    def with_callbacks(method: Any) -> Any:
        """Return the method."""
        return method


_PAGES = "https://mauc-learn.github.io/mauc/reference/generated/"


class Estimator(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators; their ``fit``, decorated by `with_callbacks`, runs in `_reported`."""

    _doc_link_module = "mauc"
    _doc_link_template = f"{_PAGES}mauc.{{estimator_name}}.html"

    @contextmanager
    def _reported(self, X: Any, y: Any, sample_weight: Any) -> Iterator[None]:
        """Report a fit and its loops to the callbacks; a fit within a fit is a part of it."""
        if not hasattr(self, "_skl_callbacks") or getattr(fits, "tasks", None) is not None:
            yield
            return
        given = {"estimator": self, "X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        root = self._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(**given)
        fits.tasks = FitTasks(self, root)
        try:
            yield
        finally:
            fits.tasks = None
        root.call_on_fit_task_end(**given, reconstruction_attributes={})


class FitTasks:
    """The loops of a fit as tasks of scikit-learn: a task per loop, and in it one per item.

    A loop within a loop is not reported: scikit-learn's progress bar would draw a line for each.
    """

    def __init__(self, estimator: Estimator, root: Any) -> None:
        self.estimator, self.root = estimator, root
        self.in_loop = False

    def steps(self, items: Iterable[Any], unit: str, total: int) -> Iterator[Any]:
        """Yield the items of a loop and report their begin and end."""
        self.in_loop = True
        try:
            loop = self.root.subcontext(task_name=unit, max_subtasks=total)
            loop.call_on_fit_task_begin(estimator=self.estimator)
            for item in items:
                step = loop.subcontext(task_name=unit)
                step.call_on_fit_task_begin(estimator=self.estimator)
                yield item
                step.call_on_fit_task_end(estimator=self.estimator)
            loop.call_on_fit_task_end(estimator=self.estimator)
        finally:
            self.in_loop = False
