"""Options that several commands share, with their help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from symbcast.cli.option import Meaning
from symbcast.cli.output import Format
from symbcast.cli.statuses import UsageError
from symbcast.core.characters import visible

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


def open_reasons(answer: Guards) -> tuple[str, ...]:
    """Return why some sizes are neither proved to work nor proved to fail; empty if there are no such sizes."""
    account = answer._account
    return tuple(part.reason for part in account.open) if account.is_open else ()


def guard_text(answer: Guards, language: Language, format: str) -> str:
    """Return the guard of an answer; raise `UsageError` if a format is given too.

    It is false for sizes that are open, which a comment says.
    """
    if format != "text":
        raise UsageError(f"--guard prints source text: leave --format {format} out")
    sources = {"python": answer.to_python, "cpp": answer.to_cpp, "smtlib": answer.to_smtlib, "mlir": answer.to_mlir}
    mark = {"python": "#", "smtlib": ";"}.get(language, "//")
    left = open_reasons(answer)
    comment = [f"{mark} False for sizes that are open: {visible(reason)}\n" for reason in left]
    return f"{''.join(comment)}{sources[language](open=False)}".rstrip("\n")
