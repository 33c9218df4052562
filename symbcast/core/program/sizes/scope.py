"""The sizes in a call: a program of one operation, whose names are bound at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from symbcast.core.algebra.sequences import mentions_rest, sequences_of
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import Formula, dims_of
from symbcast.core.program.sizes.assumptions import Assumption, check_min_size, read_assumptions
from symbcast.core.program.sizes.links import check_links
from symbcast.core.program.sizes.names import Names
from symbcast.core.program.sizes.premises import knowledge
from symbcast.core.shapes import Shape, shape_of
from symbcast.core.solver.budget import one_call
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.errors import AssumptionError, UnknownRankError

if TYPE_CHECKING:
    from symbcast.core.program.sizes.assumptions import Assumptions
    from symbcast.core.program.sizes.unrolling import Unrolled
    from symbcast.core.shapes import ShapeLike
    from symbcast.core.solver.decision.knowledge import Knowledge


class Scope:
    """The shapes of a call with their symbols bound, and the knowledge about those symbols.

    ``symbols`` are the sizes in order of appearance, ``names`` their names for display and binding. A user's own symbol
    takes its name wherever it occurs, as all operands come at once. ``held`` says for each shape whether a caller holds
    it; the others were created for this question. ``written`` are the shapes as passed. For shapes of unknown rank,
    `unroll` finds the symbols and the knowledge; ``links`` are the facts about sizes implied by ranks.
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
        names = Names()
        given = [s for shape in shapes for s in symbols_of(shape.dims)]
        names.prefer(
            [*given, *(s for a in assumptions for s in symbols_in(a.formula))],
            [*written, *(a.given for a in assumptions)],
        )
        self.shapes = names.bind_all(zip(shapes, held, strict=True))
        bound = [Assumption(names.bind_formula(a.formula), a.text, a.is_written) for a in assumptions]
        for a in assumptions:
            names.bind(shape_of(a.lost))
        self.assumptions: Sequence[Assumption] = [*bound, *(Assumption(f) for f in names.taken())]
        self.names: Mapping[Symbol, str] = names.shown
        self.symbols = tuple(names.order)
        self.unrolled: Unrolled | None = None
        self.links: tuple[Formula, ...] = ()
        self.sequences = sequences_of(self.symbols)
        self._known: Knowledge | None = None
        if not self.sequences:
            self._known = knowledge(self.symbols, self.assumptions, min_size)

    @classmethod
    def of_names(cls, shapes: Sequence[Shape], min_size: int = 0) -> Self | None:
        """Return the scope of shapes without assumptions whose symbols are all names in text: each is its own size.

        None for any other shapes.
        """
        symbols = symbols_of(d for shape in shapes for d in shape.dims)
        if not all(type(s) is Symbol for s in symbols):
            return None
        made = cls.__new__(cls)
        made.min_size, made.shapes, made.symbols = min_size, tuple(shapes), symbols
        made.assumptions, made.links, made.sequences = [], (), ()
        made.names = {s: s.name for s in symbols}
        made.unrolled = made._known = None
        return made

    @property
    def knowledge(self) -> Knowledge:
        """What is known about the symbols."""
        if self._known is None:
            self._known = knowledge(self.symbols, self.assumptions, self.min_size)
        return self._known

    def unroll(self, formulas: Iterable[Formula]) -> Unrolled:
        """Unroll the sequences as far as formulas and assumptions require; update the knowledge to these symbols."""
        from symbcast.core.program.sizes.unrolling import Unrolled

        assumed = [a.formula for a in self.assumptions]
        made = self.unrolled = Unrolled([*formulas, *assumed], self.sequences, self.min_size)
        self.symbols = tuple(made.symbols(self.symbols))
        self.names = {s: self.names.get(s, s.name) for s in self.symbols}
        self.symbols = (*self.symbols, *made.hidden)
        self.links = tuple(made.links())
        try:
            self._known = knowledge(self.symbols, made.known(self.assumptions), self.min_size)
        except AssumptionError:
            if not made.mixed:
                raise
            # The bound on the ranks may be what excludes all sizes.
            raise UnknownRankError("a broadcast of a sequence with itself, shifted by some axes", "it") from None
        return made

    @property
    def assumed(self) -> Sequence[Assumption]:
        """The assumptions, and the facts about sizes that follow from ranks, in the symbols of the knowledge."""
        return self.assumptions if self.unrolled is None else self.unrolled.known(self.assumptions)

    def at_any_rank(self, formulas: Iterable[Formula]) -> tuple[Knowledge, list[Formula]]:
        """Return the knowledge about sizes, and the formulas that are not about all axes of a sequence at once.

        So no bound on ranks applies to them, even if a sequence is aligned with itself.
        """
        from symbcast.core.program.sizes.unrolling import Unrolled

        assumed = [a.formula for a in self.assumptions]
        asked = [f for f in formulas if not any(map(mentions_rest, dims_of(f)))]
        made = Unrolled([*asked, *assumed], self.sequences, self.min_size)
        known = made.known(self.assumptions)
        symbols = dict.fromkeys((*made.symbols(self.names), *made.hidden))
        return knowledge(symbols, known, self.min_size), asked

    def named(self, sizes: Mapping[Symbol, int]) -> dict[str, int]:
        """Return sizes by name; those of a sequence's axes together, as ``batch=(2, 3)``."""
        if self.unrolled is None:
            return {name: sizes[s] for s, name in self.names.items()}
        return self.unrolled.named(sizes, self.names)

    def symbol_sizes(self, sizes: Mapping[str, Any]) -> dict[Symbol, int]:
        """Return the size of each symbol, from sizes by name in the form of `named`."""
        found: dict[Symbol, int] = {s: sizes[name] for s, name in self.names.items() if name in sizes}
        if self.unrolled is not None:
            from symbcast.core.program.sizes.unrolling import sizes_at

            found.update(sizes_at(self.names, {s: sizes[s.name] for s in self.unrolled.depths if s.name in sizes}))
        return found

    @classmethod
    @one_call
    def asked(
        cls, given: Sequence[ShapeLike], shapes: Sequence[Shape], assume: Assumptions, min_size: int, is_linked: bool
    ) -> Self:
        """Return the scope of ``shapes``, which were ``given`` in that form, with the assumptions about them.

        With ``is_linked``, raises `AssumptionError` for an assumption that is not about any of their sizes.
        """
        assumed, least = read_assumptions(assume), check_min_size(min_size)
        plain = None if assumed else cls.of_names(shapes, least)
        if plain is not None:
            return plain
        held = [isinstance(s, Shape) for s in given]
        made = cls(shapes, held, assumed, least, given)
        if is_linked:
            check_links(made.assumptions, (s for found in made.shapes for s in symbols_of(found.dims)), made.names)
        return made
