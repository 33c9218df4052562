"""Read torch's errors, logs and reports about sizes: what they mean, why torch gives them, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from symbcast.core.advice import with_advice
from symbcast.core.algebra.formulas import AllOf, AnyOf, Comparison, Formula
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Operation, Symbol, term
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.errors import ShapeTypeError
from symbcast.torch.errors.export_messages import CALL_ROWS, CONSTRAINT_ROWS, CRASHES, DATA_ROWS, MARKED
from symbcast.torch.errors.messages import LOG_ROWS, TEMPLATE_ROWS, Message, messages_in
from symbcast.torch.errors.recompilations import RecompileReport, explain_recompiles
from symbcast.torch.guards.guard_texts import SOURCE, SizeNames, errors_in, without_log_prefixes
from symbcast.torch.guards.guards import Clause, Guard, Guards, Specialised, narrow
from symbcast.torch.guards.ranges import AUTO, FIXED, AxisRange, Ranges, range_of, with_axes, with_range
from symbcast.torch.guards.suggestions import NOTHING, Suggestion, nested, ranges_of
from symbcast.torch.inputs import InputAxis, ProgramInput, ProgramInputs
from symbcast.torch.library import load_torch

_ONE = (
    "torch treats sizes of 0 and 1 apart, because a size of 1 broadcasts: a size that the code computes from this one "
    "must be 2 or more"
)
_TWO = "torch assumes 2 or more for each open size when it exports; the program does not check this at run time"
_MULTIPLE = "the code divides the axis into equal parts: a view, reshape, split or unfold with a written size"
_BACK = (
    "the code rounds the axis down and goes back, such as pooling and upsampling before a skip connection, so only "
    "whole multiples come out equal"
)
_MOST = (
    "the code has a limit: a table with that many rows (such as position embeddings), a slice, or an if that the "
    "example takes one way"
)
_LEAST = (
    "the example takes the branch for larger sizes: an if or min/max in the code, or a window, slice or pad that needs "
    "as much"
)
_EQUAL = "the code adds, multiplies or concatenates along these axes, and neither is 1 in the example"
_RELATED = "the code combines a size with one computed from the other: concatenated, sliced, flattened or strided"
_UNMARKED = "leave that axis unmarked (or Dim.STATIC), or change the line that needs the number"
_NUMBER = "the code needs that number: a weight, a written size in a view, or a comparison"
_OTHER = "the example takes the branch for other sizes: an operator or an if compares the size with that number"
_OPEN = "torch could not show it for all sizes in the range"


def cause_of(clause: Clause, guards: Iterable[Guard]) -> str:
    """Return why torch asks for a clause; ``guards`` are all of the digest."""
    formula = clause.formula
    behind = [g.formula for g in clause.guards if g.formula is not None]
    sizes = list(symbols_in(formula))
    behind += _at_the_bound(formula, [g.formula for g in guards if g.formula is not None])
    if len(sizes) > 1:
        return _of_several(formula)
    match formula:
        case Comparison("==", left, right) if _is_remainder(left, right):
            return _BACK if any(map(_is_round_trip, behind)) else _MULTIPLE
        case Comparison("==", left, right):
            plain = isinstance(left, Symbol) and isinstance(right, int)
            return _NUMBER if plain else _BACK if _is_round_trip(formula) else _OPEN
        case Comparison("!=", left, right):
            return _ONE if right in (0, 1) and not _is_remainder(left, right) else _OTHER
        case Comparison("<=" | "<", left, right):
            if _is_remainder(left, right):
                return _BACK
            if left == 2 and not any(map(_excludes_one, behind)):
                return _TWO
            if isinstance(right, int):
                return _MOST
            return _ONE if any(map(_excludes_one, behind)) else _LEAST
        case AnyOf(parts):
            return _ONE if any(map(_excludes_one, behind)) else _OTHER if parts else _OPEN
        case _:
            return _OPEN


def _at_the_bound(formula: Formula, guards: Iterable[Formula]) -> Iterator[Formula]:
    """Yield the guards that fail just below a lower bound."""
    match formula:
        case Comparison("<=", int(low), Symbol() as size):
            for guard in guards:
                if [*symbols_in(guard)] == [size] and not holds_at(guard, {size: low - 1}):
                    yield guard


def _of_several(formula: Formula) -> str:
    match formula:
        case Comparison("==", left, right) if isinstance(left, Symbol) and isinstance(right, Symbol):
            return _EQUAL
        case Comparison("==", left, right):
            return _MULTIPLE if isinstance(right, int) and _is_remainder(left, right) else _RELATED
        case Comparison("!="):
            return "the example takes the branch for different sizes"
        case _:
            return "the example takes the branch for these sizes, or a slice or window needs it"


def _is_remainder(left: object, right: object) -> bool:
    atoms = [d for d in (left, right) if not isinstance(d, int)]
    return any(isinstance(op, Operation) and op.kind == "%" for d in atoms for op in term(d).operations())  # type: ignore[arg-type]


def _is_round_trip(formula: Formula) -> bool:
    """Return whether a guard compares a multiple of a quotient, such as ``2*(H//4) == H//2``."""
    return any(
        isinstance(f, Comparison)
        and f.operator == "=="
        and any(op.kind == "//" for d in (f.left, f.right) for op in term(d).operations())
        for f in _parts(formula)
    )


def _excludes_one(formula: Formula) -> bool:
    return any(
        isinstance(f, Comparison) and f.operator == "!=" and any(d in (0, 1) for d in (f.left, f.right))
        for f in _parts(formula)
    )


def _parts(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, (AllOf, AnyOf)):
        for part in formula.parts:
            yield from _parts(part)
    else:
        yield formula


def recorded_lines(clause: Clause) -> Iterable[str]:
    """Return the lines of code that torch recorded for the guards behind a clause, each once."""
    return dict.fromkeys(g.line for g in clause.guards if g.line)


# The dynamic shapes that torch accepts, from the requirements in its error.
#
# An error names only some axes. The suggestion covers these; the other axes stay as the caller wrote them.


class ShapesRemedy:
    """The changes to ``dynamic_shapes`` that answer an error.

    ``by_source`` and ``by_name`` have the text for an axis, by torch's name of it and by the name of its `Dim`.
    """

    def __init__(
        self, names: SizeNames, guards: Guards, fixed: Iterable[Specialised], is_forced: bool, is_crash: bool
    ) -> None:
        self._names = names
        self._guards = guards
        self._all_fixed = tuple(fixed)
        self._fixed = [s for s in self._all_fixed if s.size > 1]
        self._is_forced, self._is_crash = is_forced, is_crash
        self._of_one = {s.source for s in self._all_fixed if s.size <= 1}

    @cached_property
    def _inputs(self) -> ProgramInputs:
        """The arguments that the error names, with their axes."""
        named = [s for s in self._names.by_source if s.startswith("L[") and ".size()" in s and s not in self._of_one]
        groups: dict[str, list[InputAxis]] = {}
        for source in named:
            argument, _, place = source.partition(".size()")
            size = symbol(self._names.name_of(source))
            axis = InputAxis(argument, int(place.strip("[]")), source, None, size)
            groups.setdefault(argument, []).append(axis)
        inputs = (
            ProgramInput(a, a, None, tuple(sorted(axes, key=lambda x: x.axis or 0))) for a, axes in groups.items()
        )
        return ProgramInputs(tuple(inputs), {}, ())

    @cached_property
    def _ranges(self) -> Ranges:
        return self._written()

    def _written(self, example: Mapping[Dim, int] = NOTHING) -> Ranges:
        own = {axis.source for axis in self._inputs.axes}
        fixed = {self._names.name_of(s.source) for s in self._fixed}
        refused = [source for source in own if self._names.name_of(source) in fixed]
        ranges = ranges_of(self._inputs, self._guards, refused, example)
        is_fixed = not self._is_forced
        return Ranges(
            {
                source: AxisRange(source, is_fixed=is_fixed) if source in refused else axis
                for source, axis in ranges.axes.items()
                if source in own
            }
        )

    @property
    def by_source(self) -> dict[str, str]:
        """The text for each axis that the error names."""
        return self._ranges.texts

    @cached_property
    def by_name(self) -> dict[str, str]:
        """The text for each `Dim` that the error names, also where it does not name the axis."""
        texts = {self._names.name_of(source): text for source, text in self.by_source.items()}
        for s in self._fixed:
            texts.setdefault(self._names.name_of(s.source), AUTO if self._is_forced else FIXED)
        return texts

    def suggestion(self) -> Suggestion | None:
        """Return the dynamic shapes of the axes that the error names; None if it names none."""
        if not self.by_name:
            return None
        unplaced = [n for n in self.by_name if n not in map(self._names.name_of, self.by_source)]
        lines = [*self._ranges.lines, *(f"{n} = {self.by_name[n]}" for n in unplaced if n.isidentifier())]
        return Suggestion(tuple(lines), nested(self._inputs, self.by_source))

    def repaired(self, dynamic_shapes: Any) -> Any:
        """Return dynamic shapes with the axes of the error changed, in their ranges, and all others as they are."""
        dim = load_torch("torch.export").Dim
        ranges = dict(self._guards.ranges)
        with_axes(dynamic_shapes, lambda place, spec: _narrow(ranges, self._name(place, spec), spec))
        guards = self._guards.with_ranges(ranges)
        own = ShapesRemedy(self._names, guards, self._all_fixed, self._is_forced, self._is_crash)
        # The example may have the least size, which fits a root that is 2 there: ``3*_n - 3`` instead of ``3*_n``.
        values = own._written({axis.size: 0 for axis in self._inputs.axes}).values(dim)
        of_name = {self._names.name_of(source): value for source, value in values.items()}
        of_name |= {n: eval(text, {"Dim": dim}) for n, text in own.by_name.items() if n not in of_name}

        def entry(place: str, spec: Any) -> Any:
            if self._is_crash and hasattr(spec, "__name__"):
                return with_range(dim, spec)
            value = values.get(place, of_name.get(self._name(place, spec), spec))
            return with_range(dim, spec) if value is dim.AUTO else value

        return with_axes(dynamic_shapes, entry)

    def _name(self, place: str, spec: Any) -> str:
        """Return the name of a size in the error, from the place of an axis or from its `Dim`."""
        named = self._names.by_source.get(place)
        return named if named is not None else str(getattr(spec, "__name__", ""))


def _narrow(ranges: dict[str, tuple[int, int | None]], name: str, spec: Any) -> Any:
    """Narrow the range of a size to that of one of its entries, unless that leaves no size; return the entry."""
    before, (low, high) = ranges.get(name), range_of(spec)
    if name:
        narrow(ranges, name, low or 0, high)
        least, most = ranges[name]
        if most is not None and least > most:
            ranges[name] = before or (0, None)
    return spec


_ROWS = (*CONSTRAINT_ROWS, *CALL_ROWS, *DATA_ROWS, *LOG_ROWS, *TEMPLATE_ROWS)
_SUGGESTED = re.compile(r"Suggested fixes:[^\n]*\n(?P<fixes>(?:[ \t]+\S[^\n]*\n?)+)")
_IS_EXPORT = re.compile(
    r"Constraints violated|Specializations unexpectedly|dim hint|this guard was added|_export/|satisfy the generated "
    r"guard|specialized it to be a constant|must always be"
)
_IS_COMPILED = re.compile(r"Recompiling function|torch\._dynamo hit config|User stack:|\[__(?:guards|recompiles)")
_GIVEN = re.compile(
    rf"(?P<source>{SOURCE}) in the specified range (?:(?P<low>\d+) <= )?(?:\w+|{SOURCE})(?: <= (?P<high>\d+))? "
    r"(?:satisfy|are valid)"
)
_FORCED = re.compile(r"resulted in a specialized value|must be specialized to")
_ALONE = (
    "  why: other sizes in the range that was given do not satisfy the guards that torch found\n"
    "  do: use it if these sizes suffice; otherwise give the whole error, whose guards say why"
)
_NOTHING = "no constraint on sizes was found in torch's error"


class Refusal:
    """What an error of torch says about sizes.

    ``text`` is the error's text. A text may hold several errors, such as a log: ``errors`` has each of them, and the
    other attributes are about all of its messages.
    """

    def __init__(self, text: str, min_size: int = 1) -> None:
        self.text = text
        self._min_size = min_size

    @cached_property
    def errors(self) -> tuple[Refusal, ...]:
        """The errors in the text that are about sizes, each once; the refusal itself if there is at most one."""
        parts = [Refusal(part, self._min_size) for part in errors_in(without_log_prefixes(self.text))]
        refusals = [part for part in parts if part.messages]
        return tuple(refusals) if len(refusals) > 1 else (self,)

    @cached_property
    def _plain(self) -> str:
        return without_log_prefixes(self.text)

    @cached_property
    def _names(self) -> SizeNames:
        return SizeNames(self._plain)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Torch's messages about sizes, in order, each once."""
        return tuple(messages_in(self._plain, self._names, _ROWS))

    @cached_property
    def recompiles(self) -> RecompileReport:
        """The recompilations of ``torch.compile`` in the text."""
        return explain_recompiles(self._plain)

    @cached_property
    def guards(self) -> Guards:
        """The requirements that the error lists, as one minimal condition, and the axes that torch fixed."""
        guards = [m.guard for m in self.messages if m.guard is not None]
        names = [*self._names.by_source.values(), *self._names.by_symbol.values()]
        return Guards(guards, names, self._min_size, specialised=self._fixed(), ranges=self._given())

    def _given(self) -> dict[str, tuple[int, int | None]]:
        """Return the ranges that the caller gave, where the error repeats them."""
        given = (match.group("source", "low", "high") for match in _GIVEN.finditer(self._plain))
        return {self._names.name_of(s): (int(low or 0), int(high) if high else None) for s, low, high in given}

    def _fixed(self) -> Iterator[Specialised]:
        seen: set[str] = set()
        for message in self.messages:
            if message.fixed is not None and message.fixed.axis not in seen:
                seen.add(message.fixed.axis)
                yield message.fixed

    @property
    def names(self) -> frozenset[str]:
        """The axes that the error is about: torch's names of them, and the names of their `Dim`."""
        fixed = (s.source for s in self.guards.specialised)
        return frozenset((*self._names.by_source, *self._names.by_source.values(), *fixed))

    @property
    def suggested(self) -> str:
        """Torch's own suggested fixes; empty if there are none."""
        match = _SUGGESTED.search(self._plain)
        return "" if match is None else match["fixes"].strip("\n")

    @cached_property
    def _remedy(self) -> ShapesRemedy:
        is_forced, is_crash = (bool(pattern.search(self._plain)) for pattern in (_FORCED, CRASHES))
        return ShapesRemedy(self._names, self.guards, self.guards.specialised, is_forced, is_crash)

    def suggest(self) -> Suggestion | None:
        """Return the ``dynamic_shapes`` of the axes that the error names, as text; None if it is not about an export.

        The other axes stay as the export had them. Where torch names a `Dim` without its axis, a line gives the value
        for that name. With the module at hand, ``symbcast.torch.check(...).suggest()`` covers all axes.
        """
        is_compiled = _IS_COMPILED.search(self._plain) or MARKED.search(self._plain)
        return self._remedy.suggestion() if _IS_EXPORT.search(self._plain) and not is_compiled else None

    def repaired(self, dynamic_shapes: Any) -> Any:
        """Return the caller's ``dynamic_shapes`` with the axes of this error changed; this needs torch."""
        return self._remedy.repaired(dynamic_shapes)

    def explain(self) -> str:
        """Return for each error its requirements in words, the reasons, and what to do."""
        if len(self.errors) > 1:
            parts = [f"error {n}\n{chr(10).join(error._lines())}" for n, error in enumerate(self.errors, 1)]
        else:
            parts = ["\n".join(self._lines())]
        parts += [self.recompiles.explain()] if self.recompiles.recompilations else []
        alone = (
            f"only torch's own suggestion is in the text: {self.suggested.strip()}\n{_ALONE}" if self.suggested else ""
        )
        return "\n\n".join(filter(None, parts)) or alone or _NOTHING

    def _lines(self) -> Iterator[str]:
        suggestion = self.suggest()
        answered = [m.guard for m in self.messages if m.advice and m.guard is not None]
        for clause in self.guards.clauses:
            if not clause.guards or not all(g in answered for g in clause.guards):
                yield f"torch requires {clause.text}"
                why = cause_of(clause, self.guards.all)
                do = _UNMARKED if why is _NUMBER and suggestion is None else ""
                yield from _indented(why=why, at=", ".join(recorded_lines(clause)), do=do)
        for message in self.messages:
            if message.guard is None or message.guard.formula is None or message.advice:
                yield message.meaning
                yield from _indented(why=message.why, at=message.line, do=message.advice)
        if suggestion is not None:
            yield "export again with, and all other axes as before,"
            yield from (f"  {line}" for line in suggestion.lines)
            if suggestion.shapes != "{}":
                yield f"  dynamic_shapes = {suggestion.shapes}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data: clauses with their reasons, messages, and the suggested dynamic shapes."""
        suggestion = self.suggest()
        clauses = self.guards.clauses
        return {
            "clauses": [
                {"text": c.text, "why": cause_of(c, self.guards.all), "at": [*recorded_lines(c)]} for c in clauses
            ],
            "fixed": [{"axis": s.axis, "size": s.size} for s in self.guards.specialised],
            "messages": [
                {"meaning": m.meaning, "why": m.why, "advice": m.advice, "line": m.line, "said": m.said}
                for m in self.messages
            ],
            "dynamic_shapes": None
            if suggestion is None
            else {"lines": list(suggestion.lines), "shapes": suggestion.shapes},
        }

    def __str__(self) -> str:
        return self.explain()


def _indented(**texts: str) -> Iterator[str]:
    yield from (f"  {label}: {text}" for label, text in texts.items() if text)


@with_advice
def read_error(error: BaseException | str, min_size: int = 1) -> Refusal:
    """Read an error of torch, its text, or a log with several: requirements on sizes, reasons, and what to do.

    Reads the errors of ``torch.export``, ``torch.compile`` and of calls of exported programs, the errors of operators
    about sizes, reports of ``draft_export``, and ``TORCH_LOGS``. This needs no torch.

    >>> refusal = read_error('''Constraints violated (H)!
    ...   - Not all values of H = L['x'].size()[2] in the specified range satisfy the generated guard
    ...     (L['x'].size()[2] // 2) != 1.
    ...   - Not all values of H = L['x'].size()[2] in the specified range satisfy the generated guard
    ...     (L['x'].size()[2] % 4) == 0.
    ... ''')
    >>> print(refusal)
    torch requires H % 4 == 0
      why: the code divides the axis into equal parts: a view, reshape, split or unfold with a written size
    export again with, and all other axes as before,
      _H = Dim('_H')
      dynamic_shapes = {'x': {2: 4*_H}}
    """
    if not isinstance(error, (BaseException, str)):
        raise ShapeTypeError(
            error, "an error of torch", "give the exception that torch.export.export raised, or its text"
        )
    # Of DynamicOutputShapeException, the text is the operator alone.
    name = type(error).__name__
    return Refusal(f"{name}: {error}" if name.endswith("OutputShapeException") else str(error), min_size)
