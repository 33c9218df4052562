"""What a sentence says, as trees that are written in the notation of the grammar, with the brackets that they need.

Sizes in a sentence may be fractions until a function rounds them or a comparison multiplies them out; `ExactQuotient`
keeps them exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import gcd, lcm
from typing import TypeAlias

from symbcast.core.structs import NamedTuple

_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(5)
# How many assignments of residues may be tried to prove that a quotient is whole.
_MOST_RESIDUES = 4_096


class UnclearError(Exception):
    """The sentence has no certain meaning."""


class IntegerLiteral(NamedTuple):
    """An integer."""

    value: int


class Name(NamedTuple):
    """A size as the grammar writes it: a name, a label, an axis of a sequence."""

    text: str


class Sum(NamedTuple):
    """A sum; a part that is subtracted is a product with a negative number."""

    parts: tuple[Tree, ...]


class Product(NamedTuple):
    """A number times trees."""

    number: int
    factors: tuple[Tree, ...]


class FloorDivision(NamedTuple):
    """``left // right`` or ``left % right``."""

    operator: str
    left: Tree
    right: Tree


class Power(NamedTuple):
    """A power with an integer exponent."""

    base: Tree
    exponent: int


class FunctionCall(NamedTuple):
    """``min``, ``max`` or ``broadcast`` of sizes."""

    function: str
    arguments: tuple[Tree, ...]


Tree: TypeAlias = "IntegerLiteral | Name | Sum | Product | FloorDivision | Power | FunctionCall"


def add_trees(*parts: Tree) -> Tree:
    """Return a sum, with its numbers added up."""
    flat = [q for p in parts for q in (p.parts if isinstance(p, Sum) else (p,))]
    number = sum(p.value for p in flat if isinstance(p, IntegerLiteral))
    others = tuple(p for p in flat if not isinstance(p, IntegerLiteral))
    if not others:
        return IntegerLiteral(number)
    summands = (*others, IntegerLiteral(number)) if number else others
    return summands[0] if len(summands) == 1 else Sum(summands)


def multiply_trees(*factors: Tree) -> Tree:
    """Return a product, with its numbers multiplied."""
    number, others = 1, list[Tree]()
    for factor in factors:
        match factor:
            case IntegerLiteral(value):
                number *= value
            case Product(value, inner):
                number *= value
                others += inner
            case _:
                others.append(factor)
    if not others:
        return IntegerLiteral(number)
    # A product with 0 stays: its factors may be undefined.
    return others[0] if number == 1 and len(others) == 1 else Product(number, tuple(others))


def tree_text(tree: Tree, place: int = _SUM) -> str:
    """Return a tree in the notation of the grammar.

    >>> N = Name("N")
    >>> product = multiply_trees(IntegerLiteral(3), add_trees(N, IntegerLiteral(-1)))
    >>> tree_text(FloorDivision("//", product, IntegerLiteral(2)))
    '3*(N - 1)//2'
    """
    text, binding = _written(tree)
    return f"({text})" if binding < place else text


def _written(tree: Tree) -> tuple[str, int]:
    match tree:
        case IntegerLiteral(value):
            return str(value), _ATOM if value >= 0 else _UNARY
        case Name(text):
            return text, _ATOM
        case Sum((first, *rest)):
            return "".join([tree_text(first, _PRODUCT), *map(_added, rest)]), _SUM
        case Product(number, factors):
            # A quotient among the factors gets brackets: `2*(a//b)` is not `2*a//b`.
            texts = [tree_text(f, _POWER) for f in factors]
            signed = "-" * (number < 0) + f"{abs(number)}*" * (abs(number) != 1)
            return signed + "*".join(texts), _PRODUCT if len(texts) > 1 or abs(number) != 1 else _UNARY
        case FloorDivision(operator, left, right):
            # From left to right: `a*b//c` needs no brackets, and `a//(b*c)` does.
            spaced = operator if operator == "//" else f" {operator} "
            return f"{tree_text(left, _PRODUCT)}{spaced}{tree_text(right, _POWER)}", _PRODUCT
        case Power(base, exponent):
            # `-2**2` is -4, so a negative number gets brackets too.
            return f"{tree_text(base, _ATOM)}**{exponent}", _POWER
        case FunctionCall(function, arguments):
            return f"{function}({', '.join(map(tree_text, arguments))})", _ATOM
    raise AssertionError(tree)


