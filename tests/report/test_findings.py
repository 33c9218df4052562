"""What a program requires, as findings and in formats: true at the sizes they name, and as the formats demand."""

from __future__ import annotations

import gzip
import json
import random
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import strategies
from properties.laws import V, answered, at
from properties.strategies import programs

import symbcast as sb
from symbcast.answers.program_report import report_schema
from symbcast.core.programs.program import Program
from symbcast.core.text import parse_formula

SARIF = json.loads(gzip.decompress((Path(__file__).parents[1] / "data" / "sarif-2.1.0.schema.json.gz").read_bytes()))
LEVELS = {V.NEVER: "error", V.SOMETIMES: "warning", V.UNKNOWN: "note"}

few = settings(max_examples=20 if settings.default.max_examples <= 60 else settings.default.max_examples)
of_every_kind = pytest.mark.parametrize("kind", ["names", "terms", "products"])
KINDS = {
    "names": strategies.plain_programs,
    "terms": strategies.small_programs,
    "products": programs(names=(1, 3), rank=2, longest=5, is_linear=False),
}


@of_every_kind
@few
@given(st.data())
def test_findings_are_the_condition_and_fail_where_they_say(kind, data):
    program = data.draw(KINDS[kind])
    env, _ = answered(program, program.build)
    findings = env.findings
    if env.verdict is V.NEVER:
        assert [f.operation for f in findings] == [op.name for op in env.conflict]
        together = sb.Condition(" and ".join(f"({f.text})" for f in findings))
        assert together.verdict_under(program_assumptions(env), env.min_size) in (V.NEVER, V.UNKNOWN)
    else:
        assert {f.formula for f in findings} == set(env.clauses)
        assert len(findings) == len(env.clauses)
    for finding in findings:
        assert finding.operation in finding.origins
        assert set(finding.origins) <= {op.name for op in env.operations}
        sizes = finding.counterexample
        assert finding.verdict is (V.UNKNOWN if sizes is None and env.verdict is V.SOMETIMES else env.verdict)
        if sizes is None:
            assert not program.is_linear
            continue
        assert list(sizes) == list(env.names.values())
        assert not holds(finding, sizes)
        assert finding.code
        assert finding.reason
        if all(name in program.names for name in sizes):
            everything = at(program, sizes)
            assert program.allows(everything)
            assert program.outcome(everything) is None
            stop = next(
                n
                for n in range(len(program.steps))
                if replace(program, steps=program.steps[: n + 1]).outcome(everything) is None
            )
            steps = [op for op in env.operations if op.kind != "assume"]
            assert finding.stops_at == steps[stop].name


def program_assumptions(env):
    return [a.text for a in env.assumptions]


def holds(finding, sizes):
    condition = sb.Condition(finding.formula)
    return condition.guard()({s.name: sizes[s.name] for s in condition.symbols})


@few
@given(strategies.small_programs)
def test_formats_are_valid_and_say_every_finding(program):
    env, _ = answered(program, program.build)
    findings = env.findings
    undecided = [] if env.verdict is not V.UNKNOWN else ["note"]
    levels = [*(LEVELS[f.verdict] for f in findings), *undecided]
    log = json.loads(env.report("sarif", "a b.py"))
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    assert [r["level"] for r in run["results"]] == levels
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[r["ruleIndex"]] == r["ruleId"] for r in run["results"])
    data = json.loads(env.report("json", "a b.py"))
    jsonschema.validate(data, report_schema())
    assert [f["condition"] for f in data["findings"]] == [f.text for f in findings]
    if env.verdict is not V.NEVER:
        conjunction = " and ".join(f"({f['condition']})" for f in data["findings"]) or "True"
        assert sb.Condition(data["condition"]).equivalent(conjunction) or not program.is_linear
    commands = env.report("github", "a b.py").splitlines()
    assert len(commands) == len(levels)
    assert all(" file=a b.py,title=" in command for command in commands)
    heads = [line for line in env.report("text", "a b.py").splitlines() if not line.startswith("    ")]
    said = [f"a b.py: {level}: " for level in levels] or ["a b.py: the program: always valid"]
    assert [line[: len(start)] for line, start in zip(heads, said, strict=True)] == said


