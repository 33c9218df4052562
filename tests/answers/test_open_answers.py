"""Laws of answers that are open: what is said to work works, what is said to fail fails, and a guard never guesses.

The oracle is a second model in which the operator without a rule is replaced by one that has a rule.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

import symbcast as sb
from symbcast.answers.show.document import Document
from symbcast.core.account import exact_account

onnx = pytest.importorskip("onnx")

ALWAYS, SOMETIMES, NEVER, UNKNOWN = (sb.Verdict(v) for v in ("always", "sometimes", "never", "unknown"))
NAMES = ("K", "M", "T")
OPERATORS = ("Add", "Mul", "MatMul", "Concat")


def drawn_models(seed):
    """Return the text of a model with a node without a rule, and of the same with `Neg`, `Transpose` or `Add`."""
    draw = random.Random(seed)
    values = [f"x{n}" for n in range(draw.randint(2, 3))]
    dims = [[draw.choice((*NAMES, "2", "3", "1")) for _ in range(2)] for _ in values]
    inputs = ", ".join(f"float[{', '.join(d)}] {v}" for v, d in zip(values, dims, strict=True))
    nodes = []
    unknown = draw.randrange(4)
    for n in range(4):
        left, right = draw.choice(values), draw.choice(values)
        if n == unknown:
            nodes.append((f"y{n}", left, right))
        else:
            operator = draw.choice(OPERATORS)
            attributes = " <axis = 0>" if operator == "Concat" else ""
            nodes.append(f"y{n} = {operator}{attributes}({left}, {right})")
        values.append(f"y{n}")
    real = draw.choice(("Neg({0})", "Transpose({0})", "Add({0}, {1})"))
    texts = []
    for operator in ("own.Mystery({0})", real):
        body = [f"{n[0]} = {operator.format(*n[1:])}" if isinstance(n, tuple) else n for n in nodes]
        outputs = ", ".join(f"float[{v}_p, {v}_q] {v}" for v in values[-1:])
        texts.append(
            f'<ir_version: 9, opset_import: ["": 18, "own": 1]> g ({inputs}) => ({outputs}) {{ {" ".join(body)} }}'
        )
    return tuple(map(onnx.parser.parse_model, texts))


def outcome(guard, sizes):
    """Return what a guard says at sizes: None if it raises because that is open."""
    try:
        return guard(sizes)
    except sb.UndecidedError:
        return None


@pytest.mark.parametrize("seed", range(25))
def test_what_is_proved_about_an_open_model_holds_whatever_the_unknown_node_does(seed):
    is_open, closed = (sb.onnx.check(model) for model in drawn_models(seed))
    account, truth, guard = is_open.account, closed.guard(), is_open.guard()
    assert is_open.verdict is account.verdict
    if account.open:
        assert is_open.verdict is not ALWAYS
        points = bool(account.working), bool(account.failing)
        assert (is_open.verdict is SOMETIMES) == all(points)
    else:
        assert is_open.verdict is NEVER or all(u.is_about_data for u in is_open.unanalysed)
    if is_open.verdict is NEVER:
        assert closed.verdict is NEVER
    failing = is_open.counterexample()
    if failing is not None:
        assert guard(failing) is False
    names = list(guard.names.values())
    for point in product((0, 1, 2, 3), repeat=len(names)):
        sizes = dict(zip(names, point, strict=True))
        found = outcome(guard, sizes)
        real = truth({n: s for n, s in sizes.items() if n in truth.names.values()}) if 0 not in point else False
        if found is not None:
            assert found == real, (seed, sizes)
        low, high = (is_open.guard(open=choice)(sizes) for choice in (False, True))
        assert (low, high) == ((False, True) if found is None else (found, found)), (seed, sizes)


def test_a_walk_at_single_sizes_decides_a_node_that_is_open_for_all():
    """The square root of a size is followed at single sizes only, where the node is decided."""
    text = """<ir_version: 9, opset_import: ["": 18]> g (float[N, M] x, float[K, M] w) => (y) {
      v = Add(x, w) n = Size(v) k = Cast<to = 1>(n) q = Sqrt(k) i = Cast<to = 7>(q)
      last = Constant<value_ints = [-1]>() first = Reshape(i, last) shape = Concat<axis = 0>(first, last)
      y = Reshape(v, shape) }"""
    report = sb.onnx.check(onnx.parser.parse_model(text))
    assert report.account.open
    assert (report.verdict, report.witness()) == (SOMETIMES, {"N": 1, "M": 1, "K": 1})
    assert report.guard()(N=1, M=1, K=1)
    assert not report.guard()(report.counterexample())
    assert outcome(report.guard(), {"N": 2, "M": 2, "K": 2}) is None


def test_sources_of_open_answers_need_a_choice():
    report = sb.onnx.check(drawn_models(3)[0])
    assert report.account.is_open
    for write in (report.to_python, report.to_cpp, report.to_smtlib, report.to_mlir):
        with pytest.raises(sb.UndecidedError, match="open=False"):
            write()
        assert write(open=False) != write(open=True)
    with pytest.raises(sb.UndecidedError):
        report.to_stablehlo()
    assert "Not analysed" in report.to_stablehlo(open=False)
    for write in (report.guard, report.to_python, sb.broadcast("N", "M").guard):
        with pytest.raises(sb.errors.ShapeTypeError, match="open=False"):
            write(open="no")


def test_a_contract_of_what_is_open_at_all_sizes_says_so():
    text = """<ir_version: 9, opset_import: ["": 18, "own": 1]>
    g (float[K, 3] x) => (float[P] z) { z = own.Mystery(x) }"""
    contract = sb.onnx.check(onnx.parser.parse_model(text)).contract(K="1..4")
    assert contract.reason == "open at all sizes: z (Mystery): unknown operator of domain own"


def test_an_open_answer_says_what_works_what_fails_and_what_is_open():
    text = """<ir_version: 9, opset_import: ["": 18, "own": 1]>
    g (float[K, 3] x, float[M, 3] y) => (float[P] z) { u = Add(x, y) z = own.Mystery(u) }"""
    report = sb.onnx.check(onnx.parser.parse_model(text))
    lines = report.explain().splitlines()
    assert lines[0] == "g: open: it fails for some sizes, and whether it runs for any was not decided"
    assert lines[2:5] == [
        "works when   not proved for any sizes",
        "fails when   K != M and K != 1 and M != 1",
        "open         all other sizes: z (Mystery): unknown operator of domain own",
    ]
    assert "necessary    K == M or K == 1 or M == 1" in lines
    assert "fix          give y axis 0 the size of x axis 0 (M = K); open sizes may still fail" in lines
    data = report.to_dict()["account"]
    assert data["open"] == [{"reason": "z (Mystery): unknown operator of domain own", "where": "True"}]
    assert (data["works"], data["needed"]) == ("False", "K == M or K == 1 or M == 1")
    assert str(report.condition) == "K == M or K == 1 or M == 1"


def test_axes_of_unknown_rank_are_not_said_to_be_data():
    text = """<ir_version: 9, opset_import: ["": 18, "own": 1]>
    g (float[1, M] x, float[2, 3] z) => (float[P, Q] c, float[R, S] d) {
        u = own.Mystery(x) v = Mul(x, u) c = Concat<axis = 0>(v, z) d = Mul(z, x) }"""
    lines = sb.onnx.check(onnx.parser.parse_model(text)).explain().splitlines()
    assert "operands     v of unknown rank, z (2, 3)" in lines
    assert "where        v_dim_1 is axis 1 of v, whose rank is unknown" in lines
    assert any(line.endswith("; the run stops at c at the latest") for line in lines)


def test_a_failure_that_supposes_the_size_of_an_unknown_output_says_if():
    text = """<ir_version: 9, opset_import: ["": 18, "own": 1]>
    g (float[N, 3] x, float[M, 3] w) => (float[P, Q] y) {
        a = Add(x, w) b = own.What(a) y = Concat<axis = 0>(b, w) }"""
    lines = sb.onnx.check(onnx.parser.parse_model(text)).explain().splitlines()
    assert "fails at     N=2, M=3: (2, 3) and (3, 3)" in lines
    assert "fails at     N=1, M=1 if b_dim_1=1: an unknown shape and (1, 3)" in lines


def test_points_that_work_are_shown_once():
    text = """<ir_version: 9, opset_import: ["": 18]> g (float[N, M] x) => (float[P, Q] y) {
        n = Shape(x) k = Cast<to = 1>(n) q = Sqrt(k) i = Cast<to = 7>(q) y = ConstantOfShape(i) }"""
    shown = sb.onnx.check(onnx.parser.parse_model(text)).explain()
    assert "works at     N=1, M=1" in shown
    assert shown.count("N=1, M=1") == 1


def test_a_guard_of_a_model_is_false_below_the_minimum_size():
    text = """<ir_version: 9, opset_import: ["": 18]>
    g (float[batch, 3] x, float[M, 3] y) => (float[P, 3] z) { z = Add(x, y) }"""
    report = sb.onnx.check(onnx.parser.parse_model(text))
    assert report.guard()(batch=1, M=5)
    assert not report.guard()(batch=0, M=1)
    assert report.guard(with_assumptions=False)(batch=0, M=1)
    assert "batch >= 1" in report.to_python()


def drawn_program(seed, names):
    """Return a program over four sizes with products, quotients and remainders."""
    draw = random.Random(seed)
    env = sb.ShapeEnv(on_conflict="record")
    terms = [
        "{0}*{1}",
        "{0}//{1}",
        "{0} % 3 + {1}",
        "min({0}, {1})",
        "2*{0}",
        "{0}",
        "{0}*{0}*{1}",
        "max({0} - {1}, 1)",
    ]
    for _ in range(draw.randint(2, 4)):
        sides = [draw.choice(terms).format(*draw.sample(names, 2)) for _ in range(2)]
        if draw.random() < 0.5:
            env.broadcast(*sides)
        else:
            env.require(f"{sides[0]} {draw.choice(('==', '<=', '!='))} {sides[1]}")
    return env


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_do_not_depend_on_names(seed):
    first = drawn_program(seed, ["A", "B", "C", "D"])
    second = drawn_program(seed, ["z9", "K", "a_b", "M"])
    assert first.verdict is second.verdict
    works, fails = first.witness(), first.counterexample()
    assert works is None or first.guard()(works)
    assert fails is None or not first.guard()(fails)
    if first.verdict is UNKNOWN:
        assert works is None or fails is None
        assert first.account.open
    if works is not None and fails is not None:
        assert first.verdict is SOMETIMES


def test_an_account_asks_for_its_points_before_the_clauses():
    """What is cut short for want of effort, and so which sizes are shown, depends on the order."""
    asked = []

    class Answer:
        reason = property(lambda self: asked.append("reason") or "why")
        clauses = property(lambda self: asked.append("clauses") or ())

        def witness(self):
            asked.append("witness")

        def counterexample(self):
            asked.append("counterexample")

    assert exact_account(Answer(), sb.Verdict.UNKNOWN).reason == "why"
    assert asked == ["witness", "counterexample", "clauses", "reason"]


def test_a_traced_explanation_asks_for_the_verdict_last(monkeypatch):
    asked = []
    env = sb.ShapeEnv()
    env.broadcast("N", "M")
    monkeypatch.setattr(sb.ShapeEnv, "verdict", property(lambda _: asked.append("verdict") or sb.Verdict.SOMETIMES))
    monkeypatch.setattr(sb.ShapeEnv, "_document", lambda *_: asked.append("document") or Document((), None, ()))
    assert "decided by" in env.explain(trace=True)
    assert asked == ["document", "verdict"]
