"""Check one function: trace each form of its arguments, compare results with promises, and confirm by calls."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from symbcast.answers.explanation.words import Namer
from symbcast.arrays.promises import Promise, faults_of, promise_of
from symbcast.arrays.trace import lasting_result
from symbcast.core.algebra.formulas import FALSE, AnyOf, Comparison, Formula, all_of, any_of, negate
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.characters import sizes_text
from symbcast.core.effort import EffortSpentError
from symbcast.core.shapes import Shape
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.errors import ShapeSyntaxError, SymbcastError
from symbcast.linting import annotation_meaning, recording, sources, specs
from symbcast.linting.annotation_meaning import ArgumentForm, NoArgumentError, SizesOfAxes
from symbcast.linting.assigned_shapes import assigned_shapes
from symbcast.linting.findings import (
    ANNOTATION,
    DESCRIBED,
    EQUAL,
    FAILS,
    NEVER,
    PROMISE,
    SPACES,
    STRETCHED,
    AssignedShape,
    Checked,
    CheckStatus,
    Code,
    Finding,
    Fix,
)
from symbcast.linting.libraries.traced import LibraryTrace, TraceFailure
from symbcast.linting.signatures import FunctionSignature, NotFoundError, signature_of, with_numbers
from symbcast.linting.sources import FunctionToCheck, finding_without_sizes
from symbcast.paths.real_calls import RaisedError
from symbcast.paths.steps import CodePlace

# Sizes from here on are large: kernels, windows and differences of neighbours have room in them.
LARGE = 64

# A trace is compared with the annotations; a difference is a finding only if a real call confirms it.


@dataclass(frozen=True)
class FindingDraft:
    """A finding before it is placed in a file: its code, place, message, and the call that confirms it."""

    code: Code
    place: sources.Position
    message: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    called: str = ""
    fix: Fix | None = None

    @property
    def condition(self) -> str:
        """The condition in the message; empty if there is none."""
        return self.message.partition(" only if ")[2].partition(": at ")[0]


@dataclass
class AnnotationFindings:
    """The findings of a trace; whether everything was proved, and why something is unknown.

    ``limits`` says at which sizes the function is proved, where that is not a finding. ``bound`` are the numbers that
    names must be because of the object that was made.
    """

    drafts: list[FindingDraft] = field(default_factory=list)
    is_proved: bool = True
    reason: str = ""
    limits: list[str] = field(default_factory=list)
    bound: dict[str, int] = field(default_factory=dict)


def compare_with_annotations(
    request: FunctionToCheck, signature: FunctionSignature, form: ArgumentForm, traced: LibraryTrace
) -> AnnotationFindings:
    """Return what a trace says about the annotations of a function."""
    findings = AnnotationFindings(reason=traced.reason)
    about = _AnnotationCheck(request, signature, form, traced, findings)
    about.failures()
    if signature.returns is not None:
        about.promises(signature.returns)
    if not findings.drafts:  # else the pair is part of another mistake
        about.pairs()
    if signature.is_described:
        findings.drafts = [replace(d, code=DESCRIBED) for d in findings.drafts]
    return findings


# Words of errors about shapes; others may be caused by a value that was taken for a parameter.
_OF_SHAPES = re.compile(
    r"shape|dimension|\bdims?\b|\bax[ei]s\b|broadcast|\brank|ndim|matmul|dot|concat|stack|reshape|split|operand|align"
    r"|\bsizes?\b"
)


@dataclass
class _AnnotationCheck:
    request: FunctionToCheck
    signature: FunctionSignature
    form: ArgumentForm
    traced: LibraryTrace
    findings: AnnotationFindings
    # The requirements for which there is a finding already.
    blamed: list[Formula] = field(default_factory=list)

    @property
    def function(self) -> sources.SourceFunction:
        return self.request.function

    def _is_of_small_sizes(self, formula: Formula) -> bool:
        """Return whether a requirement holds wherever all sizes are large: kernels and windows need such sizes."""
        small = any_of(Comparison("<", symbol, LARGE) for symbol in self.traced.own)
        return Decision(self.traced.assumptions, [any_of([small, formula])]).verdict is Verdict.ALWAYS

    def _is_left_out(self, formula: Formula, text: str) -> bool:
        """Return whether a requirement is no finding, as options say; the function is then proved where it holds."""
        names = {self.traced.names[s] for s in symbols_in(formula) if s in self.traced.names}
        is_small = not self.request.strict_sizes and formula != FALSE and self._is_of_small_sizes(formula)
        if is_small or (not self.request.strict_dots and names & self.form.dots):
            self.findings.limits.append(f"only if {text}")
            return True
        return False

    # Failing sizes.

    def failures(self) -> None:
        """Add what fails at sizes that the annotations allow."""
        texts: dict[tuple[str, sources.Position], list[str]] = {}
        for failure in self.traced.failures:
            self.findings.is_proved = False
            draft = self._failing(failure)
            if draft is not None:
                self.findings.drafts.append(draft)
                texts.setdefault((draft.code.id, draft.place), []).append(failure.text)
        # One line may have several requirements, as of height and width: they are one finding.
        for number, draft in enumerate(self.findings.drafts):
            first, *others = texts[draft.code.id, draft.place]
            if draft.code is FAILS and others and first:
                whole = " and ".join(f"({t})" if " or " in t else t for t in (first, *others))
                message = draft.message.replace(f"only if {first}:", f"only if {whole}:", 1)
                self.findings.drafts[number] = replace(draft, message=message, fix=None)

    def _failing(self, failure: TraceFailure) -> FindingDraft | None:
        if failure.at is None or self._is_intended(failure):
            return None
        names = {self.traced.names[s] for s in symbols_in(failure.formula) if s in self.traced.names}
        is_never, equal = failure.formula == FALSE, _equal_names(failure.formula, self.traced.names)
        if names & self.form.integers or not names <= set(self.traced.own.values()):
            return None  # an integer argument is not a size, and data may be suitable
        if failure.text and self._is_left_out(failure.formula, failure.text):
            return None
        refusal = self._refusal(failure.at) if self.signature.numbers is not None else ""
        if refusal:
            self.findings.reason = f"no object could be made: {refusal}"
            return None
        if self.signature.numbers is not None and equal is None:
            self.findings.reason = "it may fail because of the numbers that its object was made with"
            self.findings.bound.update(_number_of_name(failure.formula, self.traced.names))
            return None
        if is_never and not (_OF_SHAPES.search(failure.error.lower()) and not self.form.samples):
            return None
        called = self._raised(failure.at)
        if called is None or (is_never and any(self._raised(at) is None for at in self._larger())):
            return None
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
        self.blamed.append(failure.formula)
        fix = self._one_name(failure.formula)
        return FindingDraft(code, self._place(failure.place), message, dict(failure.at), called, fix)

    def _one_name(self, formula: Formula) -> Fix | None:
        """Return the edits that give two axes one name, if a requirement holds where these are equal."""
        ways = formula.parts if isinstance(formula, AnyOf) else (formula,)
        (first, second), *_ = [*(e for w in ways if (e := _equal_names(w, self.traced.names))), ("", "")]
        texts = [(t, p) for t, p in self.function.texts if second in re.findall(r"\w+", t)]
        of_second = {a.text for a in self.signature.arrays if second in [axis.text for axis in a.axes]}
        edits = [sources.edit_of_text(self.request.path, p, t, re.sub(rf"\b{second}\b", first, t)) for t, p in texts]
        if not second or not of_second <= {t for t, _ in texts} or not all(edits):
            return None
        return Fix(f"Name {second} {first}", tuple(e for e in edits if e))

    def _larger(self) -> Iterator[dict[str, int]]:
        """Yield sizes at which a function that works for no sizes fails too: equal ones, and different ones."""
        names = list(self.traced.own.values())
        yield dict.fromkeys(names, 4)
        yield {name: 4 + number for number, name in enumerate(names)}

    def _is_intended(self, failure: TraceFailure) -> bool:
        """Return whether the code itself raises the error."""
        return failure.place.source.startswith(("raise", "assert"))

    def _place(self, place: CodePlace) -> sources.Position:
        """Return a line of the function, at its first character; the function's name for a line elsewhere."""
        if not self._is_inside(place):
            return self.function.place
        line = linecache.getline(place.file, place.line)
        return sources.Position(place.line, len(line) - len(line.lstrip()) + 1)

    def _is_inside(self, place: CodePlace) -> bool:
        is_here = bool(place.line) and Path(place.file).resolve() == Path(self.request.path).resolve()
        return is_here and self.function.first <= place.line <= self.function.last

    def _refusal(self, at: Mapping[str, int]) -> str:
        """Return why a constructor refuses its arguments at some sizes; empty if it does not."""
        error = next((r.error for r in self.traced.real(at) if isinstance(r, RaisedError)), None)
        return " ".join(str(error).split()).rstrip(": ") if isinstance(error, specs.NotMadeError) else ""

    def _raised(self, at: Mapping[str, int]) -> str | None:
        """Return the error of calls at some sizes; None if a call works, or fails because of its data."""
        error: BaseException | None = None
        for real in self.traced.real(at):
            if not isinstance(real, RaisedError):
                return None
            error = error or real.error
        # These errors are about the machine, an argument or JAX's tracers, not about sizes.
        is_of_tracers = type(error).__module__ in ("jax.errors", "jax._src.errors")
        if error is None or is_of_tracers or isinstance(error, (MemoryError, RecursionError, specs.NotMadeError)):
            return None
        return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"

    # Promises.

    def promises(self, returns: specs.Spec) -> None:
        """Add what a function returns in another shape than promised."""
        at: dict[str, Dim] = {name: symbol for symbol, name in self.traced.names.items()}
        has_numbers = self.signature.numbers is not None
        for when, value in self.traced.cases:
            formula = annotation_meaning.promise_condition(value, returns, SizesOfAxes(self.form, at))
            # An annotation such as "n-2" says nothing where it is negative.
            possible = annotation_meaning.possible_terms(returns, SizesOfAxes(self.form, at))
            decided = Decision(self.traced.assumptions, [any_of([negate(when), negate(possible), formula])])
            if decided.verdict is Verdict.ALWAYS:
                continue
            self.findings.is_proved = False
            if any(self._settles(blamed, formula) for blamed in self.blamed):
                continue
            kept = negate(when) if formula == FALSE else formula
            needed = any_of([negate(when), formula])
            if needed != FALSE and self._is_left_out(needed, Namer.of(self.traced.names).formula(kept)):
                continue
            if decided.verdict is Verdict.UNKNOWN:
                self.findings.reason = self.findings.reason or decided.reason
            sizes = decided.counterexample()
            # Numbers with which an object was made are no promise: only `FALSE`, or two names, are about its code.
            is_own = has_numbers and formula != FALSE and _equal_names(formula, self.traced.names) is None
            both = Decision(self.traced.assumptions, [all_of([when, formula])])
            promised = FALSE if both.verdict is Verdict.NEVER else formula  # where the call fails nothing is promised
            draft = None if sizes is None or is_own else self._broken(promised, sizes, returns, value)
            if draft is not None:
                self.findings.drafts.append(draft)
            elif not self.findings.reason:
                self.findings.reason = "no call confirmed that its result differs from its annotation"

    def _settles(self, requirement: Formula, promise: Formula) -> bool:
        """Return whether one way to meet a requirement keeps a promise too: both have one cause, as x[n] + y[m]."""
        ways = requirement.parts if isinstance(requirement, AnyOf) else (requirement,)
        kept = (Decision(self.traced.assumptions, [any_of([negate(way), promise])]) for way in ways)
        return any(decided.verdict is Verdict.ALWAYS for decided in kept)

    def _broken(
        self, formula: Formula, sizes: Mapping[Symbol, int], returns: specs.Spec, value: Any
    ) -> FindingDraft | None:
        at = {name: sizes[s] for s, name in self.traced.own.items() if s in sizes}
        real = self._returned(at, returns)
        if real is None:
            return None
        name, told_as = self.function.name, specs.spec_text(returns)
        where = f"at {sizes_text(at)} it returns {real}" if at else f"it returns {real}"
        clauses = Decision(self.traced.assumptions, [formula]).clauses
        namer = Namer.of(self.traced.names)
        if FALSE in clauses and len(self.traced.cases) > 1:
            message = f"{name} returns {value_text(value, namer)} for some arguments, not {told_as}: {where}"
            return FindingDraft(PROMISE, self.function.returns, message, at, real)
        if FALSE in clauses:
            message = f"{name} returns {value_text(value, namer)}, never {told_as}: {where}"
            return FindingDraft(NEVER, self.function.returns, message, at, real, self._as_returned(returns, value))
        text = namer.formula(all_of(clauses))
        message = f"{name} returns {told_as} only if {text}: {where}"
        return FindingDraft(PROMISE, self.function.returns, message, at, real, self._as_returned(returns, value))

    def _as_returned(self, returns: specs.Spec, value: Any) -> Fix | None:
        """Return the edit that promises the shape which a function returns at all sizes at which it works."""
        dims = annotation_meaning.dims_in(value)
        if dims is None or not isinstance(returns, specs.ArraySpec) or len(self.traced.cases) > 1:
            return None
        sizes = [Namer.of(self.traced.names).dim(d).replace(" ", "") for d in dims]
        words = {w for size in sizes for w in re.findall(r"[^\W\d]\w*", size)}
        if not words <= {a.text for array in self.signature.arrays for a in array.axes if a.kind == "name"}:
            return None  # a function such as broadcast(N, M), or a size that has no name
        for between in (" ", ", "):  # jaxtyping, symbcast
            old, new = between.join(map(str, returns.axes)), between.join(sizes)
            edit = sources.edit_of_text(self.request.path, self.function.returns, old, new)
            if edit is not None:
                return Fix(f'Write "{new}", which it returns', (edit,))
        return None

    def _returned(self, at: Mapping[str, int], returns: specs.Spec) -> str | None:
        """Return a result of a call that breaks the promise, as text; None if no call does."""
        known: dict[str, Dim] = dict(at)
        for real in self.traced.real(at):
            if (
                not isinstance(real, RaisedError)
                and annotation_meaning.promise_condition(lasting_result(real), returns, SizesOfAxes(self.form, known))
                == FALSE
            ):
                return value_text(lasting_result(real), Namer.of({}))
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
            self.findings.drafts.append(FindingDraft(STRETCHED, self._place(place), message))

    def _is_annotated(self, dim: Symbol, is_first: bool = False) -> bool:
        """Return whether an argument is annotated with this size and an axis of size 1, which may have to be first."""
        name = self.traced.names.get(dim)
        annotated = [
            [a.text for a in spec.axes] for s in self.signature.parameters.values() for spec in specs.arrays_in(s)
        ]
        return any(name in axes and ("1" in axes[:1] if is_first else "1" in axes) for axes in annotated)


