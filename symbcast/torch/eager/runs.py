"""Run torch code with tensors that have no data: each operator is answered by its rule, or by its decomposition.

`torch` calls the mode of a run for every operator, before it decomposes any. Tensors with data (weights, buffers,
constants) stay as they are until an operator combines them with one that has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.core.algebra.arithmetic import join, multiply
from symbcast.core.algebra.formulas import FALSE, Formula, at_most
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.rules import Joined, find_rule
from symbcast.core.solver.evaluation import evaluated, value_at
from symbcast.errors import DimensionError
from symbcast.graphs.walking.node_call import RefusedError, UnknownShapeError
from symbcast.graphs.walking.requirements import NodePlace, SizeRequirements
from symbcast.operators.operator import Dims
from symbcast.operators.values.value import Decider, Value, decider_of_content
from symbcast.torch.calls import OPERATORS, TorchCall, arguments_by_name, raw_argument, scalar, size_of
from symbcast.torch.contents import with_contents
from symbcast.torch.eager.symbolic_numbers import NumberRun, dimension_of, symint
from symbcast.torch.eager.tensors import (
    ABOUT,
    EagerCall,
    SharedMemory,
    is_without_data,
    tensor_class,
    tensor_dims,
    tensor_value,
)
from symbcast.torch.graph import operator_name
from symbcast.torch.library import load_torch
from symbcast.torch.operators.elementwise import by_tag
from symbcast.torch.walk import decider_of_output

if TYPE_CHECKING:
    from symbcast.paths.path import Path


# An error of torch about sizes: a `RuntimeError`, or for some operators an `IndexError`.
TorchSizeError: type[Exception] = type("RuntimeError", (RuntimeError, IndexError), {})


class PathAsker(SizeRequirements):
    """The requirements of operators on one path, in the form of `symbcast.graphs.walking.requirements.Requirements`."""

    guards: tuple[Formula, ...] = ()
    turns: dict[Symbol, Dim] = {}  # noqa: RUF012 - there are no loops of graphs on a path
    sequences: frozenset[Any] = frozenset()

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bounds = path.bounds
        self.origins: dict[Symbol, str] = {}
        self.is_trying = False

    def require(self, place: NodePlace, formula: Formula, reason: str, code: str = "") -> None:
        """Require a formula on this path; raise torch's error if it cannot hold."""
        if self.is_trying:
            if evaluated(formula) == FALSE:
                raise UnknownShapeError
            return
        self.path.require(formula, reason, TorchSizeError)

    def never(self, place: NodePlace, reason: str) -> NoReturn:
        """Raise torch's error for an operator that runs at no sizes."""
        raise UnknownShapeError if self.is_trying else TorchSizeError(reason)

    def broadcast(self, place: NodePlace, shapes: Sequence[Dims], rule: str, attributes: dict[str, Any]) -> Dims:
        """Broadcast shapes, and return the output."""
        if self.is_trying:
            emission = find_rule(rule, attributes).emit(tuple(shapes))
            return tuple(join(list(d)) if isinstance(d, Joined) else d for d in emission.output)
        try:
            return self.path.broadcast(*shapes, rule=rule, **attributes)
        except ValueError as error:
            raise TorchSizeError(str(error)) from None

    def symbol(self, name: str, text: str, least: int = 0, *, is_undecided: bool = False) -> Symbol:
        """Return a new size that data decide."""
        if self.is_trying:
            raise UnknownShapeError
        if is_undecided:
            self.path.fail_to_trace(f"{text}: data or sizes decide it")
        size = self.path.data_size(text.partition(" [")[0].removeprefix("the number of ") or name, least)
        self.origins[size] = text
        return size

    def limit(self, size: Symbol, most: Dim) -> None:
        """Assume that a size that data decide is at most a dimension."""
        self.path.suppose(at_most(size, most))

    def by_cases(  # noqa: PLR0913 - as `Asker.by_cases`
        self, name: str, text: str, chosen: Formula, yes: Dim, no: Dim, *, least: int = 0
    ) -> Dim:
        """Return one of two dimensions, as the path decides."""
        return yes if self.path.ask(chosen) else no

    def is_of_data(self, size: Symbol) -> bool:
        """Return whether data decide a size."""
        return isinstance(size, Unknown)

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail, without a decision."""
        return self.path.is_known(formula)

    @contextmanager
    def trying(self, walk: AbstractContextManager[None]) -> Iterator[None]:
        """Make no requirements in this context."""
        before, self.is_trying = self.is_trying, True
        try:
            with walk:
                yield
        finally:
            self.is_trying = before


# The largest number of elements for which torch's shape functions are asked: they count in 64 bits.
_MOST_SHOWN = 1 << 40
# Errors of torch's shape functions that are not about sizes.
_ERRORS_OF_DATA = ("NotImplementedError", "DataDependentOutputException", "DynamicOutputShapeException")


class EagerRun:
    """One run; ``place`` is the node whose decomposition is run, None if it is a user's code.

    Attributes:
        asker: takes the requirements of operators.
        walk: takes the notes about what was not checked.
        numbers: answers questions about sizes.
    """

    def __init__(self, asker: Any, walk: Any, numbers: NumberRun, place: NodePlace | None = None) -> None:
        self.asker, self.walk, self.numbers, self.place = asker, walk, numbers, place
        # The memory of tensors with data that have views without, or that were written to.
        self._memories: dict[int, tuple[Any, SharedMemory]] = {}

    def give_up(self, reason: str) -> NoReturn:
        """End the run, because what follows is unknown."""
        self.numbers.give_up(reason)

    @contextmanager
    def running(self) -> Iterator[Any]:
        """Run torch code in this context, which is the mode that torch calls for every operator."""
        torch = load_torch()
        run = self

        class Mode(load_torch("torch.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
            supports_higher_order_operators = True

            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return run.called(func, args, kwargs or {}, self)

        # Without autograd, torch asks about an operator before it decomposes it.
        mode = Mode()
        # Dynamo would skip the body of a loop or branch here, and from then on also in real calls.
        utils = load_torch("torch._higher_order_ops.utils")
        compiled = utils._hop_compile_and_call
        utils._hop_compile_and_call = lambda body, args, kwargs=None: body(*args, **(kwargs or {}))
        try:
            with torch.no_grad(), torch._C._AutoDispatchBelowAutograd(), mode:
                yield mode
        finally:
            utils._hop_compile_and_call = compiled

    def tensor(self, value: Value, dtype: Any, memory: SharedMemory | None = None) -> Any:
        """Return a tensor without data."""
        return tensor_class()(value, dtype, self, memory or SharedMemory())

    # Operators.

    def called(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mode: Any) -> Any:
        """Return the result of an operator."""
        args, kwargs = self._current(args), self._current(kwargs)
        kind = operator_name(func)
        if kind in ABOUT:
            return ABOUT[kind](self, *args, **kwargs)
        # Tensors with data and plain numbers are computed by torch itself.
        if not any(map(_is_open, _leaves((args, kwargs)))):
            return func(*args, **kwargs)
        if getattr(func, "namespace", "") == "higher_order":
            if kind not in _BODIES:
                self.give_up(f"{kind} is not supported")
            with mode:
                return _BODIES[kind](self, *args)
        rule: Callable[[Any], Any] | None = OPERATORS.get(("", kind)) or by_tag(func)
        if rule is not None:
            return self._by_rule(func, rule, args, kwargs)
        return self.decomposed(func, args, kwargs, mode)

    def _current(self, arguments: Any) -> Any:
        """Return arguments in which tensors whose memory was written to have no data."""
        if not self._memories:
            return arguments
        torch = load_torch()

        def current(value: Any) -> Any:
            if isinstance(value, torch.Tensor) and not is_without_data(value):
                memory = self._memories.get(value.untyped_storage()._cdata)
                if memory is not None and memory[1].is_written:
                    return self.tensor(_of_data(value), value.dtype, memory[1])
            return value

        return load_torch("torch.utils._pytree").tree_map(current, arguments)

    def _memory_of(self, tensor: Any) -> SharedMemory:
        if is_without_data(tensor):
            memory: SharedMemory = tensor.memory
            return memory
        return self._memories.setdefault(tensor.untyped_storage()._cdata, (tensor, SharedMemory()))[1]

    def _by_rule(self, func: Any, rule: Callable[[Any], Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        arguments = arguments_by_name(func, args, kwargs)
        if any(a.is_out for a in func._schema.arguments if arguments.get(a.name) is not None):
            self.give_up(f"{operator_name(func)} writes to out=")
        sample, problem = self._sample(func, arguments)
        call = EagerCall(self, self.place, func, arguments, sample)
        outputs = self._answer(call, rule)
        if call.parts is not None and self.numbers.number(call.parts) != len(outputs):
            self.give_up(f"{operator_name(func)} returns another number of tensors")
        if problem or self._differs(outputs, sample):
            sample, problem = self._sample(func, arguments)  # the sizes at hand now meet the rule's requirements
            if problem or self._differs(outputs, sample):
                self.give_up(problem or f"torch gives {operator_name(func)} another shape")
        samples = list(sample) if isinstance(sample, (list, tuple)) else [sample]
        return self._returned(func, arguments, outputs, samples)

    def _differs(self, outputs: Sequence[Value], sample: Any) -> bool:
        """Return whether outputs have other shapes than torch's own shape function gives at the sizes at hand."""
        samples = list(sample) if isinstance(sample, (list, tuple)) else [sample]
        pairs = [(v.shape, s) for v, s in zip(outputs, samples, strict=False) if hasattr(s, "shape")]
        return any(dims is not None and [self._shown(d) for d in dims] != list(s.shape) for dims, s in pairs)

    def _answer(self, call: EagerCall, rule: Callable[[Any], Any]) -> Sequence[Value]:
        try:
            parts = call.parts
            if parts is not None:  # the number of results must be known
                self.numbers.number(parts)
            result = rule(call)
            listed = [result] if isinstance(result, Value) else list(result)
            outputs = with_contents(call, listed)
        except (TorchSizeError, RefusedError):
            raise
        except UnknownShapeError as error:
            self.give_up(str(error) or f"the shape of {call.node.op_type} is not known")
        except (ArithmeticError, LookupError, TypeError, ValueError, DimensionError) as error:
            self.give_up(f"{call.node.op_type} could not be analysed: {error}")
        for value in outputs:
            known = decider_of_content(value.content, value.shape, self.asker)
            value.decided_by = decider_of_output(call.node, call.inputs, value) if known is None else known
        return outputs

    def _returned(
        self, func: Any, arguments: Mapping[str, Any], outputs: Sequence[Value], samples: Sequence[Any]
    ) -> Any:
        """Return values as torch returns them; an argument that is written to is returned itself."""
        schema = func._schema
        results = []
        for n, value in enumerate(outputs):
            alias = schema.returns[min(n, len(schema.returns) - 1)].alias_info if schema.returns else None
            results.append(self._result(arguments, schema, alias, value, samples[n] if n < len(samples) else None))
        if not schema.returns:
            for a in schema.arguments:
                if a.alias_info is not None and a.alias_info.is_write and arguments.get(a.name) is not None:
                    self._memory_of(arguments[a.name]).is_written = True
            return None
        is_list = len(schema.returns) == 1 and "[]" in str(schema.returns[0].type)
        if "List" in str(schema.returns[0].type) or is_list:
            return results
        return results[0] if len(schema.returns) == 1 else tuple(results)

    def _result(self, arguments: Mapping[str, Any], schema: Any, alias: Any, value: Value, sample: Any) -> Any:
        torch = load_torch()
        source = None
        if alias is not None:
            aliased = (a for a in schema.arguments if a.alias_info is not None)
            names = (a.name for a in aliased if a.alias_info.before_set == alias.before_set)
            source = arguments.get(next(names, ""))
        if alias is not None and alias.is_write and source is not None:
            # Views of the memory lose what is known of their elements too.
            self._memory_of(source).is_written = True
            if is_without_data(source):
                source.value = value.with_content(None)
            return source
        if value.shape is None:
            if sample is not None and not isinstance(sample, torch.Tensor):
                return sample
            self.give_up(f"the shape of {schema.name} is not known")
        memory = self._memory_of(source) if isinstance(source, torch.Tensor) else None
        dtype = getattr(sample, "dtype", None) or self._type_like(arguments, schema.name)
        return self.tensor(value, dtype, memory)

    def _type_like(self, arguments: Mapping[str, Any], name: str) -> Any:
        torch = load_torch()
        if name in ("aten::nonzero", "aten::argwhere"):
            return torch.int64
        return next(v.dtype for v in arguments.values() if isinstance(v, torch.Tensor))

    # Torch's own shape functions.

    def _sample(self, func: Any, arguments: Mapping[str, Any]) -> tuple[Any, str]:
        """Return the result of torch's shape function at the sizes at hand, and why there is none."""
        torch = load_torch()
        tensors = filter(is_without_data, _leaves(arguments))
        if any(self._shown(multiply(*tensor_dims(t))) > _MOST_SHOWN for t in tensors):
            self.give_up("the sizes at hand are too large for torch")

        def plain(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                sizes = [self._shown(d) for d in tensor_dims(value)]
                return torch.empty(sizes, dtype=value.dtype, device="meta")
            if isinstance(value, torch.SymInt):
                return self._shown(value.node.dim)
            if isinstance(value, torch.SymBool):
                return True
            return 1.0 if isinstance(value, torch.SymFloat) else value

        examples = load_torch("torch.utils._pytree").tree_map(plain, dict(arguments))
        if any(a.name == "device" for a in func._schema.arguments):
            examples["device"] = "meta"
        try:
            names = {a.name for a in func._schema.arguments}
            sample = func(**{name: value for name, value in examples.items() if name in names})
        except Exception as error:
            is_of_sizes = type(error).__name__ not in _ERRORS_OF_DATA
            said = f"torch refuses {operator_name(func)}: {' '.join(str(error).split())[:120]}"
            return None, said if is_of_sizes else ""
        return sample, ""

    def _shown(self, dim: Dim) -> int:
        return dim if isinstance(dim, int) else self.numbers.shown(dim)

    # Operators without a rule.

    def decomposed(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mode: Any) -> Any:
        """Return the result of an operator by torch's decomposition of it."""
        decompose = self._decomposition(func)
        result = NotImplemented
        if decompose is not None:
            with mode:
                result = decompose(*args, **kwargs)
        if result is NotImplemented:
            self.give_up(f"{operator_name(func)} is not supported")
        return result

    def _decomposition(self, func: Any) -> Callable[..., Any] | None:
        table = load_torch("torch._decomp").decomposition_table
        if func in table:
            return table[func]  # type: ignore[no-any-return]
        if getattr(func, "namespace", "") == "prims":
            return getattr(func, "impl_aten", None) or getattr(func, "prim_impl", None)
        return func.decompose if func._can_decompose() else None


def _of_data(tensor: Any) -> Value:
    value = Value(tuple(tensor.shape), tensor_value(tensor).dtype)
    value.decided_by = Decider.DATA
    return value


def _leaves(tree: Any) -> list[Any]:
    return load_torch("torch.utils._pytree").tree_leaves(tree)  # type: ignore[no-any-return]


def _is_open(value: Any) -> bool:
    torch = load_torch()
    return is_without_data(value) or isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool)


