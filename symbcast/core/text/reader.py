"""The reader of symbcast's notation: tokens, and recursive descent over them to dimensions and formulas.

Each method of `Reader` reads one rule of the grammar at the top of `symbcast.core.text`. Looking ahead decides whether
a bracket is one of a whole shape, of a formula or of a sum, so nothing is read twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from symbcast.core.algebra import formulas
from symbcast.core.algebra.arithmetic import FUNCTIONS, MAX_SIZE, add, floor_divide, modulo, multiply
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Compatible, Formula
from symbcast.core.algebra.symbols import UNKNOWN_WORDS, AxisSequence, Rest, Unknown, is_sequence, mentions_rest
from symbcast.core.algebra.terms import MAX_BITS, Dim, Operation, Symbol, Term, constant, symbols_of
from symbcast.core.text import templates
from symbcast.core.text.templates import ANY_REST, NO_SIZE, LabelBounds, MinusOne, Template
from symbcast.core.text.tokens import (
    AFTER_DIM,
    AFTER_PRODUCT,
    CALLED,
    COMPARISONS,
    END,
    FITS,
    MAX_LENGTH,
    MULTIPLICATIVE,
    QUOTED,
    RELATION_CALLS,
    RELATIONAL,
    TOO_LARGE,
    SyntaxFault,
    Tokens,
    is_integer,
    read_digits,
)
from symbcast.errors import DimensionError

MAX_EXPONENT = 16
# The greatest product of nested exponents.
MAX_POWER = 256
_MAX_NESTING = 32
# Numbers that need no look at their length and skip a call: nearly all.
_FEW_DIGITS = 19


# The three readings of a text.


def read_shape(text: str, max_size: int | None) -> Template[tuple[Dim, ...]]:
    """Return the shape written in a text, or raise `SyntaxFault`."""
    reader = Reader(text)
    try:
        dims = reader.shape()
    except RecursionError:
        raise _too_deep(text) from None
    if not (reader.has_unknowns or reader.has_sequences):
        sizes = [dim for dim in dims if isinstance(dim, int)]
        if not sizes or (min(sizes) >= 0 and max(sizes) <= (1 << MAX_BITS if max_size is None else max_size)):
            return Template(tuple(dims), ())
    return templates.checked_shape(dims, reader.dim_span, max_size, reader.bounds)


def read_dim(text: str) -> Template[Dim]:
    """Return the one dimension written in a text, or raise `SyntaxFault`."""
    dim, bounds = read_axis(text)
    unknowns = templates.labelled_unknowns((dim,), bounds)
    return Template(dim, unknowns, dim is ANY_REST)


def read_expression(text: str) -> Template[Dim]:
    """Return the same for an expression of sizes, which may also be a number below 0."""
    dim, bounds = read_axis(text, may_be_negative=True)
    return Template(dim, templates.labelled_unknowns((dim,), bounds), dim is ANY_REST)


def read_axis(text: str, *, may_be_negative: bool = False) -> tuple[Dim, list[LabelBounds]]:
    """Return the one dimension written in a text, with placeholders, and the bounds of its labels."""
    reader = Reader(text)
    try:
        dim = reader.only_dim()
    except RecursionError:
        raise _too_deep(text) from None
    if may_be_negative and isinstance(dim, int):
        return int(dim), []
    dim = templates.checked_dim(dim, reader.dim_span, 0, MAX_SIZE)
    templates.check_bounds(reader.bounds, reader.dim_span)
    return dim, reader.bounds


def read_formula(text: str, longest: int = MAX_LENGTH) -> Template[Formula]:
    """Return the assumption or condition written in a text, or raise `SyntaxFault`."""
    reader = Reader(text, is_formula=True, longest=longest)
    try:
        formula = reader.formula()
    except RecursionError:
        raise _too_deep(text) from None
    if reader.has_sequences:
        whole = (0, len(text))
        if any(mentions_rest(dim) and not is_sequence(dim) for dim in formulas.dims_of(formula)):
            raise SyntaxFault(whole, NO_SIZE)
        if any(ANY_REST in symbols_of((dim,)) for dim in formulas.dims_of(formula)):
            expected = "a label, such as '...0', or a name, as '*a'"
            raise SyntaxFault(whole, "'...' names no sequence of axes", expected)
    unknowns = templates.labelled_unknowns(formulas.dims_of(formula)) if reader.has_unknowns else ()
    lost = reader.names_lost(formula) if "True" in text or "False" in text else ()
    return Template(formula, unknowns, lost=lost)


def _too_deep(text: str) -> SyntaxFault:
    """Return the fault for a text that the caller's own depth leaves no room to read."""
    return SyntaxFault((0, len(text)), "the text is nested too deeply")


