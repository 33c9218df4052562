"""A module as a model: which function is checked, what its inputs and their sizes are called, and what bounds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import Formula, at_most
from symbcast.errors import ModelError
from symbcast.graphs.inputs.inputs import Inputs, free_name, inputs_of
from symbcast.graphs.inputs.knowledge import identifier
from symbcast.graphs.model import Model
from symbcast.graphs.values.contents import Elements, is_size
from symbcast.graphs.values.value import Value
from symbcast.stablehlo.attributes import attribute_of, tensor_type
from symbcast.stablehlo.graph import CALLS, Functions
from symbcast.stablehlo.mlir import bindings, operations_in
from symbcast.stablehlo.reading import Read, read_module, too_many

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.program.whole.program import Program
    from symbcast.graphs.inputs.given import Given


class HloModel(Model):
    """A function of a module; ``raw`` is the module."""

    def __init__(self, read: Read, function: str | None) -> None:
        program = Functions(read.module, str(read.path or ""))
        name = _chosen(read.source, program.functions, function)
        op = program.functions[name]
        inner = _count(read.source, name, program.functions)
        self._arguments = _Arguments(op, program)
        outputs = _output_names(op)
        graph = program.top(name, self._arguments.names, outputs)
        super().__init__(read.source, graph, path=read.path, raw=read.module, inner=inner)

    def read_inputs(self, env: Program, given: Given, *, are_open: bool = False) -> Inputs:
        """Return the arguments as values. Scalar integers are sizes that the caller knows, as sizes of tensors are."""
        inputs = inputs_of(self._arguments.values(), env, given, {}, are_open=are_open)
        scalars = [v.content for v in inputs.values.values() if v.shape == ()]
        integers = symbols_of([d for c in scalars if isinstance(c, Elements) for d in c.items if is_size(d)])
        for size in integers:
            env.met(size)
        held = {s: text for s, text in inputs.held.items() if s not in integers}
        symbols = tuple(dict.fromkeys((*inputs.symbols, *integers)))
        own = frozenset(integers).difference(inputs.symbols)
        return inputs._replace(symbols=symbols, held=held, integers=own)

    def said(self, inputs: Inputs, min_size: int) -> Iterator[tuple[Formula, str]]:
        """Yield the bounds in the types of arguments, and that scalar integers are not negative."""
        yield from ((at_most(0, s), f"{s} >= 0") for s in inputs.symbols if s in inputs.integers)
        for name, bounds in self._arguments.bounds.items():
            for size, most in zip(inputs.named.get(name) or (), bounds, strict=False):
                if most is not None:
                    yield at_most(size, most), f"{size} <= {most}"


def read(model: Any, runtime: str = "stablehlo", function: str | None = None) -> HloModel:
    """Return a function of a module as a model; raises `ModelError` if the module cannot be read."""
    return HloModel(read_module(model), function)


def _chosen(source: str, functions: Mapping[str, Any], wanted: str | None) -> str:
    """Return the function to check: the wanted one, ``main``, or the only one that is public."""
    bodies = {name: op for name, op in functions.items() if len(op.regions[0].blocks)}
    if wanted is not None:
        if wanted not in bodies:
            raise ModelError(source, f"has no function {wanted}", f"its functions are {', '.join(bodies) or 'none'}")
        return wanted
    public = [n for n, op in bodies.items() if attribute_of(op, "sym_visibility") in (None, "public")]
    found = ["main"] if "main" in bodies else public if len(public) == 1 else list(bodies) if len(bodies) == 1 else []
    if not found:
        names = ", ".join(list(public or bodies)[:8])
        problem = f"has no function main, but {names}" if names else "has no function with a body"
        raise ModelError(
            source,
            problem,
            "choose one by name (function=, or --function)" if names else "give a module with a function",
        )
    return found[0]


def _count(source: str, top: str, functions: Mapping[str, Any]) -> int:
    """Return how many operations the functions have that a function calls; raises `ModelError` for recursion."""
    calls: dict[str, list[str]] = {}
    count, pending = 0, [top]
    while pending:
        name = pending.pop()
        if name in calls or name not in functions:
            continue
        calls[name] = []
        for op in operations_in(functions[name]):
            count += 1
            if op.name in CALLS:
                calls[name].append(op.attributes[CALLS[op.name]].value)
        pending += calls[name]
    _check_acyclic(source, top, calls)
    if too_many(count):
        raise ModelError(source, too_many(count), "check a part of it")
    return count


def _check_acyclic(source: str, top: str, calls: Mapping[str, list[str]]) -> None:
    done: set[str] = set()
    open_calls: dict[str, Iterator[str]] = {top: iter(calls[top])}
    while open_calls:
        name = next(reversed(open_calls))
        called = next(open_calls[name], None)
        if called is None:
            done.add(name)
            del open_calls[name]
        elif called in open_calls:
            raise ModelError(
                source, f"the function {called} calls itself", "only functions without recursion are checked"
            )
        elif called not in done:
            open_calls[called] = iter(calls.get(called, ()))


def _output_names(op: Any) -> list[str]:
    """Return a name for each result of a function: JAX's, or ``result0``, ``result1`` and so on."""
    taken: set[str] = set()
    count = len(op.attributes["function_type"].value.results)
    attributes = attribute_of(op, "res_attrs") or [{}] * count
    return [free_name(a.get("jax.result_info") or f"result{n}", taken) for n, a in enumerate(attributes)]


