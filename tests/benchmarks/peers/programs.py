"""The programs: steps over sizes in text, which each contestant reads in its own numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TypeAlias

Operand: TypeAlias = tuple[str, ...] | int
"""A shape, or the number of an earlier step whose output is meant."""


@dataclass(frozen=True)
class Broadcast:
    """Operands are broadcast by NumPy's rule."""

    left: Operand
    right: Operand


@dataclass(frozen=True)
class Equal:
    """Two sizes are equal."""

    left: str
    right: str


@dataclass(frozen=True)
class Program:
    """Steps over named sizes. ``hints`` are the sizes of the example that a tracing contestant is shown."""

    name: str
    steps: tuple[Broadcast | Equal, ...]
    hints: dict[str, int] = field(hash=False)

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(self.hints)

    def __str__(self) -> str:
        return self.name


def program(name: str, *steps: Broadcast | Equal, **hints: int) -> Program:
    return Program(name, steps, hints)


def shape(text: str) -> tuple[str, ...]:
    return tuple(size.strip() for size in text.split(","))


def beside(left: str, right: str) -> Broadcast:
    return Broadcast(shape(left), shape(right))


def _attention(padding: str) -> list[Broadcast]:
    """Attention over a cache, sizes by name only; ``padding`` is the length that the padding mask has."""
    scores, mixed = "batch, heads, T, S", "batch, heads, T, d"
    return [
        beside(mixed, "d"),  # 0: query, its bias
        beside("batch, heads, S, d", "d"),  # 1: keys, their bias
        beside("batch, heads, S, d", "d"),  # 2: values, their bias
        beside(mixed, "T, d"),  # 3: query by the cosines
        beside(mixed, "T, d"),  # 4: turned query by the sines
        Broadcast(3, 4),  # 5
        beside("batch, heads, S, d", "S, d"),  # 6: keys by the cosines
        beside("batch, heads, S, d", "S, d"),  # 7: turned keys by the sines
        Broadcast(6, 7),  # 8
        beside(scores, "1"),  # 9: scores, scaled
        Broadcast(9, shape("T, S")),  # 10: causal mask
        Broadcast(10, shape(f"batch, 1, 1, {padding}")),  # 11: padding mask
        Broadcast(11, shape("heads, 1, S")),  # 12: bias of each head
        Broadcast(12, shape("batch, heads, T, 1")),  # 13: less the maximum
        Broadcast(13, shape("batch, heads, T, 1")),  # 14: by the sum
        Broadcast(14, shape(f"batch, 1, 1, {padding}")),  # 15: rows of padding are zeroed
        beside(mixed, "heads, 1, 1"),  # 16: heads weighed
        beside(mixed, mixed),  # 17: residual
        Broadcast(17, shape("batch, heads, T, 1")),  # 18: norm
        Broadcast(18, shape("d")),  # 19: its weights
    ]


def _chain(length: int, symbols: int = 8, rank: int = 4) -> list[Broadcast]:
    """Broadcasts one after another, each size one of a few symbols or 1."""
    draw = random.Random(0)
    sizes = [*(f"s{n}" for n in range(symbols)), "1"]
    shapes = [tuple(draw.choice(sizes) for _ in range(rank)) for _ in range(length + 1)]
    return [Broadcast(n - 1 if n else shapes[0], shapes[n + 1]) for n in range(length)]


def _agreeing(length: int) -> list[Broadcast]:
    """Broadcasts one after another that are always valid: each axis has one symbol of its own, or 1."""
    draw = random.Random(0)
    shapes = [tuple(draw.choice([f"s{axis}", "1"]) for axis in range(4)) for _ in range(length + 1)]
    return [Broadcast(n - 1 if n else shapes[0], shapes[n + 1]) for n in range(length)]


_SIZES = {"batch": 2, "heads": 3, "T": 4, "S": 5, "d": 6}
_EIGHT = {f"s{n}": 4 for n in range(8)}

PROGRAMS = [
    program("N beside M, shown 4 and 4", beside("N", "M"), N=4, M=4),
    program("N beside M, shown 4 and 1", beside("N", "M"), N=4, M=1),
    program("attention, one name a size", *_attention("S"), **_SIZES),
    program("attention, padding of length P", *_attention("P"), **_SIZES, P=5),
    program("chain of 1,000, one name an axis", *_agreeing(1000), **{f"s{n}": n + 2 for n in range(4)}),
    program("chain of 1,000 over 8 names", *_chain(1000), **_EIGHT),
    program("chain of 10,000 over 8 names", *_chain(10000), **_EIGHT),
    program("halves: N//2 beside N - N//2", beside("N//2", "N - N//2"), N=4),
    program("concatenation: N + M beside K", beside("N + M", "K"), N=2, M=3, K=5),
    program("2*N beside N", beside("2*N", "N"), N=4),
    program("impossible: N == 2 beside M == 3", Equal("N", "2"), Equal("M", "3"), beside("N", "M"), N=2, M=3),
    program("N beside 1", beside("N", "1"), N=4),
    program("N == 0 beside M", Equal("N", "0"), beside("N", "M"), N=0, M=1),
]
