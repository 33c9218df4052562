"""Verdicts and conditions found before a question is read in full equal those of the solver, and brute force."""

from itertools import product

import pytest
import sympy
from hypothesis import assume, example, given
from hypothesis import strategies as st
from sympy.core.sorting import default_sort_key

import symbcast as sb
from symbcast.core.algebra.formulas import Comparison, any_of, equal
from symbcast.core.algebra.sympy_conversion import formula_to_sympy
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.verdicts import Verdict

NAMES = "abcd"
RULES = [
    ("numpy", {}),
    ("none", {}),
    ("unidirectional", {}),
    ("bidirectional", {}),
    ("pdpd", {}),
    ("pdpd", {"axis": 1}),
    ("pdpd", {"flavour": "openvino"}),
    ("pdpd", {"axis": 1, "flavour": "paddle"}),
    ("onnx-legacy", {}),
    ("onnx-legacy", {"broadcast": 1, "flavour": "openvino", "axis": -3}),
    ("paddle", {"min_rank": 1}),
    ("static", {}),
    ("tosa", {}),
]
names = st.sampled_from(NAMES)
sizes = st.one_of(
    names,
    names,
    st.sampled_from(["1", "1", "0", "2", "3"]),
    st.sampled_from(["a//2*2", "2*b + 1", "(a + 3)//4", "a//4 + 1", "a - b", "a % 3", "max(a, b)", "a*b", "a//b"]),
)
shapes = st.lists(sizes, max_size=3).map(lambda found: ", ".join(found) or "()")
relations = st.one_of(
    st.tuples(names, st.sampled_from([">=", ">=", "==", "!=", "<="]), st.sampled_from("0123")).map(" ".join),
    st.tuples(names, st.sampled_from(["==", "<", "!="]), names).map(" ".join),
)


def asked(rule, operands, relations=(), min_size=0):
    """Return the answer, skipping questions that are refused as wrong input."""
    name, attributes = rule
    try:
        return sb.broadcast(*operands, rule=name, assume=list(relations), min_size=min_size, **attributes)
    except sb.SymbcastError:
        assume(False)


def by_solver(result):
    """Return the same answer with everything left to the solver."""
    call = plain_answer(result)
    call._points = None
    return result


@given(
    st.sampled_from(RULES), st.lists(shapes, min_size=2, max_size=2), st.lists(relations, max_size=2), st.integers(0, 2)
)
@example(("unidirectional", {}), ["0, a", "a, a"], [], 1)
@example(("numpy", {}), ["a - b", "1"], [], 0)
@example(("numpy", {}), ["a, b", "b, 1"], ["a >= 2"], 0)
@example(("numpy", {}), ["a, b, c", "b, c, a"], ["a >= 2"], 0)
@example(("numpy", {}), ["a, b", "c, d"], ["b >= 3", "c >= 2"], 1)
@example(("numpy", {}), ["a, b", "c, 1"], ["a == c", "b >= 2"], 0)
@example(("numpy", {}), ["a, b", "c, 3"], ["c == a", "b == 3"], 1)
@example(("none", {}), ["a, b", "c, d"], ["a == b", "b == c", "c == d"], 0)
@example(("pdpd", {}), ["a, a//2", "b, c"], ["a == b", "c == a"], 0)
@example(("pdpd", {"axis": 1, "flavour": "paddle"}), ["a", "a, b"], ["a >= 0"], 0)
@example(("numpy", {}), ["a", "b"], ["2*a <= b"], 0)
@example(("none", {}), ["a, b", "b, a"], ["a == 3 - b"], 0)
def test_answers_do_not_depend_on_the_short_way(rule, operands, relations, min_size):
    short = asked(rule, operands, relations, min_size)
    long = by_solver(asked(rule, operands, relations, min_size))
    assert short.verdict is long.verdict
    assert short.clauses == long.clauses
    assert (str(short.condition), str(short.condition.sympy)) == (str(long.condition), str(long.condition.sympy))
    assert short.condition.symbols == long.condition.symbols
    assert (short.shape, short.witness()) == (long.shape, long.witness())


