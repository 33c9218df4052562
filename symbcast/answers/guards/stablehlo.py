"""An answer as a StableHLO module: its condition, checks that name what fails, and its output shapes, from sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.guards.clauses import check_known_ranks, condition_texts, guarded_clauses, magnitude
from symbcast.answers.guards.mlir import escaped, spelled
from symbcast.answers.guards.names import identifiers
from symbcast.answers.guards.stablehlo_values import LARGEST_DIMENSION, Writer
from symbcast.core.algebra.terms import symbols_of, term
from symbcast.core.characters import visible
from symbcast.core.logic.definedness import definedness
from symbcast.core.logic.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Formula,
    all_of,
    any_of,
    clauses,
    holds,
)
from symbcast.core.shapes import is_open
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.answers.report.findings import Finding
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.shapes import Shape

_MOST_SHOWN = 32
"""The most sizes that JAX accepts in the message of an assertion."""


class Requirement(NamedTuple):
    """A part of a condition, the operation that requires it (empty if unknown), and the message where it fails."""

    formula: Formula
    place: str
    message: str


def requirements_of(findings: Iterable[Finding]) -> tuple[Requirement, ...]:
    """Return the requirements of findings, in their order."""
    return tuple(
        Requirement(f.formula, f.operation, f"{f.operation} ({f.rule or f.kind}) requires {f.text}{_because(f)}")
        for f in findings
    )


def _because(finding: Finding) -> str:
    others = [o for o in finding.origins if o != finding.operation]
    together = f", together with {', '.join(others)}" if finding.is_joint and others else ""
    return f"{together}: {finding.reason}" if finding.reason else together


def stablehlo_source(
    condition: Formula,
    names: Mapping[Symbol, str],
    requirements: Sequence[Requirement] = (),
    shapes: Mapping[str, Shape | None] | None = None,
    notes: Iterable[str] = (),
) -> str:
    r"""Return a module of functions of sizes (``tensor<i32>``, as ``stablehlo.get_dimension_size`` gives them).

    All take the sizes in the order of ``names``:

    - ``@condition`` returns whether sizes meet the condition, as a ``tensor<i1>``;
    - ``@check`` has a ``shape_assertion`` for each requirement, with its message, the sizes in it and the operation
      as its location, and one for the rest of the condition: all hold exactly where the condition does. JAX's shape
      refinement raises the message of the first that fails;
    - ``@shape_NAME`` returns the shape of that name as a tensor of ``i64``, wherever the condition holds. A dimension
      that is no size at the given sizes is -1. A comment names the shapes without a function: those of unknown rank,
      or with sizes that are not in ``names``.

    Values are computed in 64 bits, which is exact for linear terms and products of two sizes. Where a value may not fit
    into 64 bits, ``@condition`` is false, an assertion of ``@check`` says so, and the dimension is -1. ``notes`` are
    further comments.

    Raises `BindingError` for a size of the condition without a name, and `UnknownRankError` for sizes of a sequence.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.shapes import shape
    >>> from symbcast.core.text import parse_formula
    >>> source = stablehlo_source(parse_formula("N <= 8"), {symbol("N"): "N"}, shapes={"y": shape("2*N")})
    >>> print(*(line.strip() for line in source.splitlines() if "func.func" in line), sep="\n")
    func.func @condition(%N: tensor<i32>) -> tensor<i1> {
    func.func @check(%N: tensor<i32>) {
    func.func @shape_y(%N: tensor<i32>) -> tensor<1xi64> {
    """
    check_known_ranks("StableHLO", names)
    module = _Module(names)
    parts = _range_settled(all_of(guarded_clauses(condition, names)))
    given = [*module.relevant(requirements, condition), *module.rest(condition, requirements)]
    lines = [*module.condition(parts), *module.check(given)]
    left_out = []
    for name, shape in (shapes or {}).items():
        why = module.obstacle(shape)
        if shape is None or why:
            left_out.append(f"{name} has no function: {why}")
        else:
            lines += module.shape(name, shape.dims)
    comment = ["Do sizes meet the condition?", *(f"    {t}" for t in condition_texts(condition, names))]
    comment += [*notes, *module.changed(), *left_out]
    return "\n".join([*(visible(f"// {c}") for c in comment), "module {", *(f"  {line}" for line in lines), "}", ""])


class _Module:
    """Writes the functions of a module, each of which takes all sizes."""

    def __init__(self, names: Mapping[Symbol, str]) -> None:
        self._names = names
        self._called = identifiers(names, spelled, lambda _: False)
        self._parameters = ", ".join(f"%{p}: tensor<i32>" for p in self._called.values())

    def changed(self) -> Iterator[str]:
        """Yield the names that MLIR does not allow, with the new ones."""
        return (f"%{p} is the size {self._names[s]!r}." for s, p in self._called.items() if p != self._names[s])

    # What is written.

    def relevant(self, requirements: Iterable[Requirement], condition: Formula) -> Iterator[Requirement]:
        """Yield the requirements that the condition implies: its own parts; any over its sizes if it never holds."""
        own = clauses(condition)
        for found in requirements:
            if found.formula in own or (condition == FALSE and symbols_in(found.formula).keys() <= self._names.keys()):
                yield found

    def rest(self, condition: Formula, requirements: Iterable[Requirement]) -> Iterator[Requirement]:
        """Yield the parts of the condition that no requirement covers."""
        covered = {found.formula for found in requirements}
        for clause in clauses(condition):
            if clause not in covered:
                text = " and ".join(condition_texts(clause, self._names))
                message = "no sizes meet the condition" if clause == FALSE else f"the condition requires {text}"
                yield Requirement(clause, "", message)

    def obstacle(self, shape: Shape | None) -> str:
        """Return why a shape cannot be computed from the sizes; empty if it can."""
        if shape is None:
            return "its shape is not known"
        if is_open(shape):
            return "its rank is not known"
        others = [s.name for s in symbols_of(shape.dims) if s not in self._names]
        return f"{', '.join(others)} is not determined by the sizes" if others else ""

    # Functions.

    def condition(self, formula: Formula) -> list[str]:
        """Return the function of the condition."""
        writer = Writer(self._called)
        tests = [self._is_size(writer, s) for s in self._called]
        found = writer.all_of([*tests, *(writer.formula(c) for c in clauses(formula))])
        return self._function("condition", writer, found, "tensor<i1>")

    def check(self, requirements: Iterable[Requirement]) -> list[str]:
        """Return the function of the assertions."""
        writer = Writer(self._called)
        for symbol in self._called:
            self._assert(writer, self._is_size(writer, symbol), "a size is not negative", [symbol])
        for found in requirements:
            formula = _range_settled(all_of(guarded_clauses(found.formula, self._names)))
            sizes, test = symbols_in(found.formula), writer.formula(formula)
            fits = writer.fits_formula(formula)
            if fits is not None:
                known = writer.operation(f"stablehlo.or {fits}, {test} : tensor<i1>")
                message = f"64 bits are not enough to decide this at these sizes: {found.message}"
                self._assert(writer, known, message, sizes, found.place)
            self._assert(writer, test, found.message, sizes, found.place)
        return self._function("check", writer)

    def shape(self, name: str, dims: Sequence[Dim]) -> list[str]:
        """Return the function of a shape."""
        writer = Writer(self._called)
        cells = [self._dimension(writer, d) for d in dims]
        kind = f"tensor<{len(dims)}xi64>"
        ones = [writer.operation(f"stablehlo.reshape {c} : (tensor<i64>) -> tensor<1xi64>") for c in cells]
        if len(ones) == 1:
            found = ones[0]
        elif ones:
            types = ", ".join(["tensor<1xi64>"] * len(ones))
            found = writer.operation(f"stablehlo.concatenate {', '.join(ones)}, dim = 0 : ({types}) -> {kind}")
        else:
            found = writer.operation(f"stablehlo.constant dense<> : {kind}")
        return self._function(f"shape_{name}", writer, found, kind)

    def _dimension(self, writer: Writer, dim: Dim) -> str:
        """Return a dimension; -1 where it is no size, or too large to be computed."""
        needs = [writer.formula(c) for need in definedness(dim) for c in guarded_clauses(need, self._names)]
        fits = writer.fits([dim])
        tests = needs if fits is None else [fits, *needs]
        found = writer.value(dim)
        return writer.selected(writer.all_of(tests), found, writer.number(-1)) if tests else found

    def _is_size(self, writer: Writer, symbol: Symbol) -> str:
        return writer.compared("LE", writer.number(0), writer.size(symbol))

    def _assert(self, writer: Writer, test: str, message: str, sizes: Iterable[Symbol], place: str = "") -> None:
        shown = [s for s in self._called if s in set(sizes)][:_MOST_SHOWN]
        # LLVM's formatv writes the message: it takes {0} for the first size, and {{ for a brace.
        found = ", ".join(f"{_literal(self._names[s])} = {{{n}}}" for n, s in enumerate(shown))
        text = f"{_literal(message)}; found {found}" if shown else _literal(message)
        text = visible(text)
        types = ", ".join(["tensor<i1>", *(["tensor<i32>"] * len(shown))])
        writer.lines.append(
            f"stablehlo.custom_call @shape_assertion({', '.join([test, *(f'%{self._called[s]}' for s in shown)])}) "
            f'{{api_version = 2 : i32, error_message = "{escaped(text)}", has_side_effect = true}} : ({types}) -> ()'
            + (f' loc("{escaped(place)}")' if place else "")
        )

    def _function(self, name: str, writer: Writer, value: str = "", kind: str = "") -> list[str]:
        symbol = name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$.]*", name) else f'"{escaped(name)}"'
        gives = f" -> {kind}" if kind else ""
        return [
            f"func.func @{symbol}({self._parameters}){gives} {{",
            *(f"  {line}" for line in writer.lines),
            f"  return {value} : {kind}" if kind else "  return",
            "}",
        ]


def _literal(text: str) -> str:
    return text.replace("{", "{{")


def _range_settled(formula: Formula) -> Formula:
    """Return a formula without comparisons with a number that is out of reach: it may not fit into 64 bits."""
    match formula:
        case Comparison(operator, left, right) if isinstance(left, int) != isinstance(right, int):
            number, other = (left, right) if isinstance(left, int) else (right, left)
            assert isinstance(number, int)
            if abs(number) <= magnitude(term(other), LARGEST_DIMENSION):
                return formula
            sides = (number, 0) if number is left else (0, number)
            return TRUE if holds(Comparison(operator, *sides)) else FALSE
        case AllOf(parts):
            return all_of(map(_range_settled, parts))
        case AnyOf(parts):
            return any_of(map(_range_settled, parts))
        case _:
            return formula
