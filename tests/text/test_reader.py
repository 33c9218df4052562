"""The reader of texts: what is read, what is refused and where, and that what it writes reads back."""

# ruff: noqa: E501 - recorded messages

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symbcast.core.algebra.symbols import Unknown
from symbcast.core.text import notation, parse_formula, parse_shape, reader
from symbcast.core.text.notation import formula_text, shape_text
from symbcast.core.text.tokens import SyntaxFault
from symbcast.errors import DimensionError, ShapeSyntaxError

words = st.sampled_from(
    [
        "N",
        "M",
        "_",
        "*x",
        "batch_1",
        "min",
        "mod",
        "None",
        "or",
        "broadcast",
        "compatible",
        "True",
        "lambda",
        "é",
        "a.b",
        "?",
    ]
)
numbers = st.sampled_from(
    ["0", "1", "2", "7", "007", "65536", "9223372036854775807", "9223372036854775808", "-1", "1_0"]
)
spaces = st.sampled_from(["", "", " ", "  ", "\t", "\n"])
operators = st.sampled_from(["//", "%", "+", "-", "*", "**", "/", "..", "//-", "--"])
functions = st.sampled_from(["min", "max", "mod", "floordiv", "broadcast", "rank", "f"])


def larger(terms):
    return st.one_of(
        st.tuples(terms, spaces, operators, spaces, terms).map("".join),
        st.tuples(st.sampled_from(["(", "[", ""]), spaces, terms, st.sampled_from([")", "]", ""])).map("".join),
        st.tuples(functions, spaces, terms, terms).map("{0[0]}{0[1]}({0[2]}, {0[3]})".format),
        terms.map("({})".format),
    )


dims = st.recursive(st.one_of(words, numbers), larger, max_leaves=6)
links = st.tuples(
    spaces, st.sampled_from(["==", "!=", "<=", ">=", "<", ">", "=", "=<", " and ", " or ", " and not "]), spaces
).map("".join)
relations = st.tuples(dims, st.lists(st.tuples(links, dims).map("".join), max_size=3).map("".join)).map("".join)
formulas = st.recursive(
    st.one_of(relations, st.tuples(dims, dims).map("compatible({0[0]}, {0[1]})".format)),
    lambda parts: st.one_of(
        st.tuples(parts, st.sampled_from([" and ", " or ", " "]), parts).map("".join),
        st.sampled_from(["({})", "not {}", "not ({})", "(({}))"]).flatmap(lambda form: parts.map(form.format)),
    ),
    max_leaves=4,
)
shapes = st.tuples(
    st.sampled_from(["{}", "({})", "[{}]", "{},", "({},)", "({}"]),
    st.lists(st.tuples(spaces, dims, spaces).map("".join), min_size=1, max_size=4).map(",".join),
).map(lambda pair: pair[0].format(pair[1]))


def answer(parse, write, text):
    """Return what is read, or the problem, what is expected, the characters at fault and the correction."""
    try:
        return write(parse(text))
    except ShapeSyntaxError as error:
        start, stop = error.span
        correction = f"; write {error.correction}" if error.correction else ""
        return f"{error.problem}; {error.expected}; {start}-{stop}{correction}"