def _added(part: Tree) -> str:
    match part:
        case IntegerLiteral(value) if value < 0:
            return f" - {-value}"
        case Product(number, factors) if number < 0:
            return f" - {tree_text(multiply_trees(IntegerLiteral(-number), *factors), _PRODUCT)}"
    return f" + {tree_text(part, _PRODUCT)}"


def has_value_everywhere(tree: Tree) -> bool:
    """Return whether a tree has a value at all sizes."""
    match tree:
        case FloorDivision(_, left, right):
            return has_value_everywhere(left) and isinstance(right, IntegerLiteral)
        case FunctionCall(function, arguments):
            # Sizes that do not broadcast have no common size.
            return function != "broadcast" and all(map(has_value_everywhere, arguments))
        case Sum(parts) | Product(_, parts):
            return all(map(has_value_everywhere, parts))
        case Power(base, _):
            return has_value_everywhere(base)
    return True


def has_all_axes(tree: Tree) -> bool:
    """Return whether a tree has all axes of a sequence (``*a``): a relation of it holds on each axis."""
    match tree:
        case Name(text):
            return text.startswith("*")
        case FloorDivision(_, left, right):
            return has_all_axes(left) or has_all_axes(right)
        case Sum(parts) | Product(_, parts) | FunctionCall(_, parts):
            return any(map(has_all_axes, parts))
        case Power(base, _):
            return has_all_axes(base)
    return False


def is_nonnegative(tree: Tree) -> bool:
    """Return whether a tree is 0 or more at all sizes, as far as its form shows."""
    match tree:
        case IntegerLiteral(value):
            return value >= 0
        case Sum(parts):
            return all(map(is_nonnegative, parts))
        case Product(number, factors):
            return number >= 0 and all(map(is_nonnegative, factors))
        case FloorDivision(operator, left, right):
            return is_nonnegative(right) and (operator == "%" or is_nonnegative(left))
        case Power(base, exponent):
            return exponent % 2 == 0 or is_nonnegative(base)
        case FunctionCall(function, arguments):
            return (any if function == "max" else all)(map(is_nonnegative, arguments))
    # A name is a size.
    return True


def is_multiple(tree: Tree, number: int) -> bool:
    """Return whether a tree is a multiple of a number at all sizes: proved for every residue of its names.

    >>> N = Name("N")
    >>> is_multiple(multiply_trees(N, add_trees(N, IntegerLiteral(1))), 2), is_multiple(N, 2)
    (True, False)
    """
    opaque = list(dict.fromkeys(_opaque(tree)))
    # The residue of a sum, product or power follows from those of its parts: all residues prove it for all integers.
    if number ** len(opaque) > _MOST_RESIDUES:
        return False
    return all(
        _residue(tree, dict(zip(opaque, residues, strict=True)), number) == 0
        for residues in product(range(number), repeat=len(opaque))
    )


def _opaque(tree: Tree) -> Iterable[Tree]:
    """Yield the parts of a tree whose residues are independent integers."""
    match tree:
        case IntegerLiteral():
            return
        case Sum(parts) | Product(_, parts):
            for part in parts:
                yield from _opaque(part)
        case Power(base, _):
            yield from _opaque(base)
        # The residue of a quotient does not follow from those of its parts: 2//2 and 4//2, or a minimum of them.
        case _:
            yield tree


def _residue(tree: Tree, values: dict[Tree, int], number: int) -> int:
    match tree:
        case IntegerLiteral(value):
            return value % number
        case Sum(parts):
            return sum(_residue(p, values, number) for p in parts) % number
        case Product(factor, factors):
            for part in factors:
                factor = factor * _residue(part, values, number) % number
            return factor % number
        case Power(base, exponent):
            return pow(_residue(base, values, number), exponent, number)
    return values[tree]


