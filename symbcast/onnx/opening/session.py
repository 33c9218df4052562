"""The opening of a model, as ONNX Runtime 1.32 does it with the options that a session has by default.

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

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

from symbcast.graphs.values.value import NEVER, Value
from symbcast.onnx.opening.attributes import problem_of
from symbcast.onnx.opening.bodies import BODIES, stub
from symbcast.onnx.opening.constants import constant_of, folded, is_short
from symbcast.onnx.opening.kernels import is_implemented
from symbcast.onnx.opening.scope import Types
from symbcast.onnx.opening.shape_values import ShapeValues
from symbcast.onnx.opening.signatures import MistypedError, outputs_of
from symbcast.onnx.opening.types import declared_type, has_type, is_real, kept_type, merge, tensor_type, text_of
from symbcast.onnx.opening.values import type_of
from symbcast.onnx.protobuf.functions import body_of, definition_of, with_defaults
from symbcast.onnx.validity.models import Examined
from symbcast.onnx.validity.opsets import Key, key_of, normal

MAX_DEPTH = 32
"""How deeply nested graphs and functions are followed."""
MAX_NODES = 20_000
"""How many nodes of functions and inner graphs are examined; nested calls can double them at each level."""


Known: TypeAlias = "Callable[[str], Value | None]"


class Refusal(NamedTuple):
    """Why ONNX Runtime does not open a model: the node, ONNX Runtime's message, and the node's input types.

    ``is_certain`` is false if it may still open the model.
    """

    node: Any
    text: str
    types: Sequence[Any | None]
    is_certain: bool = True


class RefusedSessionError(Exception):
    """ONNX Runtime does not open the model."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


def refusal(examined: Examined, known: Known | None = None) -> Refusal | None:
    """Return why ONNX Runtime does not open a model; None if no reason is found.

    ``known`` returns a walk's result for a value by name; it is used for outputs of operators of other domains. A
    refusal that depends on it is uncertain, because ONNX Runtime may infer less.
    """
    model = examined.model
    opening = _Opening(examined.functions, known, can_override=not 0 < model.ir_version < _OVERRIDABLE)
    try:
        opening.graph(model.graph, Types(examined.versions), [])
    except RefusedSessionError as error:
        return error.refusal
    return opening.unimplemented or opening.mislabelled


_NOT_IN_FUNCTIONS = frozenset({"QLinearConcat"})
"""Operators that ONNX Runtime refuses in any function of a model: their inference contradicts their schema."""
_OVERRIDABLE = 4
"""The first IR version in which an initializer that is also an input is only its default."""


