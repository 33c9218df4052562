"""Dimensions as polynomials: the same value, one object for equal ones, sound bounds."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st
from solver.expressions import SYMBOLS, broadcast, call, expressions, integer, name, points

from symbcast.core.algebra.arithmetic import add, floor_divide, join, maximum, modulo, multiply
from symbcast.core.algebra.bounds import Bounds, lower_bound
from symbcast.core.algebra.formulas import Compatible, all_of, at_most, definedness, different
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.sympy_conversion import check_dim, from_sympy, to_sympy
from symbcast.core.algebra.term_arithmetic import modulo_terms, substitute
from symbcast.core.algebra.terms import MAX_MONOMIALS, Operation, Term, constant, symbols_of, term
from symbcast.core.solver.evaluation import predicate, value_function
from symbcast.errors import DimensionError, ShapeTypeError
from symbcast.graphs.walking.facts import SizeFacts

a, b, c = SYMBOLS
POINTS = points(3, 6)
polynomials = expressions(3, divisors=(), max_leaves=6)
total = expressions(3, divisors=(2, 3, 4, 6, -2, -3), functions=("min", "max"), max_leaves=5)
partial = expressions(3, divisors=(2, 3), functions=("min", "max", "broadcast"), symbolic=True, max_leaves=4)


def value(of: Term, sizes):
    """Return a term's value from its definition; raise `ArithmeticError` where a part has none."""
    result = 0
    for monomial, coefficient in of.coefficients.items():
        product = coefficient
        for atom in monomial:
            product *= operation_value(atom, sizes) if isinstance(atom, Operation) else sizes[atom]
        result += product
    return result


def operation_value(operation, sizes):
    args = [value(arg, sizes) for arg in operation.args]
    match operation.kind:
        case "//":
            return args[0] // args[1]
        case "%":
            return args[0] % args[1]
        case "join":
            return broadcast(*args)
        case "min":
            return min(args)
        case "max":
            return max(args)


def valued(of: Term, sizes):
    try:
        return value(of, sizes)
    except ArithmeticError:
        return None


def bound(sizes):
    return dict(zip(SYMBOLS, sizes, strict=True))


@given(total)
def test_a_term_has_the_value_of_the_dimension(expression):
    made = term(expression.dim)
    for sizes in POINTS:
        assert value(made, bound(sizes)) == expression.at(sizes), sizes


@given(partial)
@example(call("broadcast", [name("a"), name("b"), integer(3)]))
def test_wherever_python_has_a_value_the_term_has_it(expression):
    made = term(expression.dim)
    for sizes in POINTS:
        try:
            expected = expression.at(sizes)
        except ArithmeticError:
            continue
        assert value(made, bound(sizes)) == expected, sizes


@given(total)
def test_the_compiled_function_is_the_term(expression):
    compiled = value_function(expression.dim, SYMBOLS)
    for sizes in POINTS:
        assert compiled(*sizes) == expression.at(sizes), sizes


@pytest.mark.parametrize(
    ("nested", "plain"),
    [
        (modulo(modulo(a, 6), 3), modulo(a, 3)),
        (modulo(a + modulo(-a, 3), 3), 0),
        (modulo(a * b + b * modulo(3 - modulo(a, 3), 3), 3), 0),
        (modulo(modulo(a + modulo(b, 8), 4) * c, 2), modulo((a + b) * c, 2)),
    ],
)
def test_a_remainder_within_one_whose_divisor_divides_its_own_drops_out(nested, plain):
    assert term(nested) == term(plain)


@pytest.mark.parametrize(("inner", "outer"), [(3, 6), (4, 3), (4, 8), (6, 4)])
def test_a_remainder_within_one_of_another_divisor_has_its_value(inner, outer):
    made = modulo_terms(term(modulo(a, inner)) + term(b), constant(outer))
    for n in range(24):
        assert value(made, {a: n, b: 5}) == (n % inner + 5) % outer


@given(polynomials, polynomials)
def test_equal_polynomials_are_one_term(left, right):
    """Terms are equal exactly when the polynomials are; sympy's expansion is the second opinion."""
    theirs = [eval(e.text, {name: to_sympy(s) for name, s in zip("abc", SYMBOLS, strict=True)}) for e in (left, right)]
    same = sympy.expand(theirs[0] - theirs[1]) == 0
    assert (term(left.dim) == term(right.dim)) is bool(same)
    assert left.dim == from_sympy(theirs[0]) == from_sympy(sympy.expand(theirs[0]))
    if same:
        assert hash(term(left.dim)) == hash(term(right.dim))


@given(total, total, total)
def test_terms_form_a_ring(left, right, third):
    x, y, z = (term(e.dim) for e in (left, right, third))
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) * z == x * z + y * z
    assert x - x == constant(0)
    assert x.scaled(3) == x + x + x
    assert (-x).scaled(-1) == x


@given(partial)
def test_definedness_holds_exactly_where_the_term_is_a_size(expression):
    made = term(expression.dim)
    needs = definedness(expression.dim)
    for sizes in POINTS:
        found = valued(made, bound(sizes))
        assert bool(predicate(all_of(needs), SYMBOLS)(*sizes)) is (found is not None and found >= 0), (sizes, needs)


@pytest.mark.parametrize(
    ("dim", "needs"),
    [
        (3, ()),
        (a + 1, ()),
        (floor_divide(a, 2), ()),
        (a - 1, (at_most(0, a - 1),)),
        (floor_divide(a, b), (different(b, 0),)),
        (modulo(a, b + 1), ()),
        (join((a, b)), (Compatible((a, b)),)),
        (maximum((a - 3, 0)), ()),
    ],
    ids=str,
)
def test_what_a_dimension_needs(dim, needs):
    assert definedness(dim) == needs


@given(partial)
def test_a_lower_bound_is_one(expression):
    made = term(expression.dim)
    low = made.lower_bound
    if low is not None:
        for sizes in POINTS:
            found = valued(made, bound(sizes))
            if found is not None and all(valued(arg, bound(sizes)) >= 0 for o in made.operations() for arg in o.args):
                assert found >= low, sizes


@given(expressions(3, divisors=(2, 3, 5), functions=("min", "max"), max_leaves=5))
def test_a_lower_bound_is_one_of_total_terms(expression):
    low = term(expression.dim).lower_bound
    assert low is None or all(expression.at(sizes) >= low for sizes in POINTS)


@given(expressions(3, divisors=(2, 3, 5), functions=("min", "max"), max_leaves=6))
def test_a_lower_bound_by_cases_is_one_and_no_worse(expression):
    made = term(expression.dim)
    low = lower_bound(made)
    assert low is None or all(expression.at(sizes) >= low for sizes in POINTS)
    assert made.lower_bound is None or (low is not None and low >= made.lower_bound)


@given(st.lists(total, min_size=2, max_size=4), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_the_greatest_member_of_a_join_is_what_it_comes_to(members, least):
    bounds = Bounds(dict(zip(SYMBOLS, least, strict=True)))
    found = bounds.greatest_member(join(e.dim for e in members))
    for sizes in POINTS:
        if all(size >= low for size, low in zip(sizes, least, strict=True)):
            values = [e.at(sizes) for e in members]
            if all(v >= 0 for v in values) and len({v for v in values if v != 1}) <= 1:
                assert valued(term(found), bound(sizes)) == broadcast(*values), sizes


@given(total, st.sampled_from([2, 3, 4, 6]), total)
@example(call("max", [name("a"), integer(2)]), 2, name("a"))
def test_terms_written_without_whole_quotients_have_their_value_where_these_are_whole(inner, divisor, other):
    quotient = floor_divide(inner.dim, divisor)
    whole = [o for o in (quotient,) if isinstance(o, Operation) and o.kind == "//"]
    settled = SizeFacts(whole)
    for dim in (multiply(divisor, quotient), multiply(divisor, quotient, other.dim), multiply(2, quotient, quotient)):
        (found,) = settled.written((dim,))
        for sizes in POINTS:
            if all(value(o.args[0], bound(sizes)) % value(o.args[1], bound(sizes)) == 0 for o in whole):
                assert value(term(found), bound(sizes)) == value(term(dim), bound(sizes)), sizes


@given(total, st.sampled_from(SYMBOLS), expressions(3, max_leaves=3))
def test_substitution_is_evaluation_there(expression, replaced, replacement):
    made = substitute(term(expression.dim), {replaced: term(replacement.dim)})
    for sizes in points(3, 4):
        there = [replacement.at(sizes) if s == replaced else n for s, n in zip(SYMBOLS, sizes, strict=True)]
        assert value(made, bound(sizes)) == expression.at(there), sizes


@given(total)
def test_numbers_put_in_for_all_symbols_make_a_number(expression):
    made = term(expression.dim)
    for sizes in points(3, 4):
        found = substitute(made, {s: constant(size) for s, size in bound(sizes).items()})
        assert found.is_constant
        assert found.constant == expression.at(sizes)


@given(total)
def test_to_a_dimension_and_back(expression):
    """What sympy shows of a term has its value; read again it is the same term."""
    made = term(expression.dim)
    again = term(from_sympy(to_sympy(made.dim())))
    for sizes in POINTS:
        assert value(again, bound(sizes)) == expression.at(sizes), sizes
    assert again.dim() == made.dim()


@given(polynomials)
def test_polynomials_go_to_dimensions_and_back_unchanged(expression):
    made = term(expression.dim)
    assert term(made.dim()) is made
    assert term(from_sympy(to_sympy(made.dim()))) is made


@given(partial)
def test_symbols_are_those_of_the_dimension(expression):
    made = term(expression.dim)
    assert set(made.symbols()) <= set(symbols_of((expression.dim,)))


@given(total)
def test_terms_are_ordered_alike_whichever_way_they_were_made(expression):
    made = term(expression.dim)
    shuffled = Term(dict(reversed(made.coefficients.items())))
    assert shuffled == made
    assert shuffled.key == made.key


x, y = map(to_sympy, (a, b))
USERS = {
    "2*N//4": (sympy.floor(2 * x / 4), lambda n: n // 2),
    "N/2 + M/3": (sympy.floor(x / 2 + y / 3), lambda n, m: (3 * n + 2 * m) // 6),
    "ceiling": (sympy.ceiling(x / 3), lambda n: -(-n // 3)),
    "ceiling of a sum": (sympy.ceiling(x / 2 + y / 2), lambda n, m: -(-(n + m) // 2)),
    "shifted": (sympy.floor((x - 7) / 3), lambda n: (n - 7) // 3),
    "negative divisor": (sympy.floor(x / -3), lambda n: n // -3),
    "Mod": (sympy.Mod(2 * x + 1, 6), lambda n: (2 * n + 1) % 6),
    "power": ((x + 1) ** 3, lambda n: (n + 1) ** 3),
    "nested": (sympy.floor(sympy.floor(x / 2) / 3), lambda n: n // 6),
    "min of max": (sympy.Min(sympy.Max(x, 2), 5), lambda n: min(max(n, 2), 5)),
    "ceiling of floor": (sympy.ceiling(sympy.floor(x / 2) / 3), lambda n: -(-(n // 2) // 3)),
}


@pytest.mark.parametrize("case", USERS)
def test_what_users_write_with_sympy(case):
    written, meaning = USERS[case]
    dim = from_sympy(written)
    symbols = symbols_of((dim,))
    for sizes in points(len(symbols), 15):
        assert value(term(dim), dict(zip(symbols, sizes, strict=True))) == meaning(*sizes)


@pytest.mark.parametrize(
    "kind", [{}, {"integer": True}, {"positive": True}, {"real": True}, {"positive": True, "integer": True}]
)
def test_symbols_of_any_kind_are_read_alike(kind):
    n = sympy.Symbol("n", **kind)
    dims = [n // 2, sympy.floor((3 * n + 1) / 2), sympy.Mod(n, 3), n % 4 * 2, sympy.Max(n, 3), n**2 - n + 2]
    meanings = [
        lambda x: x // 2,
        lambda x: (3 * x + 1) // 2,
        lambda x: x % 3,
        lambda x: x % 4 * 2,
        lambda x: max(x, 3),
        lambda x: x * x - x + 2,
    ]
    read = from_sympy(n)
    for dim, meaning in zip(map(from_sympy, dims), meanings, strict=True):
        assert [value(term(dim), {read: size}) for size in range(1, 14)] == [meaning(size) for size in range(1, 14)]


@pytest.mark.parametrize(
    "dim",
    [
        x / 2,
        sympy.sqrt(x),
        sympy.sin(x),
        2**x,
        x**y,
        x**-1,
        sympy.pi * x,
        x**17,
        sympy.Rational(1, 2),
        sympy.oo,
        sympy.I * x,
    ],
    ids=str,
)
def test_what_is_no_dimension_is_refused(dim):
    with pytest.raises(DimensionError):
        check_dim(dim)


@pytest.mark.parametrize(
    "kind", [{"integer": False}, {"negative": True}, {"imaginary": True}, {"infinite": True}], ids=str
)
def test_symbols_that_are_no_sizes_are_refused(kind):
    with pytest.raises(DimensionError):
        check_dim(sympy.Symbol("n", **kind) + 1)


@pytest.mark.parametrize("value", ["N", 2.0, None, sympy.true, sympy.Eq(x, y), object], ids=str)
def test_what_is_no_expression_is_refused(value):
    with pytest.raises(ShapeTypeError):
        check_dim(value)


def test_too_large_a_product_is_refused():
    wide = add(*[symbol(f"n{n}") for n in range(40)])
    with pytest.raises(DimensionError, match=str(MAX_MONOMIALS)):
        wide * wide * wide
    with pytest.raises(DimensionError, match=str(MAX_MONOMIALS)):
        from_sympy(to_sympy(wide) ** 3)