def _named(shapes: tuple[tuple[Dim, ...], ...]) -> Iterator[Symbol]:
    """Yield the sizes that all operands have, each on a different axis."""
    for dim in dict.fromkeys(d for s in shapes for d in s):
        if isinstance(dim, Symbol) and all(dim in s for s in shapes):
            yield dim


def _short(dims: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return dimensions without leading axes of size 1."""
    return dims[next((n for n, d in enumerate(dims) if d != 1), len(dims)) :]


def _equal_names(formula: Formula, names: Mapping[Symbol, str]) -> tuple[str, str] | None:
    if isinstance(formula, Comparison) and formula.operator == "==":
        left, right = formula.left, formula.right
        if isinstance(left, Symbol) and isinstance(right, Symbol):
            return names.get(left, left.name), names.get(right, right.name)
    return None


def _number_of_name(formula: Formula, names: Mapping[Symbol, str]) -> dict[str, int]:
    """Return the number that a name must be, if that is all that a requirement says."""
    if isinstance(formula, Comparison) and formula.operator == "==":
        sides = ((formula.left, formula.right), (formula.right, formula.left))
        return {names[a]: b for a, b in sides if isinstance(a, Symbol) and a in names and isinstance(b, int)}
    return {}


def shape_text(dims: tuple[Dim, ...], namer: Namer) -> str:
    """Return dimensions as text, such as ``(N, 3)``."""
    return f"({', '.join(map(namer.dim, dims))}{',' * (len(dims) == 1)})"


def value_text(value: Any, namer: Namer) -> str:
    """Return the shapes in a result as text."""
    if isinstance(value, (tuple, list)) and not isinstance(value, Shape):
        return f"[{', '.join(value_text(v, namer) for v in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{k}: {value_text(v, namer)}' for k, v in value.items())}}}"
    dims = annotation_meaning.dims_in(value)
    return (repr(value) if value is None else f"a {type(value).__name__}") if dims is None else shape_text(dims, namer)


# Promises of `symbcast.checked`, which are checked as annotations are.


def check_promise(path: str, module: ModuleType, function: sources.SourceFunction) -> Checked | None:
    """Return what was found out about the promise of a function of a module; None if it has none."""
    value: Any = getattr(module, function.name, None)
    promise = promise_of(value)
    return None if promise is None else _promise_result(path, function, value, promise)


def has_promise(module: ModuleType, function: sources.SourceFunction) -> bool:
    """Return whether a function of a module has a promise."""
    return promise_of(getattr(module, function.name, None)) is not None


def _promise_result(path: str, function: sources.SourceFunction, value: Any, promise: Promise) -> Checked:
    name, place = function.name, function.place

    def finding(code: Code, message: str) -> Finding:
        return Finding(path, place.line, place.column, code.id, message, name)

    try:
        faults = list(faults_of(promise, promise.call.of(value)))
    except SymbcastError as error:
        text = error.message() if isinstance(error, ShapeSyntaxError) else " ".join(str(error).split())
        fault = finding(ANNOTATION, f"the promise of {name}: {text}")
        return Checked(path, name, place.line, "finding", findings=(fault,))
    except EffortSpentError as error:
        return Checked(path, name, place.line, "unknown", " ".join(str(error).split()), 1)
    findings = tuple(
        finding(PROMISE if f.is_returned else FAILS, f"{name} {f.message.removeprefix('it ')}")
        for f in faults
        if f.is_known
    )
    reason = next((f.message for f in faults if not f.is_known), "")
    status: CheckStatus = "finding" if findings else "unknown" if reason else "proved"
    return Checked(path, name, place.line, status, reason, 1, findings=findings)


def check_function(module: ModuleType, request: FunctionToCheck) -> Checked | None:
    """Return what was found out about a function; None if it has no promise, and its annotations have no shapes."""
    recording.KNOWN.load(request.objects)
    promise = check_promise(request.path, module, request.function)
    annotated = _annotated(module, request)
    if annotated is not None and annotated.status in ("unknown", "skipped") and recording.KNOWN.calls:
        annotated = _with_recorded_objects(module, request, annotated)
    if promise is None or annotated is None:
        return promise or annotated
    worst = min(promise, annotated, key=lambda c: _WORST.index(c.status))
    return replace(worst, forms=promise.forms + annotated.forms, findings=(*promise.findings, *annotated.findings))


def _with_recorded_objects(module: ModuleType, request: FunctionToCheck, before: Checked) -> Checked:
    """Return what is found out with objects as tests made them, where others led to nothing."""
    recording.KNOWN.comes_first = True
    try:
        checked = _annotated(module, request)
    finally:
        recording.KNOWN.comes_first = False
    return before if checked is None or checked.status in ("unknown", "skipped") else checked


_WORST: tuple[CheckStatus, ...] = ("finding", "unknown", "skipped", "partly", "proved")


def _annotated(module: ModuleType, request: FunctionToCheck) -> Checked | None:
    """Return what was found out about the annotations of a function; None if they say nothing about shapes."""
    divided = tuple(_divided(request))
    try:
        signature = signature_of(module, request.function)
    except NotFoundError as error:
        return _checked(request, "skipped", str(error), divided) if divided else None
    except Exception as error:
        text = f"an annotation of {request.function.name} cannot be read: {type(error).__name__}: {error}"
        finding = finding_without_sizes(request, ANNOTATION, request.function.place, " ".join(text.split()))
        return _checked(request, "finding", "", (*divided, finding))
    if not signature.is_shaped:
        return None
    if divided:
        return _checked(request, "finding", "", divided)
    checked = _traced(request, signature)
    return replace(checked, shapes=_shapes(request, signature)) if request.shapes and checked.forms else checked


def _shapes(request: FunctionToCheck, signature: FunctionSignature) -> tuple[AssignedShape, ...]:
    """Return the shapes that the variables of a function have for the first form of its arguments."""
    library: Any = import_module(f"symbcast.linting.libraries.{signature.library}")
    forms, _ = annotation_meaning.forms_of(signature.parameters, library.dtype, signature.numbers)
    positional, named = _arguments(forms[0], signature)

    def trace() -> Any:
        return library.paths_of(signature.function, positional, named, request.min_size)

    code = inspect.unwrap(signature.function).__code__
    try:
        return assigned_shapes(trace, code, request.function.assigned, library.read_value, forms[0])
    except (SymbcastError, EffortSpentError):
        return ()


def has_shapes(module: ModuleType, request: FunctionToCheck) -> bool:
    """Return whether there is anything to check about a function."""
    if any(_divided(request)) or has_promise(module, request.function):
        return True
    try:
        return signature_of(module, request.function).is_shaped
    except NotFoundError:
        return False
    except Exception:
        return True  # the check reports it


def _divided(request: FunctionToCheck) -> Iterator[Finding]:
    for text, place in request.function.texts:
        whole = specs.split_expression(text)
        if whole:
            message = f"spaces divide {whole!r} into {len(whole.split())} axes: write {''.join(whole.split())!r}"
            edit = sources.edit_of_text(request.path, place, text, text.replace(whole, "".join(whole.split())))
            finding = finding_without_sizes(request, SPACES, place, message)
            yield replace(finding, fix=edit and Fix(f"Write {''.join(whole.split())!r}", (edit,)))


def _checked(
    request: FunctionToCheck, status: CheckStatus, reason: str = "", findings: tuple[Finding, ...] = (), forms: int = 0
) -> Checked:
    place = request.function.place
    outcome = "finding" if findings else status
    return Checked(request.path, request.function.name, place.line, outcome, reason, forms, findings=findings)


def _traced(request: FunctionToCheck, signature: FunctionSignature) -> Checked:
    library: Any = import_module(f"symbcast.linting.libraries.{signature.library}")
    try:
        forms, left_out = annotation_meaning.forms_of(signature.parameters, library.dtype, signature.numbers)
    except NoArgumentError as error:
        return _checked(request, "skipped", f"no argument can be made for {error}")
    drafts: list[tuple[ArgumentForm, FindingDraft]] = []
    reasons: list[str] = []
    limits: dict[str, None] = {}
    bound: dict[str, int] = {}
    is_proved = True
    for form in forms:
        if form.is_for_doubt and not drafts:
            continue
        positional, named = _arguments(form, signature)
        try:
            traced: LibraryTrace = library.traced(signature.function, positional, named, request.min_size)
            findings_of_form = compare_with_annotations(request, signature, form, traced)
            drafts += [(form, d) for d in findings_of_form.drafts]
        except (SymbcastError, EffortSpentError) as error:
            reasons.append(" ".join(str(error).split()))
            continue
        if findings_of_form.reason:
            reasons.append(findings_of_form.reason)
        limits.update(dict.fromkeys(findings_of_form.limits))
        bound.update(findings_of_form.bound)
        is_proved = is_proved and findings_of_form.is_proved and traced.is_proved
    findings = tuple(_findings(request, forms, drafts, _origin(request, signature)))
    if findings:
        return _checked(request, "finding", reasons[0] if reasons else "", findings, len(forms))
    if bound.keys() - (signature.numbers or {}).keys():
        # The object has these sizes: its method is checked for them.
        checked = _traced(request, replace(signature, numbers={**bound, **(signature.numbers or {})}))
        sizes = ", ".join(f"{name} == {number}" for name, number in bound.items())
        return replace(checked, reason=f"where {sizes}, as of its object; {checked.reason}".removesuffix("; "))
    if reasons:
        numbered = with_numbers(signature)  # a constructor may need numbers, to count layers
        again = None if numbered is None else _traced(request, numbered)
        unknown = _checked(request, "unknown", reasons[0], forms=len(forms))
        return unknown if again is None or again.status in ("unknown", "skipped") else again
    if is_proved and not left_out:
        return _checked(request, "proved", forms=len(forms))
    refused = [] if is_proved or limits else ["where it raises no error itself"]
    return _checked(request, "partly", "; ".join([*limits, *refused, *left_out]), forms=len(forms))


def _arguments(form: ArgumentForm, signature: FunctionSignature) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments by position and by name."""
    by_place = [(v,) if n != signature.spread else v for n, v in form.arguments.items() if n not in signature.keywords]
    return [v for values in by_place for v in values], {n: form.arguments[n] for n in signature.keywords}


def _origin(request: FunctionToCheck, signature: FunctionSignature) -> str:
    """Return in words what made the object of a method, if that is not its class; else nothing."""
    owner = request.function.name.rpartition(".")[0].rpartition(".")[2]
    own = next(iter(signature.parameters.values()), None)
    return f" (of {own.name})" if owner and isinstance(own, specs.ObjectSpec) and own.name != owner else ""


def _findings(
    request: FunctionToCheck, forms: list[ArgumentForm], drafts: list[tuple[ArgumentForm, FindingDraft]], origin: str
) -> Iterator[Finding]:
    """Yield one finding for each code and condition, and for each code and line; ``origin`` ends its message.

    What fails only for some numbers of axes of ``...`` is left out, and what depends on how long a sequence is: nobody
    means a number by them.
    """
    ranks, lengths = {f.ranks.get("...") for f in forms}, {f.length for f in forms}
    seen: set[tuple[str, sources.Position | str]] = set()
    for form, draft in drafts:
        key = draft.code.id, draft.place
        alike = [(f, d) for f, d in drafts if (d.code.id, d.place) == key]
        about = draft.code.id, draft.message.partition(": at ")[0]
        if key in seen or about in seen or not ranks <= {f.ranks.get("...") for f, _ in alike}:
            continue
        if not lengths <= {f.length for f, d in alike if d.condition == draft.condition}:
            continue
        seen |= {key, about}
        where = f" (with {form.text})" if form.text and _is_of_rank(forms, drafts, key) else ""
        sizes: Mapping[str, int] = draft.sizes
        text = f"{draft.message}{where}{origin}"
        yield Finding(
            request.path,
            draft.place.line,
            draft.place.column,
            draft.code.id,
            text,
            request.function.name,
            sizes,
            draft.called,
            draft.fix,
        )


def _is_of_rank(
    forms: list[ArgumentForm], drafts: list[tuple[ArgumentForm, FindingDraft]], key: tuple[str, sources.Position]
) -> bool:
    with_it = [f.text for f, d in drafts if (d.code.id, d.place) == key]
    return len(set(with_it)) < len({f.text for f in forms})
