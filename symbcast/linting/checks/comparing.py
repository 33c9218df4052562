"""Compare a trace with the annotations, and confirm each difference by a call."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symbcast.answers.explanation.names import Namer
from symbcast.arrays.returned import told
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import Dim
from symbcast.core.characters import sizes_text
from symbcast.core.logic.formulas import FALSE, Comparison, Formula, all_of, any_of, negate
from symbcast.core.shapes import Shape
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.linting.annotations.arguments import Form
from symbcast.linting.annotations.promises import Sizes, dims_in, promised
from symbcast.linting.annotations.specs import ArraySpec, Spec, TupleSpec, UnionSpec, ValueSpec, arrays_in
from symbcast.linting.checks.signature import Signature
from symbcast.linting.codes import EQUAL, FAILS, NEVER, PROMISE, STRETCHED, Code
from symbcast.linting.functions import Function, Position
from symbcast.linting.libraries.traced import Failure, Traced
from symbcast.paths.places import Place
from symbcast.paths.real_calls import Raised


@dataclass(frozen=True)
class Draft:
    """A finding before it is placed in a file: its code, place, message, and the call that confirms it."""

    code: Code
    place: Position
    message: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    called: str = ""


@dataclass
class Compared:
    """The findings of a trace; whether everything was proved, and why something is unknown."""

    drafts: list[Draft] = field(default_factory=list)
    is_proved: bool = True
    reason: str = ""


def compared(path: str, function: Function, signature: Signature, form: Form, traced: Traced) -> Compared:
    """Return what a trace says about the annotations of a function."""
    found = Compared(reason=traced.reason)
    about = _About(path, function, signature, form, traced, found)
    about.failures()
    if signature.returns is not None:
        about.promises(signature.returns)
    if not found.drafts:  # else the pair is part of another mistake
        about.pairs()
    return found


_OF_SHAPES = re.compile(
    r"shape|dimension|\bdims?\b|\bax[ei]s\b|broadcast|\brank|ndim|matmul|dot|concat|stack|reshape|split|operand|align"
    r"|\bsizes?\b"
)
"""Words of errors about shapes; others may be caused by a value that was taken for a parameter."""


@dataclass
class _About:
    path: str
    function: Function
    signature: Signature
    form: Form
    traced: Traced
    found: Compared

    # Failing sizes.

    def failures(self) -> None:
        """Add what fails at sizes that the annotations allow."""
        for failure in self.traced.failures:
            self.found.is_proved = False
            draft = self._failing(failure)
            if draft is not None:
                self.found.drafts.append(draft)

    def _failing(self, failure: Failure) -> Draft | None:
        if failure.at is None or self._is_intended(failure):
            return None
        names = {self.traced.names[s] for s in symbols_in(failure.formula) if s in self.traced.names}
        is_never = failure.formula == FALSE
        if names & self.form.integers or not names <= set(self.traced.own.values()):
            return None  # an integer argument is not a size, and data may be suitable
        if self.signature.numbers is not None and _equal_names(failure.formula, self.traced.names) is None:
            self.found.reason = "it may fail because of the numbers that its object was made with"
            return None
        if is_never and not (_OF_SHAPES.search(failure.error.lower()) and not self.form.samples):
            return None
        called = self._raised(failure.at)
        if called is None or (is_never and any(self._raised(at) is None for at in self._larger())):
            return None
        equal = _equal_names(failure.formula, self.traced.names)
        where = f"at {sizes_text(dict(failure.at))} it raises {called}"
        name = self.function.name
        if is_never and not failure.text:  # nobody knows whether other sizes work
            code, message = FAILS, f"{name} fails at sizes that its annotations allow: {where}"
        elif is_never:
            code, message = NEVER, f"{name} works for no sizes that its annotations allow: {where}"
        elif equal is not None:
            code, message = EQUAL, f"{name} works only if {equal[0]} and {equal[1]} are equal: {where}"
        else:
            code, message = FAILS, f"{name} works only if {failure.text}: {where}"
        return Draft(code, self._place(failure.place), message, dict(failure.at), called)

    def _larger(self) -> Iterator[dict[str, int]]:
        """Yield sizes at which a function that works for no sizes fails too: equal ones, and different ones."""
        names = list(self.traced.own.values())
        yield dict.fromkeys(names, 4)
        yield {name: 4 + number for number, name in enumerate(names)}

    def _is_intended(self, failure: Failure) -> bool:
        """Return whether the code itself raises the error."""
        return failure.place.source.startswith(("raise", "assert"))

    def _place(self, place: Place) -> Position:
        """Return a line of the function, at its first character; the function's name for a line elsewhere."""
        if not self._is_inside(place):
            return self.function.place
        line = linecache.getline(place.file, place.line)
        return Position(place.line, len(line) - len(line.lstrip()) + 1)

    def _is_inside(self, place: Place) -> bool:
        is_here = bool(place.line) and Path(place.file).resolve() == Path(self.path).resolve()
        return is_here and self.function.first <= place.line <= self.function.last

    def _raised(self, at: Mapping[str, int]) -> str | None:
        """Return the error of calls at some sizes; None if a call works, or fails because of its data."""
        error: BaseException | None = None
        for real in self.traced.real(at):
            if not isinstance(real, Raised):
                return None
            error = error or real.error
        if error is None or isinstance(error, (MemoryError, RecursionError)):
            return None
        return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"

    # Promises.

    def promises(self, returns: Spec) -> None:
        """Add what a function returns in another shape than promised."""
        at: dict[str, Dim] = {name: symbol for symbol, name in self.traced.names.items()}
        asked: list[tuple[Formula, Formula]] = []
        for when, value in self.traced.cases:
            asked.append((when, promised(value, returns, Sizes(self.form, at))))
        for (when, formula), (_, value) in zip(asked, self.traced.cases, strict=True):
            decided = Decision(self.traced.knowledge, [any_of([negate(when), formula])])
            if decided.verdict is Verdict.ALWAYS:
                continue
            self.found.is_proved = False
            if decided.verdict is Verdict.UNKNOWN:
                self.found.reason = self.found.reason or decided.reason
            sizes = decided.counterexample()
            is_own = (
                self.signature.numbers is not None
                and formula != FALSE
                and _equal_names(formula, self.traced.names) is None
            )
            draft = None if sizes is None or is_own else self._broken(formula, sizes, returns, value)
            if draft is not None:
                self.found.drafts.append(draft)
            elif not self.found.reason:
                self.found.reason = "no call confirmed that its result differs from its annotation"

    def _broken(self, formula: Formula, sizes: Mapping[Symbol, int], returns: Spec, value: Any) -> Draft | None:
        at = {name: sizes[s] for s, name in self.traced.own.items() if s in sizes}
        real = self._returned(at, returns)
        if real is None:
            return None
        name, told_as = self.function.name, annotation_text(returns)
        where = f"at {sizes_text(at)} it returns {real}" if at else f"it returns {real}"
        clauses = Decision(self.traced.knowledge, [formula]).clauses
        namer = Namer.of(self.traced.names)
        if FALSE in clauses and len(self.traced.cases) > 1:
            message = f"{name} returns {value_text(value, namer)} for some arguments, not {told_as}: {where}"
            return Draft(PROMISE, self.function.returns, message, at, real)
        if FALSE in clauses:
            message = f"{name} returns {value_text(value, namer)}, never {told_as}: {where}"
            return Draft(NEVER, self.function.returns, message, at, real)
        text = namer.formula(all_of(clauses))
        return Draft(PROMISE, self.function.returns, f"{name} returns {told_as} only if {text}: {where}", at, real)

    def _returned(self, at: Mapping[str, int], returns: Spec) -> str | None:
        """Return a result of a call that breaks the promise, as text; None if no call does."""
        known: dict[str, Dim] = dict(at)
        for real in self.traced.real(at):
            if not isinstance(real, Raised) and promised(told(real), returns, Sizes(self.form, known)) == FALSE:
                return value_text(told(real), Namer.of({}))
        return None

    # Broadcasts of a size with itself.

    def pairs(self) -> None:
        """Add broadcasts that put one size on two axes, though no code adds an axis."""
        for place, shapes in self.traced.pairs:
            if not self._is_inside(place):
                continue
            doubled = [d for d in _named(shapes) if not self.function.is_expanding or self._is_annotated(d)]
            short = [_short(s) for s in shapes]
            if not doubled or len(set(map(len, short))) == 1 or self._is_annotated(doubled[0], is_first=True):
                continue
            name = self.traced.names.get(doubled[0], "")
            namer = Namer.of(self.traced.names)
            written = " with ".join(shape_text(dims, namer) for dims in short)
            message = f"{self.function.name} broadcasts {written}, which puts {name} on two axes"
            self.found.drafts.append(Draft(STRETCHED, self._place(place), message))

    def _is_annotated(self, dim: Symbol, is_first: bool = False) -> bool:
        """Return whether an argument is annotated with this size and an axis of size 1, which may have to be first."""
        name = self.traced.names.get(dim)
        given = [[a.text for a in spec.axes] for s in self.signature.parameters.values() for spec in arrays_in(s)]
        return any(name in axes and ("1" in axes[:1] if is_first else "1" in axes) for axes in given)


