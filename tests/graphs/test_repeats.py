"""Repeated nodes of models, programs and modules: taking over the outputs of a twin changes no answer."""

from __future__ import annotations

import numpy as np
import pytest

import symbcast as sb
from symbcast.graphs.walking.walk import Repeats, Walk


def answers(check, model):
    report = check(model)
    shapes = {name: str(shape) for name, shape in report.shapes.items()}
    return report.verdict, str(report.condition), shapes, list(map(str, report.unanalysed)), str(report)


def hold_against_all_computed(check, model, most):
    """Compare the answer with that of a walk that computes each node; at most ``most`` nodes are computed otherwise."""
    computed, compute = [], Walk._computed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Walk, "_computed", lambda self, place, *rest: computed.append(place) or compute(self, place, *rest)
        )
        found = answers(check, model)
        assert len(computed) <= most
        patch.setattr(Repeats, "key", lambda *_: None)
        assert answers(check, model) == found
    assert len(computed) > 2 * most


def test_layers_of_an_openvino_model():
    ov = pytest.importorskip("openvino")
    from openvino import opset13 as op

    x = given = op.parameter(ov.PartialShape([-1, -1]), name="x")
    for n in range(12):  # the last layers have other attributes and constants
        wide = op.concat([x, x], axis=0 if n == 10 else 1)
        part = op.slice(wide, [0], [4 if n < 11 else 3], [1], [1])
        x = op.add(part, np.arange(4 if n < 11 else 1, dtype=np.float32))
    hold_against_all_computed(sb.openvino.check, ov.Model([x], [given], "layers"), 26)


def test_layers_of_an_exported_program():
    torch = pytest.importorskip("torch")

    class Layers(torch.nn.Module):
        def forward(self, x):
            for n in range(12):
                x = torch.cat([x, x], 0 if n == 10 else 1)[:, : 4 if n < 11 else 3]
                x = x.unsqueeze(0 if n < 11 else 1).mean(0) * (1 if n % 2 else True)
            return x

    sizes = ({0: torch.export.Dim.DYNAMIC},)
    program = torch.export.export(Layers(), (torch.zeros(8, 4),), dynamic_shapes=sizes)
    hold_against_all_computed(sb.torch.check, program, 24)


def test_a_tensor_that_shares_its_storage_is_no_twin_of_one_with_its_own():
    torch = pytest.importorskip("torch")

    class Strided(torch.nn.Module):
        def forward(self, x, v):
            y = v.expand(v.shape[0], 4)
            return sum(each.as_strided((6,), (1,)) for each in (x, x, y)) + x.sum() + y.sum()

    given = (torch.zeros(8, 4), torch.zeros(8, 1))
    program = torch.export.export(Strided(), given, dynamic_shapes=({0: torch.export.Dim("N")},) * 2)
    (left,) = sb.torch.check(program).unanalysed
    assert left.reason.endswith("the storage that the tensor shares")


def test_layers_of_a_stablehlo_module():
    pytest.importorskip("jaxlib")
    lines = []
    for n in range(12):  # the last layers have other attributes, constants and types
        axis, count, kind = int(n == 10), 3 if n == 11 else 2, "f64" if n == 11 else "f32"
        wide = f"tensor<{'?x8' if axis else '?x4'}xf32>"
        lines.append(f"""
            %k{n} = stablehlo.constant dense<{count}> : tensor<i32>
            %w{n} = stablehlo.concatenate %a, %a, dim = {axis} : (tensor<?x4xf32>, tensor<?x4xf32>) -> {wide}
            %s{n} = stablehlo.get_dimension_size %w{n}, dim = 0 : ({wide}) -> tensor<i32>
            %m{n} = stablehlo.multiply %s{n}, %k{n} : tensor<i32>
            %r{n} = stablehlo.reshape %m{n} : (tensor<i32>) -> tensor<1xi32>
            %y{n} = stablehlo.dynamic_iota %r{n}, dim = 0 : (tensor<1xi32>) -> tensor<?x{kind}>""")
    text = f"func.func @main(%a: tensor<?x4xf32>) -> tensor<?xf64> {{ {''.join(lines)} return %y11 : tensor<?xf64> }}"
    hold_against_all_computed(sb.stablehlo.check, text, 18)


def test_calls_of_a_function_of_a_stablehlo_module():
    pytest.importorskip("jaxlib")
    kind = "tensor<?xf32>"
    calls = [
        f'%r{n + 1} = call @f(%r{n}, %{"y" if n == 10 else "x"}) : ({kind}, {kind}) -> {kind} loc("call")'
        for n in range(12)
    ]
    text = f"""
    func.func @main(%x: {kind}, %y: {kind}, %w: {kind}, %r0: {kind}) -> {kind} {{
      {" ".join(calls)}
      %z = stablehlo.concatenate %r12, %r12, dim = 0 : ({kind}, {kind}) -> {kind}
      %s = stablehlo.add %z, %w : {kind} loc("sum")
      return %s : {kind}
    }}
    func.func private @f(%a: {kind}, %b: {kind}) -> {kind} {{
      %n = stablehlo.get_dimension_size %b, dim = 0 : ({kind}) -> tensor<i32> loc("size")
      %t = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32> loc("sum")
      %r = "stablehlo.dynamic_broadcast_in_dim"(%a, %t) {{broadcast_dimensions = array<i64: 0>,
          known_nonexpanding_dimensions = array<i64: 0>}} : ({kind}, tensor<1xi32>) -> {kind} loc("sum")
      %s = stablehlo.add %r, %b : {kind} loc("sum")
      return %s : {kind}
    }}"""
    hold_against_all_computed(sb.stablehlo.check, text, 25)
    report = sb.stablehlo.check(text)
    assert len({hint.node for hint in report.hints}) == 12
    assert report.findings[-1].node == "sum (37)"
