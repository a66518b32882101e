"""The options of the commands that say how a data file is read, and the data they give."""

import ast
import functools
import inspect
import re
import shlex
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from mauc.cli.show import watched
from mauc.exceptions import LeftOutWarning, MaucError, spell_options
from mauc.io.options import command_line_option

if TYPE_CHECKING:
    from mauc.datasets import Dataset

FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format of the file, if its extension does not say: csv, tsv, txt (separator found), "
        "xlsx, parquet, feather, arff, npz, mat, envi or svmlight.",
    ),
]
NominalOption = Annotated[
    str,
    typer.Option(
        "--nominal",
        metavar="HOW",
        help="Nominal columns: auto (as such where a method takes them, otherwise as numbers), "
        "ordinal (codes), onehot (indicators) or drop.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Column to leave out; repeatable."),
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="Column that is nominal although it holds numbers; repeatable.",
    ),
]
KeepIdsOption = Annotated[
    bool,
    typer.Option(
        "--keep-ids",
        help="Keep columns that look like row numbers, ids or dates, constant and nearly empty "
        "ones; they are left out otherwise.",
    ),
]
SkipOption = Annotated[
    bool, typer.Option("--skip-unlabelled", help="Leave out rows without a label.")
]
ManyClassesOption = Annotated[
    bool,
    typer.Option(
        "--many-classes",
        help="Accept a target of more than 1,000 classes, or of hardly more than one row each.",
    ),
]
MissingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="WORD",
        help="Word that stands for a missing value, besides ?, NA, N/A, NaN, nan and null; "
        "repeatable.",
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="TEXT",
        help="Column separator of a csv, tsv or txt file: one character, \\t or whitespace.",
    ),
]
DecimalOption = Annotated[
    str | None,
    typer.Option("--decimal", metavar="TEXT", help="Decimal point of a text file; . by default."),
]
ThousandsOption = Annotated[
    str | None,
    typer.Option("--thousands", metavar="TEXT", help="What separates thousands in a text file."),
]
NoHeaderOption = Annotated[
    bool,
    typer.Option(
        "--no-header", help="The first line of a text file holds data, not the names of columns."
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of a text file, such as latin-1; UTF-8 by default.",
    ),
]
SheetOption = Annotated[
    str | None,
    typer.Option("--sheet", metavar="NAME", help="Sheet of an xlsx file; the first by default."),
]


@dataclass(frozen=True)
class Reading:
    """How a data file is read: one field per option of the command line.

    A command takes it as its parameter ``reading``; `reads_data` puts the options in its place.
    """

    data_format: FormatOption = None
    nominal: NominalOption = "auto"
    drop: DropOption = None
    categorical: CategoricalOption = None
    keep_ids: KeepIdsOption = False
    skip_unlabelled: SkipOption = False
    many_classes: ManyClassesOption = False
    missing: MissingOption = None
    separator: SeparatorOption = None
    decimal: DecimalOption = None
    thousands: ThousandsOption = None
    no_header: NoHeaderOption = False
    encoding: EncodingOption = None
    sheet: SheetOption = None

    def options(self) -> dict[str, Any]:
        """Return the options of `load_dataset` that were given."""
        separator = self.separator and self.separator.replace("\\t", "\t")
        given = {
            "format": self.data_format,
            "nominal": None if self.nominal == "auto" else self.nominal,
            "drop": self.drop,
            "categorical_features": self.categorical,
            "keep_ids": self.keep_ids,
            "skip_unlabelled": self.skip_unlabelled,
            "many_classes": self.many_classes,
            "missing": self.missing,
            "separator": separator,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "header": False if self.no_header else None,
            "encoding": self.encoding,
            "sheet": self.sheet,
        }
        return {
            name: value for name, value in given.items()
            if value or (name == "header" and value is False)
        }  # fmt: skip

    def check_words(self) -> None:
        """Raise if ``--nominal`` is no word that it takes."""
        from mauc.checks import unknown_choice
        from mauc.datasets import NOMINAL

        if self.nominal not in ("auto", *NOMINAL):
            raise unknown_choice("--nominal", self.nominal, ("auto", *NOMINAL))

    def load(self, data: str, target: str | None) -> "Dataset":
        """Load the data set of a command; errors and notes name its options."""
        from mauc.datasets import load_dataset

        self.check_words()
        with warnings.catch_warnings(), spell_options(command_line_option):
            warnings.simplefilter("ignore", LeftOutWarning)  # it is in the notes
            return watched(load_dataset, f"reading {data}")(data, target, **self.options())


