"""The least and greatest sizes and bytes of every value of a model, and the most bytes alive at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

from symbcast.answers.contracts.question import ELEMENT_TYPES
from symbcast.answers.findings import axes_at
from symbcast.answers.public.size_bounds import Bound, SizeBounds, opened, size_bounds
from symbcast.answers.show.document import Document, Part, Room, Row, Span, Table, Tone, field, fields, heading, words
from symbcast.answers.show.documented import Explained
from symbcast.core.algebra.arithmetic import add, ceil_divide, multiply
from symbcast.core.algebra.formulas import Formula, at_most
from symbcast.core.algebra.symbols import SequenceSymbol
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.characters import prose_list, sizes_text
from symbcast.core.programs.certificates import known_of
from symbcast.core.programs.conditions import extremes_in_answer, named_sizes
from symbcast.core.shapes import Shape, shape_of
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import names_of
from symbcast.operators.values.value import Value

if TYPE_CHECKING:
    from symbcast.graphs.graph import Graph
    from symbcast.graphs.model import CheckedModel

# Bits of an element by the number of its type in ONNX's ``TensorProto.DataType``; texts have none.
_BITS = {1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16}
_BITS |= {**dict.fromkeys((17, 18, 19, 20, 24), 8), **dict.fromkeys((21, 22, 23), 4)}
_SHOWN = 10
# Values without a greatest size are ordered by their elements where every size is this large.
_LARGE = 1 << 10
# At how many nodes the bytes alive are decided together, where bounds of each value do not suffice.
_TOGETHER = 8
_OPEN = "values may be alive together whose bytes were not bounded together"


class ValueBounds(NamedTuple):
    """A tensor of a model.

    Attributes:
        name: Its name.
        shape: Its shape.
        element_type: NumPy's name of its element type; empty if that is unknown.
        axes: The least and greatest size of each axis.
        bytes: The least and greatest number of bytes of its elements; None if the element type has no known size.
    """

    name: str
    shape: Shape
    element_type: str
    axes: tuple[SizeBounds, ...]
    bytes: SizeBounds | None


@dataclass(frozen=True)
class ModelBounds(Explained):
    """The least and greatest sizes and bytes of the values of a model, at all sizes at which it runs.

    Constants, such as weights, are left out: their sizes are fixed.

    Attributes:
        source: The file name, or the name of the graph.
        values: The tensors of known shape, by name.
        alive: The most bytes that inputs and computed values of the main graph take at once, if each is kept from the
            node that computes it (an input: from the start) to the last one that uses it.
        alive_at: The node that runs when that is reached; empty if that was not decided.
    """

    source: str
    values: Mapping[str, ValueBounds]
    alive: Bound
    alive_at: str

    @property
    def largest(self) -> ValueBounds | None:
        """The value with the most bytes; None if one has no greatest number of bytes, or none that is known."""
        most = {name: v.bytes.greatest for name, v in self.values.items() if v.bytes is not None}
        known = {name: size for name, size in most.items() if size is not None}
        return self.values[max(known, key=known.__getitem__)] if known and len(known) == len(most) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds as plain data for JSON; those of sizes are as `SizeBounds.json_schema` describes them."""
        values = {
            name: {
                "element_type": v.element_type,
                "axes": [axis.to_dict() for axis in v.axes],
                "bytes": None if v.bytes is None else v.bytes.to_dict(),
            }
            for name, v in self.values.items()
        }
        largest, alive = self.largest, {**self.alive._asdict(), "grows_with": list(self.alive.grows_with)}
        name = None if largest is None else largest.name
        return {"source": self.source, "values": values, "largest": name, "alive": alive, "alive_at": self.alive_at}

    def __repr__(self) -> str:
        return f"<ModelBounds of {self.source}: {len(self.values)} values, {self._statement}>"

    @property
    def _statement(self) -> str:
        if self.alive.grows_with:
            return "bytes without a greatest value"
        limit = "" if self.alive.value is not None else "at most "
        most = self.alive.proved
        return "bytes not bounded" if most is None else f"{limit}{most} bytes alive at once{_binary(most)}"

    def _document(self, *room: Room) -> Document:
        heads = Row("value", tuple(map(Span, ("type", "shape", "bytes", "the most at"))), Part.HEAD)
        sized = sorted((v for v in self.values.values() if v.bytes is not None), key=_most_bytes)
        shown = sized if Room.WHOLE in room else sized[:_SHOWN]
        rows = [_row(v, v.bytes) for v in shown if v.bytes is not None]
        left = len(self.values) - len(rows)
        more = f"{left} more; --all, or .values in Python, lists them" if left else ""
        at = "" if self.alive.at is None else f" at {sizes_text(self.alive.at)}" if self.alive.at else ""
        most = words(f"{self._statement}{at}{f', when {self.alive_at} runs' if self.alive_at else ''}")
        if self.alive.grows_with:
            most = words(f"no greatest number of bytes: it grows with {prose_list(self.alive.grows_with)}")
        tone = Tone.FINE if self.alive.is_decided else Tone.UNDECIDED
        grows = any(v.bytes is not None and v.bytes.upper.grows_with for v in self.values.values())
        name = next((n for v in sized if v.bytes is not None for n in v.bytes.upper.grows_with), "")
        tip = (
            f'bound its sizes: assume "{name} <= 640" (--assume), with the greatest that a request has' if grows else ""
        )
        below = fields(
            [
                field("values", words(more)),
                field("alive", most),
                field("undecided", words(self.alive.reason)),
                field("not counted", words("constants, such as weights, and what a runtime needs besides")),
                field("fix", words(tip)),
            ]
        )
        blocks = (Table("values with the most bytes", (heads, *rows), align="lllr"), below) if rows else (below,)
        return Document(heading(self.source, self._statement), tone, blocks)


