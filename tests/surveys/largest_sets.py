"""Random conditions over one to three sizes, and the largest set of each form in them, by brute force on integers.

Nothing of symbcast is used: a condition is evaluated at every point, and every set of a form is compared.
`python tests/surveys/largest_sets.py 2000 0` holds 2,000 contracts of each form against it, from seed 0 on.
"""

from __future__ import annotations

import itertools
import random

import numpy as np

FORMS = ("box", "steps", "derived", "profiles", "list")
MOST_PROFILES = 2


class ClashError(ArithmeticError):
    """A join of sizes that clash."""


def broadcast(*sizes):
    wide = {n for n in sizes if n != 1}
    if len(wide) > 1:
        raise ClashError
    return wide.pop() if wide else 1


def compatible(*sizes):
    return len({n for n in sizes if n != 1}) <= 1


def _term(chance, names):
    a, b = chance.choice(names), chance.choice(names)
    step = chance.choice((2, 3, 4, 5))
    return chance.choice(
        (
            a,
            f"{chance.randint(2, 3)}*{a}",
            f"{a} + {b}",
            f"{a}*{b}",
            f"{a}//{step}",
            f"{a} % {step}",
            f"min({a}, {b})",
            f"max({a}, {b}, {chance.randint(0, 6)})",
            f"({a} + {b})//{step}",
            f"{a}*{b} % {step}",
        )
    )


def _literal(chance, names):
    """Return a comparison that has a value at all sizes."""
    kind = chance.choice(("bound", "residue", "equal", "equal", "terms", "terms", "join"))
    a, b = chance.choice(names), chance.choice(names)
    if kind == "bound":
        return f"{a} {chance.choice(('<=', '>=', '!=', '=='))} {chance.randint(0, 9)}"
    if kind == "residue":
        return f"{a} % {chance.choice((2, 3, 4))} {chance.choice(('==', '!='))} {chance.choice((0, 0, 1))}"
    if kind == "equal":
        right = chance.choice((b, f"{b} + {chance.randint(1, 3)}", f"2*{b}", f"{chance.randint(3, 9)} - {b}"))
        return f"{a} == {right}"
    if kind == "join":
        return f"compatible({', '.join(chance.sample(names, min(len(names), chance.choice((2, 3)))))})"
    operator = chance.choice(("<=", "<=", "==", "!="))
    return f"{_term(chance, names)} {operator} {chance.choice((_term(chance, names), str(chance.randint(0, 12))))}"


def _partial(chance, names):
    """Return a comparison that lacks a value at some sizes: it is a clause of its own, and fails there."""
    a, b, c = (chance.choice(names) for _ in range(3))
    return chance.choice(
        (
            f"{a} % {b} == 0",
            f"{a}//{b} <= {chance.randint(0, 3)}",
            f"broadcast({a}, {b}) == {c}",
            f"{c} % broadcast({a}, {b}) <= 1",
        )
    )


def drawn(seed):
    """Return a condition as text, the ranges of its sizes, and a number of boxes."""
    chance = random.Random(seed)
    names = ["a", "b", "c"][: chance.choice((1, 2, 2, 2, 3, 3))]
    clauses = []
    for _ in range(chance.choice((1, 1, 2, 2, 3))):
        if chance.random() < 0.2:
            clauses.append(_partial(chance, names))
        else:
            clauses.append(f"({' or '.join(_literal(chance, names) for _ in range(chance.choice((1, 1, 2, 3))))})")
    width = {1: 16, 2: 9, 3: 5}[len(names)]
    ranges = {}
    for name in names:
        low = chance.choice((0, 1, 1, 2, 3))
        step = chance.choice((1, 1, 1, 1, 2))
        ranges[name] = range(low, low + chance.randint(1, width) * step, step)
    return " and ".join(clauses), ranges, chance.choice((2, 3, 5, 8, 128))


