"""Short names for the sizes of a model whose own names are long or no identifiers.

A size keeps the model's name everywhere in an answer as data. People read and write its alias: the role of its axis if
a convolution or a pool takes the input, such as ``H``; else the name as an identifier, if that is short; else the first
letter of the input and the axis, or a number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.solver.groups.normal_form import put_in
from symbcast.errors import BindingError
from symbcast.graphs.inputs.given import Given
from symbcast.graphs.inputs.knowledge import identifier

if TYPE_CHECKING:
    from symbcast.core.logic.formulas import Formula
    from symbcast.graphs.graph import Graph
    from symbcast.graphs.inputs.inputs import Inputs

T = TypeVar("T")

LONGEST = 16
"""Names up to this length are never replaced, if they are identifiers."""
_ROLES = {3: "NCL", 4: "NCHW", 5: "NCDHW"}
"""The roles of the axes of an image or a sequence, by its rank."""


class Layouts(NamedTuple):
    """What a front end knows of operators and the order of axes, by the names of its operators.

    The first operand of ``images`` has the axes N, C, and then those of the image; the outputs of ``keeping`` have the
    axes of their operands in the same order.
    """

    images: frozenset[str] = frozenset()
    keeping: frozenset[str] = frozenset()

    @classmethod
    def of(cls, images: str, keeping: str, prefix: str = "") -> Layouts:
        """Return what is known of the operators that two texts list, each with a prefix."""
        return cls(*(frozenset(f"{prefix}{name}" for name in text.split()) for text in (images, keeping)))


NO_LAYOUTS = Layouts()


def aliases_of(inputs: Inputs, graph: Graph, layouts: Layouts, given: Given) -> dict[str, str]:
    """Return the model's own names of sizes by their aliases; names that the caller gives have none."""
    sizes = [s for s in (*inputs.symbols, *inputs.held) if not isinstance(s, Unknown | SequenceSymbol)]
    callers = {*given._replace(bind={}).names()}
    long = [s for s in sizes if _is_long(s.name) and s.name not in callers]
    if not long:
        return {}
    values = {name for node in graph.nodes for name in (*node.outputs, node.title)} | {*graph.inputs}
    long = [s for s in long if s.name not in values]  # a report that names both would confuse them
    places = {dim: (name, axis) for name, axis, dim in _places(inputs)}
    roles = _roles(inputs, graph, layouts)
    taken = {s.name for s in sizes} | callers
    found: dict[str, str] = {}
    for size in long:
        wanted = [roles[size]] if size in roles else []
        wanted += [identifier(size.name)] if len(size.name) <= LONGEST else []
        if size in places:
            name, axis = places[size]
            wanted.append(f"{identifier(name)[0].lower()}{axis}")
        found[_free(wanted, taken)] = size.name
    return found


def _is_long(name: str) -> bool:
    return len(name) > LONGEST or not name.isidentifier()


def _places(inputs: Inputs) -> Iterator[tuple[str, int, object]]:
    """Yield each axis of the inputs with its size, the last ones first."""
    for name, dims in reversed(inputs.named.items()):
        for axis in reversed(range(len(dims or ()))):
            assert dims is not None
            yield name, axis, dims[axis]


def _free(wanted: list[str], taken: set[str]) -> str:
    """Return the first wanted name that is free, or else a numbered one, and take it."""
    numbered = (f"{base}{n}" for base in [w for w in wanted[:1] if w[-1].isalpha()] or ["d"] for n in count(1))
    found = next(name for source in (wanted, numbered) for name in source if name.isidentifier() and name not in taken)
    taken.add(found)
    return found


def _roles(inputs: Inputs, graph: Graph, layouts: Layouts) -> dict[object, str]:
    """Return the roles of sizes that an operator on images takes, behind operators that keep the order of axes."""
    if not layouts.images:
        return {}
    source = {name: name for name, dims in inputs.named.items() if dims is not None and len(dims) in _ROLES}
    found: dict[object, str] = {}
    for node in graph.nodes:
        first = next((source[name] for name in node.inputs if name in source), None)
        if first is None:
            continue
        if node.op_type in layouts.images and node.inputs[0] in source:
            dims = inputs.named[source[node.inputs[0]]] or ()
            for role, dim in zip(_ROLES[len(dims)], dims, strict=True):
                found.setdefault(dim, role)
        elif node.op_type in layouts.keeping:
            source.update(dict.fromkeys(node.outputs, first))
    return found


def without_aliases(
    assume: tuple[Assumption, ...], given: Given, aliases: Mapping[str, str]
) -> tuple[tuple[Assumption, ...], Given]:
    """Return what a caller knows with the model's own names instead of aliases.

    Raises `BindingError` if a size is bound by both of its names, to different numbers.
    """
    bind: dict[str, int] = {}
    for name, size in given.bind.items():
        own = aliases.get(name, name)
        if bind.setdefault(own, size) != size:
            raise BindingError(f"{own} is bound to {bind[own]} and to {size}, under two names", "bind it once")
    own_sizes = {symbol(alias): symbol(name) for alias, name in aliases.items()}
    values = {
        name: contents._replace(items=tuple(replaced(d, own_sizes) for d in contents.items))
        for name, contents in given.values.items()
    }
    renamed = (Assumption(with_own_names(a.formula, aliases), a.text, a.is_written, a.given) for a in assume)
    return tuple(renamed), Given(bind, given.shapes, values)


def with_own_names(formula: Formula, aliases: Mapping[str, str]) -> Formula:
    """Return a formula over the model's own names."""
    return put_in(formula, {symbol(alias): symbol(name) for alias, name in aliases.items()})


def with_aliases(names: Collection[str], aliases: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of sizes, and the aliases of those that have one."""
    return (*names, *(alias for alias, name in aliases.items() if name in names))
