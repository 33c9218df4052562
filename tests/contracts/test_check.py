"""Checks of ranges: the smallest failing sizes, and how requests are made to fit."""

import itertools

import pytest
from documents import ROOT
from random_conditions import condition

import symbcast as sb

V = sb.Verdict
DETECTOR = sb.Condition("H <= 4 or H % 32 == 0 or H % 32 >= 29")


def test_a_profile_whose_ends_work_fails_between_them():
    check = DETECTOR.contract().check(H="64..1280")
    assert check.verdict is V.SOMETIMES
    assert check.ends_work
    assert check.counterexample == {"H": 65}
    assert "the failures are between them" in check.explain()
    padding = check.advice[0]
    assert padding.text == "pad H up to a multiple of 32"
    assert padding.waste == pytest.approx(sum(-(-n // 32) * 32 for n in range(64, 1281)) / sum(range(64, 1281)) - 1)


ADVICE = [
    # condition, range, advice
    ("T <= 512", "1..1024", ["crop T to at most 512, or split it"]),
    ("H >= 33", "10..100", ["pad H up to the next size that works"]),
    ("H % 8 == 3", "3..100", ["pad H up to the next size that works", "crop H down to the next size that works"]),
    ("H % 4 == 0", "1..64", ["pad H up to a multiple of 4"]),
    ("H % 4 == 0", "5..64", ["pad H up to a multiple of 4", "crop H down to a multiple of 4"]),
    ("H % 4 == 0", "4..64 step 4", []),
    # A clause that leaves no sizes, or that sets of sizes cannot express, is not forgotten.
    ("(H % 5 == 0) and (H == 1 or H != H)", "5..15 step 2", []),
    ("(H == 1) and (H >= 48)", "36..58 step 2", []),
    ("H % 5 > 0 and H > H", "39..55", []),
]


@pytest.mark.parametrize(("text", "sizes", "advice"), ADVICE)
def test_advice(text, sizes, advice):
    (name,) = (str(s) for s in sb.Condition(text).symbols)
    check = sb.Condition(text).contract().check({name: sizes})
    assert [a.text for a in check.advice] == advice
    assert all(a.waste > 0 for a in check.advice)


def test_advice_on_sizes_that_are_tied_gives_larger_ones():
    check = sb.Condition("past + seq <= total").contract().check(past="0..8", seq="1..4", total="1..12")
    assert check.ends_work
    assert check.counterexample == {"past": 1, "seq": 1, "total": 1}
    assert [a.text for a in check.advice] == ["pad total from 1 to 2, for example"]


def test_ranges_that_work_or_never_work():
    contract = DETECTOR.contract(H="32..1280", form="steps")
    assert contract.check(H="64..1280 step 32").verdict is V.ALWAYS
    assert contract.check(H="33..60").verdict is V.NEVER
    assert contract.check().verdict is V.SOMETIMES  # the wanted range
    assert contract.check({"H": 64}).failures == ()


@pytest.mark.parametrize("seed", range(30))
def test_the_counterexample_is_the_smallest_of_a_clause_by_brute_force(seed):
    names = ["a", "b"][: 1 + seed % 2]
    asked = sb.Condition(condition(seed, names))
    names = [str(s) for s in asked.symbols]
    holds = asked.guard()
    check = asked.contract().check(dict.fromkeys(names, range(3, 25)))
    failing = [
        p for p in itertools.product(range(3, 25), repeat=len(names)) if not holds(**dict(zip(names, p, strict=True)))
    ]
    assert (check.verdict is V.ALWAYS) == (not failing)
    assert (check.verdict is V.NEVER) == (len(failing) == 22 ** len(names))
    for failure in check.failures:
        assert not holds(**failure.sizes)
        clause = sb.Condition(failure.clause).guard()
        assert not clause(**{name: failure.sizes[name] for name in clause.parameters})


def test_a_failure_names_the_operation_at_which_a_run_stops():
    env = sb.ShapeEnv()
    env.broadcast("H", "H//2*2", origin="halves")
    env.broadcast("H", "H//6*6", origin="sixths")
    (failure,) = env.contract().check(H="6..60").failures
    assert (failure.sizes, failure.node, failure.origin) == ({"H": 7}, "halves", "sixths")
    assert (failure.clause, failure.requirement) == ("H == 1 or H % 6 == 0", "H == 1 or H % 2 == 0")
    (later,) = env.contract().check(H="6..60 step 2").failures
    assert (later.sizes, later.node, later.requirement) == ({"H": 8}, "sixths", later.clause)
    assert str(later) == "H == 1 or H % 6 == 0 fails at H=8 (sixths)"


def test_a_failure_names_the_node_at_which_onnx_runtime_stops():
    """At 65 rows ONNX Runtime stops at an addition that requires less than the last one."""
    pytest.importorskip("onnx")
    report = sb.onnx.check(str(ROOT / "tests/data/onnx/models/ppocr_v4_det.onnx.gz"), runtime="onnxruntime")
    (failure,) = report.contract().check(N=1, H="64..1280", W=320).failures
    assert (failure.sizes, failure.node) == ({"N": 1, "H": 65, "W": 320}, "p2o.Add.248")
    assert (failure.origin, failure.clause) == ("p2o.Add.252", "H <= 4 or H % 32 == 0 or H % 32 >= 29")
    assert failure.requirement == "H <= 16 or H % 32 == 0 or H % 32 >= 17"
    (last,) = report.contract().check(N=1, H="89..92", W=320).failures
    assert (last.node, last.requirement) == ("p2o.Add.252", last.clause)


OPERATOR = """
<ir_version: 9, opset_import: ["" : 18, "own" : 1]> g (float[N, 3] a) => (float[P, Q] y) { y = own.What(a) }
"""


def test_an_incomplete_answer_is_never_a_contract():
    onnx = pytest.importorskip("onnx")
    report = sb.onnx.check(onnx.parser.parse_model(OPERATOR))
    contract = report.contract(N="1..8")
    assert contract.verdict is V.UNKNOWN
    assert contract.reason
    assert contract.check(N="1..8").verdict is V.UNKNOWN
    with pytest.raises(sb.UndecidedError):
        contract.to("trtexec")
    with pytest.raises(sb.UndecidedError):
        contract.buckets(2, [3, 4])
