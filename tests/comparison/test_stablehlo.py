"""A broadcast as StableHLO: its own parser verifies it, and its reference interpreter runs it at integers."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
import small_questions
import stablehlo_interpreter

import symbcast as sb

mlir = pytest.importorskip("jax._src.interpreters.mlir")
ir = pytest.importorskip("jaxlib.mlir.ir")


def parsed(source):
    module = ir.Module.parse(source)
    assert module.operation.verify()
    return module


@pytest.fixture
def context():
    with mlir.make_ir_context() as made:
        yield made


def listed(source, what):
    """Return the axes that each dynamic_broadcast_in_dim is told of."""
    found = re.findall(rf"{what} = array<i64:? ?([\d, ]*)>", source)
    return [tuple(map(int, axes.split(", "))) if axes else () for axes in found]


EXAMPLES = [
    (("N, 3", "M, 1"), {}, [(), (1,)], [(1,), ()]),
    (("N, 3", "M, 1"), {"min_size": 2}, [(), (1,)], [(0, 1), (0,)]),
    (("batch, heads, T, S", "batch, 1, 1, S"), {}, [(), (1, 2)], [(0, 1, 2, 3), (0, 3)]),
    (("N", "K, N"), {"rule": "unidirectional"}, [()], [(0,)]),
    (("N, 3", "K, M"), {"rule": "bidirectional", "assume": "M >= 2"}, [()], [(1,)]),
    (("N, C, H, W", "C, 1, 1"), {"rule": "pdpd", "axis": 1}, [(), (1, 2)], [(0, 1, 2, 3), (0,)]),
    (("d", "d, d"), {"rule": "stablehlo-broadcast-in-dim", "broadcast_dimensions": (1,)}, [()], [(0,)]),
    (("C", "N, C, 7"), {"rule": "explicit", "axes": (1,)}, [()], [(0,)]),
    (("()", "()"), {}, [(), ()], [(), ()]),
    (("2, 3", "3", "1, 1"), {}, [(), (), (0, 1)], [(0, 1), (0,), ()]),
    (("N, 1", "1, M", "N, M"), {}, [(1,), (0,), ()], [(0,), (1,), (0, 1)]),
    (("2*N, ?", "2*N, 1"), {}, [(), (1,)], [(0, 1), (0,)]),
]


@pytest.mark.parametrize(("shapes", "given", "expanding", "nonexpanding"), EXAMPLES, ids=str)
def test_what_is_told(shapes, given, expanding, nonexpanding, context):
    source = sb.broadcast(*shapes, **given).to_stablehlo()
    parsed(source)
    assert listed(source, "known_expanding_dimensions") == expanding
    assert listed(source, "known_nonexpanding_dimensions") == nonexpanding


def elements(shape, seed):
    return np.random.default_rng(seed).integers(0, 100, size=shape).astype(np.int32)


def given_to(result, source, shapes):
    """Return what the interpreter is to run, and what must come out: each tensor laid as the rule lays it.

    The sizes of a shape that is an operand become constants: the interpreter wants to know all sizes before it runs.
    """
    places, output = result.rule.places([len(s) for s in shapes]).of, result.rule.concrete(shapes)
    arguments, expected = [], []
    for n, shape in enumerate(shapes):
        if result.rule.operand_name(n) == "target":
            source = source.replace(f", %target: tensor<{len(shape)}xi32>", "")
            for axis, size in enumerate(shape):
                taken = rf"stablehlo.slice %target \[{axis}:{axis + 1}\] : \(.*\)"
                source = re.sub(f"{taken} -> ", f"stablehlo.constant dense<{size}> : ", source)
            continue
        array = elements(shape, n)
        laid = np.ones(len(output), dtype=int)
        for place, size in zip(places[n], shape, strict=True):
            laid[place] = size
        arguments.append(array.tolist())
        expected.append(np.broadcast_to(array.transpose(np.argsort(places[n])).reshape(laid), output).tolist())
    return json.dumps({"module": source, "arguments": arguments}), expected


@pytest.mark.parametrize(("seed", "count"), [(20, 200)])
def test_it_gives_the_output_at_all_valid_sizes(seed, count, context):
    asked, expected = [], []
    for case, rule, _ in small_questions.cases(seed, count, is_plain=True):
        try:
            result = sb.broadcast(*case.texts, rule=rule.name, assume=case.assume, **rule.attributes)
            source = result.to_stablehlo("main", element_type="i32")
        except (sb.RuleArgumentError, sb.IncompatibleShapesError, sb.DimensionError):
            continue
        parsed(source)
        if "?" not in re.search(r"@main\((.*)\) ->", source)[1]:
            continue  # the interpreter works out the sizes within only where those of an argument are open
        for _, shapes in case.bindings():
            # It has no empty tensors.
            if rule.output(shapes) is not None and not any(0 in s for s in shapes):
                line, wanted = given_to(result, source, shapes)
                asked.append(line)
                expected.append(wanted)
    command = [sys.executable, stablehlo_interpreter.__file__]
    done = subprocess.run(command, input="\n".join(asked), capture_output=True, text=True, check=False, timeout=300)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    wrong = [given for given, out, wanted in zip(asked, found, expected, strict=False) if out != wanted]
    assert (wrong, len(found)) == ([], len(asked)), (done.stderr[-2000:], asked[len(found) :][:1])
    assert len(asked) > 300


def test_names_and_types(context):
    result = sb.broadcast("N, 3", "M, 1")
    assert "func.func @expand(" in result.to_stablehlo("expand")
    for kind in ("bf16", "i1", "complex<f32>"):
        parsed(result.to_stablehlo(element_type=kind))
    for wrong in ("a b", "", "f;32"):
        with pytest.raises(ValueError, match="identifier"):
            result.to_stablehlo(wrong)
        with pytest.raises(ValueError, match="not an element type"):
            result.to_stablehlo(element_type=wrong)


def test_hostile_names_stay_in_the_comment(context):
    source = sb.broadcast("'a\nb', 3", "'}', 1").to_stablehlo()
    parsed(source)
    assert [line.startswith("//") for line in source.splitlines() if "'" in line] == [True, True]


def test_axes_that_hang_over_have_no_place():
    with pytest.raises(sb.DimensionError, match="drop the axes that hang over"):
        sb.broadcast("N, C", "C, 1", rule="pdpd", axis=1).to_stablehlo()
