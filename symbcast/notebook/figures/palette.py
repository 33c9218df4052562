"""The colours and hatches of plots: told apart by all kinds of colour vision, and in print without colour.

Where an answer works is a solid green, darker (on a dark page, lighter) for larger sizes; where it fails is a tint, of
a lightness that no green has, with a hatch that no other failure has; what is excluded is bare.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from matplotlib.colors import LinearSegmentedColormap, to_rgb, to_rgba

from symbcast.answers.show.palette import FAILURES, FINE

Colour = tuple[float, float, float]
Translucent = tuple[float, float, float, float]

WHITE, BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)


class Mark(NamedTuple):
    """How a kind of failure is drawn: the tint's full colour, which the hatch has, and the hatch."""

    colour: str
    hatch: str


HATCHES = ("////", "\\\\\\\\", "....", "xxxx", "||||", "----")
MARKS = tuple(map(Mark, FAILURES, HATCHES))


class Page:
    """The colours of a plot on a page: they match its background, light or dark."""

    def __init__(self, background: str | Colour, ink: str | Colour) -> None:
        self.background: Colour = to_rgb(background)
        self.ink: Colour = to_rgb(ink)
        self.is_dark = lightness(self.background) < 0.5

    def tint(self, mark: Mark) -> Colour | Translucent:
        """Return the fill of a failing cell."""
        return mixed(to_rgb(mark.colour), self.background, 0.34 if self.is_dark else 0.3)

    def line(self, mark: Mark) -> Colour:
        """Return the colour of a hatch: one that shows on the tint."""
        towards, share = (WHITE, 0.9) if self.is_dark else (BLACK, 0.8)
        return mixed(mixed(to_rgb(mark.colour), towards, share), to_rgb(self.tint(mark)), 0.7)

    @property
    def border(self) -> Colour | Translucent:
        """What cells are set apart by."""
        return self.background

    @property
    def excluded(self) -> Colour | Translucent:
        """What an excluded cell is filled with."""
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

    Tints let the page through. Greens and hatches are of a middle lightness, between those that the tints have on white
    and on black; larger sizes are darker.
    """

    INK: Colour = (0.475, 0.475, 0.475)
    """As far from white as from JupyterLab's and GitHub's dark pages: a contrast of 4.35 to either."""

    def __init__(self) -> None:
        super().__init__(WHITE, self.INK)

    def tint(self, mark: Mark) -> Translucent:
        """Return the fill of a failing cell."""
        return (*to_rgb(mark.colour), 0.3)

    def line(self, mark: Mark) -> Colour:
        """Return the colour of a hatch: one that shows on the tint."""
        colour = to_rgb(mark.colour)
        found, middle = lightness(colour), 0.46
        if found > middle:
            return mixed(colour, BLACK, middle / found)
        return mixed(colour, WHITE, (1 - middle) / (1 - found))

    @property
    def border(self) -> Translucent:
        """What cells are set apart by."""
        return (0.5, 0.5, 0.5, 0.5)

    @property
    def excluded(self) -> Translucent:
        """What an excluded cell is filled with."""
        return (0.5, 0.5, 0.5, 0.16)

    @property
    def works(self) -> LinearSegmentedColormap:
        """From the smallest size to the largest."""
        green = to_rgb(FINE)
        shades = [(0.0, mixed(green, WHITE, 0.72)), (0.4, green), (1.0, mixed(green, BLACK, 0.78))]
        return LinearSegmentedColormap.from_list("sizes", shades)


def page_of(face: Any, ink: Any) -> Page:
    """Return the colours for a plot on a ground, by its colour with its opacity, and with text of a colour."""
    *_, opacity = to_rgba(face)
    return AnyPage() if opacity < 0.5 else Page(to_rgb(face), to_rgb(ink))


def ink_on(colour: Colour) -> Colour:
    """Return black or white, whichever is easier to read on a colour."""
    return BLACK if lightness(colour) > 0.4 else WHITE


def mixed(colour: Colour, other: Colour, share: float) -> Colour:
    """Return ``share`` of a colour with the rest of another."""
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(colour, other, strict=True))
    return red, green, blue


def lightness(colour: Colour) -> float:
    """Return how light a colour looks, from 0 to 1: near enough to tell dark from light."""
    red, green, blue = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue
