"""What a file of PyTorch is, read without unpickling it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile, is_zipfile

_EXPORT = "torch.export.save(torch.export.export(module, args), 'model.pt2')"
_PICKLE = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


class Kind(NamedTuple):
    """A kind of file that is not an exported program: what it is, what to do in Python, and for a command."""

    problem: str
    hint: str
    advice: str = "export the module by torch.onnx.export or torch.export.save, and give that file"


SCRIPT = Kind(
    "it is a TorchScript file (torch.jit.save), which records no sizes",
    f"export the module that it was made from: {_EXPORT}",
)
SCRIPT_MODULE = Kind("it is a TorchScript module, which torch does not export", "give the module that it was made from")
PICKLED = Kind(
    "it was written by torch.save: a pickle of weights or of a whole module, which is not loaded, because a pickle can "
    "run any code",
    "create the module, load weights with torch.load(path, weights_only=True), and give check() the module and its "
    "arguments",
)
COMPILED = Kind(
    "it is an AOTInductor package: compiled code, without the graph that it was compiled from",
    f"check the exported program that was compiled; save it next to the package: {_EXPORT}",
)


def kind_of(path: Path) -> Kind | None:
    """Return what a file is if it is certainly not an exported program; None for others.

    Only the names in the archive and the first bytes are read.
    """
    if not is_zipfile(path):
        with path.open("rb") as file:
            return PICKLED if file.read(2) in _PICKLE else None
    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
    except (BadZipFile, OSError):
        return None
    inner = [name.partition("/")[2] or name for name in names]
    if _has_program(names):
        return None
    if any("aotinductor/" in name for name in names):
        return COMPILED
    if "constants.pkl" in inner and any(name.startswith("code/") for name in inner):
        return SCRIPT
    return PICKLED if "data.pkl" in inner else None


def is_other_archive(path: Path) -> bool:
    """Return whether a file is a zip archive without an exported program."""
    if not is_zipfile(path):
        return False
    try:
        with ZipFile(path) as archive:
            return not _has_program(archive.namelist())
    except (BadZipFile, OSError):
        return False


def _has_program(names: Sequence[str]) -> bool:
    inner = [name.partition("/")[2] or name for name in names]
    return any(name.startswith("models/") or name == "serialized_exported_program.json" for name in (*inner, *names))
