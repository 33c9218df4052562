"""Models that need multiples take every size after `free` with ``pad``, and give what padding by hand gives."""

from __future__ import annotations

import numpy as np
import pytest

import symbcast as sb

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

TYPES = {"float": np.float32, "float16": np.float16, "uint8": np.uint8, "int64": np.int64, "int16": np.int16}
NUMPY = {"zero": "constant", "edge": "edge", "reflect": "reflect"}


def model_of(text, version=17):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {version}]> {text}')


def run(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds), strict=True))


def padded(text, axes, condition="True", mode="zero", version=17):
    answer = sb.onnx.free(model_of(text, version), axes, pad=mode)
    assert str(answer.report.condition) == condition
    onnx.checker.check_model(answer.model)
    return answer


def shapes(answer):
    return {name: str(shape) for name, shape in answer.report.outputs.items()}


# The image is halved, doubled and joined with itself: its height must be even.
UNET = """g ({kind}[1, 1, 8, 8] x) => ({kind} y, {kind} half) <float[4] twice = {{1, 1, 2, 2}}> {{
  f = Cast<to = 1>(x)  a = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(f)  b = Resize(a, , twice)
  j = Concat<axis = 1>(f, b)  y = Cast<to = {type}>(j)  half = Cast<to = {type}>(a) }}"""


def unet(kind):
    return UNET.format(kind=kind, type=onnx.helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[kind])))


@pytest.mark.parametrize("version", [11, 12, 13, 18, 19, 21])
@pytest.mark.parametrize("mode", NUMPY)
def test_an_image_is_padded_and_cropped_as_by_hand(mode, version):
    text = unet("float").replace(", , twice", ", empty, twice").replace("<float[4]", "<float[0] empty = {{}}, float[4]")
    text = text.replace("{{}}", "{}") if version < 13 else unet("float")
    answer = padded(text, "N, H, W", "H >= 2 and W >= 2" if mode == "reflect" else "True", mode, version)
    assert shapes(answer) == {"y": "(N, 2, H, W)", "half": "(N, 1, (H + 1)//2, (W + 1)//2)"}
    assert [edit.op_type for edit in answer.edits] == ["Pad", "Slice", "Slice"]
    assert answer.to_dict()["freed"]["edits"][0]["new"] == "[N, 1, 2*((H + 1)//2), 2*((W + 1)//2)]"
    plain = sb.onnx.free(model_of(text, version), "N, H, W").model
    for height, width in [(2, 2), (5, 8), (3, 9), (8, 8)]:
        x = np.random.default_rng(0).random((2, 1, height, width)).astype(np.float32)
        by_hand = run(plain, {"x": np.pad(x, [(0, 0), (0, 0), (0, height % 2), (0, width % 2)], NUMPY[mode])})
        got = run(answer.model, {"x": x})
        assert np.array_equal(got["y"], by_hand["y"][:, :, :height, :width])
        assert np.array_equal(got["half"], by_hand["half"])


def test_the_padded_model_is_confirmed_against_padding_by_hand():
    answer = padded(unet("float"), {"x": {2: "H", 3: "W"}})
    assert "y_whole (Slice)" in " ".join(str(answer).split())
    runs = answer.confirm()
    assert all(run.agrees for run in runs)
    assert str(runs[2]) == "agrees: at H=1, W=1 it gives what padding by hand gives: bit-equal"


@pytest.mark.parametrize("kind", TYPES)
def test_inputs_of_every_type_are_padded(kind):
    answer = padded(unet(kind), "N, H, W", mode="edge")
    x = np.arange(9).astype(TYPES[kind]).reshape(1, 1, 3, 3)
    last = 8 if kind in ("float", "float16", "uint8") else 0  # indices and masks get zeros
    corner = run(answer.model, {"x": x})["half"][0, 0, 1, 1]
    assert corner == max(8, last)
    assert run(answer.model, {"x": x})["y"].dtype == TYPES[kind]


