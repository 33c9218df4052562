"""What rewritten code calls: loops, comprehensions, builtins that make or consume sequences, and items of lists."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from inspect import GEN_CREATED, getgeneratorstate
from itertools import chain
from types import FrameType, GeneratorType
from typing import Any

import numpy as np

from symbcast.arrays import symbolic_array
from symbcast.arrays.array_facts import here, is_symbolic, whole
from symbcast.arrays.indexing import sliced
from symbcast.arrays.loops.joins import Storage, is_number, joined_value
from symbcast.arrays.loops.loop import SymbolicLoop
from symbcast.arrays.loops.repeated import (
    Repeated,
    Sequence,
    count_of,
    gathered,
    has_repeated,
    not_negative,
    put_index,
    refuse_repeated,
    some_item,
)
from symbcast.arrays.loops.state import ABSENT, increment_of, is_alike, opaque
from symbcast.arrays.standins import StandIn, StandInClass, real_of
from symbcast.arrays.symbolic_array import NestedList, SymbolicArray
from symbcast.core.algebra.arithmetic import add, ceil_divide, multiply, replace_symbols, subtract
from symbcast.core.algebra.formulas import Comparison, Formula, at_most, equal
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.structs import NamedTuple
from symbcast.paths.path import Path, current
from symbcast.paths.real_numbers import Real
from symbcast.paths.sizes import Size, dim_of, is_whole, sized
from symbcast.paths.steps import is_subscript


def item(values: Any, index: Any) -> Any:
    """Return ``values[index]``."""
    if isinstance(values, dict):
        return _of_key(values, "__getitem__", key(values, index))
    if type(index) is Size:  # a number of an iteration is an element of data
        index = opaque(index)
    if type(values) not in (list, tuple):
        return (symbolic_array.as_array(values) if _takes_symbolic(values, index) else values)[index]
    has_repeated = any(type(v) is Repeated for v in values)
    if has_repeated and isinstance(index, slice):
        return _part(values, index)
    is_of_data = type(index) is SymbolicArray and not index.dims and index.dtype.kind in "iu"
    if not is_of_data and not (is_whole(index) if has_repeated else type(index) is Size):
        return values[index]
    if not is_whole(index):
        return _some_item(values, index)
    path, count, at = here(), count_of(values), _of_first_pass(dim_of(index))
    # A list of known length has its items one by one: the index becomes a number.
    if not has_repeated and values:
        return values[at if isinstance(at, int) else index]
    if path.ask(Comparison("<", at, 0)):
        at = add(at, count)
    for need in (at_most(0, at), at_most(add(at, 1), count)):
        path.require(need, "list index out of range", IndexError)
    return _at(values, at, count)


def _some_item(values: Any, index: Any) -> Any:
    """Return the item at an index that data decide, of which all that is known holds for each item."""
    path, place = here(), here().place()
    known = list(values)
    if not path.loops.tries.get(place) and all(type(v) is not Repeated or v.is_plain for v in known) and known:
        path.require(at_most(1, count_of(known)), "list index out of range", IndexError)
        items = [v.item(0) if type(v) is Repeated else v for v in known]
        joined = reduce(lambda a, b: joined_value(a, b, place, is_item=True), items)
        if joined is not ABSENT:
            return joined if type(joined) is not SymbolicArray else opaque(joined)
    return refuse_repeated(known) if any(type(v) is Repeated for v in known) else values[index]


def storage(values: Any, key: Any) -> Any:
    """Return what an item is stored into."""
    return Storage(values, key, item) if type(values) is list and current.get() is not None else values


def _takes_symbolic(values: Any, index: Any) -> bool:
    """Return whether a real array gets an index that only a trace has; one of integers keeps its elements if it can."""
    if type(values) is not np.ndarray or values.dtype == object:
        return False
    parts = index if type(index) is tuple else (index,)
    has_array = any(is_symbolic(p) and type(p) is not Size for p in parts)
    has_end = any(type(p) is slice and is_symbolic([p.start, p.stop, p.step]) for p in parts)
    return has_array or has_end or (values.dtype.kind not in "iu" and any(type(p) is Size for p in parts))


def method_of(value: Any, name: str, *args: Any, **options: Any) -> Any:
    """Return the result of a method of an array, which may be a real one that gets something that only a trace has.

    The first argument of a method of a dict or a set may be a key with sizes.
    """
    if isinstance(value, _KEYED) and args:
        return _of_key(value, name, key(value, args[0]), *args[1:], **options)
    if type(value) is np.ndarray and value.dtype != object and any(map(is_symbolic, (*args, *options.values()))):
        value = symbolic_array.as_array(value)
    return getattr(value, name)(*args, **options)


# Dicts and sets whose keys have sizes. A key is equal to another one where the path decides so: it is compared with all
# of them, and then it is one of them, or a new one. So what Python does with their hashes does not matter.
_KEYED = (dict, set, frozenset)


def key(values: Any, value: Any) -> Any:
    """Return the key of a dict or a set that equals a value; the value itself if there is none."""
    path = current.get()
    if path is None or not isinstance(values, _KEYED):
        return value
    has_keys = any(known is values for known, _ in path.keyed)
    if not has_keys and not has_size(value):
        return value
    if not has_keys and type(values) is not frozenset:
        path.keyed.append((values, values.copy()))
    return next((known for known in list(values) if known is value or known == value), value)


def has_size(value: Any) -> bool:
    """Return whether a key is a size, or a tuple with one."""
    return type(value) is Size or (type(value) is tuple and any(map(has_size, value)))


def _of_key(values: Any, name: str, *args: Any, **options: Any) -> Any:
    return getattr(values, name)(*args, **options)


def contains(value: Any, values: Any) -> Any:
    """Return ``value in values``."""
    if isinstance(values, _KEYED) and (has_size(value) or any(map(has_size, values))):
        known = key(values, value)
        return any(known is other for other in values)
    return value in values


def dict_of(*items: Any) -> dict[Any, Any]:
    """Return a dict of keys, each followed by its value."""
    values: dict[Any, Any] = {}
    for new, value in zip(items[::2], items[1::2], strict=True):
        _of_key(values, "__setitem__", key(values, new), value)
    return values


def is_key(frame: FrameType) -> bool:
    """Return whether a frame looks for a key that `key` returned."""
    own = (_of_key.__code__, key.__code__)  # an OrderedDict looks for each key when it is copied
    return frame.f_code in own or (is_subscript(frame) and any(c is key for c in frame.f_code.co_consts))


def restore_keyed(path: Path, result: Any) -> None:
    """Restore the dicts and sets that have got sizes as keys in a run, but for those in its result."""
    for values, before in path.keyed:
        if not _is_in(values, result):
            values.clear()
            values.update(before)


def _is_in(values: Any, result: Any) -> bool:
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else ()
    return result is values or any(_is_in(values, part) for part in parts)


class Distinct(list[Any]):
    """A set of sizes as a list without duplicates on this path, because a size has no hash."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        for value in values:
            self.add(value)

    def add(self, value: Any) -> None:
        """Add a value unless the set contains an equal one."""
        if value not in self:
            self.append(value)

    def union(self, *others: Iterable[Any]) -> Distinct:
        """Return the union of the values."""
        return Distinct([*self, *(v for other in others for v in other)])

    __or__ = union