class _Opening:
    def __init__(self, functions: Mapping[Key, Any], known: Known | None, *, can_override: bool) -> None:
        self._functions = functions
        self._known = known
        self._can_override = can_override
        self._left = MAX_NODES
        self._depth = 0
        self._is_removed = False
        """Whether the current nodes are in a branch that is removed before kernels are looked up."""
        self.unimplemented: Refusal | None = None
        """The first node without a kernel; reported only if everything else is fine."""
        self.mislabelled: Refusal | None = None
        """The first node whose inner value has another type than the graph declares.

        This is only uncertain: tools that process inner values drop these declarations, and then the model opens.
        """

    def graph(self, graph: Any, scope: Types, given: Sequence[Any | None]) -> list[Any]:
        """Infer a graph with inputs of the types ``given``; return the types of its outputs."""
        scope.declare(graph)
        for position, declared in enumerate(graph.input):
            found, handed = declared_type(declared.type), given[position] if position < len(given) else None
            if handed is not None and has_type(handed):
                if has_type(found) and (text_of(found) != text_of(handed) or not merge(handed, found)):
                    raise _refused(
                        graph.node[0], f"{declared.name!r} is declared with a different type than it has", scope
                    )
                found = found if has_type(found) else handed
            scope.types[declared.name] = found
        overridable = {i.name for i in graph.input} if self._can_override else set()
        for tensor in graph.initializer:
            self._constant(tensor.name, tensor, scope, is_fixed=tensor.name not in overridable)
        for sparse in graph.sparse_initializer:
            scope.types.setdefault(sparse.values.name, tensor_type(sparse.values.data_type, sparse.dims))
        self._nodes(graph.node, scope)
        return [scope.type_of(o.name) for o in graph.output]

    def _constant(self, name: str, tensor: Any, scope: Types, *, is_fixed: bool = True) -> None:
        if not is_fixed:
            return
        scope.types[name] = tensor_type(tensor.data_type, tensor.dims)
        if is_short(tensor):
            scope.constants[name] = tensor

    def _nodes(self, nodes: Iterable[Any], scope: Types) -> None:
        shapes = ShapeValues(scope)
        for node in nodes:
            self._node(node, scope, shapes)

    def _node(self, node: Any, scope: Types, shapes: ShapeValues) -> None:
        domain = normal(node.domain)
        function = self._functions.get(key_of(domain, node.op_type, node)) if self._functions else None
        if function is not None:
            made = self._within(partial(self._call, function, node, scope, is_local=True), len(function.node)) or {}
            self._keep(node, made, scope)
            return
        schema = _schema(node.op_type, scope.versions.get(domain, 1), domain)
        if node.op_type == "Constant" and domain == "":
            tensor = constant_of(node)
            if tensor is not None:
                self._constant(node.output[0], tensor, scope)
                return
        if schema is not None and schema.deprecated:
            made = self._within(partial(self._defined, node, schema, scope), 1) or {}
            self._keep(node, made, scope)
            return
        called = self._with_bodies(node, scope)
        if schema is None:
            self._foreign(node, scope)
            return
        if any(name and not has_type(scope.type_of(name)) for name in node.input):
            return
        types = {name: scope.type_of(name) for name in node.input if name}
        held = {name: t for name in types if (t := scope.constant(name)) is not None}
        stored = {name: t for name, t in held.items() if not scope.is_folded(name)}
        self._infer_unfolded(called, schema, {**shapes.known_to(node), **stored}, scope)
        shapes.take(node, stored)
        made = {**self._inferred(called, schema, types, held, scope), **_of_taken_branch(called, scope)}
        for position, name in enumerate(node.output):
            if name and not has_type(made.get(name)) and not _is_typed(schema, position) and name not in scope.declared:
                raise _refused(node, f"the type of {name!r} is not known", scope)
        self._keep(node, made, scope)
        self._look_up(node, schema, scope)
        inputs = [scope.type_of(name) for name in node.input]
        constants = [held.get(name) for name in node.input]
        found = folded(node, scope.versions.get(domain, 1), inputs, constants, scope.types)
        for name, tensor in zip((o for o in node.output if o), found, strict=False):
            scope.fold(name, tensor)

    def _foreign(self, node: Any, scope: Types) -> None:
        """Record a walk's results for the outputs of a node whose schema onnx does not have."""
        if scope.is_in_function and node.op_type in _NOT_IN_FUNCTIONS:
            raise _refused(node, f"{node.op_type} in a function has a type that it does not give", scope)
        if scope.is_in_function and not node.domain:
            raise _refused(node, f"{node.op_type} in a function ends its process", scope)
        types = {name: t for name in node.input if name and has_type(t := scope.type_of(name))}
        try:
            made = outputs_of(node, types)
        except MistypedError as error:
            raise _refused(node, str(error), scope) from None
        known = self._known
        for name in node.output if known is not None else ():
            found = known(name) if known is not None else None
            if found is NEVER:
                raise _refused(node, "no sizes work for a node in it", scope)
            if found is None and self._is_removed:
                raise _refused(node, f"what it infers of {name!r} is not known", scope)
            if found is not None and has_type(type_of(found)):
                made[name] = type_of(found)
        self._keep(node, made, scope)

    def _infer_unfolded(self, node: Any, schema: Any, held: Mapping[str, Any], scope: Types) -> None:
        """Infer a node's outputs before constants are folded, if that makes a difference.

        ``held`` are the model's constants and the sizes that are known without folding.

        These inferred types stay: ``Split`` gives its outputs a rank if the size that it splits is unknown, and none if
        that size is a number but the sizes of the parts are unknown.
        """
        names = [name for name in node.input if name]
        types = {name: found for name in names if (found := scope.unfolded_type_of(name)) is not None}
        constants = {name for name in names if scope.constant(name) is not None}
        if held.keys() == constants and all(types.get(name) == scope.type_of(name) for name in names):
            return
        self._keep(node, self._inferred(node, schema, types, held, scope), scope)
        for name in node.output:
            if name in scope.types:
                scope.unfolded[name] = scope.types[name]
                scope.declared[name] = type(scope.types[name])()
                scope.declared[name].CopyFrom(scope.types[name])

    def _inferred(
        self, node: Any, schema: Any, types: Mapping[str, Any], held: Mapping[str, Any], scope: Types
    ) -> dict[str, Any]:
        """Return the types that onnx infers for a node's outputs; raises `RefusedSessionError` if that fails."""
        from onnx import checker, shape_inference

        try:
            found = shape_inference.infer_node_outputs(
                schema, node, dict(types), dict(held), opset_imports=scope.imports
            )
        except (shape_inference.InferenceError, checker.ValidationError) as error:
            raise _refused(node, _words(error), scope) from None
        except (RuntimeError, ValueError, TypeError):  # not an error of the operator itself
            return {}
        return {name: kept_type(made) for name, made in found.items()}

    def _keep(self, node: Any, made: Mapping[str, Any], scope: Types) -> None:
        """Merge the inferred types of a node's outputs with the declared ones."""
        for name in node.output:
            if not name:
                continue
            inferred, kept = made.get(name), scope.declared.get(name)
            if inferred is None or not has_type(inferred):
                if kept is not None:
                    scope.types[name] = kept
                continue
            if not is_real(inferred):
                raise _refused(node, f"{name!r} has an unknown element type", scope)
            if kept is None:
                scope.types[name] = inferred
                continue
            if text_of(kept) != text_of(inferred):
                text = f"{name!r} is declared as {text_of(kept)}, but is {text_of(inferred)}"
                found = _refused(node, text, scope)
                if name in scope.outputs:
                    raise found
                self.mislabelled = self.mislabelled or found.refusal._replace(is_certain=False)
                scope.types[name] = inferred
                continue
            merge(inferred, kept)
            scope.types[name] = kept

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

    def _with_bodies(self, node: Any, scope: Types) -> Any:
        """Follow the graphs of a node; return the node with graphs that only declare the types of their outputs."""
        graphs = [a for a in node.attribute if a.HasField("g")]
        if not graphs:
            return node
        inputs = BODIES.get(node.op_type)
        given = inputs(node, scope) if inputs is not None else []
        removed = _removed(node, scope)
        made = type(node)()
        made.CopyFrom(node)
        for attribute in graphs:
            before, self._is_removed = self._is_removed, self._is_removed or attribute.name == removed
            follow = partial(self.graph, attribute.g, Types(scope.versions, scope), given)
            outputs = self._within(follow, len(attribute.g.node))
            self._is_removed = before
            place = next(a for a in made.attribute if a.name == attribute.name)
            place.g.CopyFrom(stub(attribute.g, outputs))
        return made

    def _call(self, function: Any, node: Any, scope: Types, *, is_local: bool = False) -> dict[str, Any]:
        """Infer the body of a function for one call; return the types of the node's outputs.

        ``is_local`` says that it is a function of the model. The nodes of the standard's definitions become nodes of
        the graph, and are of the versions that the model imports.
        """
        imported = {normal(o.domain): int(o.version) for o in function.opset_import}
        own = Types({**imported, **scope.versions, **(imported if is_local else {})})
        own.is_in_function = is_local
        absent = set()
        for position, name in enumerate(function.input):
            given = node.input[position] if position < len(node.input) else ""
            if not given:
                absent.add(name)
                continue
            found = scope.type_of(given)
            if found is not None:
                own.types[name] = found
            constant = scope.constant(given)
            if constant is not None:
                own.constants[name] = constant
        self._nodes(body_of(function, node, absent), own)
        pairs = zip(node.output, function.output, strict=False)
        return {given: found for given, name in pairs if (found := own.type_of(name)) is not None}

    def _defined(self, node: Any, schema: Any, scope: Types) -> dict[str, Any] | None:
        """Infer the standard's definition of an operator by others, as `_call` does; None without a definition."""
        from onnx import TypeProto

        types = [scope.type_of(name) or TypeProto() for name in node.input]
        body = definition_of(schema, node, scope.versions.get(normal(node.domain), 1), types)
        if body is None or (schema.has_function and not _is_unchanged(body, scope.versions)):
            return None
        return self._call(body, with_defaults(node, schema), scope)

    def _look_up(self, node: Any, schema: Any, scope: Types) -> None:
        """Note a node without a kernel or a definition by other operators."""
        if self.unimplemented is not None or self._is_removed:
            return
        types = {n: t for n in (*node.input, *node.output) if n and has_type(t := scope.type_of(n))}
        problem = problem_of(node, schema.domain)
        if problem is not None:
            self.unimplemented = _refused(node, problem, scope).refusal
            return
        if is_implemented(node, schema, types):
            return
        if self._within(partial(self._defined, node, schema, scope), 1) is not None:
            return
        if is_implemented(node, schema, types, with_casts=True):
            return
        shown = ", ".join(text_of(types[n]) for n in node.input if n in types)
        text = f"there is no implementation of {node.op_type} of version {schema.since_version} for {shown}"
        self.unimplemented = _refused(node, text, scope).refusal


