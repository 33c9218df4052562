"""Nodes against the schemas of their operators: operator sets, attributes, inputs, outputs and element types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias

from symbcast.core.characters import shorten_middle
from symbcast.core.structs import NamedTuple
from symbcast.errors import ModelError
from symbcast.onnx.protobuf import FIELDS, REPEATED, canonical_domain, with_inner

# How many characters of a name are shown.
_LONGEST = 80
AGAIN = "fix the model, or export it again"
DAMAGED = "the model has names that are not valid text", "it is damaged; fetch it or export it again"


def label(node: Any) -> str:
    """Return a node's label for messages: its name or its output, and its operator."""
    name = node.name or next((o for o in node.output if o), "")
    return f"the node {quote(name)} ({quote(node.op_type, '')})" if name else f"a node ({quote(node.op_type, '')})"


def quote(name: Any, quote: str = "'") -> str:
    """Return a name for display; it may be of any length and contain unprintable characters."""
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
    printable = "".join(c if c.isprintable() else "?" for c in text[: 2 * _LONGEST])
    return f"{quote}{shorten_middle(printable, _LONGEST)}{quote}"


class ModelSource:
    """A model's name, and the function with the fault, if any."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.function = ""

    def fault(self, problem: str, hint: str = AGAIN) -> ModelError:
        """Return the error that says what is wrong."""
        return ModelError(self.name, f"in the function {self.function}, {problem}" if self.function else problem, hint)


# Check a model's imported operator sets, and its functions: each is defined once, and none calls itself.


Runtime: TypeAlias = Literal["spec", "onnxruntime"]
"""What to follow: the documents or ONNX Runtime."""

# The first version of the IR in which a model imports operator sets.
IR_WITH_OPSETS = 3
# ONNX Runtime's own domains, each with a single version, which it imports implicitly (seen with 1.31).
_IMPORTED_BY_RUNTIME = frozenset({"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"})


# The newest versions that ONNX Runtime 1.32 accepts, for the domains it knows; it accepts any of other domains.
_NEWEST_OF_RUNTIME = {
    "": 28,
    "ai.onnx.ml": 5,
    "ai.onnx.preview": 1,
    "ai.onnx.preview.training": 1,
    "ai.onnx.training": 1,
    "com.microsoft": 1,
    "com.microsoft.experimental": 1,
    "com.microsoft.nchwc": 1,
    "com.ms.internal.nhwc": 28,
}


@cache
def newest() -> Mapping[str, int]:
    """Return the newest versions of operator sets that the installed onnx knows, by domain."""
    from onnx import defs

    return {"": defs.onnx_opset_version(), "ai.onnx.ml": defs.onnx_ml_opset_version()}


def versions(imports: Any, source: ModelSource, runtime: Runtime, ir_version: int = IR_WITH_OPSETS) -> dict[str, int]:
    """Return the version of each imported domain; raises `ModelError` for a version that does not exist."""
    imported = {canonical_domain(o.domain): int(o.version) for o in imports}
    for domain, version in imported.items():
        name = quote(domain or "ai.onnx")
        if runtime == "onnxruntime" and version > _NEWEST_OF_RUNTIME.get(domain, version):
            raise source.fault(
                f"version {version} of the operators of {name} is imported, "
                f"and ONNX Runtime knows {_NEWEST_OF_RUNTIME[domain]}"
            )
        if version < 1 and (runtime != "onnxruntime" or not domain):
            raise source.fault(f"version {version} of the operators of {name} is imported; versions are 1 or more")
        known = newest().get(domain, version)
        if version > known:
            raise source.fault(
                f"version {version} of the operators of {name} is imported, and the installed onnx knows {known}",
                "install a newer onnx, or export the model for an older version",
            )
    if 0 < ir_version < IR_WITH_OPSETS:
        # Models of IR 1 and 2 cannot import anything: their operators are those of version 1.
        imported.setdefault("", 1)
    if runtime == "onnxruntime":
        # If a model does not import ONNX's domain or one of ONNX Runtime's own, the runtime uses the newest version of
        # that domain.
        imported = {**newest(), **dict.fromkeys(_IMPORTED_BY_RUNTIME, 1), **imported}
    return imported


Key: TypeAlias = "tuple[str, str, str]"
"""The domain, the name and the overload of a function."""


def function_key(domain: str, name: str, proto: Any) -> Key:
    """Return the key of a function or of a node that calls it; onnx before 1.16 has no overloads."""
    return canonical_domain(domain), name, str(getattr(proto, "overload", ""))


def functions_of(model: Any, source: ModelSource) -> dict[Key, Any]:
    """Return the functions of a model; raises `ModelError` if one is defined twice or calls itself."""
    functions: dict[Key, Any] = {}
    for function in model.functions:
        key = function_key(function.domain, function.name, function)
        if key in functions:
            raise source.fault(f"the function {title(key)} is defined twice")
        functions[key] = function
    _check_calls(functions, source)
    return functions


def title(key: Key) -> str:
    """Return a function's name for messages."""
    domain, name, overload = key
    return quote(f"{domain}.{name}" + (f":{overload}" if overload else ""))


