"""What a registry of methods holds: one entry per method, its class imported when asked for."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

from mauc.checks import unknown_word


class Accepts(NamedTuple):
    """What a method takes beside dense, finite numbers; missing values are taken by all."""

    sparse: bool = False  #: sparse matrices
    infinite: bool = False  #: infinite values
    nominal: bool = False  #: nominal columns
    weights: bool = False  #: sample weights

    def words(self) -> list[str]:
        """Return what is taken, in words."""
        return [name for name, is_taken in zip(self._fields, self, strict=True) if is_taken]


@dataclass(frozen=True)
class Method:
    """A selector or classifier by its short name; called, it makes one.

    Parameters
    ----------
    kind : {"selector", "classifier"}
    name : str
        The short name of plans and of the command line.
    label : str
        How tables and figures write it.
    class_name, module : str
        The class and the module that has it.
    measure : str
        By what it ranks features, or how it classifies, in a few words.
    accepts : Accepts
        With its default options.
    options : dict
        Parameters that belong to the short name.
    is_in_paper : bool
        Whether Wang and Tang's experiments have it.
    """

    kind: str
    name: str
    label: str
    class_name: str
    module: str
    measure: str
    accepts: Accepts
    options: dict[str, Any] = field(default_factory=dict)
    is_in_paper: bool = False

    @property
    def made_class(self) -> Any:
        """The class, imported now."""
        return getattr(import_module(self.module), self.class_name)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Return an unfitted estimator; an option that it does not have is refused."""
        known = self.made_class().get_params()
        for name in options:
            if name not in known:
                raise unknown_word(f"option of {self.kind} {self.name}", name, known)
        return self.made_class(*args, **{**self.options, **options})