def test_sizes_that_work_are_not_padded():
    # Twice (T + 3)//4 must be (T + 1)//2.
    text = """g (float[2, 1, 8] x) => (float y, float z) <float[3] two = {1, 1, 2}> {
      a = MaxPool<kernel_shape = [1], strides = [2]>(x)  z = MaxPool<kernel_shape = [1], strides = [2]>(a)
      u = Resize(z, , two)  j = Concat<axis = 1>(a, u)  y = Resize(j, , two) }"""
    plain = sb.onnx.free(model_of(text), {"x": {2: "T"}})
    assert str(plain.report.condition) == "T % 4 == 0 or T % 4 == 3"
    answer = padded(text, {"x": {2: "T"}})
    assert shapes(answer) == {"y": "(2, 2, 2*((T + T_pad + 1)//2) - T_pad)", "z": "(2, 1, (T + 3)//4)"}
    for size in range(1, 13):
        x = np.random.default_rng(size).random((2, 1, size)).astype(np.float32)
        works = size % 4 in (0, 3)
        by_hand = run(plain.model, {"x": np.pad(x, [(0, 0), (0, 0), (0, 0 if works else -size % 4)])})
        got = run(answer.model, {"x": x})
        assert np.array_equal(got["y"], by_hand["y"][:, :, : None if works else size])
        assert np.array_equal(got["z"], by_hand["z"])


def test_a_least_size_is_padded_to():
    weights = ", ".join(["0.5"] * 60)
    text = f"g (float[2, 3, 9] x) => (float y) <float[4, 3, 5] w = {{{weights}}}> {{ a = Conv(x, w)  y = Relu(a) }}"
    answer = padded(text, {"x": {2: "T"}})
    assert shapes(answer)["y"] == "(2, 4, max(T - 4, 1))"
    assert answer.edits[0].why == "with zeros: T to at least 5"


def test_sizes_that_end_in_another_class_are_padded_to_it():
    weights = ", ".join(["0.5"] * 5)
    text = f"""g (float[1, 1, 8] x) => (float y) <float[1, 1, 5] w = {{{weights}}}> {{
      a = Conv<strides = [3]>(x, w)  b = ConvTranspose<strides = [3]>(a, w)  y = Concat<axis = 1>(x, b) }}"""
    answer = padded(text, {"x": {2: "T"}})
    assert "T to 2 more than a multiple of 3" in answer.edits[0].why
    assert shapes(answer) == {"y": "(1, 2, T)"}


def test_inputs_with_one_size_are_padded_alike_and_shapes_inside_see_the_padded_size():
    text = """g (float[2, 8] x, bool[2, 16] mask) => (float y, int64 size, bool m) <int64[3] pairs = {2, -1, 4}> {
      a = Reshape(x, pairs)  y = Flatten(a)  size = Shape(x)  m = Not(mask) }"""
    answer = padded(text, {"x": {1: "T"}, "mask": {1: "2*T"}})
    assert shapes(answer) == {"y": "(2, T)", "size": "(2,)", "m": "(2, 2*T)"}
    got = run(answer.model, {"x": np.ones((2, 5), np.float32), "mask": np.ones((2, 10), bool)})
    assert got["size"].tolist() == [2, 8] and not got["m"].any()


def test_sizes_that_work_together_are_padded_together():
    text = "g (float[4, 6] x) => (float y, float z) <int64[2] s = {-1, 8}> { y = Reshape(x, s)  z = Relu(x) }"
    answer = padded(text, {"x": "H, W"})
    assert shapes(answer)["z"] == "(H, W)"
    assert answer.notes[-1] == "y is not cropped: axis 0, H*W//8, is not in proportion to H and W"


def test_a_model_that_is_open_already_is_only_changed_if_that_makes_it_wider():
    # It has 4 groups at all sizes, of 16 rows where H and W are 1: the 4 is no H*W*4, although it is at these.
    text = """g (float[N, 16, H, W] x) => (float y) <int64[3] groups = {0, 4, -1}> {
      a = Reshape(x, groups)  b = Relu(a)  s = Shape(x)  y = Reshape(b, s) }"""
    assert sb.onnx.free(model_of(text), "N, H, W").edits == ()
    baked = "g (float[N, 4] x) => (float y) <int64[2] s = {8, 4}> { y = Reshape(x, s) }"
    assert str(sb.onnx.check(model_of(baked)).condition) == "N == 8"
    assert str(sb.onnx.free(model_of(baked), "N").report.condition) == "True"


