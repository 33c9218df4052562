"""What contracts write, held against documented grammars, schemas and, where they are installed, the real readers."""

import ast
import json
import re
import types
from importlib.util import find_spec

import contract_readers
import jsonschema
import pytest

import symbcast as sb

pytest.importorskip("onnx")
from skip_model import skip_model

RANGES = {"N": "1..16", "H": "64..1280", "W": "64..256"}
TARGETS = [
    *("trtexec", "onnxruntime-tensorrt", "torch_tensorrt", "triton", "coreml", "openvino"),
    *("onnxruntime", "webnn", "torch", "jax", "stablehlo", "iree", "litert", "json", "bioimage-io"),
]


class ToyInterpreter:
    """An interpreter that records its resizes: the tensors of the first subgraph have other names in a signature."""

    def __init__(self, names):
        self.names, self.calls = list(names), []

    def details(self, prefix):
        return [{"name": f"{prefix}:{n}", "index": n} for n in range(len(self.names))]

    def get_input_details(self):
        return self.details("tensor")

    def get_signature_list(self):
        return {"first": {}, "second": {}}

    def get_signature_runner(self, key):
        found = self.details("tensor" if key == "first" else "other")
        named = self.names if key == "first" else self.names[::-1]
        return types.SimpleNamespace(get_input_details=lambda: dict(zip(named, found, strict=True)))

    def resize_tensor_input(self, index, shape):
        self.calls.append((index, shape))

    def allocate_tensors(self):
        self.calls.append("allocated")


@pytest.fixture(scope="module")
def report():
    return sb.onnx.check(skip_model(), runtime="onnxruntime")


def contract(report, form, **ranges):
    return report.contract({**RANGES, **ranges}, form=form)


def read(target, text, package):
    """Return what a target's own library finds in a text."""
    if find_spec(package.partition(".")[0]) is None:
        pytest.skip(f"{package} is not installed")
    return contract_readers.read(target, text)


@pytest.mark.parametrize("name", contract_readers.TEXTS)
def test_the_recorded_readers_read_what_is_written_today(name):
    target, text = contract_readers.written(name)
    (found,) = (r for r in json.loads(contract_readers.RECORDED.read_text(encoding="utf-8")) if r["name"] == name)
    assert text == found["text"]
    answer = found["answer"]
    if target == "triton":
        assert answer["max_batch_size"] == 16
        assert answer["tensors"]["x"] == [[3, 64, 256], "TYPE_FP32"]
    elif name.endswith("ranges"):
        assert answer["ranges"] == [[1, 16], [3, 3], [64, 64], [64, 64]]
    else:
        assert sorted([*answer["shapes"], answer["default"]])[0] == [1, 3, 64, 64]
        assert len(answer["shapes"]) + (answer["default"] not in answer["shapes"]) == 17


# TensorRT. https://docs.nvidia.com/deeplearning/tensorrt/latest/reference/command-line-programs.html

SPEC = r"(?P<spec>[\w./:-]+:\d+(?:x\d+)*(?:,[\w./:-]+:\d+(?:x\d+)*)*)"


def profiles_of(text):
    """Read options of trtexec: a list of profiles, each with the shapes of inputs by end."""
    found, words = [], text.split()
    for word in words:
        if re.fullmatch(r"--profile=\d+", word):
            assert word == f"--profile={len(found)}"
            found.append({})
            continue
        end = re.fullmatch(rf"--(min|opt|max)Shapes={SPEC}", word)
        assert end, word
        if not found:
            found.append({})
        found[-1][end[1]] = shapes_of(end["spec"])
    return found


def shapes_of(spec):
    pairs = [part.rpartition(":") for part in spec.split(",")]
    return [(name, tuple(map(int, dims.split("x")))) for name, _, dims in pairs]


def test_options_of_trtexec_have_the_documented_grammar(report):
    (profile,) = profiles_of(contract(report, "box").to("trtexec"))
    assert profile == {"min": [("x", (1, 3, 64, 64))], "opt": [("x", (16, 3, 64, 64))], "max": [("x", (16, 3, 64, 64))]}
    several = contract(report, "profiles", H="64..72", W=64)
    found = profiles_of(several.to("trtexec"))
    assert [p["min"][0][1][2] for p in found] == [box["H"][0] for box in several.boxes]
    typical = report.contract(N="1..16", H=64, W=64, typical={"N": [4, 8]})
    assert profiles_of(typical.to("trtexec"))[0]["opt"] == [("x", (8, 3, 64, 64))]


