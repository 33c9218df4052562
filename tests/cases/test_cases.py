"""Cases of broadcasts and programs, held against every binding of small sizes."""

import itertools
import json
import subprocess
from math import prod

import programs
import pytest
import questions
from exchange import consumers
from hypothesis import given, settings

import symbcast as sb
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.solver.evaluation import size_at

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
        for axis, (stretched, stride) in enumerate(zip(layout.stretched[n], at(layout.strides[n], sizes), strict=True)):
            size, own = read.get(axis, (1, 0))
            assert size == 1 if stretched else size == output[axis]
            assert stride == (0 if stretched else own)


def check_cases(result, question):
    cases = result.cases()
    assert cases.is_complete
    symbols = {name: s for s, name in result.guard().names.items()}
    places = result.rule.places([s.rank for s in result.operands]).of
    read = [n for n in range(len(result.operands)) if result.rule.operand_name(n) != "target"]
    met = set()
    for sizes, output in question.outcomes():
        found = [c for c in cases if c.condition.guard()(sizes)]
        assert len(found) == (output is not None), (sizes, found)
        for case in found:
            met.add(case.number)
            by_symbol = {symbols[name]: size for name, size in sizes.items()}
            (layout,) = case.layouts
            operands = [result.operands[n] for n in read]
            check_layout(layout, by_symbol, operands, [places[n] for n in read], output)
    for case in cases:
        witness = case.witness()
        assert case.condition.guard()(witness)
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


@settings(max_examples=40)
@given(programs.programs(longest=5))
def test_each_valid_size_of_a_program_lies_in_one_case(program):
    run = program.run()
    UNKNOWN["questions"] += 1
    try:
        cases = run.env.cases(limit=200)
    except sb.UndecidedError:
        UNKNOWN["undecided"] += 1
        return
    names = {op.name: n for n, op in enumerate(run.env.operations)}
    for point in run.points(range(5)):
        assumed, valid, _ = run.outcome(point)
        if not assumed:
            continue
        valid = valid and run.env.verdict is not sb.Verdict.NEVER
        sizes = {plain_answer(run.env).shown[s]: size for s, size in point.items()}
        found = [c for c in cases if c.condition.guard()(sizes)]
        assert len(found) <= 1
        if cases.is_complete:
            assert len(found) == valid
        else:
            assert cases.rest.guard()(sizes) == (valid and not found)
        for layout in found[0].layouts if found else ():
            op = run.env.operations[names[layout.name]]
            operands = [s for n, s in enumerate(op.operands) if op.rule.operand_name(n) != "target"]
            places = op.rule.places([s.rank for s in op.operands]).of
            read = [places[n] for n in range(len(op.operands)) if op.rule.operand_name(n) != "target"]
            output = op.rule.concrete([at(s, point) for s in op.operands])
            check_layout(layout, point, operands, read, output)


def test_few_questions_stay_open(record_property):
    record_property("undecided", f"{UNKNOWN['undecided']} of {UNKNOWN['questions']}")
    assert UNKNOWN["undecided"] * 20 <= UNKNOWN["questions"]


ATTENTION = sb.broadcast("batch, heads, T, S", "batch, 1, M, P + S")


def test_cases_are_proved_disjoint_and_covering():
    cases = ATTENTION.cases()
    assert cases.certify() and len(cases.certify().claims) == 2 * len(cases) + 1
    program = sb.ShapeEnv(assume="T >= 1")
    program.broadcast(program.matmul("B, T, d", "B, d, S"), "T, 2*S")
    assert program.cases().certify()


def test_sizes_that_are_named_alike_have_fewer_cases_than_a_naive_compiler_makes():
    names = sb.broadcast("a, b, c, d", "e, f, g, h").cases()
    assert (len(names), names.naive) == (81, 3**4)
    known = sb.broadcast("batch, heads, T, T", "batch, 1, 1, S", assume="T >= 2").cases()
    assert (len(known), known.naive) == (2, 3**4)


def dispatched(source, name, points):
    namespace = {}
    exec(source, namespace)
    return [namespace[name](*point) for point in points]


def expected_of(cases, points):
    names = list(cases.condition.guard().names.values())
    found = [cases.find(dict(zip(names, point, strict=True))) for point in points]
    return [-1 if case is None else case.number for case in found]


def test_dispatch_in_python_tells_the_case():
    cases = ATTENTION.cases()
    points = list(itertools.product(range(4), repeat=6))[::3]
    assert dispatched(cases.to_python("pick"), "pick", points) == expected_of(cases, points)
    assert dispatched(sb.broadcast("N", "M").cases().to_python(), "dispatch", [(-1, -1), (2, 2)]) == [-1, 0]


