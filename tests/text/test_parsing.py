"""Text to shapes, dimensions and formulas: what is read, what is refused and where, and how long it may take."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from steps import calls

from symbcast.core.algebra.arithmetic import (
    floor_divide,
    join,
    maximum,
    mentioning,
    minimum,
    modulo,
    replace_symbols,
    value_of,
)
from symbcast.core.algebra.formulas import FALSE, TRUE, AllOf, AnyOf, Clashing, Comparison, Compatible
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.algebra.terms import Term
from symbcast.core.text import parse_dim, parse_formula, parse_shape
from symbcast.errors import ShapeSyntaxError

N, M, K = symbol("N"), symbol("M"), symbol("K")

SHAPES = {
    "": (),
    "  \n": (),
    "()": (),
    "[]": (),
    "( )": (),
    "N": (N,),
    "(N)": (N,),
    "(N,)": (N,),
    "[N]": (N,),
    "N, 3,": (N, 3),
    "(N, 3)": (N, 3),
    "[N, 3, ]": (N, 3),
    "(N + 1)*2, 3": (2 * N + 2, 3),
    "((N + 1)*2, 3)": (2 * N + 2, 3),
    "0, 007, 9223372036854775807": (0, 7, 2**63 - 1),
    "decoder_input_ids.45_dim_1, input.1": (symbol("decoder_input_ids.45_dim_1"), symbol("input.1")),
    "N.__class__": (symbol("N.__class__"),),
    "S, E, I, O, Q, beta, lambda": tuple(map(symbol, ("S", "E", "I", "O", "Q", "beta", "lambda"))),
    "min, max, mod, broadcast, Nonesuch": tuple(map(symbol, ("min", "max", "mod", "broadcast", "Nonesuch"))),
    "and, or, not, True": tuple(map(symbol, ("and", "or", "not", "True"))),
    "größe, 批": (symbol("größe"), symbol("批")),
    "'a b', \"/enc/x:0\"": (symbol("a b"), symbol("/enc/x:0")),
    r"'it\'s', '\x41\n\\'": (symbol("it's"), symbol("A\n\\")),
    "'(', ')'": (symbol("("), symbol(")")),
    "tensor<f32>": (),
    "tensor<2x3xi64>": (2, 3),
    " tensor<4xcomplex<f32>> ": (4,),
    "tensor<0x1xf32, #sparse>": (0, 1),
    "memref<4x3xf32, affine_map<(d0, d1) -> (d1, d0)>, 1>": (4, 3),
    "memref<2xf32, strided<[?], offset: ?>>": (2,),
    "tensor<4x!quant.uniform<i8:f32, 0.1:0>>": (4,),
    "tensor<2x3xf32, #stablehlo.bounds<?, ?>>": (2, 3),
}


@pytest.mark.parametrize("text", SHAPES)
def test_shapes_are_read(text):
    assert parse_shape(text) == SHAPES[text]


DIMS = {
    "2 + 3*4": 14,
    "7//2": 3,
    "-7//2 + 5": 1,
    "-7 % 3": 2,
    "7 % -3 + 3": 1,
    "2**10": 1024,
    "N*N": N * N,
    "-N**2": -(N * N),
    "2*-N": -2 * N,
    "--N": N,
    "N - N": mentioning(0, [N]),
    "N//1": N,
    "N//2": floor_divide(N, 2),
    "floordiv(N, 2)": floor_divide(N, 2),
    "M*N//2": floor_divide(M * N, 2),
    "N % 3": modulo(N, 3),
    "mod(N, 3)": modulo(N, 3),
    "2*N % 2": mentioning(0, [N]),
    "min(N, M)": minimum((N, M)),
    "max(N, 3, 2)": maximum((N, 3)),
    "max (N, N)": N,
    "min(4, 3)": 3,
    "broadcast(N, 1, M)": join((N, M)),
    "N mod 2": modulo(N, 2),
    "floor(N / 2)": floor_divide(N, 2),
    "ceil(N/2)": floor_divide(N + 1, 2),
    "N << 2": 4 * N,
}


@pytest.mark.parametrize("text", DIMS)
def test_dimensions_are_read(text):
    found = parse_dim(text)
    assert found == DIMS[text]
    assert type(found) is int or (isinstance(found, Term) and not found.is_constant)


FORMULAS = {
    "N == M": Comparison("==", N, M),
    "N != 1": Comparison("!=", N, 1),
    "N >= 2": Comparison("<=", 2, N),
    "N > M": Comparison("<", M, N),
    "N == -1 + M": Comparison("==", N, M - 1),
    "2 <= N <= 5": AllOf((Comparison("<=", 2, N), Comparison("<=", N, 5))),
    "not N == 1": Comparison("!=", N, 1),
    "not not N == 1": Comparison("==", N, 1),
    "((N == 1))": Comparison("==", N, 1),
    "(N + 1)*2 == (M)": Comparison("==", 2 * N + 2, M),
    "N == 1 or M == 1 and K == 1": AnyOf(
        (Comparison("==", N, 1), AllOf((Comparison("==", M, 1), Comparison("==", K, 1))))
    ),
    "compatible(N, M, 3)": Compatible((N, M, 3)),
    "not compatible(N, M)": Clashing((N, M)),
    "compatible == 2": Comparison("==", symbol("compatible"), 2),
    "'and' == 2": Comparison("==", symbol("and"), 2),
    "True": TRUE,
    "False or True": TRUE,
    "N == 1 and False": FALSE,
    "N in 2..5": AllOf((Comparison("<=", 2, N), Comparison("<=", N, 5))),
    "N >= 2 and <= 5": AllOf((Comparison("<=", 2, N), Comparison("<=", N, 5))),
    "N is even and M is an odd number": AllOf((Comparison("==", modulo(N, 2), 0), Comparison("==", modulo(M, 2), 1))),
    "N must be a multiple of 8": Comparison("==", modulo(N, 8), 0),
    "M divisible by N": Comparison("==", modulo(M, N), 0),
    "N should be at most M": Comparison("<=", N, M),
    "N is not equal to M": Comparison("!=", N, M),
    "~(N == 1) | (M == N)": AnyOf((Comparison("!=", N, 1), Comparison("==", M, N))),
}


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_read(text):
    assert parse_formula(text) == FORMULAS[text]


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("b c 3", "einops", (symbol("b"), symbol("c"), 3)),
        ("(h w) () 1", "einops", (symbol("h") * symbol("w"), 1, 1)),
        ("", "einops", ()),
        ("N+1 dim-1 rows=3", "jaxtyping", (N + 1, symbol("dim") - 1, 3)),
        ("", "jaxtyping", ()),
        ("tensor<2xf32>", "mlir", (2,)),
        ("N, 2", "default", (N, 2)),
    ],
)
def test_dialects(text, dialect, expected):
    assert parse_shape(text, dialect) == expected


BAD_SHAPES = [
    # text, message, what is marked
    ("N,,3", "unexpected ','; expected a dimension", (2, 3)),
    (",", "unexpected ','; expected a dimension", (0, 1)),
    ("(N, 3", "the text ends too early; expected ',' or ')'", (5, 5)),
    ("(N, 3]", "unexpected ']'; expected ',' or ')'", (5, 6)),
    ("N, 3)", "unexpected ')'; expected ',' or the end", (4, 5)),
    ("(N,) + 1", "unexpected '+'; expected the end", (5, 6)),
    ("N M", "unexpected 'M'; expected ',' or the end", (2, 3)),
    ("lambda x: x", "unexpected 'x'; expected ',' or the end", (7, 8)),
    ("2N", "unexpected 'N' after a number; expected '*' between them", (1, 2)),
    ("[N, [3]]", "unexpected '['; expected a dimension", (4, 5)),
    ("N $", "unexpected character '$'", (2, 3)),
    ("N == 1", "a relation is not a size", (2, 3)),
    ("N=3", "a relation is not a size", (1, 2)),
    ("..., N, ...", "a shape has one sequence of axes ('...', '*name'); expected sizes and names", (8, 11)),
    ("2*(*batch), 3", "a sequence of axes is not a size; expected '*name' by itself, or broadcast(*a, *b)", (0, 10)),
    ("* , 3", "unexpected ','; expected a dimension", (2, 3)),
    ("*batch[:2]", "unexpected '['; expected ',' or the end", (6, 7)),
    ("broadcast(*a, N)", "a sequence of axes is not a size", (0, 16)),
    ("tensor<*x3xf32>", "this is not an MLIR tensor type", (9, 15)),
    ("tensor<2x", "expected an element type such as 'f32' and '>'", (9, 10)),
    ("foo(N)", "there is no function 'foo'; expected one of min, max, mod, floordiv, broadcast", (0, 3)),
    ("__import__('os')", "there is no function '__import__'", (0, 10)),
    ("min()", "unexpected ')'; expected a dimension", (4, 5)),
    ("mod(N)", "'mod' takes 2 dimensions, not 1", (0, 6)),
    ("broadcast(2, 3)", "sizes 2 and 3 differ and neither is 1", (0, 15)),
    ("N/2", "expected '//' for floor division", (1, 2)),
    ("N//0", "division by zero; expected a divisor other than 0", (3, 4)),
    ("N % (M - M)", "division by zero", (4, 11)),
    ("mod(N, 0)", "division by zero", (7, 8)),
    ("2.5", "sizes are whole numbers; 2.5 is not", (0, 3)),
    ("3, -3", "a size is not negative; expected 0 or more, or '?' for an unknown size", (3, 5)),
    ("1 - 2", "a size is not negative", (0, 5)),
    ("9223372036854775808", "a size is at most 2**63 - 1", (0, 19)),
    ("9" * 5000, "a size is at most 2**63 - 1", (0, 5000)),
    ("2**15 * 2**16 * 2**16 * 2**16", "a size is at most 2**63 - 1", (0, 29)),
    ("5..2", "the lower bound 5 is above the upper bound 2", (0, 4)),
    ("2..N", "unexpected 'N'; expected a number, ',' or the end", (3, 4)),
    ("..", "the text ends too early; expected a number", (2, 2)),
    ("?0:1..2, ?0:1..3", "?0 has two different bounds", (9, 16)),
    ("''", "a name is not empty", (0, 2)),
    ("N, 'abc", "a quote that is not closed", (3, 4)),
    ("N**17", "an exponent is at most 16", (3, 5)),
    ("N**-1", "unexpected '-'; expected a number", (3, 4)),
    ("((N**16)**16)**2", "nested exponents multiply to more than 256", (15, 16)),
]


@pytest.mark.parametrize(("text", "message", "span"), BAD_SHAPES, ids=[b[0][:20] for b in BAD_SHAPES])
def test_bad_shapes_say_what_and_where(text, message, span):
    with pytest.raises(ShapeSyntaxError) as caught:
        parse_shape(text)
    assert message in str(caught.value)
    assert (caught.value.source, caught.value.span) == (text, span)


BAD_FORMULAS = [
    ("", "the text is empty; expected a relation such as 'N >= 2'", (0, 0)),
    ("N", "the text ends too early; expected a relation such as 'N >= 2'", (1, 1)),
    ("N = 3", "a single '='; expected '==' for equality", (2, 3)),
    ("N ==", "the text ends too early; expected a dimension", (4, 4)),
    ("N and M == 1", "unexpected 'and'; expected a relation such as 'N >= 2'", (2, 5)),
    ("and == 2", "unexpected 'and'; expected a relation such as 'N >= 2'", (0, 3)),
    ("N == 1 or", "the text ends too early; expected a relation such as 'N >= 2'", (9, 9)),
    ("N == 1 & M == 2", "unexpected '&'; expected 'and'", (7, 8)),
    ("compatible(N, M) == 1", "unexpected '=='; expected 'and', 'or' or the end", (17, 19)),
    ("(N == 1", "the text ends too early; expected ')'", (7, 7)),
    ("N == 1)", "unexpected ')'; expected the end", (6, 7)),
    ("foo(N) == 1", "there is no function 'foo'; expected one of min", (0, 3)),
]


@pytest.mark.parametrize(("text", "message", "span"), BAD_FORMULAS, ids=[b[0] for b in BAD_FORMULAS])
def test_bad_formulas_say_what_and_where(text, message, span):
    with pytest.raises(ShapeSyntaxError) as caught:
        parse_formula(text)
    assert message in str(caught.value)
    assert (caught.value.source, caught.value.span) == (text, span)


@pytest.mark.parametrize(
    ("text", "dialect", "message", "span"),
    [
        ("a (... b)", "einops", "an ellipsis in brackets is not an axis", (3, 6)),
        ("a (b", "einops", "the text ends too early; expected a name, a number or ')'", (4, 4)),
        ("a, b", "einops", "unexpected ','", (1, 2)),
        ("a ²", "einops", "unexpected '²'; expected a name, a number", (2, 3)),
        ("3² b", "einops", "unexpected '3²'; expected a name, a number", (0, 2)),
        ("b 12a", "einops", "unexpected '12a'; expected a name, a number", (2, 5)),
        ("*#batch c", "jaxtyping", "axes that may broadcast ('*#name') are not supported", (0, 7)),
        ("... b ...", "jaxtyping", "a shape has one sequence of axes", (6, 9)),
        ("b #c", "jaxtyping", "'#name'", (2, 4)),
        ("b ?c", "jaxtyping", "'?name'", (2, 4)),
        ("b c+", "jaxtyping", "expected a dimension", (4, 4)),
        ("b rows=3*", "jaxtyping", "a relation is not a size", (6, 7)),
        ("2, 3", "mlir", "this is not an MLIR tensor type", (0, 1)),
        ("tensor<?x?xf32, #stablehlo.bounds<10>>", "mlir", "the number of bounds is 1, of sizes 2", (34, 36)),
        ("tensor<?x3xf32, #stablehlo.bounds<?, 3>>", "mlir", "the size 3 is fixed and has a bound", (34, 38)),
        ("tensor<?xf32, #stablehlo.bounds<n>>", "mlir", "'n' is not a bound; expected a number, or '?'", (32, 33)),
        ("memref<?xf32", "mlir", "expected an element type such as 'f32' and '>'", (9, 12)),
        (
            "vector<4xf32>",
            "default",
            "MLIR type 'vector' is not supported; expected tensor<...> or memref<...>",
            (0, 6),
        ),
        ("N", "onnx", "there is no dialect 'onnx'; expected one of default, mlir, einops, jaxtyping", (0, 4)),
    ],
)
def test_bad_text_of_a_dialect(text, dialect, message, span):
    with pytest.raises(ShapeSyntaxError) as caught:
        parse_shape(text, dialect)
    assert message in str(caught.value)
    assert caught.value.span == span


SLIPS = {
    parse_shape: {
        "N^2": "N**2",
        "N\u00b2": "N**2",
        "2N": "2*N",
        "2(N + 1)": "2*(N + 1)",
        "(N)(M)": "N*M",
        "N/2": "",
        "4N/2": "2*N",
        "2x3x?": "2, 3, ?",
        "N x 3": "N, 3",
        "3\u00d7224\u00d7224": "3, 224, 224",
        "N, 2\u00d73": "N, 2*3",
        "N M 3": "N, M, 3",
        "[N 3]": "[N, 3]",
        "[N, 3": "[N, 3]",
        "N, 3)": "(N, 3)",
        "{N, 3}": "(N, 3)",
        "N\uff0c3": "N, 3",
        "N; 3": "N, 3",
        "\u22121, 3": "-1, 3",
        "\u201cN, 3\u201d": "N, 3",
        "[:, 3]": "[?, 3]",
        "2:5, 3": "",
        "2..\u221e": "2..",
        "3.0, N": "3, N",
        "1_000": "1000",
        "f32[2, 3]{1,0}": "[2, 3]",
        "torch.Size([2, 3])": "[2, 3]",
        "!torch.vtensor<[2,?],f32>": "[2, ?]",
        "vector<2x3xf32>": "tensor<2x3xf32>",
        "N $": "",
        "N > 2": "",
        "1e3": "",
        "'a b' 'c^2' $": "",
    },
    parse_formula: {
        "N => 2": "N >= 2",
        "N =< 2": "N <= 2",
        "N = 2": "N == 2",
        "N > = 2": "N >= 2",
        "N === 2": "N == 2",
        "N <> 2": "N != 2",
        "N \u2265 2": "N >= 2",
        "\u00ac(N = 2) \u2228 M \u2260 3": "N != 2 or M != 3",
        "!(N == 2)": "N != 2",
        "N >= 2, M >= 3": "N >= 2 and M >= 3",
        "min(N, M) = 2; K = 3": "min(N, M) == 2 and K == 3",
        "N >= 2 && M = 3": "N >= 2 and M == 3",
        "N >= 2 OR M >= 3": "N >= 2 or M >= 3",
        "N == 8k": "N == 8*k",
        "N^2 = 4": "N**2 == 4",
        "'N = 2' = 4": "'N = 2' == 4",
        "N": "",
        "!N": "",
        "N > 2 M < 3": "",
    },
}


@pytest.mark.parametrize(
    ("parse", "text", "correction"), [(parse, *slip) for parse, slips in SLIPS.items() for slip in slips.items()]
)
def test_a_slip_is_told_with_what_to_write(parse, text, correction):
    with pytest.raises(ShapeSyntaxError) as caught:
        parse(text)
    assert caught.value.correction == correction
    assert (f"; write {correction}\n" in str(caught.value)) == bool(correction)
    if correction:
        parse(correction)


@pytest.mark.parametrize(("text", "relation"), [("N=3", "N == 3"), ("N, (M<K<3)", "M < K < 3"), ("!N", "N >= 2")])
def test_a_relation_among_sizes_is_told_where_it_goes(text, relation):
    with pytest.raises(ShapeSyntaxError, match=f'--assume "{relation}" in a command'):
        parse_shape(text)


def test_a_name_with_a_raised_digit_is_quoted():
    (size,) = parse_shape("'N\u00b2'")
    assert str(size) == "'N\u00b2'"


@pytest.mark.parametrize("text", ["?, 3, -1, None", "tensor<?x3x?x?xf32>"])
def test_unknowns_are_fresh_on_every_call(text):
    first, second = parse_shape(text), parse_shape(text)
    unknowns = [d for d in (*first, *second) if d != 3]
    assert len(set(unknowns)) == 6
    assert [u.name for u in unknowns] == ["?0", "?1", "?2"] * 2


@pytest.mark.parametrize(
    ("text", "dialect"), [("_", "jaxtyping"), ("_rest", "jaxtyping"), ("..7", None), ("(-1)", None)]
)
def test_other_ways_to_write_an_unknown(text, dialect):
    (dim,) = parse_shape(text, dialect)
    assert isinstance(dim, Unknown)


@pytest.mark.parametrize(
    "extension",
    [
        "#stablehlo.bounds<?, 10, ?>",
        "#stablehlo.type_extensions<bounds = [?, 10, ?]>",
        "#mhlo.type_extensions<bounds = [-1, 10, -1]>",
        "#vhlo.type_extensions_v1<bounds = [?, 10, ?]>",
    ],
)
def test_bounds_of_stablehlo_are_those_of_unknowns(extension):
    free, bounded, size = parse_shape(f"tensor<?x?x3xf32, {extension}>")
    assert (free.lower, free.upper, bounded.lower, bounded.upper, size) == (0, None, 0, 10, 3)


def test_bounds_and_labels():
    low, high, both, bare = parse_shape("2.., ..5, 2..5, ?")
    assert [(u.lower, u.upper) for u in (low, high, both, bare)] == [(2, None), (0, 5), (2, 5), (0, None)]
    first, second, third = parse_shape("?a + 1, ?a:2..5, ?")
    assert first == second + 1
    assert (second.name, second.lower, second.upper) == ("?a", 2, 5)
    assert third not in (first, second)
    assert parse_shape("?, ?0")[0].name == "?1"


def test_unknowns_in_arithmetic_and_formulas():
    sum_of_two = parse_dim("? + ?")
    assert len(sum_of_two.symbols()) == 2
    assert value_of(parse_dim("?a - ?a")) == 0 and len(parse_dim("?a - ?a").symbols()) == 1
    first, second = parse_formula("?0 >= 2"), parse_formula("?0 >= 2")
    assert first != second
    both = parse_formula("?0 >= 2 and ?0 < 5")
    assert both.parts[0].right == both.parts[1].left


LONG = {
    "characters": "N," * 50_000,
    "brackets": "(" * 9_990 + "N" + ")" * 9_990,
    "open brackets": "(" * 19_000,
    "brackets among quotes": "'(', " * 100 + "(" * 101,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_too_much_text_is_refused_at_once(text):
    parse_dim("N")
    with calls() as steps, pytest.raises(ShapeSyntaxError, match=r"longer than 20,000|more than 100 deep") as caught:
        parse_shape(text)
    assert steps.count < 5 * len(text)
    assert len(str(caught.value)) < 400


NAMES = [f"a{i}" for i in range(1_500)]
WIDE = {
    "minuses": "-" * 19_998 + "N",
    "one name": "N+" * 9_999 + "N",
    "sum": "+".join(NAMES),
    "product": "*".join(NAMES),
    "unknowns": "?," * 9_999,
    "max": f"max({','.join(NAMES)})",
    "nested sums": "(" * 99 + "N" + "*M+1)" * 99,
    "dimensions": ",".join(NAMES),
}


@pytest.mark.parametrize("text", WIDE.values(), ids=WIDE)
def test_wide_text_is_read_in_few_steps(text):
    parse_shape("N")
    with calls() as steps:
        parse_shape(text)
    assert steps.count < 10_000_000


def test_many_escaped_quotes_are_refused_at_once():
    with calls() as steps, pytest.raises(ShapeSyntaxError, match="a quote that is not closed"):
        parse_shape("'" + "\\'" * 9_000)
    assert steps.count < 9_000


@pytest.mark.parametrize("text", ["N" + "//2" * 40, "max(N, M + " * 40 + "1" + ")" * 40])
def test_divisions_and_functions_nest_to_a_limit(text):
    with pytest.raises(ShapeSyntaxError, match="nest more than 32 deep"):
        parse_shape(text)


@given(st.text(max_size=40) | st.text("N?(),.:*/%-+'= 123axmin", max_size=40))
@settings(max_examples=300, deadline=None)
@example("\x00")
@example("²")
def test_any_text_is_read_or_refused(text):
    for parse in (parse_shape, parse_dim, parse_formula):
        try:
            parse(text)
        except ShapeSyntaxError as error:
            start, stop = error.span
            assert 0 <= start <= stop <= len(text) + 1
            assert str(error)


DIVISORS = st.sampled_from(["2", "3", "4", "6", "-2", "-3", "N", "M"])
TEXTS = st.recursive(
    st.sampled_from(["N", "M", "0", "1", "2", "3", "4", "6"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(["//", "%"]), DIVISORS | inner),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
        st.builds("(-{})".format, inner),
    ),
    max_leaves=8,
)


@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")  # it overlooks `inner`
@given(TEXTS)
@settings(max_examples=300, deadline=None)
@example("(M * (N % 4)) % 3")
@example("(2 * M * (N % 3)) % 3")
@example("(-N) % (2*N)")
@example("max(2*N, 4) // 6")
@example("max(2*N, 4) % 6")
@example("max(min(M, 2), min(M, 3))")
def test_dimensions_mean_what_python_says(text):
    # Within a formula a value may be negative, so the arithmetic is seen as it is.
    try:
        dim = parse_formula(f"{text} == 0").left
    except ShapeSyntaxError as error:
        assert "division by zero" in str(error)
        return
    code = compile(text, "text", "eval")
    for n, m in itertools.product(range(8), repeat=2):
        try:
            expected = eval(code, {"N": n, "M": m, "min": min, "max": max})
        except ZeroDivisionError:
            continue
        assert replace_symbols(dim, {N: n, M: m}) == expected