def _distinct(array: SymbolicArray) -> Any:
    """Return the different elements of an array as a list: data decide how many there are, at least one of any."""
    path, place, size = here(), here().place(), array.dims[0]
    if path.loops.tries.get(place):
        return Distinct(list(array))
    if path.ask(equal(size, 0)):
        return Distinct()
    count = path.data_size("distinct")
    path.suppose(at_most(1, count))
    path.suppose(at_most(count, size))
    return [Repeated(SymbolicArray((), array.dtype), count, None, place)]


class _SetLikeClass(StandInClass):
    real = set

    def __call__(self, *args: Any) -> Any:
        if args and current.get() is not None:
            if sequence_of(args[0]) is not None and type(args[0]) is SymbolicArray and len(args[0].dims) == 1:
                return _distinct(args[0])
            values = collected(args[0])
            if has_repeated(values):
                array = gathered(values)
                return _distinct(array) if len(array.dims) == 1 else refuse_repeated(values)
            return Distinct(values) if is_symbolic(values) else set(values)
        return set(*args)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, (set, Distinct))


class SetLike(metaclass=_SetLikeClass):
    """The stand-in for ``set``: a class, so that ``isinstance`` works."""


class CachedFunction(StandIn):
    """A function with a cache of the user's: in a trace, a call with something symbolic calls the function itself.

    Attributes:
        real: the function with the cache.
    """

    def __init__(self, real: Any) -> None:
        object.__setattr__(self, "real", real)

    def __call__(self, *args: Any, **options: Any) -> Any:
        is_ours = current.get() is not None and any(map(is_symbolic, (*args, *options.values())))
        return (self.real.__wrapped__ if is_ours else self.real)(*args, **options)


