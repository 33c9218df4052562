"""Repairs of mistakes that people reported, and of random ones; what is surely not meant."""

import json
from pathlib import Path

import symbcast as sb

REPORTED = json.loads((Path(__file__).parents[1] / "data" / "reported_mistakes.json").read_text())
FIRST = 3


def without_leading_ones(shape):
    dims = list(map(str, shape))
    while dims and dims[0] == "1":
        del dims[0]
    return dims


def is_accepted(repair, row):
    accepted = row["accepted"]
    if "assume" in accepted:
        assumed = sb.Condition(" and ".join(repair.assume) or "True")
        return repair.kind == "assume" and assumed.equivalent(accepted["assume"])
    found, wanted = (list(map(without_leading_ones, s)) for s in (repair.operands, map(sb.shape, accepted["shapes"])))
    return repair.kind not in ("assume", "rule") and found == wanted


def place(row):
    """Return the place of the accepted fix among the repairs, None where it is not there."""
    found = sb.broadcast(*row["shapes"]).repairs(10)
    return next((n for n, repair in enumerate(found) if is_accepted(repair, row)), None)


def test_the_fix_that_was_accepted_is_among_the_first():
    places = {f"{row['mistake']}: {row['shapes']}": place(row) for row in REPORTED}
    late = [what for what, found in places.items() if found is None or found >= FIRST]
    assert len(places) >= 30
    assert (len(places), late) == (37, [])
