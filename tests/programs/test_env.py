"""`ShapeEnv` by example: what it simplifies, refuses, says and survives."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
import threading
import tracemalloc
from itertools import product

import pytest
import sympy

import symbcast as sb
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.solver.evaluation import holds_at

V = sb.Verdict


def build(steps, env=None, **options):
    """Return an environment with some calls made on it, each a method's name and its arguments."""
    env = sb.ShapeEnv(**options) if env is None else env
    for method, *arguments in steps:
        getattr(env, method)(*arguments)
    return env


# What was done before, the shapes broadcast then, and the output.
SIMPLIFIED = [
    ([], ("N", "M"), "broadcast(M, N)"),
    ([("equal", "N", "M")], ("N", "M"), "N"),
    ([("equal", "N", "M")], ("K, 3", "M, 1"), "broadcast(K, N), 3"),
    ([("equal", "N", "M")], ("2*M + 1",), "2*N + 1"),
    ([("equal", "N", 4)], ("2*N", "8"), "8"),
    ([("require", "N == 4")], ("N//2", "M"), "2"),
    ([("assume", "N >= 2", "M >= 2")], ("N", "M"), "N"),
    ([("assume", "N >= 2")], ("N", "M"), "N"),
    ([("require", "N >= 2")], ("N, M", "M, N"), "N, N"),
    ([("broadcast", "N", "3"), ("require", "N != 1")], ("N", "1"), "3"),
    ([("broadcast", "N", "3"), ("broadcast", "N", "4")], ("N", "M"), "M"),
    ([("broadcast", "N", "M"), ("broadcast", "M", "K")], ("N", "M"), "broadcast(M, N)"),
    ([("assume", "N == M"), ("equal", "M", "K")], ("K", "M"), "N"),
    ([], ("N", "N", "1"), "N"),
    ([], ("N", "0"), "0"),
]


@pytest.mark.parametrize(("steps", "shapes", "output"), SIMPLIFIED)
def test_outputs_are_as_simple_as_what_is_known_lets_them_be(steps, shapes, output):
    assert str(build(steps).broadcast(*shapes)) == str(sb.shape(f"[{output}]"))


def test_a_chain_is_one_join():
    env = sb.ShapeEnv()
    output = sb.shape("()")
    for name in ["a", "b", "a", "c", "b"]:
        output = env.broadcast(output, name)
    assert str(output) == "(broadcast(a, b, c),)"
    assert str(env.condition) == "compatible(a, b, c)"
    env.equal("a", "c")
    assert str(env.broadcast(output, "b")) == "(broadcast(a, b),)"
    env.require("b >= 2")
    assert str(env.broadcast(output, "1")) == "(b,)"


# Programs, and what is said of each: verdict, condition, conflict.
ANSWERS = [
    ([], V.ALWAYS, "True", []),
    ([("broadcast", "N, 3", "N, 1")], V.ALWAYS, "True", []),
    ([("broadcast", "N", "3")], V.SOMETIMES, "N == 1 or N == 3", []),
    ([("broadcast", "N", "3"), ("broadcast", "N", "4")], V.SOMETIMES, "N == 1", []),
    ([("require", "N >= 2"), ("broadcast", "N", "3"), ("broadcast", "N", "4")], V.NEVER, "False", [0, 1, 2]),
    ([("equal", "N, M", "N")], V.NEVER, "False", [0]),
    ([("broadcast", "N", "3"), ("assume", "N == 2")], V.NEVER, "False", [0]),
    ([("equal", "N", "M"), ("equal", "M", "K"), ("broadcast", "N", "K")], V.SOMETIMES, "N == M and M == K", []),
]


@pytest.mark.parametrize(("steps", "verdict", "condition", "conflict"), ANSWERS)
def test_answers(steps, verdict, condition, conflict):
    env = build(steps, on_conflict="record")
    assert env.verdict is verdict
    assert env.condition.equivalent(condition)
    assert [op.number for op in env.conflict] == conflict


def test_a_conflict_is_raised_or_recorded():
    steps = [("equal", "N", "3"), ("broadcast", "N", "4"), ("broadcast", "M", "4")]
    recorded = build(steps, on_conflict="record")
    assert len(recorded.operations) == 3
    assert recorded.condition == sympy.false and recorded.condition == sb.Condition(False)
    raising = build(steps[:1])
    with pytest.raises(sb.IncompatibleProgramError) as caught:
        build(steps[1:2], raising)
    assert [op.name for op in caught.value.operations] == ["equal_0", "broadcast_1"]
    build(steps[2:], raising)
    assert str(raising.condition) == "N == 3 and (M == 1 or M == 4)"


