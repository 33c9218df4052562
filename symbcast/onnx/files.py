"""Model files: every format of ONNX by file extension, other kinds of file, and external tensor data."""

from __future__ import annotations

import gzip
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from symbcast.core.characters import near_file
from symbcast.core.structs import NamedTuple
from symbcast.errors import ModelError
from symbcast.onnx.protobuf import EXTERNAL
from symbcast.operators.values import contents

# The largest size of a protobuf message.
MAX_BYTES = (1 << 31) - 1

Parser: TypeAlias = Callable[[bytes], Any]


class OtherFile(NamedTuple):
    """A kind of file that is not a model, and a hint on what to do."""

    problem: str
    hint: str = "export the model to ONNX, and give that file"


def read_file(path: str) -> Any:
    """Return the ``ModelProto`` in a file; raises `ModelError` if it cannot be read."""
    if not path or "\0" in path:
        raise ModelError(repr(path), "is not a path")
    data = _read_bytes(path)
    if not data:
        raise ModelError(path, "the file is empty", "fetch it or export it again")
    ending = Path(path.removesuffix(".gz")).suffix.lower()
    try:
        return TEXTUAL.get(ending, _from_protobuf)(data)
    except MemoryError:
        raise
    except Exception as error:  # each parser has its own errors
        if ending in TEXTUAL:
            reason = str(error).strip().partition("\n")[0][:200] or type(error).__name__
            raise ModelError(path, f"is not a model in the format of {ending}: {reason}") from error
        raise ModelError(path, *(other_file(data) or _damaged(data))) from error


def _read_bytes(path: str) -> bytes:
    try:
        mode = Path(path).stat()
        if stat.S_ISDIR(mode.st_mode):
            raise ModelError(path, "is a folder", "give a model file in it")
        if not (stat.S_ISREG(mode.st_mode) or stat.S_ISFIFO(mode.st_mode)):
            raise ModelError(path, "is not a file")
        if mode.st_size > MAX_BYTES:
            raise _too_large(path)
        with Path(path).open("rb") as file:
            # One byte more than allowed: a longer file is noticed without reading it whole, a pipe and a gzip bomb too.
            data = (gzip.GzipFile(fileobj=file) if path.endswith(".gz") else file).read(MAX_BYTES + 1)
    except OSError as error:
        raise ModelError(path, *_unreadable(error)) from error
    except UnicodeEncodeError as error:  # half of a pair of surrogates, which no name of a file has
        raise ModelError(path, f"is not a path: {error}", "") from error
    except (EOFError, zlib.error) as error:
        raise ModelError(path, "is truncated or damaged: it cannot be unzipped", "fetch it again") from error
    if len(data) > MAX_BYTES:
        raise _too_large(path)
    return data


def _too_large(path: str) -> ModelError:
    hint = "export it with its weights in a file of their own: external data have no size limit"
    return ModelError(path, "has 2 GB or more, which an ONNX file cannot hold", hint)


def _unreadable(error: OSError) -> OtherFile:
    if isinstance(error, FileNotFoundError):
        near = near_file(str(error.filename)) if error.filename else ""
        return OtherFile("there is no such file", f"did you mean {near}?" if near else "")
    if isinstance(error, gzip.BadGzipFile):
        return OtherFile("is not gzip-compressed, although its name says so", "")
    return OtherFile(f"cannot be read: {error.strerror or error}", "")


def _from_protobuf(data: bytes) -> Any:
    from onnx import ModelProto

    model = ModelProto()
    model.ParseFromString(data)
    if not (model.ir_version > 0 and model.HasField("graph")):
        raise ValueError("no model")  # protobuf finds messages in many bytes that hold none
    return model


def _from_json(data: bytes) -> Any:
    from google.protobuf import json_format
    from onnx import ModelProto

    return json_format.Parse(data.decode(), ModelProto())


def _from_textproto(data: bytes) -> Any:
    from google.protobuf import text_format
    from onnx import ModelProto

    return text_format.Parse(data.decode(), ModelProto())


def _from_onnxtxt(data: bytes) -> Any:
    from onnx.parser import parse_model

    return parse_model(data.decode())


# The text formats, by the file extensions of the onnx package.
TEXTUAL: Mapping[str, Parser] = {
    **dict.fromkeys((".json", ".onnxjson"), _from_json),
    **dict.fromkeys((".onnxtext", ".onnxtxt"), _from_onnxtxt),
    **dict.fromkeys((".pbtxt", ".prototxt", ".textproto", ".txtpb"), _from_textproto),
}


# Other kinds of file.

