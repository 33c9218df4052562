"""Run torch code with tensors that have no data: each operator is answered by its rule, or by its decomposition.

`torch` calls the mode of a run for every operator, before it decomposes any. Tensors with data (weights, buffers,
constants) stay as they are until an operator combines them with one that has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.core.algebra.arithmetic import multiply
from symbcast.errors import DimensionError
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.deciding import decider_of_content
from symbcast.graphs.walking.node_call import RefusedError, UnknownShapeError
from symbcast.torch.contents import with_contents
from symbcast.torch.eager.about import ABOUT
from symbcast.torch.eager.askers import Refused
from symbcast.torch.eager.calls import EagerCall, given_of
from symbcast.torch.eager.nodes import Run
from symbcast.torch.eager.tensors import Memory, dims_of, is_symbolic, tensor_class, value_of
from symbcast.torch.operators.families import OPERATORS, by_tag
from symbcast.torch.reading.graph import type_of
from symbcast.torch.reading.library import load
from symbcast.torch.walk import decider_of_output

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.requirements.recorder import Place

_MOST_SHOWN = 1 << 40
"""The largest number of elements for which torch's shape functions are asked: they count in 64 bits."""
_UNTOLD = ("NotImplementedError", "DataDependentOutputException", "DynamicOutputShapeException")
"""Errors of torch's shape functions that are not about sizes."""


