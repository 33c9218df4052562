"""Terms and formulas as operations of StableHLO on 64-bit scalars, and whether 64 bits are enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from symbcast.answers.guards.clauses import magnitude
from symbcast.core.algebra.terms import Atom, Operation, Term, term
from symbcast.core.logic.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, dims_of

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

LARGEST_DIMENSION = 2**31 - 1
"""The largest size of a dimension: ``stablehlo.get_dimension_size`` gives an ``i32``."""
_LARGEST_VALUE = 2**63 - 1
_MOST = 2**62 - 1
"""Where bounds on values stop: twice this number still fits into 64 bits."""
_NUMBER, _TRUTH = "tensor<i64>", "tensor<i1>"
_PREDICATES = {"==": "EQ", "!=": "NE", "<=": "LE", "<": "LT"}
_EXTREMA = {"min": "minimum", "max": "maximum"}


class Writer:
    """Writes operations in order, each once: repeated requests return the existing value.

    A comparison of terms is false where some value in it may not fit into 64 bits; `fits` says where all do. So a
    formula, which has no negation, is never true where it does not hold.
    """

    def __init__(self, called: Mapping[Symbol, str]) -> None:
        self._called: Mapping[Any, str] = called
        self._values: dict[str, str] = {}
        self.lines: list[str] = []

    def operation(self, text: str) -> str:
        """Return the value of an operation."""
        if text not in self._values:
            self._values[text] = f"%{len(self._values)}"
            self.lines.append(f"{self._values[text]} = {text}")
        return self._values[text]

    def number(self, value: int) -> str:
        # What is too large for 64 bits is never used: `fits` is false. It only has to be written.
        wrapped = (value + 2**63) % 2**64 - 2**63
        return self.operation(f"stablehlo.constant dense<{wrapped}> : {_NUMBER}")

    def truth(self, value: bool) -> str:
        return self.operation(f"stablehlo.constant dense<{str(value).lower()}> : {_TRUTH}")

    def compared(self, predicate: str, left: str, right: str) -> str:
        """Return a comparison of numbers."""
        return self.operation(
            f"stablehlo.compare {predicate}, {left}, {right}, SIGNED : ({_NUMBER}, {_NUMBER}) -> {_TRUTH}"
        )

    def selected(self, test: str, left: str, right: str) -> str:
        """Return one of two numbers."""
        return self.operation(f"stablehlo.select {test}, {left}, {right} : {_TRUTH}, {_NUMBER}")

    def all_of(self, tests: Sequence[str]) -> str:
        return self._chain("and", tests, _TRUTH) if tests else self.truth(True)

    def size(self, symbol: Atom) -> str:
        """Return a parameter as a number."""
        return self.operation(f"stablehlo.convert %{self._called[symbol]} : (tensor<i32>) -> {_NUMBER}")

    def fits(self, dims: Sequence[Dim]) -> str | None:
        """Return whether 64 bits hold all values in computing some terms; None if they do at all sizes."""
        wide = [t for t in map(term, dims) if magnitude(t, LARGEST_DIMENSION) > _LARGEST_VALUE]
        tests = [self.compared("LT", self._bound(t), self.number(_MOST)) for t in wide]
        return self.all_of(tests) if wide else None

    def fits_formula(self, formula: Formula) -> str | None:
        """Return whether 64 bits hold all values in a formula; None if they do at all sizes."""
        return self.fits(list(dims_of(formula)))

    # Formulas.

    def formula(self, formula: Formula) -> str:
        """Return a formula as a truth value."""
        match formula:
            case Comparison(operator, left, right):
                sides = (left, right)
                return self._where_it_fits(
                    sides, lambda: self.compared(_PREDICATES[operator], self.value(left), self.value(right))
                )
            case Compatible(dims):
                return self._where_it_fits(dims, lambda: self._compatible(dims))
            case Clashing(dims):
                return self._where_it_fits(dims, lambda: self._truths("EQ", self._compatible(dims), self.truth(False)))
            case AllOf(parts):
                return self.all_of([self.formula(p) for p in parts])
            case AnyOf(parts):
                return self._chain("or", [self.formula(p) for p in parts], _TRUTH) if parts else self.truth(False)

    def _where_it_fits(self, dims: Sequence[Dim], test: Callable[[], str]) -> str:
        fits = self.fits(dims)
        return test() if fits is None else self.all_of([fits, test()])

    def _compatible(self, dims: Sequence[Dim]) -> str:
        """Return whether each value is 1 or the common value."""
        values = [self.value(d) for d in dims]
        common, one = self._join(values), self.number(1)
        each = [
            self._chain("or", [self.compared("EQ", v, one), self.compared("EQ", v, common)], _TRUTH) for v in values
        ]
        return self.all_of(each)

    # Terms.

    def value(self, dim: Dim) -> str:
        """Return a dimension as a number. No division by 0 is executed, whatever the sizes."""
        return self._term(term(dim))

    def _term(self, value: Term) -> str:
        ordered = sorted(value.coefficients.items(), key=lambda part: not part[0])
        parts = [self._product(c, m) for m, c in ordered]
        return self._chain("add", parts, _NUMBER) if parts else self.number(0)

    def _product(self, coefficient: int, monomial: Sequence[Atom]) -> str:
        factors = [self._operation(a) if isinstance(a, Operation) else self.size(a) for a in monomial]
        if coefficient != 1 or not factors:
            factors.append(self.number(coefficient))
        return self._chain("multiply", factors, _NUMBER)

    def _operation(self, operation: Operation) -> str:
        args = [self._term(a) for a in operation.args]
        if operation.kind in _EXTREMA:
            return self._chain(_EXTREMA[operation.kind], args, _NUMBER)
        if operation.kind == "join":
            return self._join(args)
        return self._divided(operation, args[0], self._safe_divisor(args[1], operation.args[1]))

    def _divided(self, operation: Operation, dividend: str, divisor: str) -> str:
        """Return the quotient rounded down, or its remainder; StableHLO's quotient is rounded to zero."""
        name = "divide" if operation.kind == "//" else "remainder"
        found = self._chain(name, [dividend, divisor], _NUMBER)
        if all((a.lower_bound or 0) >= 0 and a.lower_bound is not None for a in operation.args):
            return found
        rest, zero = self._chain("remainder", [dividend, divisor], _NUMBER), self.number(0)
        signs = [self.compared("LT", v, zero) for v in (rest, divisor)]
        differ = self._truths("NE", *signs)
        rounded = self.all_of([self.compared("NE", rest, zero), differ])
        other = (
            self._chain("subtract", [found, self.number(1)], _NUMBER)
            if operation.kind == "//"
            else self._chain("add", [rest, divisor], _NUMBER)
        )
        return self.selected(rounded, other, found)

    def _safe_divisor(self, divisor: str, value: Term) -> str:
        """Return the divisor, or 1 if it is 0: the condition says that it is not, but everything is computed."""
        if value.is_constant and value.constant:
            return divisor
        return self.selected(self.compared("EQ", divisor, self.number(0)), self.number(1), divisor)

    def _truths(self, predicate: str, left: str, right: str) -> str:
        """Return a comparison of truth values: JAX's shape refinement folds it, but neither ``not`` nor ``xor``."""
        kinds = f"({_TRUTH}, {_TRUTH}) -> {_TRUTH}"
        return self.operation(f"stablehlo.compare {predicate}, {left}, {right}, UNSIGNED : {kinds}")

    def _join(self, values: Sequence[str]) -> str:
        """Return the last value that is not 1, or 1."""
        one = self.number(1)
        return reduce(lambda found, v: self.selected(self.compared("EQ", v, one), found, v), values)

    def _chain(self, name: str, values: Sequence[str], kind: str) -> str:
        return reduce(lambda found, v: self.operation(f"stablehlo.{name} {found}, {v} : {kind}"), values)

    # Bounds on absolute values in computing a term, in integers that stop at `_MOST`.

    def _bound(self, value: Term) -> str:
        # A product of numbers from 1 on is no less than any of them: so no step is greater than the sum of products.
        most = self.number(_MOST)
        products = []
        for monomial, coefficient in value.coefficients.items():
            factors = [self._factor(a) for a in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.append(self.number(min(abs(coefficient), _MOST)))
            products.append(reduce(self._bounded_product, factors))
        return reduce(
            lambda found, p: self._chain("minimum", [self._chain("add", [found, p], _NUMBER), most], _NUMBER), products
        )

    def _factor(self, atom: Atom) -> str:
        """Return a bound of at least 1. No operation gives more than the largest of its arguments."""
        bounds = (
            [self._bound(a) for a in atom.args if a.coefficients] if isinstance(atom, Operation) else [self.size(atom)]
        )
        return self._chain("maximum", [self.number(1), *bounds], _NUMBER)

    def _bounded_product(self, left: str, right: str) -> str:
        most = self.number(_MOST)
        is_more = self.compared("LT", self._chain("divide", [most, left], _NUMBER), right)
        return self.selected(is_more, most, self._chain("multiply", [left, right], _NUMBER))
