"""Cases of broadcasts and programs, held against every binding of small sizes."""

import itertools
from math import prod

import programs
import pytest
import questions
from hypothesis import given, settings
from hypothesis import strategies as st

import symbcast as sb
from symbcast.solver.evaluation import size_at

UNKNOWN = {"questions": 0, "undecided": 0}
"""How many questions were asked, and of how many it stayed open whether a case is empty."""


def at(shape, sizes):
    return tuple(size_at(d, sizes) for d in shape.dims)


def lies(axis_sizes, places, output):
    """Yield the axis of the output, the size there and the stride of each axis of a contiguous operand."""
    for n, (size, axis) in enumerate(zip(axis_sizes, places, strict=True)):
        if 0 <= axis < len(output):
            yield axis, size, prod(axis_sizes[n + 1 :])


def check_layout(layout, sizes, operands, places, output):
    """Check what a case says of a broadcast at sizes that lie in it."""
    assert at(layout.shape, sizes) == output
    for n, operand in enumerate(operands):
        concrete = at(operand, sizes)
        assert at(layout.operands[n], sizes) == concrete
        read = {axis: (size, stride) for axis, size, stride in lies(concrete, places[n], output)}
        for axis, (stretched, stride) in enumerate(
            zip(layout.stretched[n], at(layout.strides[n], sizes), strict=True)
        ):
            size, own = read.get(axis, (1, 0))
            assert size == 1 if stretched else size == output[axis]
            assert stride == (0 if stretched else own)


def check_cases(result, question):
    cases = result.cases()
    assert cases.is_complete
    symbols = {} if result.scope is None else {name: s for s, name in result.scope.names.items()}
    places = result.rule.places([s.rank for s in result.operands]).of
    read = [n for n in range(len(result.operands)) if result.rule.operand_name(n) != "target"]
    met = set()
    for sizes, output in question.outcomes():
        found = [c for c in cases if c.guard.holds(sizes)]
        assert len(found) == (output is not None), (sizes, found)
        for case in found:
            met.add(case.number)
            by_symbol = {symbols[name]: size for name, size in sizes.items()}
            (layout,) = case.layouts
            operands = [result.operands[n] for n in read]
            check_layout(layout, by_symbol, operands, [places[n] for n in read], output)
    for case in cases:
        witness = case.witness()
        assert case.guard.holds(witness)
        if max(witness.values(), default=0) in questions.SIZES:
            assert case.number in met


@given(questions.questions())
def test_each_valid_size_lies_in_one_case_that_says_what_happens_there(question):
    try:
        result = question.ask()
    except sb.AssumptionError:
        return  # the assumptions leave no sizes
    UNKNOWN["questions"] += 1
    try:
        check_cases(result, question)
    except sb.UndecidedError:
        UNKNOWN["undecided"] += 1


def test_few_questions_stay_open(record_property):
    record_property("undecided", f"{UNKNOWN['undecided']} of {UNKNOWN['questions']}")
    assert UNKNOWN["undecided"] * 20 <= UNKNOWN["questions"]


@settings(max_examples=40)
@given(programs.programs(longest=5))
def test_each_valid_size_of_a_program_lies_in_one_case(program):
    run = program.run()
    try:
        cases = run.env.cases(limit=200)
    except sb.UndecidedError:
        return
    names = {op.name: n for n, op in enumerate(run.env.operations)}
    for point in run.points(range(5)):
        assumed, valid, _ = run.outcome(point)
        if not assumed:
            continue
        valid = valid and run.env.verdict is not sb.Verdict.NEVER
        sizes = {run.env.shown[s]: size for s, size in point.items()}
        found = [c for c in cases if c.guard.holds(sizes)]
        assert len(found) <= 1
        if cases.is_complete:
            assert len(found) == valid
        else:
            assert cases.rest.holds(sizes) == (valid and not found)
        for layout in found[0].layouts if found else ():
            op = run.env.operations[names[layout.name]]
            operands = [s for n, s in enumerate(op.operands) if op.rule.operand_name(n) != "target"]
            places = op.rule.places([s.rank for s in op.operands]).of
            read = [places[n] for n in range(len(op.operands)) if op.rule.operand_name(n) != "target"]
            output = op.rule.concrete([at(s, point) for s in op.operands])
            check_layout(layout, point, operands, read, output)
