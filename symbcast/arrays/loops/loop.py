"""A ``for`` loop over a symbolic index: the induction over iterations, and what must hold where a run ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

from symbcast.arrays.array_facts import here
from symbcast.arrays.loops.joins import joined_items, joined_value, unbound_name
from symbcast.arrays.loops.repeated import LongList, Repeated, Sequence, copied, count_of, merged, put_back, put_index
from symbcast.arrays.loops.state import (
    ABSENT,
    HiddenState,
    Increment,
    LoopVariables,
    container_contents,
    increment_of,
    is_alike,
    is_natural_number,
    loop_variables_of,
    opaque,
    same_contents,
)
from symbcast.arrays.symbolic_array import NestedList, SymbolicArray
from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.formulas import Comparison, at_most
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.solver.evaluation import symbols_in
from symbcast.paths.path import Path, Supposition
from symbcast.paths.sizes import Size, sized
from symbcast.paths.steps import UntracedError

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
        may_be_left: whether the body has a ``break`` or a ``return``, or what takes its items may stop.
        delayed: what must hold in the last iteration, if the loop is not left before.
    """

    def __init__(self, sequence: Sequence, key: Any, names: tuple[frozenset[str], ...], is_peeled: bool) -> None:
        self.count, self.key = sequence.count, key
        self.passes = 0
        self.is_forked = self.needs_check = False
        self.frame: FrameType | None = None
        self._take, self._facts = sequence.take, sequence.facts
        self._is_peeled = is_peeled
        # Names that the body assigns before it reads them; lists that it only appends to, and to which it always does.
        self._dead, self._appended, self._always, left = names
        self.may_be_left, self.delayed = bool(left), list[Any]()
        self._stop: Dim | None = None
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

    def stop(self) -> Dim:
        """Return the index at which data leave the loop."""
        if self._stop is None:
            self._stop = self._path.data_size("stop")
            self._path.suppose(at_most(self._stop, subtract(self.count, 1)))
        return self._stop

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
        self._replaced: list[tuple[list[Any], list[Any]]] = []
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
        lists = [set(self._names_of(items)) <= self._always for items, _, _ in self._lists]
        differs = bool(any(self._steps) or any(self._later_values) or self._replaced)
        if not (differs or lists or self.needs_check):
            return False
        # A state that one branch changes and another does not is not covered by what the other path guesses. Only a
        # list to which all branches add alike is.
        self._may_decide = self.has_decided()
        if self._may_decide and (differs or not all(lists)):
            self._refuse()
        for items, guess in self._replaced:
            put_back(items, guess)
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
                # The first iteration has the index 0.
                step = increment_of(old, put_index(new, {self.index: 0}), self._path)
                if step is not None:
                    self._steps[number][name] = step
                else:
                    self._later_values[number][name] = opaque(new)

    def _compare_items(self, before: Any, now: Any) -> None:
        if before is None or is_alike(before, container_contents(now)):
            return
        length = len(before)
        if type(now) is list and self._is_replaced(before, now):
            return
        if type(now) is not list or len(now) <= length or not is_alike(before, now[:length]):
            self._refuse()
        if all(now is not known for known, _, _ in self._lists):
            self._lists.append((now, length, now[length:]))

    def _is_replaced(self, before: list[Any], now: list[Any]) -> bool:
        """Guess the items of a list in which the body replaced some; return whether it did only that."""
        guess = merged(now, now, lambda item, _: NotImplemented if self._mentions_index(item) else opaque(item))
        if guess is None or merged(before, now, lambda *_: True) is None:
            return False
        if all(now is not known for known, _ in self._replaced):
            self._replaced.append((now, guess))
        return True

    def _mentions_index(self, item: Any) -> bool:
        return not is_alike(item, put_index(item, {self.index: 0}))

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
        steps = [s for s in self._path.steps[self._known :] if s.kind != "suppose"]
        if any(s.kind == "require" for s in steps) if self._may_decide else (steps or self.has_decided()):
            self._refuse()
        after = add(self.index, 1)
        for number, space in enumerate(self._spaces):
            now = space.read()
            for name, step in self._steps[number].items():
                self._expect(step.at(after, self._path), now[name])
            for name, value in self._later_values[number].items():
                self._expect(
                    value, opaque(now[name]) if is_natural_number(now[name]) >= is_natural_number(value) else None
                )
            for name, old in self._before[number].items():
                is_known = name in self._steps[number] or name in self._later_values[number]
                if not is_known and not (number == 0 and name in self._dead) and type(old) is not list:
                    self._expect(opaque(old), opaque(now.get(name)))
                changed = [items for items, *_ in (*self._lists, *self._replaced)]
                if type(old) is list and all(old is not items for items in changed):
                    self._expect(self._contents_before[number][name], list(old))
        for items, guess in self._replaced:
            self._expect(guess, merged(items, items, lambda item, _: opaque(item)))
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
        self._path.require_delayed(self)
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
                contents = self._contents_before[number][name] if not is_same else None
                if not is_same and not same_contents(contents, container_contents(now)):
                    self._join_items(contents, now)
                if new is ABSENT and not (old is ABSENT or (number == 0 and name in self._dead)):
                    self._path.loops.refuse(self._none)
                # A name that only the loop assigns is unbound without iterations: its use gives the loop up.
                joined[name] = unbound_name(self._none) if new is ABSENT else new
            space.write({n: v for n, v in joined.items() if v is not before.get(n, ABSENT)})

    def _join_items(self, before: Any, now: Any) -> None:
        items = joined_items(before, copied(now), self._none) if type(now) is list else None
        if items is None:
            self._path.loops.refuse(self._none)
        put_back(now, items)

    def _leave(self) -> None:
        if self in self._path.loops.running:
            self._path.loops.running.remove(self)

    def _refuse(self) -> NoReturn:
        self._path.loops.refuse(self.key)


def _of_data(item: Any) -> Any:
    """Return an item of a list; an integer that data decide in each iteration as an element of data."""
    return opaque(item) if type(item) is Size else item


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
