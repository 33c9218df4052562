"""Dimensions, shapes and formulas as text, and back."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import symbcast as sb
from symbcast.core.algebra.arithmetic import floor_divide, join, maximum, minimum, modulo, multiply
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    Clashing,
    Comparison,
    Compatible,
    all_of,
    any_of,
    expand,
    holds,
    negate,
)
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.algebra.sympy_conversion import from_sympy, to_sympy
from symbcast.core.shapes import shape_of
from symbcast.core.text import parse_dim, parse_formula, parse_shape
from symbcast.core.text.notation import dim_text, formula_text, shape_text

N, M, K = symbol("N"), symbol("M"), symbol("K")
n, m, k = map(to_sympy, (N, M, K))

DIMS = {
    "3": 3,
    "N": N,
    "2*N + 1": 1 + 2 * N,
    "N - 1": N - 1,
    "3 - N": 3 - N,
    "-N": -N,
    "-N - 2": -N - 2,
    "N**2 + N + 1": 1 + N + N * N,
    "N**2 + 2*N + 1": (N + 1) * (N + 1),
    "N**16*N**4": multiply(*[N] * 20),
    "2*M*N": 2 * M * N,
    "M*N + N": N * (M + 1),
    "N//2": floor_divide(N, 2),
    "(N + 1)//2": floor_divide(N + 1, 2),
    "M*N//6": floor_divide(M * N, 6),
    "2*(N//2)": 2 * floor_divide(N, 2),
    "-(N//2)": -floor_divide(N, 2),
    "-((N + 1)//2)": floor_divide(-N, 2),
    "N//M": floor_divide(N, M),
    "N//(K*M)": floor_divide(N, K * M),
    "(2*M + 3*N)//6": floor_divide(2 * M + 3 * N, 6),
    "N % 3": modulo(N, 3),
    "(M + N) % 3 + 1": modulo(N + M, 3) + 1,
    "2*(N % 3)": 2 * modulo(N, 3),
    "(N//2) % 3": modulo(floor_divide(N, 2), 3),
    "min(M, N)": minimum((N, M)),
    "max(N, M + 1, 3)": maximum((3, N, M + 1)),
    "broadcast(M, N)": join((N, M)),
    "broadcast(N, 3)": join((3, N)),
    "'a b'": symbol("a b"),
    "input.1": symbol("input.1"),
    "'None' + 1": symbol("None") + 1,
    "'and'": symbol("and"),
    "'?0'": symbol("?0"),
    r"'a\nb'": symbol("a\nb"),
    '''"it's"''': symbol("it's"),
}


@pytest.mark.parametrize("text", DIMS)
def test_dimensions_print_and_read_back(text):
    assert dim_text(DIMS[text]) == text
    assert parse_dim(text) == DIMS[text]


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (sympy.ceiling(n / 2), "(N + 1)//2"),
        (3 - sympy.ceiling(n / 2), "3 - (N + 1)//2"),
        (sympy.ceiling((n + 1) / 3) * 2, "2*(N//3) + 2"),
        (sympy.Mul(-1, 2 - k, m + 3), "K*M + 3*K - 2*M - 6"),
    ],
)
def test_equal_valued_text(dim, text):
    assert dim_text(from_sympy(dim)) == text
    back = parse_dim(text)
    for size in range(8):
        at = {n: sympy.Integer(size), m: sympy.Integer(2 * size), k: sympy.Integer(size + 1)}
        assert to_sympy(back).xreplace(at) == dim.xreplace(at)


def test_symbols_of_users_print_by_name():
    theirs = sympy.symbols("N")
    assert dim_text(from_sympy(theirs + 1)) == "N + 1"
    assert shape_text(tuple(map(from_sympy, (theirs, sympy.Symbol("M", positive=True))))) == "(N, M)"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", "()"),
        ("N", "(N,)"),
        ("[N, 3]", "(N, 3)"),
        ("?, -1, None", "(?, ?, ?)"),
        ("2..5, 2.., ..5, 0..3", "(2..5, 2.., ..5, ..3)"),
        ("?a, 3, ?b:2..5, ?0", "(?a, 3, ?b:2..5, ?)"),
        ("?a, ?a", "(?a, ?a)"),
        ("?a, ?a:2..5", "(?a:2..5, ?a)"),
        ("? + 1, 3", "(?0 + 1, 3)"),
        ("(?a:2..5) + 1, '?a', ?a", "((?a:2..5) + 1, '?a', ?a)"),
    ],
)
def test_shapes_print(text, printed):
    assert shape_text(parse_shape(text)) == printed
    assert shape_text(parse_shape(printed)) == printed


def test_different_unknowns_never_share_a_label():
    first, second = Unknown("?0"), Unknown("?0", 2, 5)
    assert shape_text((first, first, second, second + 1)) == "(?0, ?0, ?1:2..5, ?1 + 1)"
    assert shape_text((Unknown("?") + 1, Unknown("?") + 1)) == "(?0 + 1, ?1 + 1)"
    assert formula_text(Comparison("==", first, second)) == "?0 == ?1"


FORMULAS = {
    "N == M": Comparison("==", N, M),
    "N >= 2": Comparison("<=", 2, N),
    "N > 2": Comparison("<", 2, N),
    "N <= 2": Comparison("<=", N, 2),
    "M <= N": Comparison("<=", M, N),
    "3 <= 4": Comparison("<=", 3, 4),
    "True": TRUE,
    "False": FALSE,
    "compatible(N, M, K)": Compatible((N, M, K)),
    "not compatible(N, M, 3)": Clashing((N, M, 3)),
    "compatible(2, 3)": Compatible((2, 3)),
    "N == 1 or (M == 1 and K == 1)": any_of(
        [Comparison("==", N, 1), all_of([Comparison("==", M, 1), Comparison("==", K, 1)])]
    ),
    "N == 1 and (M == 1 or K == 1)": all_of(
        [Comparison("==", N, 1), any_of([Comparison("==", M, 1), Comparison("==", K, 1)])]
    ),
    "'and' == 2": Comparison("==", symbol("and"), 2),
}


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_print_and_read_back(text):
    assert formula_text(FORMULAS[text]) == text
    assert parse_formula(text) == FORMULAS[text]


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (Compatible((N, M)), "N == M or N == 1 or M == 1"),
        (Clashing((N, M)), "N != M and N != 1 and M != 1"),
        (Compatible((N, 3)), "N == 1 or N == 3"),
        (Compatible((1, N)), "True"),
        (Clashing((N, 1)), "False"),
        (all_of([Comparison("<=", 2, N), Compatible((N, M))]), "N >= 2 and (N == M or N == 1 or M == 1)"),
    ],
)
def test_pairs_are_spelled_out(formula, text):
    assert formula_text(formula) == text


@given(st.booleans(), st.integers(0, 4), st.integers(0, 4))
def test_a_pair_as_text_means_the_pair(valid, n, m):
    pair = Compatible((N, M)) if valid else Clashing((N, M))
    numbers = Compatible((n, m)) if valid else Clashing((n, m))
    read = formula_text(parse_formula(formula_text(pair))).replace("N", str(n)).replace("M", str(m))
    assert holds(parse_formula(read)) == holds(numbers) == holds(expand(numbers))


NAMES = st.sampled_from(["N", "M", "K", "input.1", "a b", "None", "min", "and", "größe", "'", "\\", "?0"]) | st.text(
    min_size=1, max_size=4
)
UNKNOWNS = st.builds(
    Unknown, st.sampled_from(["?", "?0", "?1", "?a"]), st.integers(0, 2), st.none() | st.integers(2, 9)
)
POSITIVE = st.sampled_from([2, 3, 4, 6])


def compound(inner):
    def text(template, *parts):
        return template.format(*(f"({dim_text(p)})" for p in parts))

    pair = st.tuples(inner, inner)
    return st.one_of(
        st.builds(lambda p, op: parse_dim(text(f"1 + {{}} {op} {{}}", *p)), pair, st.sampled_from("+*")),
        st.builds(lambda a, n: parse_dim(text("{} // {}", a, n)), inner, POSITIVE),
        st.builds(lambda a, n: parse_dim(text("{} % {}", a, n)), inner, POSITIVE),
        st.builds(lambda p, f: parse_dim(text(f"{f}({{}}, {{}})", *p)), pair, st.sampled_from(["min", "max"])),
        st.builds(lambda p: parse_dim(text("{} // ({} + 1)", *p)), pair),
    )


NAMED = st.recursive(NAMES.map(symbol) | st.integers(0, 9), compound, max_leaves=5)
WITH_UNKNOWNS = UNKNOWNS | st.builds(lambda u, n: u + n, UNKNOWNS, st.integers(1, 3)) | NAMED


@given(st.lists(NAMED, max_size=4))
@settings(max_examples=200, deadline=None)
def test_parse_after_print_is_the_same_shape(dims):
    assert parse_shape(shape_text(dims)) == tuple(dims)


@given(st.lists(WITH_UNKNOWNS, max_size=4), st.data())
@settings(max_examples=200, deadline=None)
def test_parse_after_print_keeps_the_unknowns(dims, data):
    dims += data.draw(st.lists(st.sampled_from(dims), max_size=2)) if dims else []
    text = shape_text(dims)
    back = parse_shape(text)
    assert shape_text(back) == text
    unknowns = [d for d in dims if isinstance(d, Unknown)]
    read = [d for d in back if isinstance(d, Unknown)]
    assert [(u.lower, u.upper) for u in read] == [(u.lower, u.upper) for u in unknowns]
    assert [unknowns.index(u) for u in unknowns] == [read.index(u) for u in read]


RELATIONS = st.builds(Comparison, st.sampled_from(["==", "!=", "<=", "<"]), NAMED, NAMED) | st.builds(
    Compatible, st.lists(NAMED, min_size=3, max_size=4).map(tuple)
)
NESTED = st.recursive(
    RELATIONS,
    lambda inner: st.lists(inner, max_size=3).map(all_of) | st.lists(inner, max_size=3).map(any_of) | inner.map(negate),
    max_leaves=6,
)


@given(NESTED)
@settings(max_examples=200, deadline=None)
def test_parse_after_print_is_the_same_formula(formula):
    assert parse_formula(formula_text(formula)) == formula


def test_a_shape_is_its_text():
    assert str(shape_of(parse_shape("N, 2*N + 1"))) == "(N, 2*N + 1)"


@pytest.mark.parametrize("text", ["N, 3", "()", "2*N + 1, M//2", "'a b', 5"])
def test_a_shape_is_made_of_what_its_repr_shows(text):
    shape = sb.shape(text)
    assert eval(repr(shape), {"Shape": sb.Shape}) == shape
    assert sb.Shape(tuple(shape)) == sb.Shape(text) == shape
    assert all(not isinstance(dim, str) for dim in sb.Shape(("N", 3)))
    with pytest.raises(sb.ShapeTypeError):
        sb.Shape(3)