def comparison_of(operator: str, left: Dim, right: Dim) -> Formula:
    """Return the comparison for an operator in the text."""
    match operator:
        case "==" | "!=" | "<=" | "<":
            return Comparison(operator, left, right)
        case ">=":
            return Comparison("<=", right, left)
        case _:
            return Comparison("<", right, left)


class Reader(Tokens):
    """A text, and what was read so far of its current dimension.

    ``names`` are the symbols of the dimension. ``partial`` is None until one of its operations may have no value; then
    it holds all terms that its steps mention. ``depth`` and ``power`` are those of the deepest divisions and functions
    and of the highest nested powers since the last bracket.
    """

    depth = 0
    power = inner_power = 1
    partial: set[Term] | None = None
    has_unknowns = has_sequences = False

    def __init__(self, text: str, is_formula: bool = False, longest: int = MAX_LENGTH) -> None:
        super().__init__(text, is_formula, longest)
        self.names: set[Symbol] = set()
        self.places: list[tuple[int, int]] = []
        self.bounds: list[LabelBounds] = []

    # Shapes: dimensions between commas, with or without brackets around them.

    def shape(self) -> list[Dim]:
        """Read a shape."""
        self.is_shape = True
        tokens, dims = self.tokens, list[Dim]()
        closing = self._opening()
        if tokens[self.at] != closing:
            dims.append(self._axis())
        # A comma before the first size is no separator: it is reported as unexpected.
        while tokens[self.at] == "," and dims:
            self.at += 1
            if tokens[self.at] == closing:
                break
            dims.append(self._axis())
        if tokens[self.at] != closing:
            # At the end of a list without round brackets the last size is complete: a comma would not repair it.
            comma = ("COMMA",) if closing == ")" or tokens[self.at] not in ("]", END) else ()
            self.unexpected_after_size({")": "RPAR", "]": "RSQB"}.get(closing, "$END"), *comma)
        if closing:
            self.at += 1
            if tokens[self.at]:
                self.unexpected("$END")
        return dims

    def _opening(self) -> str:
        """Go past a bracket around the whole shape; return what closes it."""
        tokens = self.tokens
        if tokens[0] == "[":
            self.at = 1
            return "]"
        if tokens[0] != "(":
            return END
        # The bracket belongs to a size unless it has a comma, or a range without a label, directly within.
        depth = 0
        is_whole = tokens[1] in (")", "..") or (is_integer(tokens[1]) and tokens[2] == "..")
        for token in tokens if not is_whole else ():
            depth += (token == "(") - (token == ")")
            if token == "," and depth == 1:
                is_whole = True
            if not depth or is_whole:
                break
        self.at = int(is_whole)
        return ")" if is_whole else END

    def only_dim(self) -> Dim:
        """Read a single dimension."""
        dim = self._axis()
        if self.tokens[self.at]:
            self.unexpected_after_size("$END")
        return dim

    def _axis(self) -> Dim:
        """Read one dimension of a shape."""
        tokens, start = self.tokens, self.at
        following = tokens[start + 1]
        # Most sizes are one token: they skip five calls. A minus alone is no size, and is reported at its end.
        if tokens[start] == ".." or (following == ".." and is_integer(tokens[start])):
            dim: Dim = self._range()
        elif following in AFTER_DIM and tokens[start] != "-":
            dim = self._atom()
        elif following == ":":
            dim = self._bounded() if self.is_label(start) else self.dim()
        else:
            dim = self.dim()
            # `isinstance` first: comparing a term with -1 doubled the time to read a shape.
            if isinstance(dim, int) and dim == -1 and self._is_minus_one(start):
                dim = MinusOne(-1)
        self.places.append((start, self.at))
        return dim

    def _is_minus_one(self, start: int) -> bool:
        """Return whether a dimension is the literal -1, in brackets or not; ``-(1)`` is computed."""
        first, last = start, self.at
        while self.tokens[first] == "(":
            first, last = first + 1, last - 1
        return last - first == 2 and self.tokens[first] == "-"

    def _range(self) -> Unknown:
        """Read an unknown with bounds (``2..5``)."""
        tokens, start = self.tokens, self.at
        lower, upper = (self._bound() if is_integer(tokens[start]) else 0), None
        if tokens[self.at] != "..":
            self.unexpected(*(("INT",) if self.at == start else ()))
        self.at += 1
        if is_integer(tokens[self.at]):
            upper = self._bound()
        elif start == self.at - 1:
            self.unexpected("INT")
        if upper is not None and lower > upper:
            self.fault(start, self.at, f"the lower bound {lower} is above the upper bound {upper}")
        self.has_unknowns = True
        return Unknown("?", lower, upper)

    def _bound(self) -> int:
        bound = self._integer()
        if bound > MAX_SIZE:
            self.fault(self.at - 1, self.at, TOO_LARGE, FITS)
        return bound

    def _bounded(self) -> Unknown:
        """Read a labelled unknown with bounds (``?a:2..5``)."""
        unknown = templates.placeholder(self.tokens[self.at])
        self.at += 2
        within = self._range()
        self.bounds.append(LabelBounds(unknown, within.lower, within.upper, len(self.places)))
        self.names.add(unknown)
        return unknown

    def dim_span(self, place: int) -> tuple[int, int]:
        """Return the characters of a dimension of the shape."""
        return self.span(*self.places[place])

    # Formulas: relations joined by words.

    def formula(self) -> Formula:
        """Read a formula."""
        formula = self._disjunction()
        if self.tokens[self.at]:
            self.unexpected_after_formula("$END")
        return formula

    def names_lost(self, formula: Formula) -> tuple[Symbol, ...]:
        """Return the names in the text that its formula does not mention: parts that True or False decide."""
        mentioned, lost = set(symbols_of(formulas.dims_of(formula))), dict[Symbol, None]()
        for place, token in enumerate(self.tokens):
            if token[:1] in ("'", '"') and token[-1] in ("'", '"'):
                lost[Symbol(self.unquoted(token, place))] = None
            elif self.is_plain_name(place):
                lost[Symbol(token)] = None
        return tuple(name for name in lost if name not in mentioned)

    def _disjunction(self) -> Formula:
        parts = [self._conjunction()]
        while self.tokens[self.at] == "or":
            self.at += 1
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else formulas.any_of(parts)

    def _conjunction(self) -> Formula:
        parts = [self._negation()]
        while self.tokens[self.at] == "and":
            self.at += 1
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else formulas.all_of(parts)

    def _negation(self) -> Formula:
        tokens, start = self.tokens, self.at
        while tokens[self.at] == "not":
            self.at += 1
        count = self.at - start
        formula = self._relation()
        if count and self.has_sequences and any(map(mentions_rest, formulas.dims_of(formula))):
            expected = "a relation that holds on each axis, such as '*a != *b', or of one axis, such as 'a[-1] != 2'"
            self.fault(start, start + count, "a relation of all axes cannot be negated", expected)
        return formulas.negate(formulas.with_values(formula)) if count % 2 else formula

    def _relation(self) -> Formula:
        tokens, start = self.tokens, self.at
        token = tokens[start]
        if token == "(" and self._is_of_formulas():
            return self._formula_in_brackets()
        if token in ("True", "False"):
            self.at += 1
            return TRUE if token == "True" else FALSE
        if token in RELATION_CALLS and tokens[start + 1] == "(":
            self.at += 1
            return self._each(start) if token == "each" else Compatible(tuple(self._arguments(self.dim)))
        dims, operators = [self.dim()], []
        while tokens[self.at] in COMPARISONS:
            operators.append(tokens[self.at])
            self.at += 1
            dims.append(self.dim())
        if not operators:
            # `(N` may still become a size in brackets.
            is_open = tokens[start - 1] == "(" and (start < 2 or tokens[start - 2] != "each")
            self.unexpected_after_size("COMPARE", *(("RPAR",) if start and is_open else ()))
        if len(operators) == 1:
            return comparison_of(operators[0], dims[0], dims[1])
        if all(operator == "==" for operator in operators):
            return formulas.all_of(comparison_of("==", dims[0], other) for other in dims[1:])
        return formulas.all_of(comparison_of(*link) for link in zip(operators, dims[:-1], dims[1:], strict=True))

    def _is_of_formulas(self) -> bool:
        """Return whether the bracket here contains a relation: then it is no bracket of a sum."""
        # `compatible` and `each` are ordinary names unless a bracket follows: `(compatible + 1) == 2`.
        tokens, place, depth = self.tokens, self.at, 0
        while token := tokens[place]:
            depth += (token == "(") - (token == ")")
            if not depth:
                return False
            if token in RELATIONAL or (token in RELATION_CALLS and tokens[place + 1] == "("):
                return True
            place += 1
        return False

    def _formula_in_brackets(self) -> Formula:
        self.at += 1
        inside = self._disjunction()
        if self.tokens[self.at] != ")":
            self.unexpected_after_formula("RPAR")
        self.at += 1
        return inside

    def _each(self, start: int) -> Formula:
        """Read ``each(...)``: a formula about sequences applies to each axis, even without it."""
        inside = self._formula_in_brackets()
        if not any(map(mentions_rest, formulas.dims_of(inside))):
            expected = "a sequence such as '*batch' in each(...)"
            self.fault(start, self.at, "this mentions no axes of a sequence", expected)
        return inside

    # Sizes: sums, products, powers and atoms.

    def dim(self) -> Dim:
        """Read one size, with a mention of everything in it that cancels."""
        names = self.names
        names.clear()
        self.partial = None
        self.depth, self.power = 0, 1
        dim = self._sum()
        # `N - N` is 0, and still a question about N; `(M//N)*0` needs an N other than 0.
        if isinstance(dim, int):
            if names:
                return templates.mentioning_all(dim, (*names, *(self.partial or ())))
        elif (len(names) > 1 or dim not in names) and not names <= dim.symbols().keys():
            return templates.mentioning_all(dim, (*names, *(self.partial or ())))
        if self.partial and not self.partial <= templates.mentioned_terms((dim,)):
            return templates.mentioning_all(dim, self.partial)
        return dim

    def _sum(self) -> Dim:
        tokens, start = self.tokens, self.at
        first = self._product()
        token = tokens[self.at]
        if token != "+" and token != "-":  # noqa: PLR1714 - on the path of every size
            return first
        parts, depth = [first], self.depth
        while token in ("+", "-"):
            self.at += 1
            self.depth = 0
            part = self._product()
            depth = max(depth, self.depth)
            parts.append(part if token == "+" else multiply(-1, part))
            token = tokens[self.at]
        self.depth = depth
        return self._step(add(*parts), start)

    def _product(self) -> Dim:
        """Read a product: ``*`` is gathered, while ``//`` and ``%`` apply to everything left of them."""
        tokens, start = self.tokens, self.at
        # Most operands are one token: they skip the look for signs and powers.
        left = self._atom() if tokens[start + 1] in AFTER_PRODUCT and tokens[start] != "-" else self._unary()
        if tokens[self.at] not in MULTIPLICATIVE:
            return left
        gathered: list[Dim] | None = None
        while (token := tokens[self.at]) in MULTIPLICATIVE:
            self.at += 1
            place = self.at
            factor = self._unary()
            if token == "*":
                gathered = [left, factor] if gathered is None else [*gathered, factor]
                continue
            if gathered is not None:
                left, gathered = self._step(multiply(*gathered), start), None
            self.depth += 1  # a//b//c nests: the quotient is the dividend of the next
            left = self._division(token, left, factor, (start, place, self.at))
        return left if gathered is None else self._step(multiply(*gathered), start)

    def _division(self, operator: str, left: Dim, right: Dim, places: tuple[int, int, int]) -> Dim:
        """Return a quotient or remainder; its operands are the tokens from the first place to the last."""
        start, divisor, stop = places
        if isinstance(right, int) and not right:
            self.fault(divisor, stop, "division by zero", "a divisor other than 0")
        if self.depth > _MAX_NESTING:
            self.fault(start, stop, f"divisions and functions nest more than {_MAX_NESTING} deep")
        quotient = (floor_divide if operator == "//" else modulo)(left, right)
        if isinstance(right, int):
            return self._step(quotient, start)
        self._step(quotient, start, is_total=False)
        assert self.partial is not None
        # The quotient needs a divisor other than 0, even if it was simplified.
        if not any(isinstance(t, Operation) and t.args[-1] is right for t in templates.mentioned_terms((quotient,))):
            self.partial.add(Operation("//", (constant(0), right)))
        return quotient

    def _unary(self) -> Dim:
        tokens, start = self.tokens, self.at
        while tokens[self.at] == "-":
            self.at += 1
        is_negative = self.at != start and (self.at - start) % 2
        atom = self._atom()
        if tokens[self.at] == "**":
            atom = self._power(atom, start)
        return multiply(-1, atom) if is_negative else atom

    def _power(self, base: Dim, start: int) -> Dim:
        # Only a base in brackets has powers within: `((N**16)**16)**2` would have 512 factors.
        inner = self.inner_power if self.tokens[self.at - 1] == ")" else 1
        self.at += 1
        if not is_integer(self.tokens[self.at]):
            self.unexpected("INT")
        exponent = self._integer()
        if exponent > MAX_EXPONENT:
            self.fault(self.at - 1, self.at, f"an exponent is at most {MAX_EXPONENT}")
        power = inner * max(1, exponent)
        if power > MAX_POWER:
            self.fault(self.at - 1, self.at, f"nested exponents multiply to more than {MAX_POWER}")
        self.power = max(self.power, power)
        return self._step(multiply(*[base] * exponent), start)

    def _atom(self) -> Dim:
        token = self.tokens[self.at]
        if token == "(":
            return self._group()
        if "0" <= token < ":":
            if len(token) > _FEW_DIGITS:
                return self._integer()
            self.at += 1
            return int(token)
        if not token.isidentifier() or token in self.words or not token.isascii():
            return self._other_atom(token)
        self.at += 1
        if self.tokens[self.at] == "(":
            if token in CALLED:
                return self._call(token)
            if token in RELATION_CALLS and self.is_formula:
                self.unexpected_operand(self.at - 1)
        if token in UNKNOWN_WORDS:
            return self._unknown()
        name = Symbol(token)
        self.names.add(name)
        return name

    def _integer(self) -> int:
        token = self.tokens[self.at]
        self.at += 1
        # Python converts at most 4,300 digits: longer runs may be zeros, or are refused.
        return int(token) if len(token) <= _FEW_DIGITS else read_digits(token, self.span(self.at - 1, self.at))

    def _group(self) -> Dim:
        """Read a size in brackets: in a shape also a labelled unknown with bounds."""
        start, depth, power = self.at, self.depth, self.power
        self.depth, self.power = 0, 1
        self.at += 1
        # Bounds within arithmetic stand in brackets, `2*(?a:2..5)`: without them, the range would end in `5*2`.
        is_bounded = not self.is_formula and self.tokens[start + 2] == ":" and self.is_label(start + 1)
        inside = self._bounded() if is_bounded else self._sum()
        if self.tokens[self.at] != ")":
            is_shape = self.is_shape and not start
            accepted = ("COMMA",) if is_shape else ("COMPARE",) if self.may_begin_formula(start) else ()
            self.unexpected_after_size("RPAR", *accepted)
        self.at += 1
        self.inner_power = self.power
        self.depth, self.power = max(depth, self.depth), max(power, self.power)
        return inside

    def _call(self, function: str) -> Dim:
        start, outer_depth, outer_power = self.at - 1, self.depth, self.power
        depths, powers, places = [0], [1], list[int]()

        def argument() -> Dim:
            places.append(self.at)
            self.depth, self.power = 0, 1
            value = self._sum()
            depths.append(self.depth)
            powers.append(self.power)
            return value

        arguments = self._arguments(argument)
        self.inner_power = max(powers)
        self.depth, self.power = max(depths) + 1, max(outer_power, self.inner_power)
        if function not in FUNCTIONS:
            if len(arguments) != 2:
                self.fault(start, self.at, f"'{function}' takes 2 dimensions, not {len(arguments)}")
            stop = self.at - (2 if self.tokens[self.at - 2] == "," else 1)
            operator, (left, right) = "%" if function == "mod" else "//", arguments
            value = self._division(operator, left, right, (places[0], places[1], stop))
        else:
            try:
                value = FUNCTIONS[function](arguments)
            except DimensionError as error:
                self.fault(start, self.at, error.problem)
            if self.depth > _MAX_NESTING:
                self.fault(start, self.at, f"divisions and functions nest more than {_MAX_NESTING} deep")
            self._step(value, start, is_total=function != "broadcast")
        self.depth = max(outer_depth, self.depth)
        return value

    def _arguments(self, read: Callable[[], Dim]) -> list[Dim]:
        tokens = self.tokens
        self.at += 1
        arguments = [read()]
        while tokens[self.at] == ",":
            self.at += 1
            if tokens[self.at] == ")":
                break
            arguments.append(read())
        if tokens[self.at] != ")":
            self.unexpected_after_size("COMMA", "RPAR", is_argument=True)
        self.at += 1
        return arguments

    def _other_atom(self, token: str) -> Dim:
        """Read what is no bracket, number or ASCII identifier: an unknown, a part of a sequence, or another name."""
        place = self.at
        self.at += 1
        if token[:1] == "?":
            return self._unknown(token[1:])
        if token == "*":
            return self._rest()
        if token in ("...", "…"):
            return self._sequence_symbol(ANY_REST)
        if token[:3] == "..." and not token.endswith("]"):
            return self._sequence_symbol(AxisSequence(token).rest())
        if self.is_plain_name(place) or (token[:1] in ("'", '"') and re.fullmatch(QUOTED, token, re.DOTALL)):
            name = Symbol(self.name(token, place))
            self.names.add(name)
            return name
        if token.endswith("]") and self.is_token(token) and len(token) > 1:
            name_text, is_slice, number = _cut(token)
            if not is_slice:
                return self._sequence_symbol(self._sequence(name_text, place).axis(number))
            if token[:3] == "...":
                return self._sequence_symbol(AxisSequence(name_text).rest(number))
        if token[:4] == "rank" and token.endswith(")"):
            return self._sequence_symbol(self._sequence(token.partition("(")[2][:-1].strip(), place).rank)
        return self.unexpected_operand(place)

    def _unknown(self, label: str = "") -> Unknown:
        unknown = templates.placeholder(f"?{label}") if label else Unknown()
        self.names.add(unknown)
        self.has_unknowns = True
        return unknown

    def _rest(self) -> Rest:
        """Read the name of a sequence of axes after its star: all of its axes, or those before the last ones."""
        place, token, number = self.at, self.tokens[self.at], 0
        if token.endswith("]") and token[:3] != "..." and len(token) > 1 and self.is_token(token):
            token, is_slice, number = _cut(token)
        else:
            is_slice = self.is_plain_name(place) or re.fullmatch(QUOTED, token, re.DOTALL) is not None
        if not is_slice:
            self.unexpected("NAME")
        self.at += 1
        return self._sequence_symbol(self._sequence(token, place).rest(number))

    def _sequence_symbol(self, symbol: _SomeSymbol) -> _SomeSymbol:
        self.has_sequences = True
        self.names.add(symbol)
        return symbol

    def _sequence(self, written: str, place: int) -> AxisSequence:
        """Return the sequence of axes that part of a token names."""
        if written[0] not in "'\"":
            return AxisSequence(written)
        name = self.unquoted(written, place)
        if name.startswith("..."):
            self.fault(place, place + 1, "a name does not begin with '...', as a label does")
        return AxisSequence(name)

    def _step(self, value: Dim, start: int, *, is_total: bool = True) -> Dim:
        """Note what a step may leave without a value, and refuse integers out of all bounds."""
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            self.fault(start, self.at, TOO_LARGE)
        if self.partial is not None:
            self.partial |= templates.mentioned_terms((value,))
        elif not is_total:
            self.partial = set(templates.mentioned_terms((value,)))
        return value


_SomeSymbol = TypeVar("_SomeSymbol", bound=Symbol)


def _cut(token: str) -> tuple[str, bool, int]:
    """Return the text before the last bracket of a token, whether it is a slice, and the number inside."""
    name, _, index = token.rpartition("[")
    return name.rstrip(), ":" in index, int(index.strip(":-] \t\r\n\f\v"))
