"""Contracts as JSON, and its schema."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symbcast.answers.contracts.checks.failures import Failure

FORMAT = "symbcast.contract"


def ranges_data(box: Mapping[str, range]) -> dict[str, dict[str, int]]:
    """Return ranges as data."""
    return {name: {"least": r[0], "greatest": r[-1], "step": r.step} for name, r in box.items()}


def failure_data(failure: Failure) -> dict[str, Any]:
    """Return sizes that are left out as data."""
    return asdict(failure)


@cache
def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a contract."""
    text = files("symbcast.answers.contracts").joinpath("contract.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