DEFAULT_READING = Reading()


def reads_data(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Reading` in the place of its parameter ``reading``."""
    hints = get_type_hints(function, include_extras=True)
    own = get_type_hints(Reading, include_extras=True)
    defaults = {field.name: field.default for field in fields(Reading)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name != "reading":
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
            continue
        for name, default in defaults.items():
            parameters.append(parameter.replace(name=name, default=default, annotation=own[name]))

    @functools.wraps(function)
    def run(**options: Any) -> None:
        given = {name: options.pop(name) for name in defaults if name in options}
        function(reading=Reading(**given), **options)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


# How the parameters of `load_dataset` are called on the command line.
_WORDS = {
    "categorical_features": "--categorical", "decimal": "--decimal", "drop": "--drop",
    "encoding": "--encoding", "format": "--format", "memory": "--memory",
    "missing": "--missing", "nominal": "--nominal", "separator": "--separator",
    "sheet": "--sheet", "target": "--target", "thousands": "--thousands",
}  # fmt: skip
_FLAGS = {
    "header=False": "--no-header", "keep_ids=True": "--keep-ids",
    "many_classes=True": "--many-classes", "skip_unlabelled=True": "--skip-unlabelled",
}  # fmt: skip
_SWITCHES = {flag.partition("=")[0]: option for flag, option in _FLAGS.items()}
_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAMES = "|".join(_WORDS)


def refuse_options(given: dict[str, Any], what: str) -> None:
    """Raise if an option of `load_dataset` is given that goes with something that is not there.

    Examples
    --------
    >>> from mauc.cli.reading import refuse_options
    >>> refuse_options({"header": False}, "a file of scores")
    Traceback (most recent call last):
    mauc.exceptions.MaucError: --no-header goes with a file of scores.
    """
    for name, value in given.items():
        if name in _SWITCHES:
            raise MaucError(f"{_SWITCHES[name]} goes with {what}.")
        if value is not None:
            raise MaucError(f"{_WORDS[name]} goes with {what}, got {value!r} without one.")


def as_options(message: str) -> str:
    """Return a message of the library with its parameters as options of the command line.

    Examples
    --------
    >>> from mauc.cli.reading import as_options
    >>> as_options("turn it into a number or say drop='a column'.")
    "turn it into a number or say --drop 'a column'."
    >>> as_options("keep_ids=True keeps them.")
    '--keep-ids keeps them.'
    """
    for parameter, option in _FLAGS.items():
        message = re.sub(rf"\b{parameter}\b", option, message)

    def with_value(found: re.Match[str]) -> str:
        value = str(ast.literal_eval(found[2]))
        quoted = shlex.quote(value) if any(map(str.isalnum, value)) else f"'{value}'"
        return f"{_WORDS[found[1]]} {quoted}"

    message = re.sub(rf"\b({_NAMES})=({_TEXT})", with_value, message)
    message = re.sub(rf"\b({_NAMES})=(?=\s|$)", lambda found: _WORDS[found[1]], message)
    message = re.sub(r"\bmemory=(?=\d)", "--memory ", message)
    message = message.replace("(PairAUCSketch)", "(--sketch, with --method mdfs or maucd)")
    words = {**_WORDS, "test": "--test", "alpha": "--alpha"}
    return re.sub(
        rf"(^|: |\band )({'|'.join(words)})(?= (must|goes|has|as a|and)\b)",
        lambda found: found[1] + words[found[2]],
        message,
    )
