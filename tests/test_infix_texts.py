"""Infix texts, which are read without the grammar, mean what the grammar says of them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symbcast.core.text import grammar, infix, parser
from symbcast.core.text.corrections import SyntaxFault
from symbcast.errors import DimensionError

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
).map(lambda found: found[0].format(found[1]))


def by_grammar(start, text):
    """Return what the grammar makes of a text, None where it refuses it."""
    try:
        found = grammar.run_grammar(start, text)
        if start == "formula":
            return found
        return tuple(grammar._checked(placed) for placed in (found if start == "shape" else [found]))
    except (SyntaxFault, DimensionError):
        return None


@given(formulas)
@example("2 <= N < 5 and N != 3 or M == 7")
@example("N % 0 == 1")
@example("3")
@example("N or M == 2")
@example("N == 1  or  M == 2")
@example("(N == 1 and M == 2) or (M == 3)")
@example("(N == 1 or M == 2) or K == 3")
@example("(N) == 1 or M == 2")
@example("not (N + 1)//2 == M and compatible(N, 2*M,)")
@example("(N + 1 == (M)) == 2")
@example("N - N == 0")
def test_relations(text):
    found = infix.infix_formula(text)
    assert found is None or found == by_grammar("formula", text)


@given(shapes)
@example("*x, N")
@example("N, *a.b")
@example("(*x, N + 1)")
@example("*x, *y")
@example("*None, 1")
@example("*x[:-1], 2")
@example("*8, 1")
@example("**x, *")
@example("N*, M +")
@example("N % 2, 3")
@example("N - 1,")
@example("(N + 1)*(M, 3)")
@example("(N), (M)")
@example("(N//M)*(M//N) - N//M, N//M*0, (M//N)//(N//M)")
@example("broadcast(N, M) - broadcast(N, M), broadcast(2, 3), broadcast(N, N)")
@example("(N**2)**3, N**16, N**2**2, -N**2")
@example("min(N, 1)*N, max(N, 0), min(N, N + M)")
def test_shapes(text):
    found = infix.infix_shape(text)
    assert found is None or found == by_grammar("shape", text)


@given(dims)
@example("N * 0")
@example("N % 1")
@example("N, M")
@example("[N]")
@example("(N,)")
def test_dimensions(text):
    found = infix.infix_dim(text)
    assert found is None or (found,) == by_grammar("dim", text)


READ = {
    infix.infix_formula: [
        "N >= 2",
        "N % 8 == 0",
        "T == S + 1",
        "N==7 or N==14",
        "1 <= a < 9",
        "not (N//2)*2 == M or a.b > 1",
    ],
    infix.infix_shape: ["N + 1, 3", "2", "H // 2,W // 2", "(2*N + 1, max(N, M), N//M)", "*batch, N", "[N, (a - b)**2]"],
    infix.infix_dim: ["(N + 3)//4*4", "mod(N, 8)", "broadcast(N, 2*M)", "-N + M"],
}


@pytest.mark.parametrize("read", READ)
def test_common_texts_do_not_take_the_grammar(read):
    assert all(read(text) is not None for text in READ[read])


@pytest.mark.parametrize("number", ["0", "7", "007", "9" * 18, "9" * 19])
@pytest.mark.parametrize("operator", [">=", ">", "<=", "<", "==", "!=", "=>"])
@pytest.mark.parametrize("name", ["N", "batch_1", "_", "not", "None", "rank", "min", "é", "a.b"])
def test_plain_bounds_are_what_the_grammar_reads(name, operator, number):
    text = f"{name} {operator} {number}"
    found = parser.plain_bound(text)
    assert found is None or found == by_grammar("formula", text)
