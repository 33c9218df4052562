"""The colours for the status of an axis or a size: distinct for all kinds of colour vision, and never used alone.

They are Okabe and Ito's (https://jfly.uni-koeln.de/color/): wherever one is used, a mark or a word has the same
meaning.
"""

from __future__ import annotations

from symbcast.answers.show.document import Tone

FINE = "#009E73"
CONDITIONAL = "#E69F00"
IMPOSSIBLE = "#D55E00"
UNDECIDED = "#7F7F7F"

FAILURES = (IMPOSSIBLE, "#0072B2", "#F0E442", "#CC79A7", CONDITIONAL, "#56B4E9")
"""The colours of different failures in pictures: neighbours are as distinct as possible."""

COLOURS = {
    Tone.FINE: FINE,
    Tone.CONDITIONAL: CONDITIONAL,
    Tone.IMPOSSIBLE: IMPOSSIBLE,
    Tone.UNDECIDED: UNDECIDED,
}


def tint(colour: str, opacity: float) -> str:
    """Return a colour as translucent CSS, which suits light and dark pages.

    >>> tint(FINE, 0.2)
    'rgba(0,158,115,0.2)'
    """
    return f"rgba({channels(colour)},{opacity:g})"


def channels(colour: str) -> str:
    """Return the red, green and blue of a colour, in CSS notation.

    >>> channels(FINE)
    '0,158,115'
    """
    return ",".join(str(int(colour[n : n + 2], 16)) for n in (1, 3, 5))