# Recorded with an LALR parser of the same grammar: brackets, commas, words and quotes in all places where they matter.
SHAPES = {
    "(N), (M)": "(N, M)",
    "(N + 1)*(M, 3)": "unexpected ','; ')'; 10-11",
    "(N, 3": "the text ends too early; ',' or ')'; 5-5; write (N, 3)",
    "[N, 3": "the text ends too early; ']'; 5-5; write [N, 3]",
    "N, 3]": "unexpected ']'; the end; 4-5; write [N, 3]",
    "(N 3)": "unexpected '3'; ',' or ')'; 3-4; write (N, 3)",
    "((N), 3)": "(N, 3)",
    "(2..5)": "(2..5,)",
    "(2..5)*2": "unexpected '*'; the end; 6-7",
    "(?a:2..5)*2": "(2*(?a:2..5),)",
    "?a:2..5, ?a": "(?a:2..5, ?a)",
    "?a:2..5, ?a:3..4": "?a has two different bounds; ; 9-16",
    "2.. x": "unexpected 'x'; a number, ',' or the end; 4-5; write 2.., x",
    "..x": "unexpected 'x'; a number; 2-3",
    "2..": "(2..,)",
    "?a 3": "unexpected '3'; ':', ',' or the end; 3-4; write ?a, 3",
    "min(?a 3, 2)": "unexpected '3'; ',' or ')'; 7-8",
    "*x, *y": "a shape has one sequence of axes ('...', '*name'); sizes and names; 4-6",
    "*None, 1": "unexpected 'None'; a dimension; 1-5",
    "*x[:-1], 2": "(*x[:-1], 2)",
    "x[:-1], 2": "unexpected 'x[:-1]'; a dimension; 0-6",
    "*x[-1]": "unexpected 'x[-1]'; a dimension; 1-6",
    "**x, *": "unexpected '**'; a dimension; 0-2",
    "N*, M +": "unexpected ','; a dimension; 2-3",
    "*8, 1": "unexpected '8'; a dimension; 1-2",
    "...0[:-2], 'a b'[-1]": "(...0[:-2], 'a b'[-1])",
    "*'a b'[:-1], N": "(*'a b'[:-1], N)",
    "rank(*x), rank(x), rank(...0)": "'rank' takes the name of a sequence of axes; 'rank(batch)' for the rank of '*batch'; 0-4",
    "-1, (-1), -(1)": "a size is not negative; 0 or more, or '?' for an unknown size; 10-14",
    "- 1, 2 - 3": "a size is not negative; 0 or more, or '?' for an unknown size; 5-10; write - 1, 2..3",
    "None, and, or, True, each, compatible": "(?, 'and', 'or', 'True', each, compatible)",
    "min, max(N), mod": "(min, N, mod)",
    "mod(N)": "'mod' takes 2 dimensions, not 1; ; 0-6",
    "f(N)": "there is no function 'f'; one of min, max, mod, floordiv, broadcast; 0-1",
    "2 f(N)": "unexpected 'f' after a number; '*' between them; 2-3",
    "N[0]": "unexpected '['; ',' or the end; 1-2",
    "N**2**2": "unexpected '**'; ',' or the end; 4-6",
    "N**M": "unexpected 'M'; a number; 3-4",
    "N**17": "an exponent is at most 16; ; 3-5",
    "((N**16)**16)**2": "nested exponents multiply to more than 256; ; 15-16",
    "min(N**16, 1)**16**1": "unexpected '**'; ',' or the end; 17-19",
    "N//0": "division by zero; a divisor other than 0; 3-4",
    "(N - N)//(M - M)": "division by zero; a divisor other than 0; 9-16",
    "(N//M)*0, K - K": "(0*(N//M), 0*K)",
    "x², N": "'²' is not allowed in a name; '**' for a power, or quotes; 1-2; write x**2, N",
    "'\\x41\\u00e9', ''": "a name is not empty; ; 14-16",
    "'a": "a quote that is not closed; ; 0-1",
    "N, $": "unexpected character '$'; ; 3-4",
    "N == 2, 3": "a relation is not a size; a size; to assume N == 2, add assume='N == 2' in Python, --assume \"N == 2\" in a command; 2-3",
    "2N, 3": "unexpected 'N' after a number; '*' between them; 1-2; write 2*N, 3",
    "batch size, 3": "a name has no spaces before 'size'; ',' or the end; 6-10; write batch_size, 3",
    "٣, N": "unexpected character '٣'; ; 0-1; write 3, N",
    "℘": "unexpected character '℘'; ; 0-1",
    "()": "()",
    "[]": "()",
    "(,)": "unexpected ','; a dimension; 1-2",
    ",": "unexpected ','; a dimension; 0-1",
    "(N,)": "(N,)",
    "N,,": "unexpected ','; a dimension; 2-3",
    "broadcast(*a, *b[:-1]), 3": "(broadcast(*a, *b[:-1]), 3)",
    "broadcast(2, 3)": "sizes 2 and 3 differ and neither is 1; ; 0-15",
    "*a + 1": "a sequence of axes is not a size; '*name' by itself, or broadcast(*a, *b); 0-6",
    "1..0": "the lower bound 1 is above the upper bound 0; ; 0-4",
    "9223372036854775808, 1": "a size is at most 2**63 - 1; a size that fits in 64 bits; 0-19",
    "007, 1_0": "unexpected '_0' after a number; '*' between them; 6-8; write 007, 10",
    "2..5 N": "unexpected 'N'; ',' or the end; 5-6; write 2..5, N",
    "(2..5, 3) + 1": "unexpected '+'; the end; 10-11",
    "a.b.c, a.1": "(a.b.c, a.1)",
}