def test_a_run_may_stop_before_what_is_required():
    env = sb.ShapeEnv()
    env.broadcast("1, 3", "1, 1, 1", origin="zeroth")
    x = env.broadcast("b, 2", "1, a, 1", origin="first")
    env.broadcast("1, 1, 3", "b", origin="between")
    env.broadcast(x, "b, a", origin="second")
    found = {f.text: f for f in env.findings}["b == 1 or a == 1"]
    assert (found.operation, found.origins, found.stops_at) == ("second", ("between", "second"), "first")
    assert "; the run stops at first" in env.report("text")
    assert [f["stops_at"] for f in json.loads(env.report("json"))["findings"]] == [f.stops_at for f in env.findings]


def test_what_follows_from_several_operations_names_them_all():
    env = sb.ShapeEnv()
    env.matmul("a, b", "c, d", origin="scores")
    env.equal("a", "4", origin="heads")
    env.require("a % 8 == 0 or b == 2", origin="tile")
    found = {f.text: f for f in env.findings}
    assert list(found) == ["c == 2", "a == 4", "b == 2"]
    assert found["c == 2"].origins == ("scores", "heads", "tile")
    assert [f.is_joint for f in found.values()] == [True, False, True]
    assert found["c == 2"].sizes_there == "(4, 2) and (1, 1)"
    assert found["b == 2"].operation == "tile"
    assert found["b == 2"].reason == "it is required: a % 8 == 0 or b == 2"
    assert [f.code for f in found.values()] == ["matmul", "equal", "required"]
    assert "together with heads and tile" in env.report()


@pytest.mark.parametrize("step", [1, 2])
def test_many_findings_share_the_sizes_that_they_have_in_common(step):
    env = sb.ShapeEnv()
    for n in range(0, 60 * step, step):
        env.broadcast(f"a{n}, 3", f"a{n + 1}, 1")
    found = env.findings
    assert len(found) == 60
    for n, finding in enumerate(found):
        own = [f"a{n * step}", f"a{n * step + 1}"]
        assert finding.counterexample == dict.fromkeys(env.witness(), 1) | dict(zip(own, (2, 3), strict=True))
        assert list(finding.counterexample) == list(env.witness())
        changed, shared = finding.failing.maps
        assert list(changed) == own and shared is found[0].failing.maps[1]


def test_operations_that_clash_are_told_as_errors():
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast("N", "2", origin="a")
    env.require("N >= 2", origin="b")
    env.equal("N", "3", origin="c")
    assert [(f.operation, f.counterexample, f.verdict) for f in env.findings] == [
        ("a", {"N": 3}, V.NEVER),
        ("c", {"N": 1}, V.NEVER),
    ]
    assert env.report(source="x.py").splitlines() == [
        "x.py: error: a (numpy): cannot hold together with c: it requires that N is 1 or 2",
        "    numpy requires: on axis 0 (-1), sizes must be equal or 1",
        "    operands: A (N,), B (2,)",
        "    fails at N=3: (3,) and (2,)",
        "x.py: error: c (equal): cannot hold together with a: it requires that N is 3",
        "    equal requires: on axis 0 (-1), sizes must be equal",
        "    operands: A (N,), B (3,)",
        "    fails at N=1: (1,) and (3,)",
    ]
    env.broadcast("2", "3", origin="d")
    (found,) = env.findings
    assert (found.operation, found.text, found.sizes_there) == ("d", "False", "(2,) and (3,)")
    assert "d (numpy): the program is never valid" in env.report()


def test_a_program_without_a_file_has_no_place_but_its_operations():
    env = sb.ShapeEnv()
    env.broadcast("N, 4", "M", rule="pdpd", axis=0, origin="a,b:c\n50%")
    log = json.loads(env.report("sarif"))
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    assert run["artifacts"] == []
    ((location,),) = [r["locations"] for r in run["results"]]
    assert list(location) == ["logicalLocations"]
    assert location["logicalLocations"][0]["name"] == "a,b:c\n50%"
    (command,) = env.report("github").splitlines()
    assert command.startswith("::warning title=pdpd(axis=0) a%2Cb%3Ac%0A50%25::the program is valid only when M")
    head = env.report().splitlines()[0]
    assert head == r"warning: a,b:c\n50% (pdpd(axis=0)): the program is valid only when M is 1 or equals N"


