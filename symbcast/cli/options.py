"""Options that several commands share, with their help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from symbcast.cli.option import Meaning
from symbcast.cli.output import Format
from symbcast.cli.statuses import UsageError

if TYPE_CHECKING:
    from symbcast.answers.public.guard_texts import Guards

RuleName: TypeAlias = Annotated[str, Meaning("The rule to broadcast by; see `symbcast rules`.")]
Assumed: TypeAlias = Annotated[
    list[str] | None, Meaning('An assumption about the sizes, such as "N >= 2"; may be repeated.')
]
MinSize: TypeAlias = Annotated[int, Meaning("The minimum size of every symbol.")]
Language: TypeAlias = Literal["python", "cpp", "smtlib", "mlir"]
GuardIn: TypeAlias = Annotated[
    Language | None, Meaning("Print only the condition, as a guard in this language, instead of the report.")
]
TextOrJson: TypeAlias = Annotated[Format, Meaning("Text to read, or JSON.")]


def guard_text(answer: Guards, language: Language, format: str) -> str:
    """Return the guard of an answer; raise `UsageError` if a format is given too."""
    if format != "text":
        raise UsageError(f"--guard prints source text: leave --format {format} out")
    sources = {"python": answer.to_python, "cpp": answer.to_cpp, "smtlib": answer.to_smtlib, "mlir": answer.to_mlir}
    return sources[language]().rstrip("\n")
