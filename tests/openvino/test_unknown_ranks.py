"""Parameters of dynamic rank: what is said of all ranks, beside OpenVINO's own shape inference at each."""

from __future__ import annotations

from itertools import product

import pytest

import symbcast as sb

ov = pytest.importorskip("openvino")
op = pytest.importorskip("openvino.opset15")


def parameter(name, shape):
    return op.parameter(ov.PartialShape.dynamic() if shape is None else ov.PartialShape(shape), ov.Type.f32, name=name)


def constant(*numbers):
    return op.constant(list(numbers), ov.Type.i64)


CASES = {
    "Relu": (op.relu, []),
    "Clamp": (lambda x: op.clamp(x, 0.0, 1.0), []),
    "Add": (op.add, [[2, 3]]),
    "Add of equal shapes": (lambda x, y: op.add(x, y, auto_broadcast="NONE"), [[2, 3]]),
    "Select": (lambda x, y: op.select(op.greater(x, y), x, y), [[2, 1]]),
    "MatMul": (lambda x, y: op.matmul(x, y, False, False), [[3, 2]]),
    "MatMul by a transpose": (lambda x, y: op.matmul(x, y, False, True), [[2, 3]]),
    "Softmax": (lambda x: op.softmax(x, -1), []),
    "ReduceSum": (lambda x: op.reduce_sum(x, constant(-1), False), []),
    "ReduceMax": (lambda x: op.reduce_max(x, constant(-2), True), []),
    "Unsqueeze": (lambda x: op.unsqueeze(x, constant(-2)), []),
    "Transpose": (lambda x: op.transpose(x, constant(1, 0)), []),
    "Concat": (lambda x, y: op.concat([x, y], -1), [[2, 3]]),
    "Concat with itself": (lambda x: op.concat([x, x], -1), []),
    "Gather": (lambda x: op.gather(x, constant(0), op.constant(-1)), []),
    "Convolution": (lambda x, y: op.convolution(x, y, [1], [0], [0], [1]), [[4, 2, 1]]),
    "MaxPool": (lambda x: op.max_pool(x, [1], [1], [0], [0], [2]).output(0), []),
    "ShapeOf": (op.shape_of, []),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_of_all_ranks_is_what_openvino_infers_at_each(case):
    make, others = CASES[case]
    given = [parameter("x", None), *(parameter(f"y{n}", shape) for n, shape in enumerate(others))]
    model = ov.Model([make(*given)], given)
    report = sb.openvino.check(model, min_size=0)
    assert not any(not u.is_about_data for u in report.unanalysed)
    guard, (output,) = report.guard(), report.outputs.values()
    needed = report.witness()
    tried = set()
    for shape in (s for rank in range(4) for s in product((1, 2, 3), repeat=rank)):
        other = model.clone()
        try:
            other.reshape({"x": ov.PartialShape(list(shape))})
            found = tuple(other.outputs[0].get_partial_shape().to_shape())
        except RuntimeError:
            found = None
        works = guard({"x": shape} if needed else {})
        assert works == (found is not None), (shape, found, report.condition)
        if found is not None:
            result = sb.broadcast(output)
            assert result.evaluate({"x": shape} if result.witness() else {}) == found, (shape, output)
        tried.add(works)
    assert True in tried


def test_a_caller_says_what_is_known_of_a_parameter_of_dynamic_rank():
    x = parameter("x", None)
    model = ov.Model([op.reduce_sum(x, constant(-1), False)], [x])
    report = sb.openvino.check(model, shapes={"x": "*batch, T, 3"})
    assert [*map(str, report.outputs.values())] == ["(*batch, T)"]
    assert report.verdict is sb.Verdict.ALWAYS
    squeezed = sb.openvino.check(ov.Model([op.squeeze(x, constant(-1))], [x]))
    assert (str(squeezed.condition), [*map(str, squeezed.outputs.values())]) == ("x[-1] == 1", ["(*x[:-1],)"])
    # What looks at the first axes is left open, and said to be.
    first = ov.Model([op.reduce_sum(x, constant(0), False)], [x])
    assert sb.openvino.check(first).verdict is sb.Verdict.UNKNOWN