def _of_first_pass(at: Dim) -> Dim:
    """Return a place for the first iteration: during the first pass, lists are as they are then.

    What the other iterations do at their places is for the second pass to see, so there must be one.
    """
    firsts = {known.index: known for known in here().loops.running if not known.is_checking()}
    for size in symbols_of((at,)):
        if size in firsts:
            firsts[size].needs_check = True
    return replace_symbols(at, dict.fromkeys(firsts, 0)) if firsts else at


def _at(values: Any, at: Dim, count: Dim) -> Any:
    """Return the item at a place within a list: found from the front, from the end, or any if all are alike."""
    for sequence, far in ((values, at), (values[::-1], subtract(subtract(count, 1), at))):
        place = far
        for value in sequence:
            size = value.count if type(value) is Repeated else 1
            if place == 0 or (type(value) is Repeated and here().implies(Comparison("<", place, size))):
                return value.item(_place(value, at, values)) if type(value) is Repeated else value
            place = subtract(place, size)
            if not isinstance(place, int):
                break
    first, *rest = (v.value if type(v) is Repeated else v for v in values)
    is_same = all(is_alike(first, v) for v in rest) and all(v.index is None for v in values if type(v) is Repeated)
    return first if is_same else refuse_repeated(values)


def _place(value: Repeated, at: Dim, values: Any) -> Dim:
    """Return the number of an item among those of its entry."""
    before = values[: next(n for n, v in enumerate(values) if v is value)]
    return subtract(at, count_of(before))


def _part(values: Any, part: slice) -> Any:
    """Return a list without some items at its ends, if all its items are alike."""
    (only,) = values if len(values) == 1 else (None,)
    is_plain = part.step is None and all(v is None or is_whole(v) for v in (part.start, part.stop))
    if type(only) is not Repeated or only.index is not None or not is_plain:
        refuse_repeated(values)
    count = sliced(here(), only.count, part)
    is_empty = here().ask(at_most(count, 0))
    return type(values)([] if is_empty else [Repeated(only.value, count, None, only.key)])


# What rewritten code calls in place of loops, comprehensions and the builtins that consume or make sequences.


# The functions that rewritten code calls, by the builtin's name. Each gets the function that the name refers to.
REPLACED: dict[str, Callable[..., Any]] = {}


