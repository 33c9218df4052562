"""Convolutions and pools held against windows that are slid one step at a time, and against ONNX Runtime."""

from __future__ import annotations

from itertools import product

import pytest

import symbcast as sb


def positions(size, kernel, stride, dilation, before, after, ceil):
    """Return at how many places a window lies, each tried; the last one may reach beyond the padding with ``ceil``."""
    span, end, found, start = (kernel - 1) * dilation + 1, before + size + after, 0, 0
    while start + span <= end + ceil * (stride - 1) and (not ceil or start < before + size):
        found, start = found + 1, start + stride
    return found


def settings():
    return product((1, 2, 3), (1, 2, 3), (1, 2), ((0, 0), (1, 1), (0, 2), (1, 0)))


@pytest.mark.parametrize("ceil", [False, True])
def test_a_pool_has_the_positions_that_a_window_has(ceil):
    for kernel, stride, dilation, ends in settings():
        env = sb.ShapeEnv()
        given = {"strides": stride, "dilations": dilation, "padding": [ends]}
        output = env.pool("N, C, H", (kernel,), ceil_mode=ceil, **given)
        guard = env.guard()
        for size in range(9):
            expected = positions(size, kernel, stride, dilation, *ends, ceil)
            sizes = {n: v for n, v in {"N": 2, "C": 3, "H": size}.items() if n in env.names.values()}
            what = (kernel, stride, dilation, ends, size, env.condition)
            assert guard(**sizes) == (expected > 0), what
            if expected:
                found = output[2]
                assert (found if isinstance(found, int) else found.subs("H", size)) == expected or int(
                    found.subs(dict.fromkeys(found.free_symbols, size))
                ) == expected, what


def test_a_symbolic_window_has_the_positions_of_each_window():
    env = sb.ShapeEnv()
    output = env.pool("1, 1, H", "K", strides=2, padding=1)
    guard = env.guard()
    for size, kernel in product(range(7), range(5)):
        expected = positions(size, kernel, 2, 1, 1, 1, False) if kernel else 0
        assert guard(H=size, K=kernel) == (expected > 0), (size, kernel)
        if expected:
            env_symbols = {s: {"H": size, "K": kernel}[s.name] for s in output[2].free_symbols}
            assert output[2].subs(env_symbols) == expected


def test_padding_that_keeps_the_size_gives_as_many_positions():
    env = sb.ShapeEnv()
    assert env.conv("N, 3, H, W", "8, 3, 5, 5", padding="same", strides=(1, 2)) == sb.shape("N, 8, H, (W + 1)//2")
    assert env.condition == sb.Condition(True)


def test_the_channels_and_the_bias_of_a_convolution_must_fit():
    env = sb.ShapeEnv(min_size=1)
    output = env.conv("N, C, 8", "M, K, 3", bias="B", groups=4)
    assert output == sb.shape("N, M, 6")
    guard = env.guard()
    for c, m, k, b in product(range(1, 9), range(1, 9), range(1, 3), range(1, 9)):
        assert guard(N=1, C=c, M=m, K=k, B=b) == (c == 4 * k and m % 4 == 0 and b == m), (c, m, k, b)


def test_a_convolution_undoes_what_a_transposed_one_did():
    for kernel, stride, dilation, (before, after) in settings():
        for size in range(1, 5):
            length = (size - 1) * stride + (kernel - 1) * dilation + 1 - before - after
            given = {"strides": stride, "dilations": dilation, "padding": [(before, after)]}
            if length < 1:
                with pytest.raises(sb.IncompatibleProgramError):
                    sb.ShapeEnv().conv_transpose((1, 2, size), (2, 3, kernel), **given)
                continue
            output = sb.ShapeEnv().conv_transpose((1, 2, size), (2, 3, kernel), **given)
            assert output == (1, 3, length)
            assert sb.ShapeEnv().conv(output, (2, 3, kernel), **given) == (1, 2, size)


def test_convolutions_and_pools_are_those_of_onnx_runtime():
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    import numpy as np

    for kernel, stride, dilation, (before, after) in settings():
        attributes = {"strides": [stride], "dilations": [dilation], "pads": [before, after]}
        node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], **attributes)
        inputs = [onnx.helper.make_tensor_value_info(n, 1, [None] * 3) for n in "xw"]
        graph = onnx.helper.make_graph([node], "g", inputs, [onnx.helper.make_tensor_value_info("y", 1, None)])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        options = runtime.SessionOptions()
        options.log_severity_level = 4
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        for size, channels in product(range(1, 7), (2, 3)):
            shapes = (1, channels, size), (4, 2, kernel)
            try:
                feeds = {n: np.zeros(s, np.float32) for n, s in zip("xw", shapes, strict=True)}
                expected = session.run(None, feeds)[0].shape
            except Exception:  # the runtime's errors have no class in common
                expected = None
            given = {"strides": stride, "dilations": dilation, "padding": [(before, after)]}
            try:
                found = tuple(sb.ShapeEnv().conv(*shapes, **given))
            except sb.IncompatibleProgramError:
                found = None
            assert found == expected, (shapes, given)
