"""What an explorer shows, as data for its page: all of it text, numbers and HTML made here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.algebra.symbols import Symbol
from symbcast.broadcasting import REQUIRED, Parameter
from symbcast.broadcasting.registry import listed_rules
from symbcast.characters import cut, listed, sizes_text, visible
from symbcast.explanation.axis_steps import worked_out
from symbcast.notebook.defaults import telling_axis
from symbcast.notebook.explorer.question import quoted
from symbcast.notebook.subjects import RANKS
from symbcast.notebook.surveys import Cell, Outcome, Survey, survey
from symbcast.show import axis_steps as working
from symbcast.show import call, html
from symbcast.show.document import Room

if TYPE_CHECKING:
    from symbcast.api.result import Result
    from symbcast.notebook.explorer.question import Fault, Question

_NAME = 40
"""How many characters of a symbol's name are shown."""


def rules_data() -> list[dict[str, Any]]:
    """Return the rules to choose from, with what their attributes' fields need."""
    return [
        {
            "name": rule.name,
            "summary": rule.summary,
            "operands": list(rule.operands),
            "variadic": rule.variadic,
            "attributes": [_attribute(p) for p in rule.parameters],
        }
        for rule in listed_rules()
    ]


def _attribute(parameter: Parameter) -> dict[str, Any]:
    default = "" if parameter.default in (REQUIRED, None, ()) else str(parameter.default)
    return {
        "name": parameter.name,
        "default": default,
        "choices": list(parameter.choices),
        "hint": parameter.kind.value,
    }


def faults_data(faults: Mapping[str, Fault]) -> dict[str, list[Any]]:
    """Return each field's fault as message, start and stop."""
    return {name: list(fault) for name, fault in faults.items()}


class Looking(NamedTuple):
    """What an explorer is set to beside its question: what is not set is chosen."""

    sizes: Mapping[str, int]
    over: Sequence[str]
    up_to: int
    shade: int | None


def looked_at(result: Result, looking: Looking, decided: bool) -> dict[str, Any]:
    """Return the sliders, the map of sizes, and the binding that the sliders make worked out.

    A slider is a name, what that is shown as, and the size. Sizes are text, since a page's numbers are exact to 2**53
    only. What is chosen is chosen better once the answer is decided.
    """
    names = list(result.scope.names.values()) if result.scope is not None else []
    own = telling_names(result.scope.names, result.clauses if decided else ()) if result.scope is not None else []
    axes = [name for name in dict.fromkeys(looking.over) if name in names][:2]
    axes += [name for name in (*own, *names) if name not in axes][: min(2, len(names)) - len(axes)]
    sizes = _sizes(result, looking, axes, (result.witness() if decided else None) or {})
    return {
        "sizes": [[name, visible(cut(name, _NAME)), str(sizes[name])] for name in names],
        "bound": visible(sizes_text(sizes)),
        "map": _map(result, axes, sizes, looking) if axes else None,
        "working": html.render(working.document(worked_out(result, sizes))),
    }


def _sizes(result: Result, looking: Looking, axes: Sequence[str], witness: Mapping[str, int]) -> dict[str, int]:
    """Return a size for each symbol of a result: the one given, else one of its own.

    Along the map small sizes that differ, where broadcasts tend to fail, so that there is something to see; across it
    those at which something works.
    """
    if result.scope is None:
        return {}
    names, known = result.scope.names, result.scope.knowledge
    found: dict[str, int] = {}
    # What the assumptions say is equal moves with the one that is set.
    moved = {known.values.get(s, s): looking.sizes[name] for s, name in names.items() if name in looking.sizes}
    for symbol, name in names.items():
        stands = known.values.get(symbol, symbol)
        if name in looking.sizes:
            found[name] = looking.sizes[name]
        elif isinstance(stands, int):
            found[name] = stands
        elif stands in moved:
            found[name] = moved[stands]
        elif name not in axes and name in witness:
            found[name] = witness[name]
        elif stands is not symbol:
            assert isinstance(stands, Symbol)
            found[name] = found[names[stands]]  # the assumptions say that they are equal; that one came before
        else:
            domain = known.domains[symbol]
            wanted = min(2 + axes.index(name), looking.up_to) if name in axes else 1
            found[name] = domain.least(wanted) or domain.least(0) or 0
    return found


def answered(result: Result) -> dict[str, Any]:
    """Return the answer: its verdict in a sentence, and all of it as HTML."""
    return {
        "verdict": result.verdict.value,
        "sentence": f"{result.rule.called}: {call.verdict_words(result)}",
        "html": html.render(call.document(result, Room.PAGE)),
    }


def explorer_call(question: Question, state: Mapping[str, Any]) -> str:
    """Return the call of `symbcast.notebook.explore` that makes an explorer in this state.

    ``state`` holds the keywords of `explore` that are not part of the question, those that differ from their defaults.
    """
    more = []
    for name, value in state.items():
        if isinstance(value, dict):
            text = f"{{{', '.join(f'{quoted(key)}: {size}' for key, size in value.items())}}}"
        elif isinstance(value, (list, tuple)):
            text = f"[{', '.join(map(quoted, value))}]"
        else:
            text = repr(value)
        more.append(f"{name}={text}")
    # No shapes at all would be the example's: there, the answer says the question.
    asked = question.arguments() if question.shapes else [question.call()]
    return f"sb.notebook.explore({', '.join([*asked, *more])})"


def _map(result: Result, axes: Sequence[str], sizes: Mapping[str, int], looking: Looking) -> dict[str, Any]:
    fixed = {name: size for name, size in sizes.items() if name not in axes}
    x, y = (*axes, None)[:2]
    ranges = [_range(result, name, looking.up_to) for name in axes]
    found = survey(result, x, y, ranges[0], y_sizes=ranges[1] if y else None, fixed=fixed)
    kinds: dict[tuple[int, ...], int] = {}
    rank = len(next(iter(found.shapes), ()))
    axis = looking.shade if looking.shade in range(rank) else telling_axis([found.shapes])
    rows = [[_cell(cell, axis, kinds) for cell in row] for row in found.rows]
    return {
        "axes": list(found.names),
        "sizes": [list(along) for along in found.sizes],
        "rows": rows,
        "blames": _blames(found, kinds),
        "shade": axis,
        "rank": rank,
    }


def _range(result: Result, name: str, up_to: int) -> range:
    """Return the sizes along the map: from 0, or as many from the least on where that is beyond."""
    assert result.scope is not None
    known = result.scope.knowledge
    symbol = next(s for s, called in result.scope.names.items() if called == name)
    value = known.values.get(symbol, symbol)
    if isinstance(value, int):
        least = value
    else:
        assert isinstance(value, Symbol)
        least = known.domains[value].least() or 0
    start = least if least > up_to else 0
    return range(start, start + up_to + 1)


def _cell(cell: Cell, axis: int | None, kinds: dict[tuple[int, ...], int]) -> list[Any]:
    """Return a cell as the output's size on the shaded axis and its shape, or as what is to blame, or as excluded."""
    match cell.outcome:
        case Outcome.WORKS:
            assert cell.shape is not None
            return ["works", str(cell.shape[axis]) if axis is not None else None, str(cell.shape)]
        case Outcome.FAILS:
            return ["fails", kinds.setdefault(cell.blamed, len(kinds))]
        case Outcome.EXCLUDED:
            return ["excluded"]


def _blames(found: Survey, kinds: Iterable[Sequence[int]]) -> list[dict[str, Any]]:
    """Return what each set of axes to blame is called, and a mark: the axis, or a letter where there are several."""
    letters = iter("abcdefghijklmnopqrstuvwxyz" * len(found.blames))
    made = []
    for blamed in kinds:
        blames = [found.blames[n] for n in blamed]
        axis = blames[0].axis if len(blames) == 1 else None
        is_one = len(blames) == 1 and blames[0] is not RANKS
        label = f"{listed([b.label for b in blames], limit=4)} {'fails' if is_one else 'fail'}"
        made.append({"label": label, "mark": next(letters) if axis is None else str(axis)})
    return made
