"""Fit lines of text into the available space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.font_manager import FontProperties

if TYPE_CHECKING:
    from matplotlib.text import Text


def fit(text: Text, words: str, points: float) -> None:
    """Write one line of text, truncated to a width of ``points``."""
    words = plain(words)
    text.set_text(words)
    scale = 72.0 / text.get_figure().dpi  # type: ignore[union-attr]
    while len(words) > 8 and (wide := max(text.get_window_extent().size) * scale) > points:
        words = f"{words[: max(5, min(len(words) - 4, int(len(words) * points / wide) - 3))].rstrip()}..."
        text.set_text(words)


def points_of(size: str | float) -> float:
    """Return a font size, such as "small", in points."""
    return float(FontProperties(size=size).get_size_in_points())


def plain(words: str) -> str:
    """Return text on one line, since a name can contain any character."""
    return "".join(c if c.isprintable() else " " for c in words)
