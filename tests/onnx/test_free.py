"""Models that were exported for one size take every size after `free`, and give the same at the old one."""

from __future__ import annotations

import pytest

import symbcast as sb

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '


def model_of(text):
    return onnx.parser.parse_model(text if text.startswith("<") else HEAD + text)


def freed(text, axes, condition="True", dependent=0):
    """Free a model, and hold the answer against ONNX Runtime at the old sizes and at others.

    ``dependent`` is the number of sizes that are the first axis, but whose rows depend on each other.
    """
    answer = sb.onnx.free(model_of(text), axes)
    assert str(answer.report.condition) == condition
    assert answer.report.guard()(**answer.sizes)
    runs = answer.confirm()
    assert runs[0].happened == "bit-equal"
    assert [run.agrees for run in runs] == [True] * (len(runs) - dependent) + [None] * dependent
    onnx.checker.check_model(answer.model)
    return answer


RESHAPES = [
    ("8, 196, 768", "8, 196, 12, 64", "[0, 196, 12, 64]"),
    ("8, 196, 768", "1568, 768", "[-1, 768]"),
    ("1568, 768", "8, 196, 768", "[-1, 196, 768]"),
    ("1, 196, 768", "1, -1, 768", "[0, -1, 768]"),
]


@pytest.mark.parametrize(("shape", "wanted", "new"), RESHAPES)
def test_the_list_of_a_reshape_follows_the_batch(shape, wanted, new):
    count = wanted.count(",") + 1
    text = f"g (float[{shape}] x) => (float y) <int64[{count}] s = {{{wanted}}}> {{ y = Reshape(x, s) }}"
    size = "196*N" if shape.startswith("1568") else "N"
    if size == "N":
        (edit,) = freed(text, "N").edits
        assert (edit.node, edit.tensor, edit.new) == ("y", "s", new)
    else:
        assert str(sb.onnx.free(model_of(text), "M").report.condition) == "M % 196 == 0"


def test_an_image_is_folded_back_into_its_height_and_width():
    text = """g (float[2, 3, 14, 14] x) => (float y) <int64[3] s = {2, 3, 196}, int64[4] t = {2, 3, 14, 14}> {
      a = Reshape(x, s)  y = Reshape(a, t) }"""
    answer = freed(text, "N, H, W")
    assert str(answer.report.shapes["y"]) == "(N, 3, H, W)"


def test_a_token_that_was_expanded_to_the_batch_is_expanded_to_the_new_one():
    text = """g (float[8, 16, 4] x, float[1, 1, 4] token) => (float y) <int64[3] s = {8, 1, 4}> {
      t = Expand(token, s)  y = Concat<axis = 1>(t, x) }"""
    answer = freed(text, {"x": "N, T, 4"})
    assert str(answer.report.shapes["y"]) == "(N, T + 1, 4)"
    assert [edit.new for edit in answer.edits] == ["[N, 1, 1]"] or [edit.new for edit in answer.edits] == ["[N, 1, 4]"]


def test_rows_that_are_equal_become_one_row():
    rows = ", ".join(["0.5, 0.25"] * 6)
    answer = freed(f"g (float[6, 2] x) => (float y) <float[6, 2] b = {{{rows}}}> {{ y = Add(x, b) }}", "N")
    assert answer.edits[0].new.startswith("one row")


def test_positions_are_counted_and_a_table_limits_them():
    ids, table = ", ".join(map(str, range(5))), ", ".join(str(n / 8) for n in range(16))
    text = f"""g (float[1, 5, 2] x) => (float y) <int64[5] ids = {{{ids}}}, float[8, 2] table = {{{table}}}> {{
      p = Gather(table, ids)  y = Add(x, p) }}"""
    freed(text, {"x": {1: "T"}}, "T <= 8")


def test_a_learned_table_is_cut_and_named():
    table = ", ".join(str(n * n / 8) for n in range(10))
    text = f"g (float[1, 5, 2] x) => (float y) <float[1, 5, 2] table = {{{table}}}> {{ y = Add(x, table) }}"
    answer = freed(text, {"x": {1: "T"}}, "T <= 5")
    (left,) = answer.fixed
    assert left.why == "a table of 5 rows: it cannot be longer"


def test_a_causal_mask_is_computed():
    mask = ", ".join("1" if j > i else "0" for i in range(4) for j in range(4))
    text = f"""g (float[2, 4, 4] x) => (float y) <bool[4, 4] m = {{{mask}}}, float low = {{-1000.0}}> {{
      y = Where(m, low, x) }}"""
    freed(text, {"x": "N, T, T"})


