"""Single nodes and what ONNX Runtime made of them: how a row is made into a model, run, kept and read again.

A row is ``{"op", "opset", "attributes", "inputs", "symbols", "sizes", "outputs"}``. Each input is None (not given) or

    {"shape": [1, 2, "H"], "type": "float"}             an input of the model
    {"shape": [2], "type": "float", "values": [...]}    a constant; without values, of zeros: {"constant": true}
    {"sizes": ["A", 4], "type": "float", "over": 2}     numbers that the model takes from shapes: A / 2 and 4 / 2

``sizes`` are bindings of the symbols, ``outputs`` the shapes of the outputs at each of them, None where the runtime
refused or fell.
"""

from __future__ import annotations

import ast
import base64
import gzip
import json
import math
import os
import signal
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import sympy
from onnx import AttributeProto, TensorProto, helper, numpy_helper

import symbcast

DATA = Path(__file__).parents[1] / "data" / "onnx"
TYPES = {
    "float": (TensorProto.FLOAT, np.float32),
    "double": (TensorProto.DOUBLE, np.float64),
    "int32": (TensorProto.INT32, np.int32),
    "int64": (TensorProto.INT64, np.int64),
    "uint8": (TensorProto.UINT8, np.uint8),
    "int8": (TensorProto.INT8, np.int8),
    "bool": (TensorProto.BOOL, np.bool_),
    "float16": (TensorProto.FLOAT16, np.float16),
    "uint16": (TensorProto.UINT16, np.uint16),
    "int16": (TensorProto.INT16, np.int16),
    "uint32": (TensorProto.UINT32, np.uint32),
    "uint64": (TensorProto.UINT64, np.uint64),
}


PATIENCE = 20
"""After how many seconds a run that does not end is given up."""


def floats(*shape):
    """Return an input of the model."""
    return {"shape": list(shape), "type": "float"}


def zeros(*shape, kind="float"):
    """Return a constant of zeros."""
    return {"shape": list(shape), "type": kind, "constant": True}


def values(items, kind):
    """Return a constant of one axis."""
    return {"shape": [len(items)], "type": kind, "values": list(items)}


def node(op, opset, attributes, inputs, outputs=1, domain=""):
    """Return a row, without what comes of it."""
    row = {"op": op, "opset": opset, "attributes": attributes, "inputs": inputs}
    if outputs != 1:
        row["count"] = outputs
    if domain:
        row["domain"] = domain
    found = [d for i in inputs if i for d in i.get("shape", i.get("sizes")) if isinstance(d, str)]
    row["symbols"] = list(dict.fromkeys(found))
    return row


def sized(row, *ranges):
    """Return a row with the sizes to run it at: every combination."""
    row["sizes"] = [list(b) for b in product(*ranges)]
    return row


def model(row):
    """Return the model of a row."""
    nodes, inputs, constants, names = [], [], [], []
    for position, given in enumerate(row["inputs"]):
        name = f"in{position}"
        names.append(name if given else "")
        if given is None:
            continue
        number, kind = TYPES[given["type"]]
        if "sizes" in given:
            _taken_from_shapes(name, given, nodes, inputs, constants)
        elif "values" in given or "constant" in given:
            array = np.asarray(given.get("values", [0] * prod(given["shape"])), dtype=kind)
            constants.append(numpy_helper.from_array(array.reshape(given["shape"]), name))
        else:
            inputs.append(helper.make_tensor_value_info(name, number, given["shape"]))
    outputs = [f"out{n}" for n in range(row.get("count", 1))]
    nodes.append(helper.make_node(row["op"], names, outputs, name="it", domain=row.get("domain", "")))
    for name, given in row["attributes"].items():
        value = TensorProto.FromString(base64.b64decode(given["tensor"])) if isinstance(given, dict) else given
        numbers = AttributeProto.INTS if given == [] else None
        nodes[-1].attribute.append(helper.make_attribute(name, value, attr_type=numbers))
    graph = helper.make_graph(
        nodes, "graph", inputs, [helper.make_empty_tensor_value_info(o) for o in outputs], constants
    )
    imports = [helper.make_opsetid("", row["opset"])]
    if "domain" in row:
        imports.append(helper.make_opsetid(row["domain"], row.get("domain_version", 1)))
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def _taken_from_shapes(name, given, nodes, inputs, constants):
    inputs.append(helper.make_tensor_value_info(f"{name}_of", TensorProto.BOOL, given["sizes"]))
    number, kind = TYPES[given["type"]]
    over = given.get("over", 1)
    nodes.append(helper.make_node("Shape", [f"{name}_of"], [f"{name}_shape"]))
    nodes.append(helper.make_node("Cast", [f"{name}_shape"], [f"{name}_cast" if over != 1 else name], to=number))
    if over != 1:
        constants.append(numpy_helper.from_array(np.asarray(over, dtype=kind), f"{name}_over"))
        nodes.append(helper.make_node("Div", [f"{name}_cast", f"{name}_over"], [name]))


