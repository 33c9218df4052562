"""Relations that repeat with another number in their names, written once.

``all(batch == k{i} and k{i} == v{i} for i in 0..31)`` stands for 32 copies of what is before ``for``, joined by
``and``; ``any`` joins them by ``or``. The numbers are ``2..5``, ``7``, or several of these in brackets: ``(0..5, 7)``.
A written condition folds only if it is long; reading unfolds it into the same clauses, in another order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from symbcast.core.structs import NamedTuple
from symbcast.core.text.tokens import NAME, QUOTED, SyntaxFault

# Shorter conditions are written in full.
FOLDED_FROM = 160
# Fewer copies are written in full.
_COPIES = 3
# What a folded text may stand for, in characters.
MAX_UNFOLDED = 2_000_000

_WORDS = {"and": "all", "or": "any"}
_NAMES = re.compile(rf"{QUOTED}|{NAME}", re.DOTALL)
_NUMBER = re.compile("([0-9]+)")
# `k07` is no copy of `k7`: unfolded, the number has no zero in front.
_CANONICAL = re.compile("0|[1-9][0-9]{0,8}")
# The place of the number until the letter for it is chosen; no text has it outside of quotes, and names in quotes are
# written with escapes.
_HOLE = "\0"
_LETTERS = ("i", "j", "k", "n", "m")


class _Fold(NamedTuple):
    """Parts that differ in a number: the numbers, and the texts that repeat, with holes, each with its head."""

    numbers: tuple[int, ...]
    texts: list[tuple[str, str]]


def folded(texts: Sequence[str], word: str, heads: Sequence[str] = ()) -> list[str]:
    """Return texts that ``and`` or ``or`` joins, with those that differ in a number of names alone written once.

    ``heads`` are the beginnings, such as ``a == ``, of those that a chain may continue: ``a == b == c``; others are
    empty.

    >>> folded(["a == b0", "c == 1", "a == b1", "(b0 == 1 or d)", "a == b2", "(b2 == 1 or d)", "(b1 == 1 or d)"], "and")
    ['all(a == b{i} and (b{i} == 1 or d) for i in 0..2)', 'c == 1']
    >>> folded(["a == b", "c == 1", "a == d"], "and", ["a == ", "c == ", "a == "])
    ['a == b == d', 'c == 1']
    """
    letter = next((n for n in _LETTERS if not any(f"{{{n}}}" in t for t in texts)), "")
    copies = _copies(texts) if letter else {}
    folds: dict[tuple[int, ...], _Fold] = {}
    written: list[tuple[str, str] | _Fold] = []
    taken: set[int] = set()
    for place, (text, head) in enumerate(zip(texts, heads or [""] * len(texts), strict=True)):
        if place in taken:
            continue
        way = next((way for way in copies.get(place, ()) if taken.isdisjoint(way[1].values())), None)
        if way is None:
            written.append((text, head))
            continue
        taken.update(way[1].values())
        key = tuple(sorted(way[1]))
        if key not in folds:
            folds[key] = _Fold(key, [])
            written.append(folds[key])
        number = next(n for n, at in way[1].items() if at == place)
        folds[key].texts.append((way[0], _head_in(way[0], head, number)))
    return _chained([(_fold_text(t, word, letter), "") if isinstance(t, _Fold) else t for t in written])


def _chained(texts: Sequence[tuple[str, str]]) -> list[str]:
    """Return texts of which those with one head are a chain."""
    chains: dict[str, str] = {}
    for place, (text, head) in enumerate(texts):
        key = head or str(place)
        chains[key] = f"{chains[key]} == {text[len(head) :]}" if key in chains else text
    return list(chains.values())


def _copies(texts: Sequence[str]) -> dict[int, list[tuple[str, Mapping[int, int]]]]:
    """Return, for the place of each text that repeats, how: the text with holes, and the place for each number.

    Ways with more copies come first.
    """
    places: dict[str, dict[int, int]] = {}
    for place, text in enumerate(texts):
        for number, hole in _with_holes(text):
            places.setdefault(hole, {}).setdefault(number, place)
    ways: dict[int, list[tuple[str, Mapping[int, int]]]] = {}
    for hole, numbers in sorted(places.items(), key=lambda way: -len(way[1])):
        if len(numbers) >= _COPIES:
            for place in numbers.values():
                ways.setdefault(place, []).append((hole, numbers))
    return ways


def _with_holes(text: str) -> Iterator[tuple[int, str]]:
    """Yield each number in the names of a text, with the text in which it is a hole: everywhere, or in one place.

    In ``past_0_dim_0`` the layer is the first number of the name, and the axis the second.
    """
    runs = [_NUMBER.findall(name) for name in _NAMES.findall(text)]
    for number in dict.fromkeys(n for of_name in runs for n in of_name):
        if _CANONICAL.fullmatch(number):
            ranks = {k for of_name in runs for k, n in enumerate(of_name) if n == number}
            for rank in (None, *(sorted(ranks) if len(ranks) > 1 else ())):
                yield int(number), _replaced(text, number, rank)


def _replaced(text: str, number: str, rank: int | None) -> str:
    """Return a text with holes for a number in its names; with a rank, only where it is that number of a name."""

    def in_name(name: re.Match[str]) -> str:
        places = count()

        def hole(run: re.Match[str]) -> str:
            return _HOLE if rank in (next(places), None) and run[0] == number else run[0]

        return _NUMBER.sub(hole, name[0])

    return _NAMES.sub(in_name, text)


def _head_in(hole: str, head: str, number: int) -> str:
    """Return the beginning of a text with holes that stands for a head."""
    ends = (match.end() for match in re.finditer(" == ", hole))
    return next((hole[:end] for end in ends if head and hole[:end].replace(_HOLE, str(number)) == head), "")


def _fold_text(fold: _Fold, word: str, letter: str) -> str:
    body = f" {word} ".join(_chained(fold.texts)).replace(_HOLE, f"{{{letter}}}")
    return f"{_WORDS[word]}({body} for {letter} in {_ranges(fold.numbers)})"


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as ranges.

    >>> _ranges([0, 1, 2, 5]), _ranges([3, 4, 5])
    ('(0..2, 5)', '3..5')
    """
    starts = [n for n, number in enumerate(numbers) if not n or numbers[n - 1] != number - 1]
    runs = [numbers[a:b] for a, b in zip(starts, [*starts[1:], len(numbers)], strict=True)]
    items = [f"{run[0]}..{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return items[0] if len(items) == 1 else f"({', '.join(items)})"


# Reading: a folded text is unfolded before the reader sees it.


_ITEM = r"[0-9]{1,9}(?:\s*\.\.\s*[0-9]{1,9})?"
# Compiled when a text needs them.
_TAIL = rf"\sfor\s+([a-z])\s+in\s+(?:({_ITEM})|\(\s*({_ITEM}(?:\s*,\s*{_ITEM})*)\s*,?\s*\))\s*"
_MARKS = rf"(?s:{QUOTED}|\b(all|any)\s*\(|[()])"


def may_be_folded(text: str) -> bool:
    """Return whether a text may have to be unfolded; cheap."""
    return "{" in text and " for " in text


def unfolded(text: str) -> str:
    """Return a text with its folded parts written out; raises `SyntaxFault` if they are too long.

    >>> unfolded("c == 1 and all(a == b{i} for i in (0..1, 7))")
    'c == 1 and ((a == b0) and (a == b1) and (a == b7))'
    """
    parts: list[list[str]] = [[]]
    words: list[str] = []
    at = length = 0
    for mark in re.finditer(_MARKS, text):
        parts[-1].append(text[at : mark.start()])
        at = mark.end()
        if mark[0][-1] == "(":
            words.append(mark[0])
            parts.append([])
        elif mark[0] == ")" and words:
            inside, opening = "".join(parts.pop()), words.pop()
            parts[-1].append(_written_out(opening, inside))
            length += len(parts[-1][-1]) - len(inside)
        else:
            parts[-1].append(mark[0])
        if length > MAX_UNFOLDED:
            raise SyntaxFault((0, len(text)), f"the text stands for more than {MAX_UNFOLDED:,} characters")
    rest = "".join(opening + "".join(inside) for opening, inside in zip(words, parts[1:], strict=True))
    return "".join(parts[0]) + rest + text[at:]


def _written_out(opening: str, inside: str) -> str:
    """Return what is within brackets with the brackets, or the copies that it stands for."""
    tails = list(re.finditer(_TAIL, inside)) if len(opening) > 1 else []
    if not tails or tails[-1].end() != len(inside):
        return f"{opening}{inside})"
    letter, body = tails[-1][1], inside[: tails[-1].start()]
    hole = f"{{{letter}}}"
    ranges = [re.findall("[0-9]+", item) for item in (tails[-1][2] or tails[-1][3]).split(",")]
    copies = sum(max(0, int(r[-1]) - int(r[0]) + 1) for r in ranges)
    if hole not in body or not copies or copies * len(body) > MAX_UNFOLDED:
        return f"{opening}{inside})"  # the reader reports it
    numbers = [n for r in ranges for n in range(int(r[0]), int(r[-1]) + 1)]
    word = " and " if opening.startswith("all") else " or "
    return f"({word.join(f'({body.replace(hole, str(n))})' for n in numbers)})"