FORMULAS = {
    "N": "the text ends too early; a relation such as 'N >= 2'; 1-1",
    "N or M == 2": "unexpected 'or'; a relation such as 'N >= 2'; 2-4; write N == 2 or M == 2",
    "(N) == 1 or M == 2": "N == 1 or M == 2",
    "(N 3) == 2": "unexpected '3'; a relation such as 'N >= 2' or ')'; 3-4",
    "(N 3 == 2)": "unexpected '3'; a relation such as 'N >= 2' or ')'; 3-4",
    "(N == 1": "the text ends too early; ')'; 7-7",
    "(N == 1 M": "unexpected 'M' after a number; '*' between them; 8-9",
    "(N + 1 == (M)) == 2": "unexpected '=='; 'and', 'or' or the end; 15-17",
    "not not N == 1": "N == 1",
    "not *a == *b": "a relation of all axes cannot be negated; a relation that holds on each axis, such as '*a != *b', or of one axis, such as 'a[-1] != 2'; 0-3",
    "not each(*a == *b)": "a relation of all axes cannot be negated; a relation that holds on each axis, such as '*a != *b', or of one axis, such as 'a[-1] != 2'; 0-3",
    "each(N == 1)": "this mentions no axes of a sequence; a sequence such as '*batch' in each(...); 0-12",
    "each(*a == *b or *a == 1)": "each(*a == *b or *a == 1)",
    "each (N": "the text ends too early; a relation such as 'N >= 2'; 7-7",
    "compatible(N, 2*M,)": "N == 2*M or N == 1 or 2*M == 1",
    "compatible(N, M) == 1": "unexpected '=='; 'and', 'or' or the end; 17-19",
    "compatible + 1 == each": "compatible + 1 == each",
    "(compatible + 1) == 2": "compatible + 1 == 2",
    "N == compatible(N, M)": "unexpected 'compatible'; a dimension; 5-15",
    "True and N == 1": "N == 1",
    "N == 3 or True": "True",
    "True (N)": "there is no function 'True'; one of min, max, mod, floordiv, broadcast; 0-4",
    "Max(N, 2) == M": "max(N, 2) == M",
    "N == Max(2)": "N == 2",
    "2*(Max(2)) == N": "4 == N",
    "N = 2": "a single '='; '==' for equality; 2-3; write N == 2",
    "N => 2": "there is no relation '=>'; '>='; 2-4; write N >= 2",
    "N == 2 & M == 3": "unexpected '&'; 'and'; 7-8; write N == 2 and M == 3",
    "2..5": "an assumption needs the name of a size; 2 <= N <= 5, for example; 0-4",
    "N[0] == 2": "a size has a name, and no index; a relation such as 'N >= 2'; 1-2",
    "N**0.5 == 2": "an exponent is a whole number; no roots of sizes, such as **0.5; ; 3-6",
    "3.5 == N": "7 == 2*N",
    "N! == 2": "N! is not a size; ; 1-2",
    "N == 1 and": "the text ends too early; a relation such as 'N >= 2'; 10-10",
    "and": "unexpected 'and'; a relation such as 'N >= 2'; 0-3",
    "not": "the text ends too early; a relation such as 'N >= 2'; 3-3",
    "(": "the text ends too early; a relation such as 'N >= 2'; 1-1",
    "not (N + 1)//2 == M": "(N + 1)//2 != M",
    "N - N == 0": "0*N == 0",
    "... == 2": "'...' names no sequence of axes; a label, such as '...0', or a name, as '*a'; 0-8",
    "*a + 1 == 2": "a sequence of axes is not a size; ; 0-11",
    "rank(a) >= 2": "rank(a) >= 2",
    "a[-1] == 2": "a[-1] == 2",
    "?a == ?b": "?a == ?b",
    "None == 2": "?0 == 2",
    "N == 'a b'": "N == 'a b'",
    "N % 0 == 1": "division by zero; a divisor other than 0; 4-5",
    "N == 1, M == 2": "unexpected ','; 'and', 'or' or the end; 6-7; write N == 1 and M == 2",
    "N <= -1": "N <= -1",
    "2 <= N < 5 != M": "N >= 2 and N < 5 and 5 != M",
    "(N == 1) (M == 2)": "unexpected '('; 'and', 'or' or the end; 9-10",
    "N 2 == 3": "unexpected '2'; a relation such as 'N >= 2'; 2-3",
    "(N, M == 2)": "unexpected ','; a relation such as 'N >= 2' or ')'; 2-3; write N == 2 and M == 2",
    "min(N, M == 2) == 1": "unexpected '=='; ',' or ')'; 9-11",
    "N == True": "unexpected 'True'; a dimension; 5-9",
}


