"""Missing attributes: errors that say what a misspelt or guessed name probably means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from symbcast.core.characters import closest, listed
from symbcast.core.signatures import advise_methods


def meant(*lines: str, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the meanings of guessed names, from lines of names and their replacements.

    >>> meant("ok valid -> verdict", "example -> witness()")
    {'ok': 'verdict', 'valid': 'verdict', 'example': 'witness()'}
    """
    found = dict(base or {})
    for line in lines:
        names, _, use = line.partition(" -> ")
        found.update(dict.fromkeys(names.split(), use))
    return found


class MissingAttributeError(AttributeError):
    """An attribute does not exist; the message, with a suggestion, is built only when it is read.

    ``meant`` gives the meanings of guessed names, ``known`` returns the existing names, and ``sizes`` those of the
    sizes, which replace ``{sizes}`` in a meaning.
    """

    def __init__(
        self,
        owner: str,
        name: str,
        meant: Mapping[str, str],
        known: Callable[[], Collection[str]],
        sizes: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        super().__init__(owner, name)
        self._owner, self._guess = owner, name
        self._meant, self._known, self._sizes = meant, known, sizes

    def __str__(self) -> str:
        meant = self._meant.get(self._guess) or self._meant.get(self._guess.lower())
        known = self._known()
        close = None if meant else closest(self._guess, [n for n in known if not n.startswith("_")])
        if not meant and self._guess.startswith("to_"):
            meant = listed([f"{n}()" for n in sorted(known) if n.startswith("to_")], "or")
            close = None
        named = ", ".join(f"{size}=..." for size in self._sizes() if size.isidentifier())
        hint = f": use {meant.replace('{sizes}', named)}" if meant else f": did you mean {close!r}?" if close else ""
        return f"{self._owner} has no attribute {self._guess!r}{hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        return AttributeError, (str(self),)


def guessed(module: str, names: Collection[str], *lines: str) -> Callable[[str], NoReturn]:
    """Return a module's ``__getattr__``, which answers a missing name with a suggestion.

    ``names`` are the public ones, and ``lines`` are as in `meant`.

    >>> guessed("shapes", ["check"], "load open -> check(path)")("open")
    Traceback (most recent call last):
        ...
    symbcast.core.guesses.MissingAttributeError: module 'shapes' has no attribute 'open': use check(path)
    """

    def missing(name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise MissingAttributeError(f"module {module!r}", name, meant(*lines), lambda: names)

    return missing


class Guessable:
    """A class whose users guess: missing attributes, and calls that do not fit, raise errors with advice."""

    __slots__ = ()

    _meant: ClassVar[Mapping[str, str]] = {}
    """What names that people try mean here."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        advise_methods(cls)

    if not TYPE_CHECKING:  # type checkers refuse such names themselves

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):  # a property that itself failed with an AttributeError
                return object.__getattribute__(self, name)
            owner = f"{type(self).__name__!r} object"
            if name.startswith("_"):
                raise AttributeError(f"{owner} has no attribute {name!r}")
            # `hasattr` of a name that is not there is a usual question, so nothing is collected for the message yet.
            raise MissingAttributeError(owner, name, type(self)._meant, lambda: dir(self), lambda: _sizes_of(self))


def _sizes_of(subject: object) -> Iterable[str]:
    """Return the names of an answer's sizes, if it has some."""
    shown = getattr(subject, "_shown", None) if hasattr(type(subject), "_shown") else None
    return shown.values() if isinstance(shown, Mapping) else ()
