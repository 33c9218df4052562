"""The rules of a target: what its reader requires, each with the document or the source file that says so.

A writer makes a draft, holds it against the rules of its target, and returns it as text, which keeps them all.
The tests hold the texts against the readers themselves, or against the same rules written a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from symbcast.errors import TargetError

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Request

Draft = TypeVar("Draft")


@dataclass(frozen=True)
class Rule(Generic[Draft]):
    """One requirement of a target.

    Attributes:
        text: The requirement, as the first part of a sentence: ``"a tensor has at least one dimension"``.
        source: The document or the source file that has it.
        broken: Returns what of a draft breaks it, as the rest of the sentence; empty if nothing does.
        hint: What to do then.
    """

    text: str
    source: str
    broken: Callable[[Draft], str]
    hint: str


class Typed(Protocol):
    """A draft with the element type of each input, empty if unknown."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """The element types by the names of the inputs."""


def kinds_of(request: Request, names: Iterable[str]) -> dict[str, str]:
    """Return the element types of inputs, empty if unknown."""
    return {name: request.tensors[name].element_type for name in names}


def typed(of: str, known: Collection[str], source: str, hint: str) -> Rule[Any]:
    """Return the rule that the element types of inputs are among those that a target has.

    ``of`` is what has the type: ``"an input"``.
    """

    def broken(draft: Typed) -> str:
        unknown = ((name, kind) for name, kind in draft.kinds.items() if kind and kind not in known)
        return first(f"{name} has {kind}" for name, kind in unknown)

    return Rule(f"the element type of {of} is one of {', '.join(known)}", source, broken, hint)


def verify(request: Request, rules: Sequence[Rule[Draft]], draft: Draft) -> None:
    """Raise `TargetError` with the first rule that a draft breaks."""
    for rule in rules:
        found = rule.broken(draft)
        if found:
            raise TargetError(request.target, f"{rule.text}, and {found}", rule.hint)


def first(found: Iterable[str]) -> str:
    """Return the first of some texts that is not empty; empty if there is none."""
    return next(filter(None, found), "")
