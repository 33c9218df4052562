"""A ``for`` loop over a symbolic index: the variables that its body changes, and the induction over iterations."""

from __future__ import annotations

import ctypes
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np

from symbcast.arrays.array_facts import ArrayContents, ArrayMemory, IntegerSpan, dtype_of, example_of, here
from symbcast.arrays.loops.repeated import LongList, Repeated, Sequence, count_of, put_index
from symbcast.arrays.symbolic_array import NestedList, SymbolicArray, contents_of
from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.formulas import TRUE, Comparison, Formula, at_most, different, equal, opposite
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.solver.evaluation import symbols_in
from symbcast.paths.exploration import UNSEEN, is_of_user, places
from symbcast.paths.path import Path, Supposition, current
from symbcast.paths.sizes import Size, dim_of, is_whole, sized
from symbcast.paths.steps import UntracedError, would_be_caught

ABSENT = object()
# The start of the names of variables that say which arm of an ``if`` is run.
ARM = "arm of symbcast"
_PLAIN = (bool, str, bytes, type(None), type, FunctionType, ModuleType)


class LoopVariables:
    """Names and values that loop bodies change: the locals of a frame, or the attributes of an object."""

    def __init__(self, owner: FrameType | dict[str, Any]) -> None:
        self.owner = owner

    def read(self) -> dict[str, Any]:
        values = self.owner if isinstance(self.owner, dict) else self.owner.f_locals
        return {n: v for n, v in values.items() if not n.startswith(ARM)}

    def write(self, values: dict[str, Any]) -> None:
        if not values:
            return
        if isinstance(self.owner, dict):
            self.owner.update(values)
            return
        variables = self.owner.f_locals
        variables.update(values)
        if sys.version_info < (3, 13):  # there, `f_locals` is a copy
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.owner), ctypes.c_int(0))


def loop_variables_of(frame: FrameType) -> list[LoopVariables]:
    """Return the locals of a frame, and the attributes of the objects of users' classes among them."""
    spaces = [LoopVariables(frame)]
    for value in dict(frame.f_locals).values():
        attributes = getattr(value, "__dict__", None)
        if type(attributes) is dict and not isinstance(value, (type, FunctionType, ModuleType)):
            module = str(type(value).__module__).partition(".")[0]
            if module not in ("symbcast", "numpy"):
                spaces.append(LoopVariables(attributes))
    return spaces


def container_contents(value: Any) -> Any:
    """Return a container's items or the facts about an array's elements, to detect changes; None for other values."""
    if type(value) is SymbolicArray:
        known = value.contents
        return (known.truth, known.span, known.ramp, known.pattern) if known.is_data else ("sizes", known)
    if type(value) is np.ndarray and value.dtype != object:
        return value.tobytes()
    if type(value) is list:
        return list(value)
    return dict(value) if type(value) is dict else set(value) if type(value) is set else None


def is_alike(old: Any, new: Any) -> bool:
    """Return whether nothing that a trace follows can tell two values apart."""
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if type(new) is SymbolicArray:
        return bool(old.dims == new.dims and old.dtype == new.dtype)
    if type(new) is Size:
        return bool(old.dim == new.dim)
    if type(new) is Repeated:
        value = put_index(old.value, {old.index: new.index}) if old.index and new.index else old.value
        return (
            bool(old.count == new.count) and (old.index is None) == (new.index is None) and is_alike(value, new.value)
        )
    if type(new) in (list, tuple):
        return len(old) == len(new) and all(map(is_alike, old, new))
    if type(new) is set:
        return bool(old == new)
    if type(new) is dict:
        return list(old) == list(new) and all(is_alike(old[k], new[k]) for k in new)
    if isinstance(new, np.ndarray):
        return old.dtype == new.dtype and new.dtype != object and np.array_equal(old, new)
    if isinstance(new, (int, np.generic, *_PLAIN)):
        return bool(old == new)
    return bool(type(new) in (float, complex) and old == new)


def opaque(value: Any) -> Any:
    """Return a number as one that depends on data, and arrays without facts about their elements."""
    if type(value) in (float, complex) or isinstance(value, (np.floating, np.complexfloating)):
        return SymbolicArray(
            (), type(value) if isinstance(value, np.generic) else float if type(value) is float else complex
        )
    if type(value) is SymbolicArray:
        # That an integer is not negative is guessed too, so that it can be a size.
        span = (0, here().data_size("integer"), "none") if _is_natural(value) else None
        array = SymbolicArray(value.dims, value.dtype, None, span, memory=value.memory)
        array.contents.joins = value.contents.joins
        return array
    if type(value) is Size and _is_of_iteration(value):
        is_natural = here().bounds.is_at_least(value.dim, 0)
        return SymbolicArray((), np.intp, None, (0, here().data_size("integer"), "none") if is_natural else None)
    return tuple(map(opaque, value)) if type(value) is tuple else value


