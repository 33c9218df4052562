"""Bad input of every kind: an error of the hierarchy that says what was given, what is allowed, and what to write."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy

import symbcast as sb

N = sympy.Symbol("N", integer=True, nonnegative=True)
PAIR = ("N, 3", "M, 1")


class WithShape:
    shape = ("N", 2.5)


class WithOddShape:
    shape = 7


class WithBrokenIndex:
    def __index__(self):
        raise KeyError("rows")

    def __repr__(self):
        return "WithBrokenIndex()"


BAD_SHAPES = [
    (3, sb.ShapeTypeError, ["3 (int) is not a shape", "write text such as 'N, 3'"]),
    (None, sb.ShapeTypeError, ["None (NoneType) is not a shape"]),
    (object, sb.ShapeTypeError, ["is not a shape"]),
    ({"N": 1}, sb.ShapeTypeError, ["is not a shape"]),
    (N, sb.ShapeTypeError, ["N (Symbol) is not a shape"]),
    (WithOddShape(), sb.ShapeTypeError, ["its .shape is 7"]),
    (WithShape(), sb.DimensionError, ["2.5", "a size is an integer, not a float"]),
    ((2, -3), sb.DimensionError, ["-3: a size is not negative", "'?' for an unknown size"]),
    ((2.0, 3), sb.DimensionError, ["2.0: a size is an integer, not a float", "write 2"]),
    ((True, 3), sb.ShapeTypeError, ["True (bool) is not a dimension", "write 1 or 0"]),
    ((2, (3,)), sb.ShapeTypeError, ["(3,) (tuple) is not a dimension"]),
    ((2**63,), sb.DimensionError, ["9223372036854775808: a size is at most 2**63 - 1"]),
    ((10**9000,), sb.DimensionError, ["an integer of 29898 bits: a size is at most 2**63 - 1"]),
    ((N / 2,), sb.DimensionError, ["is not part of a dimension", "write // for a quotient rounded down"]),
    ((sympy.sin(N),), sb.DimensionError, ["sin is not part of a dimension"]),
    ((sympy.sqrt(N),), sb.DimensionError, ["the exponent 1/2"]),
    ((sympy.Symbol("N", negative=True),), sb.DimensionError, ["N is not a non-negative integer"]),
    ((sympy.Rational(5, 2),), sb.DimensionError, ["5/2"]),
    ((sympy.oo,), sb.DimensionError, ["is not part of a dimension"]),
    ((sympy.true,), sb.ShapeTypeError, ["is not a dimension"]),
    ((*np.array([[1.5]]).shape, np.float64(2.5)), sb.DimensionError, ["a size is an integer, not a float"]),
    ((WithBrokenIndex(), 3), sb.DimensionError, ["WithBrokenIndex(): its __index__ raised KeyError: 'rows'"]),
    ("N, -(1)", sb.ShapeSyntaxError, ["a size is not negative", "    N, -(1)\n       ^^^^"]),
    ("N, -(2)", sb.ShapeSyntaxError, ["a size is not negative", "    N, -(2)\n       ^^^^"]),
    ("N, ---1", sb.ShapeSyntaxError, ["a size is not negative"]),
    ("N, -3", sb.ShapeSyntaxError, ["a size is not negative", "    N, -3\n       ^^"]),
    ("N,, 3", sb.ShapeSyntaxError, ["expected", "    N,, 3\n      ^"]),
    ("N + , 3", sb.ShapeSyntaxError, ["^"]),
    ("2.5, N", sb.ShapeSyntaxError, ["^"]),
    ("(N, 3", sb.ShapeSyntaxError, ["')'"]),
    ("9223372036854775808", sb.ShapeSyntaxError, ["a size is at most 2**63 - 1"]),
    ("N/2", sb.ShapeSyntaxError, ["'//' for floor division"]),
    ("*, 3", sb.ShapeSyntaxError, ["expected a dimension"]),
    ("(" * 9_000 + "N" + ")" * 9_000, sb.ShapeSyntaxError, ["nest more than 100 deep"]),
    ("(" * 10_000 + "N" + ")" * 10_000, sb.ShapeSyntaxError, ["longer than 20,000 characters"]),
    ("N" * 100_000, sb.ShapeSyntaxError, ["longer than"]),
    ("__import__('os').system('true')", sb.ShapeSyntaxError, ["^"]),
]


@pytest.mark.parametrize(
    ("value", "error", "pieces"), BAD_SHAPES, ids=lambda v: str(v)[:30] if isinstance(v, str) else None
)
def test_bad_shapes(value, error, pieces):
    with pytest.raises(error) as caught:
        sb.broadcast(value)
    check_message(caught.value, pieces)


BAD_CALLS = [
    (
        {"rule": "nmpy"},
        sb.UnknownRuleError,
        ["there is no rule 'nmpy'", "did you mean 'numpy'?", "The rules are numpy"],
    ),
    ({"rule": None}, sb.UnknownRuleError, ["there is no rule None"]),
    ({"rule": "numpy", "axis": 1}, sb.RuleArgumentError, ["no attribute 'axis'; axis= is for pdpd and onnx-legacy"]),
    (
        {"rule": "pdpd(axis=1)"},
        sb.RuleArgumentError,
        ["given separately from its name", "write rule='pdpd' and axis=1"],
    ),
    ({"rule": "pdpd", "axes": 1}, sb.RuleArgumentError, ["has no attribute 'axes'", "did you mean axis=?"]),
    ({"asume": "N >= 2"}, sb.RuleArgumentError, ["broadcast has no argument asume=", "did you mean assume=?"]),
    ({"dialect": "einops"}, sb.RuleArgumentError, ["symbcast.shape(text, dialect=...)"]),
    ({"assume": {"N": 3}}, sb.ShapeTypeError, ["is not an assumption"]),
    ({"assume": "? >= 2"}, sb.AssumptionError, ["give it the same label"]),
    ({"assume": "?a >= 2"}, sb.AssumptionError, ["no size here is named ?a"]),
    ({"rule": "pdpd", "axis": 3}, sb.RuleArgumentError, ["axis=3 is past the end of A", "write an axis from 0 to 2"]),
    ({"rule": "pdpd", "axis": -2}, sb.RuleArgumentError, ["axis=-2 is negative"]),
    ({"rule": "pdpd", "axis": 1.0}, sb.RuleArgumentError, ["axis=1.0 is not an integer"]),
    ({"rule": "pdpd", "axis": "1"}, sb.RuleArgumentError, ["axis='1' is not an integer"]),
    (
        {"rule": "pdpd", "flavour": "tf"},
        sb.RuleArgumentError,
        ["flavour='tf' is not offered", "'document' or 'openvino'"],
    ),
    ({"rule": "explicit"}, sb.RuleArgumentError, ["needs axes="]),
    ({"rule": "explicit", "axes": (0,)}, sb.RuleArgumentError, ["names 1 axes for data of rank 2"]),
    ({"rule": "explicit", "axes": 0}, sb.RuleArgumentError, ["axes=0 is not a sequence"]),
    ({"rule": "explicit", "axes": (0, 2)}, sb.RuleArgumentError, ["axis 2 in axes=(0, 2)", "(0..1)"]),
    ({"rule": "explicit", "axes": (-1, 0)}, sb.RuleArgumentError, ["axis -1 in axes=(-1, 0)"]),
    ({"rule": "explicit", "axes": (1, 0)}, sb.RuleArgumentError, ["must be strictly increasing"]),
    ({"rule": "explicit", "axes": (0, 0)}, sb.RuleArgumentError, ["must be strictly increasing"]),
    ({"rule": "unidirectional", "keep": (5,)}, sb.RuleArgumentError, ["names axis 5 of a target of rank 2"]),
    ({"rule": "onnx-legacy", "broadcast": 2}, sb.RuleArgumentError, ["write broadcast=0 or 1"]),
    ({"rule": "onnx-legacy", "axis": "0"}, sb.RuleArgumentError, ["axis='0' is not an integer"]),
    ({"rule": "paddle", "min_rank": -1}, sb.RuleArgumentError, ["min_rank=-1 is negative"]),
    ({"min_size": -1}, sb.DimensionError, ["-1: a size is not negative"]),
    ({"min_size": "1"}, sb.ShapeTypeError, ["is not a least size"]),
    ({"assume": ["N >"]}, sb.ShapeSyntaxError, ["^"]),
    ({"assume": ["N = 2"]}, sb.ShapeSyntaxError, ["'=='"]),
    ({"assume": ["N"]}, sb.ShapeSyntaxError, ["a relation such as 'N >= 2'"]),
    ({"assume": 3}, sb.ShapeTypeError, ["3 (int) is not an assumption"]),
    ({"assume": [N]}, sb.ShapeTypeError, ["is not an assumption"]),
    ({"assume": ["N >= 5", "M >= 1", "N <= 3"]}, sb.AssumptionError, ["contradict each other: N >= 5, N <= 3"]),
    ({"assume": ["2*N == 3"]}, sb.AssumptionError, ["this assumption is never true: 2*N == 3"]),
    ({"assume": ["N == 0"], "min_size": 1}, sb.AssumptionError, ["N == 0, min_size=1"]),
    (
        {"assume": "n >= 2"},
        sb.AssumptionError,
        ["'n >= 2' mentions no size of these", "mean N? Their sizes are N and M"],
    ),
    ({"assume": ["N == 8*k", "j == 2"]}, sb.AssumptionError, ["'j == 2' mentions no size", "their sizes are N and M"]),
    ({"assume": ["K == 2*L", "L >= 2"]}, sb.AssumptionError, ["'K == 2*L' mentions no size of these shapes"]),
    ({"assume": ["N < M", "M < K", "K < N"]}, sb.AssumptionError, ["N < M, M < K, K < N"]),
]


@pytest.mark.parametrize(
    ("given", "error", "pieces"), BAD_CALLS, ids=lambda v: str(v)[:50] if isinstance(v, dict) else None
)
def test_bad_calls(given, error, pieces):
    with pytest.raises(error) as caught:
        sb.broadcast(*PAIR, **given)
    check_message(caught.value, pieces)


def test_an_assumption_is_about_sizes_that_the_shapes_reach():
    chain = ["j >= 2", "k == 2*j", "N == 8*k"]
    assert sb.broadcast("N", "1, 3", assume=chain).verdict is sb.Verdict.NEVER
    for assume in (sb.Condition("K >= 2"), sympy.Symbol("K", integer=True, nonnegative=True) >= 2, "True", "2 < 3"):
        assert sb.broadcast(*PAIR, assume=assume).verdict is sb.Verdict.SOMETIMES
    with pytest.raises(sb.AssumptionError, match="mentions no size of these shapes; all sizes are numbers"):
        sb.broadcast((2, 3), "3", assume="N >= 2")
    env = sb.ShapeEnv("K >= 2")
    env.assume("L >= 2")
    assert env.broadcast("K, L", "1, L") == sb.shape("K, L")


BAD_BINDINGS = [
    ({}, ["no size was given for N, M", "write evaluate(N=..., M=...)"]),
    ({"N": 1}, ["no size was given for M", "write evaluate(N=1, M=...)"]),
    ({"N": 1, "M": 1, "K": 1}, ["no size here is named 'K'", "the sizes are N, M"]),
    ({"N": 1, "MM": 1}, ["no size here is named 'MM'", "did you mean 'M'?"]),
    ({"N": -1, "M": 1}, ["N=-1 is not a size"]),
    ({"N": 1.5, "M": 1}, ["N=1.5 is not a size"]),
    ({"N": True, "M": 1}, ["N=True is not a size"]),
    ({"N": [2], "M": 1}, ["N=[2] is not a size"]),
    ({"N": "2", "M": 1}, ["N='2' is not a size"]),
]


@pytest.mark.parametrize(("binding", "pieces"), BAD_BINDINGS)
def test_bad_bindings(binding, pieces):
    with pytest.raises(sb.BindingError) as caught:
        sb.broadcast(*PAIR).evaluate(binding)
    check_message(caught.value, pieces)


def test_sizes_that_are_missing_are_asked_for_beside_those_given():
    result = sb.broadcast(*PAIR)
    for call, ask in [("find", result.cases().find), ("guard", result.condition.guard()), ("guard", result.guard())]:
        with pytest.raises(sb.BindingError) as caught:
            ask(N=3)
        check_message(caught.value, ["no size was given for M", f"write {call}(N=3, M=...)"])


def test_sizes_of_a_guard_are_given_by_name():
    guard = sb.broadcast(*PAIR).guard()
    for sizes, said in [
        ((2, 3), "N=2, M=3"),
        ((4, 4), "N=4, M=4"),
        ((2,), "N=2, M=..."),
        (([2, 3],), "N=2, M=3"),
        (({"N": 2}, 3), "N=2, M=3"),
        (("5", 1, 1), "N=5, M=1"),
    ]:
        with pytest.raises(sb.BindingError) as caught:
            guard(*sizes)
        check_message(caught.value, ["sizes are given by name", f"write guard({said})"])
    assert guard.function(2, 3) is False


def test_a_binding_against_the_assumptions():
    result = sb.broadcast(*PAIR, assume="N >= 2", min_size=1)
    with pytest.raises(sb.BindingError, match=r"N=1 contradicts the assumption N >= 2"):
        result.evaluate(N=1, M=1)
    with pytest.raises(sb.BindingError, match=r"M=0 is outside the bounds"):
        result.evaluate(N=2, M=0)


@pytest.mark.parametrize("rule", ["none", "pdpd", "unidirectional", "bidirectional"])
@pytest.mark.parametrize("shapes", [("*b",), ("N", "3", "*b"), ("*b", "M", "*c, 2")])
def test_wrong_number_of_shapes_where_a_rank_is_unknown(rule, shapes):
    with pytest.raises(sb.RuleArgumentError, match=rf"takes 2 shapes .*, not {len(shapes)}; give one shape for each"):
        sb.broadcast(*shapes, rule=rule)


def test_wrong_number_of_shapes():
    for assume in ((), "N >= 2"):
        with pytest.raises(sb.RuleArgumentError, match=r"takes 2 shapes \(data, target\), not 3"):
            sb.broadcast("N", "N", "N", rule="unidirectional", assume=assume)
    with pytest.raises(sb.RuleArgumentError, match="at least one shape"):
        sb.broadcast(rule="onnx-multidirectional")
    assert sb.broadcast().shape == ()


def test_nothing_here_has_a_truth_value():
    result = sb.broadcast(*PAIR)
    for value in (result, sb.broadcast("2", "3").conflict[0], sb.Condition("N >= 2")):
        with pytest.raises(TypeError, match="truth value"):
            bool(value)


def test_require():
    assert sb.broadcast("N, 3", "1, 3").require() == sb.shape("N, 3")
    with pytest.raises(sb.ConditionalBroadcastError) as conditional:
        sb.broadcast(*PAIR).require()
    assert conditional.value.result.verdict is sb.Verdict.SOMETIMES
    assert "N == M" in str(conditional.value)
    with pytest.raises(sb.IncompatibleShapesError) as never:
        sb.broadcast("N, 3", "N, 4").require()
    assert "axis 1" in str(never.value)


def test_evaluate_refuses_with_the_sizes():
    with pytest.raises(sb.IncompatibleShapesError) as caught:
        sb.broadcast(*PAIR).evaluate(N=2, M=3)
    assert caught.value.binding == {"N": 2, "M": 3}
    assert "2" in str(caught.value)
    assert "3" in str(caught.value)


HIERARCHY = {
    sb.ShapeSyntaxError: ValueError,
    sb.ShapeTypeError: TypeError,
    sb.DimensionError: ValueError,
    sb.UnknownRankError: ValueError,
    sb.UnknownRuleError: ValueError,
    sb.RuleArgumentError: ValueError,
    sb.AssumptionError: ValueError,
    sb.BindingError: ValueError,
    sb.BroadcastError: ValueError,
    sb.IncompatibleShapesError: sb.BroadcastError,
    sb.ConditionalBroadcastError: sb.BroadcastError,
    sb.MissingExtraError: ImportError,
    sb.UndecidedError: Exception,
}


@pytest.mark.parametrize("error", HIERARCHY)
def test_hierarchy(error):
    assert issubclass(error, sb.SymbcastError)
    assert issubclass(error, HIERARCHY[error])


def test_errors_survive_pickling():
    """An error must cross from a worker process to its parent."""
    for call in (lambda: sb.shape("N,, 3"), lambda: sb.shape((-3,)), lambda: sb.broadcast("N", rule="nmpy")):
        with pytest.raises(sb.SymbcastError) as caught:
            call()
        copy = pickle.loads(pickle.dumps(caught.value))
        assert type(copy) is type(caught.value)
        assert str(copy) == str(caught.value)


def check_message(error, pieces):
    assert isinstance(error, sb.SymbcastError)
    text = str(error)
    for piece in pieces:
        assert piece in text, text
    assert len(text) < 600, "a message fits on a screen"


def nested_floors(depth):
    found = N
    for _ in range(depth):
        found = sympy.floor(found / 2 + sympy.Rational(1, 3), evaluate=False)
    return found


@pytest.mark.parametrize("value", [sympy.Function("f")(N), nested_floors(200)], ids=["function", "nested"])
def test_an_expression_that_cannot_be_read_is_no_dimension(value):
    with pytest.raises(sb.DimensionError) as caught:
        sb.broadcast((value,), ("N",))
    assert "DimensionError" not in str(caught.value) and len(str(caught.value)) > 20


def test_an_array_is_no_assumption_and_a_number_names_no_function():
    with pytest.raises(sb.ShapeTypeError, match="is not an assumption"):
        sb.ShapeEnv(assume=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="3 cannot name a function"):
        sb.ShapeEnv().to_python(3)


def test_what_a_users_index_raises_is_wrapped():
    broken, env = WithBrokenIndex(), sb.ShapeEnv()
    asked = [
        (lambda: sb.broadcast((broken, 3), "N"), sb.DimensionError),
        (lambda: sb.broadcast("N, 3", "M").evaluate(N=broken, M=1), sb.BindingError),
        (lambda: sb.Condition("N >= 2").guard()(N=broken), sb.BindingError),
        (lambda: sb.broadcast("N, C", "C", rule="pdpd", axis=broken), sb.DimensionError),
        (lambda: env.broadcast((broken, 3), "N"), sb.DimensionError),
        (lambda: env.reshape("N, 4", (broken, -1)), sb.DimensionError),
        (lambda: env.concat(["N", "M"], axis=broken), sb.DimensionError),
    ]
    for ask, kind in asked:
        with pytest.raises(kind, match="__index__ raised KeyError: 'rows'"):
            ask()
    assert env.operations == (), "a refused operation is not recorded"