def test_names_of_inputs_with_colons():
    asked = sb.Condition("N >= 1 and M >= 1").contract(N="1..4", M="1..4")
    (profile,) = profiles_of(asked.to("trtexec", inputs={"Input:0": "N, M + 1"}))
    assert profile["max"] == [("Input:0", (4, 5))]
    with pytest.raises(sb.TargetError, match="Input:0"):
        asked.to("onnxruntime-tensorrt", inputs={"Input:0": "N"})


# https://onnxruntime.ai/docs/execution-providers/TensorRT-ExecutionProvider.html


def test_provider_options_have_the_documented_grammar(report):
    options = json.loads(contract(report, "profiles", H="64..72", W=64).to("onnxruntime-tensorrt"))
    assert list(options) == [f"trt_profile_{end}_shapes" for end in ("min", "opt", "max")]
    for text in options.values():
        assert re.fullmatch(r"\w+:\d+(x\d+)*(,\w+:\d+(x\d+)*)*", text)
    assert [shape[2] for _, shape in shapes_of(options["trt_profile_min_shapes"])] == [64, 68, 72]


# https://docs.pytorch.org/TensorRT/py_api/torch_tensorrt.html and the tutorial on several optimisation profiles


def test_inputs_of_torch_tensorrt_have_the_documented_arguments(report):
    def calls(text):
        return [
            n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "Input"
        ]

    (one,) = calls(contract(report, "box").to("torch_tensorrt"))
    assert [k.arg for k in one.keywords] == ["min_shape", "opt_shape", "max_shape", "dtype", "name"]
    assert ast.literal_eval(one.keywords[2].value) == (16, 3, 64, 64)
    (several,) = calls(contract(report, "profiles", H="64..72", W=64).to("torch_tensorrt"))
    assert [k.arg for k in several.keywords] == ["profiles", "dtype", "name"]
    assert len(several.keywords[0].value.elts) == 3


# The other targets, by their own libraries.


def test_openvino_compiles_and_runs_the_shapes(report):
    found = read("openvino", contract(report, "box").to("openvino"), "openvino")
    assert found["shapes"] == {"x": ["1..16", "3", "64", "64"]}
    assert [text == "works" for text in found["runs"].values()] == [True, True, True, False, False]


def test_torch_exports_with_the_dimensions(report):
    found = read("torch", contract(report, "steps").to("torch"), "torch")
    assert [16, 320] in found["bounds"]
    assert [text == "works" for text in found["runs"].values()] == [True] * 5 + [False] * 2


def test_jax_exports_with_the_shapes(report):
    found = read("jax", contract(report, "steps").to("jax"), "jax")
    assert found["in"] == "(N, 3, 4*_H, 4*_W)"
    assert [text == "works" for text in found["runs"].values()] == [True] * 5 + [False]


DERIVED = [
    # condition, the dimensions of x and y for torch, and the shape of y for JAX
    ("b == 2*a", ("a", "2*a"), "2*a"),
    ("b == 2*a and a % 8 == 0", ("8*_a", "16*_a"), "16*_a"),
    ("b == 2*a + 3 and a % 4 == 1", ("4*_a + 1", "8*_a + 5"), "8*_a + 5"),
    ("a == b and b % 8 == 0", ("8*_a", "8*_a"), "8*_a"),
    ("b == 2*a and a % 16 == 5", ("16*_a - 11", "32*_a - 22"), "32*_a - 22"),
]
PAIRS = {"x": "a, 4", "y": "b, 4"}


@pytest.mark.parametrize(("text", "dims", "shape"), DERIVED)
def test_derived_dimensions(text, dims, shape):
    asked = sb.Condition(text).contract(a="4..32", b="1..80", form="derived")
    assert list(asked.derived) == ["b"]
    assert f"'x': {{0: {dims[0]}}},\n    'y': {{0: {dims[1]}}}," in asked.to("torch", inputs=PAIRS)
    assert f'symbolic_shape("({shape}, 4)"' in asked.to("jax", inputs=PAIRS)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_libraries_export_with_derived_dimensions(library):
    asked = sb.Condition("b == 2*a and a % 8 == 0").contract(a="4..32", b="1..80", form="derived")
    found = read(f"{library}_derived", asked.to(library, inputs=PAIRS), library)
    assert [text == "works" for text in found["runs"].values()] == [True, True, False, False, False, False]


