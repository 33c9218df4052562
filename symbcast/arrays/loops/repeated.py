"""Items of a list that a loop appends in every iteration, and sequences with one item for each index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, NoReturn

import numpy as np

from symbcast.arrays.array_facts import dtype_of, here, is_symbolic
from symbcast.arrays.symbolic_array import Dispatched, SymbolicArray
from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, multiply, replace_symbols, subtract
from symbcast.core.algebra.formulas import Comparison, Formula, at_most, negate
from symbcast.core.algebra.terms import Dim, Operation, Symbol, symbols_of
from symbcast.core.solver.evaluation import symbols_in
from symbcast.paths.path import current
from symbcast.paths.sizes import Size, dim_of, sized


class Repeated(Dispatched):
    """An entry of a list that represents ``count`` items: one for each index.

    Only rewritten code and supported functions expand it. Any other use gives up the loop that made it.

    Attributes:
        value: the item at a symbolic index.
        count: the number of items.
        index: the symbol of the index; None if the items do not depend on it.
        key: identifies the loop.
        tests: what must hold of indices of loops that still run, so that they make these items.
        is_chosen: whether data decide how many items there are, from 0 to ``count``.
    """

    __slots__ = ("count", "index", "is_chosen", "key", "tests", "value")

    def __init__(  # noqa: PLR0913, PLR0917 - what is known of the items
        self,
        value: Any,
        count: Dim,
        index: Symbol | None,
        key: Any,
        tests: tuple[Formula, ...] = (),
        is_chosen: bool = False,
    ) -> None:
        self.value, self.count, self.index, self.key = value, count, index, key
        self.tests, self.is_chosen = tests, is_chosen

    def item(self, at: Dim) -> Any:
        """Return the item at an index: an array of which the same is known, but with elements of its own."""
        value = self.value if self.index is None else put_index(self.value, {self.index: at})
        if type(value) is not SymbolicArray or not value.contents.is_data:
            return value
        return SymbolicArray(value.dims, value.dtype, contents=value.contents.some, memory=value.memory)

    def with_value(self, value: Any) -> Repeated:
        """Return as many items of another value."""
        return Repeated(value, self.count, self.index, self.key, self.tests, self.is_chosen)

    @property
    def is_plain(self) -> bool:
        """Whether all items are alike, and there are ``count`` of them."""
        return self.index is None and self.is_settled

    @property
    def is_settled(self) -> bool:
        """Whether there are ``count`` items, which is not 0."""
        return not (self.tests or self.is_chosen)

    def over(self, index: Symbol, count: Dim, key: Any) -> Repeated:
        """Return the items of all iterations of a loop, from those of one; give the loop up if that fails."""
        own = [t for t in self.tests if index in symbols_in(t)]
        total = count_over(self.count, own, index, count)
        if total is None:
            here().loops.refuse(key)
        left = tuple(t for t in self.tests if t not in own)
        return Repeated(some_item(self.value, index, count, key), total, None, key, left, self.is_chosen)

    def settled(self) -> list[Any]:
        """Return the items as those of a list that nothing is added to any more."""
        path, size = here(), self.number()
        # A list without items is no list of items of some shape.
        return [] if path.ask(at_most(size, 0)) else [Repeated(self.value, size, None, self.key)]

    def number(self) -> Dim:
        """Return how many items there are, which may be none."""
        if self.tests:
            self.refuse()
        if not self.is_chosen:
            return self.count
        size = here().data_size("chosen")
        here().suppose(at_most(size, self.count))
        return size

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

    __array_ufunc__ = __array__ = __iter__ = __len__ = __bool__ = __getitem__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __eq__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __float__ = __int__ = __index__ = __str__ = __repr__ = _refused
    __call__ = __neg__ = __pow__ = __rpow__ = __floordiv__ = __mod__ = __matmul__ = __rmatmul__ = _refused
    __hash__ = None  # type: ignore[assignment]


def count_over(size: Dim, tests: Iterable[Formula], index: Symbol, count: Dim) -> Dim | None:
    """Return the sum of a size over those indices below a count at which tests hold; None if it has no known form."""
    kept = _kept_of(list(tests), index, count)
    if isinstance(size, int) or index not in symbols_of((size,)):
        return None if kept is None else multiply(size, kept)
    step = subtract(replace_symbols(size, {index: add(index, 1)}), size)
    if kept != count or (not isinstance(step, int) and index in symbols_of((step,))):
        return None
    # The sum of a + b*i over i below n is a*n + b*n*(n - 1)/2; one that falls is added up from its end.
    falls = isinstance(step, int) and step < 0
    first = replace_symbols(size, {index: subtract(count, 1) if falls else 0})
    pairs = floor_divide(multiply(count, subtract(count, 1)), 2)
    return add(multiply(count, first), multiply(multiply(-1, step) if falls else step, pairs))


def _kept_of(tests: list[Formula], index: Symbol, count: Dim) -> Dim | None:
    """Return at how many indices tests hold: they leave an interval, one without some index, or one remainder."""
    path, high = here(), subtract(count, 1)
    low: Dim = 0
    for test in tests:
        if not isinstance(test, Comparison):
            return None
        difference = subtract(test.left, test.right)
        step = subtract(replace_symbols(difference, {index: add(index, 1)}), difference)
        at = multiply(-1, multiply(step, subtract(difference, multiply(step, index))))
        if step not in (1, -1) or (not isinstance(at, int) and index in symbols_of((at,))):
            return _of_remainder(test, index, count) if len(tests) == 1 else None
        strict = 1 if test.operator == "<" else 0
        if test.operator == "!=":
            inside = [at_most(0, at), Comparison("<", at, count)]
            is_inside = all(map(path.implies, inside))
            if len(tests) > 1 or not (is_inside or any(path.implies(negate(f)) for f in inside)):
                return None
            return subtract(count, 1) if is_inside else count
        if test.operator == "==" or step == 1:
            high = path.bounds.smaller(high, subtract(at, strict))
        if test.operator == "==" or step == -1:
            low = path.bounds.larger(low, add(at, strict))
    return not_negative(subtract(add(high, 1), low)) if tests else count


def not_negative(dim: Dim) -> Dim:
    """Return a dimension, or 0 where it is negative."""
    path = here()
    if path.loops.varying and path.implies(at_most(0, dim)):  # bounds do not know how far an index of a loop goes
        return dim
    return path.bounds.larger(dim, 0)


def _of_remainder(test: Comparison, index: Symbol, count: Dim) -> Dim | None:
    """Return at how many indices below a count a remainder by a number is, or is not, a number."""
    whole, of = test.left, test.right
    if not isinstance(whole, Operation) or whole.kind != "%" or not isinstance(of, int):
        return None
    shift, by = subtract(whole.args[0].dim(), index), whole.args[1].dim()
    if not isinstance(shift, int) or not isinstance(by, int) or test.operator not in ("==", "!="):
        return None
    # i + shift is r modulo k at i = (r - shift) % k, and at every k-th index from there on.
    first = (of - shift) % by
    equal_ = floor_divide(add(count, by - 1 - first), by) if 0 <= of < by else 0
    return equal_ if test.operator == "==" else subtract(count, equal_)


def some_item(value: Any, index: Symbol, count: Dim, key: Any) -> Any:
    """Return an item of some iteration: an index alone is an integer that data decide."""
    if type(value) is Size and value.dim is index:
        return SymbolicArray((), np.intp, None, (0, subtract(count, 1)))
    if type(value) is tuple:
        return tuple(some_item(v, index, count, key) for v in value)
    return value if _is_same(value, index) else here().loops.refuse(key)


def _is_same(value: Any, index: Symbol) -> bool:
    """Return whether a value mentions no index."""
    dims = value.dims if type(value) is SymbolicArray else (value.dim,) if type(value) is Size else ()
    return type(value) not in (list, dict) and index not in symbols_of(d for d in dims if not isinstance(d, int))


class LongList:
    """A list in a result, with as many items as a size says.

    Attributes:
        count: the number of items.
        value: an item, if all are alike; otherwise None.
    """

    def __init__(self, count: Dim, value: Any = None) -> None:
        self.count, self.value = count, value


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


def copied(items: list[Any]) -> list[Any]:
    """Return a copy of a list and of the lists in it, also of those that are repeated."""
    return [v.with_value(copied(v.value)) if _is_list(v) else copied(v) if type(v) is list else v for v in items]


def _is_list(value: Any) -> bool:
    return type(value) is Repeated and type(value.value) is list


def put_back(items: list[Any], before: list[Any]) -> None:
    """Give a list, and the lists in it, the items of a copy."""
    kept = []
    for now, old in zip_longest(items[: len(before)], before):
        inner, copy = (now.value, old.value) if _is_list(now) and _is_list(old) else (now, old)
        if type(inner) is list and type(copy) is list:
            put_back(inner, copy)
            kept.append(now)
        else:
            kept.append(old)
    items[:] = kept


def merged(one: list[Any], other: list[Any], join: Callable[[Any, Any], Any]) -> list[Any] | None:
    """Return a list of items that join those of two lists of the same counts.

    None if there is none, because ``join`` returns NotImplemented for some items.
    """
    items: list[Any] = []
    for a, b in zip(one, other, strict=True) if len(one) == len(other) else ():
        pair = (a, b)
        if type(a) is Repeated and type(b) is Repeated:
            if a.count != b.count or not (a.is_plain and b.is_plain):
                return None
            pair = a.value, b.value
        is_lists = type(pair[0]) is list and type(pair[1]) is list
        value = merged(*pair, join) if is_lists else join(*pair)
        if value is NotImplemented or (is_lists and value is None):
            return None
        items.append(a.with_value(value) if type(a) is Repeated else value)
    return items if len(items) == len(one) == len(other) else None


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