def works_in(text, ranges):
    """Return a mask of the points that work: an axis for each size, with an entry for each size of its range."""
    holds = eval(f"lambda {', '.join(ranges)}: {text}", {"compatible": compatible, "broadcast": broadcast})

    def at(point):
        try:
            return bool(holds(*point))
        except ArithmeticError:
            return False

    flat = [at(point) for point in itertools.product(*ranges.values())]
    return np.array(flat).reshape([len(r) for r in ranges.values()])


def _progressions(count, *, may_step):
    """Yield positions: each progression among ``count`` of them."""
    for first in range(count):
        yield range(first, first + 1)
        for step in range(1, count if may_step else 2):
            for last in range(first + step, count, step):
                yield range(first, last + 1, step)


def _products(works, *, may_step):
    """Return the sides on each axis, and which products of them have no point that fails."""
    sides = [list(_progressions(n, may_step=may_step)) for n in works.shape]
    failing = (~works).astype(np.int32)
    for axis, ranges in enumerate(sides):
        chosen = np.zeros((len(ranges), works.shape[axis]), np.int32)
        for n, positions in enumerate(ranges):
            chosen[n, list(positions)] = 1
        failing = np.moveaxis(np.tensordot(chosen, failing, axes=(1, axis)), 0, axis)
    sizes = np.ones((1,) * works.ndim, np.int64)
    for axis, ranges in enumerate(sides):
        lengths = np.array([len(r) for r in ranges]).reshape([-1 if n == axis else 1 for n in range(works.ndim)])
        sizes = sizes * lengths
    return sides, np.where(failing == 0, sizes, 0)


def _gapless(ranges, works):
    """Return the same points over ranges without a step: a box of a range with gaps is one size."""
    whole = {name: range(r[0], r[-1] + 1) for name, r in ranges.items()}
    found = np.zeros([len(r) for r in whole.values()], bool)
    found[tuple(slice(None, None, r.step) for r in ranges.values())] = works
    return whole, found


def _most_in_profiles(works, most):
    """Return the most points of at most two disjoint boxes."""
    sides, sizes = _products(works, may_step=False)
    best = int(sizes.max())
    if most < 2:
        return best
    at = [tuple(int(n) for n in place) for place in np.argwhere(sizes > 0)]
    boxes = sorted(
        ((int(sizes[p]), tuple(s[n] for s, n in zip(sides, p, strict=True))) for p in at), key=lambda b: -b[0]
    )
    for n, (size, box) in enumerate(boxes):
        if size * 2 <= best:
            break
        for other, also in boxes[n + 1 :]:
            if size + other <= best:
                break
            if any(x[-1] < y[0] or y[-1] < x[0] for x, y in zip(box, also, strict=True)):
                best = size + other
                break
    return best


def _most_derived(ranges, works):
    """Return the largest number of points: some sizes are progressions, the others linear expressions of them."""
    names = list(ranges)
    _, sizes = _products(works, may_step=True)
    best = int(sizes.max())
    lows = [r[0] for r in ranges.values()]
    good = {tuple(int(low + k) for low, k in zip(lows, at, strict=True)) for at in np.argwhere(works)}
    for count in range(1, len(names)):
        for free in itertools.combinations(range(len(names)), count):
            best = max(best, _most_on(good, free, [n for n in range(len(names)) if n not in free], best))
    return best