def _check_calls(functions: Mapping[Key, Any], source: ModelSource) -> None:
    """Search the calls depth first; a function that recurs on the current path calls itself."""
    done: set[Key] = set()
    for first in functions:
        way: list[tuple[Key, Iterator[Key]]] = [] if first in done else [(first, _called(functions, first))]
        open_keys = {first}
        while way:
            key, called = way[-1]
            following = next((c for c in called if c not in done), None)
            if following is None:
                way.pop()
                open_keys.discard(key)
                done.add(key)
            elif following in open_keys:
                names = [title(k) for k, _ in way]
                circle = [*names[names.index(title(following)) :], title(following)]
                raise source.fault(f"the function {circle[0]} calls itself: {' -> '.join(circle[:8])}")
            else:
                open_keys.add(following)
                way.append((following, _called(functions, following)))


def _called(functions: Mapping[Key, Any], key: Key) -> Iterator[Key]:
    for node in (inner for outer in functions[key].node for inner in with_inner(outer)):
        called = function_key(node.domain, node.op_type, node)
        if called in functions:
            yield called


# Operator schemas of the standard, each read once: attributes, inputs, outputs and their element types.


# The domains whose operators are all known; schemas of other domains are missing or change within a version.
KNOWN_DOMAINS = frozenset({"", "ai.onnx.ml"})

# Operators that ONNX Runtime (1.31) has in ONNX's domain from version 1 on; the standard has them later or never.
#
# From ``onnxruntime.capi.onnxruntime_pybind11_state.get_all_operator_schema()``: its optimiser writes them.
OF_RUNTIME = frozenset({
    "Affine", "Crop", "DynamicSlice", "GRUUnit", "GivenTensorFill", "ImageScaler", "LayerNormalization",
    "MeanVarianceNormalization", "MemcpyFromHost", "MemcpyToHost", "ParametricSoftplus", "Scale", "ScaledTanh",
    "SimplifiedLayerNormalization", "ThresholdedRelu",
})  # fmt: skip


class OperandSchema(NamedTuple):
    """An input: whether it is required, its type parameter, and its allowed types."""

    is_single: bool
    type_name: str
    allowed: frozenset[int]
    """Numbers of ``TensorProto.DataType``; empty if the input may be something other than a tensor."""


class Schema(NamedTuple):
    """An operator of one version.

    Attributes:
        since: the version that introduced it.
        inputs, outputs: the minimum and maximum number of each.
        slots: the inputs; if the last one is variadic, it repeats.
        attributes: by name, the number of the attribute's type and whether it is required.
    """

    since: int
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    slots: tuple[OperandSchema, ...]
    attributes: Mapping[str, tuple[int, bool]]
    is_deprecated: bool
    """Whether it must not be used; one with a definition by others may be, such as GroupNormalization of version 18."""
    is_homogeneous: bool
    """Whether all variadic inputs have the same type."""

    def slot(self, position: int) -> OperandSchema:
        """Return the input at a position."""
        return self.slots[min(position, len(self.slots) - 1)]


@lru_cache(maxsize=4096)
def onnx_schema(op_type: str, version: int, domain: str) -> Any:
    """Return onnx's ``OpSchema`` of an operator; None if the version does not have it."""
    from onnx import defs

    try:
        return defs.get_schema(op_type, version, domain)
    except defs.SchemaError:
        return None


@lru_cache(maxsize=4096)
def schema(op_type: str, version: int, domain: str) -> Schema | None:
    """Return the schema of an operator; None if the version does not have it."""
    from onnx import AttributeProto, defs

    single = defs.OpSchema.FormalParameterOption.Single
    definition = onnx_schema(op_type, version, domain)
    if definition is None:
        return None
    return Schema(
        definition.since_version,
        (definition.min_input, definition.max_input),
        (definition.min_output, definition.max_output),
        tuple(OperandSchema(i.option == single, i.type_str, _tensor_types(i.types)) for i in definition.inputs),
        {n: (AttributeProto.AttributeType.Value(a.type.name), a.required) for n, a in definition.attributes.items()},
        definition.deprecated and not (definition.has_function or definition.has_context_dependent_function),
        all(i.is_homogeneous for i in definition.inputs),
    )


def _tensor_types(texts: Any) -> frozenset[int]:
    """Return the element types in texts such as ``tensor(float)``; none if any text has another form."""
    known = _type_numbers()
    return frozenset(known[text] for text in texts) if known.keys() >= set(texts) else frozenset()


