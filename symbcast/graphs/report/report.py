"""The answer about a model, with presentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symbcast.core.logic.formulas import TRUE
from symbcast.core.solver.budget import one_call
from symbcast.core.verdicts import Verdict
from symbcast.graphs.report.answer import GraphAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symbcast.answers.show.document import Document, Room


class GraphReport(GraphAnswer):
    """The answer about a model, with methods that show and export it."""

    # Presentation and export.

    def explain(self) -> str:
        """Return the answer in words, short enough to fit on a screen."""
        from symbcast.answers.show.text import render
        from symbcast.graphs.report.document import WIDTH

        return render(self._document(), WIDTH)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as data for JSON, as `json_schema` describes it."""
        from symbcast.graphs.report.exchange import report_to_dict

        return report_to_dict(self)

    @one_call
    def to_stablehlo(self, *, with_assumptions: bool = False) -> str:
        """Return a StableHLO module with functions of the input sizes: the condition, its checks, and the outputs.

        ``@shape_NAME`` returns the shape of an output, ``@condition`` whether the model runs, and ``@check`` asserts
        each requirement, with its node and reason as the message. All take the sizes in the order of
        ``guard().parameters``. Comments name the outputs whose shapes are not determined by input sizes, and what the
        condition does not cover: nodes that were not analysed, and conditions on data. See the README of
        `symbcast.answers.guards`.
        """
        from symbcast.answers.guards import requirements_of, stablehlo_source

        found = self._guarded(with_assumptions)
        return stablehlo_source(found, self._shown, requirements_of(self.findings), self.outputs, self._not_covered())

    def _not_covered(self) -> Iterator[str]:
        """Yield what the condition on input sizes does not cover, as text."""
        for node in self.unanalysed:
            yield f"Not analysed: {node}"
        if self.data_condition.formula != TRUE:
            yield f"Data must meet: {self.data_condition}"
        if self.verdict is Verdict.UNKNOWN:
            yield f"Unknown: {self.reason}"

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of what `to_dict` returns."""
        from symbcast.graphs.report.exchange import json_schema

        return json_schema()

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        from symbcast.graphs.report.document import summary

        return f"<{type(self).__name__} of {summary(self)}>"

    def _repr_html_(self) -> str:
        from symbcast.answers.show import html
        from symbcast.answers.show.document import Room

        return html.render(self._document(Room.PAGE))

    def _repr_latex_(self) -> str:
        from symbcast.answers.show import latex
        from symbcast.answers.show.document import Room

        return latex.render(self._document(Room.PAGE))

    def _document(self, room: Room | None = None) -> Document:
        from symbcast.answers.show.document import Room
        from symbcast.graphs.report.document import document

        return document(self, room or Room.SCREEN)