def _most_bytes(value: ValueBounds) -> tuple[bool, int, int]:
    """Return the key of the order: values without a greatest size first, those that grow fastest before others."""
    assert value.bytes is not None
    if not value.bytes.upper.grows_with:
        return True, -(value.bytes.at_most or 0), 0
    large = axes_at(value.shape.dims, dict.fromkeys(symbols_of(value.shape.dims), _LARGE))
    return False, -prod(size for size in large if size is not None), -(value.bytes.at_least or 0)


def _row(value: ValueBounds, size: SizeBounds) -> Row:
    at = sizes_text(size.greatest_at) if size.greatest_at else ""
    taken = f"{size.statement}{'' if size.upper.grows_with else _binary(size.at_most or 0)}"
    return Row(value.name, tuple(map(Span, (value.element_type, str(value.shape), taken, at))))


def _binary(count: int) -> str:
    """Return a number of bytes in the largest binary unit that it reaches, in parentheses; empty below 1 KiB.

    >>> _binary(18874368), _binary(1500), _binary(1 << 30), _binary(1023)
    (' (18 MiB)', ' (1.5 KiB)', ' (1 GiB)', '')
    """
    unit, name = next(
        ((1 << 10 * n, u) for n, u in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")) if count >> 10 * n), (1, "")
    )
    return f" ({f'{count / unit:.1f}'.removesuffix('.0')} {name})" if name else ""


def model_bounds(checked: CheckedModel, reason: str) -> ModelBounds:
    """Return the bounds of all values of a model; ``reason`` says why it may run at fewer sizes than is known."""
    find = _finder(checked, reason)
    values = dict(_values(checked))
    taken = {name: size for name, v in values.items() if (size := _bytes(v)) is not None}
    bounds = {
        name: ValueBounds(
            name,
            shape_of(v.shape or ()),
            ELEMENT_TYPES.get(v.dtype, ""),
            tuple(map(find, v.shape or ())),
            find(taken[name]) if name in taken else None,
        )
        for name, v in values.items()
    }
    return ModelBounds(checked.source, bounds, *_alive(checked.model.graph, taken, find))


def _values(checked: CheckedModel) -> Iterator[tuple[str, Value]]:
    """Yield the tensors of known shape that are no constants."""
    nodes = (node for graph in checked.model.graph.and_inner() for node in graph.nodes if node.held is None)
    names = {*checked.inputs.values, *(name for node in nodes for name in node.outputs)}
    for name, value in {**checked.walk.inner, **checked.walk.top.values}.items():
        shape = value.shape if name in names else None
        if shape is not None and not any(isinstance(s, SequenceSymbol) for s in symbols_of(shape)):
            yield name, value


def _bytes(value: Value) -> Dim | None:
    bits = _BITS.get(value.dtype)
    return None if bits is None else ceil_divide(multiply(bits, *(value.shape or ())), 8)


def _finder(checked: CheckedModel, reason: str) -> Callable[[Dim], SizeBounds]:
    """Return the function that finds the bounds of a size of a model, each once."""
    inputs, env, own = checked.conditions.inputs, checked.env, checked.asker.origins.keys()
    limits: list[Formula] = [at_most(size, most) for size, most in checked.asker.most.items()]
    names = names_of((*named_sizes(env).values(), *named_sizes(inputs).values()))
    # Sizes of inputs alone need not be asked about together with those that data decide.
    by_inputs = extremes_in_answer(inputs, known_of(inputs))
    by_all = extremes_in_answer(env, known_of(env), limits) if own else by_inputs

    @cache
    def find(size: Dim) -> SizeBounds:
        extremes = by_inputs if own.isdisjoint(symbols_of((size,))) else by_all
        found = size_bounds(str(size), extremes(size), names, checked.assumptions)
        return opened(found, reason) if reason else found

    return find


def _alive(graph: Graph, taken: Mapping[str, Dim], find: Callable[[Dim], SizeBounds]) -> tuple[Bound, str]:
    """Return the most bytes alive at once, and the node that runs then; empty if that was not decided."""
    ends = {name: find(size).upper for name, size in taken.items()}
    alive = list(_alive_at(graph, taken))
    for _, names in alive:
        for end in (ends[name] for name in names):
            if end.proved is None:  # without a greatest value, or not decided: so is the sum
                return end._replace(value=None, reached=None, at=None), ""
    # The sum of greatest values is a limit. It need not be reached: then the largest sums are decided as one size each.
    limits = sorted(((sum(ends[n].proved or 0 for n in names), -k) for k, (_, names) in enumerate(alive)), reverse=True)
    best, node = Bound(None, None, None, None, (), ""), ""
    for count, (limit, place) in enumerate(limits):
        if best.value is not None and best.value >= limit:
            return best, node
        if count == _TOGETHER:
            return best._replace(value=None, proved=limit, reason=best.reason or _OPEN), ""
        found = find(add(*(taken[n] for n in alive[-place][1]))).upper
        if found.value is None:
            return found._replace(proved=limits[0][0]), ""
        if best.value is None or found.value > best.value:
            best, node = found, alive[-place][0]
    return best, node


def _alive_at(graph: Graph, taken: Mapping[str, Dim]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the nodes of a graph, each with the values that are kept while it runs."""
    last = dict.fromkeys(graph.inputs, 0)
    for place, node in enumerate(graph.nodes):
        inner = (n for each in node.graphs.values() for g in each.and_inner() for n in g.nodes)
        used = [*node.inputs, *node.outputs, *(name for n in inner for name in n.inputs)]
        last.update((name, place) for name in used)
    last.update((name, len(graph.nodes)) for name in graph.outputs)
    kept = [name for name in graph.inputs if name in taken]
    for place, node in enumerate(graph.nodes):
        kept = [name for name in kept if last[name] >= place]
        kept += [name for name in node.outputs if name in taken and name not in kept]
        yield node.title, tuple(kept)
