"""The outcome of checking one file, with data for the formats and for the command's display and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.answers.report.outcomes import Outcome
from symbcast.batch.results import Stamp, Status

if TYPE_CHECKING:
    from symbcast.answers.show.document import Document


class Confirmed(NamedTuple):
    """A run in the real runtime, and whether it agrees with the report; None if the report makes no prediction."""

    sizes: dict[str, int]
    expected: str
    happened: str
    agrees: bool | None
    reason: str
    text: str


class Names(NamedTuple):
    """The names of sizes and of inputs in a model that options may mention."""

    sizes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()


NO_NAMES = Names()
NO_FILE = Stamp()


@dataclass(frozen=True)
class FileOutcome(Outcome):
    """The outcome of checking one file.

    ``names`` are those in the file, ``document`` is the report in words, ``data`` is the same for JSON, and ``guard``
    is the source text of a guard; each is present only if requested. ``stamp`` is the state of the file when it was
    checked. ``remarks`` are for whoever started the check, and are not part of the answer.
    """

    subject: str = "the model"
    seconds: float = 0.0
    names: Names = NO_NAMES
    document: Document | None = None
    data: dict[str, Any] | None = None
    guard: str = ""
    findings: int = 0
    unanalysed: int = 0
    confirmed: tuple[Confirmed, ...] = ()
    remarks: tuple[str, ...] = ()
    status: Status = "checked"
    stamp: Stamp = NO_FILE