@cache
def element_type_numbers() -> frozenset[int]:
    """Return the numbers of all element types, and 0."""
    from onnx import TensorProto

    return frozenset(TensorProto.DataType.values())


@cache
def _type_numbers() -> Mapping[str, int]:
    from onnx import TensorProto

    return {f"tensor({name.lower()})": number for name, number in TensorProto.DataType.items()}


def first_version(op_type: str, domain: str) -> int | None:
    """Return the version that introduced an operator; None if there is none."""
    from onnx import defs

    versions = [s.since_version for s in defs.get_all_schemas_with_history() if (s.name, s.domain) == (op_type, domain)]
    return min(versions, default=None)


class TypeMismatch(NamedTuple):
    """A node whose operator does not accept the combination of its input element types.

    Attributes:
        node: the node.
        types: the element types of its inputs, 0 for unknown ones.
        position: the position of the faulty input.
        other: the input that must have the same type; None if the operator never accepts the type at that position.
    """

    node: Any
    types: Sequence[int]
    position: int
    other: int | None


def mismatch(op_type: str, domain: str, version: int, types: Sequence[int]) -> tuple[int, int | None] | None:
    """Return the mistyped input of an operator and the input whose type it must match; None if all are right.

    >>> mismatch("Add", "", 14, (1, 1)), mismatch("Add", "", 14, (1, 7)), mismatch("Gather", "", 13, (1, 1))
    (None, (1, 0), (1, None))
    """
    operator = schema(op_type, version, domain) if domain in KNOWN_DOMAINS else None
    if operator is None or not operator.slots:
        return None
    # By type parameter, the first input that has it; all others must have the same type.
    first: dict[str, int] = {}
    for position, dtype in enumerate(types):
        slot = operator.slot(position)
        # Unknown types, and inputs that need not be tensors, are not judged.
        if not dtype or not slot.allowed:
            continue
        if dtype not in slot.allowed:
            return position, None
        other = first.setdefault(slot.type_name, position) if operator.is_homogeneous else position
        if types[other] != dtype:
            return position, other
    return None


def other_outputs(model: Any, dtypes: Mapping[str, int]) -> dict[str, int]:
    """Return the real types of the outputs of a model whose declared type is different."""
    declared = {o.name: o.type.tensor_type.elem_type for o in model.graph.output}
    return {name: dtypes[name] for name, dtype in declared.items() if dtype and dtypes.get(name, 0) not in (0, dtype)}


def check_types(
    source: str, model: Any, mistyped: Iterable[TypeMismatch], outputs: Mapping[str, int], known: Mapping[str, int]
) -> None:
    """Raise `ModelError` for suspected wrong types of nodes' inputs and of outputs, if onnx's inference confirms them.

    ``known`` are the types that it infers.
    """
    dtypes = dict(known)
    for declared_input in model.graph.input:
        dtypes[declared_input.name] = declared_input.type.tensor_type.elem_type
    dtypes.update((tensor.name, tensor.data_type) for tensor in model.graph.initializer)
    for node, types, position, other in mistyped:
        places = (position,) if other is None else (position, other)
        # The walk only suspects, and onnx's inference decides.
        if any(dtypes.get(node.input[p]) != types[p] for p in places):
            continue
        kind = dtype_name(types[position])
        wrong = f"{label(node)} takes {quote(node.input[position])} of type {kind} as input {position}"
        what = f"{node.op_type} does not accept that type there"
        if other is not None:
            what = f"it must have the type of {quote(node.input[other])}, which is {dtype_name(types[other])}"
        raise ModelSource(source).fault(f"{wrong}; {what}", "put a Cast before it")
    for output in model.graph.output:
        declared, real = output.type.tensor_type.elem_type, known.get(output.name, 0)
        if output.name in outputs and real == outputs[output.name]:
            raise ModelSource(source).fault(
                f"the output {quote(output.name)} is declared as {dtype_name(declared)}, but is {dtype_name(real)}"
            )


@cache
def dtype_name(dtype: int) -> str:
    """Return the name of an element type, such as ``float``."""
    from onnx import TensorProto

    return str(TensorProto.DataType.Name(dtype)).lower()


# What an attribute of each type holds, by the number of the type.
_NAMES = (
    *("nothing", "a float", "an integer", "text", "a tensor", "a graph", "floats", "integers", "texts", "tensors"),
    *("graphs", "a sparse tensor", "sparse tensors", "a type", "types"),
)
_VALUES_OF_CONSTANT = frozenset(
    {"value", "sparse_value", "value_float", "value_floats", "value_int", "value_ints", "value_string", "value_strings"}
)