class _Arguments:
    """The arguments of a function, with names for them and for their dynamic sizes.

    An argument has the name of its location, else ``arg0``. A dynamic size has the name of JAX's dimension variable
    that is read from it, else ``<argument>_<axis>``.
    """

    def __init__(self, op: Any, program: Functions) -> None:
        taken: set[str] = set()
        arguments = list(op.regions[0].blocks[0].arguments)
        passed, constants = _passed(op, program), dict(enumerate(_constants(op)))
        names = (constants.get(n) or _name_in(a.location) or passed.names.get(n) for n, a in enumerate(arguments))
        self.names = [free_name(name or f"arg{n}", taken) for n, name in enumerate(names)]
        self._variables = passed.variables
        self._types = [tensor_type(a.type) for a in arguments]
        self.bounds = {n: t.bounds for n, t in zip(self.names, self._types, strict=True) if t is not None}

    def values(self) -> dict[str, Value]:
        """Return the arguments as values."""
        taken: set[str] = set()
        found: dict[str, Value] = {}
        own: dict[str, Dim] = {}
        for number, (name, kind) in enumerate(zip(self.names, self._types, strict=True)):
            if kind is None or kind.sizes is None:
                found[name] = Value(None, kind.dtype if kind is not None else 0)
                continue
            dims: list[Dim] = []
            for axis, size in enumerate(kind.sizes):
                variable = self._variables.get((number, axis), "")
                if size is None and variable not in own:
                    fresh = free_name(variable or f"{name}_{axis}", taken)
                    own[variable or fresh] = symbol(fresh)
                    variable = variable or fresh
                dims.append(own[variable] if size is None else size)
            found[name] = Value(tuple(dims), kind.dtype)
        return found


_CONSTANT = "jax.global_constant"


class _Passed(NamedTuple):
    """What the parameters of called functions say about arguments that are passed on to them.

    ``variables`` are JAX's dimension variables by argument and axis: JAX passes the sizes that it reads from arguments.
    """

    names: dict[int, str]
    variables: dict[tuple[int, int], str]


def _passed(op: Any, program: Functions) -> _Passed:
    found = _Passed({}, {})
    for call in (inner.operation for inner in op.regions[0].blocks[0].operations):
        called = program.functions.get(attribute_of(call, "callee")) if call.name == "func.call" else None
        if called is None or not len(called.regions[0].blocks):
            continue
        for value, parameter in zip(call.operands, called.regions[0].blocks[0].arguments, strict=True):
            number = getattr(value, "arg_number", None)
            if number is not None:
                found.names.setdefault(number, _name_in(parameter.location))
        for value, name in zip(call.operands, _constants(called), strict=False):
            place = _read_from(value) if name and name not in found.variables.values() else None
            if place is not None:
                found.variables.setdefault(place, name)
    return found


def _constants(op: Any) -> list[str]:
    """Return the dimension variable of JAX for each parameter of a function; empty for other parameters."""
    return [a.get(_CONSTANT, "") for a in attribute_of(op, "arg_attrs") or ()]


def _name_in(location: Any) -> str:
    return identifier(str(location.name_str)) if isinstance(location, bindings().NameLoc) else ""


def _read_from(value: Any) -> tuple[int, int] | None:
    """Return the argument and the axis whose size a value is; None if it is something else."""
    op = getattr(value.owner, "operation", None)
    if op is None or op.name != "stablehlo.get_dimension_size":
        return None
    number = getattr(op.operands[0], "arg_number", None)
    return None if number is None else (number, int(op.attributes["dimension"].value))
