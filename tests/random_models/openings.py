"""Random models for the question whether a session opens: changed a little, so that some are no longer well formed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import numpy as np
from onnx import AttributeProto, ModelProto, TensorProto, defs, helper, numpy_helper
from random_models.models import FAMILIES, random_model

FLOAT, INT64, BOOL = 1, 7, 9
TYPES = (1, 1, 1, 7, 7, 6, 9, 10, 11, 2, 3, 5)
LARGE = 2**63 - 1


def opening_model(number: int) -> tuple[ModelProto, str]:
    """Return a model by its number, and the kind of change that was made to it."""
    random = Random(number)
    kind = random.choice(list(KINDS))
    if kind == "single":
        return _single(random), kind
    model = random_model(random, random.choice(list(FAMILIES))).proto
    if random.random() < 0.8:
        _fix_sizes(random, model)
    KINDS[kind](random, model)
    return model, kind


def _fix_sizes(random: Random, model: ModelProto) -> None:
    """Put numbers in the place of some sizes."""
    numbers = {name: random.choice([1, 2, 2, 3, 4, 6]) for name in "NMK" if random.random() < 0.7}
    for given in model.graph.input:
        for dim in given.type.tensor_type.shape.dim:
            if dim.dim_param in numbers:
                dim.dim_value = numbers[dim.dim_param]


def _plain(random: Random, model: ModelProto) -> None:
    """Leave the model as it is."""


def _bodies(model: ModelProto) -> list[Any]:
    found: list[Any] = [model.graph, *model.functions]
    for body in found:
        found += [a.g for n in body.node for a in n.attribute if a.g.node]
    return found


def _nodes(model: ModelProto) -> list[Any]:
    return [node for body in _bodies(model) for node in body.node]


def _declared(random: Random, model: ModelProto) -> None:
    """Declare shapes and types of values, right or wrong."""
    for body in _bodies(model):
        names = [o for n in body.node for o in n.output if o]
        for name in random.sample(names, min(len(names), random.randint(1, 3))):
            dtype = random.choice([FLOAT, FLOAT, FLOAT, INT64])
            sizes = [random.choice([1, 2, 3, "N", "Q", None]) for _ in range(random.randint(0, 3))]
            body.value_info.append(helper.make_tensor_value_info(name, dtype, random.choice([sizes, None])))
    if random.random() < 0.3:
        model.graph.output[0].type.tensor_type.elem_type = random.choice([INT64, BOOL, 0])


def _named(random: Random, model: ModelProto) -> None:
    """Give nodes one name."""
    nodes = _nodes(model)
    for node in random.sample(nodes, min(len(nodes), random.randint(2, 3))):
        node.name = "same"
    if random.random() < 0.5:
        for n in range(2):
            model.graph.node.add(op_type="Constant", output=[f"c{n}"], name="constant").attribute.append(
                helper.make_attribute("value_int", n)
            )


def _branched(random: Random, model: ModelProto) -> None:
    """Put all nodes into a branch, with a constant or an input as its condition."""
    graph = model.graph
    output = graph.output[0].name
    dtype = graph.output[0].type.tensor_type.elem_type
    inner = helper.make_graph(list(graph.node), "inner", [], [helper.make_tensor_value_info(output + "_", dtype, None)])
    inner.node.add(op_type="Identity", input=[output], output=[output + "_"])
    made = helper.make_tensor_value_info("other", dtype, None)
    leaf = helper.make_node("Constant", [], ["other"], value=numpy_helper.from_array(np.zeros(2, np.float32)))
    other = helper.make_graph([leaf], "leaf", [], [made])
    branches = [inner, other] if random.random() < 0.5 else [other, inner]
    if random.random() < 0.6:
        graph.initializer.append(numpy_helper.from_array(np.array(random.random() < 0.5), "chosen"))
    else:
        graph.input.append(helper.make_tensor_value_info("chosen", BOOL, ()))
    del graph.node[:]
    graph.node.append(helper.make_node("If", ["chosen"], ["whole"], then_branch=branches[0], else_branch=branches[1]))
    graph.output[0].name = "whole"


def _called(random: Random, model: ModelProto) -> None:
    """Put all nodes into a function."""
    graph = model.graph
    constants = [helper.make_node("Constant", [], [t.name], value=t) for t in graph.initializer]
    names = [i.name for i in graph.input]
    function = helper.make_function(
        "local", "Whole", names, [graph.output[0].name], [*constants, *graph.node], list(model.opset_import)
    )
    del graph.node[:], graph.initializer[:]
    for n in range(random.randint(1, 2)):
        graph.node.append(helper.make_node("Whole", names, [f"whole{n}"], domain="local"))
    graph.output[0].name = "whole0"
    model.functions.append(function)


def _typed(random: Random, model: ModelProto) -> None:
    """Make inputs, and perhaps the constants, of another element type."""
    dtype = random.choice(TYPES)
    for given in model.graph.input:
        if random.random() < 0.8:
            given.type.tensor_type.elem_type = dtype
    model.graph.output[0].type.tensor_type.elem_type = random.choice([dtype, 0])
    for tensor in model.graph.initializer if random.random() < 0.7 else ():
        if tensor.data_type == FLOAT and dtype not in (9,):
            held = numpy_helper.to_array(tensor).astype(helper.tensor_dtype_to_np_dtype(dtype))
            tensor.CopyFrom(numpy_helper.from_array(held, tensor.name))


def _attributed(random: Random, model: ModelProto) -> None:
    """Change an attribute, or a constant of few integers, to the edge of what it may be and beyond."""
    nodes = [n for n in _nodes(model) if n.attribute]
    for node in random.sample(nodes, min(len(nodes), 2)):
        attribute = random.choice(list(node.attribute))
        if attribute.type == AttributeProto.INT:
            attribute.i = random.choice([-5, -1, 0, 1, 2, 7])
        elif attribute.type == AttributeProto.INTS and attribute.ints:
            match random.randrange(3):
                case 0:
                    attribute.ints.append(random.randint(-1, 3))
                case 1:
                    del attribute.ints[0]
                case _:
                    attribute.ints[random.randrange(len(attribute.ints))] = random.choice([-3, -1, 0, 5])
        elif attribute.type == AttributeProto.STRING and random.random() < 0.4:
            attribute.s = random.choice([b"none", b"", b"linear", b"SAME_UPPER", b"right"])
        elif random.random() < 0.5:
            node.attribute.remove(attribute)
    for tensor in model.graph.initializer:
        if tensor.data_type == INT64 and random.random() < 0.5 and tensor.dims and tensor.dims[0]:
            items = numpy_helper.to_array(tensor).copy()
            items.flat[random.randrange(items.size)] = random.choice([-1, 0, 1, 3, 5, -7, LARGE, -LARGE])
            tensor.CopyFrom(numpy_helper.from_array(items, tensor.name))


def _versioned(random: Random, model: ModelProto) -> None:
    """Import other versions of the operator sets."""
    for imported in model.opset_import:
        if random.random() < 0.8 and imported.domain == "":
            imported.version = random.choice([7, 11, 12, 13, 15, 17, 18, 21, 23, 24, 25, 26, 28])
        elif random.random() < 0.1:
            imported.version = random.choice([0, 1, 2, 3])
    model.ir_version = random.choice([3, 4, 8, 10, 11, 12])


def _sparse(random: Random, model: ModelProto) -> None:
    """Add a sparse initializer, well formed or not, and perhaps use it."""
    size = random.randint(1, 6)
    count = random.randint(0, size)
    values = numpy_helper.from_array(np.ones(count + random.choice([0, 0, 0, 1]), np.float32), "thin")
    places: Any = sorted(random.sample(range(size), count))
    if places and random.random() < 0.3:
        places[random.randrange(count)] = random.choice([-1, 0, size, size + 3])
    places = np.array(places, random.choice([np.int64, np.int64, np.int64, np.int32]))
    if random.random() < 0.2:
        places = places.reshape(-1, 1)
    indices = numpy_helper.from_array(places, "places")
    dims = random.choice([[size], [size], [size], [size, 1], [], [-1], [1, size]])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, dims))
    if random.random() < 0.8:
        model.graph.node.add(op_type="Neg", input=["thin"], output=["thick"])


def _rewired(random: Random, model: ModelProto) -> None:
    """Give nodes other inputs, leave some out, or declare an input that a constant gives a default."""
    for body in _bodies(model):
        names = [o for n in body.node for o in n.output]
        for node in body.node:
            if node.input and random.random() < 0.15:
                node.input[random.randrange(len(node.input))] = random.choice([*names, *node.input, ""])
    if model.graph.initializer and random.random() < 0.4:
        tensor = random.choice(list(model.graph.initializer))
        sizes = [random.choice([d, d, None, d + 1]) for d in tensor.dims]
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, sizes))


def _repeated(random: Random, model: ModelProto) -> None:
    """Carry or scan the output of the model through a body that declares shapes of its own."""
    graph = model.graph
    before = graph.output[0].name

    def declared(name: str) -> Any:
        sizes = [random.choice([1, 2, "N", None]) for _ in range(random.randint(0, 3))]
        return helper.make_tensor_value_info(name, FLOAT, random.choice([sizes, None, None]))

    kept = helper.make_node(random.choice(["Relu", "Identity", "NonZero", "Neg"]), ["v"], ["w"])
    if random.random() < 0.5:
        inputs = [helper.make_tensor_value_info("i", INT64, ()), helper.make_tensor_value_info("c", BOOL, ())]
        through = helper.make_node("Identity", ["c"], ["d"])
        outputs = [helper.make_tensor_value_info("d", BOOL, random.choice([(), (1,)])), declared("w")]
        body = helper.make_graph([through, kept], "body", [*inputs, declared("v")], outputs)
        graph.initializer.append(numpy_helper.from_array(np.array(random.randint(0, 3)), "turns"))
        graph.node.append(helper.make_node("Loop", ["turns", "", before], ["whole"], body=body))
    else:
        body = helper.make_graph([kept], "body", [declared("v")], [declared("w")])
        axis = random.choice([0, 0, 1, -1])
        graph.node.append(
            helper.make_node("Scan", [before], ["whole"], body=body, num_scan_inputs=1, scan_input_axes=[axis])
        )
    graph.output[0].name = "whole"


# Single nodes of any operator.


@cache
def _schemas() -> tuple[Any, ...]:
    left_out = {"Constant", "If", "Loop", "Scan", "SequenceMap", "ImageDecoder"}
    return tuple(s for s in defs.get_all_schemas() if s.domain in ("", "ai.onnx.ml") and s.name not in left_out)


def _single(random: Random) -> ModelProto:
    """Return a model of one node of any operator, with inputs of types that it takes and any shapes."""
    schema = random.choice(_schemas())
    version = random.choice([schema.since_version, 13, 18, 21, 24, 26]) if not schema.domain else 18
    try:
        schema = defs.get_schema(schema.name, version, schema.domain) if not schema.domain else schema
    except defs.SchemaError:
        version = schema.since_version
    chosen: dict[str, str] = {}
    inputs, constants, names = [], [], []
    for slot in _slots(random, schema):
        wanted = chosen.setdefault(slot.type_str, random.choice(_allowed(schema, slot)))
        name = f"x{len(names)}"
        names.append(name)
        sizes = [random.choice([1, 1, 2, 3, 4, "N"]) for _ in range(random.choice([0, 1, 1, 2, 2, 3, 4]))]
        if wanted == "tensor(int64)" and random.random() < 0.8 and len(names) > 1:
            items = [random.choice([-1, 0, 1, 2, 3]) for _ in range(random.randint(1, 4))]
            constants.append(numpy_helper.from_array(np.array(items[0] if random.random() < 0.2 else items), name))
        else:
            inputs.append(_declared_input(name, wanted, sizes))
    outputs = [f"y{n}" for n in range(max(1, schema.min_output))]
    node = helper.make_node(schema.name, names, outputs, domain=schema.domain)
    node.attribute.extend(_attributes(random, schema))
    graph = helper.make_graph([node], "single", inputs, [helper.make_empty_tensor_value_info(outputs[0])], constants)
    imports = [helper.make_opsetid("", version), helper.make_opsetid("ai.onnx.ml", 5)]
    return helper.make_model(graph, opset_imports=imports, ir_version=11)


def _slots(random: Random, schema: Any) -> Iterator[Any]:
    count = random.randint(schema.min_input, min(schema.max_input, schema.min_input + 3))
    for n in range(count):
        yield schema.inputs[min(n, len(schema.inputs) - 1)]


def _allowed(schema: Any, slot: Any) -> list[str]:
    common = [t for t in slot.types if t in ("tensor(float)", "tensor(int64)", "tensor(bool)", "tensor(float16)")]
    return [*common, *common, *common, *sorted(slot.types)]


def _declared_input(name: str, wanted: str, sizes: list[Any]) -> Any:
    inner = wanted.removeprefix("optional(").removeprefix("seq(").rstrip(")") + ")"
    if "map(" in wanted:
        return helper.make_value_info(name, helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, ())))
    dtype = TensorProto.DataType.Value(inner.removeprefix("tensor(").rstrip(")").upper())
    kind = helper.make_tensor_type_proto(dtype, sizes)
    if "seq(" in wanted:
        kind = helper.make_sequence_type_proto(kind)
    if wanted.startswith("optional("):
        kind = helper.make_optional_type_proto(kind)
    return helper.make_value_info(name, kind)


def _attributes(random: Random, schema: Any) -> Iterator[Any]:
    made: dict[str, Callable[[], Any]] = {
        "INT": lambda: random.choice([-1, 0, 1, 1, 2]),
        "INTS": lambda: [random.choice([-1, 0, 1, 1, 2]) for _ in range(random.randint(1, 4))],
        "FLOAT": lambda: random.choice([0.0, 0.5, 1.0]),
        "FLOATS": lambda: [random.choice([0.5, 1.0]) for _ in range(random.randint(1, 3))],
    }
    for name, attribute in schema.attributes.items():
        kind = attribute.type.name
        if kind in made and random.random() < (0.95 if attribute.required else 0.3):
            yield helper.make_attribute(name, INT64 if name in ("to", "dtype") else made[kind]())
        elif kind == "STRING" and attribute.required:
            yield helper.make_attribute(name, random.choice(["ij,jk->ik", "ii->i", "linear"]))


KINDS: dict[str, Callable[[Random, ModelProto], None]] = {
    "plain": _plain,
    "declared": _declared,
    "named": _named,
    "branched": _branched,
    "called": _called,
    "typed": _typed,
    "attributed": _attributed,
    "versioned": _versioned,
    "sparse": _sparse,
    "rewired": _rewired,
    "repeated": _repeated,
    "single": _plain,
}
