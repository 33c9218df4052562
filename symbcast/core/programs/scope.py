"""The size that each name means: one for each name and label of a program, and the sizes in one broadcast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from symbcast.core.algebra.arithmetic import check_min_size, replace_symbols
from symbcast.core.algebra.formulas import Formula, dims_of
from symbcast.core.algebra.symbols import (
    LABEL,
    AxisSequence,
    Dummy,
    SequenceSymbol,
    Unknown,
    UserSymbol,
    free_labels,
    mentions_rest,
    sequences_of,
    symbol,
)
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.effort import one_call
from symbcast.core.programs import arguments
from symbcast.core.programs.arguments import Assumption, Assumptions
from symbcast.core.shapes import Shape, ShapeLike, any_shape_of, shape_of
from symbcast.core.solver.evaluation import replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.text import symbols_as_written
from symbcast.errors import AssumptionError, DimensionError, UnknownRankError

if TYPE_CHECKING:
    from symbcast.core.programs.unknown_rank import UnrolledSequences
    from symbcast.core.solver.decision import AssumptionSet


_RENAME = "give one of them another name"
# The types of integers and of names, which are neither unknowns nor sequences of axes.
_NAMED = frozenset((int, Symbol))


class NameTable:
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
        # Each unknown of this program, by a key that it shares with its copies under other labels.
        self._unknowns: dict[tuple[int, int, int | None], Symbol] = {}
        # No lower number than this is free as a label.
        self._free_from = 0
        self._replaced: dict[Symbol, Symbol] = {}
        self._sequences: dict[str, AxisSequence] = {}
        # Each sequence of axes by its name or label, and those without a name by number too.
        self._anonymous: dict[int, AxisSequence] = {}
        # Dimensions that are over sizes of this program alone.
        self.sizes: dict[Dim, None] = {}
        # What was known of symbols that gave way to another of their name, since this was last taken.
        self.brought: list[Formula] = []
        # The name that each size is shown and bound by; it never changes.
        self.shown: dict[Symbol, str] = {}

    def copy(self) -> NameTable:
        """Return an independent copy."""
        copied = NameTable()
        copied.order = dict(self.order)
        copied._by_name, copied._labels, copied._unknowns = (
            dict(self._by_name),
            dict(self._labels),
            dict(self._unknowns),
        )
        copied._free_from = self._free_from
        copied._sequences, copied._anonymous = dict(self._sequences), dict(self._anonymous)
        copied._replaced, copied.sizes, copied.shown = dict(self._replaced), dict(self.sizes), dict(self.shown)
        return copied

    def prefer(self, symbols: Iterable[Symbol], written: Iterable[object] = ()) -> None:
        """Reserve names for symbols that come together, before any is added: a user's own symbols have precedence.

        ``written`` are the shapes as passed. A name in text means the dummy with that name, if there is
        exactly one; a sympy symbol with the same name as a dummy is another size.
        """
        distinct = dict.fromkeys(symbols)
        dummies = Counter(s.name for s in distinct if isinstance(s, Dummy))
        self.tell_apart(distinct, written)
        for s in distinct:
            if isinstance(s, UserSymbol) and not s.is_Dummy:
                self._table(s.name).setdefault(s.name, s)
        for s in distinct:
            if isinstance(s, Dummy) and dummies[s.name] == 1:  # otherwise the name in text means none of them
                self._table(s.name).setdefault(s.name, s)
        for s in distinct:
            if type(s) is Symbol:  # so that no dummy is shown by a name in text
                self._table(s.name).setdefault(s.name, s)

    def tell_apart(self, symbols: Iterable[Symbol], values: Iterable[object]) -> None:
        """Reserve each sympy symbol's name for it, if a dummy among symbols that come together has the same name.

        ``values`` are shapes or relations as passed. Raises `DimensionError` if an earlier dummy is already shown by
        that name: a symbol that is not a dummy but has its name is the same object as the name in text, which means the
        dummy.
        """
        written = {str(s.name) for value in values for s in self._symbols_of(value) if not s.is_Dummy}
        if not written:
            return
        for name in written & {s.name for s in symbols if isinstance(s, Dummy)}:
            self._table(name).setdefault(name, symbol(name))
        for name in written:
            known = self._table(name).get(name)
            if known is not None and known.is_Dummy:
                raise DimensionError(name, "a sympy Dummy is called so here, and a Symbol is another size", _RENAME)

    def _symbols_of(self, value: object) -> Iterable[Any]:
        """Return the symbols of a shape or relation that is not from text; none if this program made the shape."""
        if isinstance(value, Shape):
            return () if self._is_known(value) else symbols_of(value.dims)
        dims = value if isinstance(value, (tuple, list)) else (value,)
        free = (getattr(d, "free_symbols", ()) for d in dims)
        return (s for symbols in free if isinstance(symbols, (set, frozenset)) for s in symbols)

    def _reserve(self, unknowns: Sequence[tuple[Unknown, bool]]) -> None:
        """Reserve the labels of unknowns that come together before any is added, each with whether it is held."""
        # Unknowns in shapes that a caller holds have precedence, then those that text mentions.
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
        formulas, self.brought = self.brought, []
        return formulas

    def _tables(self) -> tuple[dict[Any, Any], ...]:
        names = (self._by_name, self._labels, self._sequences, self._anonymous)
        return self.order, *names, self._unknowns, self._replaced, self.sizes, self.shown

    def named(self, name: str) -> Symbol:
        """Return the size that a name refers to; a label begins with ``?``."""
        size = self._table(name).get(name)
        if size is None:
            size = self._meet(Unknown(name) if LABEL.fullmatch(name) else symbol(name))
        return size

    def fresh(self, lower: int, upper: int | None) -> Unknown:
        """Return a new unknown."""
        unknown = Unknown(self._free_label(), lower, upper)
        self._meet(unknown)
        return unknown

    def bind_all(
        self, shapes: Iterable[tuple[Shape, bool]], written: Sequence[object] | None = None
    ) -> tuple[Shape, ...]:
        """Return shapes that come together, with other sizes of the same names replaced by this program's.

        Each is paired with whether a caller holds it; otherwise it came from text, or was converted to a shape here.
        ``written`` are the shapes as passed.
        """
        pairs = list(shapes)
        new = [(s, is_held) for s, is_held in pairs if not self._is_known(s)]
        if any(type(d) not in _NAMED for s, _ in new for d in s.dims):
            symbols = [(s, is_held) for shape, is_held in new for s in symbols_of(shape.dims)]
            self._reserve([(s, is_held) for s, is_held in symbols if isinstance(s, Unknown)])
            for sequence in sequences_of(s for s, _ in symbols):
                if not sequence.number:
                    self._sequences.setdefault(sequence.name, sequence)
        texts = written or [None] * len(pairs)
        return tuple([self.bind(shape, text) for (shape, _), text in zip(pairs, texts, strict=True)])

    def bind(self, shape: Shape, written: object = None) -> Shape:
        """Return a shape, perhaps ``written`` so, with other sizes of the same names replaced by this program's."""
        return shape if self._is_known(shape) else self._bind(shape, written)

    def _bind(self, shape: Shape, written: object) -> Shape:
        bound = self._bindings(arguments.shape_symbols(shape, written))
        own = any_shape_of(replace_symbols(d, bound) for d in shape.dims) if bound else shape
        self.sizes.update(dict.fromkeys([d for d in own.dims if type(d) is not int]))
        return own

    def _is_known(self, shape: Shape) -> bool:
        for dim in shape.dims:  # noqa: SIM110 - twice as fast as all(), on the path of every operation
            if type(dim) is not int and dim not in self.sizes:
                return False
        return True

    def bind_formula(self, formula: Formula, text: str | None = None) -> Formula:
        """Return a formula, perhaps from a ``text``, with other sizes of the same names replaced by this program's.

        Raises `AssumptionError` for an unknown that no shape has introduced.
        """
        symbols = symbols_in(formula) if text is None else formula_symbols(formula, text)
        unknowns: dict[Symbol, Symbol] = {s: self._spoken_of(s) for s in symbols if isinstance(s, Unknown)}
        labelled: dict[Symbol, Symbol] = {s: self._labelled(s) for s in symbols if isinstance(s, SequenceSymbol)}
        bound = self._bindings(labelled.get(s, s) for s in symbols if s not in unknowns)
        bound.update((s, bound.get(label, label)) for s, label in labelled.items() if label is not s)
        bound.update((s, own) for s, own in unknowns.items() if own is not s)
        return replace_in_formula(formula, bound) if bound else formula

    def _labelled(self, s: SequenceSymbol) -> SequenceSymbol:
        """Return the meaning of a symbol in a formula: by its label if no shape has introduced its sequence."""
        number = s.sequence.number
        return s if not number or number in self._anonymous else s.of(AxisSequence(s.sequence.name))

    def _spoken_of(self, s: Unknown) -> Symbol:
        """Return the size that an unknown in a formula refers to: itself, or else the one that its label means here."""
        own = self._unknowns.get(s.identity) or self._labels.get(s.name)
        if own is None:
            known = f"the labels are {', '.join(self._labels)}" if self._labels else "there is no unknown size yet"
            raise AssumptionError(f"no size here is named {s.name}", hint=known)
        return own

    def _bindings(self, symbols: Iterable[Symbol]) -> dict[Symbol, Symbol]:
        replaced: dict[Symbol, Symbol] = {}
        for s in symbols:
            if s in self.order:
                continue
            own = self._replaced.get(s)
            if own is None:
                own = self._meet(s)
            if own is not s:
                replaced[s] = own
                # What was known of the replaced symbol, such as a lower bound, becomes an assumption.
                if not arguments.own_set(own, 0) <= arguments.own_set(s, 0):
                    self.brought.append(set_formula(own, arguments.own_set(s, 0)))
        return replaced

    def _meet(self, s: Symbol) -> Symbol:
        """Add a new symbol; return the symbol used for it."""
        if isinstance(s, Unknown):
            return self._meet_unknown(s)
        if isinstance(s, SequenceSymbol):
            return self._meet_sequence(s)
        table = self._table(s.name)
        if s.name in self._sequences:
            raise _two_kinds(s.name)
        own: Symbol = s
        if s.is_Dummy:
            # A different size from any other of its name; text refers to it by its displayed name.
            name, number = s.name, 0
            while table.get(name, s) is not s:
                number += 1
                name = f"{s.name}_{number}"
            table[name] = s
            self.shown[s] = name
        else:
            own = table.setdefault(s.name, s)
            if own is not s:
                self._replaced[s] = own
                return own if own in self.order else self._meet(own)
            self.shown[s] = s.name
        self.order[own] = None
        return own

    def _meet_unknown(self, s: Unknown) -> Symbol:
        own = self._unknowns.get(s.identity)
        if own is not None:
            return own
        own = self._labels.get(s.name, s)
        # Text such as ?a means the unknown that is shown by this label, not a new one.
        if s.is_spoken and own is not s:
            return own if own in self.order else self._meet(own)
        s.is_spoken = False  # from now on, a caller holds it
        if own is not s or not LABEL.fullmatch(s.name):
            own = s.renamed(self._free_label())
        self._unknowns[s.identity] = self._labels[own.name] = own
        self.shown[own] = own.name
        self.order[own] = None
        return own

    def _meet_sequence(self, s: SequenceSymbol) -> Symbol:
        """Add a symbol of a sequence, which keeps its label if that is free."""
        sequence = s.sequence
        own = self._anonymous.get(sequence.number)
        if own is None and not sequence.number:
            own = self._sequences.get(sequence.name, sequence)
        elif own is None:
            label = sequence.name
            if label in self._sequences:
                label = next(name for n in count() if (name := f"...{n}") not in self._sequences)
            own = self._anonymous[sequence.number] = AxisSequence(label, sequence.number)
        if own.name in self._by_name:
            raise _two_kinds(own.name)
        self._sequences[own.name] = own
        bound = s.of(own)
        self.order[bound] = None
        self.shown[bound] = bound.name
        return bound

    def _free_label(self) -> str:
        label = next(free_labels(self._labels, self._free_from))
        self._free_from = int(label[1:]) + 1
        return label


