"""Operations that a program has already: recorded again without reading them, with the same answers."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb

N = sympy.Symbol("N", integer=True, positive=True)

# An operation, what is learnt then, and the output of the same operation afterwards.
LEARNT = [
    (("transpose", "N, M", (1, 0)), ("equal", "N", "M"), "N, N"),
    (("transpose", "N, M", (1, 0)), ("require", "M == 3"), "3, N"),
    (("transpose", "2*N, M", (1, 0)), ("assume", "N == 4"), "M, 8"),
    (("broadcast", "2*N, M", "K, 1"), ("require", "N >= 1"), "2*N, M"),
    (("matmul", "N, M", "M, K"), ("transpose", "M, K", (1, 0)), "N, K"),
    (("concat", ["N, M", "N, K"], 1), ("equal", "M", "K"), "N, 2*M"),
    (("matmul", "B, 1, 2, 3", "C, 3, 4"), ("assume", "B >= 2"), "B, C, 2, 4"),
    (("matmul", "B, 2, 3", "C, 3, 4"), ("assume", "C >= 2"), "C, 2, 4"),
    (("equal", "N, M", "M, K"), ("require", "K == 7"), "7, 7"),
    (("expand", (N, 1), ("N", 3)), ("require", "N == 2"), "2, 3"),
]


@pytest.mark.parametrize(("operation", "fact", "output"), LEARNT)
def test_outputs_of_repeated_operations_follow_what_was_learnt(operation, fact, output):
    env = sb.ShapeEnv()
    name, *arguments = operation
    first = getattr(env, name)(*arguments)
    assert getattr(env, name)(*arguments) == first
    branch = env.fork()
    getattr(env, fact[0])(*fact[1:])
    assert str(getattr(env, name)(*arguments)) == str(sb.shape(f"[{output}]"))
    assert getattr(branch, name)(*arguments) == first
    assert [op.name for op in env.operations if op.kind == name][-1] == f"{name}_{len(env.operations) - 1}"


# Calls that Python takes to be equal, but that differ: the first is valid.
ALIKE = [
    (("reduce", "N, 3", 1), ("reduce", "N, 3", True)),
    (("reduce", "N, 3", 1, True), ("reduce", "N, 3", 1, 1)),
    (("transpose", "N, 3", (1, 0)), ("transpose", "N, 3", (True, 0))),
    (("matmul", (1, 3), (3, "N")), ("matmul", (True, 3), (3, "N"))),
    (("tile", "N", (1,)), ("tile", "N", (1.0,))),
    (("broadcast", "N, 3", (1, "M")), ("broadcast", "N, 3", (1.0, "M"))),
]


@pytest.mark.parametrize(("valid", "wrong"), ALIKE)
def test_equal_values_of_other_types_are_other_operations(valid, wrong):
    env = sb.ShapeEnv()
    env.matmul("A, B", "B, C")
    for _ in range(2):
        getattr(env, valid[0])(*valid[1:])
        with pytest.raises(sb.SymbcastError):
            getattr(env, wrong[0])(*wrong[1:])


def test_each_question_mark_is_a_new_size():
    env = sb.ShapeEnv()
    for _ in range(3):
        env.transpose("?, ?a, N", (2, 1, 0))
    assert [str(s) for s in env.symbols] == ["?0", "?a", "N", "?1", "?2"]
    opened = [env.reduce("..., N", -1) for _ in range(2)]
    assert opened[0].dims != opened[1].dims


def test_arrays_are_read_each_time():
    env, array = sb.ShapeEnv(), np.zeros((2, 3))
    assert [str(env.transpose(array)) for _ in range(2)] == ["(3, 2)"] * 2
    array.resize((3, 5), refcheck=False)  # a debugger may refer to it too
    assert str(env.transpose(array)) == "(5, 3)"


def test_a_refused_operation_is_refused_again():
    env = sb.ShapeEnv()
    env.require("N == 3")
    for _ in range(2):
        with pytest.raises(sb.IncompatibleProgramError):
            env.matmul("M, N", "4, K")
    assert env.verdict is sb.Verdict.SOMETIMES
    recorded = sb.ShapeEnv(on_conflict="record")
    recorded.require("N == 3")
    shapes = [recorded.matmul("M, N", "4, K") for _ in range(2)]
    assert shapes[0] == shapes[1]
    assert len(recorded.conflict) == 2


SIZES = st.sampled_from(["N", "M", "K", "1", "3", "2*N", "N + M"])
SHAPES = st.lists(SIZES, min_size=2, max_size=3).map(", ".join)
STEPS = st.one_of(
    st.tuples(st.just("broadcast"), SHAPES, SHAPES),
    st.tuples(st.just("matmul"), SHAPES, SHAPES),
    st.tuples(st.just("transpose"), SHAPES),
    st.tuples(st.just("reduce"), SHAPES, st.just(-1)),
    st.tuples(st.just("concat"), st.tuples(SHAPES, SHAPES), st.just(0)),
    st.tuples(st.just("reshape"), SHAPES, st.just((-1,))),
    st.tuples(st.just("equal"), SHAPES, SHAPES),
    st.tuples(st.just("require"), st.sampled_from(["N >= 1", "M == 3", "N == M", "N % 2 == 0", "K != 1"])),
)


@given(st.lists(STEPS, min_size=1, max_size=4), st.lists(st.integers(0, 3), max_size=8))
def test_how_an_operation_is_written_changes_nothing(pool, order):
    """A text with other blanks is read anew, so it must give what the same text gives from the second time on."""
    same, anew = sb.ShapeEnv(on_conflict="record"), sb.ShapeEnv(on_conflict="record")
    for n, place in enumerate([*range(len(pool)), *order]):
        name, *arguments = pool[place % len(pool)]
        outputs = [_run(same, name, arguments), _run(anew, name, _with_blanks(arguments, n))]
        assert outputs[0] == outputs[1]
    assert str(same.condition) == str(anew.condition)
    assert same.witness() == anew.witness()
    assert same.counterexample() == anew.counterexample()


def _run(env, name, arguments):
    try:
        return str(getattr(env, name)(*arguments))
    except sb.SymbcastError as error:
        return f"{type(error).__name__}: {error}".replace(" ", "")


def _with_blanks(arguments, count):
    return [
        a + " " * (count + 1) if isinstance(a, str) else tuple(_with_blanks(a, count)) if isinstance(a, tuple) else a
        for a in arguments
    ]


def test_masks_of_names_that_meet_neighbours_stay_short():
    env = sb.ShapeEnv()
    for n in range(500):
        env.transpose(f"a{n}, b{n}", (1, 0))
        env.broadcast(f"a{n}, 3", f"b{n}, 1")
    sets = env._program._names.joins._sets._sets
    assert sum(mask.bit_length() for _, mask in sets) <= 2 * len(sets)
    assert len(env.clauses) == 500


def test_names_that_are_far_apart_share_no_masks():
    env, count = sb.ShapeEnv(), 3000
    for n in range(count):
        env.broadcast(f"n{n}, 3", f"n{n * 7919 % count}, 1")
    sets = env._program._names.joins._sets._sets
    assert sum(value[1].bit_length() for value in sets if len(value) == 2) <= 100 * count
    assert len(sets) <= 3 * count
    assert len(env.clauses) == len(
        {frozenset((n, n * 7919 % count)) for n in range(count)} - {frozenset((n,)) for n in range(count)}
    )
