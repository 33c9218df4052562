"""The public report about a traced function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symbcast.arrays.report.answer import TraceAnswer

if TYPE_CHECKING:
    from symbcast.answers.report.formats import Format


class TraceReport(TraceAnswer):
    """For which sizes a function works, its result, and which line requires what."""

    def report(self, format: Format = "text") -> str:
        """Return the findings in a format: ``"text"``, ``"json"``, ``"sarif"`` or ``"github"``.

        Raises `ShapeTypeError` for any other format.
        """
        from symbcast.answers.report.formats import formatted
        from symbcast.arrays.report.notices import outcome_of

        return formatted(format, lambda: outcome_of(self), self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as data that `json.dumps` takes, as `json_schema` describes it."""
        from symbcast.arrays.report.exchange import report_to_dict

        return report_to_dict(self)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of what `to_dict` returns."""
        from symbcast.arrays.report.exchange import json_schema

        return json_schema()

    def __repr__(self) -> str:
        count = f"{self.paths} path{'s' * (self.paths != 1)}"
        return f"<{type(self).__name__} of {self.name}: {self.verdict.value}, {count}>"