# Branches and loops. Torch traces each body once, whatever data and sizes decide, so each runs once here.


def _branch(run: EagerRun, predicate: Any, yes: Any, no: Any, operands: Sequence[Any]) -> Any:
    """Return the results of the branch that is taken; a tensor decides only between results of the same ranks."""
    if not isinstance(predicate, load_torch().Tensor):
        return (yes if predicate else no)(*operands)
    results = yes(*operands), no(*operands)
    if len({tuple((len(tensor_dims(x)), x.dtype) for x in _leaves(result)) for result in results}) > 1:
        raise TorchSizeError("the branches must return tensors of the same ranks and types")
    return results[0 if predicate else 1]


def _any_turn(run: EagerRun, tensor: Any, *dims: Dim) -> Any:
    """Return a tensor of a shape with the elements that another one may have in any iteration."""
    value = Value(dims, tensor_value(tensor).dtype)
    is_free = tensor.dtype.is_floating_point or tensor_value(tensor).decided_by == Decider.DATA
    value.decided_by = Decider.DATA if is_free else Decider.BOTH
    return run.tensor(value, tensor.dtype)


def _carried(run: EagerRun, initial: Sequence[Any]) -> list[Any]:
    if not all(isinstance(x, load_torch().Tensor) for x in initial):
        run.give_up("an integer that a loop carries is not followed")
    return [_any_turn(run, x, *tensor_dims(x)) for x in initial]


