"""Programs of broadcasts of names and integers, held against every binding of a small model."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain_sizes import INTEGERS, NAMES, Size, holds, irredundant, points, smallest

import symbcast as sb
from symbcast.core.algebra.formulas import AnyOf, Compatible, equal
from symbcast.core.solver.f1_names import many_broadcasts
from symbcast.core.solver.f1_names.many_broadcasts import ConflictError, MaskProgram
from symbcast.core.solver.f1_names.one_broadcast import Conflict

a, b, c, d = NAMES

sizes = st.one_of(*[st.sampled_from(NAMES)] * 3, st.sampled_from(INTEGERS))
shapes = st.lists(sizes, max_size=3).map(tuple)
operands = st.one_of(shapes, st.integers(-3, -1))
"""A shape, or the output of an operation before, counted from the last."""
programs = st.lists(st.lists(operands, min_size=1, max_size=3).map(tuple), min_size=1, max_size=7)


class Fed:
    """A program as the engine takes it, without those operations that it refuses."""

    def __init__(self, operations=(), program=None):
        self.program = program or MaskProgram()
        self.outputs = []
        for operation in operations:
            self.add(operation)

    def add(self, operation):
        """Add an operation; return whether it was taken in."""
        try:
            self.outputs.append(self.program.broadcast(*(self.operand(o) for o in operation)))
        except ConflictError:
            return False
        return True

    def operand(self, operand):
        if isinstance(operand, int):
            return self.outputs[operand] if -operand <= len(self.outputs) else ()
        return operand


POINTS = points(NAMES)
COLUMNS = {name: np.array([point[name] for point in POINTS]) for name in NAMES}


def joined(columns):
    """Return the join at every point, and where it is defined."""
    found, defined = np.ones(len(POINTS), int), np.ones(len(POINTS), bool)
    for column in columns:
        defined &= (found == 1) | (column == 1) | (found == column)
        found = np.where(found == 1, column, found)
    return found, defined


def at_all(dim):
    """Return an axis of a shape at every point, wherever it is defined."""
    if isinstance(dim, tuple):
        return joined([COLUMNS[member] for member in dim])[0]
    return np.full(len(POINTS), dim) if isinstance(dim, int) else COLUMNS[dim]


class Run(Fed):
    """A program, where all its operations are valid, and what each gives at every point."""

    def __init__(self):
        super().__init__()
        self.valid = np.ones(len(POINTS), bool)
        self.values = []

    def add(self, operation):
        """Add an operation, which has to be taken in where some point allows it."""
        shapes = [self.value(operand) for operand in operation]
        rank = max(map(len, shapes))
        axes = [joined([s[-back] for s in shapes if len(s) >= back]) for back in range(rank, 0, -1)]
        valid = np.all([self.valid, *(defined for _, defined in axes)], axis=0)
        found = super().add(operation)
        assert found is bool(valid.any())
        if found:
            self.valid = valid
            self.values.append([column for column, _ in axes])
        return found

    def value(self, operand):
        if isinstance(operand, int):
            return self.values[operand] if -operand <= len(self.values) else []
        return [at_all(size) for size in operand]

    def check(self):
        program = self.program
        clauses = program.clauses()
        for point, valid in zip(POINTS, self.valid, strict=True):
            assert all(holds(clause, point) for clause in clauses) is bool(valid)
        assert irredundant(clauses, POINTS)
        assert program.witness() == self.smallest(self.valid)
        assert program.counterexample() == self.smallest(~self.valid)

    def smallest(self, mask):
        return smallest([{n: POINTS[i][n] for n in self.program.names} for i in np.flatnonzero(mask)])


EXAMPLES = [
    [((a, b), (3, b)), ((a, b), (4, a)), (-1, (c, c))],
    [((a, b, c), (b, c, a)), (-1, (c, 3, d)), (-1, (4, a, 2)), (-2, -1)],
    [((a,), (b,)), (-1, (c,)), ((3, 4), (a, a)), (-2, (d,)), (-1, -3)],
    [((a, b), (b, c)), ((2, 3), (1, 4)), (-1, (2,))],
    [((a, b, c), (1, d, 1)), ((a, a), (2, 3), (b, 0))],
    [((a,), (b,), (c,)), ((a,), (d,)), ((b,), (d,)), ((c,), (d,))],
]


def with_examples(test):
    for program in EXAMPLES:
        test = example(program)(test)
    return given(programs)(test)


@pytest.mark.parametrize("shift", [0, 1, 10])
@with_examples
def test_answers_are_those_of_all_bindings(shift, operations):
    with pytest.MonkeyPatch.context() as patched:
        # Blocks of one, two and 1,024 names.
        patched.setattr(many_broadcasts, "_SHIFT", shift)
        patched.setattr(many_broadcasts, "BLOCK", 1 << shift)
        check_answers(operations)


def check_answers(operations):
    run = Run()
    for operation in operations:
        if not run.add(operation):
            continue
        written = run.program.shape(run.outputs[-1])
        assert len(written) == len(run.values[-1])
        for dim, column in zip(written, run.values[-1], strict=True):
            assert np.array_equal(at_all(dim)[run.valid], column[run.valid])
    run.check()


@with_examples
def test_no_member_of_an_output_can_be_left_out(operations):
    run = Run()
    for operation in operations:
        if not run.add(operation):
            continue
        for dim in run.program.shape(run.outputs[-1]):
            for member in dim if isinstance(dim, tuple) else [dim] if not isinstance(dim, int) else []:
                rest = tuple(
                    other for other in NAMES if isinstance(dim, tuple) and other in dim and other is not member
                )
                assert (at_all(rest) != at_all(dim))[run.valid].any()


def state(program):
    return program.names.copy(), program.clauses(), program.counterexample()


@given(programs, programs)
def test_what_was_added_can_be_taken_back(first, second):
    fed = Fed(first)
    program, outputs = fed.program, fed.outputs.copy()
    before, mark = state(program), program.mark()
    for operation in second:
        fed.add(operation)
    after = state(program)
    program.undo(mark)
    assert state(program) == before
    again = Fed(program=program)
    again.outputs = outputs
    for operation in second:
        again.add(operation)
    assert state(program) == after
    assert again.outputs == fed.outputs


@given(programs, programs)
def test_a_copy_goes_its_own_way(first, second):
    fed = Fed(first)
    before = state(fed.program)
    other = Fed(program=fed.program.copy())
    other.outputs = fed.outputs.copy()
    for operation in second:
        other.add(operation)
    assert state(fed.program) == before
    for operation in second:
        fed.add(operation)
    assert state(fed.program) == state(other.program) == state(Fed([*first, *second]).program)
    assert fed.outputs == other.outputs


@given(programs, shapes, shapes)
def test_a_refused_operation_leaves_no_trace(operations, left, right):
    program = Fed(operations).program
    before = state(program)
    with pytest.raises(ConflictError):
        program.broadcast((Size("new"), *left, 2, 7), (*right, 3, a))
    assert state(program) == before


@with_examples
def test_the_operations_of_a_requirement_imply_it(operations):
    env, outputs = sb.ShapeEnv(), []
    for operation in operations:
        operands = [taken(operand, outputs) for operand in operation]
        with contextlib.suppress(sb.IncompatibleProgramError):
            outputs.append(env.broadcast(*operands))
    assert {f.formula for f in env.findings} == set(env.clauses)
    named = {op.name: op for op in env.operations}
    for finding in env.findings:
        alone = sb.ShapeEnv()
        for name in finding.origins:
            alone.broadcast(*named[name].operands)
        assert alone.implies(finding.condition)


def taken(operand, outputs):
    if isinstance(operand, int):
        return outputs[operand] if -operand <= len(outputs) else ()
    return tuple(size if isinstance(size, int) else sb.symbol(size.name) for size in operand)


def test_operands_may_mix_names_and_codes():
    program = MaskProgram()
    y = program.broadcast((a, 3), (b, 1))
    assert program.broadcast((y[0], c), (1, 3)) == (y[0], 3)
    assert program.shape(y) == ((a, b), 3)
    assert program.clauses() == [Compatible((a, b)), AnyOf((equal(c, 1), equal(c, 3)))]


def test_a_join_that_is_handed_over_has_to_be_defined():
    program = MaskProgram()
    joined = program.code((a, b))
    assert program.clauses() == []
    assert program.broadcast((joined, 2)) == (joined, 2)
    assert program.clauses() == [Compatible((a, b))]


def test_a_name_that_is_found_to_be_one_is_written_so():
    program = MaskProgram()
    y = program.broadcast((a,), (b,))
    program.broadcast((a, a), (3, 4))
    assert program.shape(program.broadcast((a,), (1,))) == (1,)
    assert program.shape(program.broadcast(y, (1, 1))) == (1, b)
    assert program.shape(program.broadcast(y, (c,))) == ((b, c),)
    assert program.clauses() == [equal(a, 1), Compatible((b, c))]
    assert program.shape([program.simplified(code) for code in y]) == (b,)


def test_shapes_that_came_before_are_written_by_what_is_known_now():
    program = MaskProgram()
    assert program.shape(program.broadcast((a, c), (b, c))) == ((a, b), c)
    program.broadcast((a, a), (3, 4))
    assert program.shape(program.broadcast((a, c), (b, c))) == (b, c)
    assert program.shape(program.broadcast((c, a), (c, b))) == (c, b)


def test_a_number_that_is_free_after_undoing_means_another_join():
    program = MaskProgram()
    program.read((d,))
    y = program.broadcast((a,), (b,), (c,))
    mark = program.mark()
    program.broadcast((a, a), (3, 4))
    shortened = program.broadcast(y, (1,))
    program.undo(mark)
    joined = program.code((b, d))
    assert (joined,) == shortened
    program.broadcast((joined,))
    assert program.clauses() == [Compatible((a, b, c)), Compatible((d, b))]


def test_what_a_later_axis_tells_is_so_on_the_earlier_ones():
    program = MaskProgram()
    assert program.shape(program.broadcast((a, b, a, a), (c, a, 2, 3))) == (c, b, 2, 3)


def test_a_conflict_says_which_operands_clash():
    program = MaskProgram()
    y = program.broadcast((a, 3), (b, 1))
    with pytest.raises(ConflictError, match=r"operands 0 and 2 clash on axis 2 \(-1 from the end\)") as raised:
        program.broadcast(y, (a,), (5, 5, 4))
    assert raised.value.conflict == Conflict(2, 3, 0, 2)


def test_an_interrupt_leaves_the_program_as_it_was(monkeypatch):
    program = MaskProgram()
    program.broadcast((a, b), (b, 3))
    before = state(program)

    def interrupted(self, number, mask):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(MaskProgram, "_restrict", interrupted)
        with pytest.raises(KeyboardInterrupt):
            program.broadcast((c, d), (b, 3))
    assert state(program) == before
    program.broadcast((c, d), (b, 3))
    assert Compatible((b, c)) in program.clauses()


def test_a_join_may_grow_to_thousands_of_names():
    program = MaskProgram()
    names = [Size(f"s{n}") for n in range(2000)]
    y = (names[0],)
    for name in names[1:]:
        y = program.broadcast(y, (name,))
    assert program.clauses() == [Compatible(tuple(names))]
    assert program.counterexample() == {**dict.fromkeys(names, 1), names[1998]: 2, names[1999]: 3}
    assert program.members(y[0]) == tuple(names)
    program.broadcast(y, (3,))
    assert program.clauses() == [AnyOf((equal(name, 1), equal(name, 3))) for name in names]


def test_a_long_join_without_the_names_that_are_one_stays_one_clause():
    program = MaskProgram()
    names = [Size(f"s{n}") for n in range(30)]
    y = (names[0],)
    for n, name in enumerate(names[1:]):
        y = program.broadcast(y, (name,))
        if n % 2:
            program.broadcast((name, name), (3, 4))
    left = [name for n, name in enumerate(names) if n == 0 or n % 2]
    assert program.clauses()[0] == Compatible(tuple(left))
    assert program.shape([program.simplified(y[0])]) == (tuple(left),)