def formula_symbols(formula: Formula, text: str) -> tuple[Symbol, ...]:
    """Return the symbols of a formula read from a text: of those in one sum or product, in order of appearance."""
    dims = list(dims_of(formula))
    return symbols_as_written(dims, [text] * len(dims))


def _two_kinds(name: str) -> DimensionError:
    return DimensionError(name, "it is a size and a sequence of axes", _RENAME)


class Scope:
    """The shapes of a call with their symbols bound, and the assumptions about those symbols.

    ``symbols`` are the sizes in order of appearance, ``names`` their names for display and binding. A user's own symbol
    takes its name wherever it occurs, as all operands come at once. ``held`` says for each shape whether a caller holds
    it; the others were created for this question. ``written`` are the shapes as passed. For shapes of unknown rank,
    `unroll` finds the symbols and the set of assumptions; ``links`` are the facts about sizes implied by ranks.
    """

    __slots__ = ("_known", "assumptions", "links", "min_size", "names", "sequences", "shapes", "symbols", "unrolled")

    def __init__(
        self,
        shapes: Sequence[Shape],
        held: Sequence[bool],
        assumptions: Sequence[Assumption],
        min_size: int,
        written: Sequence[ShapeLike] = (),
    ) -> None:
        self.min_size = min_size
        names = NameTable()
        symbols = [s for shape in shapes for s in symbols_of(shape.dims)]
        names.prefer(
            [*symbols, *(s for a in assumptions for s in symbols_in(a.formula))],
            [*written, *(a.source for a in assumptions)],
        )
        self.shapes = names.bind_all(zip(shapes, held, strict=True), written)
        bound = [Assumption(names.bind_formula(a.formula, a.written), a.text, a.is_written) for a in assumptions]
        for a in assumptions:
            names.bind(shape_of(a.lost))
        self.assumptions: Sequence[Assumption] = [*bound, *(Assumption(f) for f in names.taken())]
        self.names: Mapping[Symbol, str] = names.shown
        self.symbols = tuple(names.order)
        self.unrolled: UnrolledSequences | None = None
        self.links: tuple[Formula, ...] = ()
        self.sequences = sequences_of(self.symbols)
        self._known: AssumptionSet | None = None
        if not self.sequences:
            self._known = arguments.assumption_set(self.symbols, self.assumptions, min_size)

    @classmethod
    def of_names(
        cls, shapes: Sequence[Shape], min_size: int = 0, written: Sequence[ShapeLike] | None = None
    ) -> Self | None:
        """Return the scope of shapes without assumptions whose symbols are all names in text: each is its own size.

        None for any other shapes.
        """
        if written is None:
            symbols = symbols_of(d for shape in shapes for d in shape.dims)
        else:
            each = (arguments.shape_symbols(shape, text) for shape, text in zip(shapes, written, strict=True))
            symbols = tuple(dict.fromkeys(s for found in each for s in found))
        if not all(type(s) is Symbol for s in symbols):
            return None
        scope = cls.__new__(cls)
        scope.min_size, scope.shapes, scope.symbols = min_size, tuple(shapes), symbols
        scope.assumptions, scope.links, scope.sequences = [], (), ()
        scope.names = {s: s.name for s in symbols}
        scope.unrolled = scope._known = None
        return scope

    @property
    def assumption_set(self) -> AssumptionSet:
        """What is known about the symbols."""
        if self._known is None:
            self._known = arguments.assumption_set(self.symbols, self.assumptions, self.min_size)
        return self._known

    def unroll(self, formulas: Iterable[Formula]) -> UnrolledSequences:
        """Unroll the sequences as far as formulas and assumptions require; and bind the assumptions to them."""
        from symbcast.core.programs.unknown_rank import UnrolledSequences

        assumed = [a.formula for a in self.assumptions]
        unrolled = self.unrolled = UnrolledSequences([*formulas, *assumed], self.sequences, self.min_size)
        self.symbols = tuple(unrolled.symbols(self.symbols))
        self.names = {s: self.names.get(s, s.name) for s in self.symbols}
        self.symbols = (*self.symbols, *unrolled.hidden)
        self.links = tuple(unrolled.links())
        try:
            self._known = arguments.assumption_set(self.symbols, unrolled.known(self.assumptions), self.min_size)
        except AssumptionError:
            if not unrolled.mixed:
                raise
            # The bound on the ranks may be what excludes all sizes.
            raise UnknownRankError("a broadcast of a sequence with itself, shifted by some axes", "it") from None
        return unrolled

    @property
    def assumed(self) -> Sequence[Assumption]:
        """The assumptions, and the facts about sizes that follow from ranks, in the symbols of `assumption_set`."""
        return self.assumptions if self.unrolled is None else self.unrolled.known(self.assumptions)

    def at_any_rank(self, formulas: Iterable[Formula]) -> tuple[AssumptionSet, list[Formula]]:
        """Return the assumptions about sizes, and the formulas that are not about all axes of a sequence at once.

        So no bound on ranks applies to them, even if a sequence is aligned with itself.
        """
        from symbcast.core.programs.unknown_rank import UnrolledSequences

        assumed = [a.formula for a in self.assumptions]
        required = [f for f in formulas if not any(map(mentions_rest, dims_of(f)))]
        unrolled = UnrolledSequences([*required, *assumed], self.sequences, self.min_size)
        known = unrolled.known(self.assumptions)
        symbols = dict.fromkeys((*unrolled.symbols(self.names), *unrolled.hidden))
        return arguments.assumption_set(symbols, known, self.min_size), required

    def named(self, sizes: Mapping[Symbol, int]) -> dict[str, int]:
        """Return sizes by name; those of a sequence's axes together, as ``batch=(2, 3)``."""
        if self.unrolled is None:
            return {name: sizes[s] for s, name in self.names.items()}
        return self.unrolled.named(sizes, self.names)

    def symbol_sizes(self, sizes: Mapping[str, Any]) -> dict[Symbol, int]:
        """Return the size of each symbol, from sizes by name in the form of `named`."""
        by_symbol: dict[Symbol, int] = {s: sizes[name] for s, name in self.names.items() if name in sizes}
        if self.unrolled is not None:
            from symbcast.core.programs.unknown_rank import sizes_at

            by_symbol.update(sizes_at(self.names, {s: sizes[s.name] for s in self.unrolled.depths if s.name in sizes}))
        return by_symbol

    @classmethod
    @one_call
    def of_call(
        cls, written: Sequence[ShapeLike], shapes: Sequence[Shape], assume: Assumptions, min_size: int, is_linked: bool
    ) -> Self:
        """Return the scope of ``shapes``, ``written`` in that form, with the assumptions about them.

        With ``is_linked``, raises `AssumptionError` for an assumption that is not about any of their sizes.
        """
        assumed, least = arguments.read_assumptions(assume), check_min_size(min_size)
        plain = None if assumed else cls.of_names(shapes, least, written)
        if plain is not None:
            return plain
        is_held = [isinstance(s, Shape) for s in written]
        scope = cls(shapes, is_held, assumed, least, written)
        if is_linked:
            scope._check_links()
        return scope

    @classmethod
    def of_arguments(cls, shapes: Sequence[Shape], held: Sequence[bool], assume: Assumptions, min_size: int) -> Self:
        """Return the scope of the arguments of a call, with the assumptions about them.

        Raises `AssumptionError` for an assumption that is not about any of their sizes.
        """
        scope = cls(shapes, held, arguments.read_assumptions(assume), check_min_size(min_size))
        scope._check_links()
        return scope

    def _check_links(self) -> None:
        own = (s for shape in self.shapes for s in symbols_of(shape.dims))
        arguments.check_links(self.assumptions, own, self.names)
