"""The rules once more, on integers alone, written from the documents: the oracle that answers are held against.

Each function returns the output shape, or None where the rule refuses.
"""

from __future__ import annotations


def join(a, b):
    if a == 1:
        return b
    if b in (1, a):
        return a
    return None


def numpy(*shapes):
    rank = max((len(s) for s in shapes), default=0)
    output = [1] * rank
    for shape in shapes:
        for back in range(1, len(shape) + 1):
            size = join(output[-back], shape[-back])
            if size is None:
                return None
            output[-back] = size
    return tuple(output)


def none(a, b):
    return tuple(a) if tuple(a) == tuple(b) else None


def bidirectional(data, target):
    return numpy(data, target)


def unidirectional(data, target, keep=()):
    lead = len(target) - len(data)
    if lead < 0 or any(axis < lead for axis in keep):
        return None
    resolved = [data[axis - lead] if axis in keep else size for axis, size in enumerate(target)]
    return tuple(resolved) if all(s in (1, resolved[lead + i]) for i, s in enumerate(data)) else None


def explicit(data, target, axes, flavour="document"):
    if flavour == "openvino" and len(data) == 0 and len(axes) == 1:
        return tuple(target) if 0 <= axes[0] < len(target) and target[axes[0]] == 1 else None
    if len(axes) != len(data) or any(not 0 <= a < len(target) for a in axes):
        return None
    ordered = sorted(axes) if flavour == "openvino" else sorted(set(axes))
    if list(axes) != ordered:
        return None
    return tuple(target) if all(s in (1, target[a]) for s, a in zip(data, axes, strict=True)) else None


def pdpd(a, b, axis=-1, flavour="document"):
    if len(b) > len(a) or axis < -1:
        return None
    start = len(a) - len(b) if axis == -1 else axis
    if start > len(a):
        return None
    output = list(a)
    for i, size in enumerate(b):
        place = start + i
        if place >= len(a):
            if size != 1 or flavour == "openvino":
                return None
        elif flavour == "openvino":
            joined = join(a[place], size)
            if joined is None or size > a[place]:
                return None
            output[place] = joined
        elif size not in (1, a[place]):
            return None
    if flavour == "openvino" and start + len(b) > len(a):
        return None
    return tuple(output)


def onnx_legacy(a, b, broadcast=0, axis=None):
    if not broadcast:
        return none(a, b)
    if len(b) > len(a):
        return None
    if all(size == 1 for size in b):
        return tuple(a)
    start = len(a) - len(b) if axis is None else axis + len(a) if axis < 0 else axis
    run = tuple(a[start : start + len(b)]) if start >= 0 else ()
    return tuple(a) if run == tuple(b) else None


def paddle(*shapes, min_rank=0):
    return None if any(len(s) < min_rank for s in shapes) else numpy(*shapes)


RULES = {
    "numpy": numpy,
    "none": none,
    "bidirectional": bidirectional,
    "unidirectional": unidirectional,
    "explicit": explicit,
    "pdpd": pdpd,
    "onnx-legacy": onnx_legacy,
    "paddle": paddle,
}
