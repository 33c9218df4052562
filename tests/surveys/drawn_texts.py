"""Random models and contracts, and what their texts break of the rules of the readers.

The rules of readers that cannot be installed everywhere (TensorRT, ONNX Runtime's TensorRT provider, torch_tensorrt,
Triton, Core ML, WebNN) are written here a second time, from their sources. The others read the texts themselves:
`python tests/surveys/drawn_texts.py read` does so for cases on standard input.
`python tests/surveys/drawn_texts.py 500 0` draws 500 models from seed 0 on, with all targets.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import subprocess
import sys
import types

NAMES = ("x", "y", "z", "a.b", "in:0", "input 1", 'q"t', "b\\s", "größe", "ids'", "a,b", "x.1/y", "lambda", "$v")
SIZES = ("N", "M", "T", "batch.size", "Dim", "mod")
TYPES = {
    "FLOAT": 1,
    "INT64": 7,
    "FLOAT16": 10,
    "BOOL": 9,
    "STRING": 8,
    "DOUBLE": 11,
    "INT8": 3,
    "UINT16": 4,
    "BFLOAT16": 16,
}
INT32 = (1 << 31) - 1
TARGETS = ("trtexec", "onnxruntime-tensorrt", "torch_tensorrt", "triton", "coreml", "openvino", "onnxruntime", "webnn")
READ = ("openvino", "onnxruntime", "torch", "jax", "stablehlo", "iree")


def model_of(chance):
    """Return a random model: each input has an output, by an operator that all sizes satisfy."""
    from onnx import helper

    names = chance.sample(NAMES, chance.choice((1, 1, 2, 2, 3)))
    batch = chance.random() < 0.4
    inputs, outputs, nodes = [], [], []
    for number, name in enumerate(names):
        rank = chance.choice((0, 1, 1, 2, 2, 3, 4)) if chance.random() < 0.97 else 9
        dims = [chance.choice((*SIZES, "N", "N", 1, 3, 4)) for _ in range(rank)]
        dims = ["N", *(d for d in dims[1:] if d != "N")] if batch and dims else dims
        kind = TYPES[chance.choice(("FLOAT", "FLOAT", "FLOAT", *TYPES))]
        operator, out = _operator(chance, dims)
        known = chance.choice((out, out, [f"o{number}_{n}" for n in range(len(out))], None))
        inputs.append(helper.make_tensor_value_info(name, kind, dims))
        outputs.append(helper.make_tensor_value_info(f"out{number}", 7 if operator == "Shape" else kind, known))
        operands, attributes = [name], {}
        if operator == "Concat":
            operands, attributes = [name, name], {"axis": 0}
        nodes.append(helper.make_node(operator, operands, [f"out{number}"], **attributes))
    graph = helper.make_graph(nodes, "drawn", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _operator(chance, dims):
    kinds = ["Identity", "Identity", "Shape", *(["Transpose", "Concat"] if dims else [])]
    found = chance.choice(kinds)
    if found == "Transpose":
        return found, dims[::-1]
    if found == "Concat":
        return found, [2 * dims[0] if isinstance(dims[0], int) else f"twice_{dims[0]}", *dims[1:]]
    return found, [len(dims)] if found == "Shape" else dims


def drawn(seed):
    """Return a model, a contract of it, and the number of the seed; None for a model that is not taken."""
    import symbcast as sb

    chance = random.Random(seed)
    model = model_of(chance)
    report = sb.onnx.check(model, min_size=chance.choice((0, 1)))
    ranges = {}
    for name in report.contract().wanted:
        low = chance.choice((0, 1, 1, 1, 2, 8))
        high = low + chance.choice((0, 0, 3, 15, 4000))
        if chance.random() < 0.05:
            low, high = 5, 1 << 24
        if chance.random() < 0.05:
            low = high = 1 << 31
        ranges[name] = range(low, high + 1, chance.choice((1, 1, 1, 2, 4)))
    form = chance.choice(("box", "box", "steps", "profiles", "list"))
    return model, report.contract(
        ranges, form=form, most=chance.choice((1, 2)) if form in ("profiles", "list") else None
    )


def texts_of(contract, targets):
    """Return what a contract writes for each target; the error if it refuses."""
    import symbcast as sb

    found = {}
    for target in targets:
        try:
            found[target] = contract.to(target)
        except sb.TargetError as error:
            assert error.hint
            found[target] = error
    return found


def axes_of(model):
    """Return the axes of the inputs in the file: numbers, and -1 for open ones; the outputs are found by a runtime."""
    return {
        v.name: [d.dim_value if d.HasField("dim_value") else -1 for d in v.type.tensor_type.shape.dim]
        for v in model.graph.input
    }


class BrokenError(Exception):
    """A text breaks a rule."""


def rule(holds, text):
    if not holds:
        raise BrokenError(text)


# trtexec: samples/common/sampleOptions.cpp and sampleEngines.cpp of TensorRT


def trtexec(text, model, contract):
    words = text.split()  # as $(cat profile.txt) does
    rule(shlex.split(text) == words, "a shell reads it otherwise")
    profiles = [{}]
    for word in words:
        option, equals, value = word.partition("=")
        rule(bool(equals), f"{word} is no option")
        if option == "--profile":
            rule(int(value) == len(profiles) - (not profiles[-1]), "profiles are numbered")
            profiles += [{}] if profiles[-1] else []
            continue
        end = option.removeprefix("--").removesuffix("Shapes")
        rule(end in ("min", "opt", "max"), f"{option} is no option")
        profiles[-1][end] = dict(map(_named_shape, value.split(",")))
    _check_profiles(profiles, model, contract, static_is_wrong=True)


def _named_shape(text):
    rule("'" not in text, "quotes are part of names")
    name, _, dims = text.rpartition(":")
    return name, [] if dims == "scalar" else [_stoi(d) for d in dims.split("x")]


def _stoi(text):
    rule(re.fullmatch(r"[0-9]+", text) and int(text) <= INT32, f"{text} is no integer of 32 bits")
    return int(text)


def _check_profiles(profiles, model, contract, *, static_is_wrong):
    axes = axes_of(model)
    rule(len(profiles) == len(contract.boxes), "a profile for each box")
    if static_is_wrong:
        rule(any(-1 in dims for dims in axes.values()), "static model does not take explicit shapes")
    for profile in profiles:
        rule({frozenset(shapes) for shapes in profile.values()} == {frozenset(axes)}, "an input is missing")
        for name, own in axes.items():
            low, best, high = (profile[end][name] for end in ("min", "opt", "max"))
            rule(len(low) == len(best) == len(high) == len(own) <= 8, f"{name}: ranks")
            rule(all(0 <= a <= b <= c for a, b, c in zip(low, best, high, strict=True)), f"{name}: order")
            rule(all(o in (-1, a) and o in (-1, c) for a, c, o in zip(low, high, own, strict=True)), f"{name}: numbers")


def provider(text, model, contract):
    """ONNX Runtime: ParseProfileShapes in tensorrt_execution_provider_utils.h."""
    profiles = [{"min": {}, "opt": {}, "max": {}} for _ in contract.boxes]
    for option, value in json.loads(text).items():
        end = re.fullmatch(r"trt_profile_(min|opt|max)_shapes", option)[1]
        seen = {}
        for part in value.split(","):
            name, dims = part.split(":")[:2]  # std::getline twice
            rule(name and dims and part.count(":") == 1, f"{part} is no shape")
            number = seen[name] = seen.get(name, -1) + 1
            profiles[number][end][name] = [_stoi(d) for d in dims.split("x")]
    for profile in profiles:  # inputs without axes are not dynamic
        for found in profile.values():
            found.update({name: [] for name, dims in axes_of(model).items() if not dims})
    _check_profiles(profiles, model, contract, static_is_wrong=False)


def torch_tensorrt(text, model, contract):
    made = []

    class Input:
        def __init__(self, **told):
            made.append(told)

    space = {}
    torch = types.ModuleType("torch")
    kinds = ("float32", "float16", "float64", "bfloat16", "int8", "uint8", "int32", "int64", "bool")
    torch.__dict__.update({kind: kind for kind in kinds})
    _executed(text, space, torch=torch, torch_tensorrt=types.SimpleNamespace(Input=Input))
    ends = ("min_shape", "opt_shape", "max_shape")
    profiles = [{"min": {}, "opt": {}, "max": {}} for _ in contract.boxes]
    for told in made:
        rule(set(told) <= {*ends, "profiles", "dtype", "name"}, "arguments of Input")
        for number, shapes in enumerate(told.get("profiles") or [told]):
            for end in ends:
                profiles[number][end[:3]][told["name"]] = list(shapes[end])
    _check_profiles(profiles, model, contract, static_is_wrong=False)


def _executed(text, space, **modules):
    """Run Python source whose imports are replaced."""
    lines = [line for line in text.splitlines() if not line.startswith("import ")]
    space.update(modules)
    exec("\n".join(lines), space)


# Triton: ValidateIOShape in model_config_utils.cc; AutoCompleteMaxBatch, CompareDimsSupported in the ONNX backend.

BLOCK = re.compile(
    r'(input|output) \{\n  name: "((?:[^"\\]|\\.)*)"\n  data_type: TYPE_(\w+)\n  dims: \[([-0-9, ]*)\]'
    r"(?:\n  reshape: \{ shape: \[([-0-9, ]*)\] \})?\n\}\n?"
)
KNOWN = {
    "FP32",
    "FP16",
    "FP64",
    "BF16",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "BOOL",
    "STRING",
}


def triton(text, model, contract):
    head, _, rest = text.partition("\n")
    batch = int(re.fullmatch(r"max_batch_size: ([0-9]+)", head)[1])
    rule(batch <= INT32, "an integer of 32 bits")
    blocks, at = [], 0
    rest = re.sub(r"^#.*\n", "", rest, flags=re.MULTILINE) + "\n"
    while at < len(rest.rstrip()):
        found = BLOCK.match(rest, at)
        rule(found, f"text format: {rest[at : at + 60]!r}")
        blocks.append(found.groups())
        at = found.end()
    own, results = runtime_shapes(model)
    inputs = {_unescaped(name) for kind, name, *_ in blocks if kind == "input"}
    rule(inputs == set(own), "the model's inputs")
    if not any(kind == "output" for kind, *_ in blocks):
        can_batch = all(dims[:1] == [-1] for dims in (*own.values(), *results.values()))
        rule(can_batch == bool(batch), "completing sets max_batch_size")
    for kind, name, data, dims, reshape in blocks:
        rule(data in KNOWN, f"data type {data}")
        numbers, moved = ([int(n) for n in part.split(",")] if part else [] for part in (dims, reshape or ""))
        rule(numbers, f"{name} must specify dims")
        rule(all(n >= 1 or n == -1 for n in (*numbers, *moved)), f"{name}: dims")
        rule(reshape is None or moved or batch, f"{name}: empty reshape without batch")
        rule(reshape is None or moved or numbers == [1], f"{name}: reshape has another size")
        known = (own if kind == "input" else results)[_unescaped(name)]
        whole = [*([-1] if batch else []), *(numbers if reshape is None else moved)]
        rule(not batch or known[:1] == [-1], f"{name}: no batch in the model")
        if not known:
            rule(all(n == 1 for n in numbers), f"{name}: a scalar has ones")
            continue
        rule(len(known) == len(whole), f"{name}: rank {known} {whole}")
        pairs = zip(known, whole, strict=True)
        rule(all(k == w or (k == -1 and kind == "input") for k, w in pairs), f"{name}: {whole} for {known}")


def _unescaped(name):
    return name.replace('\\"', '"').replace("\\\\", "\\")


def runtime_shapes(model):
    """Return the shapes of inputs and outputs that ONNX Runtime reports, with -1 for open sizes."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return tuple(
        {v.name: [d if isinstance(d, int) else -1 for d in v.shape] for v in values}
        for values in (session.get_inputs(), session.get_outputs())
    )


