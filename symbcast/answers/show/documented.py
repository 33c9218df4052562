"""What shows itself by its document: in words, and as HTML and LaTeX in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.effort import Tier
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.show.document import Document, Room


class Documented(ABC):
    """An answer that has a document. Renderers are loaded when something is shown: a verdict needs none."""

    __slots__ = ()

    @abstractmethod
    def _document(self, *room: Room) -> Document:
        """Return what is shown; ``room`` is where, a screen by default."""

    def _in_words(
        self, tiers: Mapping[Tier, Sequence[str]] | None = None, verdict: Callable[[], Verdict] | None = None
    ) -> str:
        """Return the document as text, with the tiers that decided the verdict if these are given."""
        from symbcast.answers.show.document import render, with_tiers

        document = self._document()
        if tiers is None:
            return render(document)
        # After the document, which would show other sizes if the verdict took effort before it.
        return render(with_tiers(document, tiers, verdict is None or verdict() is not Verdict.UNKNOWN))

    def _in_latex(self, *room: Room) -> str:
        from symbcast.answers.show.latex import render

        return render(self._document(*room))

    def _repr_html_(self) -> str:
        from symbcast.answers.show.document import Room
        from symbcast.answers.show.html import render

        return render(self._document(Room.PAGE))


class Explained(Documented):
    """A documented answer whose text is its explanation."""

    __slots__ = ()

    def explain(self) -> str:
        """Return the answer in words, short enough to fit on a screen."""
        return self._in_words()

    def __str__(self) -> str:
        return self.explain()
