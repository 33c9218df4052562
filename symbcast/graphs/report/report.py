"""The answer about a model, with presentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symbcast.core.logic.formulas import TRUE
from symbcast.graphs.report.answer import GraphAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from symbcast.answers.show.document import Document, Room
    from symbcast.core.shapes import Shape
    from symbcast.graphs.report.pictures.picture import ModelPicture


class GraphReport(GraphAnswer):
    """The answer about a model, with methods that show and export it."""

    # Presentation and export.

    def explain(self) -> str:
        """Return the answer in words, short enough to fit on a screen."""
        from symbcast.answers.show.text import render
        from symbcast.graphs.report.document import WIDTH

        return render(self._document(), WIDTH)

    def plot(self) -> ModelPicture:
        """Return the graph as a picture, with shapes on its edges and the nodes to blame marked.

        A notebook shows it; ``save("model.html")`` writes it as a page that opens in any browser.
        """
        from symbcast.answers.show.document import Room
        from symbcast.graphs.report.pictures.picture import ModelPicture

        return ModelPicture(self, lambda: self._document(Room.PAGE))

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as data for JSON, as `json_schema` describes it."""
        from symbcast.graphs.report.exchange import report_to_dict

        return report_to_dict(self)

    def _outputs(self) -> Mapping[str, Shape | None]:
        return self.outputs

    def _not_covered(self) -> Iterator[str]:
        yield from super()._not_covered()
        if self.data_condition.formula != TRUE:
            yield f"Data must meet: {self.data_condition}"

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