# Core ML: input_types.py, program.py and _converters_entry.py of coremltools.


def coreml(text, model, contract):
    class RangeDim:
        def __init__(self, low, high, default):
            rule(0 <= low <= default <= high, "a default in the range")
            self.ends = low, high

    class Shape:
        def __init__(self, shape):
            self.ends = [d.ends if isinstance(d, RangeDim) else (d, d) for d in shape]

    class EnumeratedShapes:
        def __init__(self, shapes, default):
            rule(2 <= len(shapes) <= 128 and default in shapes, "enumerated shapes")
            rule(len(set(map(len, shapes))) == 1, "shapes of one rank")
            self.shapes = shapes

    made = {}

    def tensor_type(name, shape, dtype=None):
        made[name] = shape

    numpy = types.SimpleNamespace(float32=1, float16=1, int32=1)
    pieces = {"RangeDim": RangeDim, "Shape": Shape, "EnumeratedShapes": EnumeratedShapes, "TensorType": tensor_type}
    _executed(text, {}, ct=types.SimpleNamespace(**pieces), np=numpy)
    axes = axes_of(model)
    rule(set(made) == set(axes), "all inputs")
    rule(sum(isinstance(s, EnumeratedShapes) for s in made.values()) <= 1, "one input with enumerated shapes")
    for name, shape in made.items():
        every = (
            shape.shapes if isinstance(shape, EnumeratedShapes) else [shape.ends if isinstance(shape, Shape) else shape]
        )
        rule(all(1 <= len(s) <= 5 and len(s) == len(axes[name]) for s in every), f"{name}: rank")


