"""The parser callbacks for the rules of formula.lark."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.sequences import mentions_rest
from symbcast.core.logic.definedness import with_values
from symbcast.core.logic.formulas import FALSE, TRUE, Compatible, Formula, all_of, any_of, dims_of, negate
from symbcast.core.text.dimensions import DimBuilder, PlacedDim
from symbcast.core.text.faults import Fault
from symbcast.core.text.meaning import compare

if TYPE_CHECKING:
    from lark import Token

FormulaPart: TypeAlias = "Formula | Token"


class FormulaBuilder(DimBuilder):
    """The callbacks of dims.lark and formula.lark, each called with the children of its rule."""

    def true(self, parts: list[Token]) -> Formula:
        return TRUE

    def false(self, parts: list[Token]) -> Formula:
        return FALSE

    def chain(self, parts: list[PlacedDim | Token]) -> Formula:
        dims = [p.meant for p in parts if isinstance(p, PlacedDim)]
        operators = [str(p) for p in parts if not isinstance(p, PlacedDim)]
        return all_of(compare(*link) for link in zip(operators, dims[:-1], dims[1:], strict=True))

    def compatible(self, parts: list[PlacedDim | Token]) -> Formula:
        return Compatible(tuple(p.meant for p in parts if isinstance(p, PlacedDim)))

    def formula_group(self, parts: list[FormulaPart]) -> FormulaPart:
        return parts[1]

    def each_axis(self, parts: list[FormulaPart]) -> FormulaPart:
        word, _, inner, bracket = parts
        assert isinstance(word, str) and isinstance(bracket, str) and not isinstance(inner, str)
        if not any(map(mentions_rest, dims_of(inner))):
            span = (word.start_pos or 0, bracket.end_pos or 0)
            raise Fault(span, "this mentions no axes of a sequence", "a sequence such as '*batch' in each(...)")
        return inner  # a formula about sequences applies to each axis, even without ``each``

    def negated(self, parts: list[FormulaPart]) -> Formula:
        inner = _formulas(parts)[0]
        if any(map(mentions_rest, dims_of(inner))):
            words = [p for p in parts if isinstance(p, str)]
            wanted = "a relation that holds on each axis, such as '*a != *b', or of one axis, such as 'a[-1] != 2'"
            problem = "a relation of all axes cannot be negated"
            raise Fault((words[0].start_pos or 0, words[-1].end_pos or 0), problem, wanted)
        return negate(with_values(inner)) if len(parts) % 2 == 0 else inner

    def conjunction(self, parts: list[FormulaPart]) -> Formula:
        return all_of(_formulas(parts))

    def disjunction(self, parts: list[FormulaPart]) -> Formula:
        return any_of(_formulas(parts))


def _formulas(parts: list[FormulaPart]) -> list[Formula]:
    return [p for p in parts if not isinstance(p, str)]
