"""Questions of unknown rank at every rank: expansions to up to 3 axes, of every size from 0 to 4."""

from __future__ import annotations

from itertools import islice, product
from random import Random

SIZES = range(5)
MOST = 4000
"""So many expansions of a question are looked at: all of them, or as many drawn."""


def expansions(shapes):
    """Yield sizes of each sequence and name, and the shapes then: all there are, or some of them."""
    labels = {}
    named = [
        [f"...{labels.setdefault((n, i), len(labels))}" if d == "..." else d.lstrip("*") for i, d in enumerate(s)]
        for n, s in enumerate(shapes)
    ]
    words = list(dict.fromkeys(w for s in named for w in s if not w.isdecimal()))
    sequences = [w for w in words if w.startswith("...") or w in ("a", "b", "c")]
    values = [[axes for r in range(4) for axes in product(SIZES, repeat=r)] if w in sequences else SIZES for w in words]
    total = 1
    for found in values:
        total *= len(found)
    random = Random(0)
    drawn = (
        product(*values)
        if total <= MOST
        else ([_drawn(random, v, w in sequences) for v, w in zip(values, words, strict=True)] for _ in range(MOST))
    )
    for chosen in islice(drawn, MOST):
        sizes = dict(zip(words, chosen, strict=True))
        yield sizes, [_concrete(s, sizes, sequences) for s in named]


def _drawn(random, values, is_sequence):
    if not is_sequence:
        return random.choice(values)
    return tuple(random.choice((0, 1, 1, 1, 2, 2, 3, 4)) for _ in range(random.randrange(4)))


def _concrete(shape, sizes, sequences):
    found = []
    for word in shape:
        if word in sequences:
            found.extend(sizes[word])
        else:
            found.append(int(word) if word.isdecimal() else sizes[word])
    return tuple(found)


def holds(assumption, sizes):
    """Return whether sizes meet an assumption, None where it is about others."""
    a, b = sizes.get("a"), sizes.get("b")
    if not assumption:
        return True
    if "N" in assumption:
        return sizes["N"] >= 2
    match assumption:
        case "rank(a) >= 1":
            return len(a) >= 1
        case "rank(a) == 2":
            return len(a) == 2
        case "rank(a) <= 1":
            return len(a) <= 1
        case "rank(b) <= 1":
            return len(b) <= 1
        case "a[-1] == 2":
            return a[-1:] == (2,)
        case "a[-2] >= 2":
            return len(a) >= 2 and a[-2] >= 2
        case "*a == *b":
            padded = [(1,) * (3 - len(s)) + s for s in (a, b)]
            return padded[0] == padded[1]
    return len(a) <= len(b)
