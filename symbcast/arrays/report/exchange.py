"""Answers about functions as plain data for JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbcast.paths.conclusions.exchange import paths_to_dict

if TYPE_CHECKING:
    from symbcast.arrays.report.answer import TraceAnswer

FORMAT = "symbcast.trace-report"
VERSION = 1
"""The version of the data: it is increased when a key changes its meaning or is removed."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of what `report_to_dict` returns."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("report.schema.json").read_text("utf-8"))
    return found


def report_to_dict(report: TraceAnswer) -> dict[str, Any]:
    """Return a report as data that `json.dumps` takes, the same on every run.

    A shape is a list of numbers and text that `symbcast.core.text` reads back.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "function": report.name,
        "arguments": list(report.arguments),
        **paths_to_dict(report),
    }