def test_operations_are_known_by_their_origin():
    env = sb.ShapeEnv()
    env.broadcast("N", "3", origin="/block.0/add")
    env.broadcast("N, 1", "3, M")
    env.require("M >= 2", origin="tile")
    env.assume("M <= 9")
    assert [op.name for op in env.operations] == ["/block.0/add", "broadcast_1", "tile", "assume_3"]
    assert [f.origins for f in env.findings] == [("/block.0/add", "broadcast_1"), ("tile",)]
    assert env.operations[0].constraints[0].origin.operation == "/block.0/add"


# Names.


def test_a_name_is_one_size_and_the_first_symbol_of_it_is_kept():
    env = sb.ShapeEnv()
    N, M = sympy.symbols("N M")
    assert env.broadcast((N, M), "N, 1") == (N, M)
    assert env.symbols == (N, M)
    assert env.symbol("N") is env.broadcast("N")[0] == N
    other = sympy.Symbol("N", positive=True)
    assert env.broadcast((other,)) == (N,)
    assert [a.text for a in env.assumptions] == ["N >= 1"], "what the other one knew is assumed"
    assert env.condition.free_symbols <= {N, M}


def test_what_symbols_know_holds():
    even, odd = sympy.Symbol("E", positive=True, even=True), sympy.Symbol("O", odd=True)
    env = sb.ShapeEnv()
    assert env.broadcast((even,), "3, 1") == (3, even)
    with pytest.raises(sb.IncompatibleProgramError):
        env.equal(even, odd)
    assert env.broadcast((even,), (odd,)) == (even,), "and the odd one is 1"
    assert env.witness() == {"E": 2, "O": 1}


def test_dummies_are_sizes_of_their_own():
    env = sb.ShapeEnv()
    first, second = sympy.Dummy("N"), sympy.Dummy("N")
    env.broadcast((first,), (second,))
    env.require("N == 2 and N_1 == 1")
    assert env.names == {first: "N", second: "N_1"}, "and text means them by what they are shown as"
    assert env.condition == sympy.And(sympy.Eq(first, 2), sympy.Eq(second, 1))


def test_unknowns():
    env = sb.ShapeEnv()
    env.broadcast("?, 2", ("?", 1))
    env.broadcast("?a, 2..5", "?a, 3")
    assert list(env.names.values()) == ["?0", "?1", "?a", "?2"]
    assert env.symbol("?a") is env.symbols[2]
    env.require("?a >= 7")
    assert env.witness() == {"?0": 1, "?1": 1, "?a": 7, "?2": 3}
    fresh = env.fresh(2, 5)
    assert env.broadcast((fresh,), (env.fresh(),)) == (fresh,)


def test_a_size_met_after_an_answer_is_in_the_next():
    env = sb.ShapeEnv()
    assert env.witness() == {}
    env.symbol("N")
    assert env.witness() == {"N": 1}


