"""Options of commands, read from the signatures of the functions that run them.

An option is a keyword-only parameter. Its annotation says what its values are, and may have a `Meaning`; otherwise its
help is in the docstring, in numpydoc's section "Parameters".
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, NamedTuple, get_args, get_origin


class Meaning(NamedTuple):
    """What an annotation adds to the type of an option: its help, and names other than the parameter's."""

    help: str = ""
    names: tuple[str, ...] = ()


class Option(NamedTuple):
    """An option of a command: its names, with the one used in messages first, and its values.

    ``number`` is the type of its value if that is a number; ``choices`` lists the allowed values if there are few;
    ``repeats`` says that the option may be repeated, ``is_switch`` that it takes no value;
    ``help`` is what its command's help says of it; ``parameter`` is the name of the function's parameter.
    """

    names: tuple[str, ...]
    choices: tuple[str, ...] = ()
    number: type[int] | type[float] | None = None
    repeats: bool = False
    is_switch: bool = False
    help: str = ""
    parameter: str = ""

    @classmethod
    def of(cls, parameter: str, annotation: Any, help: str = "") -> Option:
        """Return the option for a parameter with some annotation.

        >>> from typing import Literal
        >>> Option.of("min_size", int | None).names, Option.of("format", Literal["text", "json"]).choices
        (('--min-size',), ('text', 'json'))
        """
        hint, meaning = divided(annotation)
        kinds = [hint, *(k for k in get_args(hint) if isinstance(k, type) or get_args(k))]
        choices = tuple(c for kind in kinds for c in get_args(kind) if isinstance(c, str))
        number = next((n for n in (int, float) if n in kinds), None)
        names = meaning.names or (f"--{parameter.replace('_', '-')}",)
        return cls(names, choices, number, list[str] in kinds, hint is bool, meaning.help or help, parameter)


class Unknown(NamedTuple):
    """An option that a command does not have, as typed.

    ``argument`` is the whole argument, ``name`` its option (empty if it is none), ``following`` its value, ``command``
    the command, ``others`` the arguments of the command that are not options, ``rule`` the rule's name, and
    ``arguments`` all arguments of the command.
    """

    argument: str
    name: str
    following: str
    command: str
    others: Sequence[str]
    rule: str = "numpy"
    arguments: Sequence[str] = ()

    @property
    def word(self) -> str:
        """The name without its hyphens, in lower case."""
        return self.name.lstrip("-").casefold()

    @property
    def words(self) -> list[str]:
        """The whole name and the words in it, in lower case: ``minShapes`` has ``min``, ``shape1`` has ``shape``."""
        parts = re.findall(r"[^\W\d_][^\W\d_A-Z]*", self.name)
        return list(dict.fromkeys([self.word, *(part.casefold() for part in parts)]))


Options = Sequence[Option]
Command = Callable[..., int]


def divided(annotation: Any) -> tuple[Any, Meaning]:
    """Return the type in an annotation, and its meaning."""
    if get_origin(annotation) is not Annotated:
        return annotation, Meaning()
    hint, *about = get_args(annotation)
    return hint, next((a for a in about if isinstance(a, Meaning)), Meaning())


def options_of(command: Command) -> list[Option]:
    """Return the options of a command.

    >>> def show(*shapes: str, rank: int | None = None) -> int:
    ...     '''Show shapes.
    ...
    ...     Parameters
    ...     ----------
    ...     rank
    ...         Their rank.
    ...     '''
    ...     return 0
    >>> [option] = options_of(show)
    >>> option.names, option.number, option.help
    (('--rank',), <class 'int'>, 'Their rank.')
    """
    helps = helps_of(command)
    own = inspect.signature(command, eval_str=True).parameters.values()
    keywords = [p for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY]
    return [Option.of(p.name, p.annotation, helps.get(p.name, "")) for p in keywords]


def helps_of(command: Command) -> dict[str, str]:
    """Return what the docstring of a command says of each parameter."""
    _, _, section = inspect.cleandoc(command.__doc__ or "").partition("Parameters\n----------\n")
    found = re.findall(r"^(\w+)\n((?:[ ]+.+(?:\n|$))+)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def most_others(command: Command) -> int | None:
    """Return how many arguments a command takes that are no options; None if that is not limited."""
    own = inspect.signature(command).parameters.values()
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in own):
        return None
    return sum(p.kind is not inspect.Parameter.KEYWORD_ONLY for p in own)


def call(command: Command, given: Iterable[tuple[Option, str]], others: Sequence[str]) -> int:
    """Run a command with checked values of its options, and the arguments that are none."""
    keywords: dict[str, Any] = {}
    for option, value in given:
        if option.is_switch:
            keywords[option.parameter] = True
        elif option.repeats:
            keywords.setdefault(option.parameter, []).append(value)
        else:
            keywords[option.parameter] = value if option.number is None else option.number(value)
    return command(*others, **keywords)
