"""One vocabulary: every kind of answer has the same words, and a wrong word is answered by the right one."""

import numpy as np
import pytest
import sympy
from kinds import ANSWERS, model, program

import symbcast as sb

SAME = ["broadcast", "program", "model", "function", "jax function"]


@pytest.mark.parametrize("kind", SAME)
def test_all_kinds_say_the_same_of_the_same_sum(kind):
    answer = ANSWERS[kind]()
    assert answer.verdict is sb.Verdict.SOMETIMES
    assert isinstance(answer.condition, sb.Condition)
    assert answer.condition.verdict_under(min_size=1) is sb.Verdict.SOMETIMES
    assert answer.equivalent("N == M or N == 1 or M == 1")
    assert answer.implies("N == M or N == 1 or M == 1") and not answer.implies("N == M")
    assert answer.counterexample() == {"N": 2, "M": 3}
    assert answer.witness() == {"N": 1, "M": 1}
    assert answer.guard()(N=4, M=4) and not answer.guard()(N=4, M=3)
    assert len(answer.findings) == 1
    assert answer.findings[0].counterexample == {"N": 2, "M": 3}
    assert answer.findings[0].condition.equivalent(answer.condition)
    assert answer.unproven == answer.unanalysed == ()
    assert "def fits(N, M)" in answer.to_python("fits") and "bool fits(" in answer.to_cpp("fits")
    assert answer.equivalent(answer)


@pytest.mark.parametrize("kind", SAME)
def test_a_condition_is_made_from_any_answer(kind):
    answer = ANSWERS[kind]()
    assert str(sb.Condition(answer)) == str(answer.condition)
    assert answer.condition.guard().parameters == sb.Condition(answer).guard().parameters == ("N", "M")
    assert (sb.Condition("N >= 2") & answer).implies("N == M or M == 1")


@pytest.mark.parametrize("kind", [k for k in ANSWERS if k not in ("broadcast", "program")])
def test_the_condition_of_a_report_is_made_once(kind):
    answer = ANSWERS[kind]()
    assert kind == "solution" or answer.condition is answer.condition


def test_answers_of_different_kinds_are_compared():
    call = sb.broadcast("N, 3", "M, 1", min_size=1)
    for other in (model(), sb.trace(np.add, "N, 3", "M, 1"), program()):
        assert call.equivalent(other) and other.equivalent(call), other
        assert sb.equivalent(sb.broadcast("N", "M"), other) is sb.equivalent(other, sb.broadcast("N", "M")) is True
    assert not call.equivalent(sb.trace(np.matmul, "N, 3", "M, 1"))


# sympy takes conditions.


CONDITIONS = [
    "N == M", "N == 1 or M == 1", "N % 8 == 0", "N != M", "N >= 2 and M <= 5", "N//2 == M", "N + M == 7", "N*M == 12",
    "max(N, 2) == M", "min(N, M) == 1", "not N == 3", "N == 2*M + 1", "N < M or M < 3", "N % 2 == M % 2", "3*N == 2*M",
    "N == 4 and (M == 0 or M == 1)", "N - M >= 0", "N**2 == M", "True", "N == 1 and N == 2",
]  # fmt: skip


@pytest.mark.parametrize("text", CONDITIONS)
def test_sympy_takes_conditions(text):
    condition = sb.Condition(text)
    boolean = condition.sympy
    assert sympy.sympify(condition) == boolean
    assert condition == boolean and boolean == condition
    assert condition.free_symbols == boolean.free_symbols
    assert sympy.simplify(condition) == sympy.simplify(boolean)
    symbols = [sb.symbol("N"), sb.symbol("M")]
    compiled = sympy.lambdify(symbols, condition)
    for n, m in [(0, 0), (1, 2), (4, 1), (8, 4), (3, 1), (2, 3)]:
        truth = condition.guard()({s: v for s, v in {"N": n, "M": m}.items() if sb.symbol(s) in condition.symbols})
        assert bool(condition.subs({"N": n, "M": m})) is truth is bool(compiled(n, m)), (n, m)
    assert bool(sympy.satisfiable(boolean)) is (boolean != sympy.false)
    assert sympy.latex(condition) == sympy.latex(boolean)


