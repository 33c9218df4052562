"""What ONNX Runtime's kernels accept: element types, attributes, and sizes that must be numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, TypeAlias

from symbcast.core.structs import NamedTuple
from symbcast.onnx.protobuf import OnnxNode, canonical_domain
from symbcast.onnx.schemas import onnx_schema
from symbcast.onnx.session.types import ValueType, tensor_type, without_shape


class OperatorSchema:
    """A version of an operator, read once for all its nodes: the fields of a schema take long to read.

    Attributes:
        schema: its ``OpSchema``.
        title: its domain and name, such as ``":Add"``.
        version: the version of the operator set that defines it.
        is_deprecated, has_function: as in the schema.
        inputs, outputs: for each, the type parameter or type, and the name.
    """

    __slots__ = ("has_function", "inputs", "is_deprecated", "outputs", "schema", "title", "version")

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.title = f"{schema.domain}:{schema.name}"
        self.version: int = schema.since_version
        self.is_deprecated: bool = schema.deprecated
        self.has_function: bool = schema.has_function
        self.inputs, self.outputs = ([(s.type_str, s.name) for s in slots] for slots in (schema.inputs, schema.outputs))

    def is_typed(self, position: int) -> bool:
        """Return whether the inputs decide the element type of an output, or it can only have one."""
        slot = self.schema.outputs[min(position, len(self.outputs) - 1)]
        return len(slot.types) == 1 or any(slot.type_str == written for written, _ in self.inputs)


@lru_cache(maxsize=1024)
def operator_of(op_type: str, version: int, domain: str) -> OperatorSchema | None:
    """Return an operator of a version; None if that version does not have it."""
    schema = onnx_schema(op_type, version, domain)
    return None if schema is None else OperatorSchema(schema)


def is_unchanged(function: Any, versions: Mapping[str, int]) -> bool:
    """Return whether the operators in a definition are the same in the versions that a model imports."""
    # Otherwise ONNX Runtime does not use it (``OpSchema::ValidateReferencedOpsInFunction``).
    written = {canonical_domain(o.domain): int(o.version) for o in function.opset_import}
    for node in function.node:
        domain = canonical_domain(node.domain)
        then, now = (operator_of(node.op_type, v.get(domain, 1), domain) for v in (written, versions))
        if then is not None and now is not None and then.version != now.version:
            return False
    return True


# The kernels of ONNX Runtime's CPU provider: which element types each operator is implemented for.
#
# `kernels.json` lists them as recorded from ONNX Runtime 1.32 by ``tests/onnx/record_kernels.py``: for each operator
# the ranges of versions, and for each of its type parameters one letter for each type.


# One letter for each type that most kernels take; other types are written out.
LETTERS: Mapping[str, str] = {
    "tensor(float)": "f",
    "tensor(double)": "d",
    "tensor(float16)": "h",
    "tensor(bfloat16)": "H",
    "tensor(bool)": "?",
    "tensor(string)": "s",
    "tensor(int8)": "b",
    "tensor(int16)": "i",
    "tensor(int32)": "j",
    "tensor(int64)": "k",
    "tensor(uint8)": "B",
    "tensor(uint16)": "I",
    "tensor(uint32)": "J",
    "tensor(uint64)": "K",
}
_HALF, _FLOAT = "tensor(float16)", "tensor(float)"
# The last version of a kernel that implements only its first version.
_OPEN = 2**31 - 1


@cache
def _kernels() -> Mapping[str, list[tuple[int, int, Mapping[str, list[str]]]]]:
    kernels: Mapping[str, list[tuple[int, int, Mapping[str, list[str]]]]]
    kernels = json.loads(files(__package__).joinpath("kernels.json").read_text())
    return kernels


_TYPES = {letter: name for name, letter in LETTERS.items()}


Texts: TypeAlias = "tuple[str | None, ...]"
"""The types of inputs or outputs as ONNX writes them; None for those that are unknown or not given."""


@lru_cache(maxsize=4096)
def is_implemented(operator: OperatorSchema, inputs: Texts, outputs: Texts, *, with_casts: bool = False) -> bool:
    """Return whether there is a kernel for a node whose values have these types.

    ``with_casts`` takes float16 for float32: ONNX Runtime puts casts around nodes that have neither a kernel for
    float16 nor a definition by other operators.
    """
    rows = [
        {parameter: [_TYPES.get(t, t) for t in types] for parameter, types in allowed.items()}
        for first, last, allowed in _kernels().get(operator.title, ())
        # A kernel whose range is open implements only the version it begins with.
        if first == operator.version or first < operator.version <= last < _OPEN
    ]
    types = _parameters(operator, inputs, outputs)
    if with_casts:
        types = {parameter: _FLOAT if name == _HALF else name for parameter, name in types.items()}
    return any(all(types[p] in allowed for p, allowed in row.items() if p in types) for row in rows)


def _parameters(operator: OperatorSchema, inputs: Texts, outputs: Texts) -> Mapping[str, str]:
    """Return the type parameters of an operator, each with the type of the first value that has it."""
    parameters: dict[str, str] = {}
    for slots, texts in ((operator.inputs, inputs), (operator.outputs, outputs)):
        for position, text in enumerate(texts):
            if slots and text is not None:
                # The last input or output of a schema may stand for several.
                for parameter in slots[min(position, len(slots) - 1)]:
                    parameters.setdefault(parameter, text)
    return parameters


# The element types of operators of ONNX Runtime's own domains, whose schemas onnx does not have.
#
# `signatures.json` lists them as recorded from ONNX Runtime 1.32 by ``tests/onnx/record_kernels.py``. Their shape
# inference is not recorded.


class KernelOperand(NamedTuple):
    """An input or output: its type parameter, the types that it may have, and whether it must be given."""

    parameter: str
    types: frozenset[str]
    is_homogeneous: bool
    is_single: bool


class KernelSignature(NamedTuple):
    """The inputs and outputs of an operator; the last of each may stand for several."""

    inputs: Sequence[KernelOperand]
    outputs: Sequence[KernelOperand]


class MistypedError(Exception):
    """An input is missing, or has a type that the operator does not take."""


@cache
def _signatures() -> Mapping[str, KernelSignature]:
    signatures = json.loads(files(__package__).joinpath("signatures.json").read_text())

    def slots(rows: list[tuple[str, list[str], bool, bool]]) -> list[KernelOperand]:
        return [KernelOperand(p, frozenset(_TYPES.get(t, t) for t in ts), bool(h), bool(s)) for p, ts, h, s in rows]

    return {name: KernelSignature(slots(inputs), slots(outputs)) for name, (inputs, outputs) in signatures.items()}


def outputs_of(node: Any, types: Mapping[str, ValueType]) -> dict[str, ValueType]:
    """Return the types of a node's outputs, as far as its signature determines them; raises `MistypedError`.

    ``types`` are the known types of values, by name.
    """
    signature = _signatures().get(f"{node.domain}:{node.op_type}")
    if signature is None:
        return {}
    bound: dict[str, str] = {}
    for position, slot in enumerate(signature.inputs):
        if slot.is_single and not "".join(node.input[position : position + 1]):
            raise MistypedError(f"{node.op_type} lacks its input {position}")
    for position, name in enumerate(node.input):
        if name not in types or not signature.inputs:
            continue
        slot = signature.inputs[min(position, len(signature.inputs) - 1)]
        written = types[name].text
        if written not in slot.types:
            raise MistypedError(f"{node.op_type} does not take {name!r} of type {written}")
        if slot.is_homogeneous and bound.setdefault(slot.parameter, written) != written:
            raise MistypedError(f"{name!r} is of type {written}, and must be of type {bound[slot.parameter]}")
    outputs = {}
    for position, name in enumerate(node.output):
        slot = signature.outputs[min(position, len(signature.outputs) - 1)]
        only = next(iter(slot.types)) if len(slot.types) == 1 else ""
        dtype = _number(bound.get(slot.parameter, only))
        if name and dtype:
            outputs[name] = without_shape(tensor_type(dtype, ()))
    return outputs


def _number(written: str) -> int:
    """Return the element type in the text of a tensor's type; 0 for any other text."""
    from onnx import TensorProto

    if not written.startswith("tensor("):
        return 0
    return int(TensorProto.DataType.Value(written.removeprefix("tensor(").rstrip(")").upper()))


# Attributes that ONNX Runtime's kernels require on creation, although the schemas do not.


# By operator, groups of attributes: exactly one of each group must be there, and not empty.
NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    ":RegexFullMatch": (("pattern",),),
    "ai.onnx.ml:FeatureVectorizer": (("inputdimensions",),),
    "ai.onnx.ml:Imputer": (("imputed_value_floats", "imputed_value_int64s"),),
    "ai.onnx.ml:LinearClassifier": (("coefficients",), ("intercepts",)),
    "ai.onnx.ml:LinearRegressor": (("coefficients",),),
    "ai.onnx.ml:Scaler": (("scale",), ("offset",)),
    "ai.onnx.ml:SVMClassifier": (("coefficients",),),
    "ai.onnx.ml:SVMRegressor": (("coefficients",), ("rho",)),
    "ai.onnx.ml:ZipMap": (("classlabels_int64s", "classlabels_strings"),),
}

# By operator, an attribute and its allowed texts.
CHOICES: Mapping[str, tuple[str, tuple[bytes, ...]]] = {
    ":BitShift": ("direction", (b"LEFT", b"RIGHT")),
    ":TfIdfVectorizer": ("mode", (b"TF", b"IDF", b"TFIDF")),
}


# Operators whose kernels read the attribute ``kernel_params``.
PARAMETERS = frozenset(("ai.onnx.ml:SVMClassifier", "ai.onnx.ml:SVMRegressor"))

_CHECKED = frozenset({*NEEDED, *CHOICES, *PARAMETERS, ":LRN"})


def attribute_problem(node: Any, name: str) -> str | None:
    """Return a kernel's error about the attributes of a node; None if it accepts them.

    ``name`` is that of the operator, after its domain.
    """
    if name not in _CHECKED:
        return None
    attributes = {a.name: a for a in node.attribute}
    for group in NEEDED.get(name, ()):
        full = [a for n in group if (a := attributes.get(n)) and (a.s or a.floats or a.ints or a.strings)]
        if len(full) != 1:
            return f"{node.op_type} needs {'one of ' if len(group) > 1 else ''}{', '.join(group)}"
    attribute, texts = CHOICES.get(name, ("", ()))
    if attribute in attributes and attributes[attribute].s not in texts:
        return f"{attribute} of {node.op_type} must be one of {', '.join(t.decode() for t in texts)}"
    if name in PARAMETERS:
        parameters = attributes.get("kernel_params")
        if parameters is None or len(parameters.floats) not in (0, 3):
            return f"{node.op_type} needs 3 kernel_params, or an empty list of them"
    if name == ":LRN" and not (attributes["size"].i > 0 and attributes["size"].i % 2):
        return "the size of LRN must be odd and positive"
    return None


# Sizes that ONNX Runtime needs as numbers when it opens a model, and those that it does not take.


_EMBEDDINGS = ("EmbedLayerNormalization", "QEmbedLayerNormalization")
_FLOATS = "tensor(float)"
_BLOCKED_POOLS = ("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool")


def problem_of_numbers(node: OnnxNode, types: Sequence[ValueType | None]) -> str | None:
    """Return why ONNX Runtime refuses the sizes that it knows of a node's inputs; None if it takes them."""
    sizes = [None if type_ is None else type_.sizes for type_ in types]
    if node.op_type in _EMBEDDINGS and node.domain == "com.microsoft":
        for known, name in zip(sizes[2:7], node.inputs[2:7], strict=False):
            if known and not known[-1]:
                return f"the last size of {name!r} must be a number in the model, and not 0"
    # Of 4 axes, ONNX Runtime moves channels into blocks if their number is a multiple of the block, as 0 is.
    if node.op_type in _BLOCKED_POOLS and not node.domain and sizes and len([o for o in node.outputs if o]) == 1:
        known, type_ = sizes[0], types[0]
        if type_ is not None and known is not None and len(known) == 4 and known[1] == 0 and type_.text == _FLOATS:
            return "it cannot move 0 channels into blocks"
    return None
