"""Fold a graph into blocks: by the modules that its nodes come from, and by its order where these say nothing.

A block has at most `MOST` members. A longer one is cut into runs of consecutive members where the fewest values cross
the cut. So the blocks of a network without names of modules begin and end where a single value goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

MOST = 24
"""The largest number of members of a block."""
LEAST = 5
"""The smallest number of members of a run; shorter ones say less than their members."""


@dataclass
class Block:
    """Consecutive parts of a graph under one name.

    Attributes:
        name: the path of its module below the block around it, or empty for a run of members.
        members: places of nodes, and blocks, in the order of the graph.
    """

    name: str
    members: list[Member] = field(default_factory=list)

    def places(self) -> Iterator[int]:
        """Yield the places of all nodes inside, at any depth."""
        for member in self.members:
            if isinstance(member, Block):
                yield from member.places()
            else:
                yield member


Member: TypeAlias = "int | Block"


def folded(paths: Sequence[Sequence[str]], uses: Sequence[Sequence[int]]) -> Block:
    """Return the outermost block of a graph.

    ``paths`` has the modules around each node, outermost first; ``uses`` the places of the nodes whose values it takes.

    >>> folded([("a",), ("a",), ()], [[], [0], [1]])
    Block(name='', members=[Block(name='a', members=[0, 1]), 2])
    """
    top = Block("")
    inside: dict[tuple[str, ...], Block] = {(): top}
    for place, path in enumerate(paths):
        for depth in range(1, len(path) + 1):
            around = tuple(path[:depth])
            if around not in inside:
                inside[around] = Block(around[-1])
                inside[around[:-1]].members.append(inside[around])
        inside[tuple(path)].members.append(place)
    return _cut(_joined(top), uses)


def _joined(block: Block) -> Block:
    """Return a block without blocks that have a single member."""
    members: list[Member] = []
    for member in block.members:
        if isinstance(member, int):
            members.append(member)
            continue
        inner = _joined(member)
        only = inner.members[0]
        if len(inner.members) > 1:
            members.append(inner)
        elif isinstance(only, Block):
            members.append(Block(f"{inner.name}/{only.name}", only.members))
        else:
            members.append(only)
    return Block(block.name, members)


def _cut(block: Block, uses: Sequence[Sequence[int]]) -> Block:
    """Return a block whose members, and those of all blocks inside, are not too many."""
    members = [_cut(m, uses) if isinstance(m, Block) else m for m in block.members]
    while len(members) > MOST:
        members = [Block("", run) if len(run) > 1 else run[0] for run in _runs(members, uses)]
    return Block(block.name, members)


def _runs(members: Sequence[Member], uses: Sequence[Sequence[int]]) -> list[list[Member]]:
    """Return members in runs of `LEAST` to `MOST`, cut where the fewest values cross in all.

    The least sum over all cuts is found from the front: ``cost[n]`` is that of cutting the first ``n`` members.
    """
    crossing, count = _crossing(members, uses), len(members)
    cost: list[float] = [0.0] + [float("inf")] * count
    before = [0] * (count + 1)
    for end in range(1, count + 1):
        for start in range(max(0, end - MOST), end):
            # A short run is allowed, but costs as much as several crossing values.
            short = max(0, LEAST - (end - start))
            found = cost[start] + crossing[end] + 0.5 + short
            if found < cost[end]:
                cost[end], before[end] = found, start
    ends = [count]
    while ends[-1]:
        ends.append(before[ends[-1]])
    ends.reverse()
    return [list(members[a:b]) for a, b in pairwise(ends)]


def _crossing(members: Sequence[Member], uses: Sequence[Sequence[int]]) -> list[int]:
    """Return for each cut, before member ``n``, how many nodes before it have values that are used after it."""
    owner: dict[int, int] = {}
    for n, member in enumerate(members):
        owner.update(dict.fromkeys([member] if isinstance(member, int) else member.places(), n))
    last: dict[int, int] = {}
    for place, n in owner.items():
        for used in uses[place]:
            if used in owner:
                last[used] = max(last.get(used, 0), n)
    change = [0] * (len(members) + 2)
    for used, n in last.items():
        if owner[used] < n:
            change[owner[used] + 1] += 1
            change[n + 1] -= 1
    found, now = [], 0
    for step in change[: len(members) + 1]:
        now += step
        found.append(now)
    return found
