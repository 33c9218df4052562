"""Which sizes a call is about: a program of one operation, whose names are bound at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from symbcast.algebra.symbols import Symbol
from symbcast.algebra.terms import symbols_of
from symbcast.program.assumptions import Assumption, check_min_size, read_assumptions
from symbcast.program.links import check_links
from symbcast.program.names import Names
from symbcast.program.premises import knowledge
from symbcast.shapes import Shape
from symbcast.solver.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.program.assumptions import Assumptions
    from symbcast.shapes import ShapeLike


class Scope:
    """The shapes of a call with their symbols bound, and the knowledge about those symbols.

    ``symbols`` are the sizes in order of appearance, ``names`` what each is shown and bound by. A user's own symbol
    stands for its name wherever it comes, for all operands come at once. ``held`` says of each shape whether somebody
    holds it; the others were made for this question.
    """

    __slots__ = ("assumptions", "knowledge", "min_size", "names", "shapes", "symbols")

    def __init__(
        self, shapes: Sequence[Shape], held: Sequence[bool], assumptions: Sequence[Assumption], min_size: int
    ) -> None:
        self.min_size = min_size
        names = Names()
        given = [s for shape in shapes for s in symbols_of(shape.dims)]
        names.prefer([*given, *(s for a in assumptions for s in symbols_in(a.formula))])
        self.shapes = names.bind_all(zip(shapes, held, strict=True))
        bound = [Assumption(names.bind_formula(a.formula), a.text, a.is_written) for a in assumptions]
        self.assumptions: Sequence[Assumption] = [*bound, *(Assumption(f) for f in names.taken())]
        self.names: Mapping[Symbol, str] = names.shown
        self.symbols = tuple(names.order)
        self.knowledge = knowledge(self.symbols, self.assumptions, min_size)

    @classmethod
    def asked(
        cls, given: Sequence[ShapeLike], shapes: Sequence[Shape], assume: Assumptions, min_size: int, is_linked: bool
    ) -> Self:
        """Return the scope of shapes as they were given, which are ``shapes``, and of what is assumed with them.

        With ``is_linked``, raises `AssumptionError` for an assumption that is about no size of theirs.
        """
        held = [isinstance(s, Shape) for s in given]
        made = cls(shapes, held, read_assumptions(assume), check_min_size(min_size))
        if is_linked:
            check_links(made.assumptions, (s for found in made.shapes for s in symbols_of(found.dims)), made.names)
        return made
