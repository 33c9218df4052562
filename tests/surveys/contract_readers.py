"""Programs that read what a contract writes with the real library, and print what they found as JSON.

Each is run as `python tests/surveys/contract_readers.py TARGET` in a process of its own, with the text on standard
input. The model, where one is needed, is that of `skip_model`, whose sizes must be multiples of 4. `record` in place
of a target writes the answers of Triton's client and of coremltools to `data/contract_readers.json`; both are in the
extra `peers`.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

PAIRS = ((8, 16), (32, 64), (4, 8), (8, 15), (40, 80), (6, 12))
TRIED = ((1, 64, 64), (16, 64, 64), (3, 64, 64), (2, 128, 96), (1, 1280, 256))


def works(run, shapes):
    """Return whether a function runs without an error, by shape as text."""
    found = {}
    for shape in shapes:
        try:
            run(shape)
        except Exception as error:  # each library has its own errors
            found[str(list(shape))] = f"{type(error).__name__}: {error}"[:200]
        else:
            found[str(list(shape))] = "works"
    return found


def openvino(text):
    import numpy as np
    import openvino as ov
    from skip_model import skip_model

    core = ov.Core()
    model = core.read_model(skip_model().SerializeToString())
    shapes = {name: ov.PartialShape(told) for name, told in json.loads(text).items()}
    model.reshape(shapes)
    request = core.compile_model(model, "CPU").create_infer_request()

    def run(sizes):
        request.infer({"x": np.ones((sizes[0], 3, *sizes[1:]), np.float32)})

    return {"shapes": {n: [str(d) for d in s] for n, s in shapes.items()}, "runs": works(run, TRIED)}


def torch(text):
    import torch as t

    class Skip(t.nn.Module):
        def forward(self, x):
            small = t.nn.functional.avg_pool2d(x, 4)
            return t.nn.functional.interpolate(small, scale_factor=4, mode="nearest") + x

    found = {}
    exec(text, found)
    program = t.export.export(Skip(), (t.ones(2, 3, 128, 96),), dynamic_shapes=found["dynamic_shapes"])
    bounds = {str(s): [int(r.lower), int(r.upper)] for s, r in program.range_constraints.items()}

    def run(sizes):
        program.module()(t.ones(sizes[0], 3, *sizes[1:]))

    return {"bounds": sorted(bounds.values()), "runs": works(run, (*TRIED, (2, 66, 64), (17, 64, 64)))}


def jax(text):
    import jax as j
    import jax.numpy as jnp

    found = {}
    exec(text, found)

    def skip(x):
        n, c, h, w = x.shape
        small = j.lax.reduce_window(x, 0.0, j.lax.add, (1, 1, 4, 4), (1, 1, 4, 4), "VALID")
        large = jnp.broadcast_to(small[:, :, :, None, :, None], (n, c, h // 4, 4, w // 4, 4))
        return large.reshape(n, c, h // 4 * 4, w // 4 * 4) + x

    shape = j.ShapeDtypeStruct(found["shapes"]["x"], jnp.float32)
    exported = j.export.export(j.jit(skip))(shape)

    def run(sizes):
        exported.call(jnp.ones((sizes[0], 3, *sizes[1:]), jnp.float32))

    return {"in": str(exported.in_avals[0].shape), "runs": works(run, (*TRIED, (17, 64, 64)))}


def torch_derived(text):
    """Export with a second input of twice as many rows."""
    import torch as t

    class Pairs(t.nn.Module):
        def forward(self, x, y):
            return y.reshape(x.shape[0], 2, 4) + x[:, None]

    found = {}
    exec(text, found)
    shapes = found["dynamic_shapes"]
    program = t.export.export(Pairs(), (t.ones(16, 4), t.ones(32, 4)), dynamic_shapes=shapes)

    def run(sizes):
        program.module()(t.ones(sizes[0], 4), t.ones(sizes[1], 4))

    return {"runs": works(run, PAIRS)}


def jax_derived(text):
    """Export with a second input of twice as many rows."""
    import jax as j
    import jax.numpy as jnp

    found = {}
    exec(text, found)
    shapes = [j.ShapeDtypeStruct(found["shapes"][name], jnp.float32) for name in "xy"]
    exported = j.export.export(j.jit(lambda x, y: y.reshape(x.shape[0], 2, 4) + x[:, None]))(*shapes)

    def run(sizes):
        exported.call(jnp.ones((sizes[0], 4), jnp.float32), jnp.ones((sizes[1], 4), jnp.float32))

    return {"runs": works(run, PAIRS)}


def triton(text):
    from google.protobuf import text_format
    from tritonclient.grpc import model_config_pb2

    config = text_format.Parse(text, model_config_pb2.ModelConfig())
    kinds = model_config_pb2.DataType
    tensors = {t.name: [list(t.dims), kinds.Name(t.data_type)] for t in (*config.input, *config.output)}
    return {"max_batch_size": config.max_batch_size, "tensors": tensors}


def coreml(text):
    import tempfile

    import coremltools as ct
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import get_new_symbol

    found = {}
    exec(text, found)
    rank = len(found["inputs"][0].shape.shape) if hasattr(found["inputs"][0].shape, "shape") else 4

    @Builder.program(input_specs=[Builder.TensorSpec(shape=[get_new_symbol() for _ in range(rank)])])
    def program(x):
        return Builder.relu(x=x)

    model = ct.convert(
        program, convert_to="mlprogram", inputs=found["inputs"], minimum_deployment_target=ct.target.iOS16
    )
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/m.mlpackage")
        spec = ct.models.utils.load_spec(f"{folder}/m.mlpackage")
    array = spec.description.input[0].type.multiArrayType
    ranges = [[r.lowerBound, r.upperBound] for r in array.shapeRange.sizeRanges]
    return {
        "ranges": ranges,
        "shapes": [list(s.shape) for s in array.enumeratedShapes.shapes],
        "default": list(array.shape),
    }


def iree(text):
    from iree.compiler import ir

    with ir.Context() as context:
        context.allow_unregistered_dialects = False
        module = ir.Module.parse(text)
        return {"text": str(module)}


def stablehlo(text):
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo as dialect

    with ir.Context() as context:
        dialect.register_dialect(context)
        types = [ir.RankedTensorType(ir.Type.parse(line.partition(": ")[2])) for line in text.splitlines()]
        return {"types": [[str(t), str(t.encoding), t.rank] for t in types]}


def onnxruntime(text):
    import numpy as np
    import onnxruntime as ort
    from skip_model import skip_model

    options = ort.SessionOptions()
    for name, size in json.loads(text).items():
        options.add_free_dimension_override_by_name(name, size)
    session = ort.InferenceSession(skip_model().SerializeToString(), options, providers=["CPUExecutionProvider"])
    (tensor,) = session.get_inputs()
    session.run(None, {"x": np.ones(tensor.shape, np.float32)})
    return {"shape": tensor.shape}


RECORDED = Path(__file__).parents[1] / "data" / "contract_readers.json"
"""What the readers that few have installed answered: a list of target, text, version and answer."""
TEXTS = {
    "triton: an image": ("triton", "box", {"N": "1..16", "H": 64, "W": 256}),
    "coreml: ranges": ("coreml", "box", {"N": "1..16", "H": 64, "W": 64}),
    "coreml: shapes": ("coreml", "list", {"N": 1, "H": "64..128", "W": 64}),
}


def written(name):
    """Return a target, and what a contract of `skip_model` writes for it."""
    from skip_model import skip_model

    import symbcast as sb

    target, form, ranges = TEXTS[name]
    return target, sb.onnx.check(skip_model(), runtime="onnxruntime").contract(ranges, form=form).to(target)


def record():
    from importlib.metadata import version

    found = []
    for name in TEXTS:
        target, text = written(name)
        package = {"triton": "tritonclient", "coreml": "coremltools"}[target]
        found.append(
            {"name": name, "text": text, "read by": f"{package} {version(package)}", "answer": read(target, text)}
        )
    RECORDED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def read(target, text):
    """Return what a reader finds in a text, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, target], input=text, text=True, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record()
    else:
        print(json.dumps(globals()[sys.argv[1]](sys.stdin.read())))