def _is_typed(schema: Any, position: int) -> bool:
    """Return whether the inputs of an operator decide the element type of an output, or there is only one."""
    slot = schema.outputs[min(position, len(schema.outputs) - 1)]
    return len(slot.types) == 1 or any(slot.type_str == given.type_str for given in schema.inputs)


def _refused(node: Any, text: str, scope: Types) -> RefusedSessionError:
    return RefusedSessionError(Refusal(node, text, [scope.type_of(name) if name else None for name in node.input]))


def _removed(node: Any, scope: Types) -> str:
    """Return the attribute of the branch that is removed because a constant condition never takes it."""
    from onnx import numpy_helper

    chosen = scope.constant(node.input[0]) if node.op_type == "If" else None
    if chosen is None:
        return ""
    return "else_branch" if bool(numpy_helper.to_array(chosen).ravel()[:1].any()) else "then_branch"


def _of_taken_branch(node: Any, scope: Types) -> dict[str, Any]:
    """Return the types of the outputs of an ``If`` whose condition is a constant: its branch replaces the node."""
    removed = _removed(node, scope)
    if not removed:
        return {}
    taken = next(a.g for a in node.attribute if a.HasField("g") and a.name != removed)
    pairs = zip(node.output, taken.output, strict=False)
    return {name: made.type for name, made in pairs if name and has_type(made.type)}


def _is_unchanged(function: Any, versions: Mapping[str, int]) -> bool:
    """Return whether the operators in a definition are the same in the versions that a model imports.

    Otherwise ONNX Runtime does not use it (``OpSchema::ValidateReferencedOpsInFunction``).
    """
    written = {normal(o.domain): int(o.version) for o in function.opset_import}
    for node in function.node:
        domain = normal(node.domain)
        then, now = (_schema(node.op_type, v.get(domain, 1), domain) for v in (written, versions))
        if then is not None and now is not None and then.since_version != now.since_version:
            return False
    return True


def _words(error: Exception) -> str:
    """Return an inference's error message without its prefix."""
    text = str(error).strip().splitlines()[0]
    return text.split("Error] ", 1)[-1].split("): ", 1)[-1].rstrip(".")


@lru_cache(maxsize=1024)
def _schema(op_type: str, version: int, domain: str) -> Any:
    from onnx import defs

    try:
        return defs.get_schema(op_type, version, domain)
    except defs.SchemaError:
        return None
