"""The MLIR bindings that ship in jaxlib: contexts, parsed modules, attributes, types and constants."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache
from importlib import import_module
from math import prod
from types import ModuleType
from typing import Any

from symbcast.core.structs import NamedTuple
from symbcast.graphs.model import import_library
from symbcast.graphs.walking.reshaping import filled
from symbcast.operators.values import contents
from symbcast.operators.values.value import Constant

# The dialects outside MLIR's own registry, each with the infix of the function that registers it.
_DIALECTS = {"stablehlo": "", "chlo": "", "mhlo": "mhlo_", "sdy": "", "mpmd": ""}


@cache
def bindings() -> ModuleType:
    """Return ``jaxlib.mlir.ir``; raises `MissingExtraError` without jaxlib."""
    module: ModuleType = import_library("jaxlib.mlir.ir", "symbcast.stablehlo", "stablehlo")
    return module


def dialect(name: str) -> Any:
    """Return the bindings of a dialect."""
    return import_module(f"jaxlib.mlir.dialects.{name}")


def context() -> Any:
    """Return a context with all dialects; operations of other dialects are parsed without being understood."""
    # MLIR loads a dialect where its first operation, attribute or type is met: loading all takes four times as long.
    ir = bindings()
    registry = ir.DialectRegistry()
    import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext").register_dialects(registry)
    context_made = ir.Context()
    context_made.append_dialect_registry(registry)
    for name, infix in _DIALECTS.items():
        getattr(dialect(name), f"register_{infix}dialect")(context_made)
    context_made.allow_unregistered_dialects = True
    return context_made


def parsed(data: str | bytes) -> Any:
    """Return the module in a text, in bytecode or in a portable artifact, which is upgraded to today's StableHLO.

    Raises `ValueError` with MLIR's message.
    """
    ir = bindings()
    own_context = context()
    try:
        module = ir.Module.parse(data, own_context)
        if any(op.operation.name.startswith("vhlo.") for op in module.body.operations):
            artifact = data if isinstance(data, bytes) else data.encode()
            module = dialect("stablehlo").deserialize_portable_artifact(own_context, artifact)
    except (ir.MLIRError, UnicodeDecodeError) as error:
        raise ValueError(_first_error(str(error))) from None
    return module


def nested_operations(op: Any) -> Iterator[Any]:
    """Yield all operations within an operation, at any depth."""
    pending = [op]
    while pending:
        for region in pending.pop().regions:
            for block in region.blocks:
                for inner in block.operations:
                    yield inner.operation
                    pending.append(inner.operation)


def _first_error(message: str) -> str:
    """Return the first error in a message of MLIR, with its place in the text."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    error = next((line for line in lines if "error:" in line), lines[-1] if lines else "it gives no reason")
    return error.replace('error: "-":', "").replace("error: ", "")


# Attributes of operations as plain values, and the types of tensors.


# Element types as the numbers of ``TensorProto.DataType``; other types, such as complex ones, are 0.
ELEMENT_TYPES = {
    "f32": contents.FLOAT, "ui8": contents.UINT8, "i8": contents.INT8, "ui16": contents.UINT16,
    "i16": contents.INT16, "i32": contents.INT32, "i64": contents.INT64, "index": contents.INT64,
    "i1": contents.BOOL, "f16": contents.FLOAT16, "f64": contents.DOUBLE, "ui32": contents.UINT32,
    "ui64": contents.UINT64, "bf16": contents.BFLOAT16,
}  # fmt: skip


def attribute_of(op: Any, name: str) -> Any:
    """Return an attribute as a number, a text, a list or an array; None if there is none, others as they are."""
    return python_value(_raw(op, name))


def _raw(op: Any, name: str) -> Any:
    """Return an attribute; None if there is none, or if the bindings have no class for it, as for complex numbers."""
    try:
        return op.attributes[name]
    except (KeyError, TypeError):
        return None


def splat_of(op: Any, name: str) -> Any:
    """Return the number in an attribute that is one number, or one everywhere; None for other attributes."""
    attribute = _raw(op, name)
    if hasattr(attribute, "is_splat"):
        return python_value(attribute.get_splat_value()) if attribute.is_splat else None
    number = python_value(attribute)
    return number if isinstance(number, (int, float)) else None


def python_value(attribute: Any) -> Any:
    """Return an attribute as a number, a text, a list, a mapping or an array; anything else stays as it is."""
    kind = type(attribute).__name__
    if kind == "ArrayAttr":
        return [python_value(a) for a in attribute]
    if kind == "DictAttr":
        return {named.name: python_value(named.attr) for named in attribute}
    if kind.endswith("ArrayAttr"):
        return list(attribute)
    if kind in ("DenseIntElementsAttr", "DenseFPElementsAttr"):
        return array_of(attribute)
    if kind in ("IntegerAttr", "BoolAttr", "FloatAttr", "StringAttr", "FlatSymbolRefAttr"):
        return attribute.value
    return attribute


def array_of(attribute: Any) -> Any:
    """Return the elements of a dense attribute as a NumPy array; None if NumPy has no such type, or for too many."""
    import numpy as np

    try:
        return np.array(attribute) if len(attribute) <= _MOST else None
    except (TypeError, ValueError):
        return None


_MOST = 1 << 20


def keyword_of(attribute: Any) -> str:
    """Return the word in an enumeration, such as ``LT`` of ``#stablehlo<comparison_direction LT>``."""
    return str(attribute).strip("<>").rpartition(" ")[2]


class TensorType(NamedTuple):
    """The type of a tensor or a scalar.

    Attributes:
        sizes: the size of each axis, None if it is dynamic; None for a tensor of unknown rank.
        bounds: the greatest size of each axis, None if it has no bound.
        dtype: the number of the element type.
    """

    sizes: tuple[int | None, ...] | None
    bounds: tuple[int | None, ...]
    dtype: int


def tensor_type_of(kind: Any) -> TensorType | None:
    """Return the type of a tensor or a scalar; None for tokens, tuples and other types."""
    name = type(kind).__name__
    if name in ("IndexType", "IntegerType", "F32Type", "F64Type"):
        return TensorType((), (), ELEMENT_TYPES.get(str(kind), 0))
    if name not in ("RankedTensorType", "UnrankedTensorType"):
        return None
    dtype = ELEMENT_TYPES.get(str(kind.element_type), 0)
    if name == "UnrankedTensorType":
        return TensorType(None, (), dtype)
    dynamic = bindings().ShapedType.get_dynamic_size()
    sizes = tuple(None if n == dynamic else n for n in kind.shape)
    return TensorType(sizes, _bounds(kind, len(sizes), dynamic), dtype)


def _bounds(kind: Any, rank: int, dynamic: int) -> tuple[int | None, ...]:
    encoding = kind.encoding
    if encoding is None or not str(encoding).startswith("#stablehlo.bounds"):
        return (None,) * rank
    return tuple(None if n == dynamic else n for n in dialect("stablehlo").TypeExtensions(encoding).bounds)


# How many integers are read, as longer constants are data; how many elements are listed if all are the same.
_LONGEST, _FEW = 1 << 16, 64


class HloConstant(Constant):
    """The constant of an operation, which is ``raw``."""

    def __init__(self, op: Any, kind: TensorType) -> None:
        super().__init__(op, tuple(n or 0 for n in kind.sizes or ()), kind.dtype)

    def facts(self) -> Hashable | None:
        """Return the shape and type, and the data, of which MLIR keeps equal ones once."""
        try:
            return HloConstant, self.shape, self.dtype, self.raw.attributes["value"]
        except TypeError:  # the bindings have no class for it
            return None

    def read(self) -> contents.Content | None:
        """Return the elements of short tensors, of long ones of integers, and of those with one number everywhere."""
        import numpy as np

        dims, number = self.shape or (), splat_of(self.raw, "value")
        count = prod(n for n in dims if isinstance(n, int))
        if number is not None:
            (item,) = contents.from_numbers([number]).items
            return contents.Elements((item,) * count) if count <= _FEW else filled(item, dims)
        is_read = count <= (
            _LONGEST if self.dtype in contents.INTEGERS or self.dtype == contents.BOOL else contents.MAX_ELEMENTS
        )
        array = attribute_of(self.raw, "value") if is_read else None  # a resource stays an attribute
        return contents.from_array(array) if isinstance(array, np.ndarray) else None