class _Items:
    """The items of a generator that was consumed without finding repeated items."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = items


def _replaces(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    real = getattr(builtins, name)

    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        def called(function: Any, *args: Any, **options: Any) -> Any:
            if real_of(function) is not real or current.get() is None:
                return function(*args, **options)
            result = ours(*args, **options)
            if type(result) is _Items:
                return function(result.items, **options)
            if result is NotImplemented:  # no expression: what follows must be a return, for a text in an error
                return function(*args, **options)
            return result

        REPLACED[name] = called
        return ours

    return register


def sequence_of(values: Any) -> Sequence | None:
    """Return an iterable as a sequence whose length is a size; None for any other iterable."""
    kind = type(values)
    if kind is Sequence:
        return values if isinstance(values, Sequence) else None
    if kind is SymbolicArray and values.dims and not isinstance(values.dims[0], int):
        return Sequence(values.dims[0], lambda index: _row(values, index))
    if kind is NestedList and not isinstance(values.base.dims[0], int):
        return Sequence(values.base.dims[0], lambda index: values[index])
    if kind in (list, tuple) and len(values) == 1 and type(values[0]) is Repeated:
        repeated: Repeated = values[0]
        return Sequence(repeated.count, lambda index: repeated.item(dim_of(index)))
    return None


def _row(array: SymbolicArray, index: Any) -> Any:
    if type(index) is not Size:
        return array[index]
    return SymbolicArray(array.dims[1:], array.dtype, contents=array.contents.some, memory=array.memory)


NO_NAMES: tuple[tuple[str, ...], ...] = ((), (), (), ())
# A generator expression: what takes its items may stop.
MAY_STOP: tuple[tuple[str, ...], ...] = ((), (), (), ("stop",))


def loop(values: Any, key: Any, names: tuple[tuple[str, ...], ...] = NO_NAMES) -> Iterator[Any]:
    """Return the iterator of a ``for`` loop, of which some variables are known: see `SymbolicLoop`."""
    path = current.get()
    if path is None:
        return iter(values)
    if type(values) is GeneratorType:
        return _of_generator(values, key, names)
    sequence = _numbered(values) if type(values) is range else sequence_of(values)
    tried = path.loops.tries.get(key, 0)
    if sequence is not None and tried < 2:
        return SymbolicLoop(sequence, key, tuple(map(frozenset, names)), tried == 1)
    if has_repeated(values):
        return _each(values)
    return iter(values)


# Longer ranges of numbers run their bodies for a symbolic index too.
MAX_UNROLLED = 8


def _numbered(values: range) -> Sequence | None:
    if len(values) <= MAX_UNROLLED:
        return None
    path = here()
    return Sequence(len(values), lambda index: sized(add(values.start, multiply(values.step, dim_of(index))), path))


def _each(values: Any) -> Iterator[Any]:
    for value in values:
        if type(value) is Repeated:
            value.refuse()
        yield value


def _of_generator(values: Any, key: Any, names: tuple[tuple[str, ...], ...]) -> Iterator[Any]:
    """Return the iterator over a generator: the items that it makes in loops over sizes are one repeated item."""
    before = len(here().loops.running)
    first = next(values, _END)
    if first is _END:
        return iter(())
    if not any(known.frame is values.gi_frame for known in here().loops.running[before:]):
        return chain([first], values)
    return loop(collected(values, first), key, names)


_END = object()


def collected(values: Any, first: Any = _END, *, is_settled: bool = True) -> list[Any]:
    """Return the items of an iterable as a list; what it makes for a symbolic index is one repeated item.

    If ``is_settled``, it is decided whether there are items that conditions of a comprehension may leave out.
    """
    path = current.get()
    if path is None or type(values) is not GeneratorType:
        sequence = None if path is None else sequence_of(values)
        if path is None or sequence is None or type(values) in (list, tuple):
            return list(values)
        return collected(_items(sequence))
    items: list[Any] = []
    frame = values.gi_frame
    path.loops.exhausted.append(frame)
    while True:
        value = next(values, _END) if first is _END else first
        first = _END
        if value is _END:  # no loop is running any more, whose iterations differ in the number
            return [v for item in items for v in (_repeated(item, is_settled) if type(item) is _Kept else (item,))]
        running = [known for known in path.loops.running if known.frame is frame]
        if not running:
            items.append(value)
            continue
        filters = [known for known in path.loops.filters if known.frame is frame]
        if any(known.is_forked for known in running):
            path.loops.refuse(running[-1].key)
        if any(known.has_decided() for known in running):
            value = running[-1].item_of_all(value)
        for known in filters:
            known.is_counted = True
        if not any(known.passes > 1 for known in running):
            items.append(_Kept(value, running, [known.facts for known in filters]))
        elif not items or type(items[-1]) is not _Kept or not is_alike(items[-1].value, value):
            path.loops.refuse(running[-1].key)


class _Kept(NamedTuple):
    """An item that a generator makes in loops, outermost first, and what holds where its filters keep it."""

    value: Any
    loops: list[SymbolicLoop]
    facts: list[list[Formula]]


def _repeated(kept: _Kept, is_settled: bool) -> list[Any]:
    value, (first, *inner), facts = kept
    if not inner and not facts:
        is_same = is_alike(value, put_index(value, {first.index: 0}))
        return [Repeated(value, first.count, None if is_same else first.index, first.key)]
    tests = tuple(f for part in facts for f in part)
    item = Repeated(value, 1, None, first.key, tests, not all(facts))
    for known in reversed(kept.loops):
        item = item.over(known.index, known.count, known.key)
    return item.settled() if is_settled else [item]


def _items(sequence: Sequence) -> Iterator[Any]:
    yield from loop(sequence, here().place())


def cast(function: Any, value: Any) -> Any:
    """Return ``function(value)``, which is an array for a type of elements and an array."""
    is_type = isinstance(function, type) and issubclass(function, np.generic)
    return value.astype(function) if is_type and type(value) is SymbolicArray else function(value)


@_replaces("next")
def next_of(*values: Any) -> Any:
    """Give up the loop over a size in which an iterator advances: each iteration leaves it in another state."""
    running = here().loops.running
    is_new = type(values[0]) is GeneratorType and getgeneratorstate(values[0]) == GEN_CREATED
    for known in running:
        known.needs_check = True
    if running and not is_new:
        here().loops.refuse(running[-1].key)
    return NotImplemented


@_replaces("type")
def type_of(*values: Any) -> Any:
    return type(real_of(values[0])) if len(values) == 1 else NotImplemented


def is_same(left: Any, right: Any) -> bool:
    """Return whether two values are the same object, where a stand-in counts as what it stands for."""
    return real_of(left) is real_of(right)


def pickled(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function that pickles its arguments with what stand-ins in them stand for."""
    return function(*map(_real_within, args), **options)