def webnn(text, model, contract):
    kinds = {"float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"}
    named = {}
    for name, found in json.loads(text).items():
        rule(name and found["dataType"] in kinds and set(found) == {"dataType", "shape"}, f"{name}: descriptor")
        rule(len(found["shape"]) == len(axes_of(model)[name]), f"{name}: rank")
        for dim in found["shape"]:
            own = dim if isinstance(dim, dict) else {"name": "", "minSize": dim, "maxSize": dim}
            rule(1 <= own.get("minSize", 1) <= own["maxSize"] <= INT32, f"{name}: {dim}")
            rule(
                not isinstance(dim, dict) or named.setdefault(own["name"], dim) == dim, f"{own['name']} has two ranges"
            )


CHECKS = {
    "trtexec": trtexec,
    "onnxruntime-tensorrt": provider,
    "torch_tensorrt": torch_tensorrt,
    "triton": triton,
    "coreml": coreml,
    "webnn": webnn,
}


def mistakes(seed):
    """Return what is wrong with the texts of a drawn contract, and which targets wrote one."""
    model, contract = drawn(seed)
    if not contract.boxes:
        return [], []
    found, wrote = [], []
    for target, text in texts_of(contract, CHECKS).items():
        if not isinstance(text, str):
            continue
        wrote.append(target)
        try:
            CHECKS[target](text, model, contract)
        except BrokenError as error:
            found.append(f"{seed} {target}: {error}\n{text}\n{contract}")
    return found, wrote