def _named(shapes: tuple[tuple[Dim, ...], ...]) -> Iterator[Symbol]:
    """Yield the sizes that all operands have, each on a different axis."""
    for dim in dict.fromkeys(d for s in shapes for d in s):
        if isinstance(dim, Symbol) and all(dim in s for s in shapes):
            yield dim


def _short(dims: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return dimensions without leading axes of size 1."""
    first = next((n for n, d in enumerate(dims) if d != 1), len(dims))
    return dims[first:]


def _equal_names(formula: Formula, names: Mapping[Symbol, str]) -> tuple[str, str] | None:
    if isinstance(formula, Comparison) and formula.operator == "==":
        left, right = formula.left, formula.right
        if isinstance(left, Symbol) and isinstance(right, Symbol):
            return names.get(left, left.name), names.get(right, right.name)
    return None


def shape_text(dims: tuple[Dim, ...], namer: Namer) -> str:
    """Return dimensions as text, such as ``(N, 3)``."""
    return f"({', '.join(map(namer.dim, dims))}{',' * (len(dims) == 1)})"


def value_text(value: Any, namer: Namer) -> str:
    """Return the shapes in a result as text."""
    if isinstance(value, (tuple, list)) and not isinstance(value, Shape):
        return f"[{', '.join(value_text(v, namer) for v in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{k}: {value_text(v, namer)}' for k, v in value.items())}}}"
    dims = dims_in(value)
    return (repr(value) if value is None else f"a {type(value).__name__}") if dims is None else shape_text(dims, namer)


def annotation_text(spec: Spec) -> str:
    """Return the shapes that an annotation promises as text."""
    if isinstance(spec, ArraySpec):
        return f'"{" ".join(map(str, spec.axes))}"'
    if isinstance(spec, UnionSpec):
        return " or ".join(map(annotation_text, spec.parts))
    if isinstance(spec, TupleSpec):
        parts = [*spec.parts, *([spec.rest] if spec.rest is not None else [])]
        return f"[{', '.join(map(annotation_text, parts))}{', ...' * (spec.rest is not None)}]"
    if isinstance(spec, ValueSpec):
        return " or ".join(map(repr, spec.values))
    return "its annotation"
