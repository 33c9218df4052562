"""Names in assumptions that no shape has: they may be meant, as ``k`` in ``N == 8*k``, or misspelt."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.cli.output import print_wrapped
from symbcast.core.characters import closest, listed, quoted

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.shapes import ShapeLike


def note_strangers(assume: Sequence[str] | None, shapes: Iterable[ShapeLike]) -> None:
    """Say on standard error which names in assumptions are no sizes of some shapes."""
    if not assume:
        return
    from symbcast.core.algebra.terms import symbols_of
    from symbcast.core.logic.formulas import dims_of
    from symbcast.core.program.sizes.assumptions import read_assumptions
    from symbcast.core.shapes import shape

    own = _names_of(symbols_of(d for s in shapes for d in shape(s).dims))
    named = _names_of(symbols_of(d for a in read_assumptions(list(assume)) for d in dims_of(a.formula)))
    for note in _notes(named, own):
        print_wrapped(f"symbcast: note: {note}", sys.stderr)


def _notes(named: Iterable[str], own: Sequence[str]) -> Iterator[str]:
    for name in named:
        if name not in own:
            close = closest(name, own)
            hint = f"did you mean {close}? " if close else ""
            there = f"their sizes are {listed(list(map(quoted, own)), limit=12)}" if own else "all sizes are numbers"
            there = f"{there[0].upper()}{there[1:]}" if hint else there
            yield f"{quoted(name)} is no size of these shapes, and is taken as any size; {hint}{there}"


def _names_of(symbols: Iterable[Symbol]) -> list[str]:
    """Return the names of sizes and of sequences of axes, each once."""
    from symbcast.core.algebra.sequences import SequenceSymbol

    return list(dict.fromkeys(s.sequence.name if isinstance(s, SequenceSymbol) else s.name for s in symbols))
