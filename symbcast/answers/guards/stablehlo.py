"""An answer as a StableHLO module: its condition, checks that name what fails, and its output shapes, from sizes.

One broadcast is written as dynamic_broadcast_in_dim, annotated with the proved axes.

Terms and formulas are operations on 64-bit scalars; where 64 bits may not be enough, the module says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.words import Namer, operand_names, rule_text
from symbcast.answers.guards.clauses import check_known_ranks, condition_texts, guarded_clauses, identifiers, magnitude
from symbcast.answers.guards.languages.mlir import escaped, spelled
from symbcast.core.algebra import formulas
from symbcast.core.algebra.formulas import FALSE, TRUE, AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, Leaf
from symbcast.core.algebra.terms import Atom, Dim, Operation, Symbol, Term, symbols_of, term
from symbcast.core.characters import visible
from symbcast.core.rules.broadcast_rule import members_of, same_size
from symbcast.core.shapes import Shape, is_open
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.errors import DimensionError

if TYPE_CHECKING:
    from symbcast.answers.findings import Finding
    from symbcast.core.programs.broadcast_call import BroadcastCall


# Terms and formulas as operations of StableHLO on 64-bit scalars, and whether 64 bits are enough.


# The largest size of a dimension: ``stablehlo.get_dimension_size`` gives an ``i32``.
LARGEST_DIMENSION = 2**31 - 1
_LARGEST_VALUE = 2**63 - 1
# Where bounds on values stop: twice this number still fits into 64 bits.
_MOST = 2**62 - 1
_NUMBER, _TRUTH = "tensor<i64>", "tensor<i1>"
_PREDICATES = {"==": "EQ", "!=": "NE", "<=": "LE", "<": "LT"}
_EXTREMA = {"min": "minimum", "max": "maximum"}


class ScalarWriter:
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
        return self.fits(list(formulas.dims_of(formula)))

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
        quotient = self._chain(name, [dividend, divisor], _NUMBER)
        if all((a.lower_bound or 0) >= 0 and a.lower_bound is not None for a in operation.args):
            return quotient
        rest, zero = self._chain("remainder", [dividend, divisor], _NUMBER), self.number(0)
        differ = self._truths("NE", *[self.compared("LT", v, zero) for v in (rest, divisor)])
        rounded = self.all_of([self.compared("NE", rest, zero), differ])
        other = (
            self._chain("subtract", [quotient, self.number(1)], _NUMBER)
            if operation.kind == "//"
            else self._chain("add", [rest, divisor], _NUMBER)
        )
        return self.selected(rounded, other, quotient)

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
        return reduce(lambda total, v: self.selected(self.compared("EQ", v, one), total, v), values)

    def _chain(self, name: str, values: Sequence[str], kind: str) -> str:
        return reduce(lambda total, v: self.operation(f"stablehlo.{name} {total}, {v} : {kind}"), values)

    # JAX's shape refinement folds neither floats nor ``not`` and ``xor``: an assertion with them is never decided. It
    # folds all operations used here.
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
            lambda total, p: self._chain("minimum", [self._chain("add", [total, p], _NUMBER), most], _NUMBER), products
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


# The most sizes that JAX accepts in the message of an assertion.
_MOST_SHOWN = 32


class CheckedRequirement(NamedTuple):
    """A part of a condition, the operation that requires it (empty if unknown), and the message where it fails."""

    formula: Formula
    place: str
    message: str


def requirements_of(findings: Iterable[Finding]) -> tuple[CheckedRequirement, ...]:
    """Return the requirements of findings, in their order."""
    return tuple(
        CheckedRequirement(f.formula, f.operation, f"{f.operation} ({f.rule or f.kind}) requires {f.text}{_because(f)}")
        for f in findings
    )


def _because(finding: Finding) -> str:
    others = [o for o in finding.origins if o != finding.operation]
    together = f", together with {', '.join(others)}" if finding.is_joint and others else ""
    return f"{together}: {finding.reason}" if finding.reason else together


def stablehlo_source(
    condition: Formula,
    names: Mapping[Symbol, str],
    requirements: Sequence[CheckedRequirement] = (),
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
    module = _ConditionModule(names)
    parts = formulas.with_leaves(formulas.all_of(guarded_clauses(condition, names)), _range_settled)
    checked = [*module.relevant(requirements, condition), *module.rest(condition, requirements)]
    lines = [*module.condition(parts), *module.check(checked)]
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


class _ConditionModule:
    """Writes the functions of a module, each of which takes all sizes."""

    def __init__(self, names: Mapping[Symbol, str]) -> None:
        self._names = names
        self._called = identifiers(names, spelled, lambda _: False)
        self._parameters = ", ".join(f"%{p}: tensor<i32>" for p in self._called.values())

    def changed(self) -> Iterator[str]:
        """Yield the names that MLIR does not allow, with the new ones."""
        return (f"%{p} is the size {self._names[s]!r}." for s, p in self._called.items() if p != self._names[s])

    # What is written.

    def relevant(self, requirements: Iterable[CheckedRequirement], condition: Formula) -> Iterator[CheckedRequirement]:
        """Yield the requirements that the condition implies: its own parts; any over its sizes if it never holds."""
        own = formulas.clauses(condition)
        for requirement in requirements:
            if requirement.formula in own or (
                condition == FALSE and symbols_in(requirement.formula).keys() <= self._names.keys()
            ):
                yield requirement

    def rest(self, condition: Formula, requirements: Iterable[CheckedRequirement]) -> Iterator[CheckedRequirement]:
        """Yield the parts of the condition that no requirement covers."""
        covered = {requirement.formula for requirement in requirements}
        for clause in formulas.clauses(condition):
            if clause not in covered:
                text = " and ".join(condition_texts(clause, self._names))
                message = "no sizes meet the condition" if clause == FALSE else f"the condition requires {text}"
                yield CheckedRequirement(clause, "", message)

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
        writer = ScalarWriter(self._called)
        tests = [self._is_size(writer, s) for s in self._called]
        value = writer.all_of([*tests, *(writer.formula(c) for c in formulas.clauses(formula))])
        return self._function("condition", writer, value, "tensor<i1>")

    def check(self, requirements: Iterable[CheckedRequirement]) -> list[str]:
        """Return the function of the assertions."""
        writer = ScalarWriter(self._called)
        for symbol in self._called:
            self._assert(writer, self._is_size(writer, symbol), "a size is not negative", [symbol])
        for requirement in requirements:
            formula = formulas.with_leaves(
                formulas.all_of(guarded_clauses(requirement.formula, self._names)), _range_settled
            )
            sizes, test = symbols_in(requirement.formula), writer.formula(formula)
            fits = writer.fits_formula(formula)
            if fits is not None:
                known = writer.operation(f"stablehlo.or {fits}, {test} : tensor<i1>")
                message = f"64 bits are not enough to decide this at these sizes: {requirement.message}"
                self._assert(writer, known, message, sizes, requirement.place)
            self._assert(writer, test, requirement.message, sizes, requirement.place)
        return self._function("check", writer)

    def shape(self, name: str, dims: Sequence[Dim]) -> list[str]:
        """Return the function of a shape."""
        writer = ScalarWriter(self._called)
        cells = [self._dimension(writer, d) for d in dims]
        kind = f"tensor<{len(dims)}xi64>"
        ones = [writer.operation(f"stablehlo.reshape {c} : (tensor<i64>) -> tensor<1xi64>") for c in cells]
        if len(ones) == 1:
            value = ones[0]
        elif ones:
            types = ", ".join(["tensor<1xi64>"] * len(ones))
            value = writer.operation(f"stablehlo.concatenate {', '.join(ones)}, dim = 0 : ({types}) -> {kind}")
        else:
            value = writer.operation(f"stablehlo.constant dense<> : {kind}")
        return self._function(f"shape_{name}", writer, value, kind)

    def _dimension(self, writer: ScalarWriter, dim: Dim) -> str:
        """Return a dimension; -1 where it is no size, or too large to be computed."""
        needs = [writer.formula(c) for need in formulas.definedness(dim) for c in guarded_clauses(need, self._names)]
        fits = writer.fits([dim])
        tests = needs if fits is None else [fits, *needs]
        value = writer.value(dim)
        return writer.selected(writer.all_of(tests), value, writer.number(-1)) if tests else value

    def _is_size(self, writer: ScalarWriter, symbol: Symbol) -> str:
        return writer.compared("LE", writer.number(0), writer.size(symbol))

    def _assert(self, writer: ScalarWriter, test: str, message: str, sizes: Iterable[Symbol], place: str = "") -> None:
        shown = [s for s in self._called if s in set(sizes)][:_MOST_SHOWN]
        # LLVM's formatv writes the message: it takes {0} for the first size, and {{ for a brace.
        inputs = ", ".join(f"{_literal(self._names[s])} = {{{n}}}" for n, s in enumerate(shown))
        text = f"{_literal(message)}; found {inputs}" if shown else _literal(message)
        text = visible(text)
        types = ", ".join(["tensor<i1>", *(["tensor<i32>"] * len(shown))])
        writer.lines.append(
            f"stablehlo.custom_call @shape_assertion({', '.join([test, *(f'%{self._called[s]}' for s in shown)])}) "
            f'{{api_version = 2 : i32, error_message = "{escaped(text)}", has_side_effect = true}} : ({types}) -> ()'
            + (f' loc("{escaped(place)}")' if place else "")
        )

    def _function(self, name: str, writer: ScalarWriter, value: str = "", kind: str = "") -> list[str]:
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


def _range_settled(leaf: Leaf) -> Formula:
    """Return no comparison with a number that is out of reach: it may not fit into 64 bits."""
    match leaf:
        case Comparison(operator, left, right) if isinstance(left, int) != isinstance(right, int):
            number, other = (left, right) if isinstance(left, int) else (right, left)
            assert isinstance(number, int)
            if abs(number) <= magnitude(term(other), LARGEST_DIMENSION):
                return leaf
            sides = (number, 0) if number is left else (0, number)
            return TRUE if formulas.holds(Comparison(operator, *sides)) else FALSE
    return leaf


# A broadcast as StableHLO: dynamic_broadcast_in_dim, annotated with the proved axes.


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_ELEMENT = re.compile(r"[A-Za-z][A-Za-z0-9]*|complex<f(32|64)>")
# The rules' name for an operand that is only a shape: it has no elements to broadcast.
_SHAPES = ("target", "result")


def stablehlo_broadcast(call: BroadcastCall, name: str = "broadcast", element_type: str = "f32") -> str:
    """Return a module with one function that takes tensors and returns each of them broadcast to the output shape.

    An operand that is only a shape, such as the target of `unidirectional`, is passed as a tensor of ``i32`` sizes. The
    output's sizes are computed from those of the operands, or taken from one operand that is proved to have the
    output's size. The shapes must be able to broadcast. Raises `DimensionError` for a layout that StableHLO
    cannot express, and ValueError for a name or a type that it does not allow.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> print(stablehlo_broadcast(call_of(broadcast("N, 3", "M, 1", assume="N >= 2 and M == N"))))
    // numpy of A (N, 3), B (M, 1)
    module {
      func.func @broadcast(%A: tensor<?x3xf32>, %B: tensor<?x1xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
        %0 = stablehlo.get_dimension_size %A, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
        %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
        %2 = stablehlo.constant dense<3> : tensor<1xi32>
        %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %4 = "stablehlo.dynamic_broadcast_in_dim"(%A, %3) {
          broadcast_dimensions = array<i64: 0, 1>,
          known_expanding_dimensions = array<i64>,
          known_nonexpanding_dimensions = array<i64: 0, 1>
        } : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
        %5 = "stablehlo.dynamic_broadcast_in_dim"(%B, %3) {
          broadcast_dimensions = array<i64: 0, 1>,
          known_expanding_dimensions = array<i64: 1>,
          known_nonexpanding_dimensions = array<i64: 0>
        } : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
        return %4, %5 : tensor<?x3xf32>, tensor<?x3xf32>
      }
    }
    <BLANKLINE>
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a function here: write an identifier")
    if not _ELEMENT.fullmatch(element_type):
        raise ValueError(f"{element_type!r} is not an element type: write f32, bf16 or i64, for example")
    return "\n".join([*_comment(call), *_BroadcastModule(call, name, element_type).lines(), ""])


