"""External tensor data: small tensors, which may decide shapes, are read into the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path, PurePath
from typing import Any

MAX_BYTES = 1 << 20
MAX_REALS = 1024
"""How many real numbers are read: the scales of a few axes decide shapes; longer tensors are weights."""

_EXTERNAL = 1
_INTEGERS = {2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 12: 4, 13: 8}
_REALS = {1: 4, 10: 2, 11: 8}


def take_in(tensors: Iterator[Any], folders: Sequence[Path]) -> None:
    """Read the data of small tensors from files in the folders, and put them into the tensors.

    A tensor whose data are missing, not all there or outside of the folders stays as it is.
    """
    for tensor in tensors:
        if tensor.data_location == _EXTERNAL:
            data = _data(tensor, folders)
            if data is not None:
                tensor.raw_data = data
                tensor.ClearField("data_location")
                tensor.ClearField("external_data")


def _data(tensor: Any, folders: Sequence[Path]) -> bytes | None:
    size = _size(tensor)
    given = {entry.key: entry.value for entry in tensor.external_data}
    if size is None or not given.get("location"):
        return None
    try:
        offset, length = int(given.get("offset", 0)), int(given.get("length", size))
        path = _within(given["location"], folders)
        if path is None or offset < 0 or length != size:
            return None
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(size)
    except (OSError, ValueError):
        return None
    return data if len(data) == size else None


def _size(tensor: Any) -> int | None:
    """Return how many bytes the data of a tensor have; None if they must not be read."""
    count = prod(tensor.dims)
    if any(d < 0 for d in tensor.dims):
        return None
    if tensor.data_type in _REALS:
        return count * _REALS[tensor.data_type] if count <= MAX_REALS else None
    each = _INTEGERS.get(tensor.data_type)
    return count * each if each and count * each <= MAX_BYTES else None


def _within(location: str, folders: Sequence[Path]) -> Path | None:
    """Return the file at a location if it is in one of the model's folders; a link may not lead out of them."""
    if PurePath(location).is_absolute() or ".." in PurePath(location).parts:
        return None
    path = (folders[0] / location).resolve()
    inside = any(path.is_relative_to(folder.resolve()) for folder in folders)
    return path if inside and path.is_file() else None
