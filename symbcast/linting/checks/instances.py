"""Objects of classes that must be constructed, such as modules of PyTorch, made with small numbers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from symbcast.linting.annotations.reading import read
from symbcast.linting.annotations.specs import SizeSpec, ValueSpec

_FEW = re.compile(r"head|group|layer|num|depth|^n_")
"""Names of parameters that count parts: sizes are divided by them, or parts are built in a loop."""
_WIDTHS = (8, 12, 16, 20, 24, 28)


def instance_of(kind: type, space: Mapping[str, Any]) -> tuple[Any, dict[str, int]] | None:
    """Return an object of a class, and the integers that it was made with; None if it cannot be made."""
    numbers: dict[str, int] = {}
    given: dict[str, Any] = {}
    try:
        for name, said in inspect.signature(kind).parameters.items():
            if said.kind in (said.VAR_POSITIONAL, said.VAR_KEYWORD) or said.default is not said.empty:
                continue
            spec = read(said.annotation, space) if said.annotation is not said.empty else SizeSpec()
            if isinstance(spec, SizeSpec):
                numbers[name] = 2 if _FEW.search(name) else _WIDTHS[len(numbers) % len(_WIDTHS)]
                given[name] = numbers[name]
            elif isinstance(spec, ValueSpec):
                given[name] = spec.values[0]
            else:
                return None
        return kind(**given), numbers
    except Exception:  # the numbers need not suit the class
        return None