def _most_on(good, free, derived, best):
    """Return the most points with given free axes: from each point, in steps that are multiples elsewhere."""
    spread = [max(values) - min(values) for values in zip(*good, strict=True)]
    directions = []
    for n in free:
        own = []
        for step in range(1, spread[n] + 1):
            multiples = [[k * step for k in range(-(spread[d] // step), spread[d] // step + 1)] for d in derived]
            own += [{n: step, **dict(zip(derived, at, strict=True))} for at in itertools.product(*multiples)]
        directions.append(own)
    for start in good:
        best = max(best, _grown(good, [start], directions, best))
    return best


def _grown(good, points, directions, best):
    """Return the most points of a lattice box that begins with points and grows along one direction of each axis."""
    if not directions:
        return max(best, len(points))
    best = _grown(good, points, directions[1:], best)
    for step in directions[0]:
        found, shifted = list(points), points
        while True:
            shifted = [tuple(x + step.get(n, 0) for n, x in enumerate(p)) for p in shifted]
            if not all(p in good for p in shifted):
                break
            found += shifted
            if len(directions) > 1:
                best = _grown(good, found, directions[1:], best)
        best = max(best, len(found))
    return best


def largest(form, ranges, works, most):
    """Return the most points that a set of a form can have."""
    if not works.any():
        return 0
    if form == "list":
        return min(most, int(works.sum()))
    if form == "steps":
        return int(_products(works, may_step=True)[1].max())
    whole, found = _gapless(ranges, works)
    if form == "derived":
        return _most_derived(whole, found)
    return _most_in_profiles(found, 1 if form == "box" else most)


def points_of(contract):
    """Yield the sizes of a contract, by evaluating the texts of derived sizes."""
    for box in contract.boxes:
        free = [name for name in box if name not in contract.derived]
        for chosen in itertools.product(*(box[name] for name in free)):
            sizes = dict(zip(free, chosen, strict=True))
            yield {**sizes, **{name: eval(text, {}, dict(sizes)) for name, text in contract.derived.items()}}


def mistakes(seed, forms=FORMS):
    """Return what is wrong with the contracts of a drawn condition, and how many are the largest but do not say so."""
    import symbcast as sb

    text, ranges, most = drawn(seed)
    works, found, missed = works_in(text, ranges), [], []
    asked = sb.Condition(text)
    for form in forms:
        limit = {"list": most, "profiles": MOST_PROFILES}.get(form)
        contract = asked.contract(
            {n: r for n, r in ranges.items() if n in {str(s) for s in asked.symbols}}, form=form, most=limit
        )
        used = [n for n in ranges if n in contract.wanted]
        kept = works[tuple(slice(None) if n in used else 0 for n in ranges)]
        own = {n: ranges[n] for n in used}
        where = f"{seed} {form} {text} {own}"
        inside = {tuple(p[n] for n in used) for p in points_of(contract)}
        if not used:
            continue
        good = {tuple(own[n][k] for n, k in zip(used, at, strict=True)) for at in np.argwhere(kept)}
        best = largest(form, own, kept, limit or 1)
        if len(inside) != contract.size:
            found.append(f"{where}: size {contract.size}, but {len(inside)} points")
        if not inside <= good:
            found.append(f"{where}: {min(inside - good)} does not work")
        if contract.is_largest and contract.size != best:
            found.append(f"{where}: {contract.size} of {best} is said to be the largest: {contract}")
        if contract.size > best:
            found.append(f"{where}: {contract.size} is more than {best}: {contract}")
        if bool(contract.boxes) != bool(good) and contract.verdict is not sb.Verdict.UNKNOWN:
            found.append(f"{where}: {contract.verdict} where {len(good)} points work")
        if contract.boxes and not contract.is_largest and not contract.reason:
            found.append(f"{where}: not the largest, without a reason")
        if contract.boxes and not contract.is_largest:
            missed.append((form, contract.size, best))
    return found, missed


def main(count, start):
    from collections import Counter

    shown, smaller, unsaid = 0, Counter(), Counter()
    for seed in range(start, start + count):
        found, missed = mistakes(seed)
        shown += len(found)
        for line in found:
            print(line, flush=True)
        for form, size, best in missed:
            (unsaid if size == best else smaller)[form] += 1
    print(f"{count} conditions, {shown} mistakes; not the largest: {dict(smaller)}; not proved: {dict(unsaid)}")


if __name__ == "__main__":
    import sys

    main(int(sys.argv[1]), int(sys.argv[2]))
