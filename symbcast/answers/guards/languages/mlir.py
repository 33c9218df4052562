"""A condition as MLIR: witnesses of the shape dialect, and a region that may rely on them.

>>> from symbcast.core.algebra.symbols import symbol
>>> from symbcast.core.text import parse_formula
>>> N, T = symbol("N"), symbol("T")
>>> print(mlir_source(parse_formula("compatible(N, T) and N <= 8"), {N: "batch", T: "T"}))
// Do sizes meet the condition?
//     batch == T or batch == 1 or T == 1
//     batch <= 8
builtin.module {
  func.func @guard(%batch: index, %T: index) -> i1 {
    %0 = arith.constant 0 : index
    %1 = arith.cmpi sle, %0, %batch : index
    %2 = shape.cstr_require %1, "batch >= 0"
    %3 = arith.cmpi sle, %0, %T : index
    %4 = shape.cstr_require %3, "T >= 0"
    %5 = tensor.from_elements %batch : tensor<1xindex>
    %6 = tensor.from_elements %T : tensor<1xindex>
    %7 = shape.cstr_broadcastable %5, %6 : tensor<1xindex>, tensor<1xindex>
    %8 = arith.constant 8 : index
    %9 = arith.cmpi sle, %batch, %8 : index
    %10 = shape.cstr_require %9, "batch <= 8"
    %11 = shape.assuming_all %2, %4, %7, %10
    %12 = shape.assuming %11 -> (i1) {
      %holds = arith.constant true
      shape.assuming_yield %holds : i1
    }
    return %12 : i1
  }
}
<BLANKLINE>
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from symbcast.answers.guards import clauses
from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, dims_of
from symbcast.core.algebra.terms import Operation, Symbol, Term, term

COMMENT = "//"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_WORD_BITS = 64
_PREDICATES = {"==": "eq", "!=": "ne", "<=": "sle", "<": "slt"}
_EXTREMA = {"min": "arith.minsi", "max": "arith.maxsi"}


def mlir_source(condition: Formula, names: Mapping[Symbol, str], name: str = "guard") -> str:
    """Return an MLIR module with one function of sizes (``index``) in the order of ``names``.

    Every conjunct becomes a witness of the shape dialect: ``shape.cstr_broadcastable`` where it says that sizes
    broadcast, else ``shape.cstr_require`` of an ``i1``; another one for each size requires that it is not negative.
    Code that relies on the condition belongs in the ``shape.assuming`` region, which returns true as it stands;
    where the condition does not hold, a witness fails, and the program stops.

    It is exact for an ``index`` of 64 bits: values that may not fit there are computed in a wider integer (``i128``, or
    as wide as sizes up to 2**63 - 1 can make it). No division by 0 is executed, whatever the sizes. A name that MLIR
    does not allow is changed, and a comment gives the new one.

    Raises `BindingError` for a size of the condition without a name, and ValueError for a ``name`` that is not an
    identifier.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a function here: write an identifier")
    called = clauses.identifiers(names, spelled, lambda word: word == "holds")
    writer = _MlirWriter(called)
    witnesses = [
        writer.require(f"arith.cmpi sle, {writer.number(0)}, %{p} : index", f"{p} >= 0") for p in called.values()
    ]
    clauses.check_known_ranks("MLIR", names)
    guarded = clauses.guarded_clauses(condition, names)
    witnesses += [writer.witness(c, " and ".join(clauses.condition_texts(c, names))) for c in guarded]
    together = writer.operation(
        f"shape.assuming_all {', '.join(witnesses)}" if witnesses else "shape.const_witness true"
    )
    comment = ["Do sizes meet the condition?", *(f"    {t}" for t in clauses.condition_texts(condition, names))]
    comment += clauses.renamed_sizes(called, names, "%")
    result = f"%{len(writer.lines)}"
    lines = [
        *(f"// {text}" for text in comment),
        "builtin.module {",
        f"  func.func @{name}({', '.join(f'%{p}: index' for p in called.values())}) -> i1 {{",
        *(f"    {line}" for line in writer.lines),
        f"    {result} = shape.assuming {together} -> (i1) {{",
        "      %holds = arith.constant true",
        "      shape.assuming_yield %holds : i1",
        "    }",
        f"    return {result} : i1",
        "  }",
        "}",
    ]
    return "\n".join([*lines, ""])


def spelled(name: str) -> str:
    """Return a name as an identifier of MLIR."""
    # In MLIR a name that begins with a digit is a value's number, as the `%0` written here.
    spelled = re.sub(r"[^A-Za-z0-9_$.-]", "_", name)
    return spelled if spelled[:1].isalpha() else f"size_{spelled.lstrip('_$.-')}".rstrip("_")


def _integer_type(parts: Sequence[Term]) -> str:
    """Return a type that holds every intermediate value in computing some terms."""
    # One bit more is the sign.
    bits = max(map(clauses.magnitude, parts)).bit_length() + 1
    return "index" if bits <= _WORD_BITS else f"i{-(-bits // _WORD_BITS) * _WORD_BITS}"