def test_a_mask_of_the_largest_numbers_is_computed():
    mask = ", ".join("-3.4e38" if column > row else "0" for row in range(4) for column in range(4))
    text = f"g (float[2, 4, 4] x) => (float y) <float[4, 4] m = {{{mask}}}> {{ y = Add(x, m) }}"
    (edit,) = sb.onnx.free(model_of(text), {"x": "N, T, T"}).edits
    assert edit.new == "a causal mask that is computed, [T, T]"


def test_two_meanings_of_one_constant_are_kept_apart():
    text = """g (float[2, 2, 8] x) => (float y, float z) <int64[3] s = {2, 2, 8}> {
      a = Transpose<perm = [1, 0, 2]>(x)  y = Reshape(x, s)  z = Reshape(a, s) }"""
    answer = freed(text, {"x": {0: "N"}})
    assert [str(answer.report.shapes[name]) for name in "yz"] == ["(N, 2, 8)", "(2, N, 8)"]


def test_indices_that_take_every_element_in_order_are_a_reshape():
    text = """g (float[1, 6] mask, float[1, 2, 6, 6] x) => (float y) <int64[1, 1, 1, 6] places = {0, 1, 2, 3, 4, 5}> {
      f = Flatten<axis = 2>(mask)  g = Transpose(f)  h = Squeeze(g)  m = Gather(h, places)  y = Add(x, m) }"""
    model = model_of(text.replace("h = Squeeze(g)", "h = Reshape(mask, all)").replace(
        "<int64", "<int64[1] all = {-1}, int64"))  # fmt: skip
    answer = sb.onnx.free(model, "N")
    assert str(answer.report.shapes["m"]) == "(N, 1, 1, 6)"


def test_an_initial_state_follows_the_batch():
    state = ", ".join(["0"] * 12)
    text = f"""g (float[5, 3, 2] x, float[1, 16, 2] w, float[1, 16, 4] r) => (float y)
      <float[1, 3, 4] h = {{{state}}}, float[1, 3, 4] c = {{{state}}}> {{
      y = LSTM<hidden_size = 4>(x, w, r, , , h, c) }}"""
    answer = freed(text, {"x": "T, N, 2"}, dependent=1)
    assert str(answer.report.shapes["y"]) == "(T, 1, N, 4)"


def test_each_row_of_a_batch_is_what_the_old_model_gives():
    text = "g (float[2, 3, 4] x) => (float[3, 2, 4] y, float[2, 12] z) <int64[2] s = {{2, 12}}> {{ {} }}"
    rows = "y = Transpose<perm = [1, 0, 2]>(x)  z = Reshape(x, s)"
    runs = freed(text.format(rows), "N").confirm()
    assert str(runs[-1]) == "agrees: at N=4 it gives the rows that the old model gives: equal"
    mixed = "m = ReduceMean<axes = [0]>(x)  d = Sub(x, m)  y = Transpose<perm = [1, 0, 2]>(d)  z = Reshape(d, s)"
    runs = freed(text.format(mixed), "N", dependent=1).confirm()
    assert runs[-1].agrees is None and "rows depend on each other" in str(runs[-1])


@pytest.mark.parametrize(
    ("shape", "axes", "notes"),
    [
        ("2, 3, 4", "N, T", []),
        ("1, 3, 4", "N, T", []),
        ("2, 1, 4", "N, T", ["T was 1: a mask or table of one row does not tell the others; export at T=2"]),
        ("3, 3, 4", "N, T", ["N and T were 3: a 3 may stand for either; export at other sizes"]),
    ],
)
def test_what_the_old_sizes_leave_open_is_noted(shape, axes, notes):
    text = f"g (float[{shape}] x) => (float y) <int64[3] s = {{{shape}}}> {{ a = Relu(x)  y = Reshape(a, s) }}"
    answer = sb.onnx.free(model_of(text), axes)
    assert [*answer.notes] == answer.to_dict()["freed"]["notes"] == notes
    assert all(" ".join(note.split()) in " ".join(str(answer).split()) for note in notes)


