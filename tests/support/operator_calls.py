"""Calls of operators with open sizes as data: ``"T:a,3"`` is a tensor, ``"S:n"`` an integer, letters are sizes."""

from __future__ import annotations

import itertools

LARGEST = {0: 0, 1: 5, 2: 4, 3: 3, 4: 2, 5: 2, 6: 1}
"""The largest size that is tried, by how many sizes are open: at most six, so write numbers for the others."""


AXES = "abcd"


def tensor(letters, dtype=""):
    """Return a tensor with these axes: letters and digits, each one axis."""
    return "T:" + ",".join(letters) + (f":{dtype}" if dtype else "")


def shape(rank, dtype=""):
    """Return a tensor of a rank, all of its sizes open."""
    return tensor(AXES[:rank], dtype)


def dims(rank):
    """Return the axes of a tensor of a rank, from both ends, and one beyond each end."""
    return range(-rank - 1, rank + 1)


ALL: dict[str, list[dict]] = {}
"""The arguments of calls that are not as they are by default, by the name of the overload."""


def case(names, **args):
    """Add a case for some operators, by their names with overloads."""
    for name in names.split():
        if args not in ALL.setdefault(name, []):
            ALL[name].append(dict(args))


def sizes_in(args):
    """Return the letters of the open sizes of a call, in order."""
    found = {}
    for text in _texts(args):
        kind, _, rest = text.partition(":")
        parts = rest.partition(":")[0].split(",") if kind == "T" else [rest]
        found.update((part, None) for part in parts if part.isalpha())
    return list(found)


def _texts(value):
    if isinstance(value, str) and value[:2] in ("T:", "S:"):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def points(letters):
    """Return all sizes at which a call is tried."""
    if len(letters) not in LARGEST:
        raise ValueError(f"a case has at most {max(LARGEST)} open sizes, not {', '.join(letters)}: fix some of them")
    return list(itertools.product(range(LARGEST[len(letters)] + 1), repeat=len(letters)))


def with_sizes(value, made, sizes=None):
    """Return arguments with sizes put in; ``made`` makes a tensor of a shape and an element type, if given."""
    sizes = sizes or {}
    if isinstance(value, dict):
        return {name: with_sizes(v, made, sizes) for name, v in value.items()}
    if isinstance(value, list):
        return [with_sizes(v, made, sizes) for v in value]
    if not isinstance(value, str) or value[:2] not in ("T:", "S:"):
        return value
    kind, _, rest = value.partition(":")
    if kind == "S":
        return sizes[rest] if rest in sizes else int(rest) if rest.isdecimal() else value
    dims, _, dtype = rest.partition(":")
    shape = [sizes.get(d, d) for d in dims.split(",") if d]
    if made is None:
        return f"T:{','.join(map(str, shape))}" + (f":{dtype}" if dtype else "")
    return made([int(d) if isinstance(d, str) and d.isdecimal() else d for d in shape], dtype)


def operator_of(name):
    """Return an operator by the name of its overload, such as ``add.Tensor``."""
    import torch

    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload)
