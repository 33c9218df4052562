"""What onnx itself knows of a node: the body of its function, inferred shapes, and elements that it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, Protocol, cast

from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.formulas import FALSE, FORMULA_KINDS, TRUE
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.node_call import GraphScope, NodeCall, UnknownShapeError
from symbcast.onnx.protobuf import definition_of, with_defaults
from symbcast.onnx.schemas import onnx_schema
from symbcast.operators.values import contents
from symbcast.operators.values.contents import BOOL, FLOATS, INT32, INT64, INTEGERS, MAX_ELEMENTS, Element, Elements
from symbcast.operators.values.elements import BINARY, UNARY, KnownSizes, truth
from symbcast.operators.values.value import NEVER, UNKNOWN, Constant, OpenValue, Value

# Operators that have no shape function here.
#
# The standard defines some as functions of other operators. The walk goes through these operators, so the shapes and
# requirements are exact. For the rest, onnx infers the shapes, one node at a time. onnx computes only with numbers, so
# symbolic dimensions are passed as tokens: a token in the result stands for its dimension.


# The domains whose operators onnx knows.
DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")

# Operators that accept inputs of any size.
_WITHOUT_REQUIREMENTS = frozenset({"ImageDecoder"})

# The largest constant passed to onnx, in elements; longer ones are weights.
_MAX_HANDED = 1024


class FunctionWalk(Protocol):
    """A walk that can go through the body of a function."""

    def function(self, function: Any, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        """Return the outputs of a ``FunctionProto`` that a ``NodeProto`` calls."""


def infer(call: NodeCall) -> Sequence[Value]:
    """Return the outputs of a node, by the standard's definition of its operator or by onnx's inference."""
    if call.node.domain not in DOMAINS:
        call.give_up(f"unknown operator of domain {call.node.domain}")
    schema = onnx_schema(call.node.op_type, call.version, call.node.domain)
    if schema is None:
        call.give_up(f"the operator is not in version {call.version} of {call.node.domain or 'ONNX'}")
    body = definition_of(schema, call.node.raw, call.version, [_type_of(v, {}) for v in call.inputs])
    if body is not None:
        outputs = cast("FunctionWalk", call.walk).function(
            body, with_defaults(call.node.raw, schema), call.inputs, call.scope
        )
        return _completed(call, schema, outputs)
    if call.node.op_type not in _WITHOUT_REQUIREMENTS:
        call.note("not checked: the operator's requirements; its shape is inferred by onnx")
    return _inferred(call, schema)


def _completed(call: NodeCall, schema: Any, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a definition, with onnx's inferred shapes where the definition gives none."""
    open_ones = [v for v in outputs if type(v) in (Value, OpenValue) and v.shape is None and v is not NEVER]
    if not open_ones:
        return outputs
    try:
        inferred = _inferred(call, schema)
    except UnknownShapeError:
        return outputs
    # A definition has all outputs of the operator; a node may have fewer.
    return [b if a in open_ones else a for a, b in zip(outputs, inferred, strict=False)]


def _inferred(call: NodeCall, schema: Any) -> Sequence[Value]:
    from onnx import helper, shape_inference

    tokens: dict[Dim, str] = {}
    types = {n: _type_of(v, tokens) for n, v in zip(call.node.inputs, call.inputs, strict=True) if n}
    tensors = {
        n: t for n, v in zip(call.node.inputs, call.inputs, strict=True) if n and (t := _tensor_of(v)) is not None
    }
    imports = [helper.make_opsetid(call.node.domain, call.version)]
    try:
        inferred = shape_inference.infer_node_outputs(schema, call.node.raw, types, tensors, opset_imports=imports)
    except Exception as error:  # onnx raises its own RuntimeError, or any error of its bindings
        raise UnknownShapeError(f"onnx could not infer its shape: {str(error).splitlines()[0]}") from None
    dims = {token: dim for dim, token in tokens.items()}
    return [_value(call, name, inferred.get(name), dims) for name in call.node.outputs]


def _type_of(value: Value | None, tokens: dict[Dim, str]) -> Any:
    """Return the type of a value in onnx's form, with a token for each dimension that is not a number."""
    from onnx import TypeProto

    proto = TypeProto()
    if value is None:
        return proto
    proto.tensor_type.elem_type = value.dtype
    if value.shape is not None:
        proto.tensor_type.shape.SetInParent()
        for size in value.shape:
            dim = proto.tensor_type.shape.dim.add()
            if isinstance(size, int):
                dim.dim_value = size
            else:
                dim.dim_param = tokens.setdefault(size, f"d{len(tokens)}")
    return proto


def _tensor_of(value: Value | None) -> Any:
    """Return a small tensor with known elements in onnx's form."""
    from onnx import helper

    shape = None if value is None else numbers_of(value.shape)
    if value is None or shape is None or prod(shape) > _MAX_HANDED:
        return None
    if isinstance(value, Constant):
        return value.raw
    items = numbers_of(contents.sizes_of(value.content, shape)) if value.dtype in (INT32, INT64) else None
    return None if items is None else helper.make_tensor("", value.dtype, shape, items)


def _value(call: NodeCall, name: str, inferred: Any, dims: dict[str, Dim]) -> Value:
    if inferred is None or inferred.WhichOneof("value") not in ("tensor_type", "sparse_tensor_type"):
        return UNKNOWN
    tensor = getattr(inferred, inferred.WhichOneof("value"))
    if not tensor.HasField("shape"):
        return Value(None, tensor.elem_type)
    shape: list[Dim] = []
    for axis, dim in enumerate(tensor.shape.dim):
        if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0:
            shape.append(int(dim.dim_value))
        elif dim.dim_param in dims:
            shape.append(dims[dim.dim_param])
        else:
            shape.append(call.fresh(f"size_{axis}", f"axis {axis} of {name}, which onnx does not infer"))
    return Value(tuple(shape), tensor.elem_type)


# Compute contents by running an operator over arrays of exact elements.
#
# If every element of every input is known, the outputs follow from the operator's definition. onnx's reference
# implementation of the operator is run: on plain arrays if all elements are integers and truth values, else on arrays
# of `ExactNumber`, which are sizes, fractions and truth values with exact arithmetic. A comparison that depends on
# sizes, a number that floats would round, and anything that needs a plain number raises, and the content stays
# unknown.


_FOLLOWED = INTEGERS | FLOATS | {BOOL}
# Largest number of input elements to run an operator over if they are not plain integers.
_MOST_SYMBOLIC = 256
# Operators whose own functions compute elements; an element that these do not know stays unknown.
_OWN = frozenset({
    *BINARY, *UNARY, "Cast", "CastLike", "Clip", "Constant", "ConstantOfShape", "Dropout", "Identity", "Range", "Where",
})  # fmt: skip
# Operators whose outputs are random or text.
_OTHERWISE = frozenset({
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
    "ImageDecoder", "StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch", "TfIdfVectorizer",
})  # fmt: skip


class UnfollowedError(Exception):
    """An operator needs a fact about an element that depends on sizes or is not exact."""


def _computing(step: str, *, is_exchanged: bool = False) -> Callable[[ExactNumber, object], ExactNumber]:
    return lambda own, other: own._with(step, other, is_exchanged=is_exchanged)


def _comparing(step: str) -> Callable[[ExactNumber, object], bool]:
    return lambda own, other: bool(own._with(step, other))


class ExactNumber:
    """An exact element of an array: a size, a fraction or a truth value, of an element type."""

    __slots__ = ("dtype", "element", "known")

    def __init__(self, known: KnownSizes, dtype: int, element: Element) -> None:
        self.known = known
        self.dtype = dtype
        self.element = element

    def _with(self, step: str, other: object, *, is_exchanged: bool = False) -> ExactNumber:
        element = other.element if isinstance(other, ExactNumber) else _read(other)
        pair = (element, self.element) if is_exchanged else (self.element, element)
        result = BINARY[step](self.known, self.dtype, *pair)
        if result is None:
            raise UnfollowedError
        return ExactNumber(self.known, self.dtype, result)

    __add__, __radd__ = _computing("Add"), _computing("Add", is_exchanged=True)
    __sub__, __rsub__ = _computing("Sub"), _computing("Sub", is_exchanged=True)
    __mul__, __rmul__ = _computing("Mul"), _computing("Mul", is_exchanged=True)

    def __neg__(self) -> ExactNumber:
        return self._with("Sub", 0, is_exchanged=True)

    def __truediv__(self, other: object) -> ExactNumber:
        if self.dtype in INTEGERS:
            raise UnfollowedError  # rounded in one way or another
        return self._with("Div", other)

    def __eq__(self, other: object) -> bool:
        return bool(self._with("Equal", other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __lt__, __le__ = _comparing("Less"), _comparing("LessOrEqual")
    __gt__, __ge__ = _comparing("Greater"), _comparing("GreaterOrEqual")

    # Sizes that are written in different ways may be equal, so that no hash is right.
    def __hash__(self) -> int:
        raise UnfollowedError

    def __bool__(self) -> bool:
        element = self.element
        if isinstance(element, FORMULA_KINDS):
            is_true = self.known.is_known(element)
            if is_true is None:
                raise UnfollowedError
            return is_true
        return bool(self._with("Equal", 0).element == 0) if not isinstance(element, int) else bool(element)

    def __index__(self) -> int:
        if not isinstance(self.element, int):
            raise UnfollowedError
        return self.element

    __int__ = __index__


def _read(number: object) -> Element:
    """Return a plain number as an element; raises `UnfollowedError` for one that is not exact."""
    import numpy as np

    content = contents.from_array(np.asarray(number))
    if not isinstance(content, Elements) or len(content.items) != 1 or content.items[0] is None:
        raise UnfollowedError
    return content.items[0]


def with_contents(call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a node; if all inputs are known, fill in outputs with unknown elements."""
    node = call.node
    if node.domain or node.op_type in _OWN or node.op_type in _OTHERWISE:
        return outputs
    if not any(map(_needs_elements, outputs)):
        return outputs
    arrays = _arrays(call)
    if arrays is None or node.graphs:
        return outputs
    # Runtimes accept a vector of one number as a scalar; not all reference implementations do.
    results = _run(call, arrays) or _run(call, [*arrays[:1], *map(_as_number, arrays[1:])])
    if results is None:
        return outputs
    return [_evaluated(call, value, results[n]) if n < len(results) else value for n, value in enumerate(outputs)]


def _needs_elements(value: Value) -> bool:
    content = value.content
    is_known = content is not None and not (isinstance(content, Elements) and None in content.items)
    return type(value) is Value and value.dtype in _FOLLOWED and value.shape is not None and not is_known


def _arrays(call: NodeCall) -> list[Any] | None:
    """Return the inputs of a node as arrays; None where not all elements are known."""
    lists: list[tuple[Value, tuple[int, ...], tuple[Element, ...]] | None] = []
    for value in call.inputs:
        if value is None:
            lists.append(None)
            continue
        sizes = numbers_of(value.shape) if value.content is not None else None
        items = None if sizes is None else contents.listed(value.content, sizes)
        if sizes is None or items is None or None in items or value.dtype not in _FOLLOWED:
            return None
        lists.append((value, sizes, items))
    is_plain = all(one is None or _is_plain(one[0].dtype, one[2]) for one in lists)
    if not is_plain and sum(len(one[2]) for one in lists if one is not None) > _MOST_SYMBOLIC:
        return None
    return [None if one is None else _array(call, *one, is_plain=is_plain) for one in lists]


def _is_plain(dtype: int, items: Sequence[Element]) -> bool:
    return dtype not in FLOATS and all(type(i) is int for i in items)


def _array(call: NodeCall, value: Value, sizes: tuple[int, ...], items: Sequence[Element], *, is_plain: bool) -> Any:
    """Return elements as an array; of their own type if all of the node's are plain, or if they are axes."""
    import numpy as np
    from onnx import helper

    if is_plain or (value.dtype in INTEGERS | {BOOL} and _is_plain(value.dtype, items)):
        return np.asarray(items, dtype=helper.tensor_dtype_to_np_dtype(value.dtype)).reshape(sizes)
    array = np.empty(len(items), dtype=object)
    array[:] = [ExactNumber(call.asker, value.dtype, item) for item in items]
    return array.reshape(sizes)


def _as_number(array: Any) -> Any:
    return array.reshape(()) if array is not None and array.shape == (1,) else array


def _run(call: NodeCall, arrays: Sequence[Any]) -> list[Any] | None:
    """Run an operator's reference implementation on arrays; None if it fails."""
    import numpy as np

    names = [name for name, array in zip(call.node.inputs, arrays, strict=False) if array is not None]
    feeds = dict(zip(names, (a for a in arrays if a is not None), strict=True))
    try:
        with np.errstate(all="raise"):
            return list(_evaluator(call.node.raw.SerializeToString(deterministic=True), call.version).run(None, feeds))
    except Exception:
        return None


@lru_cache(maxsize=256)
def _evaluator(node: bytes, version: int) -> Any:
    """Return an evaluator of one node."""
    from onnx import NodeProto, TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    read = NodeProto.FromString(node)
    inputs, outputs = (
        [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in dict.fromkeys(names) if n]
        for names in (read.input, read.output)
    )
    graph = helper.make_graph([read], "node", inputs, outputs)
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)]))


def _evaluated(call: NodeCall, value: Value, array: Any) -> Value:
    """Return an output with the computed elements, if they fit it."""
    import numpy as np

    result = np.asarray(array)
    if not _needs_elements(value) or result.size > MAX_ELEMENTS or len(result.shape) != len(value.shape or ()):
        return value
    # A size that the operator's rule knows as a number stays: a runtime may differ from the reference implementation.
    if any(isinstance(size, int) and size != n for size, n in zip(value.shape or (), result.shape, strict=True)):
        return value
    items = [_element(call, value.dtype, item) for item in result.ravel().tolist()]
    return value if None in items else Value(result.shape, value.dtype, Elements(tuple(items)))


def _element(call: NodeCall, dtype: int, item: object) -> Element:
    if not isinstance(item, ExactNumber):
        try:
            element: Element = _read(item)
        except UnfollowedError:
            return None
    else:
        element = item.element
    if dtype == BOOL:
        formula = truth(element)
        return int(formula == TRUE) if formula in (TRUE, FALSE) else formula
    return contents.as_represented(element, dtype, call.bounds) if not isinstance(element, FORMULA_KINDS) else None