def test_a_condition_has_the_users_own_symbols():
    n, m = sympy.symbols("n m", integer=True, nonnegative=True)
    dummy = sympy.Dummy("n", integer=True, nonnegative=True)
    condition = sb.broadcast((n, dummy), (m, 3)).condition
    assert condition.free_symbols == {n, m, dummy}
    assert condition.sympy == sympy.And(
        sympy.Or(sympy.Eq(n, m), sympy.Eq(n, 1), sympy.Eq(m, 1)), sympy.Or(sympy.Eq(dummy, 1), sympy.Eq(dummy, 3))
    )
    both = condition & sb.broadcast((n,), (4,)).condition
    assert both.subs({n: 4, m: 1, dummy: 3}) == sympy.true


# Guessed names.


GUESSES = [
    (lambda: sb, "broadcast_shapes", "broadcast"),
    (lambda: sb, "Dim", "symbol"),
    (lambda: sb, "parse", "shape"),
    (lambda: sb, "concatenate", "ShapeEnv"),
    (lambda: sb, "permute", "ShapeEnv"),
    (lambda: sb, "max_pool", "ShapeEnv"),
    (lambda: sb, "check_model", "onnx.check"),
    (lambda: sb, "implies", "Condition"),
    (lambda: sb, "can_broadcast", "verdict"),
    (lambda: sb, "Shap", "Shape"),
    (lambda: sb, "shapeenv", "ShapeEnv"),
    (lambda: sb, "brodcast", "broadcast"),
    (ANSWERS["broadcast"], "output", "shape"),
    (ANSWERS["broadcast"], "ok", "verdict"),
    (ANSWERS["broadcast"], "example", "witness()"),
    (ANSWERS["broadcast"], "holds", "guard()"),
    (ANSWERS["broadcast"], "proves", "implies"),
    (ANSWERS["broadcast"], "witnes", "witness"),
    (ANSWERS["broadcast"], "to_json", "to_dict()"),
    (ANSWERS["broadcast"], "fixes", "repairs()"),
    (ANSWERS["broadcast"], "simplify", "condition"),
    (ANSWERS["broadcast"], "counter_example", "counterexample()"),
    (ANSWERS["broadcast"], "why", "explain()"),
    (program, "concatenate", "concat"),
    (program, "cat", "concat"),
    (program, "permute", "transpose"),
    (program, "max_pool", "pool"),
    (program, "conv2d", "conv"),
    (program, "view", "reshape"),
    (program, "add", "broadcast"),
    (program, "proves", "implies"),
    (program, "ops", "operations"),
    (program, "constrain", "require"),
    (program, "reshpe", "reshape"),
    (ANSWERS["function"], "example", "witness()"),
    (ANSWERS["function"], "ok", "verdict"),
    (lambda: sb.Condition("N == 1"), "holds", "guard()"),
    (lambda: sb.Condition("N == 1"), "boolean", "sympy"),
    (lambda: sb.Condition("N == 1"), "simplify", "simplified()"),
    (lambda: sb.Condition("N == 1"), "is_satisfiable", "verdict"),
    (lambda: sb.Condition("N == 1"), "equivalnt", "equivalent"),
    (lambda: sb, "broadcast_to", "broadcastable_to"),
    (lambda: sb, "is_compatible", "verdict"),
    (lambda: sb, "ALWAYS", "Verdict"),
    (lambda: sb, "plot", "notebook.plot"),
    (lambda: sb, "load_model", "onnx.check"),
    (lambda: sb, "pytorch", "torch.check"),
    (lambda: sb, "assume", "assume="),
    (lambda: sb, "zeros", "array"),
    (lambda: sb, "Comparision", "Comparison"),
    (ANSWERS["broadcast"], "rank", "shape.rank"),
    (ANSWERS["broadcast"], "never", "verdict"),
    (ANSWERS["broadcast"], "names", "guard()"),
    (ANSWERS["broadcast"], "proof", "certify()"),
    (ANSWERS["broadcast"], "unsat_core", "conflict"),
    (ANSWERS["broadcast"], "bind", "evaluate"),
    (ANSWERS["broadcast"], "latex", "sympy.latex"),
    (ANSWERS["broadcast"], "tiers", "explain(trace=True)"),
    (program, "softmax", "broadcast"),
    (program, "placeholder", "symbol"),
    (program, "copy", "fork()"),
    (program, "scaled_dot_product_attention", "attention"),
    (program, "requirements", "findings"),
    (program, "save", "to_dict()"),
    (program, "batchnorm", "batch_norm"),
    (model, "output_shapes", "outputs"),
    (model, "nodes", "findings"),
    (model, "dynamic_axes", "inputs"),
    (ANSWERS["function"], "result", "shapes"),
    (ANSWERS["function"], "branches", "cases"),
    (ANSWERS["function"], "args", "arguments"),
    (ANSWERS["solution"], "assignment", "witness()"),
    (ANSWERS["solution"], "output", "out"),
    (lambda: sb.Condition("N == 1"), "variables", "symbols"),
    (lambda: sb.Condition("N == 1"), "atoms", "sympy"),
    (lambda: sb.Condition("N == 1"), "and_", "condition &"),
    (lambda: sb.Condition("N == 1"), "is_true", "verdict"),
    (lambda: sb, "output", "has shape"),
    (lambda: sb, "ok", "has verdict"),
    (lambda: sb, "sample", "has witness()"),
    (lambda: sb, "conv_transpose2d", "has conv_transpose"),
    (lambda: sb, "paddle", "rule="),
    (program, "chunk", "split"),
    (program, "dense", "matmul"),
    (lambda: sb.shape("N, 3"), "ndim", "rank"),
    (lambda: sb.shape("N, 3"), "numel", "math.prod"),
    (lambda: sb.shape("N, 3"), "free_symbols", "symbols"),
]