class EagerRun:
    """One run; ``place`` is the node whose decomposition is run, None if it is a user's code.

    Attributes:
        asker: takes the requirements of operators.
        walk: takes the notes about what was not checked.
        numbers: answers questions about sizes.
    """

    def __init__(self, asker: Any, walk: Any, numbers: Run, place: Place | None = None) -> None:
        self.asker, self.walk, self.numbers, self.place = asker, walk, numbers, place
        self._memories: dict[int, tuple[Any, Memory]] = {}
        """The memory of tensors with data that have views without, or that were written to."""

    def give_up(self, reason: str) -> NoReturn:
        """End the run, because what follows is unknown."""
        self.numbers.give_up(reason)

    @contextmanager
    def running(self) -> Iterator[Any]:
        """Run torch code in this context, which is the mode that torch calls for every operator."""
        torch = load()
        run = self

        class Mode(load("torch.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return run.called(func, args, kwargs or {}, self)

        # Without autograd, torch asks about an operator before it decomposes it.
        mode = Mode()
        with torch.no_grad(), torch._C._AutoDispatchBelowAutograd(), mode:
            yield mode

    def tensor(self, value: Value, dtype: Any, memory: Memory | None = None) -> Any:
        """Return a tensor without data."""
        return tensor_class()(value, dtype, self, memory or Memory())

    # Operators.

    def called(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mode: Any) -> Any:
        """Return the result of an operator."""
        args, kwargs = self._current(args), self._current(kwargs)
        kind = type_of(func)
        if kind in ABOUT:
            return ABOUT[kind](self, *args, **kwargs)
        if not any(map(_is_open, _leaves((args, kwargs)))):
            return func(*args, **kwargs)
        if getattr(func, "namespace", "") == "higher_order":
            self.give_up(f"{kind} is not supported")
        rule: Callable[[Any], Any] | None = OPERATORS.get(("", kind)) or by_tag(func)
        if rule is not None:
            return self._by_rule(func, rule, args, kwargs)
        return self.decomposed(func, args, kwargs, mode)

    def _current(self, given: Any) -> Any:
        """Return arguments in which tensors whose memory was written to have no data."""
        if not self._memories:
            return given
        torch = load()

        def current(value: Any) -> Any:
            if isinstance(value, torch.Tensor) and not is_symbolic(value):
                found = self._memories.get(value.untyped_storage()._cdata)
                if found is not None and found[1].is_written:
                    return self.tensor(_of_data(value), value.dtype, found[1])
            return value

        return load("torch.utils._pytree").tree_map(current, given)

    def _memory_of(self, tensor: Any) -> Memory:
        if is_symbolic(tensor):
            found: Memory = tensor.memory
            return found
        return self._memories.setdefault(tensor.untyped_storage()._cdata, (tensor, Memory()))[1]

    def _by_rule(self, func: Any, rule: Callable[[Any], Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        given = given_of(func, args, kwargs)
        if any(a.is_out for a in func._schema.arguments if given.get(a.name) is not None):
            self.give_up(f"{type_of(func)} writes to out=")
        sample, problem = self._sample(func, given)
        call = EagerCall(self, self.place, func, given, sample)
        outputs = self._answer(call, rule)
        if call.parts is not None and self.numbers.number(call.parts) != len(outputs):
            self.give_up(f"{type_of(func)} returns another number of tensors")
        if problem or self._differs(outputs, sample):
            sample, problem = self._sample(func, given)  # the sizes at hand now meet the rule's requirements
            if problem or self._differs(outputs, sample):
                self.give_up(problem or f"torch gives {type_of(func)} another shape")
        samples = list(sample) if isinstance(sample, (list, tuple)) else [sample]
        return self._returned(func, given, outputs, samples)

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
            found = rule(call)
            listed = [found] if isinstance(found, Value) else list(found)
            outputs = with_contents(call, listed)
        except (Refused, RefusedError):
            raise
        except UnknownShapeError as error:
            self.give_up(str(error) or f"the shape of {call.node.op_type} is not known")
        except (ArithmeticError, LookupError, TypeError, ValueError, DimensionError) as error:
            self.give_up(f"{call.node.op_type} could not be analysed: {error}")
        for value in outputs:
            known = decider_of_content(value.content, value.shape, self.asker)
            value.decided_by = decider_of_output(call.node, call.inputs, value) if known is None else known
        return outputs

    def _returned(self, func: Any, given: Mapping[str, Any], outputs: Sequence[Value], samples: Sequence[Any]) -> Any:
        """Return values as torch returns them; an argument that is written to is returned itself."""
        schema = func._schema
        found = []
        for n, value in enumerate(outputs):
            alias = schema.returns[min(n, len(schema.returns) - 1)].alias_info if schema.returns else None
            found.append(self._result(given, schema, alias, value, samples[n] if n < len(samples) else None))
        if not schema.returns:
            self._write_all(given, schema)
            return None
        is_list = len(schema.returns) == 1 and "[]" in str(schema.returns[0].type)
        if "List" in str(schema.returns[0].type) or is_list:
            return found
        return found[0] if len(schema.returns) == 1 else tuple(found)

    def _result(self, given: Mapping[str, Any], schema: Any, alias: Any, value: Value, sample: Any) -> Any:
        torch = load()
        source = None
        if alias is not None:
            names = [
                a.name
                for a in schema.arguments
                if a.alias_info is not None and a.alias_info.before_set == alias.before_set
            ]
            source = given.get(names[0]) if names else None
        if alias is not None and alias.is_write and source is not None:
            self._memory_of(source).is_written = True
            if is_symbolic(source):
                source.value = value.with_content(None)
            return source
        if value.shape is None:
            if sample is not None and not isinstance(sample, torch.Tensor):
                return sample
            self.give_up(f"the shape of {schema.name} is not known")
        memory = self._memory_of(source) if isinstance(source, torch.Tensor) else None
        dtype = getattr(sample, "dtype", None) or self._type_like(given, schema.name)
        return self.tensor(value, dtype, memory)

    def _type_like(self, given: Mapping[str, Any], name: str) -> Any:
        torch = load()
        if name in ("aten::nonzero", "aten::argwhere"):
            return torch.int64
        return next(v.dtype for v in given.values() if isinstance(v, torch.Tensor))

    def _write_all(self, given: Mapping[str, Any], schema: Any) -> None:
        for argument in schema.arguments:
            if (
                argument.alias_info is not None
                and argument.alias_info.is_write
                and given.get(argument.name) is not None
            ):
                self._memory_of(given[argument.name]).is_written = True

    # Torch's own shape functions.

    def _sample(self, func: Any, given: Mapping[str, Any]) -> tuple[Any, str]:
        """Return the result of torch's shape function at the sizes at hand, and why there is none."""
        torch = load()
        too_large = [v for v in _leaves(given) if is_symbolic(v) and self._shown(multiply(*dims_of(v))) > _MOST_SHOWN]
        if too_large:
            self.give_up("the sizes at hand are too large for torch")

        def plain(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                sizes = [self._shown(d) for d in dims_of(value)]
                return torch.empty(sizes, dtype=value.dtype, device="meta")
            if isinstance(value, torch.SymInt):
                return self._shown(value.node.dim)
            if isinstance(value, torch.SymBool):
                return True
            return 1.0 if isinstance(value, torch.SymFloat) else value

        made = load("torch.utils._pytree").tree_map(plain, dict(given))
        if any(a.name == "device" for a in func._schema.arguments):
            made["device"] = "meta"
        try:
            found = func(**_by_position(func, made))
        except Exception as error:
            is_of_sizes = type(error).__name__ not in _UNTOLD
            said = f"torch refuses {type_of(func)}: {' '.join(str(error).split())[:120]}"
            return None, said if is_of_sizes else ""
        return found, ""

    def _shown(self, dim: Dim) -> int:
        return dim if isinstance(dim, int) else self.numbers.shown(dim)

    # Operators without a rule.

    def decomposed(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mode: Any) -> Any:
        """Return the result of an operator by torch's decomposition of it."""
        decompose = self._decomposition(func)
        if decompose is None:
            self.give_up(f"{type_of(func)} is not supported")
        with mode:
            found = decompose(*args, **kwargs)
        if found is NotImplemented:
            self.give_up(f"{type_of(func)} is not supported")
        return found

    def _decomposition(self, func: Any) -> Callable[..., Any] | None:
        table = load("torch._decomp").decomposition_table
        if func in table:
            return table[func]  # type: ignore[no-any-return]
        if getattr(func, "namespace", "") == "prims":
            return getattr(func, "impl_aten", None) or getattr(func, "prim_impl", None)
        return func.decompose if func._can_decompose() else None


def _by_position(func: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by name; ``self`` cannot be given as a keyword of Python, but torch takes it."""
    names = {a.name for a in func._schema.arguments}
    return {name: value for name, value in given.items() if name in names}


def _of_data(tensor: Any) -> Value:
    from symbcast.graphs.values.deciders import Decider

    found = Value(tuple(tensor.shape), value_of(tensor).dtype)
    found.decided_by = Decider.DATA
    return found


def _leaves(given: Any) -> list[Any]:
    return load("torch.utils._pytree").tree_leaves(given)  # type: ignore[no-any-return]


def _is_open(value: Any) -> bool:
    torch = load()
    return is_symbolic(value) or isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool)