def _is_of_iteration(value: Size) -> bool:
    """Return whether a size is made of numbers that data decide in each iteration."""
    varying = here().loops.varying
    return any(s in varying and varying[s][1] is None for s in symbols_of((value.dim,)))


def _is_natural(value: Any) -> bool:
    """Return whether a value is a single integer of an array that is known not to be negative."""
    is_integer = type(value) is SymbolicArray and not value.dims and value.dtype.kind in "iu"
    return is_integer and value.span is not None and here().bounds.is_at_least(value.span.low, 0)


def _of_data(item: Any) -> Any:
    """Return an item of a list; an integer that data decide in each iteration as an element of data."""
    return opaque(item) if type(item) is Size else item


class HiddenState:
    """What code of a loop's body may change other than the variables of the loop: it must leave all of this as it is.

    These are the containers, cells and arrays that callers, functions and modules of the user keep, as far as they can
    be reached from a frame and its callers, and from the function that makes the items. If that is
    too much to compare, it counts as changed.
    """

    def __init__(self, frame: FrameType, spaces: Iterable[LoopVariables], take: Callable[..., Any]) -> None:
        self._frame = frame
        values = [v for space in spaces for v in space.read().values()]
        known = {id(v) for v in values} | {id(space.owner) for space in spaces}
        self._places = [
            (place, before if before is not None else container_contents(place))
            for place, before in places([take, *_roots(frame)], 20_000, 1_000_000)
            if id(place) not in known
        ]
        self._own = {n: frame.f_locals.get(n) for n in (*frame.f_code.co_cellvars, *frame.f_code.co_freevars)}

    def has_changed(self) -> bool:
        """Return whether anything but the variables of the loop is another one than before."""
        # A cell of the loop's own frame is one of its variables.
        own = [(old, self._frame.f_locals.get(n)) for n, old in self._own.items()]
        return any(self._differs(place, before, own) for place, before in self._places)

    @staticmethod
    def _differs(place: Any, before: Any, own: list[tuple[Any, Any]]) -> bool:
        if place is UNSEEN:
            return True
        if type(place) is CellType:
            try:
                now = place.cell_contents
            except ValueError:  # the body has emptied it
                return True
            return now is not before and not any(old is before and new is now for old, new in own)
        if type(place) in (np.ndarray, SymbolicArray):
            return bool(container_contents(place) != before)
        if not isinstance(before, (dict, list)):
            return False
        if isinstance(before, dict):
            return len(place) != len(before) or any(place.get(k, ABSENT) is not v for k, v in before.items())
        return len(place) != len(before) or any(a is not b for a, b in zip(list(place), before, strict=True))


def _roots(frame: FrameType | None) -> Iterator[Any]:
    """Yield the values of a frame and of its callers in code of the user, and their modules' names."""
    while frame is not None:
        if is_of_user(frame.f_globals.get("__name__"), frame.f_globals.get("__file__")):
            yield from dict(frame.f_locals).values()
            yield frame.f_globals
        frame = frame.f_back