def test_relations_that_targets_cannot_express():
    pairs = sb.Condition("b == 2*a").contract(a="4..32", b="1..80", form="derived")
    for target in (
        "trtexec",
        "onnxruntime-tensorrt",
        "torch_tensorrt",
        "coreml",
        "openvino",
        "webnn",
        "stablehlo",
        "iree",
    ):
        with pytest.raises(sb.TargetError, match=r"it bounds each size by itself, and b is 2\*a") as error:
            pairs.to(target, inputs=PAIRS)
        assert error.value.nearest == pairs.in_form("box", 1).to(target, inputs=PAIRS)
    total = sb.Condition("total == past + seq").contract(past="1..8", seq="1..4", form="derived")
    with pytest.raises(sb.TargetError, match="one equation in one size at a time, and past and seq cannot"):
        total.to("jax", inputs={"t": "total"})
    assert "'t': export.symbolic_shape(\"(past + seq,)\"" in total.to("jax", inputs={"t": "total", "p": "past"})
    with pytest.raises(sb.TargetError, match="from one other"):
        total.to("torch", inputs={"t": "total"})
    falling = sb.Condition("a + b == 8").contract(a="0..8", b="1..8", form="derived")
    with pytest.raises(sb.TargetError, match="as a multiple and a number"):
        falling.to("torch", inputs={"x": "a", "y": "b"})


# WebNN: the dictionaries of https://github.com/webmachinelearning/webnn/issues/883, with minSize as Chromium has it.

IDL = """
enum MLOperandDataType { "float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8" };
dictionary MLDynamicDimension {
  required DOMString name;
  [EnforceRange] unsigned long minSize = 1;
  required [EnforceRange] unsigned long maxSize;
};
typedef ([EnforceRange] unsigned long or MLDynamicDimension) MLDimension;
dictionary MLInputOperandDescriptor {
  required MLOperandDataType dataType;
  required sequence<MLDimension> shape;
};
"""


def members_of(dictionary):
    """Return the members of a dictionary of the IDL: whether each is required, and its type."""
    body = re.search(rf"dictionary {dictionary} {{(.*?)}};", IDL, re.DOTALL)[1]
    lines = (re.sub(r"\[\w+\]|=.*", "", line).split() for line in body.split(";") if line.strip())
    return {words[-1]: (words[0] == "required", words[-2]) for words in lines}


def accepts(dictionary, value):
    known = members_of(dictionary)
    assert value.keys() <= known.keys()
    assert {name for name, (required, _) in known.items() if required} <= value.keys()


def test_webnn_takes_the_descriptors(report):
    found = json.loads(contract(report, "box").to("webnn"))
    assert found == {"x": {"dataType": "float32", "shape": [{"name": "N", "maxSize": 16}, 3, 64, 64]}}
    later = json.loads(sb.Condition("T >= 8").contract(T="1..64").to("webnn", inputs={"ids": "2, T", "mask": "2, T"}))
    dimension = {"name": "T", "minSize": 8, "maxSize": 64}
    assert [d["shape"] for d in later.values()] == [[2, dimension], [2, dimension]]
    for descriptor in (*found.values(), *later.values()):
        accepts("MLInputOperandDescriptor", descriptor)
        assert f'"{descriptor["dataType"]}"' in IDL
        for dim in descriptor["shape"]:
            assert isinstance(dim, int) or accepts("MLDynamicDimension", dim) is None


def test_webnn_holds_dimensions_of_one_name_to_one_size():
    square = sb.Condition("H == W").contract(H="8..64", W="8..64", form="derived")
    found = json.loads(square.to("webnn", inputs={"x": "1, H, W"}))
    assert found["x"]["shape"][1:] == [{"name": "H", "minSize": 8, "maxSize": 64}] * 2
    with pytest.raises(sb.TargetError, match="N can be 0"):
        sb.Condition("N <= 4").contract(N="0..4").to("webnn", inputs={"x": "N"})


@pytest.mark.parametrize(("target", "kind"), [("webnn", "bool"), ("coreml", "double"), ("stablehlo", "string")])
def test_element_types_that_a_target_does_not_have(target, kind):
    onnx = pytest.importorskip("onnx")
    text = f'<ir_version: 9, opset_import: ["" : 18]> g ({kind}[N] a) => ({kind}[N] y) {{ y = Identity(a) }}'
    asked = sb.onnx.check(onnx.parser.parse_model(text)).contract(N="1..8")
    with pytest.raises(sb.TargetError, match=r"element type"):
        asked.to(target)


def test_triton_reads_the_configuration(report):
    with pytest.raises(sb.TargetError, match="not every size of H and W works") as error:
        contract(report, "steps").to("triton")
    found = read("triton", error.value.nearest, "tritonclient")
    assert found == {
        "max_batch_size": 16,
        "tensors": {"x": [[3, 1280, 256], "TYPE_FP32"], "y": [[3, -1, -1], "TYPE_FP32"]},
    }