def test_a_program_that_is_always_valid_has_nothing_to_say():
    env = sb.ShapeEnv()
    env.broadcast("N, 3", "1")
    assert env.findings == ()
    assert env.report() == "the program: always valid"
    assert env.report("github", "x.py") == ""
    assert json.loads(env.report("json"))["verdict"] == "always"
    assert json.loads(env.report("sarif"))["runs"][0]["results"] == []


def test_other_formats_are_refused():
    for wrong in ({"format": "xml"}, {"source": 3}):
        with pytest.raises(sb.ShapeTypeError):
            sb.ShapeEnv().report(**wrong)


def calls_of_findings(count):
    """Return how many functions are called for the findings of a program with as many pairs of names."""
    env = sb.ShapeEnv()
    for number in range(count):
        env.broadcast(f"a{number}, 3", f"b{number}, 3")
    called = 0

    def count_call(_frame, event, _argument):
        nonlocal called
        called += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        assert len(env.findings) == count
    finally:
        sys.setprofile(before)
    return called


def test_findings_take_as_many_calls_for_each_of_many_names():
    """A run stops at the same operation as at the witness, unless a requirement is about the sizes that differ."""
    assert calls_of_findings(240) < 2.2 * calls_of_findings(120)


@pytest.mark.parametrize("seed", range(20))
def test_a_run_stops_at_the_first_operation_that_fails(seed):
    """Sizes of findings share most of theirs: the first one must not be looked for among too few."""
    draw = random.Random(seed)
    pairs = [(draw.choice("abcdef"), draw.choice("abcdef1")) for _ in range(draw.randint(3, 9))]
    env = sb.ShapeEnv()
    for number, (left, right) in enumerate(pairs):
        env.broadcast(f"{left}, 3", f"{right}, 3", origin=f"op{number}")
    for finding in env.findings:
        sizes = finding.counterexample
        met = [{size for size in (sizes[left], sizes.get(right, 1)) if size != 1} for left, right in pairs]
        assert finding.stops_at == f"op{next(n for n, among in enumerate(met) if len(among) > 1)}"


def test_a_clause_about_sizes_of_several_operations_comes_from_them_together():
    """No operation ties its sizes: a condition may be shorter with a clause that does."""
    program = Program()
    program.require("a >= 2", origin="first")
    program.require("b >= 3", origin="second")
    program.require("c >= 9", origin="third")
    clause = parse_formula("a + b >= 5")
    found = program.requirement(clause)
    assert [op.name for op in found.origins] == ["first", "second"] and not found.is_direct


@pytest.mark.parametrize(
    ("record", "assume", "fixes"),
    [
        (lambda env: env.broadcast("N", "M"), (), ['assume "N == M" if that is known']),
        (lambda env: env.broadcast("N", "M//2"), (), ['assume "N == M//2" if that is known']),
        (lambda env: env.reshape("N, d", "N, 8, d//8"), "N >= 1", ["pad d to a multiple of 8"]),
        (lambda env: env.matmul("N, d", "64, M"), (), ["give d the size 64"]),
        (lambda env: env.conv("1, 3, H", "8, 3, 7"), (), ["use sizes of at least 7 for H"]),
        (lambda env: env.broadcast("N", "5"), "N >= 1", ["give N the size 1 or 5"]),
        (lambda env: env.equal("A*B", "12"), (), ["give sizes at which A*B is 12, such as A=3, B=4"]),
        (lambda env: env.equal("N", "N + 1"), (), [""]),
    ],
)
def test_a_programs_findings_have_fixes_that_hold(record, assume, fixes):
    env = sb.ShapeEnv(assume=assume, on_conflict="record")
    record(env)
    assert [f.fix for f in env.findings] == fixes
    assert all(f"fix: {fix}" in env.report() and f"fix          {fix}" in env.explain() for fix in fixes if fix)
