"""Check one function: trace each form of its arguments, compare results with promises, and confirm by calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import Any

from symbcast.arrays.arguments import BuiltArgument
from symbcast.core.effort import EffortSpentError
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError
from symbcast.linting.annotations.arguments import Form, NoArgumentError, forms_of
from symbcast.linting.annotations.axes import split_expression
from symbcast.linting.checks.comparing import Draft, compared
from symbcast.linting.checks.promised import is_promised, promised
from symbcast.linting.checks.signature import NotFoundError, Signature, signature_of
from symbcast.linting.codes import ANNOTATION, SPACES, Code
from symbcast.linting.findings import Checked, Finding, Status
from symbcast.linting.functions import Function, Position
from symbcast.linting.libraries.traced import Traced


@dataclass(frozen=True)
class Asked:
    """A function to check: its file, its module's name, the function, and the minimum size of every name."""

    path: str
    module: str
    function: Function
    min_size: int = 1


def check(module: ModuleType, asked: Asked) -> Checked | None:
    """Return what was found out about a function; None if it has no promise, and its annotations have no shapes."""
    promise = promised(asked.path, module, asked.function)
    annotated = _annotated(module, asked)
    if promise is None or annotated is None:
        return promise or annotated
    worst = min(promise, annotated, key=lambda c: _WORST.index(c.status))
    return replace(worst, forms=promise.forms + annotated.forms, findings=(*promise.findings, *annotated.findings))


_WORST: tuple[Status, ...] = ("finding", "unknown", "skipped", "partly", "proved")


def _annotated(module: ModuleType, asked: Asked) -> Checked | None:
    """Return what was found out about the annotations of a function; None if they say nothing about shapes."""
    divided = tuple(_divided(asked))
    try:
        signature = signature_of(module, asked.function.name)
    except NotFoundError as error:
        return _checked(asked, "skipped", str(error), divided) if divided else None
    except Exception as error:
        text = f"an annotation of {asked.function.name} cannot be read: {type(error).__name__}: {error}"
        finding = made(asked, ANNOTATION, asked.function.place, " ".join(text.split()))
        return _checked(asked, "finding", "", (*divided, finding))
    if not signature.is_shaped:
        return None
    if divided:
        return _checked(asked, "finding", "", divided)
    return _traced(asked, signature)


def has_shapes(module: ModuleType, asked: Asked) -> bool:
    """Return whether there is anything to check about a function."""
    if any(_divided(asked)) or is_promised(module, asked.function):
        return True
    try:
        return signature_of(module, asked.function.name).is_shaped
    except NotFoundError:
        return False
    except Exception:
        return True  # the check reports it


def made(asked: Asked, code: Code, place: Position, message: str) -> Finding:
    """Return a finding without sizes."""
    return Finding(asked.path, place.line, place.column, code.id, message, asked.function.name)


def _divided(asked: Asked) -> Iterator[Finding]:
    for text, place in asked.function.texts:
        whole = split_expression(text)
        if whole:
            message = f"spaces divide {whole!r} into {len(whole.split())} axes: write {''.join(whole.split())!r}"
            yield made(asked, SPACES, place, message)


def _checked(
    asked: Asked, status: Status, reason: str = "", findings: tuple[Finding, ...] = (), forms: int = 0
) -> Checked:
    place = asked.function.place
    found = "finding" if findings else status
    return Checked(asked.path, asked.function.name, place.line, found, reason, forms, findings=findings)


def _traced(asked: Asked, signature: Signature) -> Checked:
    library = _library(signature.library)
    try:
        forms, is_all = forms_of(signature.parameters, library.dtype, signature.numbers)
    except NoArgumentError as error:
        return _checked(asked, "skipped", f"no argument can be made for {error}")
    drafts: list[tuple[Form, Draft]] = []
    reasons: list[str] = []
    is_proved = True
    for form in forms:
        positional, named = _arguments(form, signature)
        try:
            traced: Traced = library.traced(signature.function, positional, named, asked.min_size)
            found = compared(asked.path, asked.function, signature, form, traced)
            drafts += [(form, d) for d in found.drafts]
        except (SymbcastError, EffortSpentError) as error:
            reasons.append(" ".join(str(error).split()))
            continue
        if found.reason:
            reasons.append(found.reason)
        is_proved = is_proved and found.is_proved and traced.verdict is Verdict.ALWAYS
    findings = tuple(_findings(asked, forms, drafts))
    if findings:
        return _checked(asked, "finding", reasons[0] if reasons else "", findings, len(forms))
    if reasons:
        return _checked(asked, "unknown", reasons[0], forms=len(forms))
    return _checked(asked, "proved" if is_proved and is_all else "partly", forms=len(forms))


def _library(name: str) -> Any:
    return import_module(f"symbcast.linting.libraries.{name}")


def _arguments(form: Form, signature: Signature) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments by position and by name; text is wrapped, because text means a shape to a trace."""
    found = {n: _kept(v) if isinstance(v, str) else v for n, v in form.arguments.items()}
    positional = [v for n, v in found.items() if n not in signature.keywords]
    return positional, {n: v for n, v in found.items() if n in signature.keywords}


def _kept(value: Any) -> BuiltArgument:
    return BuiltArgument(lambda _: value, ())


def _findings(asked: Asked, forms: list[Form], drafts: list[tuple[Form, Draft]]) -> Iterator[Finding]:
    """Yield one finding for each code and condition, and for each code and line.

    What fails only for some numbers of axes of ``...`` is left out: nobody means a number by it.
    """
    ranks = {f.ranks["..."] for f in forms if "..." in f.ranks}
    seen: set[tuple[str, Position | str]] = set()
    for form, draft in drafts:
        key = draft.code.id, draft.place
        alike = {f.ranks.get("...") for f, d in drafts if (d.code.id, d.place) == key}
        about = draft.code.id, draft.message.partition(": at ")[0]
        if key in seen or about in seen or (ranks and not ranks <= alike):
            continue
        seen |= {key, about}
        where = f" (with {form.text})" if form.text and _is_of_rank(forms, drafts, key) else ""
        sizes: Mapping[str, int] = draft.sizes
        text = f"{draft.message}{where}"
        yield Finding(
            asked.path,
            draft.place.line,
            draft.place.column,
            draft.code.id,
            text,
            asked.function.name,
            sizes,
            draft.called,
        )


def _is_of_rank(forms: list[Form], drafts: list[tuple[Form, Draft]], key: tuple[str, Position]) -> bool:
    with_it = [f.text for f, d in drafts if (d.code.id, d.place) == key]
    return len(set(with_it)) < len({f.text for f in forms})
