"""The public answer about all paths of a run."""

from __future__ import annotations

from typing import Any

from symbcast.paths.conclusions.answer import PathsAnswer


class Paths(PathsAnswer):
    """The sizes at which a run works, its behaviour in each case, and the line behind each requirement."""

    def explain(self) -> str:
        """Return the answer in words: the requirements and their lines, failing sizes, and the result."""
        from symbcast.answers.show.text import render
        from symbcast.paths.conclusions.document import WIDTH, document

        return render(document(self), WIDTH)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data for JSON."""
        from symbcast.paths.conclusions.exchange import paths_to_dict

        return paths_to_dict(self)

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        from symbcast.answers.show import html
        from symbcast.answers.show.document import Room
        from symbcast.paths.conclusions.document import document

        return html.render(document(self, Room.PAGE))

    def _repr_latex_(self) -> str:
        from symbcast.answers.show import latex
        from symbcast.answers.show.document import Room
        from symbcast.paths.conclusions.document import document

        return latex.render(document(self, Room.PAGE))
