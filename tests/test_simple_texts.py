"""Simple texts, which are read without the grammar, mean what the grammar says of them."""

from hypothesis import example, given
from hypothesis import strategies as st

from symbcast.core.text import parser, simple
from symbcast.core.text.faults import Fault

words = st.sampled_from(
    ["N", "M", "_", "batch_1", "min", "mod", "None", "or", "broadcast", "compatible", "é", "a.b", "?"]
)
numbers = st.sampled_from(["0", "1", "7", "007", "65536", "9223372036854775807", "9223372036854775808", "-1", "1_0"])
spaces = st.sampled_from(["", " ", "  ", "\t"])
dims = st.one_of(
    words,
    numbers,
    st.tuples(words, spaces, st.sampled_from(["//", "%", "+", "-", "*", "**", "/", ".."]), spaces, numbers).map(
        "".join
    ),
)
links = st.tuples(
    spaces, st.sampled_from(["==", "!=", "<=", ">=", "<", ">", "=", "=<", " and ", " or ", " not "]), spaces
)
formulas = st.tuples(dims, st.lists(st.tuples(links.map("".join), dims).map("".join), max_size=4).map("".join)).map(
    "".join
)
shapes = st.lists(st.tuples(spaces, dims, spaces).map("".join), min_size=1, max_size=4).map(",".join)


def by_grammar(start, text):
    """Return what the grammar makes of a text, None where it refuses it."""
    try:
        found = parser.run(start, text)
        if start == "formula":
            return found
        return tuple(parser._checked(placed) for placed in (found if start == "shape" else [found]))
    except Fault:
        return None


@given(formulas)
@example("2 <= N < 5 and N != 3 or M == 7")
@example("N % 0 == 1")
@example("3")
@example("N or M == 2")
@example("N == 1  or  M == 2")
@example("(N == 1 and M == 2) or (M == 3)")
@example("(N == 1) and (M == 2)")
@example("(N == 1 or M == 2) or K == 3")
@example("(N) == 1 or M == 2")
def test_relations(text):
    found = simple.simple_formula(text)
    assert found is None or found == by_grammar("formula", text)


@given(shapes)
@example("N % 2, 3")
@example("N - 1,")
def test_shapes(text):
    found = simple.simple_shape(text)
    assert found is None or found == by_grammar("shape", text)


@given(dims)
@example("N * 0")
@example("N % 1")
def test_dimensions(text):
    found = simple.simple_dim(text)
    assert found is None or (found,) == by_grammar("dim", text)


def test_the_simplest_are_read():
    assert all(map(simple.simple_formula, ["N >= 2", "N % 8 == 0", "T == S + 1", "N==7 or N==14", "1 <= a < 9"]))
    assert all(map(simple.simple_shape, ["N + 1, 3", "2", "H // 2,W // 2"]))
