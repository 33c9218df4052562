"""What the frameworks that lend a rule its name answered, asked again."""

from __future__ import annotations

import gzip
import json
from itertools import product
from pathlib import Path

import pytest
import reference
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb

DATA = Path(__file__).parents[1] / "data" / "frameworks.jsonl.gz"


def rows(system):
    with gzip.open(DATA, "rt") as file:
        return [row for row in map(json.loads, file) if row["system"] == system]


def answer(shapes, rule, **attributes):
    try:
        result = sb.broadcast(*map(tuple, shapes), rule=rule, **attributes)
    except sb.RuleArgumentError:
        return None
    return list(result.shape) if result.verdict is sb.Verdict.ALWAYS else None


@pytest.mark.parametrize(("system", "count"), [("torch", 321), ("jax", 321), ("tensorflow", 321)])
def test_the_names_of_the_numpy_rule(system, count):
    asked = rows(system)
    assert len(asked) == count
    assert [row for row in asked if answer(row["shapes"], system) != row["out"]] == []


@pytest.mark.parametrize("system", ["pytensor", "torch-unbacked"])
def test_sizes_that_are_not_known_before_the_run(system):
    """What a library does at each choice of sizes, where it was built for shapes with names."""
    asked = rows(system)
    assert len(asked) == 145
    points = [(row["shapes"], sizes, out) for row in asked for sizes, out in row["at"]]
    assert [point for point in points if answer_at(point[0], system, point[1]) != point[2]] == []


def answer_at(shapes, rule, sizes):
    result = sb.broadcast(*map(tuple, shapes), rule=rule)
    try:
        output = list(result.evaluate(sizes))
    except sb.IncompatibleShapesError:
        output = None
    # The condition, the guard and the shape say the same.
    assert bool(result.guard()(**sizes)) is (output is not None)
    return output


terms = st.sampled_from(["N", "N", "M", "M", "1", "1", "0", "2", "N + 1", "2*M", "N//2", "M - N"])
operands = st.lists(st.lists(terms, max_size=3), min_size=1, max_size=3)


def stretched_as_written(written, shapes):
    """Return the output of `static` by its definition, None where it is refused."""
    output = []
    for back in range(max(map(len, shapes)), 0, -1):
        rigid = [s[-back] for w, s in zip(written, shapes, strict=True) if len(s) >= back and w[-back] != "1"]
        if len(set(rigid)) > 1:
            return None
        output.append(rigid[0] if rigid else 1)
    return tuple(output)


def without_padding(written, shapes):
    """Return the output of `tosa` by its definition, None where it is refused."""
    if len({len(s) for s in shapes}) > 1 or any(0 in s for s in shapes):
        return None
    return reference.numpy(*shapes)


@pytest.mark.parametrize(("rule", "defined"), [("static", stretched_as_written), ("tosa", without_padding)])
@given(written=operands)
def test_by_definition_at_all_small_sizes(rule, defined, written):
    result = sb.broadcast(*map(tuple, written), rule=rule)
    guard, works, fails = result.guard(), [], []
    for n, m in product(range(6), repeat=2):
        shapes = [[eval(d, {"N": n, "M": m}) for d in shape] for shape in written]
        possible = all(d >= 0 for shape in shapes for d in shape)
        expected = defined(written, shapes) if possible else None
        sizes = {s.name: {"N": n, "M": m}[s.name] for s in result.symbols}
        assert bool(guard(**sizes)) is (expected is not None), (written, sizes)
        (fails if expected is None else works).append(sizes)
        if expected is not None:
            assert result.evaluate(sizes) == expected
            values = {s: sizes[s.name] for s in result.symbols}
            assert tuple(int(sympy.sympify(d).subs(values)) for d in result.shape) == expected
        else:
            with pytest.raises(sb.IncompatibleShapesError):
                result.evaluate(sizes)
    verdicts = {(True, True): sb.Verdict.SOMETIMES, (True, False): sb.Verdict.ALWAYS, (False, True): sb.Verdict.NEVER}
    assert result.verdict is verdicts[bool(works), bool(fails)]
    assert result.witness() is None or result.witness() in works
    assert result.counterexample() is None or result.counterexample() in fails
    assert result.certify()


def test_a_size_that_is_proved_to_be_one_in_a_program():
    env = sb.ShapeEnv()
    env.require("N == 1")
    assert env.broadcast("N", "1", rule="static") == (1,)
    env.broadcast("N", "M", rule="static")
    assert str(env.condition) == "N == 1 and M == 1"


def test_tosa():
    """Its dialect's own verifier; the specification has no sizes of 0, and equal ranks."""
    asked = rows("tosa")
    assert len(asked) == 105
    assert [row for row in asked if answer(row["shapes"], "tosa") != row["out"]] == []
    assert sb.broadcast("N, 4", "4", rule="tosa").verdict is sb.Verdict.NEVER
    assert str(sb.broadcast("N", "M", "1", rule="tosa", min_size=1).condition) == "N == M or N == 1 or M == 1"


def test_stablehlo():
    """Its own verifier, on shapes and dimensions right and wrong."""
    asked = rows("stablehlo")
    assert len(asked) == 516
    rule = "stablehlo-broadcast-in-dim"
    wrong = [
        row
        for row in asked
        if answer(row["shapes"], rule, broadcast_dimensions=row["broadcast_dimensions"]) != row["out"]
    ]
    assert wrong == []


def test_the_example_of_stablehlos_document():
    result = sb.broadcast("1, 3", "2, 3, 2", rule="stablehlo-broadcast-in-dim", broadcast_dimensions=(2, 1))
    assert result.require() == (2, 3, 2)


def test_names_differ_in_how_many_shapes_they_take():
    assert sb.broadcast(rule="torch").shape == sb.broadcast(rule="jax").shape == ()
    with pytest.raises(sb.RuleArgumentError, match="takes at least 2 shapes"):
        sb.broadcast("N", rule="tensorflow")
    with pytest.raises(sb.RuleArgumentError, match="takes at most 2 shapes, not 3; write rule='numpy'"):
        sb.broadcast("N", "M", "K", rule="tensorflow")
    with pytest.raises(sb.RuleArgumentError, match="takes at least one shape"):
        sb.broadcast(rule="onnx-multidirectional")