@pytest.mark.parametrize(
    ("subject", "guess", "right"), GUESSES, ids=[f"{n}-{g}" for n, (_, g, _) in enumerate(GUESSES)]
)
def test_a_guessed_name_is_answered_by_the_right_one(subject, guess, right):
    with pytest.raises(AttributeError, match=rf"has no attribute '{guess}'.*\b{right.split('(')[0]}"):
        getattr(subject(), guess)


def test_names_that_nobody_would_guess_are_refused_plainly():
    for subject in (sb, ANSWERS["broadcast"](), sb.Condition("N == 1")):
        with pytest.raises(AttributeError, match=r"has no attribute 'qqqqq'$"):
            _ = subject.qqqqq
        assert not hasattr(subject, "_nothing") and not hasattr(subject, "__array_interface__")


def test_a_dummy_beside_a_symbol_of_its_name_is_another_size():
    n, dummy = sympy.Symbol("n", integer=True, nonnegative=True), sympy.Dummy("n", integer=True, nonnegative=True)
    for one, other in [(n, dummy), (dummy, n), (n + 0, dummy * 1)]:
        assert sb.broadcast((one,), (other,)).verdict is sb.Verdict.SOMETIMES
    assert sb.broadcast((dummy,), "n").verdict is sb.Verdict.ALWAYS  # text means the dummy that is called so
    assert sb.broadcast((dummy,), (3,), assume=[sympy.Eq(n, 5)]).verdict is sb.Verdict.SOMETIMES


N, DUMMY = sympy.Symbol("n", integer=True, nonnegative=True), sympy.Dummy("n", integer=True, nonnegative=True)


@pytest.mark.parametrize("shapes", [((N,), (DUMMY,)), ((DUMMY,), (N,)), ([DUMMY + 0], (N * 1,))])
def test_a_dummy_beside_a_symbol_in_one_operation_of_a_program(shapes):
    env = sb.ShapeEnv()
    env.broadcast(*shapes)
    assert env.verdict is sb.Verdict.SOMETIMES and len(env.witness()) == 2


@pytest.mark.parametrize(
    "operation",
    [
        lambda env: env.broadcast((N,), (2,)),
        lambda env: env.broadcast((2, 2 * N + 1), (2,)),
        lambda env: env.broadcast(sb.shape((N, 2)), (2,)),
        lambda env: env.equal(DUMMY, N),
        lambda env: env.matmul((2, DUMMY), (N, 3)),
        lambda env: env.reshape((DUMMY, 4), (N, 4)),
        lambda env: env.concat([(DUMMY,), (N,)], 0),
        lambda env: env.split((DUMMY, 4), [N, 2], 0),
        lambda env: env.require(sympy.Eq(N, 5)),
        lambda env: env.assume(sympy.Ge(N, 5)),
    ],
)
def test_a_symbol_after_a_dummy_of_its_name_is_not_taken_for_it(operation):
    env = sb.ShapeEnv()
    env.broadcast((DUMMY,), (3,))
    with pytest.raises(sb.DimensionError, match="a sympy Dummy is called so here"):
        operation(env)
    assert str(env.condition) == "n == 1 or n == 3"
    env.require("n >= 2")  # text means the dummy
    assert env.witness() == {"n": 3}


def test_a_symbol_before_a_dummy_of_its_name_keeps_it():
    env = sb.ShapeEnv()
    env.broadcast((N,), (3,))
    env.broadcast((N,), (DUMMY,))
    assert len(env.witness()) == 2 and env.implies("n == 1 or n == 3") and not env.implies("n_1 == 1 or n_1 == 3")