# Bad input: the call, the error, and what its message says. The environment has N, equal to 3.
BAD_CALLS = [
    (lambda e: e.broadcast("N", rule="nmpy"), sb.UnknownRuleError, ["'nmpy'", "did you mean 'numpy'?"]),
    (lambda e: e.broadcast("N", axis=1), sb.RuleArgumentError, ["no attribute 'axis'"]),
    (lambda e: e.broadcast("A", "B", "C", rule="pdpd"), sb.RuleArgumentError, ["takes 2 shapes", "not 3"]),
    (lambda e: e.broadcast("A", "B", rule="pdpd", axis=5), sb.RuleArgumentError, ["axis=5", "write an axis from 0"]),
    (lambda e: e.broadcast("Q, , 3"), sb.ShapeSyntaxError, ["expected", "Q, , 3\n       ^"]),
    (lambda e: e.broadcast("Q", 3), sb.ShapeTypeError, ["3 (int) is not a shape", "write text"]),
    (lambda e: e.broadcast(sb.broadcast("N", "M")), sb.ShapeTypeError, ["Result", "pass its .shape"]),
    (lambda e: e.broadcast("Q", origin=3), sb.ShapeTypeError, ["3 (int) is not an origin", "as text"]),
    (lambda e: e.equal("Q", None), sb.ShapeTypeError, ["None (NoneType) is not a shape"]),
    (lambda e: e.equal("Q", 1.5), sb.ShapeTypeError, ["1.5 (float) is not a shape"]),
    (lambda e: e.equal("Q", -3), sb.DimensionError, ["-3: a size is not negative"]),
    (lambda e: e.equal("Q, 1", "R"), sb.IncompatibleProgramError, ["equal_1", "ranks must be equal", "2 and 1"]),
    (
        lambda e: e.broadcast("Q, N", "2, 4"),
        sb.IncompatibleProgramError,
        ["broadcast_1", "together with three", "N == 3"],
    ),
    (lambda e: e.require("Q < Q", origin="r"), sb.IncompatibleProgramError, ["r cannot hold for any sizes", "Q < Q"]),
    (lambda e: e.require("Q"), sb.ShapeSyntaxError, ["a relation such as 'N >= 2'"]),
    (lambda e: e.require("Q = 2"), sb.ShapeSyntaxError, ["expected '=='"]),
    (lambda e: e.require("?q >= 2"), sb.AssumptionError, ["no size here is named ?q", "no unknown size yet"]),
    (lambda e: e.require(3), sb.ShapeTypeError, ["3 (int) is not an assumption"]),
    (lambda e: e.assume("Q == 2", "Q <= 1 and R == 1"), sb.AssumptionError, ["Q == 2, Q <= 1 and R == 1"]),
    (
        lambda e: e.assume("Q == 2 and N == 4"),
        sb.IncompatibleProgramError,
        ["the assumption Q == 2 and N == 4 cannot hold together with three"],
    ),
    (lambda e: e.broadcast((sympy.Symbol("N", even=True), "Q")), sb.IncompatibleProgramError, ["N % 2 == 0", "three"]),
    (lambda e: e.symbol(""), sb.ShapeTypeError, ["'' (str) is not a name"]),
    (lambda e: e.symbol("?"), sb.ShapeTypeError, ["is not a name", "fresh()"]),
    (lambda e: e.fresh(-1), sb.DimensionError, ["-1: a size is not negative"]),
    (lambda e: e.fresh(5, 2), sb.DimensionError, ["the lower bound is above the upper bound 2"]),
    (lambda e: e.fresh("2"), sb.ShapeTypeError, ["'2' (str) is not a bound"]),
    (lambda e: e.guard()(), sb.BindingError, ["no size was given for N"]),
    (lambda e: e.guard()(N=3, Q=1), sb.BindingError, ["no size here is named 'Q'"]),
    (lambda e: sb.ShapeEnv(min_size=3).broadcast("0..2"), sb.AssumptionError, ["?0 in 0..2, min_size=3"]),
    (lambda e: sb.ShapeEnv(min_size=-1), sb.DimensionError, ["-1: a size is not negative"]),
    (lambda e: sb.ShapeEnv(on_conflict="skip"), sb.ShapeTypeError, ["'skip'", "on_conflict='raise' or 'record'"]),
    (lambda e: sb.ShapeEnv(assume="2*N == 3"), sb.AssumptionError, ["never true: 2*N == 3"]),
    (lambda e: sb.ShapeEnv.from_dict({}), sb.ExchangeError, ["the data", "see ShapeEnv.to_dict"]),
]


@pytest.mark.parametrize(("call", "error", "pieces"), BAD_CALLS)
def test_bad_calls(call, error, pieces):
    """An error says what, where and what to write, and nothing has happened."""
    env = sb.ShapeEnv()
    env.equal("N", 3, origin="three")
    before = env.to_dict()
    with pytest.raises(error) as caught:
        call(env)
    text = str(caught.value)
    for piece in pieces:
        assert piece in text, text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text
    if "Q ==" not in text:  # the first of two assumptions was good
        assert env.to_dict() == before


def test_an_environment_has_no_truth_value():
    with pytest.raises(TypeError, match=r"compare its \.verdict"):
        bool(sb.ShapeEnv())


