"""Parse torch's guards, errors and logs into formulas."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import ceil, floor, isfinite, log2, sqrt, trunc, ulp

from symbcast.adapters.torch_operations import OPERATIONS
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Formula, Operator, all_of, any_of, at_most, negate
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.term_arithmetic import operate
from symbcast.core.algebra.terms import Dim, Kind, Symbol, Term, constant, term
from symbcast.core.structs import NamedTuple
from symbcast.errors import DimensionError
from symbcast.graphs.inputs import identifier
from symbcast.operators.resizing import DOUBLE, scale_of
from symbcast.torch.inputs import shown_source

# Parse torch's guards into formulas: Python text in which ``L['x'].size()[2]`` is the size of an axis.
#
# ``a / b`` is read as the quotient rounded down, as in `symbcast.adapters.torch`, because torch's guards require that
# ``b`` divides ``a``.


_OPERATIONS: dict[type[ast.operator], Kind] = {ast.FloorDiv: "//", ast.Div: "//", ast.Mod: "%"}
_FUNCTIONS: dict[str, Kind] = {**OPERATIONS, "IntTrueDiv": "//", "max": "max", "min": "min"}
_RELATIONS: dict[type[ast.cmpop], tuple[Operator, bool]] = {
    ast.Eq: ("==", False),
    ast.NotEq: ("!=", False),
    ast.LtE: ("<=", False),
    ast.Lt: ("<", False),
    ast.GtE: ("<=", True),
    ast.Gt: ("<", True),
}
# How torch writes relations as functions.
RELATION_NAMES: dict[str, type[ast.cmpop]] = {
    "Eq": ast.Eq, "Ne": ast.NotEq, "Le": ast.LtE, "Lt": ast.Lt, "Ge": ast.GtE, "Gt": ast.Gt,
}  # fmt: skip
_MOST_POWER = 64
# Torch's largest integers, which stand for "no end": no tensor has such a size.
_NO_SIZE = (1 << 63) - 2
# How torch writes the upper end of an unbounded range.
_NO_END = ("IntInfinity()", "int_oo", "oo")


class GuardReader:
    """Reads guards; ``sizes`` maps source names in guards to the sizes of axes."""

    def __init__(self, sizes: Mapping[str, Dim]) -> None:
        self._sizes = {_normal(source): size for source, size in sizes.items()}
        self._text = b""
        self._terms: dict[bytes, Term] = {}  # by their text, because guards repeat each other's terms

    def formula(self, text: str) -> Formula:
        """Return a guard as a formula. Raises `DimensionError` for anything but comparisons of sizes.

        >>> from symbcast.core.algebra.symbols import symbol
        >>> reader = GuardReader({"L['x'].size()[0]": symbol("N")})
        >>> reader.formula("(1 + (((-1) + L['x'].size()[0]) // 2)) != 1")
        Comparison('!=', (N + 1)//2, 1)
        """
        try:
            parsed = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError) as error:
            raise DimensionError(text, f"torch's guard cannot be read: {error}") from error
        self._text = text.strip().encode()
        return self._formula(parsed)

    def sizes_in(self, text: str) -> tuple[str, ...]:
        """Return the names of the sizes that a guard mentions, whether or not it can be read."""
        try:
            nodes = ast.walk(ast.parse(text.strip(), mode="eval"))
        except (SyntaxError, ValueError, RecursionError):
            return tuple(str(size) for source, size in self._sizes.items() if source in text)
        known = (self._sizes.get(ast.unparse(node)) for node in nodes if isinstance(node, (ast.Name, ast.Subscript)))
        return tuple(dict.fromkeys(str(size) for size in known if size is not None))

    def _formula(self, node: ast.expr) -> Formula:
        match node:
            case ast.Constant(value=bool(value)):
                return TRUE if value else FALSE
            case ast.BoolOp(op=ast.And(), values=values):
                return all_of(map(self._formula, values))
            case ast.BoolOp(op=ast.Or(), values=values):
                return any_of(map(self._formula, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negate(self._formula(operand))
            case ast.Compare(left=left, ops=ops, comparators=others):
                pairs = zip(ops, pairwise((left, *others)), strict=True)
                return all_of(self._compared(op, *pair) for op, pair in pairs)
            case ast.Call(func=ast.Name(id=name), args=[left, right]) if name in RELATION_NAMES:
                return _compared(RELATION_NAMES[name](), self._term(left), self._term(right))
            case ast.Call(func=ast.Name(id="And"), args=args):
                return all_of(map(self._formula, args))
            case ast.Call(func=ast.Name(id="Or"), args=args):
                return any_of(map(self._formula, args))
            case ast.Call(func=ast.Name(id="Not"), args=[operand]):
                return negate(self._formula(operand))
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                return all_of(map(self._formula, (left, right)))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return any_of(map(self._formula, (left, right)))
        raise DimensionError(ast.unparse(node), "is not a comparison of sizes")

    def _compared(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> Formula:
        if isinstance(op, (ast.Lt, ast.LtE)) and ast.unparse(right) in _NO_END:
            return TRUE
        return self._rounded_and_compared(op, left, right) or _compared(op, self._term(left), self._term(right))

    def _rounded_and_compared(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> Formula | None:
        """Return a comparison of a real expression with a number, by torch's floats; None for others."""
        relation, is_turned = _RELATIONS.get(type(op), (None, False))
        for place, (real, other) in enumerate(((left, right), (right, left))):
            number = self._growing(other)
            if relation is None or number is None or number.size is not None:
                continue
            is_below = (place == 0) is not is_turned  # the expression is on the smaller side
            ratio = self._ratio(real, number.value(0), relation, is_below=is_below)
            growing = self._growing(real) if ratio is None and _is_real(real) else None
            if growing is not None and growing.size is not None:
                return growing.compared(relation, number.value(0), is_below=is_below)
            if ratio is not None:
                return ratio
        return None

    def _ratio(self, node: ast.expr, number: float, relation: Operator, *, is_below: bool) -> Formula | None:
        """Return a comparison of a quotient of sizes with a simple fraction as one of products; None for others."""
        match node:
            case ast.BinOp(left=left, op=ast.Div(), right=right) if isinstance(number, float) and isfinite(number):
                pass
            case _:
                return None
        fraction = Fraction(number).limit_denominator(_MOST_DENOMINATOR)
        # A quotient a/b other than p/q differs from it by at least 1/(b*q), which no float between them can hide.
        if float(fraction) != number or ulp(number) * fraction.denominator * _MOST_SIZE >= 1:
            return None
        try:
            above, below = self._term(left), self._term(right)
        except DimensionError:
            return None
        sides = above.scaled(fraction.denominator).dim(), below.scaled(fraction.numerator).dim()
        compared = Comparison(relation, *(sides if is_below else sides[::-1]))
        return all_of([at_most(1, below.dim()), compared])

    def _growing(self, node: ast.expr) -> _Growing | None:
        """Return an expression of at most one size that never falls as the size grows; None for others."""
        match node:
            case ast.Constant(value=int(value) | float(value)) if not isinstance(value, bool):
                return _Growing(None, lambda _: value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
                return _Growing(None, lambda _: -value)
            case ast.BinOp(left=left, op=op, right=right):
                first, second = self._growing(left), self._growing(right)
                return None if first is None or second is None else _grown(op, first, second)
            case ast.Call(func=func, args=args) if args:
                parts = [part for part in map(self._growing, args) if part is not None]
                function = _NEVER_FALLING.get(ast.unparse(func).rpartition(".")[2])
                return None if function is None or len(parts) < len(args) else _joined(function, parts)
        size = self._sizes.get(ast.unparse(node))
        return _Growing(size, int) if isinstance(size, Symbol) else None

    def _term(self, node: ast.expr) -> Term:
        if node.lineno != 1 or node.end_lineno != 1:
            return self._read_term(node)
        text = self._text[node.col_offset : node.end_col_offset]
        known = self._terms.get(text)
        if known is None:
            known = self._terms[text] = self._read_term(node)
        return known

    def _read_term(self, node: ast.expr) -> Term:
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return constant(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._term(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return self._operated(op, self._term(left), self._term(right))
            case ast.Call(func=func, args=args):
                return self._called(ast.unparse(func).rpartition(".")[2], args)
        size = self._sizes.get(ast.unparse(node))
        if size is None:
            raise DimensionError(ast.unparse(node), "is not a size of an input")
        return term(size)

    def _operated(self, op: ast.operator, left: Term, right: Term) -> Term:
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Pow():
                power = right.dim()
                if isinstance(power, int) and 0 <= power <= _MOST_POWER:
                    return reduce(lambda a, b: a * b, [left] * power, constant(1))
        if type(op) in _OPERATIONS:
            return operate(_OPERATIONS[type(op)], (left, right))
        raise DimensionError(type(op).__name__, "is not an operation on sizes")

    def _called(self, name: str, args: list[ast.expr]) -> Term:
        if name in _ROUNDINGS and len(args) == 1 and _is_real(args[0]):
            return self._rounded_real(name, args[0])
        if name in ("ceil", "CeilToInt", "ceiling") and len(args) == 1:
            return -self._quotient_of_negated(args[0])
        if name in ("floor", "FloorToInt", "Identity") and len(args) == 1:
            return self._term(args[0])
        if name in ("trunc", "TruncToInt", "int") and len(args) == 1:
            argument = self._term(args[0])
            if _divides(args[0]) and (argument.lower_bound is None or argument.lower_bound < 0):
                raise DimensionError(ast.unparse(args[0]), "is rounded towards zero, but may be negative")
            return argument
        if name not in _FUNCTIONS:
            raise DimensionError(name, "is not a function of sizes")
        terms = [self._term(arg) for arg in args if ast.unparse(arg) not in _NO_END]
        if _FUNCTIONS[name] == "min":
            terms = [t for t in terms if not t.is_constant or t.constant < _NO_SIZE] or terms
        return terms[0] if len(terms) == 1 else operate(_FUNCTIONS[name], tuple(terms))

    def _rounded_real(self, name: str, node: ast.expr) -> Term:
        """Return a float times a size, rounded, if floats cannot round the product past an integer."""
        match node:
            case ast.BinOp(left=ast.Constant(value=float(value)), op=ast.Mult(), right=inner):
                pass
            case ast.BinOp(left=inner, op=ast.Mult(), right=ast.Constant(value=float(value))):
                pass
            case ast.BinOp(left=inner, op=ast.Div(), right=ast.Constant(value=float(below))) if below:
                value = 1 / below if log2(abs(below)).is_integer() else 0.0
            case _:
                raise DimensionError(ast.unparse(node), "is a real number, which guards of sizes cannot use")
        match inner:
            case ast.Call(func=func, args=[size]) if ast.unparse(func).rpartition(".")[2] in _TO_REAL:
                # Rounding towards zero is rounding down only for a value that is not negative.
                scaled = scaled_term(name, self._term(size), value)
                if scaled is not None:
                    return scaled
        raise DimensionError(ast.unparse(node), "is a real number that floating-point rounding may change")

    def _quotient_of_negated(self, node: ast.expr) -> Term:
        # The quotient rounded up is that of the negated dividend, rounded down and negated.
        match node:
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return operate("//", (-self._term(left), self._term(right)))
            case ast.Call(func=func, args=[left, right]) if ast.unparse(func).rpartition(".")[2] == "IntTrueDiv":
                return operate("//", (-self._term(left), self._term(right)))
        return -self._term(node)


def _compared(op: ast.cmpop, left: Term, right: Term) -> Formula:
    if type(op) not in _RELATIONS:
        raise DimensionError(type(op).__name__, "is not a comparison of sizes")
    relation, is_turned = _RELATIONS[type(op)]
    below, above = (right, left) if is_turned else (left, right)
    if not any(t.is_constant and t.constant >= _NO_SIZE for t in (below, above)):
        return Comparison(relation, below.dim(), above.dim())
    # No size reaches the number that torch writes for "to the end of the axis".
    is_upper = above.is_constant and above.constant >= _NO_SIZE
    return TRUE if relation == "!=" or (relation in ("<=", "<") and is_upper) else FALSE


# How torch writes a size as a float.
_TO_REAL = ("sym_float", "float", "ToFloat")
_DOWN, _UP = ("floor", "trunc", "FloorToInt", "TruncToInt", "int"), ("ceil", "CeilToInt", "ceiling")
_ROUNDINGS: dict[str, Callable[[float], int]] = {
    **dict.fromkeys(_DOWN, floor),
    **dict.fromkeys(_UP, ceil),
    "round": round,
    "RoundToInt": round,
}
# The largest size at which a rounded multiple is looked for.
_MOST_SIZE = 1 << 40


_MOST_DENOMINATOR = 1 << 10


class _Growing(NamedTuple):
    """An expression that never falls as its size grows, as torch's floats compute it; without a size, a number."""

    size: Symbol | None
    value: Callable[[int], float]

    def compared(self, relation: Operator, number: float, *, is_below: bool) -> Formula:
        """Return a comparison with a number; ``is_below`` says that the expression is on the left of it."""
        size = self.size
        assert size is not None
        # The sizes at which it reaches a number are those from a first one on, and so are those at which it passes it.
        from_it, after = self._first(lambda value: value >= number), self._first(lambda value: value > number)
        if relation == "==":
            return all_of([at_most(from_it, size), Comparison("<", size, after)])
        if relation == "!=":
            return any_of([Comparison("<", size, from_it), at_most(after, size)])
        if is_below:
            return Comparison("<", size, after if relation == "<=" else from_it)
        return at_most(from_it if relation == "<=" else after, size)

    def _first(self, holds: Callable[[float], bool]) -> int:
        """Return the first size at whose value something holds that holds from then on, by bisection."""
        low, high = 0, _MOST_SIZE
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(self.value(middle)) else (middle + 1, high)
        return low


def _joined(function: Callable[..., float], parts: Sequence[_Growing]) -> _Growing | None:
    """Return a function that never falls in any argument, of expressions of one size."""
    sizes = {part.size for part in parts} - {None}
    if len(sizes) > 1:
        return None
    return _Growing(next(iter(sizes), None), lambda n: function(*(part.value(n) for part in parts)))


def _grown(op: ast.operator, left: _Growing, right: _Growing) -> _Growing | None:
    """Return an operation on two expressions of one size, if it never falls; sizes are 0 or more."""
    if isinstance(op, ast.Mult) and right.size is not None:
        left, right = right, left
    match op:
        case ast.Add():
            return _joined(operator.add, (left, right))
        # A value never falls, so it is never negative if it is not negative at 0.
        case ast.Sub() if right.size is None:
            return _joined(operator.sub, (left, right))
        case ast.Mult() if right.size is None and right.value(0) >= 0:
            return _joined(operator.mul, (left, right))
        case ast.Div() if right.size is None and right.value(0) > 0:
            return _joined(operator.truediv, (left, right))
        case ast.FloorDiv() if right.size is None and right.value(0) > 0:
            return _joined(operator.floordiv, (left, right))
        # Roots of neighbouring sizes differ by far more than the error of the C library.
        case ast.Pow() if right.size is None and right.value(0) in (0.5, 1, 2) and left.value(0) >= 0:
            return _joined(operator.pow, (left, right))
    return None


_NEVER_FALLING: dict[str, Callable[..., float]] = {
    **dict.fromkeys(_TO_REAL, float),
    **_ROUNDINGS,
    **dict.fromkeys(("trunc", "TruncToInt", "int"), trunc),
    **dict.fromkeys(("sqrt", "sym_sqrt", "_sym_sqrt", "OpaqueUnaryFn_sqrt"), sqrt),
    "max": max,
    "Max": max,
    "min": min,
    "Min": min,
    "Identity": lambda value: value,
}


def scaled_term(name: str, size: Term, factor: float) -> Term | None:
    """Return a size times a float, rounded as torch's function says; None where floats may round it otherwise.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> scaled_term("trunc", term(symbol("N")), 0.75), scaled_term("trunc", term(symbol("N")), 0.7)
    (3*N//4, None)
    """
    low = size.lower_bound
    scale = scale_of(factor, DOUBLE) if factor > 0 and low is not None and low >= 0 else None
    if scale is None or not scale.exact or not isinstance(scale.above, int) or not isinstance(scale.below, int):
        return None
    # trunc and int round towards zero: that is down here, as the size is known not to be negative.
    if name in _DOWN:
        return operate("//", (size.scaled(scale.above), constant(scale.below)))
    # Rounding up is exact only where floats hold the quotient.
    is_power_of_two = scale.below & (scale.below - 1) == 0
    return (
        -operate("//", (size.scaled(-scale.above), constant(scale.below))) if name in _UP and is_power_of_two else None
    )


def _divides(node: ast.expr) -> bool:
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) for n in ast.walk(node))


def _is_real(node: ast.expr) -> bool:
    """Return whether an expression computes with floats."""
    return any(
        (isinstance(n, ast.Constant) and isinstance(n.value, float))
        or (isinstance(n, ast.Call) and ast.unparse(n.func).rpartition(".")[2] in _TO_REAL)
        for n in ast.walk(node)
    )


def fits_intervals(text: str) -> bool:
    """Return whether torch's interval arithmetic follows a guard: no floats, and only numbers as divisors.

    >>> fits_intervals("(L['x'].size()[0] // 2) != 1"), fits_intervals("(1 % (L['x'].size()[0] // 3)) != 0")
    (True, False)
    """
    try:
        parsed = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return False
    divided = (n for n in ast.walk(parsed) if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.FloorDiv, ast.Mod)))
    return not _is_real(parsed.body) and all(isinstance(n.right, ast.Constant) for n in divided)


def _normal(source: str) -> str:
    return ast.unparse(ast.parse(source, mode="eval").body)


def shown_guard(text: str) -> str:
    """Return a guard as torch shows it, without the ``L[...]`` around argument names."""
    return re.sub(r"L\['(\w+)'\]", r"\1", text)


# The text of torch's errors and logs: log prefixes removed, repeated errors dropped, and names for the sizes in it.


_ACCESS = r"(?:\[[^\[\]]*\]|\.(?!size\(\))\w+)*"
# A size of an argument: ``L['x'].size()[2]`` when torch exports or compiles, ``x.size()[2]`` when a program is run.
SOURCE = rf"(?:L\['\w+'\]|(?<![\w\]'.*])[A-Za-z_]\w*){_ACCESS}\.size\(\)\[\d+\]"
SIZE = re.compile(SOURCE)
# An integer argument.
INTEGER = re.compile(r"L\['\w+'\](?:\[[^\[\]]*\])*(?![\[.\w])")
_NAMED = re.compile(rf"(?<![\w.])(\w+) = ({SOURCE})")
_SYMBOLS = (
    re.compile(rf"create_symbol (?P<symbol>\w+) = \S+ for (?P<source>{SOURCE}|{INTEGER.pattern})"),
    re.compile(rf"'(?P<symbol>[sz]\w*\d+)': \"(?P<source>{SOURCE}|{INTEGER.pattern})\""),
    re.compile(rf"^\s+(?P<symbol>s\d+): (?P<source>{SOURCE}|{INTEGER.pattern})\s*$", re.M),
)
_BACKED = re.compile(r"(?<![\w.'\"])s\d+(?![\w.'\"(])")
_PREFIXES = (
    re.compile(
        r"^(?:\[\w+\]:?\s?)?(?:\[[\d\- :.,]+\]\s*)?[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+:\d+\]"
        r"(?: \[(?:[\d/_!]+|__\w+)\])* ?",
        re.M,
    ),
    re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\](?: \[[\d/_]+\])? [\w.]+: \[\w+\] ?", re.M),
    re.compile("\x1b\\[[0-9;]*m"),
)
_STARTS = re.compile(r"Constraints violated \(|\bcreate_env\b|WARNING: \d+ issue\(s\) found during export")
_VIOLATED = "Constraints violated ("
# The largest number of characters that are read of a log; its end is kept.
LARGEST_TEXT = 4_000_000


