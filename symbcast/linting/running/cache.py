"""Results of earlier runs, kept as long as the files that they come from have the same content."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from symbcast.linting.findings import Checked
from symbcast.version import __version__

FOLDER = ".symbcast_cache"


class Cache:
    """A folder of results, one file for each source file.

    A result is used again if the source file, all files that its module imported from the same root, the options and
    the installed packages are the same.
    """

    def __init__(self, folder: Path | None, options: object) -> None:
        self.folder = folder
        self._options = f"{__version__} {sys.version} {options!r} {_installed()}"

    def get(self, path: str) -> list[Checked] | None:
        """Return the results for a source file; None if there are none, or the content changed."""
        file = self._file(path)
        if file is None or not file.exists():
            return None
        try:
            data = json.loads(file.read_text("utf-8"))
            if data["options"] != _hash(self._options) or any(digest(p) != d for p, d in data["files"].items()):
                return None
            return [Checked.from_dict(c) for c in data["functions"]]
        except (ValueError, KeyError, TypeError, OSError):
            return None  # written by another version, or cut off

    def put(self, path: str, files: Iterable[str], functions: Sequence[Checked]) -> None:
        """Keep the results for a source file, with the files that they come from."""
        file = self._file(path)
        if file is None:
            return
        data = {
            "options": _hash(self._options),
            "files": {p: digest(p) for p in {str(Path(path).resolve()), *files}},
            "functions": [c.to_dict() for c in functions],
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        ignore = file.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", "utf-8")
        draft = file.with_suffix(".part")
        draft.write_text(json.dumps(data), "utf-8")
        draft.replace(file)

    def _file(self, path: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{_hash(str(Path(path).resolve()))[:32]}.json"


def digest(path: str) -> str:
    """Return the hash of a file's content; empty if it cannot be read."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


@cache
def _installed() -> str:
    """Return the installed distributions with their versions, by the names of their folders."""
    found = (e.name for p in sys.path if p and Path(p).is_dir() for e in Path(p).iterdir())
    return _hash(" ".join(sorted(n for n in found if n.endswith((".dist-info", ".egg-info")))))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