def check_node(node: Any, versions: Mapping[str, int], source: ModelSource) -> None:
    """Raise `ModelError` if a node's name, attributes, inputs or outputs do not match its operator."""
    if any(isinstance(text, bytes) for text in (node.op_type, node.domain, *(a.name for a in node.attribute))):
        raise source.fault(*DAMAGED)
    if not node.op_type:
        raise source.fault(f"{label(node)} names no operator")
    domain = canonical_domain(node.domain)
    version = versions.get(domain)
    if version is None:
        raise source.fault(
            f"{label(node)} uses the domain {quote(domain or 'ai.onnx')}, which the model does not import",
            "add it to the model's opset_import",
        )
    if version < 1:
        raise source.fault(f"{label(node)} uses the domain {quote(domain)}, which is imported in version {version}")
    operator = schema(node.op_type, version, domain) if domain in KNOWN_DOMAINS else None
    _check_attributes(node, operator, version, source)
    if operator is not None:
        _check_counts(node, operator, version, source)
    elif domain in KNOWN_DOMAINS and not (domain == "" and node.op_type in OF_RUNTIME):
        since = first_version(node.op_type, domain)
        there = f"it exists from version {since} on" if since is not None else "no version has an operator of this name"
        raise source.fault(
            f"{label(node)} uses an operator that is not in version {version} of {domain or 'ONNX'}: {there}"
        )


def _check_attributes(node: Any, operator: Schema | None, version: int, source: ModelSource) -> None:
    names: set[str] = set()
    for attribute in node.attribute:
        name = attribute.name
        if not name:
            raise source.fault(f"{label(node)} has an attribute without a name")
        if name in names:
            raise source.fault(f"{label(node)} has the attribute {quote(name)} twice")
        names.add(name)
        if operator is None or name[:2] == "__":  # tools write such names; they are not part of the operator
            continue
        expected = operator.attributes.get(name)
        if expected is None:
            raise source.fault(
                f"{label(node)} has the attribute {quote(name)}, "
                f"which {node.op_type} of version {version} does not have{_elsewhere(node, name, operator, version)}"
            )
        if attribute.type != expected[0] and attribute.type < len(_NAMES):
            raise source.fault(
                f"{label(node)} has the attribute {quote(name)} as {_NAMES[attribute.type]}; "
                f"it must be {_NAMES[expected[0]]}"
            )
    missing = [
        n for n, (_, is_required) in (operator.attributes if operator else {}).items() if is_required and n not in names
    ]
    if missing:
        raise source.fault(f"{label(node)} lacks the attribute {quote(missing[0])}, which {node.op_type} must have")
    if node.op_type == "Constant" and operator is not None and names.isdisjoint(_VALUES_OF_CONSTANT):
        raise source.fault(
            f"{label(node)} holds no value: one of the attributes 'value', 'value_ints', ... must be there"
        )


def _elsewhere(node: Any, name: str, operator: Schema, version: int) -> str:
    """Return the end of a message that names the earlier versions in which an operator has an attribute, if any."""
    before = operator.since - 1
    while before > 0:
        older = schema(node.op_type, before, canonical_domain(node.domain))
        if older is None:
            return ""
        if name in older.attributes:
            return f"; versions up to {before} have it"
        before = older.since - 1
    return ""


def _check_counts(node: Any, operator: Schema, version: int, source: ModelSource) -> None:
    if operator.is_deprecated:
        raise source.fault(
            f"{label(node)} uses a deprecated operator: version {version} of the operators is imported, "
            f"and {node.op_type} does not exist from version {operator.since} on"
        )
    for what, count, (least, most) in (
        ("input", len(node.input), operator.inputs),
        ("output", len(node.output), operator.outputs),
    ):
        if not least <= count <= most:
            raise source.fault(
                f"{label(node)} has {_counted(count, what)}; {node.op_type} of version {version} has "
                f"{_range(least, most, what)}"
            )
    for position, name in enumerate(node.input):
        if not name and operator.slot(position).is_single:
            raise source.fault(f"{label(node)} leaves out input {position}, which {node.op_type} must have")


def _range(least: int, most: int, what: str) -> str:
    if least == most:
        return _counted(least, what)
    return f"{least} or more" if most >= 2**31 - 1 else f"{least} to {most}"


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def check_attribute_value(node: Any, attribute: Any, source: ModelSource) -> None:
    """Raise `ModelError` if an attribute's value does not match its type."""
    kind = attribute.type
    if attribute.ref_attr_name:
        return
    if not 0 < kind < len(FIELDS):
        raise source.fault(
            f"{label(node)} has the attribute {quote(attribute.name)} of type {kind}, which does not exist"
        )
    for other, field in enumerate(FIELDS):
        if other in (0, kind):
            continue
        if getattr(attribute, field) if field in REPEATED else attribute.HasField(field):
            raise source.fault(
                f"{label(node)} has the attribute {quote(attribute.name)}, whose type is {_NAMES[kind]}, "
                f"and which holds {_NAMES[other]}"
            )
