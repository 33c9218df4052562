"""The inputs of a graph: a symbolic size for each open dimension, and the caller's knowledge about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.sequences import AxisSequence
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import equal
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.graphs.inputs.given import NOTHING, Given, unknown
from symbcast.graphs.inputs.knowledge import identifier, put_contents, put_shapes, with_names_bound
from symbcast.graphs.values.contents import Elements, is_size
from symbcast.graphs.values.value import OpenValue, Value, put_sizes, sizes_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.program.whole.program import Program
    from symbcast.operators.context import Dims


class Inputs(NamedTuple):
    """The inputs that a caller gives, and the sizes in their shapes in order of appearance."""

    values: dict[str, Value]
    symbols: tuple[Symbol, ...]
    held: dict[Symbol, str]
    """The sizes for the elements of small integer inputs, each with a description; and ``flags``."""
    flags: tuple[Symbol, ...]
    """Sizes that are 1 if an input is given, and 0 if it is not."""
    named: dict[str, Dims | None]
    """The shapes of the inputs, with names instead of numbers for fixed sizes."""
    fixed: dict[Symbol, int]
    """The sizes that the caller binds."""
    given: Given
    """The caller's knowledge, with bindings for the sizes that a given shape fixes."""
    integers: frozenset[Symbol] = frozenset()
    """The sizes that are integer arguments, not sizes of axes: they may be 0."""


def inputs_of(
    values: dict[str, Value], env: Program, given: Given, flags: Mapping[Symbol, str], *, are_open: bool = False
) -> Inputs:
    """Return the declared inputs, with a symbol for each named size, and with the caller's knowledge applied.

    Raises `BindingError` if the caller's knowledge does not fit these inputs.
    """
    given = with_names_bound(values, given) if given.shapes else given
    besides = put_shapes(values, given) if given != NOTHING else []
    if are_open:
        _open(values, {*env.shown.values(), *given.names()})
    met = symbols_of([d for v in values.values() for d in sizes_in(v)])
    names = {s: env.met(s) for s in (*met, *(s for formula in besides for s in symbols_in(formula)))}
    env.assume(*map(Assumption, besides))
    renamed = {s: own for s, own in names.items() if own is not s}  # a caller may have symbols of their own
    for value in values.values() if renamed else ():
        put_sizes(value, renamed)
    symbols = tuple(dict.fromkeys(names.values()))
    named = {name: value.shape for name, value in values.items()}
    found = put_contents(values, given, env, symbols)
    fixed = _fixed((*symbols, *found), given.bind, env)
    for value in values.values() if fixed else ():
        put_sizes(value, fixed)
        if isinstance(value.content, Elements):
            value.content = Elements(tuple(replaced(d, fixed) if is_size(d) else d for d in value.content.items))
    return Inputs(values, symbols, {**found, **flags}, tuple(flags), named, fixed, given)


def _open(values: dict[str, Value], taken: set[str]) -> None:
    """Give each input of unspecified rank a sequence of axes, named after the input unless a size has that name."""
    taken |= {s.name for s in symbols_of([d for v in values.values() for d in sizes_in(v)])}
    for name, value in values.items():
        if type(value) is Value and value.shape is None and value.dtype:
            axes = AxisSequence(free_name(identifier(name), taken))
            values[name] = OpenValue((axes.rest(),), value.dtype)


def _fixed(symbols: Collection[Symbol], bind: Mapping[str, int], env: Program) -> dict[Symbol, int]:
    """Return the sizes that the caller binds, and assume from now on that they have these values."""
    found: dict[Symbol, int] = {}
    for name, size in bind.items():
        bound = env.named(name)
        if bound not in symbols:
            raise unknown("size", name, [s.name for s in symbols])
        env.assume(Assumption(equal(bound, size), f"{name} == {size}"))
        found[bound] = size
    return found


def free_name(base: str, taken: set[str]) -> str:
    """Return a free name, and reserve it."""
    while base in taken:
        base += "_"
    taken.add(base)
    return base
