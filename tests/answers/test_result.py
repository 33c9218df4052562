"""What a result says: the answers named when the library was begun, evidence, conflicts, and the doors for shapes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import sympy

import symbcast as sb
from symbcast.core.solver.f3_linear import z3_solver as smt

V = sb.Verdict


def valid_sizes(result, stop=40):
    """Return the sizes of a result's one symbol at which its condition holds."""
    test = result.guard().function
    return {size for size in range(stop) if test(size)}


EXACT = [
    (("2*N", "N"), {0, 1}, "N == 0 or N == 1"),
    (("N + 1", "N"), {0, 1}, "N == 0 or N == 1"),
    (("N//2", "N"), {0, 1, 2, 3}, "N <= 3"),
    (("N//2*2", "N"), {1, *range(0, 40, 2)}, "N == 1 or N % 2 == 0"),
    (("N, 3, N", "3, 3"), {1, 3}, "N == 1 or N == 3"),
    (("N", "3"), {1, 3}, "N == 1 or N == 3"),
    (("N", "0"), {0, 1}, "N == 0 or N == 1"),
    (("N**2", "4"), {1, 2}, "N == 1 or N == 2"),
    (("N % 3", "N"), {0, 1, 2, *range(1, 40, 3)}, None),
    (("N - 1", "N - 1"), set(range(1, 40)), "N >= 1"),
    (("12//N", "3"), {4, *range(7, 13)}, None),
]


@pytest.mark.parametrize(("shapes", "sizes", "text"), EXACT, ids=str)
def test_exact_sets_of_sizes(shapes, sizes, text):
    result = sb.broadcast(*shapes)
    assert valid_sizes(result) == sizes
    if text:
        assert str(sb.Condition(result)) == text
    assert result.certify()


def test_the_other_exact_answers():
    assert sb.broadcast("N", "3", assume="N % 8 == 0").verdict is V.NEVER
    both = sb.broadcast("N, 3", "M, 1", assume=["N >= 2", "M >= 2"])
    assert both.condition == sympy.Eq(sb.symbol("N"), sb.symbol("M"))
    assert both.shape == sb.shape("N, 3")
    assert sb.broadcast("N*M", "M*N").verdict is V.ALWAYS
    assert sb.broadcast((0,), (1,)).shape == (0,)
    assert sb.broadcast("N, C, H, W", "C", rule="pdpd", axis=1).verdict is V.ALWAYS
    assert sb.broadcast("C", "N, C, H, W", rule="explicit", axes=(1,)).verdict is V.ALWAYS
    assert sb.broadcast("3, 1", "2, 1, 6", rule="bidirectional").shape == (2, 3, 6)


def test_the_first_example():
    result = sb.broadcast("N, 3", "M, 1")
    N, M = sb.symbol("N"), sb.symbol("M")
    assert result.verdict is V.SOMETIMES
    assert str(result.shape) == "(broadcast(M, N), 3)"
    assert result.condition == sympy.Eq(N, M) | sympy.Eq(N, 1) | sympy.Eq(M, 1)
    assert result.witness() == {"N": 1, "M": 1}
    assert result.counterexample() == {"N": 2, "M": 3}
    assert result.conflict == ()
    assert [f.reason for f in result.findings] == ["on axis 0 (-2), sizes must be equal or 1"]


def test_facts_travel_across_axes_and_operands():
    assert str(sb.broadcast("N, M", "3, N", assume="N >= 2").condition) == "N == 3 and (M == 1 or M == 3)"
    chain = sb.broadcast("a, b, c", "b, c, a", "3, c, c", assume=["a != 1", "b != 1"])
    assert chain.shape == sb.shape("3, 3, 3")
    assert str(sb.Condition(chain)) == "a == 3 and b == 3 and (c == 1 or c == 3)"


def test_many_operands():
    names = [f"n{i}" for i in range(1000)]
    result = sb.broadcast(*[f"{name}, 2" for name in names])
    assert len(result.clauses) == 1
    assert result.condition.sympy.func.__name__ == "compatible"
    assert sum(result.counterexample().values()) == 998 + 2 + 3
    assert result.shape[1] == 2
    assert sb.broadcast(*[(1, 5)] * 999, (7, 1)).shape == (7, 5)


CONFLICTS = [
    (("N, 3", "N, 4"), {}, [(1, (0, 1))]),
    (("N, 3, N", "3, 3, 2", "1, 1, 1"), {"assume": "N >= 2"}, [(0, (0, 1, 2)), (2, (0, 1, 2))]),
    (("N, M, 3", "M, 3, N", "2, 1, N"), {"assume": ["N > 1", "M > 1"]}, None),
    (("2, 3", "2, 3, 4"), {"rule": "pdpd"}, [(None, (0, 1))]),
    (("a+b, a", "a+b+2, a"), {"assume": "a >= 2"}, [(0, (0, 1))]),
]


