"""Answers held against brute force. Shapes and conditions are evaluated in the very words in which they were given."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from benchmarks.peers.programs import Equal, Operand, Program
from benchmarks.peers.running import Answer

SIZES = range(7)
AT_MOST = 7**6
"""Programs of more bindings than that are judged at 4,000 of them, drawn at random but the same on every run."""

Vector: TypeAlias = Any
"""A size, or the truth of something, at every binding."""


def judged(program: Program, answer: Answer) -> str:
    """Return what an answer is worth.

    - exact: what it accepts is valid, what it does not is not, and its shapes are right;
    - exact from k up: so it is where all sizes are at least k, and it accepts no others;
    - no condition: its shapes are right wherever the program is valid, but it does not say where that is;
    - specialised, too narrow: it is right where it accepts, but that is not everywhere; as to the sizes of the example,
      or by itself;
    - stopped: it took too long;
    - refused: it gave up on a program that is valid for some sizes; rightly, if it is for none;
    - no shape: it says nothing but the rank;
    - wrong: it accepts sizes which are not valid, or at which the shape is another one, such as the ones named.
    """
    truth = Truth.of(program)
    if answer.refusal:
        if answer.refusal.startswith("stopped"):
            return answer.refusal
        return "refused" if truth.valid.any() else "rightly refused"
    claimed = _Claimed(truth, answer)
    if claimed.lacks_shapes:
        return "no shape"
    wrong = claimed.accepted & ~(truth.valid & claimed.right)
    if not answer.conditions and not answer.assumed and wrong.any() and not (truth.valid & ~claimed.right).any():
        return "no condition"
    if wrong.any():
        return f"wrong at {truth.binding(_first(wrong & ~claimed.right & truth.valid, wrong))}"
    for least in (0, 1, 2):
        if (claimed.accepted == (truth.valid & truth.all_from(least))).all():
            return f"exact from {least} up" if least else "exact"
    share = f"{claimed.accepted.sum()} of {truth.valid.sum()} sizes"
    return f"specialised, {share}" if answer.hinted else f"too narrow, {share}"


@dataclass(frozen=True, eq=False)
class Truth:
    """A program worked out at every binding: where it is valid, and the outputs of its broadcasts there."""

    sizes: Mapping[str, Vector]
    valid: Vector
    outputs: list[list[Vector]]

    @classmethod
    def of(cls, program: Program) -> Truth:
        if program.name not in _TRUTHS:
            _TRUTHS[program.name] = cls._worked_out(program)
        return _TRUTHS[program.name]

    def binding(self, position: int) -> str:
        return ", ".join(f"{name}={size[position]}" for name, size in self.sizes.items())

    def all_from(self, least: int) -> Vector:
        return reduce(np.logical_and, [size >= least for size in self.sizes.values()])

    @classmethod
    def _worked_out(cls, program: Program) -> Truth:
        sizes = _bindings(program)
        valid = np.ones_like(next(iter(sizes.values())), dtype=bool)
        values: dict[str, Vector] = {}
        outputs: list[Any] = []

        def shape(operand: Operand) -> list[Vector]:
            if isinstance(operand, int):
                return outputs[operand]
            for text in operand:
                if text not in values:
                    values[text] = np.zeros_like(valid, dtype=np.int64) + eval(text, dict(sizes))
                    np.logical_and(valid, values[text] >= 0, out=valid)
            return [values[text] for text in operand]

        for step in program.steps:
            if isinstance(step, Equal):
                left, right = shape((step.left, step.right))
                valid &= left == right
                outputs.append(None)
                continue
            backwards = itertools.zip_longest(reversed(shape(step.left)), reversed(shape(step.right)))
            output = []
            for left, right in backwards:
                if left is None or right is None or left is right:
                    output.append(right if left is None else left)
                    continue
                valid &= (left == right) | (left == 1) | (right == 1)
                output.append(np.where(left == 1, right, left))
            outputs.append(output[::-1])
        return cls(sizes, valid, [o for o in outputs if o is not None])


_TRUTHS: dict[str, Truth] = {}


@dataclass(frozen=True, eq=False)
class _Claimed:
    """What an answer says, at every binding."""

    truth: Truth
    answer: Answer

    @cached_property
    def accepted(self) -> Vector:
        stated = [self._at_all(text) for text in (*self.answer.conditions, *self.answer.assumed)]
        return reduce(np.logical_and, stated, np.ones_like(self.truth.valid))

    @cached_property
    def right(self) -> Vector:
        """Whether every shape is what comes out; the same shape said again is looked at once."""
        right = np.ones_like(self.truth.valid)
        compared: set[tuple[str, int]] = set()
        for said, true in self._sizes():
            if (said, id(true)) not in compared:
                compared.add((said, id(true)))
                right &= self._at_all(said) == true
        return right

    @property
    def lacks_shapes(self) -> bool:
        return any(size is None for output in self.answer.outputs for size in output)

    def _sizes(self) -> Iterator[tuple[str, Vector]]:
        for said, true in zip(self.answer.outputs, self.truth.outputs, strict=True):
            yield from zip(said, true, strict=True)

    def _at_all(self, text: str) -> Vector:
        if text not in self._known:
            self._known[text] = eval(text, self._scope)
        return self._known[text]

    @cached_property
    def _known(self) -> dict[str, Vector]:
        return {}

    @cached_property
    def _scope(self) -> dict[str, Any]:
        sizes = self.truth.sizes
        names = self.answer.names or {name: name for name in sizes}
        return {**_WORDS, **{said: sizes[name] for said, name in names.items()}}


def _bindings(program: Program) -> dict[str, Vector]:
    """Return the sizes at every binding, by name, the small ones first."""
    count = len(program.symbols)
    if len(SIZES) ** count <= AT_MOST:
        found = sorted(itertools.product(SIZES, repeat=count), key=sum)
    else:
        # Half of them of two sizes alone, or next to none of the bindings would be valid.
        draw = random.Random(0)
        found = [draw.choices(SIZES, k=count) for _ in range(2000)]
        found += [draw.choices(draw.sample(SIZES, 2), k=count) for _ in range(2000)]
    return dict(zip(program.symbols, np.array(found, dtype=np.int64).T.copy(), strict=True))


def _first(*candidates: Vector) -> int:
    return next(int(np.argmax(c)) for c in candidates if c.any())


def _join(*sizes: Vector) -> Vector:
    return reduce(lambda a, b: np.where(a == 1, b, a), sizes)


def _compatible(*sizes: Vector) -> Vector:
    joined = _join(*sizes)
    return reduce(np.logical_and, [(size == 1) | (size == joined) for size in sizes])


def _or(*truths: Vector) -> Vector:
    return reduce(np.logical_or, truths)


def _and(*truths: Vector) -> Vector:
    return reduce(np.logical_and, truths)


def _max(*sizes: Vector) -> Vector:
    return reduce(np.maximum, sizes)


def _min(*sizes: Vector) -> Vector:
    return reduce(np.minimum, sizes)


_WORDS: dict[str, Any] = {
    # symbcast and sympy
    "broadcast": _join,
    "compatible": _compatible,
    "Eq": np.equal,
    "Ne": np.not_equal,
    "Mod": np.mod,
    "floor": np.floor,
    "Or": _or,
    "And": _and,
    "Max": _max,
    "Min": _min,
    # jax
    "floordiv": np.floor_divide,
    "mod": np.mod,
    "max": _max,
    "min": _min,
    # tvm
    "T": SimpleNamespace(max=_max, min=_min, int64=int, bool=bool),
}
"""What the words mean in which frameworks write sizes and conditions."""
