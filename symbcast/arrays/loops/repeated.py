"""Items of a list that a loop appends in every iteration, and sequences with one item for each index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from symbcast.arrays.array_facts import dtype_of, here, is_symbolic
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import add, ceil_divide, multiply, replace_symbols, subtract
from symbcast.core.algebra.formulas import Comparison, Formula, at_most
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.paths.path import current
from symbcast.paths.sizes import Size, dim_of, sized


class Repeated:
    """An entry of a list that represents ``count`` items: one for each index.

    Only rewritten code and supported functions expand it. Any other use gives up the loop that made it.

    Attributes:
        value: the item at a symbolic index.
        count: the number of items.
        index: the symbol of the index; None if the items do not depend on it.
        key: identifies the loop.
    """

    __slots__ = ("count", "index", "key", "value")

    def __init__(self, value: Any, count: Dim, index: Symbol | None, key: Any) -> None:
        self.value, self.count, self.index, self.key = value, count, index, key

    def item(self, at: Dim) -> Any:
        """Return the item at an index."""
        return self.value if self.index is None else put_index(self.value, {self.index: at})

    def refuse(self) -> NoReturn:
        """Give up the loop: its number of iterations becomes a number."""
        here().loops.refuse(self.key)

    def array(self) -> SymbolicArray:
        """Return the array that NumPy makes of the items alone."""
        value = self.value
        if type(value) in (list, tuple):
            value = gathered(value) if is_symbolic(value) else np.asarray(value)
        is_array = type(value) is SymbolicArray or isinstance(value, (int, float, complex, np.generic, np.ndarray))
        if not is_array:
            self.refuse()
        dims = value.dims if type(value) is SymbolicArray else np.shape(value) if type(value) is not Size else ()
        # Rows of different lengths are no array.
        if not here().loops.varying.keys().isdisjoint(symbols_of(d for d in dims if not isinstance(d, int))):
            self.refuse()
        return SymbolicArray((self.count, *dims), np.result_type(dtype_of(value)))

    @property
    def dims(self) -> Any:
        return self.refuse()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse()

    def _refused(self, *_: Any, **__: Any) -> Any:
        return self.refuse()

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return SymbolicArray.functions(function, args, options)

    __array_ufunc__ = __array__ = __iter__ = __len__ = __bool__ = __getitem__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __eq__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __float__ = __int__ = __index__ = __str__ = __repr__ = _refused
    __call__ = __neg__ = __pow__ = __rpow__ = __floordiv__ = __mod__ = __matmul__ = __rmatmul__ = _refused
    __hash__ = None  # type: ignore[assignment]


class Sequence:
    """A sequence with one item for each index below a size: ``range(n)``, ``zip(x, y)``, the rows of an array.

    Attributes:
        count: the number of items.
        take: returns the item at an index.
        facts: returns what else is known about an index.
    """

    __slots__ = ("count", "facts", "take")

    def __init__(
        self, count: Dim, take: Callable[[Any], Any], facts: Callable[[Dim], Iterable[Formula]] = lambda _: ()
    ) -> None:
        self.count, self.take, self.facts = count, take, facts

    def __iter__(self) -> Iterator[Any]:
        path, number = here(), 0
        while path.ask(Comparison("<", number, self.count), is_number=True):
            yield self.take(number)
            number += 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return here().fail_to_trace("a slice of a range of sizes is not supported")
        path, at = here(), dim_of(index)
        if path.ask(Comparison("<", at, 0)):
            at = add(at, self.count)
        if path.ask(Comparison("<", at, 0)) or not path.ask(Comparison("<", at, self.count)):
            raise IndexError("range object index out of range")
        return self.take(sized(at, path))

    def __bool__(self) -> bool:
        return here().ask(Comparison("<", 0, self.count))


def has_repeated(value: Any) -> bool:
    """Return whether a value is a list or tuple with repeated items, at any depth."""
    return type(value) in (list, tuple) and any(type(v) is Repeated or has_repeated(v) for v in value)


def count_of(items: Any) -> Dim:
    """Return the number of items of a list with repeated items."""
    return add(*(v.count if type(v) is Repeated else 1 for v in items)) if items else 0


def gathered(items: Any) -> Any:
    """Return the array that NumPy makes of a list with repeated items."""
    parts: list[Any] = []
    for item in items:
        if type(item) is Repeated:
            parts.append(item.array())
        else:
            array = gathered(item) if type(item) in (list, tuple) and is_symbolic(item) else item
            parts.append(array[None] if hasattr(type(array), "dims") else np.asarray(array)[None])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def joined(items: Any, axis: int) -> list[Any]:
    """Return arrays whose concatenation equals that of a list with repeated items."""
    arrays: list[Any] = []
    for item in items:
        if type(item) is not Repeated:
            arrays.append(item)
            continue
        value = gathered(item.value) if has_repeated(item.value) else item.value
        if type(value) is not SymbolicArray or not value.dims:
            item.refuse()
        place = axis % len(value.dims)
        total = _total(value.dims[place], item)
        others = [d for n, d in enumerate(value.dims) if n != place and not isinstance(d, int)]
        if total is None or not here().loops.varying.keys().isdisjoint(symbols_of(others)):
            item.refuse()
        arrays.append(SymbolicArray((*value.dims[:place], total, *value.dims[place + 1 :]), value.dtype))
    return arrays


def _total(size: Dim, item: Repeated) -> Dim | None:
    """Return the sum of sizes over all indices, if they are equal, or the lengths of consecutive batches."""
    symbols = () if isinstance(size, int) else symbols_of((size,))
    varying = [s for s in symbols if s in here().loops.varying]
    if not varying:
        return multiply(item.count, size)
    return _of_batches(size, item) if varying == [item.index] else None


def _of_batches(size: Dim, item: Repeated) -> Dim | None:
    """Return n if the sizes are ``min(step, n - step*i)`` for all i below ``ceil(n/step)``; None for other sizes."""
    bounds = here().bounds
    for whole, step in here().loops.batches:
        if item.count != bounds.larger(ceil_divide(whole, step), 0) or item.index is None:
            continue
        # The lengths of consecutive batches of n: each is step, except the last one; their sum is n.
        begin = multiply(step, item.index)
        forms = [subtract(bounds.smaller(whole, add(begin, step)), begin)]
        forms.append(bounds.smaller(subtract(whole, begin), step))
        if size in forms or size in [bounds.larger(f, 0) for f in forms]:
            return whole
    return None


def put_index(value: Any, values: Mapping[Any, Dim]) -> Any:
    """Return a value with symbols replaced in the shapes of its arrays and in its sizes."""
    kind = type(value)
    if kind is SymbolicArray:
        dims = tuple(replace_symbols(d, values) for d in value.dims)
        return value if dims == value.dims else SymbolicArray(dims, value.dtype, memory=value.memory)
    if kind is Size:
        return sized(replace_symbols(value.dim, values), value.path)
    if kind is Repeated:
        index = value.index if value.index not in values else None
        return Repeated(put_index(value.value, values), replace_symbols(value.count, values), index, value.key)
    if kind in (list, tuple):
        return kind(put_index(v, values) for v in value)
    return value


def expanded(function: Any, args: Any, options: Any) -> Any:
    """Return the arguments of a NumPy function with arrays instead of lists with repeated items."""
    # Functions that join lists get arrays whose concatenation is the result.
    if not args or not any(map(has_repeated, args)):
        return function, args, options
    name, first = getattr(function, "__name__", ""), args[0]
    if not has_repeated(first) or name not in _JOINS:
        return function, tuple(gathered(a) if has_repeated(a) else a for a in args), options
    if name in ("concatenate", "stack"):
        axis = args[1] if len(args) > 1 else options.get("axis", 0)
        if type(axis) is not int or (name == "stack" and options.keys() - {"axis"}):
            refuse_repeated(first)
        if name == "stack":
            return np.moveaxis, (gathered(first), 0, axis), {}
        return function, (joined(first, axis), *args[1:]), options
    if options:
        refuse_repeated(first)
    ranks = {_rank(v.value if type(v) is Repeated else v) for v in first}
    if len(ranks) != 1 or not ranks <= {1, 2}:
        refuse_repeated(first)
    is_flat = ranks == {1}
    if name == "hstack":
        return np.concatenate, (joined(first, 0 if is_flat else 1), 0 if is_flat else 1), {}
    if name == "vstack":
        return np.concatenate, ([gathered(first)] if is_flat else joined(first, 0), 0), {}
    if is_flat:
        return np.transpose, (gathered(first),), {}
    return np.concatenate, (joined(first, 1), 1), {}


_JOINS = ("concatenate", "stack", "hstack", "vstack", "column_stack")


def _rank(value: Any) -> int:
    return len(gathered(value).dims) if has_repeated(value) else len(getattr(value, "dims", np.shape(value)))


def refuse_repeated(items: Any) -> NoReturn:
    """Give up the loop that made the first repeated item of a list, which has one."""
    next(v for v in items if type(v) is Repeated).refuse()


def repeat(items: list[Any], times: Any, key: Any) -> list[Any]:
    """Return ``items * times``; the number of times becomes a number if the items differ."""
    path = current.get()
    if path is None or type(times) is not Size or len(items) != 1 or path.loops.tries.get(key):
        return items * times  # type: ignore[no-any-return]
    if path.ask(at_most(times.dim, 0)):
        return []
    # An entry for several items cannot itself be repeated: its index would start again.
    if type(items[0]) is Repeated:
        return items * path.number(times.dim)
    return [Repeated(items[0], times.dim, None, key)]