@pytest.mark.parametrize(("shapes", "options", "places"), CONFLICTS)
def test_conflicts_are_smallest(shapes, options, places):
    result = sb.broadcast(*shapes, **options)
    assert result.verdict is V.NEVER
    assert result.shape is None
    assert result.condition == sympy.false
    if places is not None:
        assert [(c.origin.axis, c.origin.operands) for c in result.conflict] == places
    assert result.certify()


def test_unknown_is_an_answer(monkeypatch):
    monkeypatch.setattr(smt, "RESOURCE_LIMIT", 1)
    result = sb.broadcast("2*a*a", "c*a + 1", rule="none", assume="c != 1", min_size=1)
    assert result.verdict is V.UNKNOWN
    assert "z3 reached its limit" in result.reason
    assert str(sb.Condition(result)) == "2*a**2 == a*c + 1"
    assert result.shape is not None
    assert "unknown" in repr(result)
    with pytest.raises(sb.UndecidedError, match="z3 reached its limit"):
        result.require()


def test_shapes_come_in_by_many_doors():
    N = sympy.Symbol("N")
    array = np.zeros((2, 3))
    assert sb.broadcast(array, "3").shape == (2, 3)
    assert sb.broadcast((np.int64(2), N), [1, "N"]).shape == (2, N)
    assert sb.broadcast((N, 3), "N, 1").symbols == (N,), "the user's own symbol is kept"
    assert sb.broadcast(("N", None), (N, -1)).verdict is V.SOMETIMES
    assert sb.broadcast("tensor<?x3xf32>", "3").verdict is V.ALWAYS
    assert sb.broadcast(sb.shape("b h", dialect="einops"), "h").verdict is V.ALWAYS


def test_assumptions_of_the_users_symbols_count():
    positive = sympy.Symbol("N", positive=True, integer=True)
    even = sympy.Symbol("E", even=True)
    assert sb.broadcast((positive,), "0").condition == sympy.Eq(positive, 1)
    assert sb.broadcast((even,), "3").verdict is V.NEVER
    mixed = sb.broadcast((sympy.Symbol("N"), positive), "N, 0")
    assert valid_sizes(mixed) - {0} == {1}, "one name is one size, and positive for both"
    assert mixed.witness() == {"N": 1}
    assert mixed.counterexample() == {"N": 2}


def test_dummies_of_one_name_are_two_sizes():
    first, second = sympy.Dummy("N"), sympy.Dummy("N")
    result = sb.broadcast((first,), (second,))
    assert result.verdict is V.SOMETIMES
    assert result.counterexample() == {"N": 2, "N_1": 3}


def test_unknowns():
    result = sb.broadcast("?, 2..5", "?, 3")
    assert str(sb.Condition(result)) == "(?0 == ?2 or ?0 == 1 or ?2 == 1) and ?1 == 3"
    assert result.evaluate({"?0": 4, "?1": 3, "?2": 1}) == (4, 3)
    shared = sb.shape("?, 3")
    assert sb.broadcast(shared, shared).verdict is V.ALWAYS


def test_sympy_relations_as_assumptions():
    N, M = sympy.symbols("N M")
    assert sb.broadcast((N,), (M,), assume=[N >= 2, sympy.Ge(M, 2)]).condition == sympy.Eq(N, M)
    assert sb.broadcast("N", "M", assume=sympy.Eq(N, M)).verdict is V.ALWAYS
    assert sb.broadcast((N,), (M,), assume=(N > 1) & (M > 1) | sympy.Eq(N, M)).shape == (N,)
    valid = sb.broadcast("N", "M").condition
    assert sb.broadcast("N", "M", assume=valid).verdict is V.ALWAYS


def test_conditions_are_sympy_booleans():
    N, M = sb.symbol("N"), sb.symbol("M")
    condition = sb.broadcast("N", "M").condition
    assert condition.subs({N: 2, M: 2}) == sympy.true
    assert (condition & sympy.Eq(N, 5)).subs({N: 5, M: 4}) == sympy.false
    assert (~condition).subs({N: 5, M: 4}) == sympy.true
    assert (condition >> sympy.Eq(N, M)).subs({N: 1, M: 4}) == sympy.false


def test_results_pickle_and_copy():
    for result in (sb.broadcast("N, 3", "?, 1", assume="N >= 2"), sb.broadcast((2,), (3,))):
        result.condition  # noqa: B018 - worked out before pickling, or not: the copy works it out again
        for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            assert repr(twin) == repr(result)
            assert twin.counterexample() == result.counterexample()


