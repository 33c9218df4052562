"""Options that several commands share, with their help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from cyclopts import Parameter

from symbcast.cli.output import Format
from symbcast.cli.statuses import UsageError

if TYPE_CHECKING:
    from symbcast.answers.public.guard_texts import Guards

AGAIN = Parameter(consume_multiple=False, negative=())
"""An option that may be repeated, with one value each time."""

RuleName: TypeAlias = Annotated[str, Parameter(help="The rule to broadcast by; see `symbcast rules`.")]
Assumed: TypeAlias = Annotated[
    list[str] | None, AGAIN, Parameter(help='An assumption about the sizes, such as "N >= 2"; may be repeated.')
]
MinSize: TypeAlias = Annotated[int, Parameter(help="The minimum size of every symbol.")]
Language: TypeAlias = Literal["python", "cpp", "smtlib", "mlir"]
GuardIn: TypeAlias = Annotated[
    Language | None, Parameter(help="Print only the condition, as a guard in this language, instead of the report.")
]
TextOrJson: TypeAlias = Annotated[Format, Parameter(help="Text to read, or JSON.")]


def guard_text(answer: Guards, language: Language, format: str) -> str:
    """Return the guard of an answer; raise `UsageError` if a format is given too."""
    if format != "text":
        raise UsageError(f"--guard prints source text: leave --format {format} out")
    sources = {"python": answer.to_python, "cpp": answer.to_cpp, "smtlib": answer.to_smtlib, "mlir": answer.to_mlir}
    return sources[language]().rstrip("\n")
