"""The picture of a model as data: items in blocks, the values between them, and the requirements of nodes.

Nodes whose inputs are all constants are left out, as they say nothing about sizes; their values are among the inputs of
the nodes that take them.

A block has at most `MOST` members. A longer one is cut into runs of consecutive members where the fewest values cross
the cut. So the blocks of a network without names of modules begin and end where a single value goes on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.answers.contracts.question import ELEMENT_TYPES
from symbcast.answers.show.document import Shortener
from symbcast.core.characters import prose_list, shorten_middle, sizes_text, visible
from symbcast.core.shapes import any_shape_of
from symbcast.graphs.graph import NOTHING, Graph, Node
from symbcast.graphs.report.answer import GraphAnswer
from symbcast.graphs.report.blame import describe_value
from symbcast.graphs.report.presentation import condition_text, model_verdict_words
from symbcast.graphs.walking.walk import CalledBody
from symbcast.operators.values.value import Value, known_dims

if TYPE_CHECKING:
    from symbcast.graphs.report.findings import Finding


# The largest number of members of a block.
MOST = 24
# The smallest number of members of a run; shorter ones say less than their members.
LEAST = 5


@dataclass
class GraphBlock:
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
            if isinstance(member, GraphBlock):
                yield from member.places()
            else:
                yield member


Member: TypeAlias = "int | GraphBlock"


def fold_blocks(paths: Sequence[Sequence[str]], uses: Sequence[Sequence[int]]) -> GraphBlock:
    """Return the outermost block of a graph.

    ``paths`` has the modules around each node, outermost first; ``uses`` the places of the nodes whose values it takes.

    >>> fold_blocks([("a",), ("a",), ()], [[], [0], [1]])
    GraphBlock(name='', members=[GraphBlock(name='a', members=[0, 1]), 2])
    """
    top = GraphBlock("")
    inside: dict[tuple[str, ...], GraphBlock] = {(): top}
    for place, path in enumerate(paths):
        for depth in range(1, len(path) + 1):
            around = tuple(path[:depth])
            if around not in inside:
                inside[around] = GraphBlock(around[-1])
                inside[around[:-1]].members.append(inside[around])
        inside[tuple(path)].members.append(place)
    return _cut(_joined(top), uses)


def _joined(block: GraphBlock) -> GraphBlock:
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
        elif isinstance(only, GraphBlock):
            members.append(GraphBlock(f"{inner.name}/{only.name}", only.members))
        else:
            members.append(only)
    return GraphBlock(block.name, members)


def _cut(block: GraphBlock, uses: Sequence[Sequence[int]]) -> GraphBlock:
    """Return a block whose members, and those of all blocks inside, are not too many."""
    members = [_cut(m, uses) if isinstance(m, GraphBlock) else m for m in block.members]
    while len(members) > MOST:
        members = [GraphBlock("", run) if len(run) > 1 else run[0] for run in _runs(members, uses)]
    return GraphBlock(block.name, members)


def _runs(members: Sequence[Member], uses: Sequence[Sequence[int]]) -> list[list[Member]]:
    """Return members in runs of `LEAST` to `MOST`, cut where the fewest values cross in all."""
    crossing, count = _crossing(members, uses), len(members)
    # ``cost[n]`` is the least sum of cutting the first ``n`` members: a shortest path, found from the front.
    cost: list[float] = [0.0] + [float("inf")] * count
    before = [0] * (count + 1)
    for end in range(1, count + 1):
        for start in range(max(0, end - MOST), end):
            # A short run is allowed, but costs as much as several crossing values.
            short = max(0, LEAST - (end - start))
            total = cost[start] + crossing[end] + 0.5 + short
            if total < cost[end]:
                cost[end], before[end] = total, start
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
    counts, now = [], 0
    for step in change[: len(members) + 1]:
        now += step
        counts.append(now)
    return counts


# The size of a graph that is unfolded as a whole, and how many items of a larger one blamed nodes may unfold.
OPEN, MOST_OPEN = 60, 80
# Blocks are unfolded at first, from the outside, as long as no more items are shown.
FEW = 30
# Inner graphs are not drawn beyond this many items: functions that call each other grow without bound.
MOST_ITEMS = 20_000
DEEPEST = 8
# Inner graphs with fewer nodes, such as the sum inside a reduction, are not drawn.
LEAST_INNER = 3
# How many operators the summary of a block names.
_KINDS = 2

Item = dict[str, Any]


def drawing_of(report: GraphAnswer) -> dict[str, Any]:
    """Return the picture of a model as data for `json.dumps`.

    ``items`` are nodes, inputs, outputs and blocks, each with the index of the block around it; ``values`` are what
    they pass on, with the index of the text of their shape; ``open`` are the blocks that are unfolded at first.
    """
    drawer = _Drawer(report)
    model = report._checked.model
    walk = report._checked.walk
    drawer.graph(CalledBody(model.graph, walk.top.values, walk.inner), -1, {}, list(model.input_names))
    drawer.mark()
    return {
        "verdict": visible(model_verdict_words(report)),
        "condition": visible(drawer.shortener.text(condition_text(report))),
        "items": drawer.items,
        "values": drawer.values,
        "shapes": list(drawer.texts),
        "findings": [drawer.finding(n, f) for n, f in enumerate(report.findings)],
        "legend": drawer.shortener.legend(drawer.texts),
        "open": _opened(drawer.items),
    }


class _Drawer:
    """Collects the items and values of a picture."""

    def __init__(self, report: GraphAnswer) -> None:
        self.report = report
        checked = report._checked
        self.shortener = Shortener(checked.aliases)
        self.items: list[Item] = []
        # Each value: its name, the index of its shape's text, its element type, and the item that makes it or -1.
        self.values: list[list[Any]] = []
        self.texts: dict[str, int] = {}
        self._namer = self.shortener.namer(checked.env.shown)
        # The item of each node, by the node's identity.
        self._nodes: dict[int, int] = {}
        self._titles: dict[str, list[int]] = defaultdict(list)
        self._known: dict[Any, str] = {}
        # How often an inner graph is run: the shapes in one that is run several times may differ.
        self._calls: Counter[int] = Counter()
        # In how many functions the graph is that is being drawn.
        self._called = 0
        # What calls of functions ran, by the kind of the node and the shapes of its inputs.
        self._twins: dict[tuple[Any, ...], list[CalledBody]] = defaultdict(list)
        self._needed = {id(p.node) for p in checked.asker.places.values()}

    # Items.

    def graph(self, body: CalledBody, parent: int, outer: Mapping[str, int], inputs: Sequence[str]) -> list[int]:
        """Add the items of a graph to a block; return its output values.

        ``outer`` has the drawn values that it can take from outside, and the values of ``body`` those around it too.
        """
        graph, values, _ = body
        scope = dict(outer)
        for name in inputs:
            item = self._add(parent, n=name, k="input")
            scope[name] = self._value(name, values.get(name), item)
            self.items[item]["r"] = [scope[name]]
        nodes = [n for n in graph.nodes if n.outputs] if parent < 0 else list(graph.nodes)
        drawn = self._not_constant(nodes, scope, graph.outputs)
        makers = {name: place for place, node in enumerate(drawn) for name in node.outputs if name}
        uses = [[makers[name] for name in node.inputs if name in makers] for node in drawn]
        around: list[tuple[Node, int]] = []
        self._block(fold_blocks([node.path for node in drawn], uses), drawn, parent, around)
        for node, item in around:
            outputs_of_node = [self._value(name, values.get(name), item) for name in node.outputs if name]
            scope.update(zip((name for name in node.outputs if name), outputs_of_node, strict=True))
            self.items[item]["r"] = outputs_of_node
        for node, item in around:
            self.items[item]["i"] = [self._used(name, scope, values) for name in node.inputs if name]
            self._inside(node, item, scope, body)
        outputs = [self._used(name, scope, values) for name in graph.outputs]
        for name, value in zip(graph.outputs, outputs, strict=True) if parent < 0 else ():
            self._add(parent, n=name, k="output", i=[value])
        return outputs

    def _block(self, block: GraphBlock, nodes: Sequence[Node], parent: int, around: list[tuple[Node, int]]) -> None:
        """Add the members of a block; collect each node with its item."""
        for member in block.members:
            if isinstance(member, GraphBlock):
                inside = [nodes[place] for place in member.places()]
                name = member.name or f"{_title(inside[0])} … {_title(inside[-1])}"
                item = self._add(parent, n=name, k="block", s=_summary(inside))
                self._block(member, nodes, item, around)
                continue
            node = nodes[member]
            more = {"w": node.where} if node.where else {}
            item = self._add(parent, n=_title(node), k="node", o=node.op_type, **more)
            self._nodes.setdefault(id(node), item)
            if not self._called:  # a node of a function may be called like one of the model
                self._titles[node.title].append(item)
            around.append((node, item))

    def _inside(self, node: Node, item: int, scope: Mapping[str, int], around: CalledBody) -> None:
        """Put a node that runs graphs, or calls a function, into a block with them; their outputs lead to it."""
        called = self._body(node, around.values)
        graphs = {name: g for name, g in node.graphs.items() if len(g.nodes) >= LEAST_INNER or self._is_needed(g)}
        is_deep = len([*_around(self.items, item)]) > DEEPEST or len(self.items) > MOST_ITEMS
        if is_deep or not (graphs or called):
            return
        block = self._add(self.items[item]["p"], n=_title(node), k="block", s=f"{node.op_type} and what it runs")
        self.items[item]["p"] = block
        if called is not None:
            arguments = zip(called.graph.inputs, node.inputs, strict=False)
            taken = {own: self._used(name, scope, around.values) for own, name in arguments if name}
            self._called += 1
            self.items[item]["i"] = self.graph(called, block, taken, ())
            self._called -= 1
        for name, graph in graphs.items():
            self._calls[id(graph)] += 1
            branch = self._add(block, n=name, k="block", s=_summary(graph.nodes)) if len(graphs) > 1 else block
            inner = CalledBody(graph, self._inner(graph, around), around.inner)
            self.items[item]["i"] += self.graph(inner, branch, scope, graph.inputs)

    def _body(self, node: Node, values: Mapping[str, Value]) -> CalledBody | None:
        """Return what a call of a function ran; None for any other node."""
        bodies = self.report._checked.walk.bodies
        body_of_node = bodies.get(id(node))
        if not bodies or node.kind is None:
            return body_of_node
        alike = self._twins[self._key(node, values)]
        if body_of_node is not None and not any(body is body_of_node for body in alike):
            alike.append(body_of_node)
        # A twin, whose results were taken over, ran what the only other call with such inputs did.
        return body_of_node or (alike[0] if len(alike) == 1 else None)

    def _key(self, node: Node, values: Mapping[str, Value]) -> tuple[Any, ...]:
        shapes = (None if (value := values.get(name)) is None else known_dims(value) for name in node.inputs)
        return (node.kind, *shapes)

    def _is_needed(self, graph: Graph) -> bool:
        return any(id(node) in self._needed for inner in graph.and_inner() for node in inner.nodes)

    def _inner(self, graph: Graph, around: CalledBody) -> Mapping[str, Value]:
        """Return the values of an inner graph, and those around it that have none of its names."""
        own = {*graph.inputs, *(name for node in graph.nodes for name in node.outputs)}
        inner = around.inner if self._calls[id(graph)] == 1 else NOTHING
        outside = {name: value for name, value in around.values.items() if name not in own}
        return {**outside, **graph.constants, **{name: inner[name] for name in own if name in inner}}

    def _not_constant(self, nodes: Sequence[Node], scope: Mapping[str, int], outputs: Sequence[str]) -> list[Node]:
        """Return the nodes that take a value of an input or of another such node, and those that are blamed."""
        alive, needed, drawn = set(scope), {*outputs}, []
        for node in nodes:
            names = [name for name in node.inputs if name in alive]
            if names or node.graphs or id(node) in self._needed or (needed & {*node.outputs} and not node.held):
                drawn.append(node)
                alive.update(node.outputs)
        return drawn

    def _add(self, parent: int, **item: Any) -> int:
        self.items.append({**item, "n": visible(self.shortener.text(item["n"])), "p": parent})
        return len(self.items) - 1

    # Values.

    def _used(self, name: str, scope: Mapping[str, int], values: Mapping[str, Value]) -> int:
        value = scope.get(name)
        return self._value(name, values.get(name), -1) if value is None else value

    def _value(self, name: str, value: Value | None, item: int) -> int:
        text = visible("" if value is None else self._shape(value))
        kind = "" if value is None else ELEMENT_TYPES.get(value.dtype, "")
        self.values.append([visible(name), self.texts.setdefault(text, len(self.texts)), kind, item])
        return len(self.values) - 1

    def _shape(self, value: Value) -> str:
        dims = known_dims(value)
        if dims is None:
            return describe_value(value, self._namer.dim)
        if dims not in self._known:
            self._known[dims] = self._namer.shape(any_shape_of(dims))
        return self._known[dims]

    # Requirements.

    def mark(self) -> None:
        """Mark the nodes that are to blame or were not checked, and say it of the blocks around them."""
        for left in self.report.unanalysed:
            for item in self._places(left.node):
                self.items[item].setdefault("u", left.reason)
        for number, finding in enumerate(self.report.findings):
            for name in finding.origins or (finding.node,):
                for item in self._places(name):
                    self.items[item].setdefault("f", []).append(number)
        for item, sign in [(n, sign) for n, marks in enumerate(self.items) for sign in "fu" if sign in marks]:
            for around in _around(self.items, item):
                self.items[around].setdefault("c", {"f": 0, "u": 0})[sign] += 1

    def _places(self, name: str) -> Sequence[int]:
        """Return the items of a node by its name in answers."""
        place = self.report._checked.asker.places.get(name)
        if place is not None:  # a node of a function may be called like one that is drawn
            return [self._nodes[id(place.node)]] if id(place.node) in self._nodes else ()
        return self._titles.get(name) or self._titles.get(name.rpartition(" (")[0]) or ()

    def finding(self, number: int, finding: Finding) -> dict[str, Any]:
        """Return a requirement for the list next to the picture."""
        at = "" if finding.counterexample is None else sizes_text(finding.counterexample, 6)
        there = finding.sizes_there
        texts = {
            "words": finding.words,
            "node": finding.node,
            "op": finding.op_type,
            "reason": finding.reason,
            "text": finding.text,
            "fails": f"{at}: {there}" if at and there else at or there,
            "fix": finding.fix,
        }
        items = [n for n, item in enumerate(self.items) if number in item.get("f", ())]
        return {**{key: visible(self.shortener.text(text)) for key, text in texts.items()}, "items": items}


def _title(node: Node) -> str:
    """Return the name of a node below the modules around it."""
    name, _, last = node.title.rpartition("/")
    return last if name and last else node.title


def _summary(nodes: Sequence[Node]) -> str:
    """Return the number of nodes, and the most frequent operators."""
    counts = Counter(node.op_type for node in nodes).most_common()
    more = [f"{len(counts) - _KINDS} more"] if len(counts) > _KINDS else []
    kinds = prose_list([*(f"{n} {shorten_middle(kind, 30)}" for kind, n in counts[:_KINDS]), *more])
    return f"{len(nodes)} nodes: {kinds}" if len(nodes) > 1 else kinds


def _opened(items: Sequence[Item]) -> list[int]:
    """Return the blocks to unfold at first: all of a small graph; of a large one, those around blamed nodes.

    They are unfolded as long as there is room, those of the first requirement first.
    """
    members: Counter[int] = Counter(item["p"] for item in items)
    if len(items) <= OPEN:
        return [n for n, item in enumerate(items) if item["k"] == "block"]
    shown, unfolded = members[-1], dict[int, None]()
    for item in sorted((n for n, item in enumerate(items) if "f" in item), key=lambda n: (items[n]["f"][0], n)):
        closed = [block for block in _around(items, item) if block not in unfolded]
        added = sum(members[block] for block in closed)
        if shown + added <= MOST_OPEN:
            shown += added
            unfolded.update(dict.fromkeys(closed))
    for block in (n for n, item in enumerate(items) if item["k"] == "block"):  # outer blocks come before those inside
        is_shown = items[block]["p"] in unfolded or items[block]["p"] < 0
        if is_shown and block not in unfolded and shown + members[block] <= FEW:
            shown += members[block]
            unfolded[block] = None
    return sorted(unfolded)


def _around(items: Sequence[Item], item: int) -> Iterator[int]:
    """Yield the blocks around an item, from the inside."""
    around = items[item]["p"]
    while around >= 0:
        yield around
        around = items[around]["p"]
