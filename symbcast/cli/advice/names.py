"""Names in assumptions that no shape has: they may be meant, as ``k`` in ``N == 8*k``, or misspelt."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from symbcast.cli.output import print_wrapped
from symbcast.core.characters import closest, listed, quoted
from symbcast.core.shapes import ShapeLike


def note_strangers(assume: Sequence[str] | None, shapes: Iterable[ShapeLike]) -> None:
    """Say on standard error which names in assumptions are no sizes of some shapes."""
    if not assume:
        return
    own = [name for s in shapes for name in _names_of(s)]
    for note in _notes(assume, list(dict.fromkeys(own))):
        print_wrapped(f"symbcast: note: {note}", sys.stderr)


def _notes(assume: Sequence[str], own: Sequence[str]) -> Iterator[str]:
    from symbcast.core.program.whole.program import Program

    for name in Program(list(assume)).shown.values():
        if name not in own:
            close = closest(name, own)
            hint = f"did you mean {close}? " if close else ""
            there = f"their sizes are {listed(list(map(quoted, own)), limit=12)}" if own else "all sizes are numbers"
            there = f"{there[0].upper()}{there[1:]}" if hint else there
            yield f"{quoted(name)} is no size of these shapes, and is taken as any size; {hint}{there}"


def _names_of(given: ShapeLike) -> Iterator[str]:
    from symbcast.core.algebra.sequences import SequenceSymbol
    from symbcast.core.algebra.terms import symbols_of
    from symbcast.core.shapes import shape

    for size in symbols_of(shape(given).dims):
        yield size.sequence.name if isinstance(size, SequenceSymbol) else size.name