# The readers themselves.


def read_openvino(text, model):
    import openvino

    core = openvino.Core()
    shapes = {name: openvino.PartialShape(told) for name, told in json.loads(text).items()}
    core.read_model(model).reshape(shapes)


def read_onnxruntime(text, model):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    told = json.loads(text)
    for name, size in told.items():
        options.add_free_dimension_override_by_name(name, size)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    rule(all(isinstance(d, int) for v in session.get_inputs() for d in v.shape), "a size is left open")


def read_torch(text, model):
    import torch

    space = {}
    exec(text, space)
    shapes = space["dynamic_shapes"]
    names = {name: f"t{n}" for n, name in enumerate(shapes)}
    exec(
        f"def forward(self, {', '.join(names.values())}):\n    return {', '.join(f'{n} + 1' for n in names.values())},",
        space,
    )
    module = type("Drawn", (torch.nn.Module,), {"forward": space["forward"]})()
    axes = {n: d for n, d in _axes(model).items() if n in names}
    arguments = []
    for name, told in shapes.items():
        dims = [_example(told[n]) if n in told else max(d, 0) for n, d in enumerate(axes[name])]
        arguments.append(torch.ones(dims))
    torch.export.export(module, tuple(arguments), dynamic_shapes={names[n]: told for n, told in shapes.items()})