class FrameState:
    """The locals of a frame, for a comparison with those of another turn of a loop."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._contents = {n: container_contents(v) for n, v in values.items()}

    @classmethod
    def of(cls, frame: FrameType) -> FrameState | None:
        """Return the state of a frame; None if it has objects of which not all is known."""
        values = dict(frame.f_locals)
        return cls(values) if all(map(_is_known, values.values())) else None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FrameState)
            and is_alike(self._values, other._values)
            and self._contents == other._contents
        )

    __hash__ = None  # type: ignore[assignment]

    def steps_from(self, other: FrameState) -> dict[str, int]:
        """Return by how much integers grew since another state; empty if anything else differs."""
        if self._values.keys() != other._values.keys() or self._contents != other._contents:
            return {}
        steps: dict[str, int] = {}
        for name, new in self._values.items():
            old = other._values[name]
            if is_alike(old, new):
                continue
            step = subtract(dim_of(new), dim_of(old)) if {type(old), type(new)} <= {int, Size} else 0
            if not isinstance(step, int) or step <= 0:
                return {}
            steps[name] = step
        return steps

    def let_grow(self, frame: FrameType, names: Iterable[str]) -> None:
        """Make integers of a frame ones that data decide, at least as large as they are."""
        path = here()
        for name in names:
            size = path.data_size("turns")
            path.suppose(at_most(dim_of(self._values[name]), size))
            LoopVariables(frame).write({name: sized(size, path)})


def _is_known(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_known, value))
    known = (SymbolicArray, Size, int, float, complex, np.ndarray, *_PLAIN)
    return type(value) in known or isinstance(value, np.generic)


class Increment:
    """The constant step by which an integer, or the axes of an array, grow in each iteration."""

    def __init__(self, first: Any, steps: tuple[Dim, ...]) -> None:
        self.first, self.steps = first, steps

    def at(self, count: Dim, path: Path) -> Any:
        """Return the value after some iterations."""
        if type(self.first) is SymbolicArray:
            dims = (add(d, multiply(count, s)) for d, s in zip(self.first.dims, self.steps, strict=True))
            return SymbolicArray(tuple(dims), self.first.dtype)
        return sized(add(dim_of(self.first), multiply(count, self.steps[0])), path)


def increment_of(old: Any, new: Any, path: Path) -> Increment | None:
    """Return by what an integer or the axes of an array grew; None if they are no such values."""
    if type(old) is SymbolicArray and type(new) is SymbolicArray:
        if len(old.dims) != len(new.dims) or old.dtype != new.dtype:
            return None
        steps = tuple(map(subtract, new.dims, old.dims))
    elif type(old) in (int, Size) and type(new) in (int, Size):
        steps = (subtract(dim_of(new), dim_of(old)),)
    else:
        return None
    # A step that itself depends on the index is no constant step.
    varies = not path.loops.varying.keys().isdisjoint(symbols_of(s for s in steps if not isinstance(s, int)))
    return None if varies else Increment(old, steps)


# A ``for`` loop whose body runs for a symbolic index.
#
# Let S(k) be the variables after k iterations. The body is run from S(0) with an index i below the number of
# iterations n. If S(1) is like S(0), so is every S(k): a run follows only shapes, types and sizes. Otherwise S(k) is
# guessed: lists have k more items, integers and axes are S(0) + k*(S(1) - S(0)), other values are like those of S(1).
# The body is run again from S(i), and must lead to S(i + 1). By induction the guess holds for all k, and the code
# continues with S(n).
#
# The induction needs that nothing else differs between iterations, also not what callers, functions and modules keep
# (`HiddenState`). So questions about i, and steps that depend on data of the body, give up the loop: the exploration
# starts again, and iterates over numbers there. Items that only some iterations add to a list are counted: by a form in
# the sizes if indices decide, else by a number that data decide.


class SymbolicLoop:
    """The iterator that a rewritten ``for`` loop uses: its caller is the frame of the loop.

    Attributes:
        count: the number of iterations.
        index: the symbol of the index, once the body runs for one.
        passes: how often the body was started for the symbolic index.
        frame: the frame of the loop.
        key: identifies the loop in the code.
        is_forked: whether data decided in an iteration if a comprehension keeps its item.
        needs_check: whether the first pass did what only the first iteration does, so that a second one must follow.
    """

    def __init__(self, sequence: Sequence, key: Any, names: tuple[frozenset[str], ...], is_peeled: bool) -> None:
        self.count, self.key = sequence.count, key
        self.passes = 0
        self.is_forked = self.needs_check = False
        self.frame: FrameType | None = None
        self._take, self._facts = sequence.take, sequence.facts
        self._is_peeled = is_peeled
        # Names that the body assigns before it reads them; lists that it only appends to, and to which it always does.
        self._dead, self._appended, self._always = names
        self._path = here()
        # In a loop, there may be no iteration for some of its indices: what to give up, and what is supposed.
        self._none = ("none", key)
        self._supposed: Supposition | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        path = self._path
        if self.passes == 0:
            if not self._may_be_empty() and not path.ask(Comparison("<", 0, self.count)):
                raise StopIteration
            if self._is_peeled:
                return self._peel()
            return self._start(sys._getframe(1))
        if self.passes == 1:
            if self._advance():
                return self._item()
        elif self.passes == 2:
            self._check()
        self._end()
        raise StopIteration

    def _may_be_empty(self) -> bool:
        """Suppose that there is an iteration if that depends on the index of a loop around it, and return whether."""
        path, some = self._path, Comparison("<", 0, self.count)
        is_possible = not self._is_peeled and path.loops.are_in(some) and not path.loops.tries.get(self._none)
        if not is_possible or not path.is_open(some):
            return False
        path.loops.of_sizes.add(self._none)
        self._supposed = path.begin(self._none, [some])
        return True

    def _peel(self) -> Any:
        """Return the first item; the symbolic index is that of the rest."""
        take, facts, self._is_peeled = self._take, self._facts, False
        self.count = subtract(self.count, 1)
        self._take = lambda index: take(index + 1)
        self._facts = lambda index: facts(add(index, 1))
        return take(0)

    def is_checking(self) -> bool:
        """Return whether the body runs from the guessed state: an error in it might need several iterations."""
        return self.passes == 2

    def has_decided(self) -> bool:
        """Return whether the body took a branch that other iterations may not take."""
        path = self._path
        born = set(path.loops.born[self._data_before :])
        questions = path.questions[self._questions_before :]
        return any(q.is_open and not born.isdisjoint(symbols_in(q.formula)) for q in questions)

    def _start(self, frame: FrameType) -> Any:
        path = self._path
        self.index = path.loop_index(self.key, subtract(self.count, 1), self._facts)
        self.frame = frame
        path.loops.running.append(self)
        self._questions_before, self._data_before, self._steps_before = (
            len(path.questions),
            len(path.loops.born),
            len(path.steps),
        )
        self._spaces = loop_variables_of(frame)
        self._before = [space.read() for space in self._spaces]
        self._contents_before = [{n: container_contents(v) for n, v in values.items()} for values in self._before]
        self._steps: list[dict[str, Increment]] = [{} for _ in self._spaces]
        self._later_values: list[dict[str, Any]] = [{} for _ in self._spaces]
        self._lists: list[tuple[list[Any], int, list[Any]]] = []
        self._hidden = HiddenState(frame, self._spaces, self._take)
        return self._item()

    def _item(self) -> Any:
        self.passes += 1
        return self._take(sized(self.index, self._path))

    def _advance(self) -> bool:
        """Guess the state after k iterations, and set that of i iterations; return whether it must be checked."""
        if self._hidden.has_changed():
            self._refuse()
        for number, space in enumerate(self._spaces):
            self._compare(number, space)
        lists = [self._is_always(items) for items, _, _ in self._lists]
        if not (any(self._steps) or any(self._later_values) or lists or self.needs_check):
            return False
        # A state that one branch changes and another does not is not covered by what the other path guesses. Only a
        # list to which all branches add alike is.
        self._may_decide = self.has_decided()
        if self._may_decide and (any(self._steps) or any(self._later_values) or not all(lists)):
            self._refuse()
        for _, _, new in self._lists:
            new[:] = map(self.item_of_all if self._may_decide else _of_data, new)
        self._set(self.index, self._later_values)
        self._known = len(self._path.steps)
        return True

    def _names_of(self, items: list[Any]) -> list[str]:
        return [n for space in self._spaces for n, v in space.read().items() if v is items]

    def only_appends(self, items: list[Any]) -> bool:
        """Return whether the body does nothing with a list but append to it."""
        names = self._names_of(items)
        return len(names) == 1 and names[0] in self._appended

    def _is_always(self, items: list[Any]) -> bool:
        return set(self._names_of(items)) <= self._always

    def _is_merged(self, new: list[Any]) -> bool:
        """Return whether an iteration adds a number of items to a list that varies."""
        counts = [v.count for v in new if type(v) is Repeated]
        varies = any(not isinstance(c, int) and self.index in symbols_of((c,)) for c in counts)
        is_settled = all(v.is_settled for v in new if type(v) is Repeated)
        return varies or not is_settled or (self._supposed is not None and bool(new))

    def _compare(self, number: int, space: LoopVariables) -> None:
        before, contents = self._before[number], self._contents_before[number]
        for name, new in space.read().items():
            old = before.get(name, ABSENT)
            if old is ABSENT or (number == 0 and name in self._dead):
                continue
            if type(new) is SymbolicArray and type(old) is SymbolicArray and is_alike(old, new):
                if contents[name] != container_contents(new):  # the first iteration knew facts that later ones do not
                    self._later_values[number][name] = new if old is new else opaque(new)
            # The same object may have changed inside: only lists may grow.
            elif old is new:
                self._compare_items(contents[name], new)
            elif not is_alike(old, new):
                step = increment_of(old, new, self._path)
                if step is not None:
                    self._steps[number][name] = step
                else:
                    self._later_values[number][name] = opaque(new)

    def _compare_items(self, before: Any, now: Any) -> None:
        if before is None or is_alike(before, container_contents(now)):
            return
        length = len(before)
        if type(now) is not list or len(now) <= length or not is_alike(before, now[:length]):
            self._refuse()
        if all(now is not known for known, _, _ in self._lists):
            self._lists.append((now, length, now[length:]))

    def _set(self, count: Dim, later_values: list[dict[str, Any]]) -> None:
        for number, space in enumerate(self._spaces):
            values = {n: s.at(count, self._path) for n, s in self._steps[number].items()}
            space.write({**values, **later_values[number]})
        for items, length, new in self._lists:
            if self._is_merged(new):
                self._merge(items, length, new, is_end=count is self.count)
                continue
            if len(new) > 1 and not all(is_alike(new[0], v) for v in new):
                self._refuse()
            if len(new) > 1 or not is_alike(new[0], put_index(new[0], {self.index: 0})):
                index = self.index if len(new) == 1 else None
                items[length:] = [Repeated(new[0], multiply(count, len(new)), index, self.key)]
            else:  # the last one is accessible
                items[length:] = [Repeated(new[0], subtract(count, 1), None, self.key), new[0]]

    def _merge(self, items: list[Any], length: int, new: list[Any], *, is_end: bool) -> None:
        """Add the items of all iterations to a list that the body only appends to, so that it may be without them."""
        if not self.only_appends(items):
            self._refuse()
        del items[length:]
        if not is_end:
            return
        added = [v if type(v) is Repeated else Repeated(v, 1, None, self.key) for v in new]
        added = [v.over(self.index, self.count, self.key) for v in added]
        if not all(is_alike(added[0].value, v.value) for v in added):
            self._refuse()
        if len(added) > 1 and all(v.tests == added[0].tests for v in added):
            count = add(*(v.count for v in added))
            is_chosen = any(v.is_chosen for v in added)
            added = [Repeated(added[0].value, count, None, self.key, added[0].tests, is_chosen)]
        outer = [known for known in self._path.loops.running if known.frame is self.frame and known is not self]
        if outer and outer[-1].only_appends(items):
            items += added
            return
        self._leave()
        for value in added if self._supposed is None else self._refuse():
            items += value.settled()

    def _check(self) -> None:
        """Compare the state after the second pass with the guess for i + 1 iterations."""
        steps = self._path.steps[self._known :]
        if any(s.kind == "require" for s in steps) if self._may_decide else (steps or self.has_decided()):
            self._refuse()
        after = add(self.index, 1)
        for number, space in enumerate(self._spaces):
            now = space.read()
            for name, step in self._steps[number].items():
                self._expect(step.at(after, self._path), now[name])
            for name, value in self._later_values[number].items():
                self._expect(value, opaque(now[name]) if not _is_natural(value) or _is_natural(now[name]) else None)
            for name, old in self._before[number].items():
                is_known = name in self._steps[number] or name in self._later_values[number]
                if not is_known and not (number == 0 and name in self._dead) and type(old) is not list:
                    self._expect(opaque(old), opaque(now.get(name)))
                if type(old) is list and all(old is not items for items, _, _ in self._lists):
                    self._expect(self._contents_before[number][name], list(old))
        for items, length, new in self._lists:
            if self._is_merged(new):
                self._expect(new, items[length:])
                continue
            # The list holds `Repeated` for the earlier iterations, and the last item itself if all are alike; what
            # follows was added by the second pass.
            added = items[length + (1 if type(items[length + 1]) is type(new[0]) and len(items) == length + 2 else 2) :]
            added = list(map(opaque if self._may_decide else _of_data, added))
            if len(added) != len(new) or not is_alike(new, added):
                self._refuse()
        self._set(self.count, [{} for _ in self._spaces])

    def _decided(self) -> tuple[Any, ...]:
        """Return the key of the loop, and what this path decided, without what data decide in an iteration."""
        steps, born = self._path.steps, set(self._path.loops.born[self._data_before :])
        within = (
            s for s in steps[self._steps_before :] if s.kind == "decide" and born.isdisjoint(symbols_in(s.formula))
        )
        return self.key, *(s.formula for s in (*steps[: self._steps_before], *within))

    def item_of_all(self, item: Any) -> Any:
        """Return an item that data decided about; give up the loop if another path has another one."""
        item = opaque(item)
        if not is_alike(self._path.loops.items.setdefault(self._decided(), item), item):
            self._refuse()
        return item

    def _expect(self, expected: Any, actual: Any) -> None:
        if not is_alike(expected, actual):
            self._refuse()

    def _end(self) -> None:
        """Leave the loop: what the last iteration assigned depends on the last index."""
        last = {self.index: subtract(self.count, 1)}
        for space in self._spaces:
            # Lists hold `Repeated`, which has the index for all iterations.
            values = {n: (v, put_index(v, last)) for n, v in space.read().items() if type(v) is not list}
            space.write({n: new for n, (old, new) in values.items() if not is_alike(old, new)})
        if self._supposed is not None:
            self._path.end(self._supposed)
            self._join()
        self._leave()
        self.passes = 3

    def _join(self) -> None:
        """Join the state after the loop with that before, which is the one after no iteration."""
        for number, space in enumerate(self._spaces):
            before, joined = self._before[number], {}
            for name, now in space.read().items():
                old = before.get(name, ABSENT)
                new = ABSENT if old is ABSENT else joined_value(old, now, self._none)
                is_same = type(now) is SymbolicArray or old is not now
                is_same = is_same or any(now is items for items, _, _ in self._lists)
                if not is_same and self._contents_before[number][name] != container_contents(now):
                    self._path.loops.refuse(self._none)
                if new is ABSENT and not (old is ABSENT or (number == 0 and name in self._dead)):
                    self._path.loops.refuse(self._none)
                # A name that only the loop assigns is unbound without iterations: its use gives the loop up.
                joined[name] = unbound_name(self._none) if new is ABSENT else new
            space.write({n: v for n, v in joined.items() if v is not before.get(n, ABSENT)})

    def _leave(self) -> None:
        if self in self._path.loops.running:
            self._path.loops.running.remove(self)

    def _refuse(self) -> NoReturn:
        self._path.loops.refuse(self.key)


# Join instead of fork: both arms of an ``if`` are run, one after the other from the same state, and joined.
#
# The test is an element of data, or a comparison of the index of a loop, which iterations answer differently. What an
# arm assigns replaces what was there before. If both arms lead to arrays of one shape and dtype, or to numbers, the
# code goes on with one of which nothing else is known: all that it does from there on holds for each of both. So the
# state after the ``if`` is that of all data and of all iterations, and a loop that it is in is closed by the induction
# above, which needs that every iteration leads from the guessed state to the next one: it does, whichever arms are
# chosen. A loop that may have no iteration for some indices of the loop around it is joined with the state before it
# alike. If the arms lead to different shapes or integers, one is chosen now, as if the question had been asked before.
#
# That needs three things. The arms do nothing else: they have only assignments of expressions without effects
# (`rewriting.py`). They cannot fail, nor depend on sizes: what sizes decide or require in an arm, or an error in it,
# gives the join up (`Path.begin`), and the exploration asks before the arms; so no failing path is lost. And nothing is
# said to happen that neither arm leads to: a joined number remembers its joins. If data chose the arms, a later
# decision may depend on it, but no requirement or error that comes after such a decision; if sizes did, none may.


class IndexQuestion:
    """A comparison of the index of a loop, whose answer differs between iterations; its truth value is asked for."""

    def __init__(self, formula: Formula, path: Path) -> None:
        self.formula, self._path = formula, path

    def __bool__(self) -> bool:
        return self._path.ask(self.formula)


_RELATIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Formula]]] = {
    "==": (operator.eq, equal),
    "!=": (operator.ne, different),
    "<": (operator.lt, lambda a, b: Comparison("<", a, b)),
    "<=": (operator.le, at_most),
    ">": (operator.gt, lambda a, b: Comparison("<", b, a)),
    ">=": (operator.ge, lambda a, b: at_most(b, a)),
}


def compared(name: str, left: Any, right: Any) -> Any:
    """Return a comparison; one that iterations of a loop answer differently is not asked yet."""
    path = current.get()
    compare, formula_of = _RELATIONS[name]
    if path is None or not path.loops.varying or Size not in (type(left), type(right)):
        return compare(left, right)
    formula = formula_of(dim_of(left), dim_of(right)) if is_whole(left) and is_whole(right) else TRUE
    is_question = path.loops.are_in(formula) and path.is_open(formula)
    return IndexQuestion(formula, path) if is_question else compare(left, right)


def _arms_of(test: Any, key: Any) -> tuple[list[Formula], list[Formula]] | None:
    """Return what holds in each arm of a branch if both are run; None if one is chosen."""
    path = current.get()
    if path is None or path.loops.tries.get(key):
        return None
    if type(test) is SymbolicArray:
        return None if test.dims or test.truth is not None or test.contents.true_count else ([], [])
    formula = test.formula if type(test) is IndexQuestion else TRUE
    if type(test) is Size and path.loops.are_in(different(test.dim, 0)) and path.is_open(different(test.dim, 0)):
        formula = different(test.dim, 0)
    if formula == TRUE:
        return None
    path.loops.of_sizes.add(key)
    return [formula], [opposite(formula)]


def either(test: Any, key: Any, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """Return ``one() if test else other()``."""
    arms = _arms_of(test, key)
    if arms is None:
        return one() if test else other()
    path, values = here(), []
    for facts, arm in zip(arms, (one, other), strict=True):
        supposed = path.begin(key, facts)
        values.append(arm())
        path.end(supposed)
    joined = joined_value(values[0], values[1], key)
    return joined if joined is not ABSENT else values[0] if test else values[1]


def unbound_name(key: Any) -> Repeated:
    """Return the value of a name that is unbound where a join goes the other way: its use gives the join up."""
    return Repeated(ABSENT, 1, None, key)


class Filter:
    """The iterator over one turn, or none, of the rest of a comprehension, as its condition says.

    The item of an iteration that data or its index may leave out is made, and counted by the list that it goes to.

    Attributes:
        frame: the frame of the comprehension.
        facts: what holds of the index if the item is kept; empty if data decide.
        is_counted: whether a list counts the item.
    """

    def __init__(self, test: Any, key: Any, keeps: bool = True) -> None:
        self._test, self._key, self._keeps = test, key, keeps
        self.facts: list[Formula] = []
        self.is_counted = False

    def __iter__(self) -> Iterator[None]:
        return self._started(sys._getframe(1))

    def _started(self, frame: FrameType) -> Iterator[None]:
        self.frame, path = frame, current.get()
        loops = [] if path is None else [known for known in path.loops.running if known.frame is frame]
        arms = _arms_of(self._test, self._key) if loops else None
        if path is None or arms is None:
            is_kept = bool(self._test) is self._keeps
            for known in loops:  # on another path, data may not have kept the item
                known.is_forked = known.is_forked or known.has_decided()
            if is_kept:
                yield None
            return
        self.facts = arms[0 if self._keeps else 1]
        supposed = path.begin(self._key, self.facts)
        path.loops.filters.append(self)
        yield None
        path.loops.filters.remove(self)
        path.end(supposed)
        if not self.is_counted:  # what takes the items does not count them
            path.loops.refuse(self._key)


class Arms:
    """The iterator over the arms of an ``if``: True and False if both are run, otherwise the value of its test.

    Attributes:
        key: identifies the ``if`` in the code.
    """

    def __init__(self, test: Any, key: Any, *names: tuple[str, ...]) -> None:
        self.key, self._test = key, test
        # Arrays that the arms write into, names that they increase, and lists that they append to.
        self._written, self._grown, self._appended = names

    def __iter__(self) -> Iterator[bool]:
        return self._started(sys._getframe(1))

    def _started(self, frame: FrameType) -> Iterator[bool]:
        arms = _arms_of(self._test, self.key)
        space = LoopVariables(frame)
        values = space.read()
        is_known = all(type(values.get(n)) is SymbolicArray for n in self._written)
        # Numbers are replaced by larger ones; an array that is increased in place has other names.
        if arms is None or not is_known or any(_has_axes(values.get(n)) for n in self._grown):
            yield bool(self._test)
            return
        path, states, added = here(), [], []
        contents = {n: container_contents(v) for n, v in values.items() if type(v) is not SymbolicArray}
        lists = [values[n] for n in self._appended if type(values.get(n)) is list]
        lengths = list(map(len, lists))
        for is_first, facts in zip((True, False), arms, strict=True):
            supposed = path.begin(self.key, facts)
            yield is_first
            path.end(supposed)
            now = space.read()
            states.append(now)
            added.append([items[length:] for items, length in zip(lists, lengths, strict=True)])
            for items, length in zip(lists, lengths, strict=True):
                del items[length:]
            # An arm did more than assign.
            if not all(is_alike(c, container_contents(now[n])) for n, c in contents.items() if values[n] is now[n]):
                path.loops.refuse(self.key)
            if is_first:
                space.write({n: v for n, v in values.items() if now.get(n) is not v})
        # Items that not all iterations add may be in a list only while nothing looks at it.
        loops = [known for known in path.loops.running if known.frame is frame]
        is_hidden = [bool(loops) and loops[-1].only_appends(items) for items in lists]
        is_hidden = [h and not would_be_caught(frame, path.root) for h in is_hidden]
        new = [self._items(a, b, arms if h else None) for a, b, h in zip(added[0], added[1], is_hidden, strict=True)]
        choice = self._join(space, values, states[0], states[1], all(items is not None for items in new))
        chosen: list[Any] = list(new) if choice is None else added[0 if choice else 1]
        for items, more in zip(lists, chosen, strict=True):
            items.extend(more)

    def _items(
        self, one: list[Any], other: list[Any], arms: tuple[list[Formula], list[Formula]] | None
    ) -> list[Any] | None:
        """Return the items that either arm adds to a list; None if there is no form for them."""
        if len(one) == len(other):
            joined = [joined_value(a, b, self.key) for a, b in zip(one, other, strict=True)]
            return None if any(v is ABSENT for v in joined) else joined
        if (one and other) or arms is None:
            return None
        facts, items = (arms[0], one) if one else (arms[1], other)
        whole = [v if type(v) is Repeated else Repeated(v, 1, None, self.key) for v in items]
        if any(v.index is not None for v in whole):
            return None
        return [Repeated(v.value, v.count, None, self.key, (*v.tests, *facts), v.is_chosen or not facts) for v in whole]

    def _join(
        self, space: LoopVariables, before: dict[str, Any], first: dict[str, Any], now: dict[str, Any], has_items: bool
    ) -> bool | None:
        """Set the joined state; return which arm was chosen if there is none."""
        changed = [n for n in {**first, **now} if first.get(n, ABSENT) is not now.get(n, ABSENT)]
        changed += [n for n in now if n not in before and n not in changed]
        # A name that one arm alone assigns is unbound after the other one: its use gives the join up.
        unbound = [n for n in changed if n not in before and (n not in first or n not in now or first[n] is now[n])]
        changed = [n for n in changed if n not in unbound]
        joined = {n: joined_value(first.get(n, ABSENT), now.get(n, ABSENT), self.key) for n in changed}
        chosen = None
        if any(v is ABSENT for v in joined.values()) or not has_items:
            chosen = bool(self._test)
            joined = {n: first[n] for n in changed} if chosen else {}
        space.write({**joined, **{n: unbound_name(self.key) for n in unbound}})
        return chosen


def joined_value(one: Any, other: Any, key: Any) -> Any:
    """Return a value of which all that is known holds for both of two; ABSENT if there is none."""
    if one is other:
        return one
    for value in (one, other):
        if type(value) is Repeated and value.value is ABSENT:
            return value
    if type(one) is SymbolicArray and type(other) is SymbolicArray and one.dims and is_alike(one, other):
        memory = one.memory if one.memory is other.memory else ArrayMemory(one.memory, other.memory)
        return SymbolicArray(one.dims, one.dtype, contents=_joined_contents(key, one, other), memory=memory)
    if _is_number(one) and _is_number(other):
        dtype = np.result_type(example_of(dtype_of(one)), example_of(dtype_of(other)))
        # Outside of loops, Python's numbers are followed one by one.
        if here().loops.running or type(one) is type(other) is SymbolicArray:
            memory = ArrayMemory(is_number=True)
            return SymbolicArray((), dtype, contents=_joined_contents(key, one, other), memory=memory)
    if type(one) is tuple and type(other) is tuple and len(one) == len(other):
        parts = tuple(joined_value(a, b, key) for a, b in zip(one, other, strict=True))
        return ABSENT if any(p is ABSENT for p in parts) else parts
    is_known = type(one) not in (SymbolicArray, object) and is_alike(one, other)
    return one if is_known else ABSENT


def _joined_contents(key: Any, *values: Any) -> ArrayContents:
    spans = [IntegerSpan(dim_of(v), dim_of(v)) if is_whole(v) else contents_of(v).span for v in values]
    truths = {contents_of(v).truth for v in values}
    first, second = spans
    if first is None or second is None:
        span = None
    else:
        bounds = here().bounds
        span = IntegerSpan(bounds.smaller(first.low, second.low), bounds.larger(first.high, second.high), "none")
    return ArrayContents(truths.pop() if len(truths) == 1 else None, span, joins=(key,))


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, or an element of an array."""
    if type(value) is SymbolicArray:
        return not value.dims and value.dtype.kind in "biuf"
    return type(value) in (bool, int, float, Size) or isinstance(value, (np.floating, np.integer, np.bool_))