def test_core_ml_converts_with_the_shapes(report):
    found = read("coreml", contract(report, "box").to("coreml"), "coremltools")
    assert found["ranges"] == [[1, 16], [3, 3], [64, 64], [64, 64]]
    with pytest.raises(sb.TargetError, match="no steps") as error:
        contract(report, "steps", N=1).to("coreml")
    found = read("coreml", error.value.nearest, "coremltools")
    shapes = [*found["shapes"], found["default"]]
    assert len({tuple(s) for s in shapes}) == 121
    assert all(h % 4 == 0 and w % 4 == 0 for _, _, h, w in shapes)


def test_core_ml_does_not_combine_enumerated_shapes():
    asked = sb.Condition("T % 8 == 0").contract(T="8..64", form="list")
    with pytest.raises(sb.TargetError, match="only some combinations are valid"):
        asked.to("coreml", inputs={"ids": "1, T", "mask": "1, T"})


def test_onnx_runtime_overrides_the_dimensions(report):
    with pytest.raises(sb.TargetError, match="one size for each name") as error:
        contract(report, "box").to("onnxruntime")
    assert read("onnxruntime", error.value.nearest, "onnxruntime") == {"shape": [16, 3, 1280, 256]}


def test_iree_parses_the_assumptions(report):
    found = read("iree", contract(report, "steps").to("iree"), "iree.compiler")
    assert "umin = 64, umax = 1280, udiv = 4" in found["text"]
    odd = sb.Condition("H % 4 == 3").contract(H="1..99", form="steps")
    with pytest.raises(sb.TargetError, match="3 more than a multiple of 4"):
        odd.to("iree")


def test_stablehlo_parses_the_bounds(report):
    text = contract(report, "box", H=64, W=64).to("stablehlo")
    found = read("stablehlo", text, "jaxlib")
    assert found["types"][0][1] == "#stablehlo.bounds<16, ?, ?, ?>"
    with pytest.raises(sb.TargetError, match="upper bounds"):
        sb.Condition("H >= 8").contract(H="8..64").to("stablehlo", inputs={"x": "H"})


def test_json_has_the_schema(report):
    for form in ("box", "steps", "profiles", "list"):
        made = contract(report, form, N=1)
        jsonschema.validate(json.loads(made.to("json")), type(made).json_schema())
    empty = sb.Condition("H % 4 == 0").contract(H=3)
    jsonschema.validate(empty.to_dict(), type(empty).json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**empty.to_dict(), "form": "rows"}, type(empty).json_schema())


# Refusals.


@pytest.mark.parametrize("target", [target for target in TARGETS if target != "json"])
def test_nothing_is_written_where_no_sizes_work(target):
    with pytest.raises(sb.UndecidedError):
        sb.Condition("H % 4 == 0").contract(H=3).to(target, inputs={"x": "H"})


@pytest.mark.parametrize("target", ["trtexec", "onnxruntime-tensorrt", "torch_tensorrt", "openvino"])
def test_a_target_without_steps_offers_the_largest_box(report, target):
    steps = contract(report, "steps")
    with pytest.raises(sb.TargetError, match="it takes every size of a range") as error:
        steps.to(target)
    assert error.value.nearest == contract(report, "box").to(target)


@pytest.mark.parametrize("target", ["triton", "openvino", "torch", "jax", "stablehlo", "iree"])
def test_a_target_of_one_range_refuses_several(report, target):
    with pytest.raises(sb.TargetError, match="the contract has 3"):
        contract(report, "profiles", H="64..72", W=64).to(target)


def resized(text, *sizes, names=("x", "y")):
    """Return the shapes that the function for LiteRT gives to the inputs, whose tensors have other names than these."""
    interpreter, space = ToyInterpreter(names), {}
    exec(text, space)
    space["resize"](interpreter, *sizes)
    assert interpreter.calls.pop() == "allocated"
    return dict(interpreter.calls)


@pytest.mark.parametrize("form", ["box", "steps", "profiles", "list", "derived"])
def test_litert_is_resized_to_sizes_of_the_contract_only(form):
    asked = sb.Condition("H % 4 == 0 and (N == 1 or H <= 8)").contract(N="1..3", H="4..16", form=form)
    text = asked.to("litert", inputs={"x": "N, H, 3", "y": "2*H + 1"})
    head = next(line for line in text.splitlines() if line.startswith("def"))
    parameters = re.findall(r"\w+", head.partition("interpreter")[2])
    for n in range(5):
        for h in range(18):
            sizes = [{"N": n, "H": h}[name] for name in parameters]
            fixed = all({"N": n, "H": h}[k] == asked.boxes[0][k][0] for k in ("N", "H") if k not in parameters)
            if any(n in box["N"] and h in box["H"] for box in asked.boxes):
                assert resized(text, *sizes, names="xy") == {0: [n, h, 3], 1: [2 * h + 1]}
            elif fixed:
                with pytest.raises(ValueError, match="the contract does not have"):
                    resized(text, *sizes)


