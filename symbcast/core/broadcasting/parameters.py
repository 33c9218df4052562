"""The attributes of rules: the kind of value each takes, how text is parsed as one, and how a value is checked.

The keywords of `symbcast.broadcast`, the options of the command line and the fields of the explorer are generated
from these declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple, SupportsIndex, TypeAlias

from symbcast.core.algebra.sizes import index_of
from symbcast.core.characters import number_hint
from symbcast.errors import RuleArgumentError

AttributeValue: TypeAlias = int | str | tuple[int, ...] | None
"""What an attribute of a rule may be."""

AttributeLike: TypeAlias = "SupportsIndex | str | Sequence[SupportsIndex] | None"
"""What a caller may give for an attribute: NumPy's integers too, and any sequence of integers."""


class Required(Enum):
    """The type of `REQUIRED`."""

    REQUIRED = "required"

    def __repr__(self) -> str:
        return self.value


REQUIRED = Required.REQUIRED
"""The default of an attribute that must be given."""


class Kind(Enum):
    """The kind of value that an attribute takes. The value of each member says in words what to write."""

    INTEGER = "a number"
    INTEGERS = "axes, such as 0, 2"
    WORD = "a word"
    FLAG = "0 or 1"


class Parameter(NamedTuple):
    """An attribute of a rule.

    Attributes:
        name: The keyword; its command-line option has hyphens instead of underscores.
        default: The value if it is not given: `REQUIRED` if it must be given, None if leaving it out has its own
            meaning.
        choices: The allowed words; only for a `Kind.WORD`.
        kind: The kind of value that it takes.
        summary: Its meaning, in a few words, for the command-line help.

    >>> Parameter("axes", REQUIRED, kind=Kind.INTEGERS).read("numbered", "0, 2")
    (0, 2)
    """

    name: str
    default: AttributeValue | Required
    choices: tuple[str, ...] = ()
    kind: Kind = Kind.INTEGER
    summary: str = ""

    def read(self, rule: str, text: str) -> AttributeValue:
        """Return the value that a text means.

        Raises `RuleArgumentError` for text that is not a number if one is required; words are checked by `check`.
        """
        text = text.strip()
        match self.kind:
            case Kind.WORD:
                return text
            case Kind.INTEGERS:
                return tuple(self._integer(rule, part) for part in text.strip("()[]").split(",") if part.strip())
            case _:
                return self._integer(rule, text)

    def check(self, rule: str, value: object) -> AttributeValue:
        """Return a value in its normal form; raise `RuleArgumentError` for one that the attribute does not accept."""
        if value is None and self.default is None:
            return None
        match self.kind:
            case Kind.WORD:
                return self._word(rule, value)
            case Kind.INTEGERS:
                return as_axes(rule, self.name, value)
            case Kind.FLAG:
                return self._flag(rule, value)
            case Kind.INTEGER:
                return as_int(rule, self.name, value)

    def _word(self, rule: str, value: object) -> str:
        if isinstance(value, str) and (value in self.choices or not self.choices):
            return value
        words = " or ".join(map(repr, self.choices)) or "'...'"
        raise RuleArgumentError(rule, f"{self.name}={value!r} is not offered", f"write {self.name}={words}", self.name)

    def _flag(self, rule: str, value: object) -> int:
        flag = as_int(rule, self.name, int(value) if isinstance(value, bool) else value)
        if flag in (0, 1):
            return flag
        raise RuleArgumentError(rule, f"{self.name}={flag!r} is not offered", f"write {self.name}=0 or 1", self.name)

    def _integer(self, rule: str, text: str) -> int:
        try:
            return int(text)
        except ValueError:
            problem = f"{self.name}={text.strip()!r:.40} is not an integer"
            raise RuleArgumentError(rule, problem, attribute=self.name) from None


def as_int(rule: str, attribute: str, value: object) -> int:
    """Return an attribute that must be an integer, such as Python's or NumPy's; truth values are refused."""
    found = None if isinstance(value, bool) else index_of(value)
    if found is not None:
        return found
    hint = number_hint(attribute, value, f"write {attribute}=0, for example")
    raise RuleArgumentError(rule, f"{attribute}={value!r} is not an integer", hint, attribute)


def as_axes(rule: str, attribute: str, value: object) -> tuple[int, ...]:
    """Return an attribute that must be a sequence of integers."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        problem = f"{attribute}={value!r} is not a sequence"
        raise RuleArgumentError(rule, problem, f"write {attribute}=(0,), for example", attribute)
    return tuple(as_int(rule, attribute, axis) for axis in value)
