"""Group the failures in a plot by who is to blame, into at most `MOST` kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from symbcast.notebook.surveys import Blame, Outcome, Survey
from symbcast.notebook.words import fails_text

MOST = 6
"""The most kinds of failure that a plot distinguishes."""


class Category(NamedTuple):
    """A kind of failure: its label in the legend, and the sets of blamed parts that belong to it."""

    label: str
    blamed: frozenset[tuple[int, ...]]


def categories(surveys: Iterable[Survey], blames: Sequence[Blame]) -> list[Category]:
    """Return the kinds of failure in several surveys of one question, ordered by who is to blame.

    If there are few sets of blamed parts, each is a kind. Otherwise the most common sets are kinds, and the others are
    grouped by their first blamed part.
    """
    cells = (cell for survey in surveys for row in survey.rows for cell in row)
    counts = Counter(cell.blamed for cell in cells if cell.outcome is Outcome.FAILS)
    common = sorted(counts, key=lambda blamed: (-counts[blamed], blamed))
    for kept in range(min(MOST, len(common)), -1, -1):
        alone, rest = sorted(common[:kept]), common[kept:]
        firsts = sorted({blamed[0] for blamed in rest})
        if kept + len(firsts) <= MOST:
            groups = [[blamed for blamed in rest if blamed[0] == first] for first in firsts]
            break
    else:
        firsts_by_count = Counter[int]()
        for blamed, count in counts.items():
            firsts_by_count[blamed[0]] += count
        chosen = sorted(first for first, _ in firsts_by_count.most_common(MOST - 1))
        alone = []
        groups = [[blamed for blamed in common if blamed[0] == first] for first in chosen]
        groups.append([blamed for blamed in common if blamed[0] not in chosen])
    found = [Category(fails_text([blames[n] for n in blamed]), frozenset([blamed])) for blamed in alone]
    found += [Category(_group_label(group, blames), frozenset(group)) for group in groups]
    return sorted(found, key=lambda category: min(category.blamed, key=lambda blamed: (len(blamed), blamed)))


def _group_label(group: Sequence[tuple[int, ...]], blames: Sequence[Blame]) -> str:
    firsts = {blamed[0] for blamed in group}
    if len(firsts) > 1:
        return "fails elsewhere"
    (first,) = firsts
    return f"{fails_text([blames[first]])} first"