def _has_axes(value: Any) -> bool:
    return not _is_number(value)


def check_ended(path: Any, error: Exception) -> None:
    """Give up a loop whose body raised an error in a state that not all numbers of iterations reach."""
    for known in path.loops.running:
        if known.is_checking() and not isinstance(error, UntracedError):
            path.loops.refuse(known.key)


def check_joins(path: Path, *, is_error: bool) -> None:
    """Give up what holds in a part of the run that was left without its end, and joins that an error depends on."""
    path.loops.check_supposed()
    if is_error:
        path.loops.check_joined()


def checked_value(path: Path, value: Any) -> Any:
    """Return a result with long lists marked; give up a loop whose index is in one of its shapes or sizes."""
    if type(value) is SymbolicArray or type(value) is Size:
        dims = value.dims if type(value) is SymbolicArray else (value.dim,)
        for symbol in symbols_of(d for d in dims if not isinstance(d, int)):
            key, last = path.loops.varying.get(symbol, ("", None))
            if last is not None:
                path.loops.refuse(key)
    elif type(value) is Repeated:
        value.refuse()
    elif type(value) is NestedList:
        return LongList(value.base.dims[0])
    elif type(value) is list and any(type(v) is Repeated for v in value):
        known = [v for v in value if type(v) is Repeated]
        for item in known:
            if item.value is ABSENT or not item.is_settled:
                item.refuse()
            checked_value(path, item.value)
        return LongList(count_of(value), known[0].value if len(value) == 1 else None)
    elif type(value) in (list, tuple):
        parts = [checked_value(path, part) for part in value]
        is_same = all(a is b for a, b in zip(parts, value, strict=True))
        return value if is_same else type(value)(parts)
    elif type(value) is dict:
        checked = [checked_value(path, v) for v in value.values()]
        if any(a is not b for a, b in zip(checked, value.values(), strict=True)):  # keys with sizes are not hashed
            return dict(zip(value, checked, strict=True))
    return value
