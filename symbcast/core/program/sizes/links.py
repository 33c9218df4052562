"""Whether assumptions concern sizes that the shapes have: if not, there is a mistake, such as a mistyped name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.characters import closest, listed, quoted
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.errors import AssumptionError

_DIGIT = re.compile(r"\d")


def check_links(assumptions: Iterable[Assumption], sizes: Iterable[Symbol], names: Mapping[Symbol, str]) -> None:
    """Raise `AssumptionError` for a written assumption that no chain of assumptions links to one of ``sizes``.

    ``N == 8*k`` is also about ``k``, so with it ``k >= 2`` is linked to a shape that has ``N``. An assumption that is
    not text, such as a `symbcast.Condition` or a sympy relation, may be about other sizes, which come from elsewhere.
    """
    own = dict.fromkeys(map(_subject, sizes))
    for assumption, strange in _unlinked(assumptions, own, names):
        if assumption.is_written:
            raise _error(assumption.text, strange, [names.get(s, s.name) for s in own])


def mistyped(
    assumptions: Iterable[Assumption], sizes: Iterable[Symbol], names: Mapping[Symbol, str]
) -> Iterator[tuple[str, str]]:
    """Yield the text of each assumption without a link to ``sizes``, with the size whose name is close to one in it.

    Names that differ in a digit are different on purpose.
    """
    own = dict.fromkeys(map(_subject, sizes))
    there = [name for name in (names.get(s, s.name) for s in own) if not _DIGIT.search(name)]
    for assumption, strange in _unlinked(assumptions, own, names):
        close = next(filter(None, (closest(name, there) for name in strange if not _DIGIT.search(name))), None)
        if close is not None:
            yield assumption.text, close


def _unlinked(
    assumptions: Iterable[Assumption], own: Iterable[Symbol], names: Mapping[Symbol, str]
) -> Iterator[tuple[Assumption, list[str]]]:
    """Yield each assumption without a link to ``own``, and the names in it."""
    found = [(a, frozenset(map(_subject, symbols_in(a.formula)))) for a in assumptions]
    linked = linked_sizes(own, [symbols for _, symbols in found])
    for assumption, symbols in found:
        if symbols and linked.isdisjoint(symbols):
            yield assumption, [names.get(s, s.name) for s in symbols_in(assumption.formula)]


def _subject(s: Symbol) -> Symbol:
    """Return the symbol itself, or its sequence of axes if it belongs to one."""
    return s.sequence.rest() if isinstance(s, SequenceSymbol) else s


def linked_sizes(own: Iterable[Symbol], groups: Iterable[frozenset[Symbol]]) -> set[Symbol]:
    """Return the symbols linked to ``own`` through groups; each group links its members."""
    linked = set(own)
    waiting = list(groups)
    while True:
        joined = [group for group in waiting if not linked.isdisjoint(group)]
        if not joined:
            return linked
        waiting = [group for group in waiting if linked.isdisjoint(group)]
        linked.update(*joined)


_EVERY = ("all", "any", "every", "each", "dim", "dims", "size", "sizes")


def _error(text: str, strange: Iterable[str], own: Collection[str]) -> AssumptionError:
    close = next(filter(None, (closest(name, own) for name in strange)), None)
    there = f"their sizes are {listed([quoted(name) for name in own], limit=20)}" if own else "all sizes are numbers"
    if not close and any(name.casefold() in _EVERY for name in strange):
        there = f"the minimum of all sizes is an argument of its own, min_size (--min-size for a command); {there}"
    hint = f"did you mean {quoted(close)}? {there[0].upper()}{there[1:]}" if close else there
    return AssumptionError(f"{text!r} mentions no size of these shapes", hint=hint)
