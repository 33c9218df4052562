"""The colours that say how an axis, or a size, fares: told apart by all kinds of colour vision, and never alone.

They are Okabe and Ito's (https://jfly.uni-koeln.de/color/): wherever one is used, a mark or a word says the same.
"""

from __future__ import annotations

from symbcast.show.document import Tone

FINE = "#009E73"
CONDITIONAL = "#E69F00"
IMPOSSIBLE = "#D55E00"
UNDECIDED = "#7F7F7F"

COLOURS = {
    Tone.FINE: FINE,
    Tone.CONDITIONAL: CONDITIONAL,
    Tone.IMPOSSIBLE: IMPOSSIBLE,
    Tone.UNDECIDED: UNDECIDED,
}


def tint(colour: str, opacity: float) -> str:
    """Return a colour as CSS that lets the page through, so that it suits a light page and a dark one.

    >>> tint(FINE, 0.2)
    'rgba(0,158,115,0.2)'
    """
    red, green, blue = (int(colour[n : n + 2], 16) for n in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