@pytest.mark.parametrize(
    ("nodes", "note"),
    [
        ("s = ReduceSum(x, both)  y = Div(s, count)", "count: numbers that sizes had"),
        ("y = Mul(x, part)", "part: numbers that sizes had"),
        ("y = MaxPool<kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1]>(x)", "y: a padding of one side"),
        ("y = Pad(x, pads)", "y: a padding of one side"),
    ],
)
def test_what_an_exporter_may_have_computed_from_sizes_is_noted(nodes, note):
    text = f"""g (float[2, 3, 6, 8] x) => (float y) <float count = {{48.0}}, float part = {{0.125}},
      int64[2] both = {{2, 3}}, int64[8] pads = {{0, 0, 0, 0, 0, 0, 1, 1}}> {{ {nodes} }}"""
    (answer,) = sb.onnx.free(model_of(text), "N, H, W").notes
    assert answer.startswith(note)


def test_a_loop_takes_as_many_turns_as_there_are_rows():
    text = """g (float[3, 2] x) => (float y) <int64 turns = {3}, bool yes = {1}> {
      first = Constant<value = float[2] {0, 0}>()
      y = Loop(turns, yes, first) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] t) {
        row = Gather(x, i)  t = Add(s, row)  d = Identity(c) }> }"""
    answer = freed(text, {"x": {0: "T"}})
    assert [edit.tensor for edit in answer.edits] == ["turns"]


