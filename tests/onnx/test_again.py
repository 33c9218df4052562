"""What a model says late of its inputs' sizes is known when it is walked through again."""

from __future__ import annotations

import itertools

import pytest

import symbcast as sb
from symbcast.core.algebra.formulas import Comparison, any_of
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.f4_products.projection import project, with_sizes_outside_operations
from symbcast.core.text import parse_dim

onnx = pytest.importorskip("onnx")


def check(text, **options):
    return sb.onnx.check(onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 18]> {text}'), **options)


LATE = """late (float[1, 1, H] x, float[1, 1, 9] w) => (float[a, b, c] y) <int64[3] whole = {0, 0, -1}> {
    half = MaxPool<kernel_shape = [2], strides = [2]>(x)
    again = Reshape(half, whole)
    y = Conv(again, w)
}"""


@pytest.mark.parametrize(("runtime", "least"), [("spec", 16), ("onnxruntime", 18)])
def test_a_late_requirement_makes_earlier_sizes_plain(runtime, least):
    """The convolution asks how large H is at least, and that decides how the Reshape's 0 and -1 are written."""
    report = check(LATE, runtime=runtime)
    assert str(report.condition) == f"H >= {least}"
    assert {name: str(report.shapes[name]) for name in ("again", "y")} == {
        "again": "(1, 1, H//2)",
        "y": "(1, 1, H//2 - 8)",
    }


def test_each_bound_is_laid_to_the_node_that_asks_it():
    report = check(LATE, runtime="onnxruntime")
    (finding,) = report.findings
    assert (finding.op_type, report.counterexample()) == ("Conv", {"H": 1})


def test_a_part_whose_end_may_be_counted_from_the_end_is_said_in_the_sizes():
    """The runtime's framing: ``x[:N - (N - 400) % 160]``, where the end is below 0 for no N that Reshape allows."""
    report = check("""framed (float[N] x) => (float[a, b] y)
    <int64 win = {400}, int64 hop = {160}, int64[1] zero = {0}, int64[2] frames = {-1, 160}> {
        shape = Shape(x)
        length = Squeeze(shape, zero)
        more = Sub(length, win)
        rest = Mod(more, hop)
        stop = Sub(length, rest)
        end = Unsqueeze(stop, zero)
        cut = Slice(x, zero, end, zero)
        y = Reshape(cut, frames)
    }""")
    (size,) = report.shapes["cut"]
    for n in range(700):
        rest = (n - 400) % 160
        assert size.subs(dict.fromkeys(size.free_symbols, n)) == len(range(n)[: n - rest]), n
    assert not report.data_sizes


def test_what_data_must_be_says_what_the_sizes_must_be():
    """No end suits a reflected padding by 6 where there are fewer than 7."""
    report = check("""padded (float[N] x, int64[1] e) => (float[M] y) <int64[1] zero = {0}, int64[2] six = {6, 6}> {
        part = Slice(x, zero, e, zero)
        y = Pad<mode = "reflect">(part, six)
    }""")
    assert (report.verdict, str(report.condition)) == (sb.Verdict.SOMETIMES, "N >= 7")


A, X = symbol("a"), symbol("x")


@pytest.mark.parametrize("operator", ["==", "!=", "<=", "<"])
@pytest.mark.parametrize(
    "text", ["min(x, a)", "max(x, 2) - min(a, 1)", "x//2 - a", "a - (x + 1)//3", "min(x//2, a) - 1", "2*max(a, x) - 3"]
)
def test_a_comparison_opened_says_the_same(operator, text):
    found = Comparison(operator, parse_dim(text), 2)
    for a, x in itertools.product(range(8), range(20)):
        assert holds_at(with_sizes_outside_operations(found, {X}), {A: a, X: x}) == holds_at(found, {A: a, X: x}), (
            a,
            x,
        )


@pytest.mark.parametrize("operator", ["==", "<=", "<"])
@pytest.mark.parametrize("text", ["min(x, a)", "max(x, 2) - a", "x//2 - a", "min(x//2, a)", "a - (x + 1)//3"])
def test_what_stands_in_operations_is_eliminated(operator, text):
    """Brute force: what is left holds wherever some x satisfies the comparison; it is exact of one that is at most."""
    found = Comparison(operator, 2, parse_dim(text))
    left = project([any_of([found])], frozenset([X]), (), {}).inputs
    for a in range(8):
        some = any(holds_at(found, {A: a, X: x}) for x in range(40))
        assert not some or all(holds_at(f, {A: a}) for f in left), a
        if operator == "<=":
            assert some == all(holds_at(f, {A: a}) for f in left), a


TURNS = """turns (float[N] x, int64 trips) => (float[L] y, float[P] z)
<bool yes = {1}, int64[2] pads = {6, 6}, int64[1] low = {-3}, int64[1] high = {9223372036854775807},
 int64[1] first = {0}> {
    z = Slice(x, low, high, first)
    y = Loop (trips, yes, x) <body = turn (int64 n, bool go, float[K] before) => (bool again, float[K2] after) {
        again = Identity(go)
        padded = Pad<mode = "reflect">(before, pads)
        after = Concat<axis = 0>(padded, before)
    }>
}"""


def test_what_a_trial_of_a_loop_asks_is_not_asked_again():
    """A first turn would need 7 places, and the Slice would be plain then; but there need not be a turn."""
    report = check(TURNS, assume="trips == 0")
    assert (report.verdict, str(report.shapes["z"])) == (sb.Verdict.ALWAYS, "(N - max(N - 3, 0),)")


def test_the_places_of_a_filled_tensor_are_counted():
    """Exporters count along an axis by the places of what is not 0 in a tensor of ones."""
    report = check("""counted (float[N, M] x) => (int64[a, b] along, int64[c, d] both, int64[e, f] few)
    <int64[5] few_of = {0, 3, 0, 0, 2}> {
        shape = Shape(x)
        first = Shape<end = 1>(x)
        line = ConstantOfShape<value = int64[1] {1}>(first)
        plane = ConstantOfShape<value = int64[1] {1}>(shape)
        along = NonZero(line)
        both = NonZero(plane)
        few = NonZero(few_of)
        taken = Gather<axis = 0>(x, along)
    }""")
    shapes = {name: str(report.shapes[name]) for name in ("along", "both", "few", "taken")}
    assert shapes == {"along": "(1, N)", "both": "(2, M*N)", "few": "(1, 2)", "taken": "(1, N, M)"}
    assert (report.verdict, report.unanalysed, report.data_sizes) == (sb.Verdict.ALWAYS, (), {})


def test_a_dividend_that_is_a_maximum_is_no_quotient():
    """Reshape asks max(K, 2) to be even; what is 2*K*(max(K, 2)//2) then was written as 2."""
    report = check("""even (float[K, 2] x) => (float[a, b, c] y, float[d, e] z)
    <int64 low = {0}, int64 step = {1}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2},
     int64[1] all = {-1}> {
        shape = Shape(x)
        rows = Slice(shape, zero, one)
        most = Max(rows, two)
        high = Squeeze(most, zero)
        places = Range(low, high, step)
        taken = Gather<axis = 1>(x, places)
        parts = Concat<axis = 0>(all, rows, two)
        y = Reshape(taken, parts)
        z = Flatten<axis = 0>(y)
    }""")
    (_, size) = report.shapes["z"]
    assert [size.subs(dict.fromkeys(size.free_symbols, k)) for k in (1, 2)] == [2, 4]
