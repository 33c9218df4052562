"""Sizes that facts connect, and whether a size may be 1 or anything else whatever the connected sizes are.

An island is *loose* if its sizes are connected by joins and equalities only, and nothing says of any of them that it is
not 1. Then each class of equal sizes can have any of its values while all other classes are 1: every join of the island
is defined. So in a loose island no size must be 1, unless its own set says so, and no size is covered by another one.
These are the facts of nearly all programs, and deciding them takes a look-up (`symbcast.core.solver.masks.mask_clauses`
uses the same law for programs of joins alone).
"""

from __future__ import annotations

from collections.abc import Iterable

from symbcast.core.solver.masks.relations import Node


class Islands:
    """A partition of sizes that grows together; a size that was never linked is an island by itself.

    >>> islands = Islands()
    >>> islands.link("NMK")
    >>> islands.is_loose("N")
    True
    >>> islands.tighten("K")
    >>> islands.is_loose("N"), islands.is_loose("T")
    (False, True)
    """

    __slots__ = ("_parent", "_size", "_tight", "_trail")

    def __init__(self) -> None:
        self._parent: dict[Node, Node] = {}
        self._size: dict[Node, int] = {}
        self._tight: set[Node] = set()
        """The roots of islands that are not loose."""
        self._trail: list[tuple[Node, Node | None, bool]] = []
        """For `undo`: a root that was put below another one, and whether that became tight by it; or a root alone."""

    def copy(self) -> Islands:
        """Return an independent copy, which cannot be undone beyond this point."""
        made = Islands()
        made._parent, made._size, made._tight = self._parent.copy(), self._size.copy(), self._tight.copy()
        return made

    def is_loose(self, node: Node) -> bool:
        """Return whether the island of a size is loose."""
        return self._root(node) not in self._tight

    def link(self, nodes: Iterable[Node]) -> None:
        """Connect sizes by a join or an equality."""
        first, *others = nodes
        root = self._root(first)
        for node in others:
            other = self._root(node)
            if other is not root and other != root:
                root = self._union(root, other)

    def tighten(self, node: Node) -> None:
        """Record that something else is known of a size."""
        root = self._root(node)
        if root not in self._tight:
            self._tight.add(root)
            self._trail.append((root, None, True))

    def mark(self) -> int:
        """Return the present state, for `undo`."""
        return len(self._trail)

    def undo(self, mark: int) -> None:
        """Undo everything since a mark."""
        while len(self._trail) > mark:
            low, high, became_tight = self._trail.pop()
            root = low if high is None else high
            if became_tight:
                self._tight.discard(root)
            if high is not None:
                del self._parent[low]
                self._size[high] -= self._size.get(low, 1)

    def keep(self) -> None:
        """Make everything so far permanent."""
        self._trail.clear()

    def _root(self, node: Node) -> Node:
        parent = self._parent
        while node in parent:
            node = parent[node]
        return node

    def _union(self, left: Node, right: Node) -> Node:
        sizes = self._size
        if sizes.get(left, 1) < sizes.get(right, 1):
            left, right = right, left
        self._parent[right] = left
        sizes[left] = sizes.get(left, 1) + sizes.get(right, 1)
        becomes_tight = right in self._tight and left not in self._tight
        if becomes_tight:
            self._tight.add(left)
        self._trail.append((right, left, becomes_tight))
        return left