def without_log_prefixes(text: str) -> str:
    """Return a text without the prefixes of log lines and without colours.

    >>> without_log_prefixes("I1124 11:30:45.8 13 torch/fx/symbolic_shapes.py:8081] [0/0] eval Eq(s0, 4) [guard added]")
    'eval Eq(s0, 4) [guard added]'
    """
    # The error that ends a log is at its end.
    text = text[-LARGEST_TEXT:]
    for pattern in _PREFIXES:
        text = pattern.sub("", text)
    return re.sub(r"(satisfy the generated guard:?)\s*\n\s+", r"\1 ", text)


def errors_in(text: str) -> Iterator[str]:
    """Yield the parts of a text about one export each."""
    places = [match.start() for match in _STARTS.finditer(text)]
    seen: set[str] = set()
    part = text[: places[0]] if places else text
    for start, end in pairwise([*places, len(text)]):
        block = text[start:end]
        if block.startswith(_VIOLATED):
            said = _items(block)
            # An exception that is raised again, or shown again after "The above exception", is one error. What torch
            # logged during an export belongs to the error that ends it.
            if said in seen:
                part += block[len(said) :]
                continue
            seen.add(said)
            if _VIOLATED not in part:
                part += block
                continue
        if part.strip():
            yield part
        part = block
    if part.strip():
        yield part