TABLE = ", ".join(str(n * n % 7 / 8) for n in range(24))
MASK = ", ".join("1" if column <= row else "0" for row in range(4) for column in range(4))
CELLS = ", ".join(f"{n // 4}, {n % 4}" for n in range(12))
FUNCTION = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
  g (float[2, 3, 4] x, float[2, 3, 4] z) => (float[2, 12] y) { a = local.flat(x)  b = local.flat(z)  y = Add(a, b) }
  <domain: "local", opset_import: ["" : 17]>
  flat (v) => (f) { s = Constant<value = int64[2] {2, 12}>()  f = Reshape(v, s) }"""
LOOP = """g (float[2, 3, 4] x) => (float y) <int64 turns = {5}, bool yes = {1}, int64[2] first = {2, 12}> {
  zero = ConstantOfShape(first)
  y = Loop(turns, yes, zero) <body = b (int64 i, bool c, float[2, 12] s) => (bool d, float[2, 12] t) <
    int64[2] flat = {2, 12}> { u = Reshape(x, flat)  t = Add(s, u)  d = Identity(c) }> }"""
BRANCHES = """g (float[2, 3, 4] x, bool flag) => (float y) { y = If(flag) <
  then_branch = t () => (float u) <int64[2] s = {2, 12}> { u = Reshape(x, s) },
  else_branch = e () => (float v) { k = Constant<value = int64[2] {2, 12}>()  w = Neg(x)  v = Reshape(w, k) }> }"""
CACHE = """g (float[1, 1, 4] x, float[1, 6, 4] past) => (float y) <int64[1, 1, 1, 7] places =
  {0, 1, 2, 3, 4, 5, 6}, int64[1] last = {6}, float low = {-99.0}> {
  k = Concat<axis = 1>(past, x)  t = Transpose<perm = [0, 2, 1]>(k)  s = MatMul(x, t)  q = Unsqueeze(s, one)
  m = LessOrEqual(places, last)  w = Where(m, q, low)  y = Softmax(w) }""".replace(
    "float low", "int64[1] one = {1}, float low"
)
OLD_HEAD = '<ir_version: 6, opset_import: ["" : 11]> '
CASES = {
    "a function is called twice": (FUNCTION, "N", "True", []),
    "the state and the body of a loop": (LOOP, "N", "True", [({"x": (5, 3, 4)}, lambda x: 5 * x.reshape(5, 12))]),
    "both branches": (BRANCHES, {"x": {0: "N"}}, "True", []),
    "a window over the whole image": (
        "g (float[2, 3, 7, 7] x) => (float y) { y = AveragePool<kernel_shape = [7, 7]>(x) }",
        "N, H, W",
        "True",
        [({"x": (1, 3, 9, 5)}, lambda x: x.mean((2, 3), keepdims=True))],
    ),
    "equal parts by an attribute": (
        OLD_HEAD + "g (float[2, 6, 4] x) => (float y, float z) { y, z = Split<axis = 1, split = [3, 3]>(x) }",
        "N, T",
        "T % 2 == 0",
        [({"x": (1, 4, 4)}, lambda x: x[:, :2])],
    ),
    "a first row and the rest by an attribute": (
        OLD_HEAD + "g (float[2, 6, 4] x) => (float y, float z) { y, z = Split<axis = 1, split = [1, 5]>(x) }",
        {"x": {1: "T"}},
        "True",
        [({"x": (2, 9, 4)}, lambda x: x[:, :1])],
    ),
    "the cells of a grid": (
        f"""g (float[2, 2, 3, 4] x) => (float y) <int64[3] s = {{2, 2, 12}}, float[12, 2] cells = {{{CELLS}}}> {{
          f = Reshape(x, s)  t = Transpose<perm = [0, 2, 1]>(f)  y = Add(t, cells) }}""",
        "N, H, W",
        "True",
        [({"x": (1, 2, 2, 5)}, lambda x: x.reshape(1, 2, 10).transpose(0, 2, 1) + grid(2, 5))],
    ),
    "a grid of 2 rows": (
        "g (float[1, 2, 3, 2] x) => (float y) <float[1, 2, 3, 2] cells = {0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2}> {"
        " y = Add(x, cells) }",
        {"x": "N, H, W, 2"},
        "True",
        [({"x": (1, 4, 5, 2)}, lambda x: x + grid(4, 5).reshape(1, 4, 5, 2))],
    ),
    "a causal mask beside a mask of the input": (
        f"""g (float[2, 4] keep, float[2, 4, 4] x) => (float y) <bool[1, 4, 4] mask = {{{MASK}}}, int64[1] one = {{1}},
          float none = {{0.0}}, float low = {{-99.0}}> {{
          k = Greater(keep, none)  u = Unsqueeze(k, one)  m = And(mask, u)  y = Where(m, x, low) }}""",
        {"keep": "N, T", "x": "N, T, T"},
        "True",
        [],
    ),
    "rows in reversed order": (
        "g (float[2, 4, 3] x) => (float y) <int64[4] r = {3, 2, 1, 0}> { y = Gather<axis = 1>(x, r) }",
        {"x": {1: "T"}},
        "True",
        [({"x": (2, 7, 3)}, lambda x: x[:, ::-1])],
    ),
    "a table that the model cuts": (
        f"""g (float[2, 4, 3] x) => (float y) <float[1, 8, 3] table = {{{TABLE}}}, int64[1] end = {{4}},
          int64[1] z = {{0}}, int64[1] one = {{1}}> {{
          e = Identity(end)  p = Slice(table, z, e, one)  y = Add(x, p) }}""",
        {"x": {1: "T"}},
        "T <= 8",
        [],
    ),
    "a moved axis of size 1": (
        "g (float[7, 1, 3] x) => (float y) <int64[3] s = {1, -1, 3}> { y = Reshape(x, s) }",
        {"x": {1: "N"}},
        "True",
        [({"x": (7, 4, 3)}, lambda x: x.transpose(1, 0, 2))],
    ),
    "a mask of one row for a cache": (CACHE, {"x": "N, T, 4", "past": "N, P, 4"}, "T == 1", []),
    "a table for one image size": (
        f"""g (float[1, 6, 2, 2] x) => (float y) <int64[3] s = {{1, 6, 4}}, float[1, 6, 4] table = {{{TABLE}}}> {{
          f = Reshape(x, s)  y = Add(f, table) }}""",
        {"x": "N, 6, H, W"},
        "H == 2 and W == 2",
        [],
    ),
}


def grid(height, width):
    import numpy as np

    return np.indices((height, width)).reshape(2, -1).T.astype(np.float32)


@pytest.mark.parametrize("case", CASES)
def test_what_a_model_takes_after_it_is_freed(case):
    import numpy as np
    from onnx.reference import ReferenceEvaluator

    text, axes, condition, runs = CASES[case]
    answer = sb.onnx.free(model_of(text), axes)
    assert str(answer.report.condition) == condition
    onnx.checker.check_model(answer.model)
    for shapes, expected in runs:
        feeds = {
            name: np.random.default_rng(0).standard_normal(shape).astype("float32") for name, shape in shapes.items()
        }
        assert np.allclose(ReferenceEvaluator(answer.model).run(None, feeds)[0], expected(*feeds.values()))


@pytest.mark.parametrize("case", CASES)
def test_freed_models_run_in_onnx_runtime_as_the_old_ones(case):
    text, axes, condition, _ = CASES[case]
    freed(text, axes, condition)


def test_what_keeps_its_size_is_checked_by_numbers_that_onnx_runtime_does_not_infer():
    text, axes, *_ = CASES["a table for one image size"]
    answer = sb.onnx.free(model_of(text), axes)
    assert {left.why for left in answer.fixed} == {"table [1, 6, 4] cannot be computed for other sizes"}
    nodes = {node.output[0]: node for node in answer.model.graph.node}
    *_, add = answer.model.graph.node
    kept = nodes[add.input[0]]
    assert [kept.op_type, nodes[kept.input[1]].op_type] == ["Reshape", "Constant"]
    assert [nodes[kept.input[0]].op_type, nodes[nodes[kept.input[0]].input[0]].op_type] == ["Gather", "Gather"]


def test_a_model_is_never_written_over_itself(tmp_path):
    path = tmp_path / "a model.onnx"
    onnx.save(model_of("g (float[2, 3] x) => (float[6] y) <int64[1] s = {6}> { y = Reshape(x, s) }"), path)
    answer = sb.onnx.free(path, "N")
    before = path.read_bytes()
    with pytest.raises(sb.BindingError, match="is the model that was read"):
        answer.save(path)
    for wrong, problem in [(tmp_path, "is not a regular file"), (tmp_path / "m.json", "names another format")]:
        with pytest.raises(sb.BindingError, match=problem):
            answer.save(wrong)
    answer.save(tmp_path / "free.onnx")
    assert path.read_bytes() == before
    assert str(sb.onnx.check(tmp_path / "free.onnx").condition) == "True"


def test_sizes_that_must_be_equal_share_a_name():
    text = "g (float[2, 3] x, float[2, 3] y) => (float[2, 6] z) { z = Concat<axis = 1>(x, y) }"
    apart = sb.onnx.free(model_of(text), {"x": {0: "N"}, "y": {0: "M"}})
    assert str(apart.report.condition) == "N == M"
    answer = sb.onnx.free(model_of(text), {"x": {0: "N"}, "y": {0: "M"}}, share=True)
    assert str(answer.report.condition) == "True"
    assert answer.model.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "N"


def test_freeing_again_changes_nothing():
    text = "g (float[2, 3, 4] x) => (float[6, 4] y) <int64[2] s = {6, 4}> { y = Reshape(x, s) }"
    once = sb.onnx.free(model_of(text), "N")
    again = sb.onnx.free(once.model, "N")
    assert not again.edits
    assert str(sb.onnx.free(once.model, {"x": "N, T, 4"}).report.condition) == "True"


BAD_AXES = [
    ({"y": "N, 3"}, "the model has no input 'y'"),
    ({"x": {4: "N"}}, "x has no axis 4"),
    ({"x": "N, N"}, "N is 2 on an axis before, and axis 1 of x is 3"),
    ({"x": "2*N, 3"}, "no axis of an input is N alone"),
    ({"x": "N, 4"}, "axis 1 of x is 3, not 4"),
    (None, "no axis is free"),
]


@pytest.mark.parametrize(("axes", "problem"), BAD_AXES)
def test_axes_that_cannot_be_freed_are_refused(axes, problem):
    with pytest.raises(sb.BindingError, match=problem):
        sb.onnx.free(model_of("g (float[2, 3] x) => (float y) { y = Relu(x) }"), axes)


@pytest.mark.parametrize("axes", ["H", "N, H", "H, W", "width, height, N"])
def test_names_that_may_mean_several_axes_of_an_image_are_refused(axes):
    text = "g (float[1, 3, 64, 48] image) => (float y) { y = Relu(image) }"
    with pytest.raises(sb.BindingError, match=r'may mean several .* {"image": "1, 3, 64, 48"}'):
        sb.onnx.free(model_of(text), axes)


def test_a_name_that_another_axis_has_is_refused():
    text = "g (float[batch, 3, H, W] image) => (float y) { y = Relu(image) }"
    with pytest.raises(sb.BindingError, match="H is the name of axis 2 of image already"):
        sb.onnx.free(model_of(text), "N, W, H")
    same = sb.onnx.free(model_of(text), "N, H, W")
    assert str(same.report.inputs["image"]) == "(N, 3, H, W)"


def test_open_sizes_were_no_numbers_and_a_model_that_never_runs_is_named():
    never = """<ir_version: 9, opset_import: ['' : 18]> g (float[2, 3] x, float[4, 5] z) => (y) <int64[2] to = {2, 3}> {
        r = Reshape(x, to)
        y = MatMul(r, z)
    }"""
    with pytest.raises(sb.ModelError, match="the model runs at no sizes: "):
        sb.onnx.free(onnx.parser.parse_model(never.replace("'", '"')), {"x": {0: "N"}})
    is_open = "<ir_version: 9, opset_import: ['' : 18]> g (float[N, M] x, float[N, M] z) => (y) { y = Add(x, z) }"
    freed = sb.onnx.free(onnx.parser.parse_model(is_open.replace("'", '"')))
    assert freed.notes == () and "in the old model" not in str(freed)
