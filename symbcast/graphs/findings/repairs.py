"""Suggest one fix for a condition, based on the node's requirement and on what fixes the sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, islice
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer
from symbcast.answers.explanation.words import in_words
from symbcast.core.algebra.sequences import SequenceSymbol, sequences_of
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import symbols_of, term
from symbcast.core.characters import listed, sizes_text
from symbcast.core.logic.formulas import Comparison, Formula, equal, literals
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import ContradictionError, Knowledge
from symbcast.core.solver.groups.normal_form import put_in, symbols_in
from symbcast.core.solver.sets.congruences import divisors
from symbcast.core.solver.sets.size_sets import ALL, PeriodTooLongError, SizeSet
from symbcast.core.solver.sets.univariate import narrow
from symbcast.core.verdicts import Verdict
from symbcast.graphs.findings.blame import Blame, content_of
from symbcast.graphs.findings.rebinding import Rebinding
from symbcast.graphs.findings.sizes import knowing
from symbcast.graphs.findings.sources import Held, Sources

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.model import Checked

_TRIED = 12
"""How many equalities, alone and in pairs, are tried; each costs a decision."""
_MOST_SYMBOLS = 5
_FEW = 4
"""How many sizes are listed one by one."""
_GIVEN_SIZES = {
    "Broadcast": "target shape",
    "Expand": "shape",
    "Interpolate": "sizes",
    "Reshape": "shape",
    "Resize": "sizes",
    "Split": "split",
    "Tile": "repeats",
    "VariadicSplit": "lengths",
}
"""The operators that take sizes as an input, and what that input is called."""

_LONGEST = 160
"""How long a condition in words may be to be repeated in a fix."""


class Repairs:
    """Finds suggestions for one model."""

    def __init__(self, checked: Checked) -> None:
        self._env = checked.env
        self._origins = checked.asker.origins
        self._sources = Sources(checked.model.graph, checked.inputs.named)
        self._values = checked.walk.top
        self._rebinding = Rebinding(checked)
        self._assumed, self._least = checked.assumptions, checked.min_size
        self._are_shapes_given = bool(checked.given.shapes)
        self._namer = Namer.of(checked.env.shown)

    def best(self, clause: Formula, blamed: Blame | None) -> str:
        """Return the first suggestion that fits; empty if there is none."""
        symbols = list(symbols_in(clause))
        if not symbols:
            if self._are_shapes_given:
                return "give other shapes, or change the model there"
            return "no input sizes help: change the model there"
        if any(s in self._origins for s in symbols):
            return self._of_data(symbols)
        if sequences_of(symbols):
            return self._example(clause, symbols)
        found = self._baked_in(clause, symbols, blamed)
        if not found and len(symbols) == 1:
            found = self._of_one(clause, symbols[0], blamed)
        elif not found:
            found = self._of_several(clause, symbols)
        return found or self._example(clause, symbols)

    def of_clash(self, clause: Formula, blamed: Blame | None, clashing: Collection[int], is_alone: bool) -> str:
        """Return the first suggestion that fits if a model runs at no sizes: another value for a fixed size.

        ``clashing`` are the sizes that do not fit together; ``is_alone`` says that the node clashes with no other node.
        """
        found = self._rebinding.instead(clashing)
        if found is not None:
            return self._in_place(*found)
        found_here = self._released(clause) or self._rebinding.other_sizes()
        if not found_here and is_alone and self._assumed and symbols_in(clause):
            return f"assume less than {listed(self._assumed, limit=4)}: no sizes satisfy all of that and fit here"
        return found_here or self.best(clause, blamed)

    def _released(self, clause: Formula) -> str:
        """Return the value that a size assumed to be a number would need, with the other assumptions unchanged."""
        symbols = list(symbols_in(clause))
        if len(symbols) > _MOST_SYMBOLS or not all(s in self.fixed for s in symbols):
            return ""
        for s in reversed(symbols):
            others = {other: self.fixed[other] for other in symbols if other != s}
            members = narrow(own_set(s, self._least), put_in(clause, others))
            if members:
                return self._in_place(s, self.fixed[s], members)
        return ""

    def _in_place(self, symbol: Symbol, size: int, members: SizeSet) -> str:
        return f"give {self._called(symbol)} {self._size_in(members)} in place of {size}"

    def _size_in(self, members: SizeSet) -> str:
        """Return the sizes of a set in words: all of them if they are few, otherwise their kind, or the smallest."""
        found, whole = members.first(_FEW + 1), SizeSet.interval(self._least, None)
        if members.greatest is not None and len(found) <= _FEW:
            return f"the size {listed(list(map(str, found)), 'or')}"
        if members.same(SizeSet.interval(found[0], None)):
            return f"a size from {found[0]} on"
        factor = self._factor(members, whole) if members.greatest is None else 0
        return f"a multiple of {factor}" if factor else f"another size, such as {found[0]},"

    @cached_property
    def fixed(self) -> Mapping[Symbol, int]:
        """The sizes that assumptions fix at a number."""
        found = {s: self._domain(s).only for s in self._env.shown}
        return {s: size for s, size in found.items() if size is not None}

    def _example(self, clause: Formula, symbols: Sequence[Symbol]) -> str:
        witness = self._env.witness() or {}
        names = [s.sequence.name if isinstance(s, SequenceSymbol) else self._env.shown[s] for s in symbols]
        sizes = {name: witness[name] for name in names if name in witness}
        such = f", such as {sizes_text(sizes)}" if sizes else ""
        words = in_words(clause, self._namer)
        return f"give sizes at which {words if len(words) <= _LONGEST else 'it holds'}{such}"

    def _of_data(self, symbols: Sequence[Symbol]) -> str:
        texts = [f"{self._namer.dim(s)} is {self._origins[s]}" for s in symbols if s in self._origins]
        return f"the data must satisfy this: {listed(texts, limit=4)}"

    # Numbers that an export baked in instead of symbolic sizes.

    def _baked_in(self, clause: Formula, symbols: Sequence[Symbol], blamed: Blame | None) -> str:
        """Name the constant list of sizes that a node takes, such as the shape of a Reshape."""
        if blamed is None or blamed.place.op_type not in _GIVEN_SIZES:
            return ""
        pairs = zip(blamed.place.node.inputs, blamed.place.inputs, strict=True)
        for position, (name, value) in enumerate((n, v) for n, v in pairs if v is not None):
            numbers = content_of(position, value)
            if numbers and all(isinstance(d, int) for d in numbers):
                held = self._sources.held(name)
                where = f"{'initializer' if held and held.is_initializer else 'constant'} {name}"
                fixed = self._what_is_fixed(clause, symbols)
                what = f"{fixed}: export it with that size dynamic" if fixed else "sizes: export it with them dynamic"
                others = listed([n for n in self._baked_after(blamed) if n != name], limit=4)
                also = f", and {others}, which {'fix' if ' and ' in others else 'fixes'} it too" if others else ""
                return f"the {_GIVEN_SIZES[blamed.place.op_type]} {list(numbers)} baked into {where} fixes {what}{also}"
        return ""

    def _baked_after(self, blamed: Blame) -> Iterator[str]:
        """Yield the constant shapes that later nodes give all elements of a Reshape: each fixes how many there are."""
        if blamed.place.op_type != "Reshape":
            return
        for node in self._sources.rearranged(blamed.place.node):
            if node.op_type == "Reshape":
                value = self._values.find(node.inputs[1])
                numbers = None if value is None else content_of(1, value)
                if numbers and all(isinstance(d, int) and d > 0 for d in numbers):
                    yield node.inputs[1]

    def _what_is_fixed(self, clause: Formula, symbols: Sequence[Symbol]) -> str:
        """Return the size that a clause about only this size fixes to one value."""
        members = self._members(clause, symbols[0]) if len(symbols) == 1 else None
        return "" if members is None or members.only is None else f"{self._called(symbols[0])} at {members.only}"

    # One size.

    def _of_one(self, clause: Formula, symbol: Symbol, blamed: Blame | None) -> str:
        members = self._members(clause, symbol)
        if members is None or not members:
            return ""
        name, domain = self._called(symbol), own_set(symbol, self._env.min_size) & self._domain(symbol)
        if members.only is not None and members.only in self._rebinding.bound.values():
            bound = next(n for n, size in self._rebinding.bound.items() if size == members.only)
            return f"give {name} the size {members.only}, to which {bound} is bound"
        if members.only is not None:
            held = self._before(blamed, members.only)
            fixed = f"{held} fixes {name} at {members.only}: export it with a dynamic axis"
            return fixed if held else f"give {name} the size {members.only}"
        if members.greatest is not None and members.same(domain & SizeSet.interval(0, members.greatest)):
            held = self._before(blamed, members.greatest)
            return f"keep {name} at most {members.greatest}{f': {held} has no more' if held else ''}"
        factor = self._factor(members, domain)
        if factor:
            return f"pad {name} to a multiple of {factor}"
        if members.greatest is not None and len(members.first(_FEW + 1)) <= _FEW:
            return f"give {name} {self._size_in(members)}"
        low = members.least()
        if members.same(domain & SizeSet.interval(low or 0, None)):
            return f"use sizes of at least {low} for {name}"
        return ""

    def _members(self, clause: Formula, symbol: Symbol) -> SizeSet | None:
        return narrow(self._domain(symbol), clause)

    def _domain(self, symbol: Symbol) -> SizeSet:
        assumed = self._knowledge.domains.get(symbol)
        if assumed is not None:
            return assumed
        value = self._knowledge.values.get(symbol)
        return SizeSet.of([value]) if isinstance(value, int) else ALL

    def _factor(self, members: SizeSet, domain: SizeSet) -> int:
        """Return the least number whose multiples are all among the members, 0 if there is none."""
        for factor in divisors(members.segments[-1].period)[1:]:
            try:
                if SizeSet.residues(factor, [0]) & SizeSet.interval(1, None) & domain <= members:
                    return factor
            except PeriodTooLongError:
                return 0
        return 0

    def _before(self, blamed: Blame | None, size: int) -> Held | None:
        return None if blamed is None or size == 1 else self._sources.before(blamed.place.node, size)

    # Several sizes.

    def _of_several(self, clause: Formula, symbols: Sequence[Symbol]) -> str:
        for pairs in islice(self._equalities(symbols), _TRIED):
            if self._follows(clause, pairs):
                return listed([self._made_equal(kept, gone) for kept, gone in pairs])
        for literal in literals(clause):
            match literal:
                case Comparison("==" | "<=" | "<" as operator, left, right):
                    most = (term(left) + 1).dim() if operator == "<" else left
                    for size, other in ((right, most), *([(left, right)] if operator != "<" else [])):
                        if isinstance(size, Symbol) and size not in symbols_of((other,)):
                            what = self._namer.dim(other)
                            return f"give {self._place(size)} the size {what} ({self._equation(size, other)})"
        return ""

    def _equalities(self, symbols: Sequence[Symbol]) -> Iterator[tuple[tuple[Symbol, Symbol], ...]]:
        """Yield equalities, first single ones and then pairs; those between sizes on the same axis come first."""
        if len(symbols) > _MOST_SYMBOLS:
            return
        order = {s: n for n, s in enumerate(self._env.shown)}
        ordered = sorted(symbols, key=order.__getitem__)
        pairs = sorted(combinations(ordered, 2), key=lambda pair: self._axis(pair[0]) != self._axis(pair[1]))
        yield from ((pair,) for pair in pairs)
        yield from combinations(pairs, 2)

    def _follows(self, clause: Formula, pairs: Sequence[tuple[Symbol, Symbol]]) -> bool:
        """Return whether a clause always holds if some sizes are equal, and they can be equal."""
        try:
            known = knowing(self._env, [equal(a, b) for a, b in pairs])
        except ContradictionError:
            return False
        return Decision(known, [put_in(clause, known.values)]).verdict is Verdict.ALWAYS

    def _made_equal(self, kept: Symbol, gone: Symbol) -> str:
        place = self._sources.axis_of(kept)
        other = self._sources.axis_of(gone)
        same = place is not None and other is not None and place[0] == other[0] and place != other
        of = f"axis {place[1]}" if same and place is not None else self._place(kept)
        return f"give {self._place(gone)} the size of {of} ({self._equation(gone, kept)})"

    def _equation(self, left: Dim, right: Dim) -> str:
        return f"{self._namer.dim(left)} = {self._namer.dim(right)}"

    # Words for sizes.

    def _axis(self, symbol: Symbol) -> int | None:
        found = self._sources.axis_of(symbol)
        return None if found is None else found[1]

    def _place(self, symbol: Symbol) -> str:
        found = self._sources.axis_of(symbol)
        return self._namer.dim(symbol) if found is None else f"{found[0]} axis {found[1]}"

    def _called(self, symbol: Symbol) -> str:
        found = self._sources.axis_of(symbol)
        name = self._namer.dim(symbol)
        return name if found is None else f"{name} ({found[0]} axis {found[1]})"

    @cached_property
    def _knowledge(self) -> Knowledge:
        return knowing(self._env)
