"""The size that a name means throughout a program: one for each name and label, whichever shape introduced it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.sequences import AxisSequence, SequenceSymbol, sequences_of
from symbcast.core.algebra.symbols import LABEL, Dummy, Symbol, Unknown, UserSymbol, free_labels, symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import Formula
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.shapes import Shape, any_shape_of
from symbcast.core.solver.groups.normal_form import put_in, symbols_in
from symbcast.core.solver.sets.set_formulas import describe
from symbcast.errors import AssumptionError, DimensionError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_RENAME = "give one of them another name"
_NAMED = frozenset((int, Symbol))
"""The types of integers and of names, which are neither unknowns nor sequences of axes."""


class Names:
    """The sizes of a program in order of first appearance, and the meaning of each name and label.

    A user's own symbol takes its name if it comes first. A label in text (``?a``, ``?0``) means the unknown that
    is shown with it here, wherever it came from: other text, a shape that a user holds, or a ``?`` that was labelled
    here. Each other unknown is a size of its own: it keeps its original label if that is free; otherwise it
    gets the first free one of ``?0``, ``?1``...
    """

    def __init__(self) -> None:
        self.order: dict[Symbol, None] = {}
        self._by_name: dict[str, Symbol] = {}
        self._labels: dict[str, Symbol] = {}
        self._unknowns: dict[tuple[int, int, int | None], Symbol] = {}
        """Each unknown of this program, by a key that it shares with its copies under other labels."""
        self._free_from = 0
        """No lower number than this is free as a label."""
        self._replaced: dict[Symbol, Symbol] = {}
        self._sequences: dict[str, AxisSequence] = {}
        self._anonymous: dict[int, AxisSequence] = {}
        """Each sequence of axes by its name or label, and those without a name by number too."""
        self.sizes: dict[Dim, None] = {}
        """Dimensions that are over sizes of this program alone."""
        self.brought: list[Formula] = []
        """What was known of symbols that gave way to another of their name, since this was last taken."""
        self.shown: dict[Symbol, str] = {}
        """The name that each size is shown and bound by; it never changes."""

    def copy(self) -> Names:
        """Return an independent copy."""
        made = Names()
        made.order = dict(self.order)
        made._by_name, made._labels, made._unknowns = dict(self._by_name), dict(self._labels), dict(self._unknowns)
        made._free_from = self._free_from
        made._sequences, made._anonymous = dict(self._sequences), dict(self._anonymous)
        made._replaced, made.sizes, made.shown = dict(self._replaced), dict(self.sizes), dict(self.shown)
        return made

    def prefer(self, symbols: Iterable[Symbol], given: Iterable[object] = ()) -> None:
        """Reserve names for symbols that come together, before any is added: a user's own symbols have precedence.

        ``given`` are the shapes as passed. A name in text means the dummy with that name, if there is
        exactly one; a sympy symbol with the same name as a dummy is another size.
        """
        found = dict.fromkeys(symbols)
        dummies = Counter(s.name for s in found if isinstance(s, Dummy))
        self.tell_apart(found, given)
        for s in found:
            if isinstance(s, UserSymbol) and not s.is_Dummy:
                self._table(s.name).setdefault(s.name, s)
        for s in found:
            if isinstance(s, Dummy) and dummies[s.name] == 1:  # otherwise the name in text means none of them
                self._table(s.name).setdefault(s.name, s)
        for s in found:
            if type(s) is Symbol:  # so that no dummy is shown by a name in text
                self._table(s.name).setdefault(s.name, s)

    def tell_apart(self, symbols: Iterable[Symbol], given: Iterable[object]) -> None:
        """Reserve each sympy symbol's name for it, if a dummy among symbols that come together has the same name.

        ``given`` are shapes or relations as passed. Raises `DimensionError` if an earlier dummy is already shown by
        that name: a symbol that is not a dummy but has its name is the same object as the name in text, which means the
        dummy.
        """
        written = {str(s.name) for value in given for s in self._symbols_of(value) if not s.is_Dummy}
        if not written:
            return
        for name in written & {s.name for s in symbols if isinstance(s, Dummy)}:
            self._table(name).setdefault(name, symbol(name))
        for name in written:
            kept = self._table(name).get(name)
            if kept is not None and kept.is_Dummy:
                raise DimensionError(name, "a sympy Dummy is called so here, and a Symbol is another size", _RENAME)

    def _symbols_of(self, value: object) -> Iterable[Any]:
        """Return the symbols of a shape or relation that is not from text; none if this program made the shape."""
        if isinstance(value, Shape):
            return () if self._is_known(value) else symbols_of(value.dims)
        dims = value if isinstance(value, (tuple, list)) else (value,)
        found = (getattr(d, "free_symbols", ()) for d in dims)
        return (s for symbols in found if isinstance(symbols, (set, frozenset)) for s in symbols)

    def _reserve(self, unknowns: Sequence[tuple[Unknown, bool]]) -> None:
        """Reserve the labels of unknowns that come together, before any is added; each comes with whether it is held.

        Unknowns in shapes that a caller holds have precedence, then those that text mentions.
        """
        for s, is_held in unknowns:
            if is_held:
                s.is_spoken = False
                if s.identity not in self._unknowns and LABEL.fullmatch(s.name):
                    self._labels.setdefault(s.name, s)
        for s, _ in unknowns:
            if s.is_spoken:
                self._labels.setdefault(s.name, s)

    def _table(self, name: str) -> dict[str, Symbol]:
        """Return the table for a name: names written like labels are labels, wherever they come from."""
        return self._labels if name.startswith("?") and LABEL.fullmatch(name) else self._by_name

    def mark(self) -> tuple[int, ...]:
        """Return the current state, for `undo`."""
        return tuple(map(len, self._tables()))

    def undo(self, mark: tuple[int, ...]) -> None:
        """Forget the sizes added since ``mark``."""
        for table, length in zip(self._tables(), mark, strict=True):
            while len(table) > length:
                table.popitem()  # the last one added
        self.brought.clear()
        self._free_from = 0

    def taken(self) -> list[Formula]:
        """Return the formulas that came with new symbols, and clear them."""
        found, self.brought = self.brought, []
        return found

    def _tables(self) -> tuple[dict[Any, Any], ...]:
        names = (self._by_name, self._labels, self._sequences, self._anonymous)
        return self.order, *names, self._unknowns, self._replaced, self.sizes, self.shown

    def named(self, name: str) -> Symbol:
        """Return the size that a name refers to; a label begins with ``?``."""
        found = self._table(name).get(name)
        if found is None:
            found = self._meet(Unknown(name) if LABEL.fullmatch(name) else symbol(name))
        return found

    def fresh(self, lower: int, upper: int | None) -> Unknown:
        """Return a new unknown."""
        made = Unknown(self._free_label(), lower, upper)
        self._meet(made)
        return made

    def bind_all(self, shapes: Iterable[tuple[Shape, bool]]) -> tuple[Shape, ...]:
        """Return shapes that come together, with other sizes of the same names replaced by this program's.

        Each is paired with whether a caller holds it; otherwise it came from text, or was converted to a shape here.
        """
        given = list(shapes)
        new = [(s, is_held) for s, is_held in given if not self._is_known(s)]
        if any(type(d) not in _NAMED for s, _ in new for d in s.dims):
            symbols = [(s, is_held) for shape, is_held in new for s in symbols_of(shape.dims)]
            self._reserve([(s, is_held) for s, is_held in symbols if isinstance(s, Unknown)])
            for sequence in sequences_of(s for s, _ in symbols):
                if not sequence.number:
                    self._sequences.setdefault(sequence.name, sequence)
        return tuple([self.bind(shape) for shape, _ in given])

    def bind(self, shape: Shape) -> Shape:
        """Return a shape with other sizes of the same names replaced by this program's."""
        return shape if self._is_known(shape) else self._bind(shape)

    def _bind(self, shape: Shape) -> Shape:
        bound = self._bindings(symbols_of(shape.dims))
        found = any_shape_of(replaced(d, bound) for d in shape.dims) if bound else shape
        self.sizes.update(dict.fromkeys([d for d in found.dims if type(d) is not int]))
        return found

    def _is_known(self, shape: Shape) -> bool:
        for dim in shape.dims:  # noqa: SIM110 - twice as fast as all(), on the path of every operation
            if type(dim) is not int and dim not in self.sizes:
                return False
        return True

    def bind_formula(self, formula: Formula) -> Formula:
        """Return a formula with other sizes of the same names replaced by this program's.

        Raises `AssumptionError` for an unknown that no shape has introduced.
        """
        symbols = symbols_in(formula)
        unknowns: dict[Symbol, Symbol] = {s: self._spoken_of(s) for s in symbols if isinstance(s, Unknown)}
        labelled: dict[Symbol, Symbol] = {s: self._labelled(s) for s in symbols if isinstance(s, SequenceSymbol)}
        bound = self._bindings(labelled.get(s, s) for s in symbols if s not in unknowns)
        bound.update((s, bound.get(label, label)) for s, label in labelled.items() if label is not s)
        bound.update((s, kept) for s, kept in unknowns.items() if kept is not s)
        return put_in(formula, bound) if bound else formula

    def _labelled(self, s: SequenceSymbol) -> SequenceSymbol:
        """Return the meaning of a symbol in a formula: by its label if no shape has introduced its sequence."""
        number = s.sequence.number
        return s if not number or number in self._anonymous else s.of(AxisSequence(s.sequence.name))

    def _spoken_of(self, s: Unknown) -> Symbol:
        """Return the size that an unknown in a formula refers to: itself, or else the one that its label means here."""
        kept = self._unknowns.get(s.identity) or self._labels.get(s.name)
        if kept is None:
            known = f"the labels are {', '.join(self._labels)}" if self._labels else "there is no unknown size yet"
            raise AssumptionError(f"no size here is named {s.name}", hint=known)
        return kept

    def _bindings(self, symbols: Iterable[Symbol]) -> dict[Symbol, Symbol]:
        found: dict[Symbol, Symbol] = {}
        for s in symbols:
            if s in self.order:
                continue
            kept = self._replaced.get(s)
            if kept is None:
                kept = self._meet(s)
            if kept is not s:
                found[s] = kept
                if not own_set(kept, 0) <= own_set(s, 0):
                    self.brought.append(describe(kept, own_set(s, 0)))
        return found

    def _meet(self, s: Symbol) -> Symbol:
        """Add a new symbol; return the symbol used for it."""
        if isinstance(s, Unknown):
            return self._meet_unknown(s)
        if isinstance(s, SequenceSymbol):
            return self._meet_sequence(s)
        table = self._table(s.name)
        if s.name in self._sequences:
            raise _two_kinds(s.name)
        kept: Symbol = s
        if s.is_Dummy:
            # A different size from any other of its name; text refers to it by its displayed name.
            name, number = s.name, 0
            while table.get(name, s) is not s:
                number += 1
                name = f"{s.name}_{number}"
            table[name] = s
            self.shown[s] = name
        else:
            kept = table.setdefault(s.name, s)
            if kept is not s:
                self._replaced[s] = kept
                return kept if kept in self.order else self._meet(kept)
            self.shown[s] = s.name
        self.order[kept] = None
        return kept

    def _meet_unknown(self, s: Unknown) -> Symbol:
        kept = self._unknowns.get(s.identity)
        if kept is not None:
            return kept
        kept = self._labels.get(s.name, s)
        if s.is_spoken and kept is not s:
            return kept if kept in self.order else self._meet(kept)
        s.is_spoken = False  # from now on, a caller holds it
        if kept is not s or not LABEL.fullmatch(s.name):
            kept = s.renamed(self._free_label())
        self._unknowns[s.identity] = self._labels[kept.name] = kept
        self.shown[kept] = kept.name
        self.order[kept] = None
        return kept

    def _meet_sequence(self, s: SequenceSymbol) -> Symbol:
        """Add a symbol of a sequence, which keeps its label if that is free."""
        given = s.sequence
        kept = self._anonymous.get(given.number)
        if kept is None and not given.number:
            kept = self._sequences.get(given.name, given)
        elif kept is None:
            label = given.name
            if label in self._sequences:
                label = next(name for n in count() if (name := f"...{n}") not in self._sequences)
            kept = self._anonymous[given.number] = AxisSequence(label, given.number)
        if kept.name in self._by_name:
            raise _two_kinds(kept.name)
        self._sequences[kept.name] = kept
        found = s.of(kept)
        self.order[found] = None
        self.shown[found] = found.name
        return found

    def _free_label(self) -> str:
        label = next(free_labels(self._labels, self._free_from))
        self._free_from = int(label[1:]) + 1
        return label


def _two_kinds(name: str) -> DimensionError:
    return DimensionError(name, "it is a size and a sequence of axes", _RENAME)