def _real_within(value: Any) -> Any:
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return kind(map(_real_within, value))
    return {_real_within(k): _real_within(v) for k, v in value.items()} if kind is dict else real_of(value)


def _is_symbolic(*values: Any) -> bool:
    return any(sequence_of(v) is not None for v in values)


@_replaces("range")
def range_of(*args: Any) -> Any:
    args = tuple(map(whole, args))
    if not any(type(a) is Size for a in args) or not all(map(is_whole, args)):
        return NotImplemented
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    path = here()
    low, high, by = dim_of(start), dim_of(stop), dim_of(step)
    if path.ask(at_most(by, 0)):
        if path.ask(equal(by, 0)):
            raise ValueError("range() arg 3 must not be zero")
        if not isinstance(by, int):
            return NotImplemented
        length = ceil_divide(subtract(low, high), -by)
    else:
        length = ceil_divide(subtract(high, low), by)
    count = not_negative(length)
    if by != 1 and low == 0:
        # The items of such a loop may be batches: their lengths add up to the end.
        path.loops.batches.append((high, by))

    def value(index: Dim) -> Dim:
        return add(low, multiply(by, index))

    def facts(index: Dim) -> Iterator[Formula]:
        if not isinstance(by, int):  # bounds of products do not follow from those of the index
            yield at_most(low, value(index))
            yield at_most(value(index), subtract(high, 1))

    return Sequence(count, lambda index: sized(value(dim_of(index)), path), facts)


@_replaces("zip")
def zip_of(*values: Any, strict: bool = False) -> Any:
    if strict or not _is_symbolic(*values):
        return NotImplemented
    sequences = [sequence_of(v) for v in values]
    if any(s is None for s in sequences):
        return NotImplemented
    path = here()
    known = [s for s in sequences if s is not None]
    count = known[0].count
    for other in known[1:]:
        if other.count != count:
            count = count if path.ask(at_most(count, other.count)) else other.count
    facts = [s.facts for s in known]
    return Sequence(
        count, lambda index: tuple(s.take(index) for s in known), lambda index: chain(*(f(index) for f in facts))
    )


@_replaces("enumerate")
def enumerate_of(values: Any, start: Any = 0) -> Any:
    sequence = sequence_of(values)
    if sequence is None:
        return NotImplemented
    return Sequence(sequence.count, lambda index: (index + start, sequence.take(index)), sequence.facts)


@_replaces("reversed")
def reversed_of(values: Any) -> Any:
    sequence = sequence_of(values)
    if sequence is None:
        return NotImplemented
    last = sized(subtract(sequence.count, 1), here())
    return Sequence(sequence.count, lambda index: sequence.take(last - index))


@_replaces("map")
def map_of(function: Any, *values: Any) -> Any:
    if not _is_symbolic(*values):
        return NotImplemented
    together = zip_of(*values)
    if together is NotImplemented:
        return NotImplemented
    return Sequence(together.count, lambda index: function(*together.take(index)))


@_replaces("float")
def float_of(*values: Any) -> Any:
    value = values[0] if values else 0.0
    if type(value) is Size:
        return Real.of(value)
    if type(value) is SymbolicArray and not value.dims and value.dtype.kind in "biuf":
        return SymbolicArray((), float)
    return value if type(value) is Real else NotImplemented


@_replaces("int")
def int_of(*values: Any) -> Any:
    value = values[0] if len(values) == 1 else None
    if type(value) is Size:
        return value
    if type(value) is Real:
        return value.rounded("trunc")
    if type(value) is not SymbolicArray or value.dims or value.dtype.kind not in "biuf":
        return NotImplemented
    return symbolic_array.integer_of(value)