def _comment(call: BroadcastCall) -> Iterator[str]:
    namer = Namer(call)
    shapes = (f"{n} {namer.shape(s)}" for n, s in zip(operand_names(call), call.operands, strict=True))
    yield visible(f"// {rule_text(call.rule)} of {', '.join(shapes)}")
    if call.clauses:
        yield visible(f"// valid when {namer.formula(formulas.all_of(call.clauses))}")


class _BroadcastModule:
    """Writes the operations in order; ``_values`` maps each existing operation to its value."""

    def __init__(self, call: BroadcastCall, name: str, element_type: str) -> None:
        assert call.shape is not None
        self._call = call
        self._name = name
        self._output = call.emission.output
        self._places = call.rule.places([s.rank for s in call.operands]).of
        self._valid = call.valid_sizes()
        self._lines: list[str] = []
        self._values: dict[str, str] = {}
        called = operand_names(call)
        self._is_shape = [n in _SHAPES for n in called]
        self._arguments = [f"%{n.replace(' ', '_')}" for n in called]
        self._types = [
            f"tensor<{s.rank}xi32>" if is_shape else _tensor(s.dims, element_type)
            for s, is_shape in zip(call.operands, self._is_shape, strict=True)
        ]
        self._result = _tensor(call.shape.dims, element_type)

    def lines(self) -> list[str]:
        """Return the lines of the module."""
        sizes = self._output_sizes()
        tensors = [n for n, is_shape in enumerate(self._is_shape) if not is_shape]
        results = [self._broadcast(n, sizes) for n in tensors]
        parameters = ", ".join(f"{a}: {t}" for a, t in zip(self._arguments, self._types, strict=True))
        types = ", ".join([self._result] * len(results))
        gives = types if len(results) == 1 else f"({types})"
        return [
            "module {",
            f"  func.func @{self._name}({parameters}) -> {gives} {{",
            *(f"    {line}" for line in self._lines),
            f"    return {', '.join(results)} : {types}" if results else "    return",
            "  }",
            "}",
        ]

    def _operation(self, text: str) -> str:
        """Return the value of an operation, writing it only once."""
        if text not in self._values:
            self._values[text] = f"%{len(self._values)}"
            self._lines.extend(f"{self._values[text]} = {text}".split("\n"))
        return self._values[text]

    def _broadcast(self, operand: int, sizes: str) -> str:
        """Return an operand broadcast to the output's sizes."""
        places, rank = self._places[operand], len(self._output)
        if any(not 0 <= p < rank for p in places) or len(set(places)) < len(places):
            dims = self._call.operands[operand]
            raise DimensionError(
                dims, "StableHLO maps each axis to one axis of the output", "drop the axes that hang over"
            )
        known = [
            self._valid.stretched([size], self._output[place]).known
            for size, place in zip(self._call.operands[operand].dims, places, strict=True)
        ]
        axes = [_array([n for n, k in enumerate(known) if k == word]) for word in ("expanding", "nonexpanding")]
        return self._operation(
            f'"stablehlo.dynamic_broadcast_in_dim"({self._arguments[operand]}, {sizes}) {{\n'
            f"  broadcast_dimensions = {_array(places)},\n"
            f"  known_expanding_dimensions = {axes[0]},\n"
            f"  known_nonexpanding_dimensions = {axes[1]}\n"
            f"}} : ({self._types[operand]}, tensor<{rank}xi32>) -> {self._result}"
        )

    def _output_sizes(self) -> str:
        """Return the sizes of the output as one tensor."""
        rank = len(self._output)
        sizes = [self._output_size(axis) for axis in range(rank)]
        if not sizes:
            return self._operation("stablehlo.constant dense<> : tensor<0xi32>")
        if rank == 1:
            return sizes[0]
        types = ", ".join(["tensor<1xi32>"] * rank)
        return self._operation(f"stablehlo.concatenate {', '.join(sizes)}, dim = 0 : ({types}) -> tensor<{rank}xi32>")

    def _output_size(self, axis: int) -> str:
        """Return the size of an output axis: a number, that of an operand, or the join of several."""
        assert self._call.shape is not None
        size, output = self._call.shape.dims[axis], self._output[axis]
        if isinstance(size, int):
            return self._number(size)
        members = {member for member in members_of(output) if member != 1}
        cells = [(n, i, s) for n, i, s in self._cells(axis) if s in members]
        for n, i, member in cells:
            if same_size(output, member) == TRUE or self._valid.stretched([member], output).known == "nonexpanding":
                return self._extent(n, i)
        joined = self._extent(*cells[0][:2])
        for n, i, _ in cells[1:]:
            other, one = self._extent(n, i), self._number(1)
            types = "(tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>"
            is_one = self._operation(f"stablehlo.compare EQ, {joined}, {one} : {types}")
            joined = self._operation(f"stablehlo.select {is_one}, {other}, {joined} : tensor<1xi1>, tensor<1xi32>")
        return joined

    def _cells(self, axis: int) -> Iterator[tuple[int, int, Dim]]:
        """Yield the operands on an output axis, each with its own axis there and the size; each size once."""
        cells: set[Dim] = set()
        for n, places in enumerate(self._places):
            for i, place in enumerate(places):
                size = self._call.operands[n].dims[i]
                if place == axis and size not in cells:
                    cells.add(size)
                    yield n, i, size

    def _number(self, size: int) -> str:
        return self._operation(f"stablehlo.constant dense<{size}> : tensor<1xi32>")

    def _extent(self, operand: int, axis: int) -> str:
        """Return the size of an operand's axis, as a tensor of rank 1."""
        argument, kind = self._arguments[operand], self._types[operand]
        if self._is_shape[operand]:
            return self._operation(f"stablehlo.slice {argument} [{axis}:{axis + 1}] : ({kind}) -> tensor<1xi32>")
        size = self._operation(f"stablehlo.get_dimension_size {argument}, dim = {axis} : ({kind}) -> tensor<i32>")
        return self._operation(f"stablehlo.reshape {size} : (tensor<i32>) -> tensor<1xi32>")


def _tensor(dims: Sequence[Dim], element_type: str) -> str:
    """Return the type of a tensor, with ``?`` for a size that is not a number."""
    sizes = (str(d) if isinstance(d, int) else "?" for d in dims)
    return f"tensor<{'x'.join([*sizes, element_type])}>"


def _array(axes: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, axes))}>" if axes else "array<i64>"
