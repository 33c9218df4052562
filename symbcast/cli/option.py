"""An option as messages about arguments need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, get_args


class Option(NamedTuple):
    """An option of a command: its names, with the one used in messages first, and its values.

    ``number`` is the type of its value if that is a number; ``choices`` lists the allowed values if there are few;
    ``repeats`` says that the option may be repeated, ``is_switch`` that it takes no value;
    ``help`` is what its command's help says of it.
    """

    names: tuple[str, ...]
    choices: tuple[str, ...] = ()
    number: type[int] | type[float] | None = None
    repeats: bool = False
    is_switch: bool = False
    help: str = ""

    @classmethod
    def of(cls, names: Sequence[str], hint: Any, help: str = "") -> Option:
        """Return the option with some names and a type of value.

        >>> from typing import Literal
        >>> Option.of(["--axis"], int | None).number, Option.of(["--format"], Literal["text", "json"]).choices
        (<class 'int'>, ('text', 'json'))
        """
        kinds = [hint, *(k for k in get_args(hint) if isinstance(k, type) or get_args(k))]
        choices = tuple(c for kind in kinds for c in get_args(kind) if isinstance(c, str))
        number = next((n for n in (int, float) if n in kinds), None)
        return cls(tuple(names), choices, number, list[str] in kinds, hint is bool, help)


Options = Sequence[Option]