class _MlirWriter:
    """Writes operations in order, each once: repeated requests return the existing value."""

    def __init__(self, called: Mapping[Symbol, str]) -> None:
        self._called = called
        self._values: dict[str, str] = {}
        self.lines: list[str] = []

    def operation(self, text: str) -> str:
        """Return the value of an operation."""
        if text not in self._values:
            self._values[text] = f"%{len(self.lines)}"
            self.lines.append(f"{self._values[text]} = {text}")
        return self._values[text]

    def number(self, value: int, kind: str = "index") -> str:
        return self.operation(f"arith.constant {value} : {kind}")

    def require(self, test: str, message: str) -> str:
        return self._required(self.operation(test), message)

    def _required(self, value: str, message: str) -> str:
        return self.operation(f'shape.cstr_require {value}, "{escaped(message)}"')

    def witness(self, clause: Formula, message: str) -> str:
        """Return a witness of a conjunct."""
        if isinstance(clause, Compatible) and _are_extents(clause):
            return self.operation(f"shape.cstr_broadcastable {self._shapes(clause)}")
        return self._required(self._formula(clause), message)

    def _shapes(self, formula: Compatible | Clashing) -> str:
        sizes = (self._term(term(d), "index") for d in formula.dims)
        shapes = [self.operation(f"tensor.from_elements {size} : tensor<1xindex>") for size in sizes]
        return f"{', '.join(shapes)} : {', '.join(['tensor<1xindex>'] * len(shapes))}"

    def _formula(self, formula: Formula) -> str:
        """Return a formula as an ``i1``."""
        match formula:
            case Comparison(operator, left, right):
                kind = _integer_type((term(left), term(right)))
                return self._compared(
                    _PREDICATES[operator], self._term(term(left), kind), self._term(term(right), kind), kind
                )
            case Compatible():
                return self._compatible(formula)
            case Clashing():
                return self.operation(f"arith.xori {self._compatible(formula)}, {self._truth(True)} : i1")
            case AllOf(parts):
                return (
                    self._chain("arith.andi", [self._formula(p) for p in parts], "i1") if parts else self._truth(True)
                )
            case AnyOf(parts):
                return (
                    self._chain("arith.ori", [self._formula(p) for p in parts], "i1") if parts else self._truth(False)
                )

    def _truth(self, value: bool) -> str:
        return self.operation(f"arith.constant {str(value).lower()}")

    def _compared(self, predicate: str, left: str, right: str, kind: str) -> str:
        return self.operation(f"arith.cmpi {predicate}, {left}, {right} : {kind}")

    def _chain(self, operation: str, values: Sequence[str], kind: str) -> str:
        result = values[0]
        for value in values[1:]:
            result = self.operation(f"{operation} {result}, {value} : {kind}")
        return result

    def _compatible(self, formula: Compatible | Clashing) -> str:
        if _are_extents(formula):
            return self.operation(f"shape.is_broadcastable {self._shapes(formula)}")
        # Terms that may be negative or wider than an index are not extents: require each to be 1 or their common value.
        terms = [term(d) for d in formula.dims]
        kind = _integer_type(terms)
        values = [self._term(t, kind) for t in terms]
        common = self._join(values, kind)
        each = [
            self._chain(
                "arith.ori", [self._compared("eq", v, other, kind) for other in (self.number(1, kind), common)], "i1"
            )
            for v in values
        ]
        return self._chain("arith.andi", each, "i1")

    def _join(self, values: Sequence[str], kind: str) -> str:
        """Return the last value that is not 1, or 1."""
        result = values[0]
        for value in values[1:]:
            is_one = self._compared("eq", value, self.number(1, kind), kind)
            result = self.operation(f"arith.select {is_one}, {result}, {value} : {kind}")
        return result

    def _term(self, value: Term, kind: str) -> str:
        ordered = sorted(value.coefficients.items(), key=lambda part: not part[0])
        parts = [self._product(c, m, kind) for m, c in ordered]
        return self._chain("arith.addi", parts, kind) if parts else self.number(0, kind)

    def _product(self, coefficient: int, monomial: Sequence[Any], kind: str) -> str:
        factors = [self._operation(a, kind) if isinstance(a, Operation) else self._symbol(a, kind) for a in monomial]
        if coefficient != 1 or not factors:
            factors.append(self.number(coefficient, kind))
        return self._chain("arith.muli", factors, kind)

    def _symbol(self, symbol: Symbol, kind: str) -> str:
        size = f"%{self._called[symbol]}"
        return size if kind == "index" else self.operation(f"arith.index_cast {size} : index to {kind}")

    def _operation(self, operation: Operation, kind: str) -> str:
        args = [self._term(a, kind) for a in operation.args]
        if operation.kind in _EXTREMA:
            return self._chain(_EXTREMA[operation.kind], args, kind)
        if operation.kind == "join":
            return self._join(args, kind)
        dividend, divisor = args[0], self._safe_divisor(args[1], operation.args[1], kind)
        quotient = self.operation(f"arith.floordivsi {dividend}, {divisor} : {kind}")
        if operation.kind == "//":
            return quotient
        # `arith.remsi` has the sign of the dividend, so the remainder is what the quotient, rounded down, leaves.
        whole = self.operation(f"arith.muli {quotient}, {divisor} : {kind}")
        return self.operation(f"arith.subi {dividend}, {whole} : {kind}")

    def _safe_divisor(self, divisor: str, value: Term, kind: str) -> str:
        """Return the divisor, or 1 if it is 0: a witness checks that it is not, but everything is computed first."""
        if value.is_constant and value.constant:
            return divisor
        is_zero = self._compared("eq", divisor, self.number(0, kind), kind)
        return self.operation(f"arith.select {is_zero}, {self.number(1, kind)}, {divisor} : {kind}")


def _are_extents(formula: Compatible | Clashing) -> bool:
    """Return whether the broadcast terms are sizes for all values of the symbols."""
    terms = [term(d) for d in dims_of(formula)]
    return _integer_type(terms) == "index" and all(
        (t.lower_bound or 0) >= 0 and t.lower_bound is not None for t in terms
    )


def escaped(message: str) -> str:
    """Return text as the inside of an MLIR string literal, with all but plain bytes in hexadecimal."""
    plain = (
        chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}"
        for b in message.encode("utf-8", "backslashreplace")
    )
    return "".join(plain)