def _content(tree: Tree) -> int:
    """Return a number that divides a tree as it is written."""
    match tree:
        case IntegerLiteral(value):
            return abs(value)
        case Product(number, _):
            return abs(number)
        case Sum(parts):
            return gcd(*map(_content, parts))
    return 1


def _divided(tree: Tree, number: int) -> Tree:
    """Return a tree divided by a number that divides its content."""
    match tree:
        case IntegerLiteral(value):
            return IntegerLiteral(value // number)
        case Product(factor, factors):
            return multiply_trees(IntegerLiteral(factor // number), *factors)
        case Sum(parts):
            return add_trees(*(_divided(p, number) for p in parts))
    return tree


class ExactQuotient(NamedTuple):
    """An exact quotient of two integers; the divisor is a number above 0, or any tree."""

    top: Tree
    bottom: Tree = IntegerLiteral(1)

    @property
    def denominator(self) -> int:
        """The divisor, if it is a number."""
        if not isinstance(self.bottom, IntegerLiteral):
            raise UnclearError("an exact quotient by a size")
        return self.bottom.value

    def whole(self) -> Tree:
        """Return the tree of an integer; raise if it is not whole at all sizes."""
        divisor = self.denominator
        if divisor == 1:
            return self.top
        if not is_multiple(self.top, divisor):
            raise UnclearError("a quotient that is not whole")
        return FloorDivision("//", self.top, self.bottom)

    def times(self, number: int) -> Tree:
        """Return a multiple that is an integer: ``number`` is a multiple of the denominator."""
        return multiply_trees(IntegerLiteral(number // self.denominator), self.top)

    def __neg__(self) -> ExactQuotient:
        return exact_quotient(multiply_trees(IntegerLiteral(-1), self.top), self.bottom)

    def plus(self, other: ExactQuotient) -> ExactQuotient:
        """Return the sum."""
        if isinstance(self.bottom, IntegerLiteral) and isinstance(other.bottom, IntegerLiteral):
            common = lcm(self.bottom.value, other.bottom.value)
            return exact_quotient(add_trees(self.times(common), other.times(common)), IntegerLiteral(common))
        if self.bottom == other.bottom:
            return ExactQuotient(add_trees(self.top, other.top), self.bottom)
        left, right = multiply_trees(self.top, other.bottom), multiply_trees(other.top, self.bottom)
        return exact_quotient(add_trees(left, right), multiply_trees(self.bottom, other.bottom))

    def by(self, other: ExactQuotient) -> ExactQuotient:
        """Return the product."""
        return exact_quotient(multiply_trees(self.top, other.top), multiply_trees(self.bottom, other.bottom))

    def over(self, other: ExactQuotient) -> ExactQuotient:
        """Return the exact quotient."""
        return exact_quotient(multiply_trees(self.top, other.bottom), multiply_trees(self.bottom, other.top))

    def to_the(self, exponent: int) -> ExactQuotient:
        """Return a power."""
        return exact_quotient(_power(self.top, exponent), _power(self.bottom, exponent))

    def floor(self) -> Tree:
        """Return the quotient rounded down."""
        return self.top if self.bottom == IntegerLiteral(1) else FloorDivision("//", self.top, self.bottom)

    def ceil(self) -> Tree:
        """Return the quotient rounded up."""
        if isinstance(self.bottom, IntegerLiteral):
            return ExactQuotient(add_trees(self.top, IntegerLiteral(self.bottom.value - 1)), self.bottom).floor()
        return multiply_trees(
            IntegerLiteral(-1), FloorDivision("//", multiply_trees(IntegerLiteral(-1), self.top), self.bottom)
        )

    def truncated(self) -> Tree:
        """Return the quotient rounded towards 0."""
        if is_nonnegative(self.top) and is_nonnegative(self.bottom):
            return self.floor()
        # For x >= 0 this is floor(x) + 0, for x < 0 it is 0 + ceil(x).
        positive = FunctionCall("max", (self.floor(), IntegerLiteral(0)))
        return add_trees(positive, FunctionCall("min", (self.ceil(), IntegerLiteral(0))))


def _power(tree: Tree, exponent: int) -> Tree:
    if isinstance(tree, IntegerLiteral):
        return IntegerLiteral(tree.value**exponent)
    return tree if exponent == 1 else Power(tree, exponent)


def exact_quotient(top: Tree, bottom: Tree) -> ExactQuotient:
    """Return a quotient in lowest terms as far as its numbers show; raise if the divisor is 0."""
    if not isinstance(bottom, IntegerLiteral):
        return ExactQuotient(top, bottom)
    if not bottom.value:
        raise UnclearError("division by zero")
    if bottom.value < 0:
        top, bottom = multiply_trees(IntegerLiteral(-1), top), IntegerLiteral(-bottom.value)
    common = gcd(_content(top), bottom.value)
    return ExactQuotient(_divided(top, common), IntegerLiteral(bottom.value // common))


class ComparisonChain(NamedTuple):
    """A chain of comparisons."""

    operators: tuple[str, ...]
    trees: tuple[Tree, ...]


class FormulaCall(NamedTuple):
    """``compatible`` or ``each``, as the grammar writes it, or True or False."""

    text: str


class Both(NamedTuple):
    """All of some sentences."""

    parts: tuple[Sentence, ...]


class Either(NamedTuple):
    """One of some sentences."""

    parts: tuple[Sentence, ...]


class Not(NamedTuple):
    """The negation of a sentence."""

    part: Sentence


Sentence: TypeAlias = "ComparisonChain | FormulaCall | Both | Either | Not"

NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def comparison_chain(operators: Sequence[str], ratios: Sequence[ExactQuotient]) -> ComparisonChain:
    """Return a chain of comparisons, with all sides multiplied by what makes them integers.

    >>> sentence_text(comparison_chain(["=="], [ExactQuotient(Name("N"), IntegerLiteral(2)), ExactQuotient(Name("M"))]))
    'N == 2*M'
    """
    sides = [ExactQuotient(r.whole()) if _is_whole(r) else r for r in ratios]
    common = lcm(*(side.denominator for side in sides))
    return ComparisonChain(tuple(operators), tuple(side.times(common) for side in sides))


def _is_whole(side: ExactQuotient) -> bool:
    return isinstance(side.bottom, IntegerLiteral) and is_multiple(side.top, side.bottom.value)


def both(parts: Iterable[Sentence]) -> Sentence:
    """Return the conjunction."""
    flat = [q for p in parts for q in (p.parts if isinstance(p, Both) else (p,))]
    return flat[0] if len(flat) == 1 else Both(tuple(flat))


def either(parts: Iterable[Sentence]) -> Sentence:
    """Return the disjunction."""
    flat = [q for p in parts for q in (p.parts if isinstance(p, Either) else (p,))]
    return flat[0] if len(flat) == 1 else Either(tuple(flat))


def negate_sentence(sentence: Sentence) -> Sentence:
    """Return the negation; that of a comparison whose sides have values is the opposite comparison.

    Raises `UnclearError` for a relation of all axes: the opposite one would hold on each axis, not on some.
    """
    if isinstance(sentence, ComparisonChain) and any(map(has_all_axes, sentence.trees)):
        raise UnclearError
    if (
        isinstance(sentence, ComparisonChain)
        and len(sentence.operators) == 1
        and all(map(has_value_everywhere, sentence.trees))
    ):
        return ComparisonChain((NEGATED[sentence.operators[0]],), sentence.trees)
    return sentence.part if isinstance(sentence, Not) else Not(sentence)


def sentence_text(sentence: Sentence) -> str:
    """Return a sentence in the notation of the grammar."""
    match sentence:
        case ComparisonChain(operators, (first, *rest)):
            links = (f" {operator} {tree_text(tree)}" for operator, tree in zip(operators, rest, strict=True))
            return tree_text(first) + "".join(links)
        case FormulaCall(text):
            return text
        case Not(part):
            return f"not {sentence_text(part)}" if isinstance(part, FormulaCall) else f"not ({sentence_text(part)})"
        case Both(parts):
            return " and ".join(_within(p, Either) for p in parts)
        case Either(parts):
            return " or ".join(_within(p, Both) for p in parts)
    raise AssertionError(sentence)


def _within(part: Sentence, kind: type) -> str:
    text = sentence_text(part)
    return f"({text})" if isinstance(part, kind) else text


def indicator(sentence: Sentence) -> Tree:
    """Return 1 where a sentence holds and 0 where it does not, as arithmetic."""
    match sentence:
        case ComparisonChain((operator,), (left, right)):
            return _indicators[operator](left, right)
        case ComparisonChain(operators, trees):
            links = zip(operators, trees[:-1], trees[1:], strict=True)
            return multiply_trees(*(indicator(ComparisonChain((o,), (a, b))) for o, a, b in links))
        case Both(parts):
            return multiply_trees(*map(indicator, parts))
        case Either(parts):
            return _opposite(multiply_trees(*(_opposite(indicator(p)) for p in parts)))
        case Not(part):
            return _opposite(indicator(part))
        case FormulaCall("True"):
            return IntegerLiteral(1)
    raise UnclearError("a condition within a size")


def _opposite(tree: Tree) -> Tree:
    return add_trees(IntegerLiteral(1), multiply_trees(IntegerLiteral(-1), tree))


def _difference(left: Tree, right: Tree) -> Tree:
    return add_trees(left, multiply_trees(IntegerLiteral(-1), right))


def _is_positive(tree: Tree) -> Tree:
    return FunctionCall("min", (FunctionCall("max", (tree, IntegerLiteral(0))), IntegerLiteral(1)))


def _is_different(left: Tree, right: Tree) -> Tree:
    apart = FunctionCall("max", (_difference(left, right), _difference(right, left)))
    return FunctionCall("min", (apart, IntegerLiteral(1)))


_indicators: dict[str, Callable[[Tree, Tree], Tree]] = {
    ">": lambda left, right: _is_positive(_difference(left, right)),
    "<": lambda left, right: _is_positive(_difference(right, left)),
    ">=": lambda left, right: _opposite(_is_positive(_difference(right, left))),
    "<=": lambda left, right: _opposite(_is_positive(_difference(left, right))),
    "!=": _is_different,
    "==": lambda left, right: _opposite(_is_different(left, right)),
}


def conditional_size(condition: Sentence, first: Tree, other: Tree) -> Tree:
    """Return ``first`` where a condition holds and ``other`` elsewhere.

    >>> N, two = Name("N"), IntegerLiteral(2)
    >>> tree_text(conditional_size(ComparisonChain((">",), (N, two)), N, two))
    'max(N, 2)'
    """
    # The choice is arithmetic with both sizes in it: one without a value would leave the other without one too.
    if not (has_value_everywhere(first) and has_value_everywhere(other) and _is_total_sentence(condition)):
        raise UnclearError("a choice between sizes that may have no value")
    match condition:
        case FormulaCall("True"):
            return first
        case ComparisonChain((operator,), (left, right)) if {left, right} == {first, other} and operator not in (
            "==",
            "!=",
        ):
            is_larger = (operator in (">", ">=")) == (left == first)
            return FunctionCall("max" if is_larger else "min", (first, other))
    return add_trees(other, multiply_trees(indicator(condition), _difference(first, other)))


def _is_total_sentence(sentence: Sentence) -> bool:
    match sentence:
        case ComparisonChain(_, trees):
            return all(map(has_value_everywhere, trees))
        case Both(parts) | Either(parts):
            return all(map(_is_total_sentence, parts))
        case Not(part):
            return _is_total_sentence(part)
    return True
