"""Choose the colours and hatches of plots, distinguishable with any colour vision and in black-and-white print.

Working cells are a solid green, darker (on a dark page, lighter) for larger sizes; failing cells have a tint, with a
lightness that no green has, and a hatch for each kind of failure; excluded cells are plain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from matplotlib.colors import LinearSegmentedColormap, to_rgb, to_rgba

from symbcast.answers.show.palette import FAILURES, FINE

Colour = tuple[float, float, float]
Translucent = tuple[float, float, float, float]

WHITE, BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)


class Mark(NamedTuple):
    """The style of a kind of failure: the full colour, from which tint and hatch are derived, and the hatch."""

    colour: str
    hatch: str


HATCHES = ("////", "\\\\\\\\", "....", "xxxx", "||||", "----")
MARKS = tuple(map(Mark, FAILURES, HATCHES))


class Page:
    """The colours of a plot on a page, matched to its light or dark background."""

    def __init__(self, background: str | Colour, ink: str | Colour) -> None:
        self.background: Colour = to_rgb(background)
        self.ink: Colour = to_rgb(ink)
        self.is_dark = lightness(self.background) < 0.5

    def tint(self, mark: Mark) -> Colour | Translucent:
        """Return the fill of a failing cell."""
        return mixed(to_rgb(mark.colour), self.background, 0.34 if self.is_dark else 0.3)

    def line(self, mark: Mark) -> Colour:
        """Return the colour of a hatch, which must be visible on the tint."""
        towards, share = (WHITE, 0.9) if self.is_dark else (BLACK, 0.8)
        return mixed(mixed(to_rgb(mark.colour), towards, share), to_rgb(self.tint(mark)), 0.7)

    @property
    def border(self) -> Colour | Translucent:
        """The colour of the lines between cells."""
        return self.background

    @property
    def excluded(self) -> Colour | Translucent:
        """The fill colour of an excluded cell."""
        return mixed(self.ink, self.background, 0.12 if self.is_dark else 0.07)

    @property
    def works(self) -> LinearSegmentedColormap:
        """From the smallest size to the largest: the further from the page, the larger."""
        green = to_rgb(FINE)
        # The green is placed by its lightness, so that equal steps look equal.
        if self.is_dark:
            shades = [(0.0, mixed(green, BLACK, 0.8)), (0.24, green), (1.0, mixed(green, WHITE, 0.22))]
        else:
            shades = [(0.0, mixed(green, WHITE, 0.78)), (0.18, green), (1.0, mixed(green, BLACK, 0.35))]
        return LinearSegmentedColormap.from_list("sizes", shades)


class AnyPage(Page):
    """The colours of a plot with a transparent background, for light and dark pages.

    Tints are translucent. Greens and hatches have a medium lightness, between that of the tints on white and on black;
    larger sizes are darker.
    """

    INK: Colour = (0.475, 0.475, 0.475)
    """As far from white as from JupyterLab's and GitHub's dark pages: a contrast of 4.35 to either."""

    def __init__(self) -> None:
        super().__init__(WHITE, self.INK)

    def tint(self, mark: Mark) -> Translucent:
        """Return the fill of a failing cell."""
        return (*to_rgb(mark.colour), 0.3)

    def line(self, mark: Mark) -> Colour:
        """Return the colour of a hatch, which must be visible on the tint."""
        colour = to_rgb(mark.colour)
        found, middle = lightness(colour), 0.46
        if found > middle:
            return mixed(colour, BLACK, middle / found)
        return mixed(colour, WHITE, (1 - middle) / (1 - found))

    @property
    def border(self) -> Translucent:
        """The colour of the lines between cells."""
        return (0.5, 0.5, 0.5, 0.5)

    @property
    def excluded(self) -> Translucent:
        """The fill of an excluded cell."""
        return (0.5, 0.5, 0.5, 0.16)

    @property
    def works(self) -> LinearSegmentedColormap:
        """The shades from the smallest size to the largest."""
        green = to_rgb(FINE)
        shades = [(0.0, mixed(green, WHITE, 0.72)), (0.4, green), (1.0, mixed(green, BLACK, 0.78))]
        return LinearSegmentedColormap.from_list("sizes", shades)


def page_of(face: Any, ink: Any) -> Page:
    """Return the colours for a plot with the given background and text colours; a transparent one suits any page."""
    *_, opacity = to_rgba(face)
    return AnyPage() if opacity < 0.5 else Page(to_rgb(face), to_rgb(ink))


def ink_on(colour: Colour) -> Colour:
    """Return black or white, whichever is easier to read on a colour."""
    return BLACK if lightness(colour) > 0.4 else WHITE


def mixed(colour: Colour, other: Colour, share: float) -> Colour:
    """Mix two colours, with the given ``share`` of the first."""
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(colour, other, strict=True))
    return red, green, blue


def lightness(colour: Colour) -> float:
    """Return the approximate lightness of a colour, from 0 to 1: accurate enough to distinguish dark from light."""
    red, green, blue = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue
