"""The initialization of a session, as ONNX Runtime 1.32 does it with the options that a session has by default.

1. Each node's own inference (onnx's, ``InferAndVerifyTypeMatch`` in graph.cc) sees the types of its inputs and the
   constants among them. An error that it raises refuses the model, wherever the node is: in a branch that is never
   taken, in a function, or unused. A declared shape that contradicts the inferred one is a warning. A declared element
   type that does so is an error for an output; for an inner value, the outcome is uncertain and noted here.
2. Constants are folded, and the inference runs again with their contents, also in branches that are never taken.
3. Each node left must have a kernel that takes its types and attributes, or a definition by other operators. A branch
   of an ``If`` whose condition is a constant is removed before that.

Operators of ONNX Runtime's own domains have its own schemas; their outputs are not inferred here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from symbcast.onnx import protobuf
from symbcast.onnx.protobuf import Initializers, OnnxNode, StoredTensor
from symbcast.onnx.schemas import Key, function_key
from symbcast.onnx.session import folding, kernels
from symbcast.onnx.session.folding import BODIES, Written
from symbcast.onnx.session.kernels import MistypedError, OperatorSchema
from symbcast.onnx.session.types import (
    UNNUMBERED,
    KnownValue,
    RefusedSessionError,
    SessionRefusal,
    TypeScope,
    ValueType,
    declared_type,
    inference_message,
    is_known_type,
    merged,
    refused_session,
    stored_type,
    tensor_type,
    type_of_value,
)
from symbcast.onnx.validation import OVERRIDABLE, ValidModel
from symbcast.operators.values.value import NEVER, Value

# How deeply nested graphs and functions are followed.
MAX_DEPTH = 32
# How many nodes of functions and inner graphs are examined; nested calls can double them at each level.
MAX_NODES = 20_000


WalkedValues: TypeAlias = "Callable[[str], Value | None]"


def session_refusal(examined: ValidModel, known: WalkedValues | None = None) -> SessionRefusal | None:
    """Return why ONNX Runtime does not open a model; None if no reason is found.

    ``known`` returns a walk's result for a value by name; it is used for outputs of operators of other domains. A
    refusal that depends on it is uncertain, because ONNX Runtime may infer less.
    """
    model = examined.model
    opening = _Initialization(examined.functions, known, can_override=not 0 < model.ir_version < OVERRIDABLE)
    try:
        opening.graph(model.graph, TypeScope(examined.versions), [], examined.nodes, examined.tensors)
    except RefusedSessionError as error:
        return error.refusal
    return opening.unimplemented or opening.mislabelled


# Operators that ONNX Runtime refuses in any function of a model: their inference contradicts their schema.
_NOT_IN_FUNCTIONS = frozenset({"QLinearConcat"})
# The domain that ONNX Runtime does not know: it does not use the definitions there either.
_PREVIEW = "ai.onnx.preview"


class _Initialization:
    def __init__(self, functions: Mapping[Key, Any], known: WalkedValues | None, *, can_override: bool) -> None:
        from onnx import checker, shape_inference

        self._infer = folding.inference()
        self._errors = (shape_inference.InferenceError, checker.ValidationError)
        self._functions = functions
        self._known = known
        self._can_override = can_override
        self._left = MAX_NODES
        self._depth = 0
        # Whether the current nodes are in a branch that is removed before kernels are looked up.
        self._is_removed = False
        self._constants: dict[Hashable, KnownValue] = {}
        # What is known of constants, by their facts, and by the tensor as it was read.
        self._tensors: dict[StoredTensor, KnownValue] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._contexts: dict[tuple[Any, ...], int] = {}
        # What is known of the outputs of a node, by everything that decides it.
        self._examined: dict[tuple[Any, ...], Sequence[KnownValue | None]] = {}
        # The first node without a kernel; reported only if everything else is fine.
        self.unimplemented: SessionRefusal | None = None
        # The first node whose inner value has another type than the graph declares.
        #
        # This is only uncertain: tools that process inner values drop these declarations, and then the model opens.
        self.mislabelled: SessionRefusal | None = None

    def graph(
        self,
        graph: Any,
        scope: TypeScope,
        types: Sequence[ValueType | None],
        nodes: Sequence[OnnxNode] | None = None,
        tensors: Initializers | None = None,
    ) -> list[ValueType | None]:
        """Infer a graph with inputs of the types ``given``; return the types of its outputs.

        ``nodes`` and ``tensors`` are its nodes and initializers, if they were read before.
        """
        scope.declare(graph)
        for position, declared in enumerate(graph.input):
            own, handed = declared_type(declared.type), types[position] if position < len(types) else None
            if handed is not None and handed.is_known:
                both, agree = merged(handed, own) if own.text == handed.text else (handed, not own.is_known)
                if not agree:
                    raise refused_session(
                        graph.node[0], f"{declared.name!r} is declared with a different type than it has", scope
                    )
                own = both
            scope.put(declared.name, own)
        names, constants, _ = Initializers.of(graph.initializer) if tensors is None else tensors
        put = dict(zip(names, map(self._constant, constants), strict=True))
        if self._can_override:
            for declared in graph.input:
                put.pop(declared.name, None)
        scope.values.update(put)
        for sparse in graph.sparse_initializer:
            if sparse.values.name not in scope.values:
                scope.put(sparse.values.name, tensor_type(sparse.values.data_type, sparse.dims))
        self._nodes(protobuf.walkable_nodes(graph.node, scope.versions) if nodes is None else nodes, scope)
        return [scope.type_of(o.name) for o in graph.output]

    def _constant(self, tensor: StoredTensor) -> KnownValue:
        """Return what is known of a constant: the same object for those that differ only in their names."""
        known = self._tensors.get(tensor)
        if known is not None:
            return known
        is_held = folding.is_short(tensor)
        facts = tensor.facts if is_held else (tensor.shape, tensor.dtype)
        known = self._constants.get(facts)
        if known is None:
            known = KnownValue(tensor_type(tensor.dtype, tensor.shape), constant=tensor if is_held else None)
            self._constants[facts] = known
        self._tensors[tensor] = known
        return known

    def _nodes(self, nodes: Iterable[OnnxNode], scope: TypeScope) -> None:
        """Examine nodes, and repeat what is known of those that differ from an earlier one only in their names."""
        values, declared, examined = scope.values, scope.declared.keys(), self._examined
        context = scope.kind, self._is_removed
        where = self._contexts.setdefault(context, len(self._contexts))
        has_functions = bool(self._functions)
        for node in nodes:
            outputs = node.outputs
            if node.tensor is not None and not has_functions:
                values[outputs[0]] = self._constant(node.tensor)
                continue
            try:
                earlier = examined.get((node.kind, where, *[values[name].number for name in node.inputs]))
            except KeyError:  # an input is left out, or of a graph around this one
                earlier = None
            if earlier is None or not declared.isdisjoint(outputs):
                self._node(node, scope, where)
            elif len(earlier) == 1 and earlier[0] is not None:
                values[outputs[0]] = earlier[0]
            else:
                _repeat(outputs, earlier, values)

    def _node(self, node: OnnxNode, scope: TypeScope, where: int) -> None:
        """Examine a node, or repeat what is known of an earlier one."""
        if self._put(node, scope):
            return
        values, find = scope.values, scope.find
        inputs = [values.get(name) or find(name) if name else None for name in node.inputs]
        key = self._key(node, inputs, scope, where)
        earlier = self._examined.get(key) if key is not None else None
        if earlier is not None:
            _repeat(node.outputs, earlier, values)
            return
        before = self.unimplemented, self.mislabelled
        self._examine(node, inputs, scope)
        # A node that left a note is not repeated: what is repeated leaves none.
        if key is not None and before == (self.unimplemented, self.mislabelled):
            self._examined[key] = [values.get(name) for name in node.outputs]

    def _put(self, node: OnnxNode, scope: TypeScope) -> bool:
        """Put the outputs of a constant or of a function of the model into a scope; False for other nodes."""
        if self._functions:
            function = self._functions.get(function_key(node.domain, node.op_type, node.raw))
            if function is not None:
                follow = partial(self._call, function, node.raw, scope, is_local=True)
                self._keep(node, self._within(follow, len(function.node)) or {}, scope)
                return True
        if node.op_type != "Constant" or node.domain:
            return False
        tensor = node.tensor or folding.constant_of(node.raw)
        if tensor is not None:
            scope.values[node.outputs[0]] = self._constant(tensor)
        return tensor is not None

    def _key(
        self, node: OnnxNode, inputs: Sequence[KnownValue | None], scope: TypeScope, where: int
    ) -> tuple[Any, ...] | None:
        """Return everything that decides what is known of a node's outputs; None if that is more than can be compared.

        ``where`` numbers what the nodes of a graph have in common.
        """
        kind = node.kind
        # Not compared are graphs in the node, and the results of a walk, which go by the names of values.
        if kind is None:
            return None
        if self._known is not None and kernels.operator_of(node.op_type, node.version, node.domain) is None:
            return None
        numbers = [None if f is None else self._number(f) if f.number == UNNUMBERED else f.number for f in inputs]
        declared, outputs = scope.declared, node.outputs
        if declared.keys().isdisjoint(outputs):
            return kind, where, *numbers
        promised = tuple([(declared.get(name), name in scope.outputs) for name in outputs])
        return kind, where, promised, *numbers

    def _number(self, known: KnownValue) -> int:
        """Return the number of what is known about a value."""
        known.number = self._numbers.setdefault(known.facts(), len(self._numbers) + 1)
        return known.number

    def _examine(self, node: OnnxNode, inputs: Sequence[KnownValue | None], scope: TypeScope) -> None:
        """Infer the outputs of a node from what is known about its inputs, and look up its kernel."""
        problem = kernels.problem_of_numbers(node, [None if value is None else value.type for value in inputs])
        if problem is not None:
            raise refused_session(node.raw, problem, scope)
        operator = kernels.operator_of(node.op_type, node.version, node.domain)
        if operator is not None and operator.is_deprecated:
            types_made = self._within(partial(self._defined, node.raw, operator, scope), 1) or {}
            self._keep(node, types_made, scope)
            return
        called = node.raw if node.kind is not None else self._with_bodies(node.raw, scope)
        if operator is None:
            self._foreign(node, scope)
            return
        known = {name: value for name, value in zip(node.inputs, inputs, strict=True) if value is not None}
        if any(name and (name not in known or not known[name].type.is_known) for name in node.inputs):
            return
        if not all(value.was_known for value in known.values()):
            self._infer_unfolded(node, called, operator, known, scope)
        types_made = self._inferred(called, operator, {n: f.type for n, f in known.items()}, _constants(known), scope)
        if node.op_type == "If":
            types_made.update(folding.branch_output_types(called, scope))
        for position, name in enumerate(node.outputs):
            if (
                name
                and not is_known_type(types_made.get(name))
                and not operator.is_typed(position)
                and name not in scope.declared
            ):
                raise refused_session(node.raw, f"the type of {name!r} is not known", scope)
        self._keep(node, types_made, scope)
        sizes = folding.propagated_sizes(node, inputs)
        if sizes is not None:
            scope.put_sizes(node.outputs[0], sizes)
        types = [scope.type_of(name) if name else None for name in node.outputs]
        self._look_up(node, operator, inputs, types, scope)
        names = [name for name in node.outputs if name]
        tensors = folding.folded_constants(
            node, inputs, [t for t, name in zip(types, node.outputs, strict=True) if name]
        )
        for name, tensor in zip(names, tensors, strict=False):
            scope.fold(name, tensor)

    def _foreign(self, node: OnnxNode, scope: TypeScope) -> None:
        """Record a walk's results for the outputs of a node whose schema onnx does not have."""
        if scope.is_in_function and node.op_type in _NOT_IN_FUNCTIONS:
            raise refused_session(node.raw, f"{node.op_type} in a function has a type that it does not give", scope)
        if scope.is_in_function and not node.domain:
            raise refused_session(node.raw, f"{node.op_type} in a function ends its process", scope)
        types = scope.known_types(node.inputs)
        try:
            inferred = kernels.outputs_of(node.raw, types)
        except MistypedError as error:
            raise refused_session(node.raw, str(error), scope) from None
        known = self._known
        for name in node.outputs if known is not None else ():
            value = known(name) if known is not None else None
            if value is NEVER:
                raise refused_session(node.raw, "no sizes work for a node in it", scope)
            if value is None and self._is_removed:
                raise refused_session(node.raw, f"what it infers of {name!r} is not known", scope)
            if value is not None and type_of_value(value).is_known:
                inferred[name] = type_of_value(value)
        self._keep(node, inferred, scope)

    def _infer_unfolded(
        self, node: OnnxNode, called: Any, operator: OperatorSchema, known: Mapping[str, KnownValue], scope: TypeScope
    ) -> None:
        """Infer a node's outputs before constants are folded, if that makes a difference.

        It sees the model's constants and the sizes that are known without folding.
        """
        tensors = {
            name: folding.tensor_of(f.sizes).SerializeToString() for name, f in known.items() if f.sizes is not None
        }
        tensors.update(_constants({name: f for name, f in known.items() if not f.is_folded}))
        if tensors.keys() == _constants(known).keys() and all(f.unfolded in (None, f.type) for f in known.values()):
            return
        types = {name: f.unfolded or f.type for name, f in known.items()}
        # These inferred types stay: ``Split`` gives its outputs a rank if the size that it splits is unknown, and none
        # if that size is a number but the sizes of the parts are unknown.
        self._keep(node, self._inferred(called, operator, types, tensors, scope), scope)
        for name in node.outputs:
            scope.put_unfolded(name)

    def _inferred(
        self, node: Any, operator: OperatorSchema, types: Written, tensors: Written, scope: TypeScope
    ) -> dict[str, ValueType]:
        """Return the types that onnx infers for a node's outputs; raises `RefusedSessionError` if that fails."""
        try:
            written = self._infer(operator.schema, node, types, tensors, scope.versions)
        except self._errors as error:
            raise refused_session(node, inference_message(error), scope) from None
        except (RuntimeError, ValueError, TypeError):  # not an error of the operator itself
            return {}
        return {name: stored_type(type_) for name, type_ in written.items()}

    def _keep(self, node: OnnxNode, types: Mapping[str, ValueType], scope: TypeScope) -> None:
        """Merge the inferred types of a node's outputs with the declared ones."""
        for name in node.outputs:
            if not name:
                continue
            inferred, declared = types.get(name), scope.declared.get(name)
            if inferred is None or not inferred.is_known:
                if declared is not None:
                    scope.put(name, declared)
                continue
            if not inferred.is_real:
                raise refused_session(node.raw, f"{name!r} has an unknown element type", scope)
            if declared is None:
                scope.put(name, inferred)
                continue
            if declared.text != inferred.text:
                text = f"{name!r} is declared as {declared.text}, but is {inferred.text}"
                refusal = refused_session(node.raw, text, scope)
                if name in scope.outputs:
                    raise refusal
                # Only a guess: tools that process inner values drop such declarations, and then the model opens.
                self.mislabelled = self.mislabelled or refusal.refusal._replace(is_certain=False)
                scope.put(name, inferred)
                continue
            scope.put(name, merged(inferred, declared)[0])

    # Inner graphs and functions.

    def _within(self, follow: Callable[[], Any], count: int) -> Any:
        """Follow the graphs or the function of a node; None if they are too deep or too large."""
        if self._depth >= MAX_DEPTH or count > self._left:
            return None
        self._left -= count
        self._depth += 1
        try:
            return follow()
        finally:
            self._depth -= 1

    def _with_bodies(self, node: Any, scope: TypeScope) -> Any:
        """Follow the graphs of a node; return the node with graphs that only declare the types of their outputs."""
        graphs = [a for a in node.attribute if a.HasField("g")]
        if not graphs:
            return node
        inputs = BODIES.get(node.op_type)
        types = inputs(node, scope) if inputs is not None else []
        removed = folding.removed_branch(node, scope)
        copy = type(node)()
        copy.CopyFrom(node)
        for attribute in graphs:
            before, self._is_removed = self._is_removed, self._is_removed or attribute.name == removed
            follow = partial(self.graph, attribute.g, TypeScope(scope.versions, scope), types)
            outputs = self._within(follow, len(attribute.g.node))
            self._is_removed = before
            place = next(a for a in copy.attribute if a.name == attribute.name)
            place.g.CopyFrom(folding.stub(attribute.g, outputs))
        return copy

    def _call(self, function: Any, node: Any, scope: TypeScope, *, is_local: bool = False) -> dict[str, ValueType]:
        """Infer the body of a function for one call; return the types of the node's outputs.

        ``is_local`` says that it is a function of the model.
        """
        imported = {protobuf.canonical_domain(o.domain): int(o.version) for o in function.opset_import}
        # Nodes of the standard's definitions become nodes of the graph, and are of the versions that the model imports.
        own = TypeScope({**imported, **scope.versions, **(imported if is_local else {})}, is_in_function=is_local)
        absent = set()
        for position, name in enumerate(function.input):
            argument = node.input[position] if position < len(node.input) else ""
            if not argument:
                absent.add(name)
                continue
            known = scope.find(argument)
            if known is not None:
                own.values[name] = KnownValue(known.type, constant=known.constant)
        self._nodes(protobuf.walkable_nodes(protobuf.body_of(function, node, absent), own.versions), own)
        pairs = zip(node.output, function.output, strict=False)
        return {argument: type_ for argument, name in pairs if (type_ := own.type_of(name)) is not None}

    def _defined(self, node: Any, operator: OperatorSchema, scope: TypeScope) -> dict[str, ValueType] | None:
        """Infer the standard's definition of an operator by others, as `_call` does; None without a definition."""
        types = [(scope.type_of(name) or ValueType()).proto for name in node.input]
        body = protobuf.definition_of(
            operator.schema, node, scope.versions.get(protobuf.canonical_domain(node.domain), 1), types
        )
        if body is None or (operator.has_function and not kernels.is_unchanged(body, scope.versions)):
            return None
        return self._call(body, protobuf.with_defaults(node, operator.schema), scope)

    def _look_up(
        self,
        node: OnnxNode,
        operator: OperatorSchema,
        inputs: Sequence[KnownValue | None],
        output_types: Sequence[ValueType | None],
        scope: TypeScope,
    ) -> None:
        """Note a node without a kernel or a definition by other operators."""
        if self.unimplemented is not None or self._is_removed:
            return
        problem = kernels.attribute_problem(node.raw, operator.title)
        if problem is not None:
            self.unimplemented = refused_session(node.raw, problem, scope).refusal
            return
        input_texts = tuple([None if value is None else value.type.text for value in inputs])
        texts = tuple([value.text if value is not None and value.is_known else None for value in output_types])
        if kernels.is_implemented(operator, input_texts, texts):
            return
        is_registered = operator.schema.domain != _PREVIEW
        if is_registered and self._within(partial(self._defined, node.raw, operator, scope), 1) is not None:
            return
        # Last, as ONNX Runtime puts casts only around nodes that have neither a kernel nor a definition.
        if kernels.is_implemented(operator, input_texts, texts, with_casts=True):
            return
        shown = ", ".join(text for text in input_texts if text is not None)
        text = f"there is no implementation of {node.op_type} of version {operator.version} for {shown}"
        self.unimplemented = refused_session(node.raw, text, scope).refusal


def _repeat(outputs: Sequence[str], earlier: Sequence[KnownValue | None], values: dict[str, KnownValue]) -> None:
    """Take over what is known of the outputs of an earlier node."""
    values.update((name, known) for name, known in zip(outputs, earlier, strict=True) if known is not None)


def _constants(known: Mapping[str, KnownValue]) -> dict[str, bytes]:
    """Return the tensors of values that are constants."""
    return {name: value.constant.written for name, value in known.items() if value.constant is not None}