CORRUPTIONS = [
    (lambda d: d.update(version=2), "version: 2 is not 1"),
    (lambda d: d.pop("symbols"), "data: has no 'symbols'"),
    (lambda d: d.update(min_size="0"), "data.min_size: is '0', not an integer"),
    (lambda d: d["operations"].append(3), "operations[2]: is 3, not an object"),
    (lambda d: d["operations"][0].update(kind="add"), "operations[0].kind: 'add' is not a kind of operation"),
    (lambda d: d["operations"][0].update(operands=["N,,"]), "operations[0].operands: "),
    (lambda d: d["operations"][0]["rule"].update(called="nmpy"), "operations[0].rule.name: there is no rule"),
    (lambda d: d["operations"][1].update(formula="N >"), "operations[1].formula: "),
]


@pytest.mark.parametrize(("corrupt", "message"), CORRUPTIONS)
def test_data_that_is_no_program(corrupt, message):
    data = build([("broadcast", "N", "3"), ("require", "N >= 2")]).to_dict()
    corrupt(data)
    with pytest.raises(sb.ExchangeError) as caught:
        sb.ShapeEnv.from_dict(data)
    assert str(caught.value).startswith(message)


def test_guards_are_of_the_condition():
    env = build([("broadcast", "N", "3"), ("assume", "N <= 2")])
    assert env.guard()(N=1)
    assert not env.guard()(N=2)
    for text in (env.to_python("fits"), env.to_cpp("fits"), env.to_smtlib("fits"), env.to_mlir("fits")):
        assert "fits" in text
        assert "N" in text
    assert len(env.to_python(with_assumptions=False)) < len(env.to_python())
    assert not build([("assume", "N >= 2"), ("broadcast", "N", "M")]).guard()(N=1, M=1)
    assert build([("assume", "N >= 2"), ("broadcast", "N", "M")]).guard(with_assumptions=False)(N=1, M=1)


# Words.


def attention():
    env = sb.ShapeEnv(assume=["batch >= 1"])
    scores = env.broadcast("batch, heads, T, S", "batch, 1, 1, S", origin="mask")
    env.equal("heads * width", "768", origin="split")
    env.broadcast(scores, "batch, 1, T, S2", origin="bias")
    env.require("T % 8 == 0", origin="tile")
    return env


def residual():
    env = sb.ShapeEnv()
    output = env.broadcast("N, C, H//2", "C, 1", origin="conv")
    env.broadcast(output, "N, C, (H+1)//2", origin="residual")
    env.broadcast(output, "D", rule="pdpd", axis=1, origin="scale")
    return env


def clash():
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast("N, 3", "M, 1", origin="add")
    env.equal("N", "4", origin="head")
    env.equal("M", "5", origin="tail")
    env.broadcast("K", "N", origin="late")
    return env


def known():
    env = sb.ShapeEnv(assume=["N >= 2"])
    env.equal("N", "M", origin="same")
    env.broadcast("M", "7", origin="seven")
    return env


EXPLAINED = {
    attention: """
        4 operations over 6 sizes: valid for some sizes under the assumptions

        valid when   heads*width is 768
                     first needed by split: equality of (heads*width,), (768,)
        fix          give sizes at which heads*width is 768, such as heads=24, width=32
        and          S and S2 are equal, or one of them is 1
                     first needed by bias: numpy of (batch, heads, T, S), (batch, 1, T, S2)
        fix          assume "S == S2" if that is known
        and          T is a multiple of 8
                     first needed by tile: require T % 8 == 0
        fix          pad T to a multiple of 8
        together     heads*width == 768 and T % 8 == 0 and (S == S2 or S == 1 or S2 == 1)
        assuming     batch >= 1
        fails at     batch=1, heads=1, T=1, S=1, width=1, S2=1: split, axis 0 (-1), 1 and 768 (sizes must be
                     equal)
        works at     batch=1, heads=24, T=8, S=1, width=32, S2=1
        """,
    residual: """
        3 operations over 4 sizes: valid for some sizes

        valid when   H is at most 3 or even
                     first needed by residual: numpy of (N, C, H//2), (N, C, (H + 1)//2)
        fix          pad H to a multiple of 2
        and          D is 1 or equals C
                     first needed by scale: pdpd(axis=1) of (N, C, H//2), (D,)
        fix          assume "C == D" if that is known
        together     (D == 1 or D == C) and (H <= 3 or H % 2 == 0)
        fails at     N=1, C=1, H=1, D=2: scale, axis 1 (-2), 2 and 1 (B's size must be 1 or A's)
        works at     N=1, C=1, H=1, D=1
        """,
    clash: """
        4 operations over 3 sizes: valid for no sizes

        impossible   add: numpy of (N, 3), (M, 1) requires N == M or N == 1 or M == 1
                     head: equality of (N,), (4,) requires N == 4
                     tail: equality of (M,), (5,) requires M == 5
        """,
    known: """
        2 operations over 2 sizes: valid for some sizes under the assumptions

        valid when   N is 7
                     by same: equality of (N,), (M,)
                     and seven: numpy of (M,), (7,)
        fix          give N the size 7
        and          M is 7
                     by same: equality of (N,), (M,)
                     and seven: numpy of (M,), (7,)
        fix          give M the size 7
        together     N == 7 and M == 7
        assuming     N >= 2
        fails at     N=2, M=1: same, axis 0 (-1), 2 and 1 (sizes must be equal)
        works at     N=7, M=7
        """,
    sb.ShapeEnv: "0 operations over 0 sizes: valid for all sizes",
}