@given(
    st.lists(st.one_of(names, st.sampled_from(["1", "2", "*x", "*y"])), min_size=1, max_size=3),
    st.lists(st.sampled_from(["a >= 2", "a == 3", "a != 1", "a == 2*a"]), max_size=1),
)
@example(["*x", "b"], ["a == b"])
@example(["*x", "b"], ["a == 2*b"])
def test_sequences_do_not_depend_on_the_short_way(dims, relations):
    operands = [", ".join(dims), "a, 1"]
    short, long = asked(("numpy", {}), operands, relations), by_solver(asked(("numpy", {}), operands, relations))
    assert (short.verdict, short.clauses, short.shape) == (long.verdict, long.clauses, long.shape)


def test_no_assumptions_in_a_list_are_no_assumptions():
    assert plain_answer(sb.broadcast("a, b", "b, 1", assume=[], min_size=0)).is_plain


@given(st.sampled_from(RULES), st.lists(shapes, min_size=2, max_size=2))
def test_verdicts_hold_at_all_small_sizes(rule, operands):
    result = asked(rule, operands)
    assume(result.verdict in (Verdict.ALWAYS, Verdict.NEVER))
    found = [name for name in NAMES if any(str(s) == name for s in result.symbols)]
    guard = result.guard().function
    for at in product(range(4), repeat=len(found)):
        given_sizes = dict(zip(found, at, strict=True))
        try:
            result.evaluate(given_sizes)
        except sb.IncompatibleShapesError:
            assert result.verdict is Verdict.NEVER
        else:
            assert result.verdict is Verdict.ALWAYS
            assert guard(*(given_sizes[str(s)] for s in result.symbols))


@pytest.mark.parametrize("operator", ["==", "!=", "<=", "<"])
def test_relations_are_what_sympy_evaluates(operator):
    (n, m) = sb.shape("N, M").dims
    made = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Le, "<": sympy.Lt}[operator]
    turned = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Ge, "<": sympy.Gt}[operator]
    N, M = sb.symbol("N"), sb.symbol("M")
    assert formula_to_sympy(Comparison(operator, n, m)) == made(N, M)
    for size in range(4):
        assert formula_to_sympy(Comparison(operator, n, size)) == made(N, size)
        assert formula_to_sympy(Comparison(operator, size, n)) == turned(N, size)


@given(st.lists(st.tuples(names, st.one_of(names, st.integers(0, 12))), min_size=2, max_size=6, unique=True))
def test_alternatives_are_in_the_order_of_sympy(pairs):
    dims = dict(zip(NAMES, sb.shape(", ".join(NAMES)).dims, strict=True))
    parts = [equal(dims[a], dims.get(b, b)) for a, b in pairs if a != b]
    assume(len(parts) > 1)
    assert list(formula_to_sympy(any_of(parts)).args) == sorted(map(formula_to_sympy, parts), key=default_sort_key)


@given(st.lists(st.lists(st.sampled_from("abcdefgh23"), min_size=3, max_size=6), min_size=2, max_size=5))
def test_conjunctions_are_in_the_order_of_sympy(shapes):
    made = sb.broadcast(*map(", ".join, shapes)).condition.sympy
    if isinstance(made, (sympy.And, sympy.Or)):
        assert made.args == type(made)(*made.args, evaluate=False).args == tuple(sympy.ordered(made.args))
        assert all(part.args == tuple(sympy.ordered(part.args)) for part in made.args if isinstance(part, sympy.Or))


def test_attributes_that_are_equal_but_refused():
    assert sb.broadcast("N, M", "M", rule="pdpd", axis=1).verdict is Verdict.ALWAYS
    with pytest.raises(sb.RuleArgumentError):
        sb.broadcast("N, M", "M", rule="pdpd", axis=True)
    assert sb.broadcast("N, M", "M", rule="pdpd", axis=1).rule is sb.broadcast("N", "M", rule="pdpd", axis=1).rule