def test_sizes_that_only_the_old_ones_satisfy_are_padded_to_these():
    text = "g (float[4, 4] x) => (float y) { t = Transpose(x)  y = Concat<axis = 0>(x, t) }"
    answer = padded(text, "H, W", "max(H, 4) == max(W, 4)")
    for height, width, rows in [(2, 2, 4), (2, 3, 8), (5, 5, 10)]:
        assert run(answer.model, {"x": np.ones((height, width), np.float32)})["y"].shape[0] == rows


def test_graphs_within_see_the_padded_input():
    text = """g (float[2, 8] x, bool c) => (float y) <int64[3] pairs = {2, -1, 4}> {
      a = If(c) <then_branch = t () => (float[2, N, 4] p) { p = Reshape(x, pairs) },
                 else_branch = e () => (float[2, N, 4] q) { r = Neg(x)  q = Reshape(r, pairs) }>
      y = Flatten(a) }"""
    assert shapes(padded(text, {"x": {1: "T"}})) == {"y": "(2, T)"}


RELU, EVEN = "{ y = Relu(x) }", "<int64[2] s = {-1, 2}> { y = Reshape(x, s) }"
TABLE = "<float[1, 4] table = {1, 4, 9, 16}> { y = Add(x, table) }"
BAD = [
    ("ones", RELU, 17, sb.ShapeTypeError, "write one of 'zero', 'edge', 'reflect'"),
    ("zero", RELU, 17, sb.BindingError, "there is nothing to pad: the model takes every size"),
    ("zero", EVEN, 9, sb.ModelError, "operator set 9 does not pad by computed numbers"),
    ("zero", TABLE, 17, sb.BindingError, "no padding helps: the model needs T <= 4"),
]


@pytest.mark.parametrize(("mode", "body", "version", "error", "problem"), BAD)
def test_what_cannot_be_padded_is_refused(mode, body, version, error, problem):
    with pytest.raises(error, match=problem):
        sb.onnx.free(model_of(f"g (float[4, 4] x) => (float y) {body}", version), {"x": "N, T"}, pad=mode)


def test_inputs_that_must_be_equal_are_not_padded_to_hide_that_they_differ():
    text = "g (float[4, 1, 2] x, float[4, 3, 2] z) => (float y) { y = Concat<axis = 1>(x, z) }"
    with pytest.raises(sb.BindingError, match="no padding helps: the model needs A == B"):
        sb.onnx.free(model_of(text), {"x": {0: "A"}, "z": {0: "B"}}, pad="zero")


HALVED = "a = MaxPool<kernel_shape = [2], strides = [2]>(x)  u = Resize(a, , twice)  j = Concat<axis = 1>(x, u)"
ORDERED = [
    ("y = Concat<axis = 2>(token, j)", "(1, 2, T + 1)"),
    ("t = Transpose<perm = [2, 0, 1]>(j)  y = Reshape(t, all)", "(2*T,)"),
    ("y = Concat<axis = 2>(j, token)", None),
    ("y = Concat<axis = 2>(j, j)", None),
    ("y = Reshape(j, all)", None),
    ("y = Slice(j, last, first, two, back)", None),
    ("y = Tile(j, twofold)", None),
    ("r = Reshape(j, halves)  y = Transpose<perm = [0, 3, 1, 2]>(r)", None),
    ("r = Reshape(j, pairs)  s = Tile(r, copies)  y = Reshape(s, whole)", "(1, 2, 2*T)"),
]


@pytest.mark.parametrize(("body", "shape"), ORDERED)
def test_only_rows_at_the_end_are_cut_off(body, shape):
    constants = """float[3] twice = {1, 1, 2}, float[1, 2, 1] token = {5, 6}, int64[1] all = {-1}, int64[1] last = {-1},
      int64[1] first = {-1000}, int64[1] two = {2}, int64[1] back = {-1}, int64[3] twofold = {1, 1, 2},
      int64[4] halves = {1, 2, 2, -1}, int64[4] pairs = {1, 2, -1, 1}, int64[4] copies = {1, 1, 1, 2},
      int64[3] whole = {1, 2, -1}"""
    answer = padded(f"g (float[1, 1, 8] x) => (float y) <{constants}> {{ {HALVED}  {body} }}", {"x": {2: "T"}})
    if shape is None:
        assert [note.replace("d: r", "d: y") for note in answer.notes] == [
            "y is not cropped: y may join rows in another order"
        ]
    else:
        assert (shapes(answer), answer.notes) == ({"y": shape}, ())
