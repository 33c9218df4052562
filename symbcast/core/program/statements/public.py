"""The door from a public answer, which higher layers define, to the plain answer that it shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar, overload

if TYPE_CHECKING:
    from symbcast.core.program.calls.call import Call
    from symbcast.core.program.whole.program import Program

T = TypeVar("T")


class Public(ABC):
    """A public answer. It shows what users need of the plain answer that it holds."""

    __slots__ = ()

    @property
    @abstractmethod
    def _subject(self) -> Call | Program:
        """The plain answer about the question's sizes, with the assumptions on them."""


@overload
def plain_answer(value: Public) -> Call | Program: ...
@overload
def plain_answer(value: T) -> T: ...
def plain_answer(value: object) -> object:
    """Return the plain answer of a public one; anything else as it is."""
    return value._subject if isinstance(value, Public) else value