def _after(run: EagerRun, initial: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """Return what a loop carries at its end; torch requires that no iteration change its shape."""
    for before, after in zip(initial, results, strict=True):
        if len(tensor_dims(before)) != len(tensor_dims(after)):
            raise TorchSizeError("what a loop carries must keep its rank")
        for a, b in zip(tensor_dims(before), tensor_dims(after), strict=True):
            run.asker.equal(run.place, a, b, "what a loop carries must keep its shape")
    return _carried(run, results)


def _scan(run: EagerRun, body: Any, initial: Sequence[Any], scanned: Sequence[Any], more: Sequence[Any] = ()) -> Any:
    """Return what is carried, then the results of the slices, stacked; torch has checked that there are slices."""
    results = list(body(*_carried(run, initial), *_parts(run, scanned), *more))
    last, rest = _after(run, initial, results[: len(initial)]), results[len(initial) :]
    return [*last, *(_any_turn(run, x, tensor_dims(scanned[0])[0], *tensor_dims(x)) for x in rest)]


def _parts(run: EagerRun, scanned: Sequence[Any]) -> list[Any]:
    """Return a slice of each tensor along its first axis."""
    for x in scanned[1:]:
        run.asker.at_most(run.place, tensor_dims(scanned[0])[0], tensor_dims(x)[0], "there must be as many slices")
    return [_any_turn(run, x, *tensor_dims(x)[1:]) for x in scanned]


def _map(run: EagerRun, body: Any, scanned: Sequence[Any], more: Sequence[Any] = ()) -> Any:
    length, result = tensor_dims(scanned[0])[0], body(*_parts(run, scanned), *more)
    return load_torch("torch.utils._pytree").tree_map(lambda x: _any_turn(run, x, length, *tensor_dims(x)), result)


def _loop(run: EagerRun, condition: Any, body: Any, initial: Sequence[Any], more: Sequence[Any] = (), *_: Any) -> Any:
    """Return what a loop carries at its end; data decide how often it runs."""
    states = _carried(run, initial)
    goes_on = condition(*states, *more)
    if is_without_data(goes_on) and tensor_dims(goes_on):
        raise TorchSizeError("the condition of a loop must be a scalar")
    return tuple(_after(run, initial, body(*states, *more)))


_BODIES: dict[str, Callable[..., Any]] = {
    "higher_order.cond": _branch,
    "higher_order.scan": _scan,
    "higher_order.map_impl": _map,
    "higher_order.while_loop": _loop,
}


# Nodes without a rule, analysed by torch's own decomposition of their operator.
#
# A decomposition may check less than the kernel does, so only those are trusted that agree with recorded runs at small
# sizes (`tests/exported/test_decompositions.py`). One that compares sizes is followed only if the comparison is known.


# The operators whose decompositions run where their kernels run, and give the same shapes.
TRUSTED: frozenset[str] = frozenset({
    "_euclidean_dist", "addr", "fliplr", "flipud", "log_sigmoid_forward", "mH",
    "mse_loss_backward", "multi_margin_loss",
    "special_logsumexp", "tril_indices", "triu_indices", "unfold_copy",
})  # fmt: skip

# The number for a size that the exported example does not have.
_AT_HAND = 2


class _Numbers:
    """The sizes of a graph, as the numbers of torch in a decomposition see them: nothing is decided there."""

    def __init__(self, call: TorchCall, hints: Mapping[Symbol, int]) -> None:
        self._call, self._hints = call, hints

    def ask(self, formula: Formula) -> bool:
        known = self._call.is_known(formula)
        if known is None:
            self.give_up("its decomposition depends on a comparison of sizes")
        return known

    def expect(self, formula: Formula) -> None:
        self._call.require(formula, "torch checks it")

    def number(self, dim: Dim) -> int:
        return dim if isinstance(dim, int) else self.give_up("its decomposition needs a size as a number")

    def shown(self, dim: Dim) -> int:
        number = value_at(dim, {s: self._hints.get(s, _AT_HAND) for s in symbols_of((dim,))})
        return _AT_HAND if number is None else number

    def is_known(self, formula: Formula) -> bool | None:
        return self._call.is_known(formula)

    def is_true_for_data(self) -> NoReturn:
        self.give_up("its decomposition depends on data")

    integer_of_data = is_true_for_data

    def give_up(self, reason: str) -> NoReturn:
        raise UnknownShapeError(reason)


def decomposed(call: TorchCall) -> Sequence[Value] | None:
    """Return the outputs of a node by its operator's decomposition; None if that is not trusted."""
    target = call.node.raw.target
    if call.node.op_type.removeprefix("aten.") not in TRUSTED or not hasattr(target, "_schema"):
        return None
    numbers = _Numbers(call, getattr(call.walk, "hints", {}))
    run = EagerRun(call.asker, call.walk, numbers, call.place)
    args, kwargs = _arguments(call, run, numbers)
    try:
        with run.running() as mode:
            result = run.decomposed(target, args, kwargs, mode)
    except (RefusedError, UnknownShapeError):
        raise
    except Exception as error:
        raise UnknownShapeError(f"its decomposition failed: {str(error).partition(chr(10))[0][:120]}") from None
    return [_value(one) for one in (result if isinstance(result, (tuple, list)) else [result])]


def _arguments(call: TorchCall, run: EagerRun, numbers: _Numbers) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments that the node has, by position as far as torch takes them so."""
    fx = call.node.raw
    schema = fx.target._schema.arguments
    written = {a.name for a in schema[: len(fx.args)]} | fx.kwargs.keys()
    tensors = {
        a.name: _as_tensors(call.arguments.get(a.name), raw_argument(call, a.name), run, numbers)
        for a in schema
        if a.name in written
    }
    last = max((n for n, a in enumerate(schema) if a.name in written and not a.kwarg_only), default=-1)
    args = [tensors.get(a.name, a.default_value if a.has_default_value() else None) for a in schema[: last + 1]]
    return args, {a.name: tensors[a.name] for a in schema[last + 1 :] if a.name in written}


def _as_tensors(value: Any, raw: Any, run: EagerRun, numbers: _Numbers) -> Any:
    if isinstance(value, list):
        return [_as_tensors(v, r, run, numbers) for v, r in zip(value, raw, strict=False)]
    if not isinstance(value, Value):
        return value
    dtype = getattr(getattr(raw, "meta", {}).get("val"), "dtype", None)
    if dtype is None:  # an integer that the graph computes
        size = size_of(value)
        if size is None:
            raise UnknownShapeError
        return symint(size, numbers)
    if value.shape is None:
        raise UnknownShapeError
    return run.tensor(value.copy(), dtype)


def _value(one: Any) -> Value:
    if is_without_data(one) or isinstance(one, load_torch().Tensor):
        return tensor_value(one)
    size = dimension_of(one)
    return scalar(size) if size is not None else Value(None)
