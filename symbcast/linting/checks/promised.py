"""Promises of `symbcast.checked`, which are checked as annotations are."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from symbcast.arrays.promises import Promise, faults_of, promise_of
from symbcast.core.effort import EffortSpentError
from symbcast.errors import ShapeSyntaxError, SymbcastError
from symbcast.linting.codes import ANNOTATION, FAILS, PROMISE, Code
from symbcast.linting.findings import Checked, Finding, Status
from symbcast.linting.functions import Function


def promised(path: str, module: ModuleType, function: Function) -> Checked | None:
    """Return what was found out about the promise of a function of a module; None if it has none."""
    found: Any = getattr(module, function.name, None)
    promise = promise_of(found)
    return None if promise is None else _checked(path, function, found, promise)


def is_promised(module: ModuleType, function: Function) -> bool:
    """Return whether a function of a module has a promise."""
    return promise_of(getattr(module, function.name, None)) is not None


def _checked(path: str, function: Function, found: Any, promise: Promise) -> Checked:
    name, place = function.name, function.place

    def finding(code: Code, message: str) -> Finding:
        return Finding(path, place.line, place.column, code.id, message, name)

    try:
        faults = list(faults_of(promise, promise.call().of(found)))
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
    status: Status = "finding" if findings else "unknown" if reason else "proved"
    return Checked(path, name, place.line, status, reason, 1, findings=findings)