def _items(block: str) -> str:
    """Return an error's first lines, through its last listed constraint."""
    match = re.match(r"[^\n]*(?:\n\s+(?:-|\d+\.) [^\n]*)*", block)
    return match[0] if match is not None else block


class SizeNames:
    """Names of the sizes in one error: the user's `Dim`, or argument and axis."""

    def __init__(self, text: str) -> None:
        self.by_source: dict[str, str] = {}
        for name, source in _NAMED.findall(text):
            if not re.fullmatch(r"[su]\d+", name):
                self.by_source.setdefault(source, name)
        for pattern in (SIZE, INTEGER):
            for source in pattern.findall(text):
                self.by_source.setdefault(source, size_name(source))
        self.by_symbol: dict[str, str] = {}
        self.source_of_symbol: dict[str, str] = {}
        for pattern in _SYMBOLS:
            for match in pattern.finditer(text):
                self.by_symbol[match["symbol"]] = self.by_source[match["source"]]
                self.source_of_symbol[match["symbol"]] = match["source"]
        for backed in _BACKED.findall(text):  # a symbol whose argument the text does not name
            self.by_symbol.setdefault(backed, backed)
        sizes: dict[str, Dim] = {source: symbol(name) for source, name in self.by_source.items()}
        sizes |= {s: symbol(name) for s, name in self.by_symbol.items()}
        self.reader = GuardReader(sizes)
        self.dims = {name for name, _ in _NAMED.findall(text)}

    def __contains__(self, source: str) -> bool:
        return source in self.by_source

    def name_of(self, source: str) -> str:
        """Return the name of a size, given by its source or already by its name."""
        return self.by_source.get(source, source)

    def axis_of(self, source: str) -> str:
        """Return a size as users write it: ``x.shape[2]``."""
        return shown_axis(source) if source in self.by_source else source

    def spelled(self, expression: str) -> str:
        """Return an expression of torch with the names of sizes in it."""
        # Longer sources first: one may be the beginning of another.
        for source, name in sorted(self.by_source.items(), key=lambda pair: -len(pair[0])):
            expression = expression.replace(source, name)
        return re.sub(r"(?<!\w)[suz]+\w*\d+(?!\w)", lambda m: self.by_symbol.get(m[0], m[0]), expression)


def size_name(source: str) -> str:
    """Return a name for a size without one: ``x_dim_0``; an integer argument has its own name."""
    argument, _, axis = source.partition(".size()")
    name = identifier(re.sub(r"\W+", "_", shown_source(argument) if argument.startswith("L[") else argument).strip("_"))
    return f"{name}_dim_{axis.strip('[]')}" if axis else name


def shown_axis(source: str) -> str:
    """Return a size as users write it: ``x.shape[2]`` for ``L['x'].size()[2]``."""
    shown = shown_source(source) if source.startswith("L[") else source
    argument, separator, axis = shown.rpartition(".size()")
    return f"{argument}.shape{axis}" if separator else shown