def test_import_is_light():
    """Neither the import nor a concrete question loads sympy, z3, numpy or what notebooks need."""
    program = """
        import sys
        import symbcast as sb
        assert sb.broadcast((8, 1, 6, 1), (7, 1, 5)).shape == (8, 7, 6, 5)
        assert sb.broadcast((3,), (4,)).verdict is sb.Verdict.NEVER
        libraries = {"sympy", "z3", "numpy", "rich", "argparse", "shtab"}
        notebooks = {"matplotlib", "IPython", "anywidget", "ipywidgets", "traitlets"}
        heavy = (libraries | notebooks) & set(sys.modules)
        assert not heavy, heavy
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_rules_are_listed():
    listed = {rule.name: rule for rule in sb.rules()}
    # The default comes first. `tests/rules/test_laws.py` holds this list against its rows, so that none is left out.
    assert next(iter(listed)) == "numpy" and len(listed) >= 9
    assert listed["numpy"].aliases == (
        "onnx", "onnx-multidirectional", "openvino-numpy", "torch", "jax", "tensorflow",
    )  # fmt: skip
    assert [p.name for p in listed["explicit"].parameters] == ["axes", "flavour"]
    assert all(rule.summary and rule.document for rule in listed.values())


@pytest.mark.parametrize("alias", [a for rule in sb.rules() for a in rule.aliases])
def test_aliases(alias):
    rule = next(rule.name for rule in sb.rules() if alias in rule.aliases)
    assert sb.broadcast("N, 1", "M, 3", rule=alias).condition == sb.broadcast("N, 1", "M, 3", rule=rule).condition


def test_labels_of_unknowns():
    """A label is one size throughout a call, and an assumption may speak of it."""
    assert sb.broadcast("?a", "?a").verdict is V.ALWAYS
    assert sb.broadcast("?, ?", "?").symbols[0].name == "?0"
    assert str(sb.Condition(sb.broadcast("?a", "3", assume="?a >= 2"))) == "?a == 3"
    assert str(sb.Condition(sb.broadcast("?, N", "3, 1", assume="?0 != 3"))) == "?0 == 1"
    assert sb.broadcast("?a:2..5", "?a").witness() == {"?a": 2}


def test_a_condition_as_an_assumption():
    valid = sb.Condition(sb.broadcast("N", "M"))
    assert sb.broadcast("N", "M", assume=valid).verdict is V.ALWAYS
    assert sb.broadcast("N", "M", assume=[~valid]).verdict is V.NEVER


def test_a_condition_is_not_forgotten_in_a_chain():
    first = sb.broadcast("N, M", "K", rule="pdpd")
    with pytest.raises(sb.ShapeTypeError, match=r"Condition\(a\) & Condition\(b\)"):
        sb.broadcast(first, "M", rule="pdpd")
    assert sb.broadcast(first.shape, "M", rule="pdpd").verdict is V.ALWAYS


def test_a_rule_does_not_change():
    result = sb.broadcast("N, C", "C", rule="pdpd")
    with pytest.raises(AttributeError, match="a rule is immutable"):
        result.rule.axis = 0
    assert sb.broadcast("N, C", "C", rule="pdpd").verdict is V.ALWAYS


def test_dummies_are_told_apart_in_text():
    first, second = sympy.Dummy("N"), sympy.Dummy("N")
    condition = sb.Condition(sb.broadcast((first,), (second,)))
    assert str(condition) == "N == N_1 or N == 1 or N_1 == 1"
    assert condition.guard()(N=4, N_1=4)
    assert sb.broadcast((first,), "3", assume="N >= 2").condition == sympy.Eq(first, 3)


def test_names_that_python_normalizes():
    assert sb.broadcast("µ", "3").evaluate(µ=3) == (3,)


class TextShape:
    shape = "N, 3"


def test_a_shape_that_is_text():
    assert sb.shape(TextShape()) == sb.shape("N, 3")


def test_a_condition_with_joins_can_be_evaluated_where_they_are_undefined():
    a, b = sb.symbol("a"), sb.symbol("b")
    for shapes, rule in ((("broadcast(a, b)", "2*a"), "none"), (("a", "broadcast(b, 2)"), "numpy")):
        result = sb.broadcast(*shapes, rule=rule)
        holds = result.condition.guard()
        for x in range(6):
            for y in range(6):
                sizes = {s: {a: x, b: y}[s] for s in result.symbols}
                assert bool(result.condition.subs(sizes)) is holds({s.name: v for s, v in sizes.items()})
        assert sb.broadcast(*shapes, rule=rule, assume=result.condition).verdict is V.ALWAYS
        assert pickle.loads(pickle.dumps(result.condition)) == result.condition