def test_litert_derives_sizes_and_spells_names():
    pairs = sb.Condition("b == 2*a and a % 8 == 0").contract(a="8..64", form="derived")
    text = pairs.to("litert", inputs={"it's:0": "a, 4", "s": (), "y": "b"})
    assert resized(text, 24, names=["it's:0", "s", "y"]) == {0: [24, 4], 1: [], 2: [48]}
    named = sb.Condition("sizes >= 1 and lambda_ >= 1").contract(sizes="1..8", lambda_=3)
    text = named.to("litert", inputs={"x": "sizes, lambda_"})
    assert resized(text, 8, names="x") == {0: [8, 3]}
    for size, ranges, problem in [
        ("N - 1", "0..3", "N - 1 of x is -1"),
        ("N + 1", "2147483640..2147483647", "N \\+ 1 can be 2147483648"),
    ]:
        with pytest.raises(sb.TargetError, match=problem):
            sb.Condition("N >= 0").contract(N=ranges).to("litert", inputs={"x": size})
    with pytest.raises(sb.TargetError, match="an input has a name"):
        sb.Condition("N >= 1").contract(N="1..3").to("litert", inputs={"": "N"})


def test_a_target_that_does_not_exist():
    asked = sb.Condition("H % 4 == 0").contract(H="4..8")
    with pytest.raises(sb.TargetError, match="did you mean 'trtexec'"):
        asked.to("trtexc")
    with pytest.raises(sb.TargetError, match="shapes of inputs"):
        asked.to("trtexec")


def test_an_input_whose_size_is_not_linear():
    asked = sb.Condition("N >= 1").contract(N="1..4")
    for target in ("trtexec", "openvino", "torch", "jax"):
        with pytest.raises(sb.TargetError):
            asked.to(target, inputs={"x": "N*N"})
    assert json.loads(asked.to("openvino", inputs={"x": "N + 2, 7"})) == {"x": "[3..6,7]"}


@pytest.mark.parametrize("target", ["trtexec", "openvino", "webnn", "coreml", "stablehlo"])
def test_an_input_whose_size_has_gaps(target):
    """A range of 2..8 accepts 3, which is no ``2*N``."""
    asked = sb.Condition("N >= 1").contract(N="1..4")
    with pytest.raises(sb.TargetError, match=r"2\*N of x is 2..8 step 2"):
        asked.to(target, inputs={"x": "2*N, 7"})
    assert "2*N" in asked.to("torch", inputs={"x": "2*N, 7"})
    with pytest.raises(sb.TargetError, match="N - 3 of x is -2"):
        asked.to("trtexec", inputs={"x": "N - 3"})


@pytest.mark.parametrize("target", ["trtexec", "openvino", "webnn"])
def test_a_sum_that_leaves_out_sizes_is_no_range(target):
    """2*a + 3*b is 5, 7, 8 or 10 for a and b in 1..2; a + 2*b is each of 3 to 6."""
    contract = sb.Condition("a + b <= 9").contract(a="1..2", b="1..2")
    with pytest.raises(sb.TargetError, match=r"2\*a \+ 3\*b of x leaves some out"):
        contract.to(target, inputs={"x": "2*a + 3*b"})
    assert "6" in contract.to(target, inputs={"x": "a + 2*b"})


@pytest.mark.parametrize("target", ["trtexec", "openvino", "webnn", "coreml", "stablehlo"])
def test_axes_that_vary_together_are_no_ranges(target):
    """Ranges of 2..7 and 1..4 accept 2 and 4, where M would be -2."""
    contract = sb.Condition("N + M <= 9").contract(N="1..4", M="1..3")
    for shape in ("N + M, N", "N, N + M", "N, N + 1", "N + M, N - M + 3"):
        with pytest.raises(sb.TargetError, match=r"it bounds each axis by itself, and .* of x varies with .* of x"):
            contract.to(target, inputs={"x": shape})
    one = sb.Condition("N + M <= 9").contract(N=4, M="1..3")
    for allowed, shape in ((contract, "N, N, M + 1"), (contract, "N + M, 7, M + N"), (one, "N + M, N")):
        assert "7" in allowed.to(target, inputs={"x": shape}) or shape == "N, N, M + 1"