_UNZIP = "unzip it, or let its name end in .onnx.gz if it holds a model"
_FETCH = "fetch the file itself, such as with git lfs pull"
_SIGNATURES = (
    (0, b"PK\x03\x04", OtherFile("is a zip archive, such as PyTorch, Keras and NumPy write")),
    (0, b"\x80\x02", OtherFile("is a Python pickle, such as PyTorch writes")),
    (0, b"\x80\x04", OtherFile("is a Python pickle, such as PyTorch writes")),
    (0, b"\x80\x05", OtherFile("is a Python pickle, such as PyTorch writes")),
    (0, b"\x89HDF\r\n", OtherFile("is an HDF5 file, such as Keras writes")),
    (0, b"GGUF", OtherFile("is a GGUF file")),
    (4, b"TFL3", OtherFile("is a LiteRT (TensorFlow Lite) model", "check it with sb.litert.check")),
    (4, b"ORTM", OtherFile("is a model in ONNX Runtime's own format", "give the ONNX file it was converted from")),
    (8, b'{"', OtherFile("holds tensors in the safetensors format, not a model")),
    (0, b"\x1f\x8b", OtherFile("is compressed by gzip", _UNZIP)),
    (0, b"version https://git-lfs", OtherFile("is a Git LFS pointer, not the model itself", _FETCH)),
    (0, b"<?xml", OtherFile("is XML, not an ONNX model")),
    (0, b"<!DOCTYPE", OtherFile("is a web page, not an ONNX model", _FETCH)),
    (0, b"<html", OtherFile("is a web page, not an ONNX model", _FETCH)),
)
_PRINTED = frozenset(range(32, 256)) | {9, 10, 13}


def other_file(data: bytes) -> OtherFile | None:
    """Return the kind of data that are not an ONNX model, if it is recognised."""
    for place, signature, kind in _SIGNATURES:
        if data.startswith(signature, place):
            return kind
    if all(byte in _PRINTED for byte in data[:512]) and _is_text(data[:512]):
        return OtherFile("is text, not an ONNX model")
    return None


def _is_text(start: bytes) -> bool:
    try:
        start.decode()
    except UnicodeDecodeError as error:
        return error.start > len(start) - 4  # a letter that the end of the sample cuts
    return True


def _damaged(data: bytes) -> OtherFile:
    if data[0] == 0x08:  # the tag of the IR version, which writers put first
        return OtherFile("is not an ONNX model, or is truncated or damaged", "fetch it or export it again")
    return OtherFile("is not an ONNX model")


# External tensor data: small tensors, which may decide shapes, are read into the model.


MAX_EXTERNAL_BYTES = 1 << 20
# How many real numbers are read: the scales of a few axes decide shapes; longer tensors are weights.
MAX_REALS = 1024

_BYTES_OF_WHOLE = {
    contents.UINT8: 1,
    contents.INT8: 1,
    contents.UINT16: 2,
    contents.INT16: 2,
    contents.INT32: 4,
    contents.INT64: 8,
    contents.BOOL: 1,
    contents.UINT32: 4,
    contents.UINT64: 8,
}
_BYTES_OF_REAL = {contents.FLOAT: 4, contents.FLOAT16: 2, contents.DOUBLE: 8}


def read_external_data(tensors: Iterator[Any], folders: Sequence[Path]) -> None:
    """Read the data of small tensors from files in the folders, and put them into the tensors.

    A tensor whose data are missing, not all there or outside of the folders stays as it is.
    """
    for tensor in tensors:
        if tensor.data_location == EXTERNAL:
            data = _data(tensor, folders)
            if data is not None:
                tensor.raw_data = data
                tensor.ClearField("data_location")
                tensor.ClearField("external_data")


def _data(tensor: Any, folders: Sequence[Path]) -> bytes | None:
    size = _size(tensor)
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if size is None or not entries.get("location"):
        return None
    try:
        offset, length = int(entries.get("offset", 0)), int(entries.get("length", size))
        path = _within(entries["location"], folders)
        # A file may hold less or other data than the tensor needs; then its numbers stay unknown.
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
    if tensor.data_type in _BYTES_OF_REAL:
        return count * _BYTES_OF_REAL[tensor.data_type] if count <= MAX_REALS else None
    each = _BYTES_OF_WHOLE.get(tensor.data_type)
    return count * each if each and count * each <= MAX_EXTERNAL_BYTES else None


def _within(location: str, folders: Sequence[Path]) -> Path | None:
    """Return the file at a location if it is in one of the model's folders; a link may not lead out of them."""
    if PurePath(location).is_absolute() or ".." in PurePath(location).parts:
        return None
    path = (folders[0] / location).resolve()
    inside = any(path.is_relative_to(folder.resolve()) for folder in folders)
    return path if inside and path.is_file() else None