@pytest.mark.skipif(consumers.COMPILER is None, reason="there is no g++")
def test_dispatch_in_cpp_tells_the_case(tmp_path):
    questions_ = [ATTENTION, sb.broadcast("N//2, 'a b'", "M % 3, 4"), sb.broadcast("3", "1")]
    sources, calls, expected = [], [], []
    for n, result in enumerate(questions_):
        cases = result.cases()
        points = list(itertools.product(range(5), repeat=len(cases.condition.guard().names)))[:: 7 if n == 0 else 1]
        sources.append(cases.to_cpp(f"pick_{n}"))
        calls += [f'std::printf("%d\\n", pick_{n}({", ".join(map(str, p))}));' for p in points]
        expected += expected_of(cases, points)
    main = "#include <cstdio>\nint main() {{\n{}\n}}\n".format("\n".join(calls))
    program = consumers.build("\n".join([*sources, main]), tmp_path, ("-O0", "-Wall", "-Wextra", "-Werror"))
    run = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    assert list(map(int, run.stdout.split())) == expected


def mask_program():
    env = sb.ShapeEnv(assume="batch >= 1")
    scores = env.matmul("batch, heads, T, d", "batch, heads, d, S", origin="scores")
    masked = env.broadcast(scores, "batch, 1, M, S", origin="masked")
    return env, masked


def test_cases_that_hints_lie_in_come_first_those_of_most_hints_before_others():
    env, _ = mask_program()
    decode = {"batch": 8, "heads": 4, "T": 1, "d": 64, "S": 128, "M": 1}
    prefill = {"batch": 1, "heads": 4, "T": 128, "d": 64, "S": 128, "M": 1}
    cases = env.cases([decode, prefill, {"T": 64, "M": 1}, "T == M and T >= 2"])
    assert [c.hints for c in cases] == [(0, 3), (1, 2), ()]
    assert [str(c.condition) for c in cases] == ["T == M", "T != 1 and M == 1", "T == 1 and M != 1"]
    assert cases.is_complete and str(cases.rest) == "False"
    (first,) = env.cases([decode], limit=1)
    assert first.shapes["masked"] == sb.shape("batch, heads, T, S")


def test_what_cases_leave_is_a_condition():
    env, _ = mask_program()
    cases = env.cases(["M == 1 and T >= 2"], limit=1)
    assert not cases.is_complete
    assert cases.rest.equivalent("T == M or T == 1 and M != 1", assume="batch >= 1")


def test_a_hint_that_no_valid_sizes_meet_is_refused():
    env, _ = mask_program()
    with pytest.raises(sb.BindingError, match=r"hint 1 \(T=2, M=3\) admits no valid sizes"):
        env.cases([{"T": 1}, {"T": 2, "M": 3}])
    with pytest.raises(sb.BindingError, match="did you mean 'batch'"):
        env.cases(["bach == 1"])


def test_a_program_that_is_never_valid_has_no_cases():
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast("N, 2", "N, 3")
    assert len(env.cases()) == 0 and env.cases().is_complete


def test_a_column_of_sizes_that_are_all_1_by_then_leaves_one_choice():
    # Once it left none, and the case was lost.
    env = sb.ShapeEnv()
    env.broadcast("d1", "d2")
    env.broadcast("d1, d2", "d1, d2")
    assert len(env.cases()) == 3


def test_data_of_cases_are_text_that_reads_back():
    cases = ATTENTION.cases()
    data = json.loads(json.dumps(cases.to_dict()))
    for case, written in zip(cases, data["cases"], strict=True):
        assert sb.Condition(written["guard"]).equivalent(case.condition)
        assert written["witness"] == case.witness()
        assert sb.shape(f"[{', '.join(written['broadcasts'][0]['shape'])}]") == case.shape
    assert "<table" in cases._repr_html_() and cases.explain() == str(cases)


def test_no_cases_say_why():
    none = str(sb.broadcast("2, 3", "4, 3").cases())
    assert "impossible   axis 0 (-2) has 2 and 4 (sizes must be equal or 1)" in none
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast("N", "3", origin="first")
    env.broadcast("N, 3", "2, 3", origin="second")
    env.assume("N >= 2")
    assert "impossible   " in str(env.cases())
    assert "second" in str(env.cases())


def test_hints_have_a_column_where_there_are_any():
    env = sb.ShapeEnv()
    env.broadcast(env.broadcast("b, T", "b, S", origin="mask"), "b, 1", origin="bias")
    assert "hints" not in str(env.cases())
    assert "hints" in str(env.cases([{"T": 4, "S": 4}]))


@pytest.mark.parametrize("hints", ["N == 1", {"N": 1, "M": 2}, sb.Condition("N == 1")])
def test_hints_are_a_list(hints):
    env = sb.ShapeEnv()
    env.broadcast("N", "M")
    with pytest.raises(sb.ShapeTypeError, match="write a list"):
        env.cases(hints)


def test_the_budget_of_cases_cannot_be_set():
    cases = sb.broadcast("N", "M", budget=60).cases()
    for found in (cases, cases[0]):
        with pytest.raises(AttributeError):
            found.budget = None
        assert found.budget == 60