def arrays(proto, binding):
    """Return inputs of zeros at some sizes."""
    kinds = dict(TYPES.values())
    return {
        i.name: np.zeros(
            [binding[d.dim_param] if d.dim_param else d.dim_value for d in i.type.tensor_type.shape.dim],
            dtype=kinds[i.type.tensor_type.elem_type],
        )
        for i in proto.graph.input
    }


def run(row, sizes):
    """Return the shapes that ONNX Runtime gives at each of some bindings: None where it refuses or falls."""
    proto = model(row)
    bindings = [dict(zip(row["symbols"], b, strict=True)) for b in sizes]
    found = in_a_process(_run, proto, bindings)
    if found is not None:
        return found
    return [(in_a_process(_run, proto, [binding]) or [None])[0] for binding in bindings]


def _run(proto, bindings):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # the runtime refuses the model whatever the sizes
        return [None] * len(bindings)
    return [_shapes(session, arrays(proto, binding)) for binding in bindings]


def _shapes(session, feeds):
    try:
        return [list(a.shape) for a in session.run(None, feeds)]
    except Exception:
        return None


def in_a_process(function, *arguments):
    """Return what a function returns in its own process; None where the process falls."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(PATIENCE)
        try:
            with os.fdopen(writing, "w") as file:
                file.write(json.dumps(function(*arguments)))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        found = file.read()
    os.waitpid(child, 0)
    return json.loads(found) if found else None


def record(rows, name):
    """Run rows that hold their sizes, and keep them."""
    DATA.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(DATA / f"{name}.jsonl.gz", "wb", mtime=0) as file:
        for row in rows:
            row["outputs"] = run(row, row["sizes"])
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")


def recorded(name):
    """Return the rows that were kept."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def disagreement(row, min_size):
    """Return what is wrong in the answer about a node, at the first recorded sizes that show it; None where nothing is.

    The node is looked at once, with symbols for its sizes. A size that the answer leaves open is not wrong.
    """
    try:
        report = checked(row, min_size)
    except symbcast.ModelError as error:
        ran = [sizes for sizes, real in zip(row["sizes"], row["outputs"], strict=True) if real is not None]
        return f"{_told(row)} ran at {ran[0]}: {error}" if ran else None
    if any("which are data" not in u.reason for u in report.unanalysed) and report.condition != sympy.false:
        return {**_told(row), "unanalysed": [str(u) for u in report.unanalysed]}
    accepts = compiled(report.condition, row["symbols"])
    found = None
    for sizes, real in zip(row["sizes"], row["outputs"], strict=True):
        if min(sizes, default=1) < min_size:
            continue
        if bool(accepts(*sizes)) != (real is not None):
            return {**_told(row), "sizes": sizes, "real": real, "condition": str(report.condition)}
        if real is None:
            continue
        found = found or _outputs(row, report)
        if not _agree(found, sizes, real):
            told = [str(report.shapes[name]) for name in report.shapes if name.startswith("out")]
            return {**_told(row), "sizes": sizes, "real": real, "shapes": told}
    return None


def checked(row, min_size, runtime="onnxruntime"):
    """Return the answer about a row's node."""
    return symbcast.onnx.check(model(row), runtime=runtime, min_size=min_size)


def _outputs(row, report):
    """Return the dimensions of the outputs, each as a function of the sizes; None for one that is left open."""
    known = set(row["symbols"])
    shapes = [report.shapes[f"out{n}"] for n in range(row.get("count", 1))]
    return [[compiled(d, row["symbols"]) if _names(d) <= known else None for d in s] for s in shapes]


def _names(dim):
    return {symbol.name for symbol in sympy.sympify(dim).free_symbols}


def is_closed(row, min_size=1):
    """Return whether the answer leaves no size of an output open."""
    found = _outputs(row, checked(row, min_size))
    return all(dim is not None for shape in found for dim in shape)


def _agree(found, sizes, real):
    return [len(s) for s in found] == [len(s) for s in real] and all(
        dim is None or dim(*sizes) == number
        for shape, numbers in zip(found, real, strict=True)
        for dim, number in zip(shape, numbers, strict=True)
    )


def _told(row):
    return {key: row[key] for key in ("op", "opset", "attributes", "inputs")}


class _Fractions(ast.NodeTransformer):
    """Makes each integer a fraction, so that a division is exact."""

    def visit_Constant(self, node):
        return ast.parse(f"Fraction({node.value})", mode="eval").body if type(node.value) is int else node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Invert):
            node.op = ast.Not()
        return node


@cache
def _source(text, symbols):
    tree = ast.fix_missing_locations(_Fractions().visit(ast.parse(f"lambda {', '.join(symbols)}: {text}", mode="eval")))
    return compile(tree, text, "eval")


FUNCTIONS = {
    "Fraction": Fraction,
    "floor": math.floor,
    "Max": max,
    "Min": min,
    "Mod": lambda a, b: a % b,
    "Eq": lambda a, b: a == b,
    "Ne": lambda a, b: a != b,
    "true": True,
    "false": False,
}


def compiled(expression, symbols):
    """Return a dimension or a condition as a function of the sizes, in Python's own integers."""
    return eval(_source(str(expression), tuple(symbols)), dict(FUNCTIONS))
