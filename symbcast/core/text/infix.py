"""What a text means, however it is read, and infix texts, which are read directly: arithmetic, functions and relations.

Nearly every text is an infix text. The grammar reads them the same way, but takes ten times as long, and loading it
takes longer than answering most questions. Any other text is left to the grammar: unknowns, quotes, names
that are not ASCII, every error, and every text in which something cancels, whose names the grammar keeps.

Each method of `_Infix` reads one rule of ``dims.lark`` or ``formula.lark`` by recursive descent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, NoReturn, TypeVar

from symbcast.core.algebra.arithmetic import FUNCTIONS, add, floor_divide, modulo, multiply
from symbcast.core.algebra.formulas import Comparison, Compatible, Formula, all_of, any_of, negate, with_values
from symbcast.core.algebra.size_values import MAX_SIZE
from symbcast.core.algebra.symbols import AxisSequence, Rest, Unknown
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, constant
from symbcast.errors import DimensionError

# What a text means, however it is read: its limits, its comparisons, and the terms that it mentions.


MAX_LENGTH = 20_000
"""The longest text that is read."""
MAX_EXPONENT = 16
MAX_POWER = 256
"""The greatest product of nested exponents."""


def mentioned_terms(dims: Iterable[Dim]) -> frozenset[Term]:
    """Return the symbols in dimensions, and the operations in them that may be undefined."""
    return frozenset[Term]().union(*(_mentioned_by(d) for d in dims if not isinstance(d, int)))


def _mentioned_by(value: Term) -> frozenset[Term]:
    if value.is_total:
        return frozenset(value.symbols())
    partial = [o for o in value.operations() if not o.is_total]
    return frozenset(value.symbols()).union(partial, *(mentioned_terms(o.args) for o in partial))


def comparison_of(operator: str, left: Dim, right: Dim) -> Formula:
    """Return the comparison for an operator in the text."""
    match operator:
        case "==" | "!=" | "<=" | "<":
            return Comparison(operator, left, right)
        case ">=":
            return Comparison("<=", right, left)
        case _:
            return Comparison("<", right, left)


# Parsed texts with placeholders for the unknowns, which are new on every call.


_Value = TypeVar("_Value")

ANY_RANK = AxisSequence("...")
"""The placeholder for a sequence without a name until a parse hands out fresh ones."""


class Template(NamedTuple, Generic[_Value]):
    """A parsed value with a placeholder for each unknown: its label and bounds.

    ``lost`` are the names in the text that the value does not mention: ``N == 3 or True``.
    """

    value: _Value
    unknowns: tuple[tuple[Unknown, str, int, int | None], ...]
    is_of_any_rank: bool = False
    """Whether an unknown sequence of axes is in it (``...``)."""
    lost: tuple[Symbol, ...] = ()
    reading: str = ""
    """The text in the notation of the grammar, if it was written otherwise."""

    def fresh(self) -> dict[Symbol, Symbol]:
        """Return a new unknown for each placeholder; labelled ones are shown by their labels."""
        made: dict[Symbol, Symbol] = {}
        for held, label, lower, upper in self.unknowns:
            unknown = made[held] = Unknown(label, lower, upper)
            unknown.is_spoken = held.name != "?"
        if self.is_of_any_rank:
            made[ANY_RANK.rest()] = AxisSequence.anonymous().rest()
        return made


_TOKEN = re.compile(r"[^\W\d][\w.]*|\d+|\*\*|//|==|!=|<=|>=|\S", re.ASCII)
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.\w+)*", re.ASCII)
_MOST_CHARACTERS = 4_000
_MOST_TOKENS = 400
"""Longer texts are left to the grammar, which recurses over nothing."""
_MOST_NESTED = 30
"""Up to how many divisions, functions and brackets are read: the grammar counts how deep they nest."""
_MOST_DIGITS = 18

_COMPARISONS = frozenset(("==", "!=", "<=", ">=", "<", ">"))
_RELATIONAL = _COMPARISONS | {"and", "or", "not", "compatible"}
_MULTIPLICATIVE = frozenset(("*", "//", "%"))
_CALLED = frozenset((*FUNCTIONS, "mod", "floordiv"))
_NO_NAMES = frozenset(("None", "True", "False", "and", "or", "not"))
_END = ""
_AFTER_SIZE = frozenset((",", ")", "]", _END))


class _OtherTextError(Exception):
    """The text is for the grammar to read."""


def infix_dim(text: str) -> Dim | None:
    """Return the dimension of an infix text; None for any other text.

    >>> infix_dim("(N % 8)*2"), infix_dim("4"), infix_dim("N - N"), infix_dim("?")
    (2*(N % 8), 4, None, None)
    """
    reader = _reader(text)
    try:
        return None if reader is None else reader.only_size()
    except (_OtherTextError, DimensionError):
        return None


def infix_shape(text: str) -> tuple[Dim, ...] | None:
    """Return the shape of infix sizes separated by commas; None for any other text.

    >>> infix_shape("(N + M//2, 3)"), infix_shape("N, ?")
    ((M//2 + N, 3), None)
    """
    reader = _reader(text)
    try:
        return None if reader is None else reader.shape()
    except (_OtherTextError, DimensionError):
        return None


def infix_formula(text: str) -> Formula | None:
    """Return the formula of an infix text; None for any other text.

    >>> infix_formula("2 <= N < 5"), infix_formula("*a == *b")
    (AllOf((Comparison('<=', 2, N), Comparison('<', N, 5))), None)
    """
    reader = _reader(text)
    try:
        return None if reader is None else reader.formula()
    except (_OtherTextError, DimensionError):
        return None


def _reader(text: str) -> _Infix | None:
    if len(text) > _MOST_CHARACTERS or not text.isascii():
        return None
    tokens = _TOKEN.findall(text)
    return _Infix(tokens) if 0 < len(tokens) <= _MOST_TOKENS else None


def _is_name(token: str) -> bool:
    return (token.isidentifier() or _DOTTED.fullmatch(token) is not None) and token not in _NO_NAMES


class _Infix:
    """The tokens of a text, the place of the next one, and what was read of the current dimension.

    ``names`` are its names. ``partial`` is None until an operation may have no value; then it holds the symbols and the
    operations of that kind at each step, as the grammar's `mentioned_terms` does.
    """

    __slots__ = ("at", "names", "nested", "partial", "power", "tokens")

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        tokens.append(_END)
        self.at = 0
        self.nested = 0
        self.power = 1
        self.names: set[Symbol] = set()
        self.partial: set[Term] | None = None

    def shape(self) -> tuple[Dim, ...]:
        """Read a shape, with or without brackets around it; at most one size may be a sequence of axes (``*batch``)."""
        tokens = self.tokens
        end = self._without_brackets()
        found = [self._axes()]
        while tokens[self.at] == ",":
            self.at += 1
            if self.at == end:
                break
            found.append(self._axes())
        if self.at != end or sum([type(dim) is Rest for dim in found]) > 1:
            self._leave()
        return tuple(found)

    def _without_brackets(self) -> int:
        """Go past brackets around the whole shape; return where they end."""
        tokens, last = self.tokens, len(self.tokens) - 2
        if last < 1 or (tokens[0], tokens[last]) not in (("(", ")"), ("[", "]")):
            return last + 1
        if tokens[0] == "(":
            depth, commas = 0, 0
            for token in tokens[:last]:
                depth += (token == "(") - (token == ")")
                commas += token == "," and depth == 1
                if not depth:
                    return last + 1
            if not commas:
                return last + 1
        self.at = 1
        return last

    def _axes(self) -> Dim:
        """Read a size, or a named sequence of axes without brackets behind its name."""
        if self.tokens[self.at] != "*":
            return self._size()
        name = self.tokens[self.at + 1]
        if not _is_name(name) or self.tokens[self.at + 2] not in _AFTER_SIZE:
            self._leave()
        self.at += 2
        return AxisSequence(name).rest()

    def only_size(self) -> Dim:
        """Read a single size."""
        found = self._size()
        if self.tokens[self.at]:
            self._leave()
        return found

    def _size(self) -> Dim:
        if self.tokens[self.at + 1] in _AFTER_SIZE:
            return self._atom()
        found = self.dim()
        if isinstance(found, int) and not 0 <= found <= MAX_SIZE:
            self._leave()
        return found

    def formula(self) -> Formula:
        """Read a formula."""
        found = self._disjunction()
        if self.tokens[self.at]:
            self._leave()
        return found

    def _disjunction(self) -> Formula:
        parts = [self._conjunction()]
        while self.tokens[self.at] == "or":
            self.at += 1
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else any_of(parts)

    def _conjunction(self) -> Formula:
        parts = [self._negation()]
        while self.tokens[self.at] == "and":
            self.at += 1
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else all_of(parts)

    def _negation(self) -> Formula:
        tokens, is_negated = self.tokens, False
        while tokens[self.at] == "not":
            self.at += 1
            is_negated = not is_negated
        found = self._relation()
        return negate(with_values(found)) if is_negated else found

    def _relation(self) -> Formula:
        tokens = self.tokens
        if tokens[self.at] == "(" and self._is_of_formulas():
            self._open()
            inside = self._disjunction()
            self._close()
            return inside
        if tokens[self.at] == "compatible" and tokens[self.at + 1] == "(":
            self.at += 1
            return Compatible(tuple(self._arguments(self.dim)))
        dims, operators = [self.dim()], []
        while tokens[self.at] in _COMPARISONS:
            operators.append(tokens[self.at])
            self.at += 1
            dims.append(self.dim())
        if not operators:
            self._leave()
        if len(operators) == 1:
            return comparison_of(operators[0], dims[0], dims[1])
        return all_of(comparison_of(*link) for link in zip(operators, dims[:-1], dims[1:], strict=True))

    def _is_of_formulas(self) -> bool:
        """Return whether the bracket here contains a relation: then it is no bracket of a sum."""
        depth = 0
        for token in self.tokens[self.at :]:
            depth += (token == "(") - (token == ")")
            if not depth:
                return False
            if token in _RELATIONAL:
                return True
        return False

    def dim(self) -> Dim:
        """Read one dimension; leave it to the grammar if a name or an undefined operation is lost in it."""
        names = self.names
        names.clear()
        self.partial = None
        found = self._sum()
        if isinstance(found, int):
            if names:
                self._leave()
        elif (len(names) > 1 or found not in names) and not names <= found.symbols().keys():
            self._leave()
        if self.partial and not self.partial <= mentioned_terms((found,)):
            self._leave()
        return found

    def _sum(self) -> Dim:
        tokens = self.tokens
        found = self._product()
        token = tokens[self.at]
        if token != "+" and token != "-":  # noqa: PLR1714 - on the path of every size
            return found
        parts = [found]
        while token in ("+", "-"):
            self.at += 1
            part = self._product()
            parts.append(part if token == "+" else multiply(-1, part))
            token = tokens[self.at]
        return self._read(add(*parts))

    def _product(self) -> Dim:
        """Read a product: ``*`` is gathered, while ``//`` and ``%`` apply to everything left of them."""
        tokens = self.tokens
        found = self._unary()
        if tokens[self.at] not in _MULTIPLICATIVE:
            return found
        gathered: list[Dim] | None = None
        while (token := tokens[self.at]) in _MULTIPLICATIVE:
            self.at += 1
            factor = self._unary()
            if token == "*":
                gathered = [found, factor] if gathered is None else [*gathered, factor]
                continue
            if gathered is not None:
                found, gathered = self._read(multiply(*gathered)), None
            found = self._division(token, found, factor)
        return found if gathered is None else self._read(multiply(*gathered))

    def _division(self, operator: str, left: Dim, right: Dim) -> Dim:
        self._nest()
        if right == 0:
            self._leave()
        found = (floor_divide if operator == "//" else modulo)(left, right)
        if isinstance(right, int):
            return self._read(found)
        self._read(found, is_total=False)
        assert self.partial is not None
        if not any(isinstance(t, Operation) and t.args[-1] is right for t in mentioned_terms((found,))):
            self.partial.add(Operation("//", (constant(0), right)))
        return found

    def _unary(self) -> Dim:
        tokens = self.tokens
        if tokens[self.at] != "-":
            found = self._atom()
            return found if tokens[self.at] != "**" else self._power(found)
        is_negative = False
        while tokens[self.at] == "-":
            self.at += 1
            is_negative = not is_negative
        found = self._atom()
        if tokens[self.at] == "**":
            found = self._power(found)
        return multiply(-1, found) if is_negative else found

    def _power(self, base: Dim) -> Dim:
        exponent = self.tokens[self.at + 1]
        self.at += 2
        if not (exponent.isdigit() and int(exponent) <= MAX_EXPONENT):
            self._leave()
        # The grammar limits the product of the exponents of nested powers; this is that of all.
        self.power *= max(1, int(exponent))
        if self.power > MAX_POWER:
            self._leave()
        return self._read(multiply(*[base] * int(exponent)))

    def _atom(self) -> Dim:
        token = self.tokens[self.at]
        if token == "(":
            self._open()
            inside = self._sum()
            self._close()
            return inside
        self.at += 1
        if token.isdigit():
            if len(token) > _MOST_DIGITS:
                self._leave()
            return int(token)
        if not _is_name(token):
            self._leave()
        if self.tokens[self.at] == "(":
            return self._call(token)
        found = Symbol(token)
        self.names.add(found)
        return found

    def _call(self, function: str) -> Dim:
        if function not in _CALLED:
            self._leave()
        self._nest()
        arguments = self._arguments(self._sum)
        if function in FUNCTIONS:
            return self._read(FUNCTIONS[function](arguments), is_total=function != "broadcast")
        if len(arguments) != 2:
            self._leave()
        return self._division("%" if function == "mod" else "//", *arguments)

    def _arguments(self, read: Callable[[], Dim]) -> list[Dim]:
        tokens = self.tokens
        self._open()
        found = [read()]
        while tokens[self.at] == ",":
            self.at += 1
            if tokens[self.at] == ")":
                break
            found.append(read())
        self._close()
        return found

    def _read(self, found: Dim, *, is_total: bool = True) -> Dim:
        """Note what a step may leave without a value."""
        if self.partial is None and not is_total:
            self.partial = set()
        if self.partial is not None:
            self.partial |= mentioned_terms((found,))
        return found

    def _open(self) -> None:
        self._nest()
        self.at += 1

    def _close(self) -> None:
        if self.tokens[self.at] != ")":
            self._leave()
        self.at += 1

    def _nest(self) -> None:
        self.nested += 1
        if self.nested > _MOST_NESTED:
            self._leave()

    def _leave(self) -> NoReturn:
        raise _OtherTextError