@pytest.mark.parametrize("made", EXPLAINED, ids=lambda made: made.__name__)
def test_explanations(made):
    assert made().explain() == textwrap.dedent(EXPLAINED[made]).strip()


def test_a_refusal_explains_itself():
    env = known()
    with pytest.raises(sb.IncompatibleProgramError) as caught:
        env.require("N % 2 == 0", origin="even")
    assert str(caught.value).splitlines() == [
        "even cannot hold together with same and seven",
        "    same: equality of (N,), (M,) requires N == M",
        "    seven: numpy of (M,), (7,) requires M == 1 or M == 7",
        "    even: require N % 2 == 0",
    ]


# Threads, interrupts, size.


def hard(n, env=None):
    """Return an environment whose answers need z3, and the sizes are large."""
    steps = [("equal", f"{n}*p + q", f"{n + 1}*r + {n}"), ("assume", "p + 2 <= q"), ("require", "r >= 2")]
    return build(steps, env)


def answers(env):
    return str(env.condition), env.verdict, env.witness(), env.counterexample()


def in_threads(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_one_environment_from_one_thread_after_another():
    env, found = sb.ShapeEnv(), []
    for step in [("equal", "3*p + q", "4*r + 3"), ("assume", "p + 2 <= q"), ("require", "r >= 2")]:
        in_threads(lambda step=step: build([step], env))
        in_threads(lambda: found.append(answers(env)))
    assert found[-1] == answers(hard(3))


def test_two_environments_in_two_threads_at_once():
    numbers, found = range(3, 9), {}

    def ask(name, order):
        found[name] = {n: answers(hard(n)) for n in order}

    in_threads(lambda: ask("up", numbers), lambda: ask("down", reversed(numbers)))
    assert found["up"] == found["down"] == {n: answers(hard(n)) for n in numbers}


RECORDED = {
    "broadcast": lambda env: env.broadcast("N, 3", "M, 1"),
    "terms": lambda env: env.broadcast("N + 1", "2*M"),
    "operator": lambda env: env.matmul("N, K", "K, M"),
    "equal": lambda env: env.equal("N", "M"),
    "require": lambda env: env.require("N >= 2"),
    "assume": lambda env: env.assume("N >= 1"),
    "fresh": lambda env: env.fresh(),
}


@pytest.mark.parametrize("record", RECORDED.values(), ids=RECORDED)
def test_recording_while_another_thread_records_is_an_error(record):
    reading, done, caught = threading.Event(), threading.Event(), []

    class Slow:
        def __index__(self):
            reading.set()
            assert done.wait(60)
            return 4

    def record_meanwhile():
        assert reading.wait(60)
        try:
            record(env)
        except sb.ConcurrentUseError as error:
            caught.append(error)
        finally:
            done.set()

    env = sb.ShapeEnv()
    in_threads(lambda: env.broadcast((Slow(), "K"), "T"), record_meanwhile)
    assert len(caught) == 1 and "another thread is using this environment" in str(caught[0])
    assert [str(op) for op in env.operations] == ["broadcast_0: numpy of (4, K), (T,)"]
    record(env), record(env.fork())


@pytest.mark.parametrize("record", RECORDED.values(), ids=RECORDED)
def test_no_operation_is_lost_between_threads(record):
    env, refused, turns = sb.ShapeEnv(on_conflict="record"), [], 60

    def record_many():
        for _ in range(turns):
            try:
                record(env)
            except sb.ConcurrentUseError as error:
                refused.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        in_threads(record_many, record_many, record_many)
    finally:
        sys.setswitchinterval(interval)
    sizes = sum(label.startswith("?") for label in plain_answer(env).shown.values())
    assert len(env.operations) + sizes + len(refused) == 3 * turns
    assert env.verdict in sb.Verdict


def run(script, *arguments):
    """Run a script in a fresh process and return what it prints."""
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_light():
    assert (
        run("""
        import sys
        import symbcast as sb
        sb.ShapeEnv, sb.IncompatibleProgramError
        print(sorted({"sympy", "z3", "numpy"} & set(sys.modules)))
    """)
        == "[]\n"
    )


INTERRUPTED = """
    import os, signal, sys, threading
    import symbcast as sb
    from symbcast.core.solver.f3_linear.z3_solver import Session

    check, sent, begun = Session._check, [], []

    def counted(session, *marks):
        begun.extend(sent)
        return check(session, *marks)

    Session._check = counted

    def make():
        env = sb.ShapeEnv(on_conflict="record" if what == "conflict" else "raise")
        for n in range(24):
            env.equal(f"x{n}*y{n} + z{n}", f"{n + 2}*w{n} + x{n + 1}*x{n + 1}")
            env.require(f"x{n} + 2*y{n} <= 3*z{n} + w{n + 1}")
        return env

    ASK = {
        "adding": lambda env: [env.require(f"x{n}*y{n}*z{n} >= {n} + w{n}*x{n}") for n in range(1000)],
        "condition": lambda env: env.condition,
        "witness": lambda env: env.witness(),
        "counterexample": lambda env: env.counterexample(),
        "conflict": lambda env: env.conflict,
        "findings": lambda env: env.findings,
    }
    what = sys.argv[1]
    env = make()
    if what == "conflict":
        env.require("x1*y1 == 7*z1 + 3 and z1 == 4*w1 + 1 and w1 == x1 + y1")
        env.require("x1 >= 40 and y1 >= 40 and x1 <= 10*w1 - 500*y1")
    before = len(env.operations)

    def interrupt():
        sent.append(True)
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.1, interrupt)
    timer.start()
    heard = False
    try:
        ASK[what](env)
        timer.cancel()
    except KeyboardInterrupt:
        heard = True
    assert len(begun) <= 1, begun  # it was about to begin
    kept = [op.number for op in env.operations]
    assert kept == list(range(len(kept))) and len(kept) >= before
    env.equal("N", "M", origin="after")
    assert str(env.broadcast("M", "N")) == "(N,)"
    small = sb.ShapeEnv()
    small.equal("2*p + q", "2*q + 3")
    print("interrupted" if heard else "finished", small.verdict.value, small.witness())
"""


@pytest.mark.parametrize("what", ["adding", "condition", "witness", "counterexample", "conflict", "findings"])
def test_ctrl_c_is_heard_at_once_and_does_no_harm(what):
    assert run(INTERRUPTED, what) == "interrupted sometimes {'p': 2, 'q': 1}\n"


def test_a_refusal_that_is_broken_off_leaves_no_trace(monkeypatch):
    """As by an interrupt while the clash is looked for."""
    env = known()
    before = env.to_dict()

    def broken_off(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("symbcast.core.programs.program.ProgramAnswers", broken_off)
    with pytest.raises(KeyboardInterrupt):
        env.broadcast("M, Q", "9, 2")
    monkeypatch.undo()
    assert env.to_dict() == before
    assert env.broadcast("M, Q", "7, 2").rank == 2


def grown(count):
    """Return how many bytes an operation takes, and the environment of so many."""
    env = sb.ShapeEnv()
    output = env.broadcast("batch, 1, T", "T, 1")
    tracemalloc.start()
    for _ in range(count):
        output = env.broadcast(output, output)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used / count, env


def test_operations_take_little_memory_each_and_no_recursion():
    limit = sys.getrecursionlimit()
    few, _ = grown(10_000)
    try:
        sys.setrecursionlimit(300)
        many, env = grown(100_000)
        assert env.verdict is V.ALWAYS
        assert env.fork().witness() == {"batch": 1, "T": 1}
    finally:
        sys.setrecursionlimit(limit)
    assert many < 500
    assert abs(many - few) < 30


def test_a_long_join_with_a_term_that_may_be_negative_says_nothing_of_others():
    env = sb.ShapeEnv()
    joined = env.broadcast(*[f"s{n}" for n in range(8)], "a - 1")
    env.broadcast("x", "y")
    for name in ("z1", "z2"):
        joined = env.broadcast(joined, name)
    env.require("x >= 2", "z2 >= 3")
    assert str(env.broadcast("z2")) == "(z2,)"
    env.equal("x", 5)
    env.equal("z2", 7)
    assert env.verdict is sb.Verdict.SOMETIMES


def test_orders_that_clash_are_refused():
    env = sb.ShapeEnv()
    env.require("a <= b", "b <= c", "c <= a")
    with pytest.raises(sb.IncompatibleProgramError):
        env.require("a != c")


def test_a_comparison_without_a_value_is_false_and_its_alternatives_count():
    env = sb.ShapeEnv()
    env.require("5 // (N - M) == 2 or P == 1")
    guard = env.guard()
    assert guard(env.witness()) and not guard(env.counterexample())
    assert guard(N=1, M=1, P=1)


def test_an_output_that_was_written_wrong_is_found_again():
    env = sb.ShapeEnv()
    env.broadcast("N", "M")
    data = env.to_dict()
    data["operations"][0]["output"] = "(7,)"
    assert sb.ShapeEnv.from_dict(data).to_dict() == env.to_dict()


# Assumptions, and what is required: the smallest sizes at which each conjunct fails, beside the others where it can.
BREAKABLE = [
    ([], ["N == M", "K % 3 == 0"]),
    ([], ["N == M or N == 1 or M == 1", "M == K or M == 1 or K == 1"]),
    (["N >= 2"], ["M % N == 0", "M <= 6"]),
    (["N == K"], ["M >= 2*N", "K <= 3"]),
    (["N + M <= 6"], ["N*M == K", "K != 2"]),
    ([], ["N <= M", "M <= K", "K <= N + 1"]),
    (["N >= 1", "M >= 1", "K >= 1"], ["N == 2", "M == N + K"]),
]


@pytest.mark.parametrize(("assumed", "required"), BREAKABLE)
def test_a_conjunct_fails_at_the_smallest_sizes(assumed, required):
    env = sb.ShapeEnv(assume=assumed)
    env.require(*required)
    for clause in env.clauses:
        others = [c for c in env.clauses if c != clause]
        symbols = plain_answer(env).shown
        points = [dict(zip(symbols, sizes, strict=True)) for sizes in product(range(9), repeat=len(symbols))]
        allowed = [p for p in points if all(holds_at(a.formula, p) for a in env.assumptions)]
        failing = [p for p in allowed if not holds_at(clause, p)]
        beside = [p for p in failing if all(holds_at(c, p) for c in others)]
        found = plain_answer(env).counterexample(clause)
        assert found is not None
        least = min(beside or failing, key=lambda p: (list(p.values()).count(0), sum(p.values())))
        sizes = {s: found[name] for s, name in plain_answer(env).shown.items()}
        assert sizes in (beside or failing)
        assert (list(sizes.values()).count(0), sum(sizes.values())) == (
            list(least.values()).count(0),
            sum(least.values()),
        )


ALONE = ["a == c", "a == c or b == 1", "a + 1 == max(b, c) or a == 0", "b < a", "a*b == c"]


@pytest.mark.parametrize("required", ALONE)
def test_an_only_conjunct_fails_where_the_condition_does(required):
    env = sb.ShapeEnv()
    env.broadcast("c, b, a", "1")
    env.require(required)
    (clause,) = env.clauses
    assert plain_answer(env).counterexample(clause) == env.counterexample()


def test_what_an_assumption_implies_fails_nowhere():
    env = sb.ShapeEnv(assume="N >= 3")
    env.require("N != 1")
    assert env.clauses == ()
    assert plain_answer(env).counterexample(sb.Condition("N >= 2").formula) is None


def test_what_the_condition_implies_comes_from_operations():
    env = sb.ShapeEnv()
    env.require("N == M", origin="first")
    env.require("M == K", origin="second")
    requirement = plain_answer(env).requirement(sb.Condition("N == K").formula)
    assert [op.origin for op in requirement.origins] == ["first", "second"]


def test_assumptions_that_contradict_what_was_refused_are_an_error():
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast("0", "a")
    env.assume("a >= 2")
    with pytest.raises(sb.AssumptionError, match="contradict"):
        env.assume("2*a <= a")
    assert [a.text for a in env.assumptions] == ["a >= 2"]
    assert env.verdict is sb.Verdict.NEVER