@_replaces("str")
def str_of(*values: Any) -> Any:
    is_data = len(values) == 1 and type(values[0]) is SymbolicArray
    return symbolic_array.text_of_data(symbolic_array.formatted_element(values[0])) if is_data else NotImplemented


@_replaces("set")
def set_of(*values: Any) -> Any:
    return SetLike(*values)


@_replaces("list")
def list_of(*values: Any) -> Any:
    return collected(values[0]) if values else []


@_replaces("tuple")
def tuple_of(*values: Any) -> Any:
    return tuple(collected(values[0])) if values and type(values[0]) in (GeneratorType, Sequence) else NotImplemented


@_replaces("sorted")
def sorted_of(values: Any, *, key: Any = None, reverse: Any = False) -> Any:
    path, place = here(), here().place()
    sequence = sequence_of(values)
    if path.loops.tries.get(place) or sequence is None:
        return NotImplemented

    def take(index: Any) -> tuple[Any, Any]:
        value = sequence.take(index)
        return value, value if key is None else key(value)

    items = collected(Sequence(sequence.count, take, sequence.facts))
    if not items:
        return []
    (value, compared), count = items[0].value, items[0].count
    if not all(map(is_number, compared if type(compared) is tuple else (compared,))):
        items[0].refuse()
    index = items[0].index
    some = value if index is None else some_item(value, index, count, place)
    return [Repeated(opaque(some), count, None, place)]


@_replaces("len")
def length_of(values: Any) -> Any:
    if type(values) is Sequence:
        return sized(values.count, here())
    return sized(count_of(values), here()) if has_repeated(values) else NotImplemented


@_replaces("sum")
def sum_of(values: Any, start: Any = 0) -> Any:
    if type(values) in (list, tuple) and not has_repeated(values):
        return NotImplemented
    items = _listed(values, is_settled=False)
    if items is NotImplemented:
        return NotImplemented
    total = start
    for item in items:
        total = _with_sum(total, item) if type(item) is Repeated else total + item
    return total


def _with_sum(total: Any, item: Repeated) -> Any:
    path, value = here(), item.value
    once = total + value
    if not item.is_settled and is_number(value) and not is_whole(value) and is_number(once):
        return joined_value(total, once, item.key, is_item=True)
    step = increment_of(total, once, path)
    if step is not None and type(once) in (int, Size):
        return step.at(item.number(), path)
    if not item.settled():
        return total
    if type(once) is not SymbolicArray or not is_alike(once, once + value):
        item.refuse()
    return put_index(once, {})


@_replaces("max")
@_replaces("min")
def extreme_of(*values: Any, **options: Any) -> Any:
    if len(values) != 1:
        return NotImplemented
    items = _listed(values[0])
    if items is NotImplemented:
        return NotImplemented
    if not any(type(i) is Repeated for i in items):
        return _Items(items)
    if options.keys() - {"default"} or len(items) != 1 or not is_number(items[0].value):
        refuse_repeated(items)
    value = items[0].value
    if type(value) is not SymbolicArray and not items[0].is_plain:
        items[0].refuse()
    return SymbolicArray((), value.dtype) if type(value) is SymbolicArray else value


@_replaces("any")
@_replaces("all")
def truth_of(values: Any) -> Any:
    """Return whether any, or all, items are true, as an element of data: Python may stop after the first one."""
    path, place = here(), here().place()
    if path.loops.tries.get(place):
        return NotImplemented
    first = _END
    if type(values) is GeneratorType:
        with path.loops.unreached(place, is_first=True):
            first = next(values, _END)
        if first is _END or not any(known.frame is values.gi_frame for known in path.loops.running):
            return _Items(() if first is _END else chain([first], values))
    elif sequence_of(values) is None and not has_repeated(values):
        return NotImplemented
    with path.loops.unreached(place):
        items = list(values) if has_repeated(values) else collected(values, first, is_settled=False)
    if not any(type(i) is Repeated for i in items):
        return _Items(items)
    if not all(is_number(i.value if type(i) is Repeated else i) for i in items):
        refuse_repeated(items)
    return SymbolicArray((), bool)


def _listed(values: Any, *, is_settled: bool = True) -> Any:
    """Return the items of a generator or a sequence if some are repeated."""
    if has_repeated(values):
        return list(values)
    is_sequence = type(values) in (GeneratorType, Sequence) or (type(values) is SymbolicArray and _is_symbolic(values))
    return collected(values, is_settled=is_settled) if is_sequence else NotImplemented
