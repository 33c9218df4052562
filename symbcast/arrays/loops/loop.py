"""A ``for`` loop over a symbolic index: the variables that its body changes, and the induction over iterations."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np

from symbcast.arrays.array_facts import ArrayContents, ArrayMemory, IntegerSpan, dtype_of, example_of, here
from symbcast.arrays.loops.repeated import Repeated, Sequence, put_index
from symbcast.arrays.symbolic_array import SymbolicArray, contents_of
from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.formulas import Comparison, at_most
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.solver.evaluation import symbols_in
from symbcast.paths.path import Path, current
from symbcast.paths.sizes import Size, dim_of, is_whole, sized
from symbcast.paths.steps import UntracedError

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
    return tuple(map(opaque, value)) if type(value) is tuple else value


def _is_natural(value: Any) -> bool:
    """Return whether a value is a single integer of an array that is known not to be negative."""
    is_integer = type(value) is SymbolicArray and not value.dims and value.dtype.kind in "iu"
    return is_integer and value.span is not None and here().bounds.is_at_least(value.span.low, 0)


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
# The induction needs that nothing else differs between iterations. So questions about i, and steps that depend on data
# of the body, give up the loop: the exploration starts again, and iterates over numbers there. If data decide whether
# an iteration adds an item to a list, and nothing else changes, the number of items is a number that data decide.


class SymbolicLoop:
    """The iterator that a rewritten ``for`` loop uses: its caller is the frame of the loop.

    Attributes:
        count: the number of iterations.
        index: the symbol of the index, once the body runs for one.
        passes: how often the body was started for the symbolic index.
        frame: the frame of the loop.
        key: identifies the loop in the code.
        has_yielded: whether the body is that of a generator, and yielded an item.
    """

    def __init__(self, sequence: Sequence, key: Any, dead: frozenset[str], is_peeled: bool) -> None:
        self.count, self.key = sequence.count, key
        self.passes = 0
        self.frame: FrameType | None = None
        self._is_chosen = self._may_decide = self.has_yielded = False
        self._take, self._facts = sequence.take, sequence.facts
        self._is_peeled = is_peeled
        self._dead = dead
        self._path = here()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        path = self._path
        if self.passes == 0:
            if not path.ask(Comparison("<", 0, self.count)):
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
        return self._item()

    def _item(self) -> Any:
        self.passes += 1
        return self._take(sized(self.index, self._path))

    def _advance(self) -> bool:
        """Guess the state after k iterations, and set that of i iterations; return whether it must be checked."""
        for number, space in enumerate(self._spaces):
            self._compare(number, space)
        has_changed = any(self._steps) or any(self._later_values)
        self._may_decide = self.has_decided()
        if self._may_decide and not (self._lists or self.has_yielded):
            self._skip()
        if not (has_changed or self._lists):
            return False
        # Data decide whether this iteration added an item: then how often it did is one number, and no other variable
        # may depend on it.
        if self._may_decide and (has_changed or len(self._lists) > 1):
            self._refuse()
        for _, _, new in self._lists if self._may_decide else ():
            self._is_chosen = self.choose(new[0])
        self._set(self.index, self._later_values)
        self._known = len(self._path.steps)
        return True

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
            if self._is_chosen:
                items[length:] = [self.chosen(new[0])] if len(new) == 1 else self._refuse()
                continue
            if len(new) > 1 and not all(is_alike(new[0], v) for v in new):
                self._refuse()
            if len(new) > 1 or not is_alike(new[0], put_index(new[0], {self.index: 0})):
                index = self.index if len(new) == 1 else None
                items[length:] = [Repeated(new[0], multiply(count, len(new)), index, self.key)]
            else:  # the last one is accessible
                items[length:] = [Repeated(new[0], subtract(count, 1), None, self.key), new[0]]

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
            if self._is_chosen:
                chosen = items[length + 1 :]
                if chosen and not (len(chosen) == 1 and is_alike(chosen[0], new[0])):
                    self._refuse()
                continue
            # The list holds `Repeated` for the earlier iterations, and the last item itself if all are alike; what
            # follows was added by the second pass.
            added = items[length + (1 if type(items[length + 1]) is type(new[0]) and len(items) == length + 2 else 2) :]
            if len(added) != len(new) or not is_alike(new, added):
                self._refuse()
        if self._is_chosen:
            self._leave()
        self._set(self.count, [{} for _ in self._spaces])

    def _decided(self) -> tuple[Any, ...]:
        """Return the key of the loop, and what this path decided, without what data decide in an iteration."""
        steps, born = self._path.steps, set(self._path.loops.born[self._data_before :])
        within = (
            s for s in steps[self._steps_before :] if s.kind == "decide" and born.isdisjoint(symbols_in(s.formula))
        )
        return self.key, *(s.formula for s in (*steps[: self._steps_before], *within))

    def choose(self, item: Any) -> bool:
        """Return whether data decide if an iteration adds an item; give up if it is another one than on other paths."""
        where, choices = self._decided(), self._path.loops.choices
        if not is_alike(choices.items.setdefault(where, item), item):
            self._refuse()
        return where not in choices.always

    def _skip(self) -> None:
        where, choices = self._decided(), self._path.loops.choices
        if where in choices.always:
            self._refuse()
        choices.skipped.add(where)

    def chosen(self, item: Any) -> Repeated:
        """Return an item for as many iterations as data decide, at least one."""
        count = self._path.data_size("chosen")
        self._path.suppose(at_most(1, count))
        self._path.suppose(at_most(count, self.count))
        return Repeated(self._some(item), count, None, self.key)

    def _some(self, item: Any) -> Any:
        """Return an item of some iteration: an index is an integer that data decide."""
        if is_alike(item, put_index(item, {self.index: 0})):
            return item
        if type(item) is Size and item.dim is self.index:
            return SymbolicArray((), np.intp, None, (0, subtract(self.count, 1)))
        return tuple(map(self._some, item)) if type(item) is tuple else self._refuse()

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
        self._leave()
        self.passes = 3

    def _leave(self) -> None:
        if self in self._path.loops.running:
            self._path.loops.running.remove(self)

    def _refuse(self) -> NoReturn:
        self._path.loops.refuse(self.key)


# An ``if`` on data whose arms only assign: both are run, one after the other from the same state, and joined.
#
# What an arm assigns replaces what was there before. If both arms lead to arrays of one shape and dtype, or to numbers,
# the code goes on with one of which nothing else is known: all that it does from there on holds for each of both, if no
# decision or requirement depends on which one it is: then the join is given up. So
# the state after the ``if`` is that of all data, and a loop that it is in is closed by the induction above, which
# needs that every iteration leads from the guessed state to the next one: it does, whichever arms data choose. If the
# arms lead to different shapes or integers, data choose one of them now, as if the question had been asked before.
#
# That needs that the arms do nothing else: they have only assignments of expressions without effects (`rewriting.py`),
# and an arm in which a requirement or a decision about sizes is made, or which raises, is not joined: the exploration
# starts again, and asks before the arms.


class Arms:
    """The iterator over the arms of an ``if``: True and False if both are run, otherwise the value of its test.

    Attributes:
        key: identifies the ``if`` in the code.
    """

    def __init__(self, test: Any, key: Any, written: tuple[str, ...], grown: tuple[str, ...]) -> None:
        self.key, self._test, self._written, self._grown = key, test, written, grown
        self._passes = 0

    def __iter__(self) -> Iterator[bool]:
        return self

    def __next__(self) -> bool:
        self._passes += 1
        if self._passes == 1:
            return self._start(sys._getframe(1))
        if self._passes == 2 and self._is_joined:
            self._after = self._state()
            self._check(self._after[1])
            self._space.write({n: v for n, v in self._before[0].items() if self._after[0].get(n) is not v})
            return False
        if self._passes == 3:
            self._join()
        raise StopIteration

    def _start(self, frame: FrameType) -> bool:
        path, test = current.get(), self._test
        self._is_joined = False
        if path is None or type(test) is not SymbolicArray or test.dims or test.truth is not None:
            return bool(test)
        self._space = LoopVariables(frame)
        values = self._space.read()
        is_known = all(type(values.get(n)) is SymbolicArray for n in self._written)
        # Numbers are replaced by larger ones; an array that is increased in place has other names.
        if path.loops.tries.get(self.key) or not is_known or any(_has_axes(values.get(n)) for n in self._grown):
            return bool(test)
        self._path, self._is_joined, self._steps = path, True, len(path.steps)
        self._before = self._state()
        path.loops.arms.append(self)
        return True

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the variables, and what is in their containers."""
        values = self._space.read()
        return values, {n: container_contents(v) for n, v in values.items() if type(v) is not SymbolicArray}

    def _check(self, contents: dict[str, Any]) -> None:
        """Give up the join if an arm did more than assign."""
        before = self._before[1]
        is_same = all(is_alike(before[n], contents[n]) for n in before if self._before[0][n] is self._space.read()[n])
        if not is_same or len(self._path.steps) > self._steps:
            self._path.loops.refuse(self.key)

    def _join(self) -> None:
        now, contents = self._state()
        self._check(contents)
        self._path.loops.arms.remove(self)
        before, first = self._before[0], self._after[0]
        changed = [n for n in {**first, **now} if first.get(n, ABSENT) is not now.get(n, ABSENT)]
        changed += [n for n in now if n not in before and n not in changed]
        new = {n for n in changed if n not in before}
        joined = {n: joined_value(first.get(n, ABSENT), now.get(n, ABSENT), self.key) for n in changed}
        # A name that one arm alone assigns is unbound after the other one: data choose an arm before it.
        if any(first.get(n, ABSENT) is now.get(n, ABSENT) for n in new):
            self._path.loops.refuse(self.key)
        if any(v is ABSENT for v in joined.values()):
            joined = {n: first[n] for n in changed} if bool(self._test) else {}
        self._space.write(joined)


def joined_value(one: Any, other: Any, key: Any) -> Any:
    """Return a value of which all that is known holds for both of two; ABSENT if there is none."""
    if one is other:
        return one
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


def check_arms(path: Any) -> None:
    """Give up the join of an ``if`` of which an arm raised an error."""
    for arms in path.loops.arms[-1:]:
        path.loops.refuse(arms.key)


def check_value(path: Any, value: Any) -> None:
    """Give up a loop whose index is in the shape of a result, or whose items are in a list that is returned."""
    if type(value) is SymbolicArray or type(value) is Size:
        dims = value.dims if type(value) is SymbolicArray else (value.dim,)
        for symbol in symbols_of(d for d in dims if not isinstance(d, int)):
            key, last = path.loops.varying.get(symbol, ("", None))
            if last is not None:
                path.loops.refuse(key)
    elif type(value) is Repeated:
        value.refuse()
    elif type(value) in (list, tuple, dict):
        for part in value.values() if type(value) is dict else value:
            check_value(path, part)