def _example(dim):
    """Return a size of a dimension: not the least, as sizes of 1 are specialised."""
    root = getattr(dim, "root", dim)
    size = min(max(root.min, 2), root.max)
    return dim.fn(size) if hasattr(dim, "fn") else size


def read_jax(text, model):
    import jax
    import jax.numpy as jnp

    space = {}
    exec(text, space)
    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in space["shapes"].values()]
    jax.export.export(jax.jit(lambda *tensors: [t + 1 for t in tensors]))(*shapes)


def read_stablehlo(text, model):
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with ir.Context() as context:
        stablehlo.register_dialect(context)
        for line in text.splitlines():
            ir.RankedTensorType(ir.Type.parse(line.rpartition(": ")[2]))


def read_iree(text, model):
    from iree.compiler import ir

    with ir.Context():
        ir.Module.parse(text)


def _axes(model):
    import onnx

    return axes_of(onnx.load_model_from_string(model))


def read_all(lines):
    """Print, for each case on a line, the error of its reader; empty if it reads the text."""
    for line in lines:
        case = json.loads(line)
        reader = globals()[f"read_{case['target']}"]
        try:
            reader(case["text"], bytes.fromhex(case["model"]))
        except Exception as error:  # each library has its own errors
            print(json.dumps(f"{type(error).__name__}: {error}"[:400]), flush=True)
        else:
            print(json.dumps(""), flush=True)


def refused_by_readers(seeds, targets):
    """Return what the readers say against the texts of drawn contracts, and how many texts they read."""
    cases = []
    for seed in seeds:
        model, contract = drawn(seed)
        found = texts_of(contract, targets) if contract.boxes else {}
        data = model.SerializeToString().hex()
        cases += [(seed, t, text, data) for t, text in found.items() if isinstance(text, str)]
    lines = "\n".join(json.dumps({"target": t, "text": text, "model": data}) for _, t, text, data in cases)
    done = subprocess.run(
        [sys.executable, __file__, "read"], input=lines, text=True, capture_output=True, timeout=900, check=False
    )
    said = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == '"']
    assert len(said) == len(cases), done.stderr[-2000:]
    return [f"{s} {t}: {e}\n{text}" for (s, t, text, _), e in zip(cases, said, strict=True) if e], len(cases)


def main(count, start):
    from collections import Counter

    wrote, shown = Counter(), 0
    for seed in range(start, start + count):
        found, targets = mistakes(seed)
        wrote.update(targets)
        shown += len(found)
        for line in found:
            print(line, flush=True)
    refused, read = refused_by_readers(range(start, start + count), READ)
    for line in refused:
        print(line, flush=True)
    print(f"{count} contracts: texts {dict(wrote)}, {shown} break a rule; {read} read, {len(refused)} refused")


if __name__ == "__main__":
    if sys.argv[1] == "read":
        read_all(sys.stdin)
    else:
        main(int(sys.argv[1]), int(sys.argv[2]))
