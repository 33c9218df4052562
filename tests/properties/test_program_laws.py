"""The laws of whole programs: what holds of one call holds of many, and of their copies."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from functools import reduce

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from properties import strategies
from properties.laws import V, answered, check_evidence, check_verdict, condition_of, shown
from properties.strategies import Program, programs

import symbcast as sb

few = settings(max_examples=12 if settings.default.max_examples <= 60 else settings.default.max_examples)
"""Whole programs take long to ask about: of few in continuous integration, of all on request."""

KINDS = {
    "names": strategies.plain_programs,
    "terms": strategies.small_programs,
    "products": programs(names=(1, 3), rank=2, longest=5, is_linear=False),
}
of_every_kind = pytest.mark.parametrize("kind", KINDS)


def build(program: Program) -> tuple[sb.ShapeEnv, dict[int, sb.Shape]]:
    return answered(program, program.build)


@of_every_kind
@few
@given(st.data())
def test_the_answer_about_a_program_is_what_integers_say(kind, data):
    program = data.draw(KINDS[kind])
    env, outputs = build(program)
    outcomes = list(program.outcomes())
    check_verdict(program, env.verdict, env.reason, outcomes)
    names = list(env.names.values())
    guard = env.guard()
    texts = {number: str(shape) for number, shape in outputs.items()}
    for sizes, found in outcomes:
        assert guard(**{name: sizes.get(name, 1) for name in names}) is (found is not None), (sizes, env.condition)
        for number, text in texts.items() if found is not None else ():
            assert shown(text, sizes) == found[number], (sizes, number, text)
    if all(name in program.names for name in names):
        check_evidence(program, env, names, outcomes)
    if program.is_linear:
        assert not env.unproven, env.reason


@of_every_kind
@few
@given(st.data())
def test_a_copy_of_a_program_answers_alike(kind, data):
    program = data.draw(KINDS[kind])
    env, outputs = build(program)
    before = env.to_dict()
    again, same = pickle.loads(pickle.dumps((env, outputs)))
    for made, shapes in ((again, same), copy.deepcopy((env, outputs))):
        assert made.to_dict() == before
        assert shapes == outputs
        assert [hash(s) for s in shapes.values()] == [hash(s) for s in outputs.values()]
        assert [op.operands for op in made.operations] == [op.operands for op in env.operations]
        fork = env.fork()
        for number, shape in outputs.items():
            assert made.broadcast(shapes[number], "a, 1") == fork.broadcast(shape, "a, 1")
        assert made.to_dict() == fork.to_dict()


@of_every_kind
@few
@given(st.data())
def test_a_program_reads_back_as_it_was_written(kind, data):
    env, _ = build(data.draw(KINDS[kind]))
    written = env.to_dict()
    assert json.loads(json.dumps(written)) == written
    assert sb.ShapeEnv.from_dict(json.loads(json.dumps(written))).to_dict() == written


@few
@given(programs(longest=4))
def test_a_program_is_the_conjunction_of_its_calls(program):
    """Each call is made on the shapes that the calls before it gave."""
    env, _ = build(program)
    conditions, shapes, given = [], {}, {"assume": [sb.Condition(a.text) for a in program.assume]}
    given["min_size"] = program.min_size
    for number, step in enumerate(program.steps):
        if step.relation is not None:
            conditions.append(sb.Condition(step.relation.text))
            continue
        operands = [shapes[o] if isinstance(o, int) else f"[{', '.join(o)}]" for o in step.operands]
        result = sb.broadcast(*operands, rule="none" if step.kind == "equal" else "numpy", **given)
        if result.shape is None:
            assert env.verdict is V.NEVER
            return
        shapes[number] = result.shape
        conditions.append(sb.Condition(result))
    whole = reduce(lambda one, other: one & other, conditions)
    joined, guard = condition_of(whole), env.guard()
    for sizes, outputs in program.outcomes():
        bound = {name: sizes.get(name, 1) for name in env.names.values()}
        assert joined(sizes) is guard(**bound) is (outputs is not None), (sizes, whole)
    decided = whole.verdict_under(given["assume"], program.min_size)
    assert decided is env.verdict


ASKED = {
    "verdict": lambda env: env.verdict,
    "condition": lambda env: str(env.condition),
    "witness": lambda env: env.witness(),
    "counterexample": lambda env: env.counterexample(),
    "conflict": lambda env: [op.number for op in env.conflict],
    "findings": lambda env: [(f.text, f.origins) for f in env.findings],
    "explanation": lambda env: env.explain(),
}


@few
@given(strategies.every_program, st.permutations(list(ASKED)))
def test_the_order_of_questions_changes_no_answer(program, order):
    (env, _), (again, _) = build(program), build(program)
    first = {name: ask(env) for name, ask in ASKED.items()}
    assert {name: ASKED[name](again) for name in order} == first
    assert again.to_dict() == env.to_dict()


@few
@given(programs(longest=5), st.integers(0, 5))
def test_asking_between_operations_changes_no_answer(program, pause):
    """What was worked out for a part of a program is no part of the answer about the whole."""
    env, _ = build(program)

    def build_in_parts():
        made = sb.ShapeEnv([a.text for a in program.assume], program.min_size, on_conflict="record")
        outputs = {}
        for number, step in enumerate(program.steps):
            if number >= pause:
                made.to_dict()
            if step.relation is not None:
                made.require(step.relation.text)
                continue
            given = [outputs[o] if isinstance(o, int) else f"[{', '.join(o)}]" for o in step.operands]
            outputs[number] = made.equal(*given) if step.kind == "equal" else made.broadcast(*given)
        return made

    assert build_in_parts().to_dict() == env.to_dict()


# Other processes.

ELSEWHERE = """
import json, pickle, sys
import symbcast as sb
asked, is_reversed = pickle.load(sys.stdin.buffer)
found = {}
for number in sorted(range(len(asked)), reverse=is_reversed):
    operands, given = asked[number]
    try:
        result = sb.broadcast(*operands, **given)
        found[number] = [result.to_dict(), str(result.condition), result.explain()]
    except sb.SymbcastError as error:
        found[number] = [str(error)]
print(json.dumps([found[number] for number in range(len(asked))]))
"""


def test_neither_the_hash_seed_nor_what_was_asked_before_changes_an_answer():
    drawn = []

    @settings(max_examples=60, derandomize=True, database=None, phases=[Phase.generate])
    @given(strategies.every)
    def draw(question):
        given = {"rule": question.rule, "assume": question.texts, "min_size": question.min_size}
        drawn.append((question.operands, {**given, **question.attributes}))

    draw()
    told = {}
    for seed, is_reversed in (("0", False), ("1", True), ("2", False)):
        done = subprocess.run(
            [sys.executable, "-c", ELSEWHERE],
            input=pickle.dumps((drawn, is_reversed)),
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert done.returncode == 0, done.stderr.decode()
        told[seed] = json.loads(done.stdout)
    for asked, *answers in zip(drawn, *told.values(), strict=True):
        assert all(answer == answers[0] for answer in answers), asked