@pytest.mark.parametrize("text", SHAPES)
def test_shapes_and_their_faults(text):
    assert answer(parse_shape, shape_text, text) == SHAPES[text]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_and_their_faults(text):
    assert answer(parse_formula, formula_text, text) == FORMULAS[text]


def read(parse, text):
    try:
        return parse(text)
    except (ShapeSyntaxError, SyntaxFault, DimensionError):
        return None


@given(formulas)
@example("2 <= N < 5 and N != 3 or M == 7")
@example("not (N + 1)//2 == M and compatible(N, 2*M,)")
@example("N - N == 0")
def test_formulas_are_written_as_they_are_read(text):
    formula = read(parse_formula, text)
    if formula is not None and "?" not in text and "None" not in text:
        # Written once, a formula has no alternatives twice: `compatible(N, N)` is `N == N or N == 1 or N == 1` at first.
        written = formula_text(parse_formula(formula_text(formula)))
        assert formula_text(parse_formula(written)) == written


@given(shapes)
@example("(*x, N + 1)")
@example("(N//M)*(M//N) - N//M, N//M*0, (M//N)//(N//M)")
@example("(N**2)**3, N**16, -N**2 + 1")
def test_shapes_are_written_as_they_are_read(text):
    shape = read(parse_shape, text)
    if shape is not None and not any(
        isinstance(s, Unknown) for dim in shape if not isinstance(dim, int) for s in dim.symbols()
    ):
        assert parse_shape(shape_text(shape)) == shape


@given(st.lists(words | numbers, min_size=1, max_size=3).map(", ".join))
def test_plain_shapes_are_what_the_reader_reads(text):
    plain = notation._plain_shape(text)
    assert plain is None or plain == reader.read_shape(text, 2**63 - 1).value


@pytest.mark.parametrize("number", ["0", "7", "007", "9" * 18, "9" * 19])
@pytest.mark.parametrize("operator", [">=", ">", "<=", "<", "==", "!=", "=>"])
@pytest.mark.parametrize("name", ["N", "batch_1", "_", "not", "None", "rank", "min", "é", "a.b"])
def test_plain_bounds_are_what_the_reader_reads(name, operator, number):
    text = f"{name} {operator} {number}"
    plain = notation.plain_bound(text)
    assert plain is None or plain == reader.read_formula(text).value
